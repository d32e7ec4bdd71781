//! Binary messages: `FORMATS.md` H6.1, beyond the conformance rows.

use teeline_decoder::{Framing, Options};
use teeline_finding::Kind;

use crate::reading::{Outcome, as_framing, read_all_ways};

/// The example frames of `FORMATS.md` H6.1: an event and an exception.
const EVENT: &str = "0000007f000000529bc598af0b3a6576656e742d7479706507000c6d65737361676553746172740d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b2270223a226162222c22726f6c65223a22617373697374616e74227d362c6c18";
const EXCEPTION: &str = "0000006200000040f00cbad40d3a6d6573736167652d74797065070009657863657074696f6e0f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074696f6e7b226d657373616765223a22736c6f77227d54a773d3";

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// A message with right checksums, whatever its lengths say.
fn message(total: u32, headers_length: u32, headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = [total.to_be_bytes(), headers_length.to_be_bytes()].concat();
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload);
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes
}

fn whole(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let headers_length = u32::try_from(headers.len()).expect("short");
    let total = headers_length + u32::try_from(payload.len()).expect("short") + 16;
    message(total, headers_length, headers, payload)
}

/// CRC-32 as IEEE 802.3 defines it, bit by bit: not the library that the decoder uses.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

fn header(name: &str, kind: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(name.len()).expect("short")];
    bytes.extend(name.bytes());
    bytes.push(kind);
    bytes.extend(value);
    bytes
}

fn text(name: &str, value: &str) -> Vec<u8> {
    let length = u16::try_from(value.len()).expect("short").to_be_bytes();
    header(name, 7, &[&length, value.as_bytes()].concat())
}

fn aws(body: impl AsRef<[u8]>) -> Outcome {
    read_all_ways(&as_framing(Framing::AwsEventstream), body)
}

#[test]
fn the_examples() {
    let (event, exception) = (unhex(EVENT), unhex(EXCEPTION));
    let outcome = aws([&*event, &*exception, &*event].concat());
    assert_eq!(outcome.ids(), [""; 0]);
    assert_eq!(
        outcome.data(),
        [
            Some("{\"p\":\"ab\",\"role\":\"assistant\"}"),
            Some("{\"message\":\"slow\"}"),
            Some("{\"p\":\"ab\",\"role\":\"assistant\"}")
        ]
    );
    let events: Vec<Option<&str>> =
        outcome.frames.iter().map(|frame| frame.event.as_deref()).collect();
    assert_eq!(events, [Some("messageStart"), Some("throttlingException"), Some("messageStart")]);
    let ranges: Vec<(u64, u64)> =
        outcome.frames.iter().map(|frame| (frame.offset, frame.length)).collect();
    assert_eq!(ranges, [(0, 127), (127, 98), (225, 127)]);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        outcome.frames[1].headers,
        [pair(":message-type", "exception"), pair(":exception-type", "throttlingException")]
    );
    assert!(outcome.frames.iter().all(|frame| frame.terminated && frame.dispatched));
}

/// The framing is told from the first twelve bytes, or from the content type.
#[test]
fn detection() {
    let event = unhex(EVENT);
    let detect = |body: &[u8], content_type: Option<&str>| {
        let content_type = content_type.map(str::to_owned);
        read_all_ways(&Options { content_type, ..Options::default() }, body).framing
    };
    let typed = Some("application/vnd.amazon.eventstream");
    assert_eq!(detect(&event, None), Some(Framing::AwsEventstream));
    assert_eq!(detect(&event[..12], None), Some(Framing::AwsEventstream));
    assert_eq!(detect(&event[..11], None), Some(Framing::Sse));
    assert_eq!(detect(&event[..1], typed), Some(Framing::AwsEventstream));
    assert_eq!(detect(b"data: 1\n\n", typed), Some(Framing::Sse));
    let mut broken = event.clone();
    broken[8] ^= 1;
    assert_eq!(detect(&broken, None), Some(Framing::Sse));
    assert_eq!(detect(&broken, typed), Some(Framing::AwsEventstream));
    for (total, headers) in [(15, 0), (20, 5), (0x0180_0011, 0), (0x0002_0011, 0x0002_0001)] {
        assert_eq!(
            detect(&message(total, headers, &[], &[]), None),
            Some(Framing::Sse),
            "{total} {headers}"
        );
    }
    // A first byte of 1 is possible: a payload of 24 MiB.
    assert_eq!(detect(&message(0x0180_0010, 0, &[], &[]), None), Some(Framing::AwsEventstream));
}

