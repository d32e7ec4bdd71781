//! Laws: what holds for every fixture of every format, and for streams made at random.

mod random;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};
use teeline_assembler::{Assembly, End, FORMATS, FrameRow, Options, Reading, Verdict};

use crate::{
    catalogue,
    support::{fixtures, read, response},
};

/// Every stream fixture of every format, and the bodies that findings fire in: format, name, body. The `.json`
/// files are what streams give.
fn streams(extension: Option<&str>) -> Vec<(&'static str, String, Vec<u8>)> {
    let mut all = Vec::new();
    for format in FORMATS {
        let Ok(files) = std::fs::read_dir(fixtures().join(format.name)) else { continue };
        for path in files.map(|file| file.unwrap().path()) {
            let found = path.extension().map(|found| found.to_string_lossy().into_owned());
            if found.as_deref() != Some("json")
                && (extension.is_none() || found.as_deref() == extension)
            {
                let name =
                    format!("{}/{}", format.name, path.file_name().unwrap().to_string_lossy());
                all.push((format.name, name, std::fs::read(path).unwrap()));
            }
        }
    }
    assert!(!all.is_empty());
    let is_text = |body: &[u8]| std::str::from_utf8(body).is_ok();
    let mut findings = catalogue::bodies();
    findings.retain(|(.., body)| match extension {
        None => true,
        Some(extension) => extension == "sse" && is_text(body),
    });
    all.extend(findings);
    all
}

/// The inputs of the cases of public reports, which are not always what their format should be.
fn reported() -> Vec<(&'static str, String, Vec<u8>)> {
    let folders = std::fs::read_dir(fixtures().join("cases")).unwrap();
    let inputs = folders.map(|folder| folder.unwrap().path()).filter_map(|folder| {
        let expect = std::fs::read(folder.join("expect.json")).ok()?;
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        let body = std::fs::read(folder.join(expect["input"].as_str()?)).unwrap();
        let name = format!("cases/{}", folder.file_name().unwrap().to_string_lossy());
        Some(("", name, body))
    });
    let inputs: Vec<_> = inputs.filter(|(.., body)| body.len() < 20_000).collect();
    assert!(inputs.len() > 30, "the cases are missing");
    inputs
}

/// What streams have to give, beside them: format, name, stream, response.
fn answered() -> Vec<(&'static str, String, Vec<u8>, Vec<u8>)> {
    let pairs = streams(None).into_iter().filter_map(|(format, name, body)| {
        let response = fixtures().join(&name).with_extension("json");
        let response = std::fs::read(response).ok().filter(|_| !name.starts_with("findings/"))?;
        Some((format, name, body, response))
    });
    pairs.collect()
}

/// Every body that is text: name, body.
fn texts() -> &'static [(String, String)] {
    static TEXTS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let text = |body: Vec<u8>| String::from_utf8(body).ok();
        streams(None)
            .into_iter()
            .filter_map(|(_, name, body)| Some((name, text(body)?)))
            .filter(|(_, body)| body.len() < 20_000)
            .collect()
    })
}

/// Server-sent events as text.
fn events() -> Vec<(&'static str, String, String)> {
    let text = |body: Vec<u8>| String::from_utf8(body).unwrap();
    streams(Some("sse"))
        .into_iter()
        .map(|(format, name, body)| (format, name, text(body)))
        .collect()
}

/// The fixtures of Chat Completions, which are whole streams.
fn chats() -> impl Iterator<Item = (&'static str, String, String)> {
    let is_chat =
        |format: &str, name: &str| format == "openai-chat" && !name.starts_with("findings");
    events().into_iter().filter(move |(format, name, _)| is_chat(format, name))
}

fn in_pieces(body: &[u8], cuts: &[prop::sample::Index]) -> Reading {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    at.extend([0, body.len()]);
    at.sort_unstable();
    let mut assembly = Assembly::new(Options::default());
    for pair in at.windows(2) {
        assembly.push(Bytes::copy_from_slice(&body[pair[0]..pair[1]]), None);
        let _ = assembly.reading(); // looking at it changes nothing
    }
    assembly.finish(End::Clean);
    assembly.reading()
}

