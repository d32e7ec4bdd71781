//! Time stamps on pasted lines: `FORMATS.md` G.9, beyond the conformance rows.

use teeline_decoder::{Framing, Stamp};

use crate::reading::{as_framing, pasted, range, read_all_ways, stamped};

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;
/// 2026-03-04T05:06:07Z, as `date -u -d 2026-03-04T05:06:07Z +%s` gives it.
const MOMENT: i128 = 1_772_600_767 * SECOND;
/// 05:06:07 since midnight.
const TIME: i128 = 18_367 * SECOND;

#[expect(clippy::unnecessary_wraps, reason = "what a frame has")]
const fn dated(ns: i128) -> Option<Stamp> {
    Some(Stamp { ns, dated: true })
}

#[expect(clippy::unnecessary_wraps, reason = "what a frame has")]
const fn timed(ns: i128) -> Option<Stamp> {
    Some(Stamp { ns, dated: false })
}

/// The stamp of a line, and what is left of it.
fn strip(line: &str) -> (Option<Stamp>, String) {
    let outcome = read_all_ways(&stamped(Framing::Ndjson), format!("{line}\n"));
    let [frame] = &*outcome.frames else { panic!("{line:?}: {:?}", outcome.frames) };
    (frame.stamp, outcome.data()[0].unwrap_or_default().to_owned())
}

/// What may stand before a line, and when it says that the line came; `None`: it is no stamp.
const GRAMMAR: &[(&str, Option<Stamp>)] = &[
    ("2026-03-04T05:06:07Z", dated(MOMENT)),
    ("2026-03-04t05:06:07z", dated(MOMENT)),
    ("2026-03-04 05:06:07", dated(MOMENT)),
    ("2026-03-04T05:06:07.000000001Z", dated(MOMENT + 1)),
    ("2026-03-04T05:06:07,5Z", dated(MOMENT + SECOND / 2)),
    ("2026-03-04T05:06:07+02", dated(MOMENT - 7_200 * SECOND)),
    ("2026-03-04T05:06:07+0230", dated(MOMENT - 9_000 * SECOND)),
    ("2026-03-04T05:06:07+02:30", dated(MOMENT - 9_000 * SECOND)),
    ("2026-03-04T05:06:07-02:30", dated(MOMENT + 9_000 * SECOND)),
    ("2026-03-04T05:06:07-00:00", dated(MOMENT)),
    ("[2026-03-04T05:06:07Z]", dated(MOMENT)),
    ("[2026-03-04 05:06:07.25 +02:00]", None),
    ("05:06:07", timed(TIME)),
    ("05:06:07Z", timed(TIME)),
    ("05:06:07+01:00", timed(TIME - 3_600 * SECOND)),
    ("00:30:00+01:00", timed(23 * 3_600 * SECOND + 1_800 * SECOND)),
    ("[05:06:07.5]", timed(TIME + SECOND / 2)),
    ("23:59:59", timed(DAY - SECOND)),
    // Real dates only.
    ("1970-01-01T00:00:00Z", dated(0)),
    ("1969-12-31T23:59:59Z", dated(-SECOND)),
    ("2024-02-29T00:00:00Z", dated(1_709_164_800 * SECOND)),
    ("2000-02-29T00:00:00Z", dated(951_782_400 * SECOND)),
    ("2000-03-01T00:00:00Z", dated(951_868_800 * SECOND)),
    ("2023-12-31T00:00:00Z", dated(1_703_980_800 * SECOND)),
    ("2024-12-31T00:00:00Z", dated(1_735_603_200 * SECOND)),
    ("0000-01-01T00:00:00Z", dated(-719_528 * DAY)),
    ("9999-12-31T00:00:00Z", dated(2_932_896 * DAY)),
    ("1900-02-29T00:00:00Z", None),
    ("2023-02-29T00:00:00Z", None),
    ("2024-02-30T00:00:00Z", None),
    ("2024-04-31T00:00:00Z", None),
    ("2024-00-01T00:00:00Z", None),
    ("2024-01-00T00:00:00Z", None),
    ("2024-13-01T00:00:00Z", None),
    ("2024-01-32T00:00:00Z", None),
    // Not stamps.
    ("24:00:00", None),
    ("23:60:00", None),
    ("23:59:60", None),
    ("05:06", None),
    ("5:06:07", None),
    ("05:06:07.", None),
    ("05:06:07.1234567890", None),
    ("05:06:07+1", None),
    ("05:06:07+24:00", None),
    ("05:06:07+01:60", None),
    ("05:06:07+01:", None),
    ("05:06:07+01:0", None),
    ("2026-03-04", None),
    ("2026-03-04  05:06:07", None),
    ("2026-03-04_05:06:07", None),
    ("2026-3-4T05:06:07", None),
    ("20260304T050607Z", None),
    ("1772600767", None),
    ("1772600767.123", None),
    ("(05:06:07)", None),
    ("[05:06:07", None),
    ("05:06:07]", None),
    ("[ 05:06:07]", None),
    ("[05:06:07 ]", None),
    (" 05:06:07", None),
    ("\t05:06:07", None),
    ("05-06-07", None),
];

