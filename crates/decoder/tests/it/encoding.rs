//! Bytes that are not UTF-8, and byte-order marks: `FORMATS.md` G.1.

use bytes::Bytes;
use teeline_decoder::{Framing, Options};
use teeline_finding::Kind;

use crate::reading::{as_framing, pasted, read_all_ways, stamped};

/// (body, data, each finding's bytes and where they are)
type Case = (&'static [u8], &'static str, &'static [(&'static str, u64)]);

const ILL_FORMED: &[Case] = &[
    (b"data: \xff\n\n", "\u{fffd}", &[("FF", 6)]),
    (b"data: a\xc3b\n\n", "a\u{fffd}b", &[("C3", 7)]),
    // A run is one finding, also where several characters replace it.
    (
        b"data: \xff\xfe\xe2\x82x\xff\n\n",
        "\u{fffd}\u{fffd}\u{fffd}x\u{fffd}",
        &[("FF FE E2 82", 6), ("FF", 11)],
    ),
    (
        b"data: \x80\x80\x80\x80\x80\x80\x80\x80\x80\n\n",
        "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
        &[("80 80 80 80 80 80 80 80 …", 6)],
    ),
    (b"data: \xf0\x9f\x9a\n\n", "\u{fffd}", &[("F0 9F 9A", 6)]),
    // Well-formed and unusual.
    (b"data: \xf0\x9f\x9a\x80\xef\xbf\xbf\xef\xbb\xbf\n\n", "🚀\u{ffff}\u{feff}", &[]),
];

#[test]
fn ill_formed_bytes_are_replaced_and_named() {
    for &(body, data, bad) in ILL_FORMED {
        let outcome = read_all_ways(&as_framing(Framing::Sse), body);
        assert_eq!(outcome.data(), [Some(data)]);
        let expected: Vec<Kind> =
            bad.iter().map(|&(bytes, at)| Kind::BadUtf8 { bytes: bytes.into(), at }).collect();
        assert_eq!(outcome.kinds(), expected.iter().collect::<Vec<_>>());
        for finding in outcome.listed("bad-utf8") {
            assert_eq!(
                (finding.place.frame, finding.place.line, finding.place.offset),
                (Some(0), Some(1), Some(0))
            );
        }
    }
}

/// In names, comments, ids and types they count as well.
#[test]
fn ill_formed_bytes_outside_of_data() {
    let body = b": \xff\nevent: \xfe\nid: \xfd\nda\xfcta: x\ndata: 1\n\n";
    let outcome = read_all_ways(&as_framing(Framing::Sse), body);
    assert_eq!(outcome.lines("bad-utf8"), [Some(1), Some(2), Some(3), Some(4)]);
    assert_eq!(outcome.lines("ignored-line"), [Some(4)]);
    let frame = &outcome.frames[0];
    assert_eq!(
        (frame.event.as_deref(), frame.id.as_deref(), &*frame.comments[0]),
        (Some("\u{fffd}"), Some("\u{fffd}"), "\u{fffd}")
    );
}

/// Offsets are those of the bytes that came, not of the text that they became.
#[test]
fn places_in_every_framing() {
    for (framing, body, data, at) in [
        (Framing::Ndjson, &b"05:06:07 \"\xff\"\n1\n"[..], "\"\u{fffd}\"", 10),
        (Framing::JsonArray, b"[\n05:06:07 \"\xff\",1]", "\"\u{fffd}\"", 12),
        (Framing::Json, b"05:06:07 {\"a\":\"\xff\"}", "{\"a\":\"\u{fffd}\"}", 15),
        (Framing::Sse, b"05:06:07 data:\xff\n\n", "\u{fffd}", 14),
    ] {
        let outcome = read_all_ways(&stamped(framing), body);
        assert_eq!(outcome.data()[0], Some(data), "{framing:?}");
        assert_eq!(outcome.kinds()[0], &Kind::BadUtf8 { bytes: "FF".into(), at }, "{framing:?}");
    }
}

/// A character that the body's end cuts is part of what is cut, not a fault of its own.
#[test]
fn a_character_cut_by_the_end() {
    for (framing, body) in [
        (Framing::Sse, &b"data: \"\xf0\x9f\x9a"[..]),
        (Framing::Ndjson, b"\"\xf0\x9f\x9a"),
        (Framing::JsonArray, b"[\"\xf0\x9f\x9a"),
        (Framing::Json, b"{\"\xf0\x9f\x9a"),
    ] {
        assert_eq!(read_all_ways(&as_framing(framing), body).ids(), ["cut"], "{framing:?}");
    }
    // One that could not have gone on, or that a line end follows, is a fault.
    for body in [
        &b"data: \"\xff"[..],
        b"data: \"\xf0\x9f\x9a\n",
        b"data: \"\xf0\x9f\x9ax",
        b"data: \"\xed\xa0",
    ] {
        assert_eq!(
            read_all_ways(&as_framing(Framing::Sse), body).ids(),
            ["bad-utf8", "cut"],
            "{body:?}"
        );
    }
}

