//! TGI's `/generate_stream`: the example of `FORMATS.md` H11, and its rules one by one.

use serde_json::json;
use teeline_assembler::Verdict;

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, plain_as_streamed, sse},
    support::{example, fixture, ids, read, response, value},
};

#[test]
fn examples() {
    example("tgi", "H11", "sse", &[], "finished");
}

#[test]
fn plain_body_reads_as_its_stream() {
    plain_as_streamed(&fixture("tgi", "H11.sse"), &fixture("tgi", "H11.json"));
}

const HI: &str = r#"{"index":1,"token":{"id":5,"text":"Hi","special":false},"generated_text":null,"details":null}"#;
const LAST: &str = r#"{"index":2,"token":{"id":2,"text":"</s>","special":true},"generated_text":"Hi","details":null}"#;

fn with(frames: &[&str]) -> String {
    sse(&[&[HI], frames, &[LAST]].concat())
}

fn rows() -> Vec<Row> {
    let good = with(&[]);
    let edit = |from: &str, to: &str| good.replace(from, to);
    let last = |details: &str| sse(&[HI, &LAST.replace("\"details\":null", details)]);
    let empty = |to: &str| with(&[&HI.replace("\"Hi\"", to)]);
    vec![
        ("unknown-event", with(&[r#"{"x":1}"#]), good.clone()),
        ("unknown-event", with(&["[DONE]"]), good.clone()),
        ("no-end", sse(&[HI]).repeat(2), good.clone()),
        ("after-end", format!("{good}{}", sse(&[HI])), good.clone()),
        (
            "error-event",
            with(&[]).replace(LAST, r#"{"error":"m","error_type":"overloaded"}"#),
            good.clone(),
        ),
        (
            "error-event",
            edit(r#""text":"Hi","special":false},"#, r#""text":"Hi"},"error":"m","#)
                .replace(&sse(&[LAST]), ""),
            edit(r#","special":false"#, ""),
        ),
        (
            "done-mismatch",
            edit(r#""generated_text":"Hi""#, r#""generated_text":"Ho""#),
            edit(r#""generated_text":"Hi""#, r#""generated_text":" Hi\n""#),
        ),
        (
            "bad-field",
            with(&[r#"{"token":1,"generated_text":null}"#]),
            with(&[r#"{"token":{},"generated_text":null}"#]),
        ),
        ("bad-field", empty("1"), empty("\"\"")),
        ("bad-field", edit(r#""generated_text":"Hi""#, r#""generated_text":1"#), good.clone()),
        ("bad-field", last(r#""details":1"#), last(r#""details":{}"#)),
        (
            "bad-field",
            last(r#""details":{"finish_reason":1}"#),
            last(r#""details":{"finish_reason":null}"#),
        ),
        ("bad-field", last(r#""top_tokens":1"#), last(r#""top_tokens":[]"#)),
        (
            "cumulative",
            sse(&[
                HI.replace("Hi", "Hi there, you"),
                HI.replace("Hi", "Hi there, you two"),
                LAST.replace("Hi", "Hi there, youHi there, you two"),
            ]),
            sse(&[
                HI.replace("Hi", "Hi there, you"),
                HI.replace("Hi", " two"),
                LAST.replace("Hi", "Hi there, you two"),
            ]),
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
    let error = r#"{"error":"no room","error_type":"overloaded"}"#;
    let reading = read(sse(&[HI, error]).as_bytes(), 0);
    let error = reading.error.clone().unwrap();
    assert_eq!(
        (error.message.as_str(), error.error_type.as_deref()),
        ("no room", Some("overloaded"))
    );
    assert!(error.meaning.is_some());
    assert_eq!((reading.verdict, reading.outputs[0].text.as_str()), (Verdict::DidNotFinish, "Hi"));
}

/// The final text counts; special tokens are none of it, but in the list of tokens.
#[test]
fn final_text_and_details() {
    let details = r#""details":{"finish_reason":"length","generated_tokens":2,"input_length":7,"seed":18446744073709551615},"top_tokens":[{"id":9}]"#;
    let body = sse(&[HI, &LAST.replace("\"details\":null", details).replace("\"Hi\"", "\"Hi!\"")]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((ids(&reading), reading.outputs[0].text.as_str()), (vec!["done-mismatch"], "Hi!"));
    assert_eq!(
        response(&reading),
        json!({"generated_text": "Hi!", "details": {
            "finish_reason": "length", "generated_tokens": 2, "input_length": 7, "seed": 18_446_744_073_709_551_615_u64,
            "tokens": [{"id": 5, "text": "Hi", "special": false}, {"id": 2, "text": "</s>", "special": true}],
            "top_tokens": [[{"id": 9}]],
        }})
    );
    let view = value(&reading);
    assert_eq!(view["usage"]["raw"], json!({"input_length": 7, "generated_tokens": 2}));
    assert_eq!(
        (&view["usage"]["input_tokens"], &view["usage"]["output_tokens"]),
        (&json!(7), &json!(2))
    );
    assert_eq!(view["outputs"][0]["finish"]["reason"], "length");
}
