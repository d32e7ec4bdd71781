//! AG-UI's events (`FORMATS.md` H9): messages, tool calls, reasoning and a state that is patched.

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator =
    Generator { name: "ag-ui", format: "ag-ui", objects: false, make, official: make };

struct Making {
    random: Random,
    body: Sse,
    answer: Answer,
    messages: Vec<Value>,
    state: Option<Value>,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "ag-ui");
    let body = Sse::new(&mut random, "");
    let mut making =
        Making { random, body, answer: Answer::default(), messages: Vec::new(), state: None };
    let (thread, run) = (making.random.id("t"), making.random.id("r"));
    making.send("RUN_STARTED", json!({ "threadId": thread, "runId": run }));
    if making.random.chance(40) {
        making.reasoning();
    }
    for _ in 0..making.random.count(1, 4) {
        match making.random.below(5) {
            0 | 1 => making.message(),
            2 => making.calls(),
            3 => making.states(),
            _ => making.step(),
        }
    }
    let mut response = json!({ "threadId": thread, "runId": run });
    let mut finished = response.clone();
    if making.random.chance(40) {
        let result = making.random.value(2);
        if !result.is_null() {
            finished["result"] = result.clone();
            response["result"] = result;
        }
    }
    making.send("RUN_FINISHED", finished);
    response["messages"] = making.messages.into();
    if let Some(state) = making.state {
        response["state"] = state;
    }
    Generated { stream: making.body.stream("ag-ui", seed), response, outputs: vec![making.answer] }
}

impl Making {
    fn send(&mut self, kind: &str, mut event: Value) {
        event["type"] = json!(kind);
        if self.random.chance(20) {
            event["timestamp"] = json!(1_700_000_000);
        }
        self.body.data(&event);
    }

    fn reasoning(&mut self) {
        let (id, text) = (self.random.id("th"), self.random.text());
        self.send("REASONING_START", json!({ "messageId": id }));
        self.send("REASONING_MESSAGE_START", json!({ "messageId": id, "role": "reasoning" }));
        for piece in self.random.pieces(&text) {
            self.send("REASONING_MESSAGE_CONTENT", json!({ "messageId": id, "delta": piece }));
        }
        self.send("REASONING_MESSAGE_END", json!({ "messageId": id }));
        let mut message = json!({ "id": id, "role": "reasoning", "content": text });
        if self.random.chance(50) {
            let value = self.random.base64();
            self.send(
                "REASONING_ENCRYPTED_VALUE",
                json!({ "subtype": "message", "entityId": id, "encryptedValue": value }),
            );
            message["encryptedValue"] = json!(value);
        }
        self.send("REASONING_END", json!({ "messageId": id }));
        self.messages.push(message);
        self.answer.reasoning.push_str(&text);
    }

    /// A text: with its start and end, or in chunks that start it by their id.
    fn message(&mut self) {
        let (id, text) = (self.random.id("m"), self.random.text());
        if self.random.chance(30) {
            for (place, piece) in self.random.pieces(&text).into_iter().enumerate() {
                let mut chunk = json!({ "messageId": id, "delta": piece });
                if place == 0 {
                    chunk["role"] = json!("assistant");
                } else if self.random.chance(50) {
                    chunk.as_object_mut().map(|chunk| chunk.remove("messageId"));
                }
                self.send("TEXT_MESSAGE_CHUNK", chunk);
            }
        } else {
            self.send("TEXT_MESSAGE_START", json!({ "messageId": id, "role": "assistant" }));
            for piece in self.random.pieces(&text) {
                self.send("TEXT_MESSAGE_CONTENT", json!({ "messageId": id, "delta": piece }));
            }
            self.send("TEXT_MESSAGE_END", json!({ "messageId": id }));
        }
        self.messages.push(json!({ "id": id, "role": "assistant", "content": text }));
        self.answer.text.push_str(&text);
    }

    /// A message of the assistant with calls, and a result now and then.
    fn calls(&mut self) {
        self.message();
        let at = self.messages.len() - 1;
        let parent = self.messages[at]["id"].clone();
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for _ in 0..self.random.count(1, 3) {
            let (id, name) = (self.random.id("call_"), self.random.name());
            let arguments = self.random.object(3).to_string();
            self.send(
                "TOOL_CALL_START",
                json!({ "toolCallId": id, "toolCallName": name, "parentMessageId": parent }),
            );
            for piece in self.random.pieces(&arguments) {
                self.send("TOOL_CALL_ARGS", json!({ "toolCallId": id, "delta": piece }));
            }
            self.send("TOOL_CALL_END", json!({ "toolCallId": id }));
            if self.random.chance(40) {
                let (result, content) = (self.random.id("x"), self.random.text());
                self.send("TOOL_CALL_RESULT", json!({ "messageId": result, "toolCallId": id, "content": content, "role": "tool" }));
                results.push(
                    json!({ "id": result, "role": "tool", "toolCallId": id, "content": content }),
                );
            }
            calls.push(json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } }));
            self.answer.calls.push((Some(id), name, arguments));
        }
        self.messages[at]["toolCalls"] = calls.into();
        self.messages.extend(results);
    }

    /// The state, and patches of it.
    fn states(&mut self) {
        let mut state = json!({ "list": [], "value": self.random.value(2) });
        self.send("STATE_SNAPSHOT", json!({ "snapshot": state }));
        for _ in 0..self.random.count(0, 4) {
            let value = self.random.value(1);
            let operation = if self.random.chance(50) {
                let list = state["list"].as_array_mut().expect("it is a list");
                list.push(value.clone());
                json!({ "op": "add", "path": "/list/-", "value": value })
            } else {
                state["value"] = value.clone();
                json!({ "op": "replace", "path": "/value", "value": value })
            };
            self.send("STATE_DELTA", json!({ "delta": [operation] }));
        }
        self.state = Some(state);
    }

    fn step(&mut self) {
        let name = self.random.name();
        self.send("STEP_STARTED", json!({ "stepName": name }));
        self.message();
        self.send("STEP_FINISHED", json!({ "stepName": name }));
    }
}
