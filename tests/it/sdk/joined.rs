//! SDKs that put nothing together: google-genai, ollama, cohere, mistralai. The drivers join the pieces that they hand
//! out, as an application does, and the result is compared with what our reading shows.

use serde_json::{Value, json};
use teeline_assembler::{Output, Reading};
use teeline_tests::{
    Need, available,
    generate::official,
    sdk::{Language, Rules, Sdk, Stream, cases, parse, recordings},
};

use super::agrees_on;

const fn python(name: &'static str, accumulator: &'static str) -> Sdk {
    Sdk { name, language: Language::Python, accumulator }
}

/// What all of them show of a stream; `usage` is the format's own object, null where it counts nothing.
fn view(reading: &Reading) -> Value {
    let usage = reading.usage.as_ref().map_or(Value::Null, |usage| parse(usage.raw.get()));
    json!({
        "id": reading.id,
        "model": reading.model,
        "usage": if usage == json!({}) { Value::Null } else { usage },
        "outputs": reading.outputs.iter().map(output).collect::<Vec<_>>(),
    })
}

/// One answer of ours.
pub(super) fn output(output: &Output) -> Value {
    let calls: Vec<Value> = output
        .tool_calls
        .iter()
        .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }))
        .collect();
    normal(json!({
        "index": output.index,
        "text": output.text,
        "reasoning": output.reasoning,
        "calls": calls,
        "finish": output.finish.as_ref().map(|finish| &finish.reason),
    }))
}

/// Arguments as the value that they are, however they were sent.
pub(super) fn normal(mut output: Value) -> Value {
    for call in output["calls"].as_array_mut().into_iter().flatten() {
        let arguments = call["arguments"].as_str().map(serde_json::from_str::<Value>);
        if let Some(Ok(value)) = arguments {
            call["arguments"] = value;
        }
    }
    output
}

fn theirs(mut view: Value) -> Value {
    // That there is one has been compared by then.
    view.as_object_mut().map(|view| view.remove("error"));
    let outputs = view["outputs"].as_array_mut().map(std::mem::take).unwrap_or_default();
    view["outputs"] = outputs.into_iter().map(normal).collect();
    view
}

/// The members that an SDK shows, of ours: it has no place for others.
fn without(mut view: Value, names: &[&str]) -> Value {
    view.as_object_mut()
        .expect("a view is an object")
        .retain(|name, _| !names.contains(&name.as_str()));
    view
}

const GEMINI: Rules = Rules {
    // Its types have no service tier.
    ours: |reading| {
        let mut view = view(reading);
        view["usage"].as_object_mut().map(|usage| usage.remove("serviceTier"));
        view
    },
    theirs,
    verbatim: &["arguments"],
    provider_errors: &["APIError", "ClientError", "ServerError"],
};

const OLLAMA: Rules = Rules {
    // Its types have no id for a call.
    ours: |reading| {
        let mut view = without(view(reading), &["id"]);
        let outputs = view["outputs"].as_array_mut().into_iter().flatten();
        for call in outputs.filter_map(|output| output["calls"].as_array_mut()).flatten() {
            call["id"].take();
        }
        if let Some(usage) = view["usage"].as_object_mut() {
            usage.retain(|name, _| name.ends_with("_count") || name.ends_with("_duration"));
        }
        view
    },
    theirs,
    verbatim: &["arguments"],
    provider_errors: &["ResponseError"],
};

const COHERE: Rules = Rules {
    ours: |reading| without(view(reading), &["model"]),
    theirs,
    verbatim: &["arguments"],
    provider_errors: &[],
};

const MISTRAL: Rules =
    Rules { ours: view, theirs, verbatim: &["arguments"], provider_errors: &["SDKError"] };

/// Whether this text stands in a stream.
pub(super) fn holds(stream: &Stream, text: &str) -> bool {
    String::from_utf8_lossy(&stream.body).contains(text)
}

#[test]
fn google_genai_agrees() {
    const TEST: &str = "google_genai_agrees";
    if available(TEST, &[Need::Python]) {
        let mut streams =
            [cases("gemini"), official("gemini", 200), recordings(TEST, "gemini_sse")].concat();
        // The pieces of a call's arguments are handed out as they are, and nothing to join them by.
        streams.retain(|stream| !holds(stream, "willContinue"));
        agrees_on(&python("google-genai-python", "gemini"), &GEMINI, &streams);
    }
}

#[test]
fn ollama_agrees() {
    const TEST: &str = "ollama_agrees";
    if available(TEST, &[Need::Python]) {
        let mut recordings = recordings(TEST, "ollama");
        // The others are of `/api/generate`.
        recordings.retain(|stream| holds(stream, "\"message\":"));
        let streams = [cases("ollama"), official("ollama", 200), recordings].concat();
        agrees_on(&python("ollama-python", "ollama_chat"), &OLLAMA, &streams);
    }
}

#[test]
fn cohere_agrees() {
    const TEST: &str = "cohere_agrees";
    if available(TEST, &[Need::Python]) {
        let mut recordings = recordings(TEST, "cohere");
        // The others are of the first version of this API, which is another client's.
        recordings.retain(|stream| holds(stream, "message-start"));
        let streams = [official("cohere", 200), recordings].concat();
        agrees_on(&python("cohere-python", "cohere_chat"), &COHERE, &streams);
    }
}

#[test]
fn mistralai_agrees() {
    const TEST: &str = "mistralai_agrees";
    if available(TEST, &[Need::Python]) {
        let mut recordings = recordings(TEST, "chat_completions");
        // Others, mistral.rs too, speak this format with fields of their own.
        recordings
            .retain(|stream| stream.id.contains("mistral") && !stream.id.contains("mistralrs"));
        let streams = [official("mistral-chat", 200), recordings].concat();
        agrees_on(&python("mistralai-python", "mistral_chat"), &MISTRAL, &streams);
    }
}