/// The format's limits: beyond them reading stops, though the checksum is right.
#[test]
fn lengths() {
    for (total, headers, fits) in [
        (16, 0, true),
        (15, 0, false),
        (0, 0, false),
        (17, 1, true),
        (16, 1, false),
        (u32::MAX, 0, false),
        (u32::MAX, u32::MAX, false),
        (16 + 25_165_824, 0, true),
        (17 + 25_165_824, 0, false),
        (16 + 131_072, 131_072, true),
        (17 + 131_072, 131_073, false),
    ] {
        let body = [unhex(EXCEPTION), message(total, headers, &[], &[])].concat();
        let outcome = aws(body);
        assert_eq!(
            outcome.frames.len(),
            if (total, headers) == (16, 0) { 2 } else { 1 },
            "{total} {headers}"
        );
        let waits = fits && total > 16;
        assert_eq!(
            outcome.kinds(),
            match (fits, waits) {
                (true, false) => vec![],
                (true, true) => vec![&Kind::Cut { bytes: 16 }],
                _ => vec![&Kind::Cut { bytes: 12 }],
            },
            "{total} {headers}"
        );
        if let [finding] = outcome.findings.list() {
            assert_eq!(
                (finding.place.frame, finding.place.line, finding.place.offset),
                (None, None, Some(98))
            );
        }
    }
}

/// A bad message is dropped and the next one read; a bad prelude stops.
#[test]
fn checksums() {
    let event = unhex(EVENT);
    for byte in 0..event.len() {
        let mut broken = event.clone();
        broken[byte] ^= 0x10;
        let outcome = aws([&*broken, &*event].concat());
        let prelude = byte < 12;
        assert_eq!(outcome.ids(), ["crc-mismatch"], "byte {byte}");
        let Kind::CrcMismatch { what, expected, got } = outcome.kinds()[0] else {
            panic!("byte {byte}")
        };
        assert_eq!(what, if prelude { "prelude" } else { "message" }, "byte {byte}");
        assert_ne!(expected, got);
        assert_eq!(outcome.frames.len(), usize::from(!prelude), "byte {byte}");
    }
}

#[test]
fn checksums_are_named() {
    let mut broken = unhex(EVENT);
    broken[11] = 0;
    let outcome = aws(broken);
    let kind = Kind::CrcMismatch {
        what: "prelude".into(),
        expected: "9bc59800".into(),
        got: "9bc598af".into(),
    };
    assert_eq!(outcome.kinds(), [&kind]);
}

/// A message that had to be dropped is not nothing.
#[test]
fn a_dropped_message_is_not_empty() {
    let mut broken = unhex(EVENT);
    broken[20] ^= 1;
    assert_eq!(aws(broken).ids(), ["crc-mismatch"]);
    assert_eq!(aws(whole(&[0, 0], b"")).ids(), ["bad-field"]);
}

#[test]
fn cut_anywhere() {
    let event = unhex(EVENT);
    for length in 1..event.len() {
        let outcome = aws(&event[..length]);
        assert_eq!(outcome.kinds(), [&Kind::Cut { bytes: length as u64 }], "{length}");
        assert_eq!(outcome.frames, []);
    }
    assert_eq!(aws(b"").ids(), ["empty"]);
}

