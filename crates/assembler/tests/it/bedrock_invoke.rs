//! Bedrock `InvokeModelWithResponseStream`: the vendors' streams inside (`FORMATS.md` H7), and agents'.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use teeline_assembler::{Options, Verdict, format};

use crate::{
    alike::plain_as_streamed,
    eventstream::{event, exception},
    support::{SIZES, example, fixture, ids, read, read_with, response, value},
};

const FORMAT: &str = "bedrock-invoke";

#[test]
fn examples() {
    for name in [
        "anthropic",
        "nova",
        "llama",
        "titan",
        "mistral",
        "cohere-chat",
        "cohere-text",
        "chat",
        "chat-uncounted",
        "guardrail",
    ] {
        example(FORMAT, name, "eventstream", &[], "finished");
    }
}

/// The vector H7 of `FORMATS.md`: what its bytes hold is an Anthropic event.
#[test]
fn the_vector_of_the_specification() {
    let payload = r#"{"bytes":"eyJ0eXBlIjoicGluZyJ9","p":"abcd"}"#;
    let start =
        chunk(&json!({"type": "message_start", "message": {"role": "assistant"}}).to_string());
    let reading = read(&[start, event("chunk", payload)].concat(), 0);
    assert_eq!((reading.format, ids(&reading)), (FORMAT, vec!["no-end"]));
}

