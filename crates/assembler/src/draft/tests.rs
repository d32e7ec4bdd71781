use teeline_finding::Kind;

use super::*;
use crate::{candidate::Candidate, format::Sentinel, judge, provenance::TRACE_LIMIT, text::Str};

const RULES: Rules =
    Rules { unit: "message", end: "an end", sentinel: Sentinel::Unknown, ..Rules::NONE };

fn bounds(text: usize) -> Bounds {
    Bounds { text, trace: TRACE_LIMIT }
}

fn draft() -> Draft {
    Draft::new(RULES, bounds(1_000_000))
}

fn block(index: u64) -> Key {
    Key::Index("block", index)
}

fn text(draft: &Draft, part: PartId) -> String {
    draft.get(part).text.to_str().into_owned()
}

fn ids(draft: &Draft) -> Vec<&'static str> {
    draft.findings.list().iter().map(|finding| finding.kind.id()).collect()
}

struct Nothing;

impl crate::Assembler for Nothing {
    fn frame(&mut self, _: &crate::Event<'_>, _: &mut Draft) {}
    fn document(&mut self, _: Json<'_>, _: &mut Draft) {}
    fn response(&self, _: &mut crate::Writer<'_>) {}
}

fn at_end(draft: &mut Draft) -> Vec<&'static str> {
    let close = judge::Close { came: true, stopped: false };
    judge::judge(draft, &mut Nothing, close).iter().map(|(_, kind)| kind.id()).collect()
}

#[test]
fn a_block_in_order_is_no_finding() {
    let mut draft = draft();
    let part = draft.open(block(0), 0, PartKind::Text);
    assert_eq!(draft.opened(&block(0)), Some(part));
    draft.append(part, &Str::from("ab"));
    assert_eq!(draft.close(&block(0)), Some(part));
    draft.end();
    assert_eq!(at_end(&mut draft), [""; 0]);
    assert_eq!((ids(&draft), draft.broken), (vec![], false));
}

#[test]
fn what_was_not_opened_is_reported_and_dropped() {
    let mut draft = draft();
    assert_eq!((draft.opened(&block(0)), draft.close(&block(0))), (None, None));
    draft.open(block(1), 0, PartKind::Text);
    draft.close(&block(1));
    assert_eq!(draft.opened(&block(1)), None, "closed is not open");
    assert_eq!(ids(&draft), ["block-unstarted"; 3]);
    assert!(draft.broken);
}

#[test]
fn what_is_opened_twice_is_replaced() {
    let mut draft = draft();
    let part = draft.open(block(0), 0, PartKind::Text);
    draft.append(part, &Str::from("four"));
    let again = draft.open(block(0), 0, PartKind::Reasoning);
    draft.append(again, &Str::from("x"));
    assert_eq!((text(&draft, again), draft.get(again).kind), ("x".to_owned(), PartKind::Reasoning));
    let Kind::BlockRestarted { what, replaced } = &draft.findings.list()[0].kind else { panic!() };
    assert_eq!((what.as_str(), *replaced), ("block 0", 4));
    draft.open_bare(Key::Name("step", "s".into()));
    assert!(draft.open_bare(Key::Name("step", "s".into())));
    assert_eq!(ids(&draft), ["block-restarted"; 2]);
}

#[test]
fn what_is_open_at_the_end_is_named_in_order() {
    let mut draft = draft();
    for key in [block(3), Key::Pair("part", 1, 0), block(2)] {
        draft.open(key, 0, PartKind::Text);
    }
    draft.close(&block(2));
    draft.end();
    let close = judge::Close { came: true, stopped: false };
    let found = judge::judge(&mut draft, &mut Nothing, close);
    let named: Vec<String> = found.iter().map(|(_, kind)| kind.message()).collect();
    assert_eq!(named.len(), 2);
    assert!(named[0].contains("block 3") && named[1].contains("part 1.0"), "{named:?}");
    assert!(draft.broken);
}

#[test]
fn a_final_object_makes_up_for_open_blocks() {
    let mut draft = draft();
    draft.open(block(0), 0, PartKind::Text);
    draft.end();
    draft.rest_on_final();
    assert_eq!(at_end(&mut draft), [""; 0]);
}

#[test]
fn the_end_judges_start_and_end() {
    let mut draft = Draft::new(Rules { start: Some("`begin`"), ..RULES }, bounds(1_000));
    assert_eq!(at_end(&mut draft), ["no-end", "no-start"]);
    draft.start();
    draft.end();
    assert_eq!(at_end(&mut draft), [""; 0]);
}

#[test]
fn snapshots_replace_and_say_what_they_rewrote() {
    for (values, want, rewritten) in [
        (&["Hel", "Hello", "Hello!"][..], "Hello!", None),
        (&["The answer is 41", "The answer is 42 [1]"], "The answer is 42 [1]", Some(15)),
        (&["Thinking...", "Paris is"], "Paris is", Some(0)),
        (&["abc", "ab"], "ab", Some(2)),
        (&["aé", "aè"], "aè", Some(1)),
    ] {
        let mut draft = draft();
        let part = draft.part(0, PartKind::Text);
        for value in values {
            draft.snapshot(part, &Str::from(*value), "the text");
        }
        assert_eq!(text(&draft, part), want);
        let found = draft.findings.list().first().map(|finding| match &finding.kind {
            Kind::Rewritten { at, .. } => *at,
            other => panic!("{other:?}"),
        });
        assert_eq!(found, rewritten, "{values:?}");
        let left: i64 = draft
            .provenance
            .entries()
            .iter()
            .map(|added| added.bytes().cast_signed() - added.cut().cast_signed())
            .sum();
        assert_eq!(left, want.len().cast_signed() as i64, "provenance adds up");
    }
}

#[test]
fn values_decide_whether_they_are_cumulative() {
    let long: Vec<String> = (1..40).map(|n| "word ".repeat(n)).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    for (values, want, cumulative) in [
        (&["Hel", "lo", "!"][..], "Hello!", false),
        (&["ha", "ha", "haha"], "hahahaha", false),
        (
            &["Hel", "Hello wo", "Hello world, how", "Hello world, how are you"],
            "Hello world, how are you",
            true,
        ),
        (&long, *long.last().unwrap(), true),
    ] {
        let mut draft = draft();
        let part = draft.part(0, PartKind::Text);
        for value in values {
            draft.undecided(part, &Str::from(*value), "the text");
        }
        assert_eq!(String::from_utf8_lossy(draft.get(part).shown()), want);
        draft.end();
        assert_eq!(at_end(&mut draft).contains(&"cumulative"), cumulative, "{values:?}");
        assert_eq!(text(&draft, part), want);
    }
}

#[test]
fn a_final_text_is_compared_with_deltas_only() {
    for (delta, last, mismatch) in [("ab", "ab", false), ("ab", "ac", true), ("", "ac", false)] {
        let mut draft = draft();
        let part = draft.part(0, PartKind::Text);
        draft.append(part, &Str::from(delta));
        draft.settle(part, &Str::from(last), "the text");
        assert_eq!(text(&draft, part), last);
        assert_eq!(ids(&draft) == ["done-mismatch"], mismatch, "{delta:?} {last:?}");
    }
}

#[test]
fn a_difference_is_shown_where_it_is() {
    let same = "0123456789".repeat(30);
    let (kept, assembled) = difference(&format!("{same}x"), &format!("{same}y"));
    assert_eq!(
        (kept.as_str(), assembled.as_str()),
        ("…901234567890123456789x", "…901234567890123456789y")
    );
    assert_eq!(difference("a", "b"), ("a".to_owned(), "b".to_owned()));
}

#[test]
fn starting_over_replaces_everything() {
    let mut draft = draft();
    let part = draft.open(block(0), 0, PartKind::Text);
    draft.append(part, &Str::from("old"));
    draft.stop(0, "stop");
    draft.start_over(&Key::Name("message", "m".into()));
    let part = draft.open(block(0), 0, PartKind::Text);
    draft.append(part, &Str::from("new"));
    assert_eq!((ids(&draft), draft.reason(0)), (vec!["block-restarted"], None));
    let answer = draft.sorted_outputs().next().unwrap();
    let shown: Vec<&str> = draft.shown(answer).map(|part| draft.get(part).kind.as_str()).collect();
    assert_eq!(shown, ["text"]);
    let places: Vec<(u64, u64)> =
        draft.provenance().iter().map(|added| (added.part(), added.bytes())).collect();
    assert_eq!(places, [(0, 3)]);
}

#[test]
fn calls_are_judged_once_when_they_close() {
    for (arguments, free, found) in [
        ("{\"a\":1}", false, vec![]),
        ("{\"a\":", false, vec!["arguments-not-json"]),
        ("", false, vec![]),
        ("free text", true, vec![]),
    ] {
        let mut draft = draft();
        let part = draft.part(0, PartKind::Call);
        draft.append(part, &Str::from(arguments));
        draft.get_mut(part).call.free = free;
        draft.close_call(part);
        draft.close_call(part);
        assert_eq!(ids(&draft), found, "{arguments}");
    }
    let mut strict = Draft::new(Rules { empty_arguments: true, ..RULES }, bounds(1_000));
    let part = strict.part(0, PartKind::Call);
    strict.close_call(part);
    assert_eq!(ids(&strict), ["arguments-not-json"]);
}

#[test]
fn at_the_bound_nothing_is_added_and_it_is_said_once() {
    let mut draft = Draft::new(RULES, bounds(2 * OVERHEAD + 4));
    let part = draft.part(0, PartKind::Text);
    for more in ["ab", "cd", "ef", "g"] {
        draft.append(part, &Str::from(more));
    }
    assert_eq!(text(&draft, part), "abcd");
    let other = draft.part(7, PartKind::Text);
    draft.append(other, &Str::from("x"));
    let block = draft.open(block(0), 0, PartKind::Text);
    draft.append(block, &Str::from("x"));
    assert_eq!((draft.parts.len(), draft.outputs.len()), (2, 2), "one each, and the sinks");
    assert_eq!(draft.opened(&super::Key::Index("block", 9)), None);
    assert_eq!((ids(&draft), draft.broken), (vec!["not-assembled"], false));
}

#[test]
fn an_error_that_ends_a_stream_ends_it_once() {
    let mut candidate = Candidate::new(crate::format("openai-chat"), bounds(1_000));
    let frame = teeline_decoder::Frame::default();
    let event =
        crate::Event::parse(&frame, teeline_decoder::Framing::Sse, r#"{"error":"x"}"#).unwrap();
    candidate.read(&event, true);
    candidate.read(&event, true);
    assert_eq!(ids(&candidate.draft), ["error-event", "after-end"]);
}
