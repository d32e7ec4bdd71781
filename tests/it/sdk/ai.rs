//! The Vercel AI SDK: `streamText` over its providers. It keeps one answer, in a shape of its own: id and model, text,
//! reasoning, calls, the provider's reason and two counts. Its drivers give its unified names back what the formats call
//! them: `rawFinishReason` is the format's reason, and a count is the one that the format has in that place.

use serde_json::{Value, json};
use teeline_assembler::{Output, Reading};
use teeline_tests::{
    Need, available,
    generate::generator,
    sdk::{Language, Rules, Sdk, Stream, cases, parse, recordings, response},
};

use super::{agrees_on, joined};

/// How many generated streams each provider is given.
const GENERATED: usize = 200;

const RULES: Rules = Rules {
    ours: |reading| view(reading, &finish(reading)),
    theirs: joined::normal,
    verbatim: &["arguments"],
    // The last one says that a stream ended without a reason.
    provider_errors: &["APICallError", "Object", "String", "InvalidResponseDataError"],
};

/// A response has a status and no reason; what stopped an incomplete one is beside it.
const RESPONSES: Rules = Rules {
    ours: |reading| view(reading, &response(reading)["incomplete_details"]["reason"]),
    ..RULES
};

/// This SDK hands out no `modelVersion`, and where Gemini gives a call no id, it makes one up.
const GEMINI: Rules = Rules {
    ours: |reading| without_names(view(reading, &finish(reading))),
    theirs: |view| without_names(joined::normal(view)),
    ..RULES
};

fn without_names(mut view: Value) -> Value {
    view["model"].take();
    for call in view["calls"].as_array_mut().into_iter().flatten() {
        call["id"].take();
    }
    view
}

fn finish(reading: &Reading) -> Value {
    json!(reading.outputs.first().and_then(|output| Some(&output.finish.as_ref()?.reason)))
}

/// The first answer: there is no other in this SDK.
fn view(reading: &Reading, finish: &Value) -> Value {
    let first = reading.outputs.first();
    let shown = first.map(joined::output).unwrap_or_default();
    let usage = reading.usage.as_ref();
    json!({
        "id": reading.id,
        "model": reading.model,
        "text": first.map(text).unwrap_or_default(),
        "reasoning": shown["reasoning"].as_str().unwrap_or_default(),
        "calls": shown["calls"].as_array().cloned().unwrap_or_default(),
        "finish": finish,
        "usage": {
            "input": usage.and_then(|usage| usage.input_tokens),
            "output": usage.and_then(|usage| usage.output_tokens),
        },
    })
}

/// A refusal is told as text, in its place.
fn text(output: &Output) -> String {
    if output.refusal.is_empty() {
        return output.text.clone();
    }
    let parts = output.parts.iter().map(|part| parse(part.get()));
    let told = parts.filter(|part| part["kind"] == "text" || part["kind"] == "refusal");
    told.filter_map(|part| Some(part["text"].as_str()?.to_owned())).collect()
}

/// Generated streams that this SDK can have asked for: with one answer, and without a block of a tool that its provider
/// does not have.
fn askable(name: &str) -> Vec<Stream> {
    let made = (0..).map(generator(name).official);
    let single = made.filter(|made| made.outputs.len() == 1).map(|made| made.stream);
    let known = single.filter(|stream| !joined::holds(stream, "container_upload"));
    known.take(GENERATED).collect()
}

const fn sdk(name: &'static str, accumulator: &'static str) -> Sdk {
    Sdk { name, language: Language::Node, accumulator }
}

/// Gives a provider the cases, the generated streams and the recordings of these names.
fn agrees(test: &str, sdk: &Sdk, rules: &Rules, [case, generated, recorded]: [&str; 3]) {
    if available(test, &[Need::Node]) {
        let streams = [cases(case), askable(generated), recordings(test, recorded)].concat();
        agrees_on(sdk, rules, &streams);
    }
}

#[test]
fn ai_agrees_on_chat() {
    let sdk = sdk("ai-openai-chat", "ai_openai_chat");
    let named = ["chat", "openai-chat", "chat_completions"];
    agrees("ai_agrees_on_chat", &sdk, &RULES, named);
}

#[test]
fn ai_agrees_on_responses() {
    let sdk = sdk("ai-openai-responses", "ai_openai_responses");
    let named = ["responses", "openai-responses", "responses"];
    agrees("ai_agrees_on_responses", &sdk, &RESPONSES, named);
}

#[test]
fn ai_agrees_on_anthropic_messages() {
    let sdk = sdk("ai-anthropic", "ai_anthropic_messages");
    let named = ["anthropic", "anthropic-messages", "anthropic"];
    agrees("ai_agrees_on_anthropic_messages", &sdk, &RULES, named);
}

#[test]
fn ai_agrees_on_gemini() {
    let sdk = sdk("ai-gemini", "ai_gemini");
    agrees("ai_agrees_on_gemini", &sdk, &GEMINI, ["gemini", "gemini", "gemini_sse"]);
}
