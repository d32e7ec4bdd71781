//! Salyro's Behavior Runs (`FORMATS.md` E). Its field names are those of the specification's example.

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator = Generator {
    name: "salyro-behavior",
    format: "salyro-behavior",
    objects: false,
    make,
    official: make,
};

/// Where an event's type is: in the `event` line, in the data, or in both.
#[derive(Clone, Copy)]
enum Typed {
    Line,
    Data,
    Both,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "salyro-behavior");
    let typed = *random.pick(&[&Typed::Line, &Typed::Data, &Typed::Both]);
    let mut body = Sse::new(&mut random, ": keep-alive");
    let mut write = |kind: &str, mut fields: Value| {
        if !matches!(typed, Typed::Line) {
            fields["type"] = json!(kind);
        }
        match typed {
            Typed::Data => body.data(&fields),
            Typed::Line | Typed::Both => body.named(kind, &fields),
        }
    };
    let id = random.id("run_");
    let behavior = random.text();
    // A draft has no version.
    let version = if random.chance(30) { Value::Null } else { json!(random.below(1 << 50)) };
    write("response.started", json!({ "id": id, "behavior": behavior, "version": version }));

    let text = if random.chance(90) { random.text() } else { String::new() };
    let mut sequences: Vec<Vec<(&str, Value)>> = vec![
        random
            .pieces(&text)
            .into_iter()
            .map(|piece| ("output_text.delta", json!({ "delta": piece })))
            .collect(),
    ];
    let mut tools = Vec::new();
    for place in 0..random.count(0, 3) {
        let (started, ended, tool) = tool(&mut random, place);
        tools.push(tool);
        sequences.push(vec![("tool.started", started), ended]);
    }
    let mut begun = Vec::new();
    for (kind, fields) in random.interleave(sequences) {
        if kind == "tool.started" {
            begun.push(fields["step"].clone());
        }
        write(kind, fields);
    }
    tools.sort_by_key(|tool: &Value| begun.iter().position(|step| *step == tool["step"]));
    let (input, output) = (random.below(9000), random.below(9000));
    let usage =
        json!({ "inputTokens": input, "outputTokens": output, "totalTokens": input + output });
    write("response.completed", json!({ "id": id, "usage": usage }));
    Generated {
        stream: body.stream("salyro-behavior", seed),
        response: json!({
            "id": id, "behavior": behavior, "version": version, "output_text": text, "usage": usage, "tools": tools,
        }),
        outputs: vec![Answer { text, ..Answer::default() }],
    }
}

/// A step of a tool: how it starts, how it ends, and what is listed of it.
fn tool(random: &mut Random, place: usize) -> (Value, (&'static str, Value), Value) {
    let step = if random.chance(50) { json!(random.id("step_")) } else { json!(place) };
    let (name, input) = (random.name(), random.object(2));
    let started = json!({ "step": step, "name": name, "input": input });
    let mut tool = started.clone();
    if random.chance(30) {
        let error = random.text();
        tool["error"] = json!(error);
        tool["status"] = json!("failed");
        (started, ("tool.failed", json!({ "step": step, "error": error })), tool)
    } else {
        let output = random.object(2);
        tool["output"] = output.clone();
        tool["status"] = json!("completed");
        (started, ("tool.completed", json!({ "step": step, "output": output })), tool)
    }
}
