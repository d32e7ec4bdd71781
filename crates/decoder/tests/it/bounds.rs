//! How much is held, and what happens beyond it: `FORMATS.md` G.4, G.8.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use teeline_decoder::{Decoder, FRAME_BOUND, Framing, Options};
use teeline_finding::{Findings, Kind};

use crate::reading::{as_framing, pasted, pieces, read, read_all_ways};

fn bounded(framing: Framing, bound: usize) -> Options {
    Options { bound, ..as_framing(framing) }
}

/// (framing, body, UTF-16 units that its largest frame holds)
const MEASURED: &[(Framing, &str, usize)] = &[
    // Each line end counts one, a missing one none, the blank line's none.
    (Framing::Sse, "data: 123\n\n", 10),
    (Framing::Sse, "data: 123", 9),
    (Framing::Sse, "data: 123\r\n\r\n", 10),
    (Framing::Sse, "data: 123\r\r", 10),
    (Framing::Sse, "\n\n\n\n\n\n\n\n\n\n\n\ndata: 123\n\n", 10),
    (Framing::Sse, "\u{feff}data: 123\n\n", 10),
    // Comments and ignored lines count, other frames do not.
    (Framing::Sse, ": 45\nx\ndata: 123\n\n", 17),
    (Framing::Sse, "data: 1\n\ndata: 123\n\ndata: 1\n\n", 10),
    (Framing::Sse, " \n \n \n \n", 8),
    // Characters of two and three bytes count one, of four bytes two.
    (Framing::Sse, "data: éé\n\n", 9),
    (Framing::Sse, "data: €€\n\n", 9),
    (Framing::Sse, "data: 🚀\n\n", 9),
    (Framing::Ndjson, "\"123456\"\n", 8),
    (Framing::Ndjson, "\"123456\"\r\n1\n", 8),
    (Framing::Ndjson, "\"€🚀\"", 5),
    (Framing::JsonArray, "[ \"123456\" , 1 ]", 8),
    (Framing::JsonArray, "[{\"a\":\n1}]", 8),
    (Framing::JsonArray, "[1,\"€🚀\"", 5),
];

#[test]
fn the_bound_is_exact() {
    for &(framing, body, units) in MEASURED {
        let within = read_all_ways(&bounded(framing, units), body);
        assert_eq!((within.stopped, within.findings.count("too-large")), (false, 0), "{body:?}");
        let beyond = read_all_ways(&bounded(framing, units - 1), body);
        assert_eq!((beyond.stopped, beyond.findings.count("too-large")), (true, 1), "{body:?}");
        assert_eq!(
            beyond.listed("too-large")[0].kind,
            Kind::TooLarge { limit: units as u64 - 1, document: false }
        );
    }
}

/// A stamp and the blanks behind it do not count.
#[test]
fn stamps_do_not_count() {
    for (framing, body, units) in [
        (Framing::Sse, "05:06:07.123456789 data: 123\n05:06:07\n", 10),
        (Framing::Ndjson, "[2026-03-04T05:06:07.123456789+02:00] \"123456\"\n", 8),
        (Framing::JsonArray, "05:06:07 [{\"a\":\n05:06:07 1}]", 8),
    ] {
        for (bound, stopped) in [(units, false), (units - 1, true)] {
            let options = Options { stamps: true, ..bounded(framing, bound) };
            assert_eq!(read_all_ways(&options, body).stopped, stopped, "{body:?}");
        }
    }
}

/// The frame that is too large is not listed, those before it are, and nothing behind it is read.
#[test]
fn beyond_the_bound() {
    for (framing, body, line, offset) in [
        (Framing::Sse, "data: 1\n\n\nid: 1\ndata: 123\n\ndata: 2\n\nx", 4, 10),
        (Framing::Ndjson, "1\n\n{\"a\":123456}\nx", 3, 3),
        (Framing::JsonArray, "[1,\n\n\"123456789\",2", 3, 5),
    ] {
        let outcome = read_all_ways(&bounded(framing, 10), body);
        assert_eq!(outcome.data(), [Some("1")], "{body:?}");
        assert_eq!(outcome.ids(), ["too-large"], "{body:?}");
        let place = outcome.listed("too-large")[0].place;
        assert_eq!(
            (place.frame, place.line, place.offset),
            (None, Some(line), Some(offset)),
            "{body:?}"
        );
        assert_eq!(outcome.bytes, body.len() as u64);
    }
}

/// What is too large is not cut, not unterminated and not nothing.
#[test]
fn too_large_and_nothing_else() {
    for (framing, body) in [
        (Framing::Sse, "data: 123456"),
        (Framing::Sse, "data: 123456\n\n"),
        (Framing::Ndjson, "\"123456"),
        (Framing::JsonArray, "[\"123456"),
        (Framing::JsonArray, "[\"123456\"]"),
    ] {
        assert_eq!(read_all_ways(&bounded(framing, 6), body).ids(), ["too-large"], "{body:?}");
    }
}

/// What was read up to there is told all the same.
#[test]
fn crlf_before_the_bound() {
    let body = "data: 1\r\n\r\ndata: 123\r\n";
    assert_eq!(read_all_ways(&bounded(Framing::Sse, 9), body).ids(), ["too-large", "crlf"]);
}

/// Ill-formed bytes are measured as what they become.
#[test]
fn ill_formed_bytes_are_measured_as_replaced() {
    for (bytes, units) in
        [(&b"\xff\xff\xff"[..], 3), (b"\x80\x80", 2), (b"\xf0\x9f\x9a", 1), (b"\xed\xa0\x80", 3)]
    {
        let body = [b"data: ", bytes, b"\n\n"].concat();
        assert!(!read_all_ways(&bounded(Framing::Sse, 7 + units), &body).stopped, "{body:?}");
        assert!(read_all_ways(&bounded(Framing::Sse, 6 + units), &body).stopped, "{body:?}");
    }
}

