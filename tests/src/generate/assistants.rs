//! `OpenAI`'s Assistants: a run, its steps and its messages (`FORMATS.md` H2).

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator = Generator {
    name: "openai-assistants",
    format: "openai-assistants",
    objects: false,
    make,
    official: make,
};

struct Making {
    random: Random,
    body: Sse,
    answer: Answer,
    messages: Vec<Value>,
    steps: Vec<Value>,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "openai-assistants");
    let body = Sse::new(&mut random, "");
    let mut making =
        Making { random, body, answer: Answer::default(), messages: Vec::new(), steps: Vec::new() };
    let mut run = json!({
        "id": making.random.id("run_"), "object": "thread.run", "status": "queued", "model": "gpt-test",
        "thread_id": "thread_1", "required_action": null, "last_error": null, "incomplete_details": null, "usage": null,
    });
    if making.random.chance(30) {
        let thread =
            json!({ "id": "thread_1", "object": "thread", "created_at": 1, "metadata": {} });
        making.body.named("thread.created", &thread);
    }
    for (event, status) in
        [("created", "queued"), ("queued", "queued"), ("in_progress", "in_progress")]
    {
        run["status"] = json!(status);
        making.body.named(&format!("thread.run.{event}"), &run);
    }
    for _ in 0..making.random.count(0, 2) {
        making.tools();
    }
    let waits = making.random.chance(30);
    if !waits || making.random.chance(50) {
        making.message();
    }
    let status = if waits {
        run["required_action"] = making.functions();
        "requires_action"
    } else {
        run["usage"] = json!({ "prompt_tokens": making.random.below(900), "completion_tokens": 5, "total_tokens": 905 });
        let status =
            making.random.pick(&["completed", "completed", "incomplete", "cancelled", "expired"]);
        if status == "incomplete" {
            run["incomplete_details"] = json!({ "reason": "max_completion_tokens" });
        }
        status
    };
    run["status"] = json!(status);
    making.body.named(&format!("thread.run.{status}"), &run);
    making.body.line("event: done");
    making.body.raw("[DONE]");
    making.answer.finish = Some(status.to_owned());
    Generated {
        stream: making.body.stream("openai-assistants", seed),
        response: json!({ "run": run, "messages": making.messages, "steps": making.steps }),
        outputs: vec![making.answer],
    }
}

impl Making {
    fn step(&mut self, kind: &str, details: &Value) -> Value {
        let step = json!({
            "id": self.random.id("step_"), "object": "thread.run.step", "type": kind, "status": "in_progress",
            "step_details": details, "usage": null,
        });
        self.body.named("thread.run.step.created", &step);
        self.body.named("thread.run.step.in_progress", &step);
        step
    }

