//! MCP over streamable HTTP: the example of `FORMATS.md` H10, and its rules one by one.

use serde_json::json;
use teeline_assembler::{Options, Verdict};

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, plain_as_streamed, sse},
    support::{example, fixture, ids, kinds, read, read_with, response, rows, value},
};

#[test]
fn examples() {
    example("mcp", "H10", "sse", &[], "finished");
    example("mcp", "tool", "sse", &[], "finished");
}

#[test]
fn plain_bodies_read_as_their_streams() {
    for name in ["H10", "tool"] {
        let stream = fixture("mcp", &format!("{name}.sse"));
        plain_as_streamed(&stream, &fixture("mcp", &format!("{name}.json")));
    }
}

#[test]
fn outputs_of_a_tool() {
    let view = value(&read(&fixture("mcp", "tool.sse"), 0));
    let output = &view["outputs"][0];
    assert_eq!((&view["id"], &output["text"]), (&json!("q-1"), &json!("Two hits: a, b.")));
    let kinds = kinds(output);
    assert_eq!(kinds, ["text", "text", "image", "resource", "structured-content"]);
    let carried: Vec<String> = rows(&fixture("mcp", "tool.sse"))
        .into_iter()
        .map(|row| row.effect.unwrap().carried)
        .collect();
    assert_eq!(carried[1], "notification notifications/message");
    assert_eq!(carried[2], "request sampling/createMessage");
}

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#;
const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
const OK: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"ok"}]}}"#;

/// These messages, and the response.
fn with(messages: &[&str]) -> String {
    sse(&[messages, &[OK]].concat())
}

fn of_messages() -> Vec<Row> {
    let good = with(&[NOTE, ASK]);
    let failed = OK.replace("}]}", "}],\"isError\":true}");
    let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#;
    vec![
        ("no-end", sse(&[NOTE]), with(&[NOTE])),
        ("no-end", format!("id: 1\ndata:\n\n{}", sse(&[NOTE])), format!("id: 1\ndata:\n\n{good}")),
        ("unknown-event", with(&[r#"{"jsonrpc":"2.0","id":1}"#]), with(&[ASK])),
        ("unknown-event", with(&[NOTE, "1"]), good.clone()),
        ("bad-field", with(&[&NOTE.replace("\"notifications/progress\"", "1")]), with(&[NOTE])),
        ("bad-field", sse(&[&OK.replace('7', "[]")]), sse(&[OK])),
        (
            "bad-field",
            sse(&[&OK.replace("{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}", "1")]),
            sse(&[OK]),
        ),
        (
            "bad-field",
            sse(&[&OK.replace("[{\"type\":\"text\",\"text\":\"ok\"}]", "[1]")]),
            sse(&[&OK.replace("[{\"type\":\"text\",\"text\":\"ok\"}]", "[]")]),
        ),
        ("after-end", format!("{good}{}", sse(&[NOTE])), format!("{}{good}", sse(&[NOTE]))),
        (
            "after-end",
            format!("{good}{}", sse(&[OK])),
            format!("{good}{}", sse(&[&OK.replace('7', "8")])),
        ),
        ("error-event", sse(&[error]), sse(&[OK])),
        ("error-event", sse(&[&error.replace('7', "null")]), sse(&[OK])),
        ("tool-failed", sse(&[&failed]), sse(&[&failed.replace("true", "false")])),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone([of_sse(&with(&[NOTE])), of_messages()].concat());
}

#[test]
fn endings() {
    end_badly(&with(&[NOTE]));
    for (body, verdict) in [
        (with(&[NOTE, ASK]), Verdict::Finished),
        (sse(&[NOTE]), Verdict::DidNotFinish),
        (
            sse(&[r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#]),
            Verdict::DidNotFinish,
        ),
    ] {
        assert_eq!(read(body.as_bytes(), 0).verdict, verdict, "{body}");
    }
}

/// A frame to resume from has no data and is no fault; without a response the end says what it is for.
#[test]
fn priming() {
    let body = format!("id: 1\ndata:\n\nretry: 100\n\n{}", sse(&[NOTE]));
    let reading = read(body.as_bytes(), 0);
    assert_eq!(ids(&reading), ["no-end"]);
    let message = reading.findings[0].kind.message();
    assert!(message.contains("Last-Event-ID"), "{message}");
    // Told by the path where no frame names the format.
    let options = Options { path: Some("/mcp".into()), ..Options::default() };
    let reading = read_with(options, b"id: 1\ndata:\n\n", 0);
    assert_eq!((reading.format, ids(&reading)), ("mcp", vec!["no-end"]));
}

/// The transport of 2024-11-05: the first frame names an address, and the stream has no end of its own.
#[test]
fn sessions() {
    let body = format!(
        "event: endpoint\ndata: /messages?sessionId=1\n\n{}{}",
        with(&[NOTE]),
        sse(&[ASK, &OK.replace('7', "8")])
    );
    let reading = read(body.as_bytes(), 0);
    assert_eq!((ids(&reading), reading.verdict), (vec![], Verdict::Finished));
    assert_eq!(response(&reading).as_array().unwrap().len(), 2);
}

/// Errors are told with what their code means, and are the response.
#[test]
fn errors() {
    let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method"}}"#;
    let reading = read(sse(&[error]).as_bytes(), 0);
    let told = reading.error.as_ref().unwrap();
    assert_eq!((told.message.as_str(), told.code.as_deref()), ("no such method", Some("-32601")));
    assert!(told.meaning.is_some());
    assert_eq!(response(&reading)["error"]["code"], -32601);
    let reading = read(error.as_bytes(), 0);
    assert_eq!((reading.format, reading.verdict), ("mcp", Verdict::DidNotFinish));
}

/// Several messages in one frame, as older versions allow.
#[test]
fn batches() {
    let body = sse(&[&format!("[{NOTE},{OK},{}]", OK.replace('7', "8"))]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!(
        (reading.format, ids(&reading), reading.verdict),
        ("mcp", vec![], Verdict::Finished)
    );
    assert_eq!(response(&reading)[1]["id"], 8);
    assert_eq!(reading.outputs[0].text, "okok");
}
