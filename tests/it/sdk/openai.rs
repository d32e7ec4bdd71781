//! OpenAI's SDKs: Chat Completions and Responses.

use serde_json::Value;

use teeline_tests::{
    Need, available,
    generate::official,
    sdk::{Language, Rules, Sdk, cases, recordings, response},
};

use super::agrees_on;

const CHAT: Rules = Rules {
    ours: |reading| completion(response(reading)),
    theirs: completion,
    verbatim: &[],
    provider_errors: &["APIError", "OpenAIError"],
};

const RESPONSES: Rules = Rules {
    ours: |reading| without_shortcut(response(reading)),
    theirs: without_shortcut,
    verbatim: &["arguments", "metadata", "parameters", "schema"],
    provider_errors: &["APIError", "OpenAIError", "RuntimeError"],
};

const fn python(name: &'static str, accumulator: &'static str) -> Sdk {
    Sdk { name, language: Language::Python, accumulator }
}

const fn node(name: &'static str, accumulator: &'static str) -> Sdk {
    Sdk { name, language: Language::Node, accumulator }
}

/// A response without a helper's shortcut to the texts that are in `output` as well.
fn without_shortcut(mut response: Value) -> Value {
    response.as_object_mut().map(|members| members.remove("output_text"));
    response
}

/// A completion without what tells nothing: `obfuscation` pads the frames, no content is null or `""`, a call's `index`
/// is its place.
fn completion(mut completion: Value) -> Value {
    if let Some(completion) = completion.as_object_mut() {
        completion.remove("obfuscation");
        completion.retain(|name, value| name != "system_fingerprint" || *value != "");
    }
    for choice in completion["choices"].as_array_mut().into_iter().flatten() {
        let message = &mut choice["message"];
        if message["content"] == "" {
            message["content"].take();
        }
        for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
            call.as_object_mut().map(|call| call.remove("index"));
        }
    }
    completion
}

#[test]
fn openai_python_agrees_on_chat() {
    const TEST: &str = "openai_python_agrees_on_chat";
    if available(TEST, &[Need::Python]) {
        let streams =
            [cases("chat"), official("openai-chat", 200), recordings(TEST, "chat_completions")]
                .concat();
        agrees_on(&python("openai-python-chat", "openai_chat"), &CHAT, &streams);
    }
}

#[test]
fn openai_node_agrees_on_chat() {
    const TEST: &str = "openai_node_agrees_on_chat";
    if available(TEST, &[Need::Node]) {
        let streams =
            [cases("chat"), official("openai-chat", 200), recordings(TEST, "chat_completions")]
                .concat();
        agrees_on(&node("openai-node-chat", "openai_chat"), &CHAT, &streams);
    }
}

#[test]
fn openai_python_agrees_on_responses() {
    const TEST: &str = "openai_python_agrees_on_responses";
    if available(TEST, &[Need::Python]) {
        let streams =
            [cases("responses"), official("openai-responses", 200), recordings(TEST, "responses")]
                .concat();
        agrees_on(&python("openai-python-responses", "openai_responses"), &RESPONSES, &streams);
    }
}

#[test]
fn openai_node_agrees_on_responses() {
    const TEST: &str = "openai_node_agrees_on_responses";
    if available(TEST, &[Need::Node]) {
        let streams =
            [cases("responses"), official("openai-responses", 200), recordings(TEST, "responses")]
                .concat();
        agrees_on(&node("openai-node-responses", "openai_responses"), &RESPONSES, &streams);
    }
}