#[test]
fn grammar() {
    for &(stamp, expected) in GRAMMAR {
        for blanks in [" ", "\t", " \t  "] {
            let (got, left) = strip(&format!("{stamp}{blanks}{{}}"));
            assert_eq!(got, expected, "{stamp:?}");
            assert_eq!(left == "{}", expected.is_some(), "{stamp:?} leaves {left:?}");
        }
        // Without a blank only a bracket ends a stamp.
        let bracket = stamp.starts_with('[');
        let (got, _) = strip(&format!("{stamp}{{}}"));
        assert_eq!(got, expected.filter(|_| bracket), "{stamp:?} with no blank");
    }
}

/// One stamp a line; what looks like another stays.
#[test]
fn one_stamp_a_line() {
    assert_eq!(strip("05:06:07 05:06:08 {}"), (timed(TIME), "05:06:08 {}".into()));
    assert_eq!(strip("[05:06:07][05:06:08]"), (timed(TIME), "[05:06:08]".into()));
}

/// Live traffic is never looked at for stamps.
#[test]
fn off_unless_asked_for() {
    for framing in [Framing::Sse, Framing::Ndjson, Framing::JsonArray, Framing::Json] {
        let outcome = read_all_ways(&as_framing(framing), "05:06:07 [1]\n\n");
        assert!(outcome.frames.iter().all(|frame| frame.stamp.is_none()), "{framing:?}");
        assert_ne!(outcome.data(), [Some("[1]")], "{framing:?}");
    }
}

/// A frame came when the first stamped line of it came, its blank line included.
#[test]
fn arrival() {
    for (body, expected) in [
        ("05:06:07 data: 1\n05:06:08 data: 2\n05:06:09\n", vec![timed(TIME)]),
        ("data: 1\n05:06:07 data: 2\n05:06:09\n", vec![timed(TIME)]),
        ("data: 1\ndata: 2\n05:06:07\n", vec![timed(TIME)]),
        ("05:06:07\ndata: 1\n\n", vec![None]),
        ("05:06:07 : c\n\ndata: 1\n\n", vec![timed(TIME), None]),
        ("05:06:07 data: 1", vec![timed(TIME)]),
        (
            "05:06:07 data: 1\n05:06:08 \n05:06:09\n\n05:06:10 data: 2\n\n",
            vec![timed(TIME), timed(TIME + 3 * SECOND)],
        ),
    ] {
        let outcome = read_all_ways(&stamped(Framing::Sse), body);
        let got: Vec<Option<Stamp>> = outcome.frames.iter().map(|frame| frame.stamp).collect();
        assert_eq!(got, expected, "{body:?}");
    }
}

/// A time of day that goes back by more than twelve hours is the next day's.
#[test]
fn over_midnight() {
    let day = |days: i128, hours: i128| timed(days * DAY + hours * 3_600 * SECOND);
    for (hours, expected) in [
        (vec![23, 0], vec![day(0, 23), day(1, 0)]),
        (vec![13, 0], vec![day(0, 13), day(1, 0)]),
        (vec![12, 0], vec![day(0, 12), day(0, 0)]),
        (vec![23, 0, 23, 0, 5], vec![day(0, 23), day(1, 0), day(1, 23), day(2, 0), day(2, 5)]),
        (vec![5, 4], vec![day(0, 5), day(0, 4)]),
    ] {
        let body = hours
            .iter()
            .fold(String::new(), |body, hour| body + &format!("{hour:02}:00:00 data: 1\n\n"));
        let outcome = read_all_ways(&stamped(Framing::Sse), &body);
        let got: Vec<Option<Stamp>> = outcome.frames.iter().map(|frame| frame.stamp).collect();
        assert_eq!(got, expected, "{body:?}");
    }
    // Every stamp counts, also of lines that are in no frame; dated ones stand for themselves.
    let body = "23:00:00\n00:00:00\n01:00:00 data: 1\n\n2026-03-04T05:06:07Z data: 2\n\n00:30:00 data: 3\n\n";
    let outcome = read_all_ways(&stamped(Framing::Sse), body);
    let got: Vec<Option<Stamp>> = outcome.frames.iter().map(|frame| frame.stamp).collect();
    assert_eq!(got, [day(1, 1), dated(MOMENT), timed(DAY + 1_800 * SECOND)]);
}

