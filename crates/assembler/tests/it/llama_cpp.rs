//! llama.cpp's `/completion`: the example of `FORMATS.md` H12, and its rules one by one.

use serde_json::json;
use teeline_assembler::Verdict;

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, plain_as_streamed, sse},
    support::{example, fixture, ids, read, response, value},
};

#[test]
fn examples() {
    example("llama-cpp", "H12", "sse", &[], "finished");
}

#[test]
fn plain_body_reads_as_its_stream() {
    plain_as_streamed(&fixture("llama-cpp", "H12.sse"), &fixture("llama-cpp", "H12.json"));
}

const HI: &str = r#"{"index":0,"content":"Hi","tokens":[1],"stop":false}"#;
const LAST: &str =
    r#"{"index":0,"content":"","tokens":[],"stop":true,"stop_type":"eos","model":"m"}"#;

fn with(frames: &[&str]) -> String {
    sse(&[&[HI], frames, &[LAST]].concat())
}

fn rows() -> Vec<Row> {
    let good = with(&[]);
    let hi = |from: &str, to: &str| with(&[&HI.replace(from, to)]);
    let last = |from: &str, to: &str| sse(&[HI, &LAST.replace(from, to)]);
    let one = |frame: &str| frame.replace("\"index\":0", "\"index\":1");
    vec![
        ("unknown-event", with(&[r#"{"x":1}"#]), good.clone()),
        ("unknown-event", with(&["[DONE]"]), good.clone()),
        ("no-end", sse(&[HI]).repeat(2), good.clone()),
        ("no-end", sse(&[HI, &one(HI), LAST]), sse(&[HI, &one(HI), LAST, &one(LAST)])),
        ("after-end", format!("{good}{}", sse(&[HI])), good.clone()),
        (
            "after-end",
            sse(&[HI, &one(HI), LAST, HI, &one(LAST)]),
            sse(&[HI, &one(HI), LAST, &one(HI), &one(LAST)]),
        ),
        (
            "error-event",
            sse(&[HI, r#"{"error":{"code":500,"message":"m","type":"server_error"}}"#]),
            good.clone(),
        ),
        (
            "error-event",
            hi(r#""stop""#, r#""error":"m","stop""#).replace(&sse(&[LAST]), ""),
            hi(r#""stop""#, r#""error":null,"stop""#),
        ),
        ("bad-field", hi(r#""Hi""#, "1"), hi(r#""Hi""#, "\"\"")),
        ("bad-field", hi("false", "0"), good.clone()),
        ("bad-field", hi("[1]", "1"), hi("[1]", "null")),
        ("bad-field", hi(r#""index":0"#, r#""index":-1"#), hi(r#""index":0,"#, "")),
        ("bad-field", last(r#""eos""#, "1"), last(r#""eos""#, "null")),
        ("bad-field", last(r#""m""#, "1"), last(r#""m""#, "null")),
        (
            "cumulative",
            sse(&[
                HI.replace("Hi", "Hi there, you"),
                HI.replace("Hi", "Hi there, you two"),
                LAST.to_owned(),
            ]),
            sse(&[HI.replace("Hi", "Hi there, you"), HI.replace("Hi", " two"), LAST.to_owned()]),
        ),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone([of_sse(&with(&[])), rows()].concat());
}

#[test]
fn endings() {
    end_badly(&with(&[]));
    // old builds wrote the event's name where the field's belongs
    let old = format!("{}error: {{\"code\":500,\"message\":\"m\"}}\n\n", sse(&[HI]));
    let reading = read(old.as_bytes(), 0);
    assert_eq!(
        (reading.verdict, reading.error.clone().unwrap().message.as_str()),
        (Verdict::DidNotFinish, "m")
    );
    assert!(ids(&reading).contains(&"error-event") && !ids(&reading).contains(&"no-end"));
}

/// APPEND, EXTEND, LAST; several answers are a list.
#[test]
fn fields_and_answers() {
    let body = sse(&[
        r#"{"index":1,"content":"B","tokens":[3],"completion_probabilities":[{"id":3}],"stop":false,"tokens_predicted":1}"#,
        r#"{"index":0,"content":"A","tokens":[1],"stop":false}"#,
        r#"{"index":1,"content":"","tokens":[4],"completion_probabilities":[{"id":4}],"stop":true,"stop_type":"word","stopping_word":"x","tokens_predicted":2,"tokens_evaluated":9}"#,
        r#"{"index":0,"content":"a","tokens":[],"stop":true,"stop_type":"limit","model":"m"}"#,
    ]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec![]));
    assert_eq!(
        response(&reading),
        json!([
            {"index": 0, "content": "Aa", "tokens": [1], "stop": true, "stop_type": "limit", "model": "m"},
            {"index": 1, "content": "B", "tokens": [3, 4], "completion_probabilities": [{"id": 3}, {"id": 4}], "stop": true,
             "stop_type": "word", "stopping_word": "x", "tokens_predicted": 2, "tokens_evaluated": 9},
        ])
    );
    let texts: Vec<_> =
        reading.outputs.iter().map(|output| (output.index, &*output.text)).collect();
    assert_eq!(texts, [(0, "Aa"), (1, "B")]);
    assert_eq!(reading.model.as_deref(), Some("m"));
    let view = value(&reading);
    assert_eq!(
        (&view["usage"]["input_tokens"], &view["usage"]["output_tokens"]),
        (&json!(9), &json!(2))
    );
    assert_eq!(view["outputs"][1]["finish"]["reason"], "word");
    assert!(view["outputs"][1]["finish"]["meaning"].is_string());
}