/// A byte-order mark is taken off the start once, is in no frame, and is data anywhere else.
#[test]
fn byte_order_marks() {
    for (framing, body, data, offset) in [
        (Framing::Sse, "data: 1\n\n", "1", 0),
        (Framing::Ndjson, "{\"a\":1}\n", "{\"a\":1}", 0),
        (Framing::JsonArray, "[{\"a\":1}]", "{\"a\":1}", 1),
        (Framing::Json, "{\"a\":1}", "{\"a\":1}", 0),
    ] {
        let body = format!("\u{feff}{body}");
        let outcome = read_all_ways(&as_framing(framing), &body);
        assert_eq!((outcome.data(), outcome.ids()), (vec![Some(data)], vec!["bom"]), "{framing:?}");
        assert_eq!(outcome.frames[0].offset, 3 + offset, "{framing:?}");
        let place = outcome.listed("bom")[0].place;
        assert_eq!((place.frame, place.line, place.offset), (None, Some(1), Some(0)));

        let twice = read_all_ways(&as_framing(framing), format!("\u{feff}{body}"));
        assert_eq!(twice.findings.count("bom"), 1, "{framing:?}");
        assert_ne!(twice.data(), [Some(data)], "{framing:?}");
    }
    for start in [&b""[..], b"\xef", b"\xef\xbb", b"\xef\xbbx", b"\xbb\xbf"] {
        let outcome = read_all_ways(&as_framing(Framing::Sse), start);
        assert_eq!(
            (outcome.findings.count("bom"), outcome.bytes),
            (0, start.len() as u64),
            "{start:?}"
        );
    }
}

/// A mark behind the first line's stamp is the body's own; one there and one before it are reported once.
#[test]
fn byte_order_marks_and_stamps() {
    for framing in [
        None,
        Some(Framing::Sse),
        Some(Framing::Ndjson),
        Some(Framing::JsonArray),
        Some(Framing::Json),
    ] {
        let line = match framing {
            None | Some(Framing::Sse) => "data: [1]",
            _ => "[1]",
        };
        for (body, bom) in [
            (format!("05:06:07 \u{feff}{line}\n\n"), 1),
            (format!("\u{feff}05:06:07 {line}\n\n"), 1),
            (format!("\u{feff}05:06:07 \u{feff}{line}\n\n"), 1),
            (format!("[05:06:07]\u{feff}{line}\n\n"), 1),
            (format!("05:06:07 {line}\n\n"), 0),
        ] {
            let outcome = read_all_ways(&Options { framing, ..pasted() }, &body);
            assert_eq!(outcome.findings.count("bom"), bom, "{framing:?} {body:?}");
            let data = if framing == Some(Framing::JsonArray) { "1" } else { "[1]" };
            assert_eq!(outcome.data(), [Some(data)], "{framing:?} {body:?}");
        }
    }
    // Also where the first line is none of the framing's.
    let outcome = read_all_ways(&pasted(), "05:06:07 \u{feff}curl\n05:06:07 [1,\n2]");
    assert_eq!(
        (outcome.data(), outcome.ids()),
        (vec![Some("1"), Some("2")], vec!["bom", "ignored-line"])
    );
    // Not on a later line.
    let outcome =
        read_all_ways(&pasted(), "05:06:07 data: 1\n05:06:07\n05:06:07 \u{feff}data: 2\n\n");
    assert_eq!((outcome.data(), outcome.ids()), (vec![Some("1"), None], vec!["ignored-line"]));
}

/// Data is a slice of the chunk that it came in, where nothing had to be replaced or joined.
#[test]
fn data_is_not_copied() {
    let cases: [(Framing, &'static [u8], usize); 4] = [
        (Framing::Sse, b"data: {\"a\":1}\n\n", 6),
        (Framing::Ndjson, b"{\"a\":1}\n", 0),
        (Framing::JsonArray, b"[{\"a\":1}]", 1),
        (Framing::Sse, "data: é{}\n\n".as_bytes(), 6),
    ];
    for (framing, body, at) in cases {
        let body = Bytes::from_static(body);
        let outcome = crate::reading::read(&as_framing(framing), [body.clone()]);
        let data = outcome.frames[0].data.as_ref().expect("data").as_bytes();
        assert_eq!(data.as_ptr(), body.slice(at..).as_ptr(), "{framing:?}");
    }
}