/// Stamps inside an array's elements or a document are taken out of the text, not out of the range.
#[test]
fn inside_json() {
    let body =
        "05:06:07 [{\n05:06:08 \"a\":\"05:06:09 x\"\n05:06:09 }\n05:06:10 ,\n{\n05:06:11 },3\n4]";
    let outcome = read_all_ways(&pasted(), body);
    assert_eq!(outcome.framing, Some(Framing::JsonArray));
    assert_eq!(
        outcome.data(),
        [Some("{\n\"a\":\"05:06:09 x\"\n}"), Some("{\n}"), Some("3"), Some("4")]
    );
    let got: Vec<Option<Stamp>> = outcome.frames.iter().map(|frame| frame.stamp).collect();
    assert_eq!(got, [timed(TIME), timed(TIME + 4 * SECOND), timed(TIME + 4 * SECOND), None]);
    let ranges: Vec<&str> = outcome.frames.iter().map(|frame| range(body, frame)).collect();
    assert_eq!(ranges, ["{\n05:06:08 \"a\":\"05:06:09 x\"\n05:06:09 }", "{\n05:06:11 }", "3", "4"]);

    let body = "05:06:07 {\n[05:06:08]\"a\":1\n05:06:09\t }\n05:06:10\n";
    let outcome = read_all_ways(&pasted(), body);
    assert_eq!(
        (outcome.framing, outcome.data()),
        (Some(Framing::Json), vec![Some("{\n\"a\":1\n}")])
    );
    let frame = &outcome.frames[0];
    assert_eq!((frame.stamp, frame.offset, frame.line, frame.lines), (timed(TIME), 9, 1, 3));
    assert_eq!(range(body, frame), "{\n[05:06:08]\"a\":1\n05:06:09\t }");
}

/// Blanks behind a stamp are part of it, however many there are and however they come.
#[test]
fn many_blanks() {
    let blanks = " \t".repeat(500);
    for framing in [Framing::Sse, Framing::Ndjson, Framing::Json] {
        let line = if framing == Framing::Sse { "data: [1]" } else { "[1]" };
        let outcome = read_all_ways(&stamped(framing), format!("05:06:07{blanks}{line}\n\n"));
        assert_eq!(
            (outcome.data(), outcome.frames[0].stamp),
            (vec![Some("[1]")], timed(TIME)),
            "{framing:?}"
        );
    }
    let body = format!("[{{\n05:06:07{blanks}\"a\":1}}]");
    let outcome = read_all_ways(&stamped(Framing::JsonArray), body);
    assert_eq!(outcome.data(), [Some("{\n\"a\":1}")]);
    let outcome = read_all_ways(&stamped(Framing::JsonArray), format!("05:06:07{blanks}[1]\n"));
    assert_eq!((outcome.data(), outcome.frames[0].offset), (vec![Some("1")], 1_009));
}

/// A line that is only a stamp is empty, whatever its line end.
#[test]
fn a_stamp_alone_is_an_empty_line() {
    for end in ["\n", "\r\n", "\r"] {
        for stamp in ["05:06:07", "05:06:07 ", "[05:06:07]", "2026-03-04T05:06:07Z"] {
            let body = format!("{stamp} data: 1{end}{stamp}{end}{stamp} data: 2{end}{stamp}");
            let outcome = read_all_ways(&stamped(Framing::Sse), &body);
            assert_eq!(outcome.data(), [Some("1"), Some("2")], "{body:?}");
            assert!(outcome.frames.iter().all(|frame| frame.terminated), "{body:?}");
            assert_eq!(
                outcome.ids(),
                if end == "\r\n" { vec!["crlf"] } else { vec![] },
                "{body:?}"
            );
        }
    }
}