#[test]
fn plain_bodies_read_as_their_streams() {
    let plain = br#"{"generation":"Good day.","prompt_token_count":23,"generation_token_count":3,"stop_reason":"stop"}"#;
    plain_as_streamed(&fixture(FORMAT, "llama.eventstream"), plain);
    for (body, text, output) in [
        (
            r#"{"inputTextTokenCount":7,"results":[{"tokenCount":4,"outputText":"Good day.","completionReason":"FINISH"}]}"#,
            "Good day.",
            Some(7),
        ),
        (r#"{"outputs":[{"text":"Good day.","stop_reason":"stop"}]}"#, "Good day.", None),
        (
            r#"{"id":"g","generations":[{"id":"1","text":"Good day.","finish_reason":"COMPLETE"}],"prompt":"Hi"}"#,
            "Good day.",
            None,
        ),
    ] {
        let reading = read(body.as_bytes(), 0);
        assert_eq!(
            (reading.format, reading.verdict, ids(&reading)),
            (FORMAT, Verdict::Finished, vec![])
        );
        assert_eq!(reading.outputs[0].text, text);
        assert_eq!(reading.usage.as_ref().and_then(|usage| usage.input_tokens), output);
        assert_eq!(response(&reading), serde_json::from_str::<Value>(body).unwrap());
    }
}

fn chunk(inner: &str) -> Vec<u8> {
    event("chunk", &json!({"bytes": STANDARD.encode(inner), "p": "ab"}).to_string())
}

fn chunks(objects: &[&str]) -> Vec<u8> {
    objects.iter().flat_map(|object| chunk(object)).collect()
}

const HI: &str = r#"{"outputText":"Hi","index":0,"inputTextTokenCount":3,"totalOutputTextTokenCount":null,"completionReason":null}"#;
const END: &str =
    r#"{"outputText":"!","index":0,"totalOutputTextTokenCount":2,"completionReason":"FINISH"}"#;
const METRICS: &str =
    r#"{"amazon-bedrock-invocationMetrics":{"inputTokenCount":3,"outputTokenCount":2}}"#;

/// What is found in a stream, and in the nearest one nothing.
fn check(rows: Vec<(&[&str], Vec<u8>, Vec<u8>)>) {
    for (found, bad, near) in rows {
        assert_eq!(ids(&read(&bad, 0)), found, "{}", String::from_utf8_lossy(&bad));
        assert_eq!(ids(&read(&near, 0)), [""; 0], "near miss of {found:?}");
    }
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    let with = |message: Vec<u8>| [chunk(HI), message, chunk(END)].concat();
    let piece = |text: &str| chunk(&HI.replace("\"Hi\"", text));
    let good = chunks(&[HI, END]);
    let unfinished = END.replace("FINISH", "");
    let two =
        |second: &str| chunks(&[&HI.replace("Hi", "It was a dark"), &END.replace('!', second)]);
    let failed = exception("modelTimeoutException", r#"{"message":"slow"}"#);
    let nothing = r#"{"outputText":"","error":null,"completionReason":"FINISH"}"#;
    check(vec![
        (&["no-end"], chunks(&[HI, HI]), good.clone()),
        (&["no-end"], chunks(&[HI, &unfinished]), good.clone()),
        (&["after-end"], chunks(&[HI, END, HI]), chunks(&[HI, END, METRICS])),
        (&["mixed", "unknown-event"], with(event("trick", "{}")), with(chunk(METRICS))),
        (&["unknown-event"], with(event("trace", "{}")), good.clone()),
        (&["not-json"], with(chunk("oops")), with(piece("\"\""))),
        (&["cumulative"], two("It was a dark night"), two(" night")),
        (&["error-event"], [chunk(HI), failed].concat(), good.clone()),
        (&["error-event"], chunks(&[HI, r#"{"error":"m"}"#]), chunks(&[HI, nothing])),
        (&["crc-mismatch"], with(damaged(HI)), good),
    ]);
}

/// Fields of another shape, each beside the same field with nothing in it.
#[test]
fn fields_of_another_shape() {
    let with = |message: Vec<u8>| [chunk(HI), message, chunk(END)].concat();
    let piece = |text: &str| with(chunk(&HI.replace("\"Hi\"", text)));
    let reason =
        |reason: &str| with(chunk(&HI.replace("Reason\":null", &format!("Reason\":{reason}"))));
    let listed = |list: &str| {
        chunks(&[
            r#"{"outputs":[{"text":"Hi"}]}"#,
            &format!("{{\"outputs\":{list}}}"),
            r#"{"outputs":[{"stop_reason":"stop"}]}"#,
            METRICS,
        ])
    };
    let empty = || piece("\"\"");
    check(vec![
        (&["bad-field"], with(event("chunk", r#"{"p":"a"}"#)), empty()),
        (&["bad-field"], with(event("chunk", r#"{"bytes":"!"}"#)), empty()),
        (&["bad-field"], with(event("chunk", r#"{"bytes":1}"#)), empty()),
        (&["bad-field"], with(event("chunk", r#"{"bytes":"/w=="}"#)), empty()),
        (&["bad-field"], with(event("chunk", "[]")), empty()),
        (&["bad-field"], piece("1"), piece("null")),
        (&["bad-field"], reason("1"), reason("null")),
        (&["bad-field"], listed("1"), listed("[]")),
        (&["bad-field"], listed("[1]"), listed("[{}]")),
    ]);
    let reasonless = chunk(r#"{"outputs":[{"text":"Hi","stop_reason":"stop"}]}"#);
    check(vec![(&["usage-missing"], reasonless.clone(), [reasonless, chunk(METRICS)].concat())]);
}

/// A message whose checksum is wrong.
fn damaged(inner: &str) -> Vec<u8> {
    let mut message = chunk(inner);
    let last = message.len() - 1;
    message[last] ^= 1;
    message
}

/// An exception says what it means; the answer before it stays.
#[test]
fn exceptions() {
    let body = [chunk(HI), exception("modelTimeoutException", r#"{"message":"slow"}"#)].concat();
    let reading = read(&body, 0);
    let error = reading.error.clone().unwrap();
    assert_eq!((error.message.as_str(), error.meaning.is_some()), ("slow", true));
    assert_eq!((reading.verdict, reading.outputs[0].text.as_str()), (Verdict::DidNotFinish, "Hi"));
}

/// The reason's meaning is found whosever it is; Bedrock's counts stand in where the model has none.
#[test]
fn reasons_and_counts() {
    for (name, reason, input, raw) in [
        ("titan", "FINISH", 7, json!({"inputTextTokenCount": 7, "totalOutputTextTokenCount": 4})),
        ("llama", "stop", 23, json!({"prompt_token_count": 23, "generation_token_count": 3})),
        (
            "mistral",
            "stop",
            8,
            json!({"inputTokenCount": 8, "outputTokenCount": 3, "invocationLatency": 300, "firstByteLatency": 90}),
        ),
        ("anthropic", "tool_use", 9, json!({"input_tokens": 9, "output_tokens": 20})),
        (
            "cohere-chat",
            "COMPLETE",
            2,
            json!({"api_version": {"version": "1"}, "billed_units": {"input_tokens": 2, "output_tokens": 3}}),
        ),
        ("nova", "end_turn", 5, json!({"inputTokens": 5, "outputTokens": 3})),
    ] {
        let reading = read(&fixture(FORMAT, &format!("{name}.eventstream")), 0);
        let finish = reading.outputs[0].finish.as_ref().unwrap();
        assert_eq!((finish.reason.as_str(), finish.meaning.is_some()), (reason, true), "{name}");
        let usage = reading.usage.as_ref().unwrap();
        assert_eq!(usage.input_tokens, Some(input), "{name}");
        assert_eq!(serde_json::from_str::<Value>(usage.raw.get()).unwrap(), raw, "{name}");
    }
    let tools = value(&read(&fixture(FORMAT, "anthropic.eventstream"), 0));
    assert_eq!(tools["outputs"][0]["tool_calls"][0]["arguments"], "{\"city\":\"Oslo\"}");
}

/// A guardrail may be all of a stream, or step in before its end.
#[test]
fn guardrails() {
    let reading = read(&fixture(FORMAT, "guardrail.eventstream"), 0);
    assert_eq!(
        (reading.outputs[0].text.as_str(), reading.outputs[0].finish.is_none()),
        ("Input blocked", true)
    );
    let guarded =
        |piece: &str| piece.replacen('{', r#"{"amazon-bedrock-guardrailAction":"INTERVENED","#, 1);
    let body = chunks(&[&guarded(HI), &guarded(HI), &guarded(END)]);
    for size in SIZES {
        let reading = read(&body, size);
        assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec![]));
        assert_eq!(reading.outputs[0].text, "HiHi!");
    }
    let after = chunks(&[&guarded(HI), &guarded(END), HI]);
    assert_eq!(ids(&read(&after, 0)), ["after-end"]);
}

/// Agents and knowledge bases: plain text, and events about how they came to it. Their body's end is the end.
#[test]
fn agents() {
    for (name, text, citations) in
        [("agent", "I looked it up: it rains.", 1), ("knowledge", "It rains.", 1)]
    {
        let reading = read(&fixture(FORMAT, &format!("{name}.eventstream")), 0);
        assert_eq!(
            (reading.format, reading.verdict, ids(&reading)),
            (FORMAT, Verdict::Finished, vec![])
        );
        assert_eq!((reading.outputs[0].text.as_str(), reading.response.is_none()), (text, true));
        let part = value(&reading)["outputs"][0]["parts"][0].clone();
        assert_eq!(part["citations"].as_array().unwrap().len(), citations);
    }
    let said = [chunk("It rains. "), chunk(r#"{"city":"Oslo"}"#)].concat();
    assert_eq!(read(&said, 0).outputs[0].text, "It rains. {\"city\":\"Oslo\"}");
    let control = [chunk("Wait."), event("returnControl", "{}")].concat();
    assert_eq!(ids(&read(&control, 0)), ["not-assembled"]);
    let novel = [chunk("Wait."), event("novelty", "{}")].concat();
    // By its name it is taken for one of Converse's.
    assert_eq!(ids(&read(&novel, 0)), ["mixed", "unknown-event"]);
    let told = Options { format: format(FORMAT), ..Options::default() };
    assert_eq!(ids(&read_with(told, &novel, 0)), ["unknown-event"]);
    let shape = [event("output", r#"{"text":"Hi"}"#), event("output", r#"{"text":1}"#)].concat();
    assert_eq!(ids(&read(&shape, 0)), ["bad-field"]);
}

/// A model says objects.
#[test]
fn no_object_of_a_model() {
    for (middle, found) in [("5", vec!["unknown-event"]), ("oops", vec!["not-json"])] {
        assert_eq!(ids(&read(&chunks(&[HI, middle, END]), 0)), found, "{middle}");
    }
    assert_eq!(ids(&read(&chunks(&[HI, END]), 0)), [""; 0]);
}

/// A model that nobody knows is named by its first object.
#[test]
fn an_unknown_model() {
    let reading = read(&chunks(&[r#"{"words":"Hi"}"#]), 0);
    assert_eq!((reading.format, ids(&reading)), (FORMAT, vec!["unknown-event", "no-end"]));
}