fn json(reading: &Reading) -> String {
    serde_json::to_string(reading).unwrap()
}

/// What a client takes from a reading.
fn view(reading: &Reading) -> Value {
    json!([
        reading.format,
        reading.verdict,
        reading.outputs,
        reading.usage,
        reading.error,
        response(reading)
    ])
}

/// How often each finding was found.
fn tally(reading: &Reading) -> BTreeMap<&'static str, u64> {
    let mut tally = BTreeMap::new();
    for finding in &reading.findings {
        *tally.entry(finding.kind.id()).or_default() += finding.count;
    }
    tally
}

/// The change leaves the view as it is and adds these findings only.
fn harmless(name: &str, before: &str, after: &str, more: Option<&'static str>) {
    let (before, after) = (read(before.as_bytes(), 0), read(after.as_bytes(), 0));
    assert_eq!(view(&after), view(&before), "{name}");
    let mut want = tally(&before);
    if let Some(id) = more {
        *want.entry(id).or_default() += 1;
    }
    assert_eq!(tally(&after), want, "{name}");
}

/// No folder is left out of the laws, and no format is without a stream of its own.
#[test]
fn every_folder_is_a_formats() {
    let known: BTreeSet<String> = FORMATS.iter().map(|format| format.name.to_owned()).collect();
    let of_all = ["cases", "conformance", "findings", "stores"].map(str::to_owned);
    let folders = std::fs::read_dir(fixtures()).unwrap();
    let found: BTreeSet<String> = folders
        .map(|folder| folder.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !of_all.contains(name))
        .collect();
    assert_eq!(found, known);
    let all = streams(None);
    let own = all.iter().filter(|(_, name, _)| !name.starts_with("findings/"));
    let with_streams: BTreeSet<String> = own.map(|(format, ..)| (*format).to_owned()).collect();
    assert_eq!(with_streams, known);
}

/// Formats whose response has no shape of its own to be known by: it is another vendor's, or derived.
const WITHOUT_A_SHAPE: &[&str] = &[
    "bedrock-invoke",
    "cumulative",
    "langserve",
    "openai-assistants",
    "salyro-behavior",
    "vercel-data",
];

/// A stream gives the response that stands beside it, and that response is read as the stream is.
#[test]
fn streamed_and_plain_are_the_same() {
    let mut seen = BTreeSet::new();
    for (format, name, stream, plain) in answered() {
        let streamed = read(&stream, 0);
        let want: Value = serde_json::from_slice(&plain).unwrap();
        assert_eq!(response(&streamed), want, "{name}");
        seen.insert(format);
        let plain = read(&plain, 0);
        if plain.format != format {
            assert!(WITHOUT_A_SHAPE.contains(&format), "{name} is read as {}", plain.format);
            continue;
        }
        assert_eq!(response(&plain), want, "{name}, plain");
        let words = |reading: &Reading| {
            let outputs = reading.outputs.iter();
            json!(outputs.map(|it| [&it.text, &it.reasoning, &it.refusal]).collect::<Vec<_>>())
        };
        assert_eq!(words(&plain), words(&streamed), "{name}, plain");
    }
    let known: BTreeSet<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(seen, known, "every format has a stream with its response");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_chunking_gives_the_same_reading(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40)) {
        for (_, name, body) in streams(None).into_iter().chain(reported()) {
            prop_assert_eq!(json(&in_pieces(&body, &cuts)), json(&read(&body, 0)), "{}", name);
        }
    }
}

