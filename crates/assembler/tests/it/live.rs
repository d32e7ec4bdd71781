//! Live bodies: times, connections, snapshots, provenance.

use bytes::Bytes;
use serde_json::{Value, json};
use teeline_assembler::{Assembly, End, Options, Reading, Verdict};

use crate::support::{fixture, ids, value};

const SECOND: u64 = 1_000_000;
const DONE: &str = "data: [DONE]\n\n";

fn text(content: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{content:?}}}}}]}}\n\n")
}

fn last() -> String {
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":6}}\n\n".to_owned()
}

/// Pushes chunks at times in microseconds.
fn assembly(options: Options, chunks: &[(u64, String)]) -> Assembly {
    let mut assembly = Assembly::new(options);
    assembly.keep_rows(true);
    for (at, chunk) in chunks {
        assembly.push(Bytes::from(chunk.clone()), Some(*at));
    }
    assembly
}

fn ended(chunks: &[(u64, String)], end: End) -> Reading {
    let mut assembly = assembly(Options::default(), chunks);
    assembly.finish(end);
    assembly.reading()
}

#[test]
fn times_are_those_of_first_bytes() {
    let started_at_us = Some(1_767_323_045_000_000);
    let role = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let (head, tail) = (text("Hello"), text(" there").split_off(10));
    let head = format!("{head}{}", &text(" there")[..10]);
    let mut assembly = assembly(
        Options { started_at_us, ..Options::default() },
        &[
            (100_500, ": ping\n\n".to_owned()),
            (150_000, role.to_owned()),
            (200_000, head),
            (700_000, tail),
            (800_000, format!("{}{DONE}", last())),
        ],
    );
    let at: Vec<Option<f64>> = assembly.take_rows().iter().map(|row| row.at_ms).collect();
    assert_eq!(at, [100.5, 150.0, 200.0, 200.0, 800.0, 800.0].map(Some));
    assembly.finish(End::Clean);
    let timing = assembly.reading().timing.unwrap();
    assert_eq!(
        (timing.first_byte_ms, timing.first_text_ms),
        (Some(100.5), Some(200.0)),
        "a role is no text"
    );
    assert_eq!((timing.last_byte_ms, timing.longest_gap_ms), (Some(800.0), Some(600.0)));
    assert_eq!(timing.tokens_per_second, Some(10.0), "six tokens in 0.6 s");
    let spark = value(&assembly.reading());
    assert_eq!(spark["timing"]["first_text_ms"], 200.0);
    let spark = serde_json::to_value(assembly.spark()).unwrap();
    assert_eq!(
        (&spark["slot_ms"], &spark["bytes"][8], spark["bytes"].as_array().unwrap().len()),
        (&json!(25), &json!(11), 33)
    );
}

#[test]
fn rows_have_dates_where_the_start_is_known() {
    let options = Options { started_at_us: Some(1_767_323_045_000_000), ..Options::default() };
    let mut assembly = assembly(options, &[(678_901, DONE.to_owned())]);
    let row = assembly.take_rows().remove(0);
    assert_eq!(row.at.as_deref(), Some("2026-01-02T03:04:05.678901Z"));
    assert!(assembly.take_rows().is_empty(), "rows are given once");
}

/// A gap of 20 s or more is told at the frame behind it; less is not.
#[test]
fn stalled() {
    for (gap, found) in [(20 * SECOND, vec!["stalled"]), (20 * SECOND - 1, vec![])] {
        let chunks = [(SECOND, text("a")), (SECOND + gap, format!("{}{DONE}", last()))];
        let reading = ended(&chunks, End::Clean);
        assert_eq!(ids(&reading), found);
        assert!(reading.findings.iter().all(|finding| finding.place.frame == Some(1)));
    }
    let pings: Vec<(u64, String)> =
        (0..10).map(|n| (n * 15 * SECOND, ": ping\n\n".to_owned())).collect();
    assert!(!ids(&ended(&pings, End::Clean)).contains(&"stalled"), "keep-alives come, too");
}

/// Ten frames in one read are told once for the read; nine are not; pasted text has no reads.
#[test]
fn coalesced() {
    let end = format!("{}{DONE}", last());
    for (frames, found) in [(10, vec!["coalesced"]), (9, vec![])] {
        assert_eq!(
            ids(&ended(&[(1, text("a").repeat(frames)), (2, end.clone())], End::Clean)),
            found
        );
    }
    let mut pasted = Assembly::new(Options::default());
    pasted.push(format!("{}{end}", text("a").repeat(50)).into(), None);
    pasted.finish(End::Clean);
    assert_eq!(ids(&pasted.reading()), [""; 0]);
}

#[test]
fn content_types() {
    let sse = format!("{}{}{DONE}", text("a"), last());
    for (declared, body, found) in [
        ("text/event-stream; charset=utf-8", sse.as_str(), false),
        ("application/json", &sse, true),
        ("text/html", &sse, true),
        ("application/octet-stream", &sse, false),
        ("text/event-stream", "{\"object\":\"chat.completion\",\"choices\":[]}", true),
        ("application/json", "{\"object\":\"chat.completion\",\"choices\":[]}", false),
    ] {
        let mut assembly = Assembly::new(Options {
            content_type: Some(declared.to_owned()),
            ..Options::default()
        });
        assembly.push(body.to_owned().into(), None);
        assembly.finish(End::Clean);
        assert_eq!(
            ids(&assembly.reading()) == ["content-type"],
            found,
            "{declared}: {:?}",
            ids(&assembly.reading())
        );
    }
}