/// Every type of header is stepped over; texts are kept, in order.
#[test]
fn headers() {
    let headers = [
        header("true", 0, &[]),
        header("false", 1, &[]),
        header("i8", 2, &[1]),
        header("i16", 3, &[1, 2]),
        header("i32", 4, &[1, 2, 3, 4]),
        header("i64", 5, &[1, 2, 3, 4, 5, 6, 7, 8]),
        header("bytes", 6, &[0, 3, 1, 2, 3]),
        text("text", "é"),
        header("time", 8, &[1, 2, 3, 4, 5, 6, 7, 8]),
        header("uuid", 9, &[7; 16]),
        text(":error-code", "teapot"),
        text("text", ""),
    ];
    let outcome = aws(whole(&headers.concat(), b"{}"));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        outcome.frames[0].headers,
        [pair("text", "é"), pair(":error-code", "teapot"), pair("text", "")]
    );
    assert_eq!(outcome.frames[0].event.as_deref(), Some("teapot"));
    assert_eq!((outcome.data(), outcome.ids()), (vec![Some("{}")], vec![]));
}

/// The event's name: what names an event goes before what names an error; the last of two counts.
#[test]
fn event_names() {
    for (headers, event) in [
        (
            vec![text(":error-code", "c"), text(":exception-type", "b"), text(":event-type", "a")],
            Some("a"),
        ),
        (vec![text(":error-code", "c"), text(":exception-type", "b")], Some("b")),
        (vec![text(":error-code", "c")], Some("c")),
        (vec![text(":event-type", ""), text(":error-code", "c")], Some("c")),
        (vec![text(":event-type", "a"), text(":event-type", "b")], Some("b")),
        (vec![header(":event-type", 6, &[0, 1, b'a'])], None),
        (vec![], None),
    ] {
        assert_eq!(
            aws(whole(&headers.concat(), b"")).frames[0].event.as_deref(),
            event,
            "{headers:?}"
        );
    }
}

/// Headers that do not parse drop their message only.
#[test]
fn bad_headers() {
    let cases: [(&[u8], &str, &str, &str); 8] = [
        (&[0, 0], "header name", "1 to 255 bytes long", "empty"),
        (&[5, b'a'], "header name", "as long as its length says", "cut short"),
        (&[1, 0xff, 0], "header name", "UTF-8", "\u{fffd}"),
        (&[1, b'a'], "a", "as long as its length says", "cut short"),
        (&[1, b'a', 10], "a", "a value of type 0 to 9", "of type 10"),
        (&[1, b'a', 4, 1, 2, 3], "a", "as long as its length says", "cut short"),
        (&[1, b'a', 7, 0], "a", "as long as its length says", "cut short"),
        (&[1, b'a', 7, 0, 2, b'x'], "a", "as long as its length says", "cut short"),
    ];
    for (headers, field, expected, value) in cases {
        let outcome = aws([unhex(EXCEPTION), whole(headers, b"{}"), unhex(EVENT)].concat());
        let kind =
            Kind::BadField { field: field.into(), expected: expected.into(), value: value.into() };
        assert_eq!(outcome.kinds(), [&kind], "{headers:?}");
        assert_eq!(outcome.listed("bad-field")[0].place.offset, Some(98));
        assert_eq!(outcome.frames.len(), 2, "{headers:?}");
        assert_eq!(outcome.frames[1].index, 1, "{headers:?}");
    }
}

/// A payload that is no text is shown with replacement characters, and said to be none.
#[test]
fn payload_that_is_no_text() {
    let body = whole(&text("a", "b"), b"x\xffy");
    let outcome = aws(&body);
    assert_eq!(outcome.data(), [Some("x\u{fffd}y")]);
    let at = body.len() as u64 - 4 - 2;
    assert_eq!(outcome.kinds(), [&Kind::BadUtf8 { bytes: "FF".into(), at }]);
}
