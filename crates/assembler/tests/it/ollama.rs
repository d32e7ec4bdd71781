//! Ollama: the example of `FORMATS.md` H3, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::{Options, Verdict};

use crate::{
    alike::{Row, fire_alone, plain_as_streamed},
    support::{example, fixture, ids, read, read_with, response, rows, value},
};

#[test]
fn examples() {
    example("ollama", "H3", "ndjson", &[], "finished");
    example("ollama", "generate", "ndjson", &[], "finished");
}

#[test]
fn plain_bodies_read_as_their_streams() {
    for name in ["H3", "generate"] {
        let (stream, plain) = (format!("{name}.ndjson"), format!("{name}.json"));
        plain_as_streamed(&fixture("ollama", &stream), &fixture("ollama", &plain));
    }
}

/// A line of a chat with this message.
fn line(message: &str) -> String {
    format!("{{\"model\":\"m\",\"created_at\":\"t\",\"message\":{message},\"done\":false}}\n")
}

const LAST: &str = concat!(
    r#"{"model":"m","created_at":"u","message":{"role":"assistant","content":""},"done":true,"#,
    "\"done_reason\":\"stop\",\"eval_count\":3}\n"
);

const HI: &str = r#"{"role":"assistant","content":"Hi"}"#;

/// A chat of these messages.
fn chat(messages: &[&str]) -> String {
    messages.iter().map(|message| line(message)).chain([LAST.to_owned()]).collect()
}

