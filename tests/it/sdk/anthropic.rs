//! Anthropic's SDKs.

use serde_json::Value;
use teeline_tests::{
    Need, available,
    generate::official,
    sdk::{Language, Rules, Sdk, Stream, cases, recordings, response},
};

use super::agrees_on;

const PYTHON: Sdk =
    Sdk { name: "anthropic-python", language: Language::Python, accumulator: "anthropic_messages" };
const NODE: Sdk =
    Sdk { name: "anthropic-node", language: Language::Node, accumulator: "anthropic_messages" };

const RULES: Rules = Rules {
    ours: response,
    theirs: std::convert::identity,
    verbatim: &["input"],
    provider_errors: &["APIStatusError", "APIError", "AnthropicError"],
};

fn streams(test: &str) -> Vec<Stream> {
    let recordings = recordings(test, "anthropic").into_iter().map(with_event_names);
    let valid = official("anthropic-messages", 200);
    cases("anthropic").into_iter().chain(valid).chain(recordings).collect()
}

/// Some recorders kept the data only. Both SDKs dispatch on the `event` line and would see nothing, so those lines
/// get back what the service sends: the type that the data names.
fn with_event_names(stream: Stream) -> Stream {
    let body = std::str::from_utf8(&stream.body).expect("the recordings are UTF-8");
    if body.lines().any(|line| line.starts_with("event:")) {
        return stream;
    }
    let mut named = String::new();
    for line in body.split_inclusive('\n') {
        let data = line.strip_prefix("data:").map(serde_json::from_str::<Value>);
        if let Some(kind) = data.as_ref().and_then(|data| data.as_ref().ok()?["type"].as_str()) {
            named.extend(["event: ", kind, "\n"]);
        }
        named.push_str(line);
    }
    Stream { body: named.into(), ..stream }
}

#[test]
fn anthropic_python_agrees() {
    if available("anthropic_python_agrees", &[Need::Python]) {
        agrees_on(&PYTHON, &RULES, &streams("anthropic_python_agrees"));
    }
}

#[test]
fn anthropic_node_agrees() {
    if available("anthropic_node_agrees", &[Need::Node]) {
        agrees_on(&NODE, &RULES, &streams("anthropic_node_agrees"));
    }
}