#[test]
fn line_ends_marks_and_comments_change_nothing() {
    for (_, name, body) in events() {
        if !body.contains('\r') {
            harmless(
                &format!("{name} with CRLF"),
                &body,
                &body.replace('\n', "\r\n"),
                Some("crlf"),
            );
            harmless(&format!("{name} with CR"), &body, &body.replace('\n', "\r"), None);
        }
        if !body.starts_with('\u{feff}') {
            harmless(&format!("{name} with a BOM"), &body, &format!("\u{feff}{body}"), Some("bom"));
        }
        let end = if body.contains("\r\n") { "\r\n" } else { "\n" };
        let comment = |line: &str| {
            if line.starts_with("data:") { format!(": x{end}{line}") } else { line.to_owned() }
        };
        let commented: String = body.split_inclusive('\n').map(comment).collect();
        harmless(&format!("{name} with comments"), &body, &commented, None);
    }
}

/// In lines of JSON a carriage return is white space, and the last line needs no end.
#[test]
fn line_ends_and_marks_change_nothing_in_lines() {
    let lines = streams(None).into_iter().filter(|(_, _, body)| {
        read(body, 0).framing == Some("ndjson") && !body.starts_with("\u{feff}".as_bytes())
    });
    let mut seen = 0;
    for (_, name, body) in lines {
        seen += 1;
        let body = String::from_utf8(body).unwrap();
        harmless(&format!("{name} with CRLF"), &body, &body.replace('\n', "\r\n"), None);
        harmless(&format!("{name} with a BOM"), &body, &format!("\u{feff}{body}"), Some("bom"));
        harmless(&format!("{name} without its end"), &body, body.trim_end_matches('\n'), None);
        harmless(&format!("{name} spaced"), &body, &body.replace('\n', "\n\n"), None);
    }
    assert!(seen > 3, "the lines are missing");
}

/// Formats whose texts only ever grow, so that what a cut stream gives begins what the whole one gives.
const GROWING: &[&str] =
    &["openai-chat", "openai-completions", "anthropic-messages", "ollama", "bedrock-invoke"];

#[test]
fn a_stream_cut_anywhere_is_read_up_to_there() {
    for (format, name, body) in streams(None).into_iter().chain(reported()) {
        let whole = read(&body, 0);
        for end in 0..body.len() {
            let cut = read(&body[..end], 0);
            assert!(cut.outputs.len() <= whole.outputs.len(), "{name} cut at {end}");
            if !GROWING.contains(&format) {
                continue;
            }
            for (part, all) in cut.outputs.iter().zip(&whole.outputs) {
                for (part, all) in [
                    (&part.text, &all.text),
                    (&part.reasoning, &all.reasoning),
                    (&part.refusal, &all.refusal),
                ] {
                    assert!(
                        part.is_empty() || all.starts_with(&**part),
                        "{name} cut at {end}: {part:?}"
                    );
                }
            }
        }
    }
}

/// Chat has one end marker: without its whole line nothing is finished, with it everything is.
#[test]
fn chat_is_finished_when_its_end_marker_is_there() {
    for (_, name, body) in chats() {
        let marker = body.find("[DONE]").map(|at| at + "[DONE]".len());
        let finished = read(body.as_bytes(), 0).verdict == Verdict::Finished;
        for end in 0..=body.len() {
            let cut = read(&body.as_bytes()[..end], 0);
            let due = finished && marker.is_some_and(|marker| end >= marker);
            assert_eq!(
                cut.verdict == Verdict::Finished && cut.format == "openai-chat",
                due,
                "{name} cut at {end}"
            );
        }
    }
}

/// Formats that may end without a marker, or by one of two.
const ENDING_OTHERWISE: &[&str] = &["cumulative", "langserve", "gemini-interactions"];

/// What ends a format that has no event for it.
const MARKS: &[(&str, &[&str])] = &[
    ("gemini", &["\"finishReason\"", "\"blockReason\""]),
    ("dashscope", &["\"finish_reason\":\"stop\"", "\"finish_reason\":\"tool_calls\""]),
    ("mcp", &["\"result\""]),
];