fn with_call(call: &str) -> String {
    chat(&[HI, &format!(r#"{{"role":"assistant","content":"","tool_calls":[{call}]}}"#)])
}

fn of_frames() -> Vec<Row> {
    let good = chat(&[HI]);
    vec![
        ("bom", format!("\u{feff}{good}"), good.clone()),
        ("not-json", format!("{{\"oops\"\n{good}"), format!("\n{good}")),
        ("no-end", line(HI).repeat(2), format!("{}{LAST}", line(HI))),
        ("after-end", format!("{good}{}", line(HI)), format!("{}{good}", line(HI))),
        ("after-end", format!("{good}[DONE]\n"), format!("{good}\n")),
        (
            "unknown-event",
            format!("{{\"status\":\"x\"}}\n{good}"),
            format!("{}{good}", line("null")),
        ),
        ("unknown-event", format!("{}[DONE]\n{LAST}", line(HI)), good),
    ]
}

fn of_fields() -> Vec<Row> {
    let arguments = |arguments: &str| {
        with_call(&format!(r#"{{"function":{{"name":"f","arguments":{arguments}}}}}"#))
    };
    let field =
        |field: &str| format!("{{\"model\":\"m\",{field},\"done\":false}}\n{}", chat(&[HI]));
    vec![
        ("bad-field", chat(&["1"]), chat(&["{}"])),
        ("bad-field", chat(&[r#"{"role":1}"#]), chat(&[r#"{"role":null}"#])),
        ("bad-field", chat(&[r#"{"content":1}"#]), chat(&[r#"{"content":null}"#])),
        ("bad-field", chat(&[r#"{"thinking":1}"#]), chat(&[r#"{"thinking":"1"}"#])),
        ("bad-field", chat(&[r#"{"tool_calls":{}}"#]), chat(&[r#"{"tool_calls":[]}"#])),
        ("bad-field", chat(&[r#"{"images":"x"}"#]), chat(&[r#"{"images":["x"]}"#])),
        ("bad-field", with_call("1"), with_call(r#"{"function":{"name":"f"}}"#)),
        ("bad-field", with_call("{}"), with_call(r#"{"function":{}}"#)),
        ("bad-field", arguments(r#""{}""#), arguments("{}")),
        ("bad-field", field(r#""response":1"#), field(r#""response":"1""#)),
        ("bad-field", field(r#""logprobs":{}"#), field(r#""logprobs":[]"#)),
        ("bad-field", field(r#""message":null,"done_reason":1"#), field(r#""message":null"#)),
        (
            "bad-field",
            format!("{{\"model\":1,\"done\":false}}\n{}", chat(&[HI])),
            field(r#""x":1"#),
        ),
        (
            "bad-field",
            format!("{{\"message\":{HI},\"done\":0}}\n{LAST}"),
            format!("{{\"message\":{HI},\"done\":false}}\n{LAST}"),
        ),
        ("not-assembled", chat(&[r#"{"mood":"good"}"#]), chat(&[r#"{"mood":null}"#])),
        (
            "cumulative",
            chat(&[r#"{"content":"Hi there, you"}"#, r#"{"content":"Hi there, you two"}"#]),
            chat(&[r#"{"content":"Hi there, you"}"#, r#"{"content":" two"}"#]),
        ),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone([of_frames(), of_fields()].concat());
}

#[test]
fn endings() {
    let good = chat(&[HI]);
    let error = r#"{"error":"the model runner stopped"}"#;
    for (body, verdict, found) in [
        (good.clone(), Verdict::Finished, vec![]),
        (good.trim_end().to_owned(), Verdict::Finished, vec![]),
        (good[..good.len() - 9].to_owned(), Verdict::DidNotFinish, vec!["cut", "no-end"]),
        (format!("{}{error}\n", line(HI)), Verdict::DidNotFinish, vec!["error-event"]),
        (
            good.replace("\"done\":true", "\"done\":true,\"error\":\"x\""),
            Verdict::DidNotFinish,
            vec!["error-event"],
        ),
        (good.replace("\"done\":true", "\"done\":true,\"error\":\"\""), Verdict::Finished, vec![]),
        (
            format!("{}{}data: {{}}\n{LAST}", line(HI), line(HI)),
            Verdict::Finished,
            vec!["not-json"],
        ),
        (
            format!("{}{{\"choices\":[]}}\n{LAST}", line(HI)),
            Verdict::Finished,
            vec!["mixed", "unknown-event"],
        ),
    ] {
        let reading = read(body.as_bytes(), 0);
        assert_eq!((reading.verdict, ids(&reading)), (verdict, found), "{body}");
    }
    // a lone error names no format: the path tells, and nothing of an answer came
    let path = Options { path: Some("/api/chat".to_owned()), ..Options::default() };
    let reading = read_with(path, error.as_bytes(), 0);
    assert_eq!((reading.format, reading.outputs.len()), ("ollama", 0));
    assert_eq!(reading.error.unwrap().message, "the model runner stopped");
    // one line is too large, as one frame is elsewhere
    let large = line(&format!(r#"{{"content":"{}"}}"#, "x".repeat(1_048_577)));
    let reading = read(format!("{}{large}{LAST}", line(HI)).as_bytes(), 0);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::DidNotFinish, vec!["too-large"]));
}

/// Progress lines of `/api/pull` are frames only.
#[test]
fn progress_is_no_answer() {
    let body = "{\"status\":\"pulling\",\"total\":2,\"completed\":1}\n{\"status\":\"success\"}\n";
    let reading = read(body.as_bytes(), 0);
    assert_eq!(
        (reading.format, reading.verdict, ids(&reading)),
        ("unknown", Verdict::Finished, vec![])
    );
}

/// H3's verbs: LAST, FIRST+, APPEND, EXTEND.
#[test]
fn fields() {
    let body = concat!(
        r#"{"model":"a","created_at":"t1","remote_host":"h","message":{"role":"","content":"A","images":["i"]},"logprobs":[1],"done":false}"#,
        "\n",
        r#"{"model":"b","created_at":"t2","remote_host":null,"message":{"role":"assistant","content":"B","images":["j"],"tool_calls":[{"function":{"name":"f"}}]},"logprobs":[2],"done":false}"#,
        "\n",
        r#"{"model":"","created_at":"t3","message":{"role":"x","content":"","tool_calls":[{"function":{"name":"g","arguments":{"b": 1.0,"a":[]}}}]},"done":true,"done_reason":"length","total_duration":9,"prompt_eval_count":1,"eval_count":2}"#,
    );
    let reading = read(body.as_bytes(), 0);
    let raw = reading.response.as_ref().unwrap().get();
    assert_eq!(
        raw,
        concat!(
            r#"{"model":"b","created_at":"t3","remote_host":"h","message":{"role":"assistant","content":"AB","images":["i","j"],"#,
            r#""tool_calls":[{"function":{"name":"f"}},{"function":{"name":"g","arguments":{"b":1.0,"a":[]}}}]},"#,
            r#""logprobs":[1,2],"done":true,"done_reason":"length","total_duration":9,"prompt_eval_count":1,"eval_count":2}"#
        )
    );
    let view = value(&reading);
    assert_eq!(
        view["outputs"][0]["tool_calls"],
        json!([
            {"index": 0, "id": null, "name": "f", "arguments": "", "arguments_valid": false, "complete": true},
            {"index": 1, "id": null, "name": "g", "arguments": r#"{"b":1.0,"a":[]}"#, "arguments_valid": true, "complete": true},
        ])
    );
    assert_eq!(
        view["usage"],
        json!({
            "input_tokens": 1, "output_tokens": 2, "total_tokens": null, "cached_tokens": null, "reasoning_tokens": null,
            "raw": {"total_duration": 9, "prompt_eval_count": 1, "eval_count": 2},
        })
    );
    let kinds: Vec<&Value> =
        view["outputs"][0]["parts"].as_array().unwrap().iter().map(|part| &part["kind"]).collect();
    assert_eq!(kinds, ["text", "image", "image", "tool-call", "tool-call"]);
}

/// The known reasons are explained, others are only shown; an answer needs none.
#[test]
fn reasons() {
    for (reason, known) in
        [("stop", true), ("length", true), ("load", true), ("unload", true), ("tired", false)]
    {
        let body = chat(&[HI]).replace("stop", reason);
        let finish = read(body.as_bytes(), 0).outputs[0].finish.clone().unwrap();
        assert_eq!((finish.reason.as_str(), finish.meaning.is_some()), (reason, known));
    }
    let reading = read(chat(&[HI]).replace(",\"done_reason\":\"stop\"", "").as_bytes(), 0);
    assert_eq!((ids(&reading), reading.outputs[0].finish.is_none()), (vec![], true));
}

/// Arguments that are no object are in neither the call nor the response.
#[test]
fn arguments_of_another_shape_are_dropped() {
    let body = with_call(r#"{"function":{"name":"f","arguments":"{}"}}"#);
    let reading = read(body.as_bytes(), 0);
    assert_eq!(reading.outputs[0].tool_calls[0].arguments, "");
    assert_eq!(response(&reading)["message"]["tool_calls"], json!([{"function": {"name": "f"}}]));
}

#[test]
fn rows_say_what_lines_carried() {
    let got: Vec<_> = rows(&fixture("ollama", "H3.ndjson"))
        .into_iter()
        .map(|row| row.effect.unwrap())
        .map(|effect| (effect.kind, effect.carried))
        .collect();
    let want = [
        ("reasoning", "reasoning +2, role assistant"),
        ("text", "text +2"),
        ("tool", "tool 0 args +2, tool 0 now"),
        ("end", "finish stop, usage, end"),
    ];
    assert_eq!(got, want.map(|(kind, carried)| (kind, carried.to_owned())));
}
