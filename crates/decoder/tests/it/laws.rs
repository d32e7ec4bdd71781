//! What holds for all bodies.

use bytes::Bytes;
use proptest::{prelude::*, sample::Index};
use teeline_decoder::{Framing, Options};
use teeline_finding::{Finding, Findings, Place};

use crate::reading::{Outcome, as_framing, assert_ranges, pasted, read};

/// Bodies made of what the framings are made of, so that most of them come near a rule.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => Just("data: {\"a\":1}"),
        2 => Just("data:"),
        2 => Just("data: [DONE]"),
        1 => Just("event: x"),
        1 => Just("id: 7"),
        1 => Just("retry: 5"),
        2 => Just(": c"),
        2 => Just("{\"a\":\"é🚀\"}"),
        2 => Just("{"),
        2 => Just("}"),
        2 => Just("["),
        2 => Just("]"),
        2 => Just(","),
        1 => Just("\"\\\""),
        1 => Just("\"a\":1"),
        1 => Just("text"),
        1 => Just("2026-03-04T05:06:07Z "),
        1 => Just("[05:06:07]"),
        1 => Just("\u{feff}"),
        1 => Just(" "),
    ]
    .prop_map(|text| text.as_bytes().to_vec());
    let bytes = prop_oneof![
        6 => line,
        1 => proptest::collection::vec(any::<u8>(), 0..6),
        1 => Just(b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff".to_vec()),
    ];
    let end = prop_oneof![
        8 => Just("\n"),
        3 => Just("\n\n"),
        3 => Just("\r\n"),
        2 => Just("\r"),
        4 => Just(""),
    ];
    proptest::collection::vec((bytes, end), 0..14).prop_map(|lines| {
        lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.as_bytes().to_vec()])
            .flatten()
            .collect()
    })
}

/// Every framing and detection, with and without stamps, with a bound that is met now and then.
fn options() -> impl Strategy<Value = Options> {
    let framing = proptest::option::of(proptest::sample::select(Framing::ALL.to_vec()));
    let content_type = proptest::option::of(proptest::sample::select(vec![
        "application/json".to_owned(),
        "application/x-ndjson".to_owned(),
        "application/vnd.amazon.eventstream".to_owned(),
        "text/event-stream".to_owned(),
    ]));
    let bound = prop_oneof![3 => Just(1_000_usize), 1 => 1_usize..60];
    (framing, content_type, any::<bool>(), bound).prop_map(
        |(framing, content_type, stamps, bound)| Options { framing, content_type, stamps, bound },
    )
}

/// A body in pieces that end at the given places, which may be empty.
fn cut(body: &Bytes, at: &[Index]) -> Vec<Bytes> {
    let mut edges: Vec<usize> = at.iter().map(|index| index.index(body.len() + 1)).collect();
    edges.extend([0, body.len()]);
    edges.sort_unstable();
    edges.windows(2).map(|edge| body.slice(edge[0]..edge[1])).collect()
}

/// What is the same however lines are stamped or ended: everything but places.
fn essence(outcome: &Outcome) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let frames = outcome.frames.clone().into_iter();
    frames
        .map(|frame| {
            let texts =
                (frame.event, frame.data, frame.id, frame.retry, frame.comments, frame.recovered);
            (texts, frame.lines, frame.terminated, frame.dispatched, frame.glued, frame.error)
        })
        .collect()
}

fn kinds(findings: &Findings) -> Vec<(&'static str, u64)> {
    findings.list().iter().map(|finding| (finding.kind.id(), finding.count)).collect()
}

