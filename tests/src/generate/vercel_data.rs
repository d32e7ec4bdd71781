//! The data stream of the Vercel AI SDK 3 and 4 (`FORMATS.md` H8.2): lines of a code and JSON.

use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Style, stream},
};

pub(super) const GENERATOR: Generator =
    Generator { name: "vercel-data", format: "vercel-data", objects: true, make, official: make };

struct Making {
    random: Random,
    style: Style,
    body: String,
    answer: Answer,
    calls: Vec<Value>,
    data: Vec<Value>,
    annotations: Vec<Value>,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "vercel-data");
    let style = Style::of(&mut random);
    let mut making = Making {
        random,
        style,
        body: String::new(),
        answer: Answer::default(),
        calls: Vec::new(),
        data: Vec::new(),
        annotations: Vec::new(),
    };
    let id = making.random.id("msg-");
    let steps = making.random.count(1, 3);
    for step in 0..steps {
        let name = if step == 0 { id.clone() } else { making.random.id("msg-") };
        making.line('f', &json!({ "messageId": name }));
        making.step(step);
        let reason = if step + 1 == steps { "stop" } else { "tool-calls" };
        let usage = json!({ "promptTokens": 3, "completionTokens": step });
        making.line('e', &json!({ "finishReason": reason, "usage": usage, "isContinued": false }));
    }
    let reason = making.random.pick(&["stop", "length", "tool-calls"]).to_owned();
    let usage = json!({ "promptTokens": making.random.below(900), "completionTokens": making.random.below(900) });
    making.line('d', &json!({ "finishReason": reason, "usage": usage }));
    let answer = Answer { finish: Some(reason.clone()), ..making.answer };
    let mut response =
        json!({ "messageId": id, "content": answer.text, "finishReason": reason, "usage": usage });
    if !answer.reasoning.is_empty() {
        response["reasoning"] = json!(answer.reasoning);
    }
    for (key, list) in [
        ("toolInvocations", making.calls),
        ("data", making.data),
        ("annotations", making.annotations),
    ] {
        if !list.is_empty() {
            response[key] = list.into();
        }
    }
    let stream = stream("vercel-data", seed, making.body.into(), "text/plain; charset=utf-8");
    Generated { stream, response, outputs: vec![answer] }
}

impl Making {
    fn line(&mut self, code: char, value: &Value) {
        self.body.push_str(&format!("{code}:{}\n", self.style.json(value)));
    }

    fn step(&mut self, step: usize) {
        if self.random.chance(40) {
            let text = self.random.text();
            for piece in self.random.pieces(&text) {
                self.line('g', &json!(piece));
            }
            self.answer.reasoning.push_str(&text);
        }
        if step == 0 || self.random.chance(70) {
            let text = self.random.text();
            for piece in self.random.pieces(&text) {
                self.line('0', &json!(piece));
                if self.random.chance(5) {
                    let value = self.random.value(2);
                    self.line('2', &json!([value]));
                    self.data.push(value);
                }
            }
            self.answer.text.push_str(&text);
        }
        for _ in 0..if self.random.chance(40) { self.random.count(1, 2) } else { 0 } {
            self.call(step);
        }
        if self.random.chance(20) {
            let value = self.random.value(2);
            self.line('8', &json!([value]));
            self.annotations.push(value);
        }
    }

    fn call(&mut self, step: usize) {
        let (id, name, args) = (self.random.id("call_"), self.random.name(), self.random.object(3));
        if self.random.chance(60) {
            self.line('b', &json!({ "toolCallId": id, "toolName": name }));
            for piece in self.random.pieces(&args.to_string()) {
                self.line('c', &json!({ "toolCallId": id, "argsTextDelta": piece }));
            }
        }
        self.line('9', &json!({ "toolCallId": id, "toolName": name, "args": args }));
        let mut call = json!({ "state": "call", "step": step, "toolCallId": id, "toolName": name, "args": args });
        if self.random.chance(60) {
            let result = self.random.value(2);
            self.line('a', &json!({ "toolCallId": id, "result": result }));
            call["state"] = json!("result");
            call["result"] = result;
        }
        self.answer.calls.push((Some(id), name, args.to_string()));
        self.calls.push(call);
    }
}