/// A chunk that tells when it is let go.
struct Tracked {
    bytes: Bytes,
    alive: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Tracked {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.alive.fetch_sub(self.bytes.len(), Ordering::SeqCst);
    }
}

/// The most bytes of chunks that were alive at once, while `chunk` was pushed `times` times.
fn most_alive(options: Options, chunk: &str, times: usize) -> usize {
    let alive = Arc::new(AtomicUsize::new(0));
    let mut decoder = Decoder::new(options);
    let mut findings = Findings::default();
    let mut most = 0;
    for _ in 0..times {
        let bytes = Bytes::copy_from_slice(chunk.as_bytes());
        alive.fetch_add(bytes.len(), Ordering::SeqCst);
        decoder.push(Bytes::from_owner(Tracked { bytes, alive: Arc::clone(&alive) }));
        while decoder.next_frame(&mut findings).is_some() {}
        most = most.max(alive.load(Ordering::SeqCst));
    }
    decoder.finish();
    while decoder.next_frame(&mut findings).is_some() {}
    assert_eq!(alive.load(Ordering::SeqCst), 0, "chunks are kept after the end");
    most
}

/// Chunks are let go once their frames are taken; what is too large is not kept at all.
#[test]
fn chunks_are_let_go() {
    for framing in Framing::ALL {
        for chunk in ["data: 123\n\n", "1\n", ",{\"a\":1}", "x", "\n", "[", "\"", "\0\0\0\x10"] {
            let most = most_alive(bounded(framing, 1000), chunk, 5_000);
            assert!(most <= 1000 + chunk.len(), "{framing:?}, {chunk:?}: {most}");
        }
        // What comes in one chunk with something too large goes with it.
        let chunk = format!("[\"{}\"]\n\n[1\n\n", "x".repeat(2_000));
        assert!(most_alive(bounded(framing, 1000), &chunk, 10) <= 2 * chunk.len(), "{framing:?}");
    }
    for chunk in ["data: 123\n\n", "1\n", "{\"a\":1}\n", ",{\"a\":1}", "x", "\n", "["] {
        let most = most_alive(Options { bound: 1000, ..pasted() }, chunk, 5_000);
        assert!(most <= 1000 + chunk.len(), "{chunk:?}: {most}");
    }
}

/// What cannot fit is not waited for: reading stops before the line, the element or the string ends.
#[test]
fn it_stops_before_the_end() {
    for framing in [Framing::Sse, Framing::Ndjson, Framing::JsonArray] {
        let mut decoder = Decoder::new(bounded(framing, 100));
        let mut findings = Findings::default();
        for _ in 0..4 {
            assert!(!decoder.stopped(), "{framing:?}");
            decoder.push(Bytes::from(vec![b'{'; 90]));
            assert_eq!(decoder.next_frame(&mut findings), None, "{framing:?}");
        }
        assert!(decoder.stopped(), "{framing:?}");
    }
}

/// A gigabyte without a line end: it is counted, not held. (The chunk is one and the same memory.)
#[test]
fn a_huge_line_is_counted_only() {
    let chunk = Bytes::from(vec![b'x'; 1 << 20]);
    for framing in Framing::ALL.map(Some).into_iter().chain([None]) {
        let options = Options { framing, ..Options::default() };
        let outcome = read(&options, std::iter::repeat_n(chunk.clone(), 1 << 10));
        assert_eq!(outcome.bytes, 1 << 30, "{framing:?}");
        assert_eq!(outcome.frames, [], "{framing:?}");
        let expected =
            if framing == Some(Framing::AwsEventstream) { "crc-mismatch" } else { "too-large" };
        assert_eq!(outcome.ids(), [expected], "{framing:?}");
    }
}

/// A document has a bound of its own.
#[test]
fn a_document_is_bounded() {
    const LIMIT: usize = 64 << 20;
    let fill = Bytes::from(vec![b'1'; 1 << 20]);
    for (rest, fits) in [(LIMIT % (1 << 20), true), (1, false)] {
        let chunks = std::iter::repeat_n(fill.clone(), LIMIT >> 20).chain([fill.slice(..rest)]);
        let outcome = read(&as_framing(Framing::Json), chunks);
        assert_eq!((outcome.stopped, outcome.frames.len()), (!fits, usize::from(fits)));
        let too_large = Kind::TooLarge { limit: LIMIT as u64, document: true };
        assert_eq!(outcome.kinds(), if fits { vec![] } else { vec![&too_large] });
    }
}

/// Work grows with the body and not with its square: this would not end otherwise.
#[test]
fn tiny_chunks_of_one_huge_line() {
    let fill = "x".repeat(FRAME_BOUND - 100);
    for (framing, body) in [
        (Framing::Sse, format!("data: \"{fill}\"\n\n")),
        (Framing::Ndjson, format!("\"{fill}\"\n")),
        (Framing::JsonArray, format!("[\"{fill}\"]")),
        (Framing::Json, format!("{{\"a\":\"{fill}\"}}")),
    ] {
        let body = Bytes::from(body);
        for options in
            [as_framing(framing), Options { stamps: true, ..as_framing(framing) }, pasted()]
        {
            let outcome = read(&options, pieces(&body, 1));
            assert_eq!((outcome.frames.len(), outcome.ids()), (1, vec![]), "{framing:?}");
        }
    }
}

/// A bound that nobody can reach is no bound.
#[test]
fn the_largest_bound() {
    let options = Options { bound: usize::MAX, ..Options::default() };
    assert_eq!(read_all_ways(&options, "data: 1\n\n").data(), [Some("1")]);
}