/// Who ended it, and what that means for the answer. A stream that had ended has nothing to lose.
#[test]
fn endings() {
    let broke = || End::Broke { how: "connection reset".to_owned() };
    let whole = [(SECOND, text("a")), (2 * SECOND, format!("{}{DONE}", last()))];
    let part = &whole[..1];
    for (chunks, end, verdict, found) in [
        (&whole[..], End::Clean, Verdict::Finished, vec![]),
        (&whole, broke(), Verdict::Finished, vec!["connection-broke"]),
        (&whole, End::ClientLeft, Verdict::Finished, vec![]),
        (&whole, End::Interrupted, Verdict::Finished, vec![]),
        (part, End::Clean, Verdict::DidNotFinish, vec!["no-end"]),
        (part, broke(), Verdict::DidNotFinish, vec!["no-end", "connection-broke"]),
        (part, End::ClientLeft, Verdict::DidNotFinish, vec!["no-end", "client-left"]),
        (part, End::Interrupted, Verdict::DidNotFinish, vec!["no-end"]),
        (part, End::Capped, Verdict::DidNotFinish, vec![]),
        (&[], broke(), Verdict::Empty, vec!["empty", "connection-broke"]),
        (&[], End::ClientLeft, Verdict::Empty, vec!["empty", "client-left"]),
    ] {
        let reading = ended(chunks, end.clone());
        assert_eq!((reading.verdict, ids(&reading)), (verdict, found), "{end:?}");
    }
    let reading = ended(part, broke());
    let bytes = text("a").len();
    assert_eq!(
        reading.findings[1].kind.message(),
        format!(
            "The upstream broke the connection (connection reset) after 1 frames and {bytes} bytes, 1000 ms in."
        )
    );
}

#[test]
fn a_gap_in_the_capture_is_told() {
    let mut assembly = assembly(Options::default(), &[(1, text("a"))]);
    assembly.gap(80, 120, "the queue was full");
    assembly.push(format!("{}{DONE}", last()).into(), Some(2));
    assembly.finish(End::Clean);
    let reading = assembly.reading();
    assert_eq!(ids(&reading), ["capture-incomplete"]);
    assert_eq!(
        reading.findings[0].kind.message(),
        "The capture lacks bytes 80 to 120; the app got them (the queue was full)."
    );
}

/// An open stream's reading: what holds so far, and nothing that only the end can tell.
#[test]
fn snapshots_say_nothing_of_the_end() {
    let call = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\"}}]}}]}\n\n";
    let mut assembly = assembly(Options::default(), &[(1, text("Hi")), (2, call.to_owned())]);
    let reading = assembly.reading();
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::DidNotFinish, vec![]));
    assert_eq!(reading.summary, "Not finished yet: 1 choice, 2 characters, 1 tool call.");
    assert_eq!(
        (reading.outputs[0].text.as_str(), reading.outputs[0].tool_calls[0].complete),
        ("Hi", false)
    );
    assert_eq!(assembly.preview(), "Hi");
    assembly.push(format!("{}{DONE}", last()).into(), Some(3));
    assert_eq!(
        (assembly.reading().verdict, ids(&assembly.reading())),
        (Verdict::Finished, vec![]),
        "the end is there"
    );
    assembly.finish(End::Clean);
    assert_eq!(ids(&assembly.reading()), ["tool-call-incomplete"]);
    assert!(assembly.reading().outputs[0].tool_calls.is_empty());
    assembly.push("data: oops\n\n".into(), Some(4));
    assembly.finish(End::ClientLeft);
    assert_eq!(
        ids(&assembly.reading()),
        ["tool-call-incomplete"],
        "nothing is taken after the end"
    );
}

#[test]
fn the_preview_is_the_first_200_characters_of_the_answer() {
    for (delta, want) in [
        (format!("\"content\":\"{}\"", "é".repeat(500)), "é".repeat(200)),
        ("\"refusal\":\"No.\",\"reasoning\":\"hm\"".to_owned(), "No.".to_owned()),
        ("\"reasoning\":\"hm\"".to_owned(), "hm".to_owned()),
        ("\"role\":\"assistant\"".to_owned(), String::new()),
    ] {
        let chunk = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n");
        assert_eq!(assembly(Options::default(), &[(1, chunk)]).preview(), want);
    }
}

/// Each part's text is what the frames added to it, in order.
#[test]
fn provenance_adds_up_to_the_parts() {
    let chat =
        ["A1", "A2", "A3", "A4", "H5"].map(|name| fixture("openai-chat", &format!("{name}.sse")));
    let message = String::from_utf8(fixture("anthropic-messages", "C1.sse")).unwrap();
    let begun: String = message.split_inclusive("\n\n").take(6).collect();
    let restarted = [begun, message].concat().into_bytes();
    for (name, body) in (0..).zip(chat.into_iter().chain([restarted])) {
        let mut assembly = Assembly::new(Options::default());
        assembly.push(body.into(), None);
        assembly.finish(End::Clean);
        let log: Vec<Vec<i64>> =
            serde_json::from_value(serde_json::to_value(assembly.provenance()).unwrap()).unwrap();
        assert!(log.is_sorted_by_key(|entry| entry[0]), "{name}: in order of frames");
        for output in assembly.reading().outputs {
            for (place, part) in (0..).zip(&output.parts) {
                let part: Value = serde_json::from_str(part.get()).unwrap();
                let text = part["text"].as_str().or(part["arguments"].as_str()).unwrap_or_default();
                assert_ne!(part["kind"], "replaced", "{name}");
                let of_part = log.iter().filter(|entry| {
                    (entry[1], entry[2]) == (i64::try_from(output.index).unwrap(), place)
                });
                let added = of_part.map(|entry| entry[3] - entry.get(4).unwrap_or(&0)).sum::<i64>();
                assert_eq!(added, i64::try_from(text.len()).unwrap(), "{name}: {part}");
            }
        }
    }
}

#[test]
fn assemblies_can_be_sent_to_workers() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&Assembly::new(Options::default()));
}
