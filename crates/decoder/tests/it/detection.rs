//! Which framing a body has: `FORMATS.md` G.2, row by row.

use bytes::Bytes;
use teeline_decoder::{Framing, Options};

use crate::reading::{pasted, pieces, read, read_all_ways};

use Framing::{AwsEventstream as Aws, Json, JsonArray as Array, Ndjson, Sse};

/// (body, content type, framing)
type Case = (&'static str, Option<&'static str>, Framing);

const JSON: Option<&str> = Some("application/json; charset=utf-8");
const NDJSON: Option<&str> = Some("Application/X-NDJSON");
const EVENTS: Option<&str> = Some("text/event-stream");

/// Bodies in which a line decides.
const DECIDED: &[Case] = &[
    // SSE: a line that starts with a field or a comment, or is `data`.
    ("data: 1\n\n", None, Sse),
    ("event: x\n\n", None, Sse),
    ("id: 1\n\n", None, Sse),
    ("retry: 1\n\n", None, Sse),
    (": c\n\n", None, Sse),
    (":\n\n", None, Sse),
    ("data\n\n", None, Sse),
    ("data", None, Sse),
    ("data:", None, Sse),
    ("data: 1", JSON, Sse),
    ("data: 1", NDJSON, Sse),
    // Other text decides nothing.
    ("HTTP/1.1 200 OK\r\ndate: now\r\n\r\ndata: 1\r\n\r\n", None, Sse),
    ("Data: 1\n\n{\"a\":1}\n{\"b\":2}\n", None, Ndjson),
    ("  % Total\ncurl: (18) oops\n{\"a\":1}", None, Json),
    ("{ [1256 bytes data]\ndata: 1\n\n", None, Sse),
    ("event\n[1,\n2]", None, Array),
    (" data: 1\n{\"a\":1}", None, Json),
    ("text\n\n[{\"a\":1},\n{\"b\":2}]\n", None, Array),
    // One complete JSON value with SSE behind it.
    ("{\"error\":1}\ndata: 1\n\n", None, Sse),
    ("{\"error\":1}\n\n\ndata: 1\n\n", None, Sse),
    ("{\n\"error\":1\n}\ndata: 1\n\n", None, Sse),
    ("[1]\n: c\n\n", None, Sse),
    ("200\ndata: 1\n\n", None, Sse),
    ("{\"error\":1}\rdata: 1\r\r", None, Sse),
    // A JSON array, unless it is complete and a later line is, too.
    ("[", None, Array),
    ("[\n", None, Array),
    ("[{\"a\":1},\n", None, Array),
    ("[1]\n", None, Array),
    ("[1]", JSON, Array),
    ("[1]\n\noops\n", None, Array),
    ("[1]\n[2]\n", None, Ndjson),
    ("[1]\noops\n{\"b\":2}\n", None, Ndjson),
    ("[1]\noops\ndata: 1\n", None, Array),
    ("\t[1]\n", None, Array),
    ("[1]\n", NDJSON, Ndjson),
    ("[DONE]\n", None, Array),
    // One JSON document.
    ("{\"a\":1}", None, Json),
    ("{\"a\":1}\n\n  \r\n", None, Json),
    ("  {\"a\":1}", None, Json),
    ("{\"a\":\n1}\n", None, Json),
    ("{\n", None, Json),
    ("{\n\"a\":1", None, Json),
    ("{\nbad\n", None, Json),
    ("{\r\n  \"a\": 1\r\n}\r\n", None, Json),
    ("{\n}\n{\n}\n", None, Json),
    ("{\"a\":1}", EVENTS, Json),
    ("{\"a\":\"\u{fffd}\"}", None, Json),
    // A body that says it is JSON and starts with `{` is a document, also a broken one.
    ("{\"a\":", JSON, Json),
    ("{bad}\n{\"b\":2}\n", JSON, Json),
    ("{\"a\":\nbad\n", JSON, Json),
    ("{\"a\":1}\n{\"b\":2}\n", JSON, Ndjson),
    // NDJSON: any other line that starts with `{` or is complete JSON.
    ("{\"a\":1}\n{\"b\":2}\n", None, Ndjson),
    ("{\"a\":1}\n{\"b\":", None, Ndjson),
    ("{\"a\":1}\noops\n", None, Ndjson),
    ("{\"a\":", None, Ndjson),
    ("{bad}\n{\"b\":2}\n", None, Ndjson),
    ("{\"a\":\n1}\n{\"b\":2}\n", None, Ndjson),
    ("{ [many bytes data]\n", None, Ndjson),
    ("1\n2\n", None, Ndjson),
    ("\"data: 1\"\n", None, Ndjson),
    ("null\n\noops\n", None, Ndjson),
    ("{\"a\":1}\n", NDJSON, Ndjson),
    ("{\"a\":1}\n", Some("application/jsonl"), Ndjson),
    ("{\"a\":1}\n", Some("application/json-lines"), Ndjson),
    ("{\"a\":1}\n", Some("application/ndjson"), Ndjson),
    ("{\n\"a\":1\n}\n", NDJSON, Json),
    ("{\"a\":\n1}\n", NDJSON, Json),
    // Lines with a code in front, as Vercel's data stream v1 has them.
    ("f:{\"messageId\":\"m\"}\n0:\"Hel\"\n", None, Ndjson),
    ("0:\"Hel\"\n", Some("text/plain"), Ndjson),
];