    fn complete(&mut self, mut step: Value, details: Value) {
        step["status"] = json!("completed");
        step["step_details"] = details;
        step["usage"] = json!({ "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3 });
        self.body.named("thread.run.step.completed", &step);
        self.steps.push(step);
    }

    fn step_delta(&mut self, step: &Value, calls: &Value) {
        let details = json!({ "type": "tool_calls", "tool_calls": calls });
        self.body.named(
            "thread.run.step.delta",
            &json!({ "id": step["id"], "object": "thread.run.step.delta", "delta": { "step_details": details } }),
        );
    }

    /// Tools that the service runs itself.
    fn tools(&mut self) {
        let step = self.step("tool_calls", &json!({ "type": "tool_calls", "tool_calls": [] }));
        let mut calls = Vec::new();
        for index in 0..self.random.count(1, 2) {
            let id = self.random.id("call_");
            if self.random.chance(30) {
                let call =
                    json!({ "id": id, "type": "file_search", "file_search": { "results": [] } });
                let mut sent = call.clone();
                sent["index"] = json!(index);
                self.step_delta(&step, &json!([sent]));
                calls.push(call);
                continue;
            }
            let (input, logs) = (self.random.text(), self.random.text());
            let kind = "code_interpreter";
            let opened = json!({ "index": index, "id": id, "type": kind, kind: { "input": "", "outputs": [] } });
            self.step_delta(&step, &json!([opened]));
            for piece in self.random.pieces(&input) {
                self.step_delta(
                    &step,
                    &json!([{ "index": index, "type": kind, kind: { "input": piece } }]),
                );
            }
            let image = json!({ "type": "image", "image": { "file_id": "file_1" } });
            for piece in self.random.pieces(&logs) {
                let output = json!({ "index": 0, "type": "logs", "logs": piece });
                self.step_delta(
                    &step,
                    &json!([{ "index": index, "type": kind, kind: { "outputs": [output] } }]),
                );
            }
            let mut output = image.clone();
            output["index"] = json!(1);
            self.step_delta(
                &step,
                &json!([{ "index": index, "type": kind, kind: { "outputs": [output] } }]),
            );
            let outputs = json!([{ "type": "logs", "logs": logs }, image]);
            calls.push(
                json!({ "id": id, "type": kind, kind: { "input": input, "outputs": outputs } }),
            );
        }
        self.complete(step, json!({ "type": "tool_calls", "tool_calls": calls }));
    }

    /// Functions that the client has to run: their step stays open, and the run ends in waiting for them.
    fn functions(&mut self) -> Value {
        let mut step = self.step("tool_calls", &json!({ "type": "tool_calls", "tool_calls": [] }));
        let (mut deltas, mut calls, mut required) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..self.random.count(1, 3) {
            let (id, name) = (self.random.id("call_"), self.random.name());
            let arguments = self.random.object(3).to_string();
            let function = json!({ "name": name, "arguments": "", "output": null });
            let mut own =
                vec![json!({ "index": index, "id": id, "type": "function", "function": function })];
            for piece in self.random.pieces(&arguments) {
                own.push(json!({ "index": index, "type": "function", "function": { "arguments": piece } }));
            }
            deltas.push(own);
            let function = |more: Value| {
                let mut function = json!({ "name": name, "arguments": arguments });
                for (key, value) in more.as_object().into_iter().flatten() {
                    function[key] = value.clone();
                }
                json!({ "id": id, "type": "function", "function": function })
            };
            calls.push(function(json!({ "output": null })));
            required.push(function(json!({})));
            self.answer.calls.push((Some(id.clone()), name.clone(), arguments.clone()));
        }
        for delta in deltas.into_iter().flatten() {
            self.step_delta(&step, &json!([delta]));
        }
        step["step_details"]["tool_calls"] = calls.into();
        self.steps.push(step);
        json!({ "type": "submit_tool_outputs", "submit_tool_outputs": { "tool_calls": required } })
    }

    fn message(&mut self) {
        let id = self.random.id("msg_");
        let details =
            json!({ "type": "message_creation", "message_creation": { "message_id": id } });
        let step = self.step("message_creation", &details);
        let mut message = json!({
            "id": id, "object": "thread.message", "role": "assistant", "status": "in_progress", "content": [], "metadata": {},
        });
        self.body.named("thread.message.created", &message);
        self.body.named("thread.message.in_progress", &message);
        let mut delta = |content: Value| {
            let delta = json!({ "id": id, "object": "thread.message.delta", "delta": { "content": [content] } });
            self.body.named("thread.message.delta", &delta);
        };
        let mut content = Vec::new();
        let text = self.random.text();
        let mut annotations = Vec::new();
        delta(json!({ "index": 0, "type": "text", "text": { "value": "", "annotations": [] } }));
        for piece in self.random.pieces(&text) {
            let mut value = json!({ "value": piece });
            if self.random.chance(10) {
                let annotation = json!({ "type": "file_citation", "text": piece, "start_index": 0, "end_index": 1, "file_citation": { "file_id": "file_1" } });
                let mut sent = annotation.clone();
                sent["index"] = json!(annotations.len());
                value["annotations"] = json!([sent]);
                annotations.push(annotation);
            }
            delta(json!({ "index": 0, "type": "text", "text": value }));
        }
        content
            .push(json!({ "type": "text", "text": { "value": text, "annotations": annotations } }));
        self.answer.text.push_str(&text);
        if self.random.chance(20) {
            delta(
                json!({ "index": 1, "type": "image_file", "image_file": { "file_id": "file_2" } }),
            );
            content.push(json!({ "type": "image_file", "image_file": { "file_id": "file_2" } }));
        }
        let ending = self.random.pick(&["completed", "completed", "incomplete"]);
        message["content"] = content.into();
        message["status"] = json!(ending);
        self.body.named(&format!("thread.message.{ending}"), &message);
        self.messages.push(message);
        self.complete(step, details);
    }
}
