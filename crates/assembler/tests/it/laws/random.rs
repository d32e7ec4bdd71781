//! Streams made at random.

use std::{collections::BTreeMap, fmt::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use teeline_assembler::{Assembly, End, FORMATS, Options, Verdict};

use crate::{eventstream, support::read};

/// Where a piece of a Chat answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Text(u64),
    Reasoning(u64),
    Refusal(u64),
    Call(u64, u64),
}

fn place() -> impl Strategy<Value = Place> {
    (0..3_u64, 0..3_u64, 0..4).prop_map(|(choice, call, kind)| match kind {
        0 => Place::Text(choice),
        1 => Place::Reasoning(choice),
        2 => Place::Refusal(choice),
        _ => Place::Call(choice, call),
    })
}

/// UTF-16 units as a JSON string of escapes: a piece may begin or end in the middle of a character.
fn escaped(units: &[u16]) -> String {
    units.iter().fold(String::new(), |mut text, unit| {
        write!(text, "\\u{unit:04x}").unwrap();
        text
    })
}

fn chunk(place: Place, piece: &str) -> String {
    let (choice, delta) = match place {
        Place::Text(choice) => (choice, format!(r#""content":"{piece}""#)),
        Place::Reasoning(choice) => (choice, format!(r#""reasoning_content":"{piece}""#)),
        Place::Refusal(choice) => (choice, format!(r#""refusal":"{piece}""#)),
        Place::Call(choice, call) => {
            let fields = format!(r#""index":{call},"id":"c{choice}-{call}""#);
            let function = format!(r#""function":{{"name":"f{call}","arguments":"{piece}"}}"#);
            (choice, format!(r#""tool_calls":[{{{fields},{function}}}]"#))
        }
    };
    format!("data: {{\"choices\":[{{\"index\":{choice},\"delta\":{{{delta}}}}}]}}\n\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is cut into whatever deltas, in whatever order of choices and calls, is joined again.
    #[test]
    fn deltas_are_joined_wherever_they_are_cut(
        texts in prop::collection::btree_map(place(), "\\PC{1,40}", 0..8),
        order in prop::collection::vec((any::<prop::sample::Index>(), 1..6_usize), 0..60),
    ) {
        let units: BTreeMap<Place, Vec<u16>> =
            texts.iter().map(|(place, text)| (*place, text.encode_utf16().collect())).collect();
        let mut left: Vec<(Place, &[u16])> = units.iter().map(|(place, units)| (*place, units.as_slice())).collect();
        let mut body = String::new();
        for (which, take) in order {
            if left.is_empty() { break; }
            let at = which.index(left.len());
            let (place, rest) = left[at];
            let (piece, rest) = rest.split_at(take.min(rest.len()));
            body += &chunk(place, &escaped(piece));
            if rest.is_empty() { left.remove(at); } else { left[at].1 = rest; }
        }
        for (place, rest) in left {
            body += &chunk(place, &escaped(rest));
        }
        body += "data: [DONE]\n\n";

        let reading = read(body.as_bytes(), 0);
        for (place, want) in &texts {
            let (Place::Text(choice) | Place::Reasoning(choice) | Place::Refusal(choice) | Place::Call(choice, _)) = *place;
            let output = reading.outputs.iter().find(|output| output.index == choice).unwrap();
            let got = match *place {
                Place::Text(_) => &output.text,
                Place::Reasoning(_) => &output.reasoning,
                Place::Refusal(_) => &output.refusal,
                Place::Call(_, call) => &output.tool_calls.iter().find(|known| known.index == call).unwrap().arguments,
            };
            prop_assert_eq!(got, want, "{:?}", place);
        }
    }

    /// Any bytes at all give a reading, in any chunking the same.
    #[test]
    fn any_bytes_are_read(body in prop::collection::vec(any::<u8>(), 0..400), size in 1..20_usize) {
        let whole = serde_json::to_string(&read(&body, 0)).unwrap();
        prop_assert_eq!(serde_json::to_string(&read(&body, size)).unwrap(), whole);
    }

    /// Known keys with values of any shape, in any order, at any end: nothing panics, and the response is JSON.
    #[test]
    fn any_shape_is_read(frames in prop::collection::vec(frame(), 0..12), end in 0..4_usize) {
        let mut assembly = Assembly::new(Options { text_limit: 20_000, ..Options::default() });
        assembly.keep_rows(true);
        for frame in &frames {
            assembly.push(Bytes::from(format!("data: {frame}\n\n")), Some(1));
            let _ = (assembly.reading(), assembly.preview(), assembly.take_rows());
        }
        let end = [End::Clean, End::ClientLeft, End::Capped, End::Broke { how: "reset".into() }][end].clone();
        assembly.finish(end);
        let reading = assembly.reading();
        prop_assert!(frames.is_empty() || reading.verdict != Verdict::Empty);
        let json = serde_json::to_string(&reading).unwrap();
        prop_assert!(serde_json::from_str::<Value>(&json).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The same of every format that is asked for, with the keys of them all.
    #[test]
    fn any_shape_is_read_in_every_format(frames in prop::collection::vec(named_frame(), 1..8)) {
        for format in FORMATS {
            let options = Options { format: Some(format), text_limit: 20_000, ..Options::default() };
            let mut assembly = Assembly::new(options);
            for (event, data) in &frames {
                assembly.push(Bytes::from(format!("event: {event}\ndata: {data}\n\n")), None);
            }
            assembly.finish(End::Clean);
            let json = serde_json::to_string(&assembly.reading()).unwrap();
            prop_assert!(serde_json::from_str::<Value>(&json).is_ok(), "{}", format.name);
        }
    }

    /// And of what Bedrock puts into its messages.
    #[test]
    fn any_shape_is_read_in_a_message(frames in prop::collection::vec(named_frame(), 1..8)) {
        let message = |(event, data): &(&str, String)| match *event {
            "chunk" => eventstream::event(event, &json!({"bytes": STANDARD.encode(data)}).to_string()),
            event => eventstream::event(event, data),
        };
        let body: Vec<u8> = frames.iter().flat_map(message).collect();
        let json = serde_json::to_string(&read(&body, 0)).unwrap();
        prop_assert!(serde_json::from_str::<Value>(&json).is_ok());
    }
}

/// Events that formats know, half of them Bedrock's chunks.
const EVENTS: &[&str] = &[
    "chunk",
    "chunk",
    "chunk",
    "chunk",
    "data",
    "messages",
    "messages/partial",
    "values",
    "updates",
    "metadata",
    "end",
    "error",
    "result",
    "message_start",
    "content_block_delta",
    "output",
    "messageStart",
    "contentBlockDelta",
];

/// An event, and data of any shape in the keys of all formats.
fn named_frame() -> impl Strategy<Value = (&'static str, String)> {
    let keys = || prop::sample::select(ALL_KEYS);
    let data = any_json_of(keys()).prop_map(|value| value.to_string());
    (prop::sample::select(EVENTS), data)
}

/// Keys of the other formats, beside some of Chat's.
const ALL_KEYS: &[&str] = &[
    "additional_kwargs",
    "amazon-bedrock-guardrailAction",
    "amazon-bedrock-invocationMetrics",
    "args",
    "arguments",
    "audio",
    "bytes",
    "candidates",
    "choices",
    "completion",
    "completionReason",
    "content",
    "content_block",
    "contentBlockDelta",
    "contentBlockIndex",
    "data",
    "delta",
    "event",
    "event_type",
    "fields",
    "finish_reason",
    "function",
    "generation",
    "id",
    "index",
    "is_finished",
    "kwargs",
    "lc",
    "logprobs",
    "message",
    "messages",
    "method",
    "name",
    "namespace",
    "ops",
    "output",
    "outputs",
    "outputText",
    "params",
    "path",
    "reasoning_content",
    "request_id",
    "response",
    "response_metadata",
    "role",
    "run_id",
    "stop_reason",
    "text",
    "tool_call_chunks",
    "tool_calls",
    "totalOutputTextTokenCount",
    "type",
    "usage",
    "usage_metadata",
    "value",
];

/// The places of the values of a text's JSON members: where each begins and ends.
fn member_values(text: &str) -> Vec<(usize, usize)> {
    let begins = text.match_indices("\":").map(|(at, found)| at + found.len());
    begins
        .filter_map(|at| {
            let mut values =
                serde_json::Deserializer::from_str(&text[at..]).into_iter::<IgnoredAny>();
            values.next()?.ok()?;
            Some((at, at + values.byte_offset()))
        })
        .collect()
}

/// Values of every kind, and of shapes that readers look for.
const OTHERS: &[&str] = &[
    "null",
    "true",
    "-1",
    "1e400",
    "\"\"",
    "\"x\"",
    "\"\\ud800\"",
    "{}",
    "[]",
    "[[]]",
    "{\"type\":1}",
    "[{\"id\":\"x\"}]",
    "\"message_stop\"",
    "2147483648",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever stands where a fixture of any format has another value: it is read, in any chunking the same.
    #[test]
    fn values_out_of_place_are_read(
        which in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(OTHERS)), 1..4),
        size in 1..40_usize,
    ) {
        let bodies = super::texts();
        let (name, mut body) = bodies[which.index(bodies.len())].clone();
        for (at, other) in places {
            let values = member_values(&body);
            if values.is_empty() { break; }
            let (begin, end) = values[at.index(values.len())];
            body.replace_range(begin..end, other);
        }
        let whole = serde_json::to_string(&read(body.as_bytes(), 0)).unwrap();
        prop_assert_eq!(serde_json::to_string(&read(body.as_bytes(), size)).unwrap(), whole, "{}", name);
    }
}

/// The keys that Chat knows, at every level.
const KEYS: &[&str] = &[
    "index",
    "id",
    "object",
    "created",
    "model",
    "choices",
    "usage",
    "error",
    "x_groq",
    "delta",
    "message",
    "finish_reason",
    "logprobs",
    "content",
    "role",
    "refusal",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "tool_calls",
    "function",
    "custom",
    "name",
    "arguments",
    "input",
    "type",
    "text",
    "thinking",
    "closed",
    "audio",
    "data",
    "transcript",
    "annotations",
    "executed_tools",
    "function_call",
    "images",
    "extra_content",
    "content_filter_results",
    "token_ids",
    "summary",
    "made_up",
];

fn any_json() -> impl Strategy<Value = Value> {
    any_json_of(prop::sample::select(KEYS))
}

fn any_json_of(
    keys: impl Strategy<Value = &'static str> + Clone + 'static,
) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..4_u64).prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "a",
            "text",
            "thinking",
            "reasoning.text",
            "chat.completion.chunk",
            "ai",
            "tool",
            "AIMessageChunk",
            "constructor",
            "message_start",
            "content-block-delta",
            "block-delta",
            "tool_call_chunk",
            "null",
            "{}",
            "[1"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys.clone(), inner, 0..7).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

/// A chunk whose inner parts are of any shape, or anything at all.
fn frame() -> impl Strategy<Value = String> {
    prop_oneof![
        any_json().prop_map(|value| value.to_string()),
        any_json().prop_map(|delta| json!({"choices": [{"index": 0, "delta": delta}]}).to_string()),
        any_json().prop_map(|choice| json!({"choices": [choice]}).to_string()),
        any_json()
            .prop_map(|call| json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string()),
        any_json().prop_map(|message| json!({"choices": [{"message": message}]}).to_string()),
        Just("[DONE]".to_owned()),
        Just("oops".to_owned()),
    ]
}
