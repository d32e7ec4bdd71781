//! The official SDKs and the AI SDK: what they assembled is what we say they should have.

mod ai;
mod anthropic;
mod joined;
mod openai;

use std::{
    collections::BTreeMap,
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use teeline_script::Script;
use teeline_tests::{
    Need, Turn, World, available, chat, python, root,
    sdk::{Rules, Sdk, Stream, compare, judge, reading},
};

/// Gives an SDK streams and compares; everything in which it disagrees has to be in the list of differences.
fn agrees_on(sdk: &Sdk, rules: &Rules, streams: &[Stream]) {
    let _turn = Turn::shared();
    let (versions, outcomes) = sdk.read(streams);
    let found: BTreeMap<_, _> = streams
        .iter()
        .map(|stream| (stream.id.clone(), compare(rules, &reading(stream), &outcomes[&stream.id])))
        .collect();
    judge(sdk, &versions, streams, &found);
}

/// Runs a client script with a request on its standard input; gives the object that the SDK assembled.
fn ask(program: &str, script: &str, world: &World, request: &Value) -> Value {
    let mut child = Command::new(program)
        .arg(root().join("tests/sdk").join(script))
        .arg(format!("http://{}/test/v1", world.teeline.proxy))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the client runs");
    child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{script} failed");
    serde_json::from_slice(&output.stdout).expect("the client prints JSON")
}

/// What both sides must agree on, in one shape; a field that is absent, null or empty is the same nothing.
fn essence(completion: &Value) -> Value {
    let nothing = |value: &Value| if *value == "" { Value::Null } else { value.clone() };
    let mut choices: Vec<Value> = completion["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| {
            let message = &choice["message"];
            let calls: Vec<Value> = message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| {
                    json!([
                        call["id"],
                        call["type"],
                        call["function"]["name"],
                        call["function"]["arguments"]
                    ])
                })
                .collect();
            json!({
                "index": choice["index"],
                "role": message["role"],
                "content": nothing(&message["content"]),
                "tool_calls": calls,
                "finish_reason": choice["finish_reason"],
            })
        })
        .collect();
    choices.sort_by_key(|choice| choice["index"].as_u64());
    json!({
        "id": completion["id"],
        "object": completion["object"],
        "created": completion["created"],
        "model": completion["model"],
        "choices": choices,
        "usage": completion["usage"],
    })
}

fn agrees(program: &str, script: &str, extra: &Value) {
    let _turn = Turn::shared();
    for (frames, more) in [
        (chat::answer(&["Hel", "lo ", "🙂"]), json!({})),
        (chat::tool_calls(), json!({ "tools": [tool("get_weather"), tool("get_time")] })),
        (chat::two_choices(), json!({ "n": 2 })),
    ] {
        let served = frames.clone();
        let world = World::start(move |_| Script::sse(served.clone()));
        let mut request = chat::request();
        for object in [&more, extra] {
            request.as_object_mut().unwrap().extend(object.as_object().unwrap().clone());
        }
        let theirs = ask(program, script, &world, &request);
        let capture = world.ended();
        assert_eq!(
            essence(&capture["reading"]["response"]),
            essence(&theirs),
            "{script} with {more}"
        );
        assert_eq!(capture["reading"]["verdict"], "finished");
        assert!(!capture.to_string().contains("sk-planted"), "the key is in the capture");
    }
}

fn tool(name: &str) -> Value {
    json!({ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } })
}

#[test]
fn openai_python_agrees() {
    if available("openai_python_agrees", &[Need::Python]) {
        agrees(&python(), "python/proxied_chat.py", &json!({}));
    }
}

#[test]
fn openai_node_agrees() {
    if available("openai_node_agrees", &[Need::Node]) {
        agrees("node", "node/proxied_chat.mjs", &json!({}));
    }
}