/// SSE bodies without CR, stamps or a byte-order mark.
fn plain_sse() -> impl Strategy<Value = String> {
    let line = proptest::sample::select(vec![
        "data: {\"a\":1}",
        "data:",
        "data: x",
        "data",
        "event: x",
        "id: 7",
        "retry: 5",
        ": c",
        ":",
        "text",
        "{\"a\":",
        "1}",
        "{}",
        "",
        "",
        "",
        " ",
        "data: é🚀",
        "data: [DONE]",
        "error: {}",
    ]);
    proptest::collection::vec(line, 0..14)
        .prop_map(|lines| lines.iter().flat_map(|line| [line, "\n"]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Any chunking gives the same, no input panics, frames come in order and do not overlap.
    #[test]
    fn chunks_do_not_matter(body in body(), options in options(), at in proptest::collection::vec(any::<Index>(), 0..8)) {
        let body = Bytes::from(body);
        let whole = read(&options, [body.clone()]);
        assert_ranges(&whole.frames, &body);
        prop_assert_eq!(read(&options, cut(&body, &at)), whole, "{:?}", options);
    }

    /// Arbitrary bytes, too.
    #[test]
    fn no_bytes_panic(body in proptest::collection::vec(any::<u8>(), 0..300), options in options(), at in proptest::collection::vec(any::<Index>(), 0..4)) {
        let body = Bytes::from(body);
        let whole = read(&options, [body.clone()]);
        assert_ranges(&whole.frames, &body);
        prop_assert_eq!(read(&options, cut(&body, &at)), whole);
    }

    /// Findings point into the body, at a line's first byte where they name a line of SSE.
    #[test]
    fn findings_point_at_lines(body in body(), bound in 20_usize..2_000) {
        let body = Bytes::from(body);
        let options = Options { bound, ..as_framing(Framing::Sse) };
        for Finding { place, .. } in read(&options, [body.clone()]).findings.list() {
            let Place { line: Some(line), offset: Some(offset), .. } = *place else { continue };
            prop_assert_eq!(line_at(&body, usize::try_from(offset).expect("small")), line, "{:?}", place);
        }
    }

    /// Frames of SSE and NDJSON are whole lines, numbered as their offsets say.
    #[test]
    fn frames_are_lines(body in body()) {
        let body = Bytes::from(body);
        for frame in read(&as_framing(Framing::Sse), [body.clone()]).frames {
            let at = |offset: u64| usize::try_from(offset).expect("small");
            let end = at(frame.offset + frame.length);
            prop_assert_eq!(line_at(&body, at(frame.offset)), frame.line);
            prop_assert!(end == body.len() || line_at(&body, end) == frame.line + frame.lines, "{:?}", frame);
        }
    }

    /// CR LF for LF: the same, and `crlf`. CR alone: the same.
    #[test]
    fn line_ends_do_not_matter(body in plain_sse()) {
        let sse = as_framing(Framing::Sse);
        let plain = read(&sse, [body.clone().into()]);
        let crlf = read(&sse, [body.replace('\n', "\r\n").into()]);
        prop_assert_eq!(essence(&crlf), essence(&plain));
        let mut expected = plain.findings.clone();
        if !body.is_empty() {
            expected.report(Place::STREAM, teeline_finding::Kind::Crlf);
        }
        let sorted = |findings: &Findings| { let mut kinds = kinds(findings); kinds.sort_unstable(); kinds };
        prop_assert_eq!(sorted(&crlf.findings), sorted(&expected));
        let cr = read(&sse, [body.replace('\n', "\r").into()]);
        prop_assert_eq!(essence(&cr), essence(&plain));
    }

    /// A byte-order mark: the same, three bytes later, and `bom`.
    #[test]
    fn a_mark_adds_itself_only(body in body(), framing in proptest::option::of(proptest::sample::select(TEXT.to_vec()))) {
        // Text that has no mark yet.
        let body = [b"\n", &*body].concat();
        let options = Options { framing, ..pasted() };
        let plain = read(&options, [body.clone().into()]);
        let marked = read(&options, [[b"\xef\xbb\xbf", &*body].concat().into()]);
        let mut frames = plain.frames.clone();
        for frame in &mut frames {
            frame.offset += 3;
        }
        prop_assert_eq!(&marked.frames, &frames);
        let mut ids = kinds(&plain.findings);
        ids.insert(0, ("bom", 1));
        prop_assert_eq!(kinds(&marked.findings), ids);
    }

    /// Comment lines anywhere: nothing changes but comments, lines and places.
    #[test]
    fn comments_do_not_matter(lines in proptest::collection::vec((plain_line(), any::<bool>()), 0..14)) {
        let sse = as_framing(Framing::Sse);
        let plain: String = lines.iter().flat_map(|(line, _)| [*line, "\n"]).collect();
        let commented: String = lines.iter().flat_map(|(line, comment)| [if *comment { ": c\n" } else { "" }, *line, "\n"]).collect();
        let (plain, commented) = (read(&sse, [plain.into()]), read(&sse, [commented.into()]));
        let data = |outcome: &Outcome| -> Vec<_> {
            let frames = outcome.frames.clone().into_iter();
            frames.filter(|frame| frame.data.is_some()).map(|frame| (frame.data, frame.event, frame.id, frame.retry, frame.terminated, frame.dispatched)).collect()
        };
        prop_assert_eq!(data(&commented), data(&plain));
        prop_assert_eq!(kinds(&commented.findings), kinds(&plain.findings));
        prop_assert_eq!(commented.comments - plain.comments, lines.iter().filter(|(_, comment)| *comment).count() as u64);
    }

    /// A stamp before each line: the same, and times.
    #[test]
    fn stamps_do_not_matter(body in plain_sse(), bracket in any::<bool>()) {
        // The blanks behind a stamp go with it, so a line of blanks would be an empty one.
        let body = body.replace(" \n", "x\n");
        let stamp = if bracket { "[05:06:07]" } else { "05:06:07 " };
        let stamped: String = body.split_inclusive('\n').flat_map(|line| [stamp, line]).collect();
        let (plain, stamped) = (read(&pasted(), [body.into()]), read(&pasted(), [stamped.into()]));
        prop_assert_eq!(essence(&stamped), essence(&plain));
        prop_assert_eq!(kinds(&stamped.findings), kinds(&plain.findings));
        prop_assert_eq!(stamped.framing, plain.framing);
        prop_assert!(stamped.frames.iter().all(|frame| frame.stamp.is_some() || frame.index > 0));
    }

    /// Cut anywhere: what was read before is the same, and at most the last frame is another.
    #[test]
    fn a_prefix_reads_as_a_prefix(body in body(), framing in proptest::sample::select(Framing::ALL.to_vec()), at in any::<Index>()) {
        let body = Bytes::from(body);
        let options = as_framing(framing);
        let whole = read(&options, [body.clone()]).frames;
        let start = read(&options, [body.slice(..at.index(body.len() + 1))]).frames;
        let sure = start.len().saturating_sub(1);
        prop_assert_eq!(start.get(..sure), whole.get(..sure));
    }
}

const TEXT: [Framing; 4] = [Framing::Sse, Framing::Ndjson, Framing::JsonArray, Framing::Json];

fn plain_line() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "data: 1", "data: x", "data", "event: x", "id: 7", "retry: 5", "text", "", "", "{}",
    ])
}

/// The line, from 1, that begins at this byte; 0 if none does.
fn line_at(body: &[u8], offset: usize) -> u64 {
    let start = &body[..offset];
    let lines = start.iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => body.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    let begins = start.is_empty()
        || start == b"\xef\xbb\xbf"
        || start.ends_with(b"\n")
        || (start.ends_with(b"\r") && body.get(offset) != Some(&b'\n'));
    if begins { lines.count() as u64 + 1 } else { 0 }
}
