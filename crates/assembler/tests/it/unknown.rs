//! Detection over a whole body, and bodies of no known format.

use teeline_assembler::{Assembly, End, Options, Reading, Verdict, format};
use teeline_decoder::Framing;

use crate::support::{SIZES, fixture, ids, read, read_with};

const CHUNK: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":{}}\n\n";
const START: &str = "event: message_start\ndata: {\"type\":\"message_start\"}\n\n";
const ERROR: &str = "data: {\"error\":{\"message\":\"m\"}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn path(path: &str) -> Options {
    Options { path: Some(path.to_owned()), ..Options::default() }
}

fn content_type(content_type: &str) -> Options {
    Options { content_type: Some(content_type.to_owned()), ..Options::default() }
}

/// `FORMATS.md` 1.2: majority, then the earliest; the path only where no frame votes.
#[test]
fn votes() {
    for (options, body, name, mixed) in [
        (Options::default(), format!("{CHUNK}{START}{CHUNK}{DONE}"), "openai-chat", true),
        (Options::default(), format!("{START}{CHUNK}{DONE}"), "anthropic-messages", true),
        (Options::default(), format!("{CHUNK}{START}{DONE}"), "openai-chat", true),
        (path("/v1/messages"), format!("{CHUNK}{DONE}"), "openai-chat", false),
        (path("/v1/chat/completions"), ERROR.to_owned(), "openai-chat", false),
        (path("/v1/chat/completions"), DONE.to_owned(), "openai-chat", false),
        (path("/v1/models"), ERROR.to_owned(), "unknown", false),
        (Options::default(), DONE.to_owned(), "unknown", false),
    ] {
        let reading = read_with(options, body.as_bytes(), 0);
        assert_eq!((reading.format, ids(&reading).contains(&"mixed")), (name, mixed), "{body}");
    }
    let reading = read(format!("{CHUNK}{START}{CHUNK}{DONE}").as_bytes(), 0);
    let sentences: Vec<String> =
        reading.findings.iter().map(|finding| finding.kind.message()).collect();
    assert_eq!(
        sentences,
        [
            "The frames name more than one format (openai-chat 2, anthropic-messages 1); read as openai-chat.",
            "`message_start` is no event of this format; the frame is listed and not read.",
        ]
    );
}

/// `--as` reads everything as the format asked for.
#[test]
fn the_format_asked_for_gets_everything() {
    let options = Options { format: format("openai-chat"), ..Options::default() };
    let reading = read_with(options, format!("{START}{START}{CHUNK}{DONE}").as_bytes(), 0);
    assert_eq!((reading.format, ids(&reading)), ("openai-chat", vec!["unknown-event"; 2]));
    assert_eq!((reading.outputs[0].text.as_str(), reading.verdict), ("a", Verdict::Finished));
}

/// What came before the first vote is not lost to the format that then begins.
#[test]
fn frames_before_the_first_vote_are_made_up_for() {
    let before = "data: oops\n\nevent: x\n\ndata: null\n\n";
    for (body, found) in [
        (
            format!("{before}{CHUNK}{DONE}"),
            vec![("not-json", 1), ("ignored-line", 1), ("unknown-event", 1)],
        ),
        // more than is kept: faults still count
        (
            format!("{}{CHUNK}{DONE}", "data: oops\n\n".repeat(500)),
            vec![
                ("not-json", 1),
                ("not-json", 1),
                ("not-json", 1),
                ("not-json", 1),
                ("not-json", 496),
            ],
        ),
        // an error before anything else ends the stream
        (format!("{ERROR}{CHUNK}{DONE}"), vec![("error-event", 1), ("after-end", 1)]),
    ] {
        let reading = read(body.as_bytes(), 0);
        let got: Vec<(&str, u64)> =
            reading.findings.iter().map(|finding| (finding.kind.id(), finding.count)).collect();
        assert_eq!((reading.format, got), ("openai-chat", found));
    }
}

/// Contract 3: a body of no known format is finished if it came whole, and nothing of a stream is asked.
#[test]
fn bodies_of_no_known_format() {
    let models = r#"{"object":"list","data":[{"id":"m"}]}"#;
    let page = "<!doctype html>\n<html>\n<p>Bad gateway</p>\n</html>\n";
    for (options, body, framing) in [
        (content_type("application/json"), models, Some("json")),
        (Options::default(), models, Some("json")),
        (path("/v1/chat/completions"), r#"{"detail":"Not Found"}"#, Some("json")),
        (content_type("text/html; charset=utf-8"), page, None),
        (Options::default(), page, None),
        (content_type("image/png"), "\u{89}PNG", None),
        (Options { request_streamed: Some(false), ..Options::default() }, "upstream error", None),
    ] {
        for size in SIZES {
            let reading = read_with(options.clone(), body.as_bytes(), size);
            assert_eq!((reading.format, reading.framing), ("unknown", framing), "{body}");
            assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec![]), "{body}");
            assert!(
                reading.outputs.is_empty() && reading.response.is_none() && reading.usage.is_none()
            );
        }
    }
    let reading = read_with(content_type("text/html"), page.as_bytes(), 0);
    assert_eq!(reading.summary, "Finished: 50 bytes.");
}

#[test]
fn a_body_that_did_not_come_whole_did_not_finish() {
    for body in ["<html>", "{\"object\":\"list\"}", "data: {\"x\":1}\n\n"] {
        let mut assembly = Assembly::new(Options::default());
        assembly.push(body.as_bytes().into(), None);
        assembly.finish(End::Broke { how: "reset".to_owned() });
        let reading: Reading = assembly.reading();
        assert_eq!(
            (reading.verdict, ids(&reading)),
            (Verdict::DidNotFinish, vec!["connection-broke"]),
            "{body}"
        );
    }
}

/// `FORMATS.md` G.10, read as no format: data that is not JSON is named, an event without data, too.
#[test]
fn framing_example() {
    let body = fixture("openai-chat", "G1.sse");
    for size in SIZES {
        let reading =
            read_with(Options { framing: Some(Framing::Sse), ..Options::default() }, &body, size);
        assert_eq!(ids(&reading), ["not-json", "not-json", "ignored-line"]);
        assert_eq!(
            (reading.counts.events, reading.counts.comments, reading.verdict),
            (3, 1, Verdict::Finished)
        );
    }
}

/// G.6: an error in bare JSON lines ends the stream, other JSON there is no part of it.
#[test]
fn bare_json_behind_frames() {
    let error = "{\n \"error\": {\n  \"code\": 503,\n  \"message\": \"overloaded\"\n }\n}\n";
    let reading = read(format!("{CHUNK}{error}").as_bytes(), 0);
    assert_eq!(
        (reading.verdict, reading.error.unwrap().message),
        (Verdict::DidNotFinish, "overloaded".to_owned())
    );
    let reading = read(format!("{CHUNK}{DONE}{{\n\"x\":1\n}}\n").as_bytes(), 0);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec!["ignored-line"; 3]));
}