/// Bodies in which nothing decides.
const GUESSED: &[Case] = &[
    ("", None, Sse),
    ("\n\r\n \n", None, Sse),
    ("<html><body>502</body></html>\n", None, Sse),
    ("oops\n", JSON, Sse),
    ("oops\n", NDJSON, Ndjson),
    ("", NDJSON, Ndjson),
    ("oops\n", Some("application/vnd.amazon.eventstream"), Aws),
    ("a: 1\n0: 1\nz:1\n", None, Sse),
];

#[test]
fn a_line_decides() {
    for &(body, content_type, framing) in DECIDED {
        let options =
            Options { content_type: content_type.map(str::to_owned), ..Options::default() };
        let outcome = read_all_ways(&options, body);
        assert_eq!(
            (outcome.framing, outcome.guessed),
            (Some(framing), false),
            "{body:?} as {content_type:?}"
        );
    }
}

#[test]
fn nothing_decides() {
    for &(body, content_type, framing) in GUESSED {
        let options =
            Options { content_type: content_type.map(str::to_owned), ..Options::default() };
        let outcome = read_all_ways(&options, body);
        assert_eq!(
            (outcome.framing, outcome.guessed),
            (Some(framing), true),
            "{body:?} as {content_type:?}"
        );
    }
}

/// Stamps and a byte-order mark are taken off before a line is looked at. (The blanks of an indented line go with a stamp.)
#[test]
fn stamps_and_marks_do_not_hide_a_line() {
    for &(body, content_type, framing) in DECIDED.iter().filter(|(body, ..)| !body.starts_with(' '))
    {
        let stamp = |line: &str| format!("[05:06:07]{line}");
        let lines: String = body.split_inclusive('\n').map(stamp).collect();
        for body in [lines.clone(), format!("\u{feff}{lines}"), format!("\u{feff}{body}")] {
            let options = Options { content_type: content_type.map(str::to_owned), ..pasted() };
            assert_eq!(read_all_ways(&options, &body).framing, Some(framing), "{body:?}");
        }
    }
}

/// The lines before a pasted JSON body are named, and offsets and lines are those of the whole paste.
#[test]
fn what_is_skipped_is_ignored() {
    for (body, offset, line) in [
        ("HTTP/1.1 200 OK\r\nx: y\r\n\r\n{\"a\":\n1}", 25, 4),
        ("\u{feff}HTTP/1.1 200 OK\r\nx: y\r\n\r\n[\n{\"a\":\n1}]", 30, 5),
    ] {
        let outcome = read_all_ways(&Options::default(), body);
        assert_eq!(outcome.lines("ignored-line"), [Some(1), Some(2)], "{body:?}");
        let frame = &outcome.frames[0];
        assert_eq!((frame.offset, frame.line, frame.lines), (offset, line, 2), "{body:?}");
        assert_eq!(outcome.data(), [Some("{\"a\":\n1}")]);
    }
}

/// The first line is told from its beginning: a stream is shown before its first line is over.
#[test]
fn an_open_line_is_enough_for_sse() {
    let mut decoder = teeline_decoder::Decoder::new(pasted());
    let mut findings = teeline_finding::Findings::default();
    decoder.push("2026-03-04T05:06:07Z data: and so on, without an end".into());
    assert_eq!(decoder.next_frame(&mut findings), None);
    assert_eq!(decoder.framing(), Some(Sse));
}

