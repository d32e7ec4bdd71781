//! What has to be in a frame and is not there: told as missing, where `null` is told as `null` (`FORMATS.md` 0.3, 1).

use serde_json::{Value, json};
use teeline_assembler::{Options, format};

use crate::support::{read_with, told};

const INDEX: &str = "an integer from 0 to 2147483647";
const OBJECT: &str = "an object";

/// The frames before, each under its event's name, and the last one; where in that one a member has to be, its
/// name in the finding, and what it has to be.
type Row = (Vec<Event>, Event, &'static str, &'static str, &'static str);

type Event = (&'static str, Value);

/// The frames' data, under no name.
fn bare<const N: usize>(frames: [Value; N]) -> Vec<Event> {
    frames.map(|data| ("", data)).to_vec()
}

fn check(name: &str, rows: Vec<Row>) {
    for (before, (event, last), pointer, field, expected) in rows {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let of = |value: Option<Value>| {
            let mut last = last.clone();
            let members = last.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match value {
                Some(value) => members.insert(key.to_owned(), value),
                None => members.remove(key),
            };
            let frames = before.iter().cloned().chain([(event, last)]);
            let write = |(event, data): Event| match event {
                "" => format!("data: {data}\n\n"),
                event => format!("event: {event}\ndata: {data}\n\n"),
            };
            let body: String = frames.map(write).collect();
            let options = Options { format: format(name), ..Options::default() };
            let mut found = told(&read_with(options, body.as_bytes(), 0));
            found.retain(|found| found[0] == "bad-field");
            found
        };
        // In the JSON of a proto null is as good as none.
        let null = if name == "gemini" { "missing" } else { "null" };
        for (value, shown) in [(None, "missing"), (Some(Value::Null), null)] {
            let args = json!({"field": field, "expected": expected, "value": shown});
            assert_eq!(of(value), [json!(["bad-field", before.len(), args])], "{name} {last}");
        }
    }
}

#[test]
fn of_gemini() {
    let event = |kind: &str| json!({"event_type": kind, "index": 0});
    let start = json!({"event_type": "step.start", "index": 0, "step": {"type": "thought"}});
    let delta =
        |kind: &str| ("", json!({"event_type": "step.delta", "index": 0, "delta": {"type": kind}}));
    let started = || bare([start.clone()]);
    check(
        "gemini-interactions",
        vec![
            (vec![], ("", event("interaction.created")), "/interaction", "interaction", OBJECT),
            (vec![], ("", start.clone()), "/index", "index", INDEX),
            (vec![], ("", start.clone()), "/step", "step", OBJECT),
            (started(), ("", event("step.delta")), "/delta", "delta", OBJECT),
            (started(), delta("thought_summary"), "/delta/content", "delta.content", OBJECT),
            (
                started(),
                delta("text_annotation_delta"),
                "/delta/annotations",
                "delta.annotations",
                "an array",
            ),
        ],
    );
    let call =
        |call: Value| json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]});
    let piece = json!({"name": "f", "partialArgs": [{"stringValue": "x"}], "willContinue": true});
    check(
        "gemini",
        vec![(
            vec![],
            ("", call(piece)),
            "/candidates/0/content/parts/0/functionCall/partialArgs/0/jsonPath",
            "partialArgs[].jsonPath",
            "a JSON path to a member",
        )],
    );
}

#[test]
fn of_openai() {
    let event = |kind: &str| {
        let kind = format!("response.{kind}");
        ("", json!({"type": kind, "output_index": 0, "content_index": 0, "command_index": 0}))
    };
    let item = |kind: &str| {
        let (_, mut added) = event("output_item.added");
        added["item"] = json!({"id": "i", "type": kind});
        bare([added])
    };
    check(
        "openai-responses",
        vec![
            (vec![], event("output_item.added"), "/item", "item", OBJECT),
            (item("message"), event("content_part.added"), "/part", "part", OBJECT),
            (
                item("shell_call"),
                event("shell_call_command.added"),
                "/command",
                "command",
                "a string",
            ),
            (
                item("shell_call_output"),
                event("shell_call_output_content.delta"),
                "/delta",
                "delta",
                OBJECT,
            ),
        ],
    );
    let message = json!({"id": "m", "object": "thread.message"});
    let created = || vec![("thread.message.created", message.clone())];
    let delta = ("thread.message.delta", json!({"id": "m", "object": "thread.message.delta"}));
    check(
        "openai-assistants",
        vec![
            (vec![], created().remove(0), "/id", "id", "a string"),
            (created(), delta, "/delta", "delta", OBJECT),
        ],
    );
}

#[test]
fn of_others() {
    let start =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}});
    let begun = json!({"type": "message_start", "message": {}});
    let delta = json!({"type": "content_block_delta", "index": 0});
    check(
        "anthropic-messages",
        vec![
            (vec![], ("", begun.clone()), "/message", "message", OBJECT),
            (bare([begun.clone()]), ("", start.clone()), "/index", "index", INDEX),
            (bare([begun.clone()]), ("", start.clone()), "/content_block", "content_block", OBJECT),
            (bare([begun, start]), ("", delta), "/delta", "delta", OBJECT),
        ],
    );
    let start = json!({"contentBlockStart": {"contentBlockIndex": 0, "start": {}}});
    let delta = json!({"contentBlockDelta": {"contentBlockIndex": 0}});
    let index = "/contentBlockStart/contentBlockIndex";
    check(
        "bedrock-converse",
        vec![
            (vec![], ("", start.clone()), index, "contentBlockIndex", INDEX),
            (vec![], ("", start), "/contentBlockStart/start", "start", OBJECT),
            (vec![], ("", delta), "/contentBlockDelta/delta", "delta", OBJECT),
        ],
    );
    let answer = json!({"jsonrpc": "2.0", "result": {}});
    check("mcp", vec![(vec![], ("", answer), "/id", "id", "a string or a number")]);
    let delta = json!({"event": "content-block-delta", "delta": {"type": "text-delta"}});
    let delta = json!({"type": "event", "method": "messages", "params": {"data": delta}});
    check(
        "langserve",
        vec![(vec![], ("", delta), "/params/data/delta/text", "delta.text", "a string")],
    );
}