/// Where a stream says that it ends: before that byte nothing is finished. `None` where it does not say so.
fn ending(format: &str, body: &[u8]) -> Option<usize> {
    if let Some((_, marks)) = MARKS.iter().find(|(name, _)| *name == format) {
        let at = |mark: &&str| body.windows(mark.len()).position(|part| part == mark.as_bytes());
        return marks.iter().filter_map(at).min();
    }
    let rows = crate::support::rows(body);
    let ends = |row: &&FrameRow| row.effect.as_ref().is_some_and(|it| it.kind == "end");
    let first = rows.iter().find(ends)?;
    // Of several lines the first may say it: `event: done`.
    let range = usize::try_from(first.offset).unwrap()
        ..usize::try_from(first.offset + first.length).unwrap();
    let line = body[range.clone()].split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap();
    Some(range.start + line.trim_ascii_end().len())
}

/// Where a format says that it ends, nothing is finished before the line that says so is complete (its line end apart).
#[test]
fn nothing_is_finished_before_its_end() {
    let mut judged: BTreeSet<&str> = ENDING_OTHERWISE.iter().copied().collect();
    for (format, name, body) in streams(None) {
        let whole = read(&body, 0);
        if whole.verdict != Verdict::Finished || ENDING_OTHERWISE.contains(&format) {
            continue;
        }
        let Some(due) = ending(format, &body) else { continue };
        for end in 0..due {
            let cut = read(&body[..end], 0);
            assert!(
                cut.verdict != Verdict::Finished || cut.format != format,
                "{name} cut at {end}, its end comes at {due}"
            );
        }
        judged.insert(format);
    }
    let known: BTreeSet<&str> = FORMATS.iter().map(|format| format.name).collect();
    judged.remove("unknown");
    assert_eq!(judged, known, "every format is judged");
}

/// A stamp before every line gives times and nothing else.
#[test]
fn stamps_change_times_only() {
    for (_, name, body) in events() {
        let end = if body.contains('\n') { '\n' } else { '\r' };
        let mut stamped = String::new();
        for (second, line) in body.split_inclusive(end).enumerate() {
            let (minute, second) = (second / 60, second % 60);
            stamped += &format!("2026-01-02T03:{minute:02}:{second:02}.5Z {line}");
        }
        let before = read(body.as_bytes(), 0);
        let mut assembly = Assembly::new(Options { stamps: true, ..Options::default() });
        assembly.push(Bytes::from(stamped), None);
        assembly.finish(End::Clean);
        let after = assembly.reading();
        assert_eq!(view(&after), view(&before), "{name}");
        // Gaps show only where times are known.
        let mut found = tally(&after);
        found.remove("stalled");
        assert_eq!(found, tally(&before), "{name}");
        assert!(after.timing.is_some() || before.counts.frames == 0, "{name}");
    }
}

/// A frame with text, or the end, that comes twice or not at all shows: in the answer or as a finding.
#[test]
fn doubled_and_lost_frames_show_in_chat() {
    for (_, name, body) in chats() {
        let frames: Vec<&str> = body.split_inclusive("\n\n").collect();
        let rows = crate::support::rows(body.as_bytes());
        let before = read(body.as_bytes(), 0);
        let shows = |frames: Vec<&str>| {
            let after = read(frames.concat().as_bytes(), 0);
            view(&after) != view(&before) || tally(&after) != tally(&before)
        };
        for (at, row) in rows.iter().enumerate() {
            let effect = row.effect.as_ref().unwrap();
            if !["text", "reasoning", "refusal", "tool", "end", "error"].contains(&effect.kind) {
                continue;
            }
            assert!(shows([&frames[..at], &frames[at + 1..]].concat()), "{name}: frame {at} lost");
            assert!(shows([&frames[..=at], &frames[at..]].concat()), "{name}: frame {at} doubled");
            let next = rows.get(at + 1).and_then(|row| row.effect.as_ref());
            let alike = next.filter(|next| {
                (next.kind, next.output, next.call) == (effect.kind, effect.output, effect.call)
            });
            if alike.is_some_and(|next| next.snippet != effect.snippet) {
                let mut swapped = frames.clone();
                swapped.swap(at, at + 1);
                assert!(shows(swapped), "{name}: frame {at} swapped");
            }
        }
    }
}