/// An Ollama answer is shown with its first line if the content type breaks the tie.
#[test]
fn a_first_line_is_enough_with_a_content_type() {
    let content_type = NDJSON.map(str::to_owned);
    let mut decoder = teeline_decoder::Decoder::new(Options { content_type, ..Options::default() });
    let mut findings = teeline_finding::Findings::default();
    decoder.push("{\"a\":1}\n".into());
    assert!(decoder.next_frame(&mut findings).is_some());
}

/// So much is looked at and no more, and it decides the same however it comes.
#[test]
fn detection_is_bounded() {
    let long = "x".repeat(300);
    for (body, framing) in [
        (format!("{{\"a\":\"{long}\"}}\n{{\"b\":2}}\n"), Json),
        (format!("{{\"a\":1}}\n{}{{\"b\":2}}\n", "\n".repeat(300)), Json),
        (format!("{{\"a\":1,\n{}\"b\":2}}\n", "\n".repeat(300)), Json),
        ("1".repeat(300), Sse),
        (format!("{{x\"{long}\"}}\n"), Ndjson),
        (format!("[1,{long}]\n[2]\n"), Array),
        (format!("[1]\n{}[2]\n", "\n".repeat(300)), Array),
        (format!("\"{long}\"\n\"b\"\n"), Sse),
        (format!("1\n{}2\n", "\n".repeat(300)), Ndjson),
        (format!("{long}\n{{\"a\":1}}\n{{\"b\":2}}\n"), Sse),
        (format!("data: {long}\n\n"), Sse),
        (format!("{{\"a\":1}}\ndata: {long}\n\n"), Sse),
    ] {
        let options = Options { bound: 100, ..Options::default() };
        assert_eq!(read_all_ways(&options, &body).framing, Some(framing), "{body:?}");
        let beyond = Bytes::from(body);
        let outcome =
            read(&options, [beyond.slice(..100), beyond.slice(100..101), beyond.slice(101..)]);
        assert_eq!(outcome.framing, Some(framing), "{beyond:?}");
    }
}

/// A first line that is too long to look at is a document's, unless the content type says that it is NDJSON's.
#[test]
fn a_long_first_line() {
    for (content_type, framing) in [(None, Json), (JSON, Json), (EVENTS, Json), (NDJSON, Ndjson)] {
        let content_type = content_type.map(str::to_owned);
        let options = Options { bound: 100, content_type, ..Options::default() };
        let outcome = read_all_ways(&options, format!("{{\"a\":\"{}\"}}", "x".repeat(300)));
        assert_eq!(outcome.framing, Some(framing));
        assert_eq!(outcome.findings.count("too-large"), u64::from(framing == Ndjson));
    }
}

/// What is beyond the limit does not decide, were it a single byte.
#[test]
fn the_limit_is_exact() {
    for (bound, framing) in [(7, Array), (8, Ndjson)] {
        let options = Options { bound, ..Options::default() };
        assert_eq!(read_all_ways(&options, "[1]\n[2]\n\n").framing, Some(framing), "{bound}");
    }
}

/// At the limit and not beyond it, the end of the body still counts.
#[test]
fn the_limit_itself_is_within() {
    for (body, framing) in [
        ("{\"a\":1}\n2", Ndjson),
        ("[1]\n[2]\n\n", Ndjson),
        ("[1]\n[2]", Ndjson),
        ("{\"a\":1}  ", Json),
        ("[1, 2]\n3\n", Ndjson),
    ] {
        let options = Options { bound: body.len(), ..Options::default() };
        let body = Bytes::from_static(body.as_bytes());
        for size in [1, body.len()] {
            assert_eq!(read(&options, pieces(&body, size)).framing, Some(framing), "{body:?}");
        }
    }
}

/// What was held for detection is not lost, whatever came with the deciding chunk.
#[test]
fn everything_held_is_read() {
    let frames = "data: 12345\n\n".repeat(40);
    let options = Options { bound: 20, ..Options::default() };
    for text in ["", "no sign\n\n", "no sign at all, for longer than the limit\n\n"] {
        let outcome =
            read_all_ways(&Options { bound: 100, ..options.clone() }, format!("{text}{frames}"));
        let data: Vec<&str> = outcome.data().into_iter().flatten().collect();
        assert_eq!(data, vec!["12345"; 40], "{text:?}");
    }
}
