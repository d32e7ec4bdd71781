//! What pages show of real streams is what the API's reading says: every capture of `teeline demo`, every stream of the
//! public reports, and recordings of other people where they are at hand.

use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde_json::{Value, json};
use teeline_capture::CaptureId;
use teeline_tests::{
    Binary, Board, Browser, Exchange, Need, Teeline, available, corpus, fixtures, get_json,
};

use super::{begin, end};

/// Recorded streams from here on are left out, in bytes.
const LARGEST: u64 = 150_000;

/// What the page shows of a capture, in the form of [`said`].
const SHOWN: &str = "(() => { \
    const texts = (within, selector) => [...within.querySelectorAll(selector)].map((e) => e.textContent); \
    const lines = (within) => [...within.querySelectorAll('.ln')].map((line) => { const copy = line.cloneNode(true); \
        copy.querySelector('.stop-label')?.remove(); return copy.textContent; }).join('\\n'); \
    return { \
        verdict: texts(document, '.verdict b')[0], \
        outputs: [...document.querySelectorAll('.output')].map((output) => ({ \
            text: [...output.querySelectorAll('.part.text:not([hidden])')].map(lines).join(''), \
            calls: [...output.querySelectorAll('.tool-card')].map((card) => [texts(card, 'header b')[0], lines(card)]), \
            finish: texts(output, '.finish:not([hidden]) .chip')[0] ?? null })), \
        findings: texts(document, '.finding .links > .mono'), \
        counts: texts(document, '.findings-head .count-mark').map(Number) }; })()";

/// A text of JSON; `""` where there is none.
fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The words that begin a capture's verdict, by the table of marks in the design (README.md 5).
fn verdict(summary: &Value) -> &'static str {
    let (state, verdict) = (word(&summary["state"]), word(&summary["verdict"]));
    match (state, verdict) {
        ("failed", _) => "Failed:",
        _ if summary["status"].as_u64().is_some_and(|status| 400 <= status) => "Failed:",
        (_, "finished") => "Finished.",
        ("client-left", _) => "Your app left:",
        ("upstream-broke", _) | (_, "did-not-finish") => "Did not finish:",
        (_, "not-the-whole-stream") => "Not the whole stream:",
        _ => "Empty.",
    }
}

/// Arguments as they are compared: as a value where they are JSON, which the page indents.
fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!({ "not JSON": text }))
}

/// What the API says of a capture: verdict, and for each output its text, calls and reason; findings.
fn said(capture: &Value) -> Value {
    let reading = &capture["reading"];
    let rows = |key: &str| reading[key].as_array().unwrap();
    let outputs = rows("outputs").iter().map(|output| {
        let calls = output["tool_calls"].as_array().unwrap().iter().map(|call| {
            json!([call["name"].as_str().unwrap_or("—"), arguments(word(&call["arguments"]))])
        });
        json!({
            "text": output["text"],
            "calls": sorted(calls.collect()),
            "finish": output["finish"]["reason"],
        })
    });
    let counts = ["error", "warning", "note"].map(|severity| {
        let of_it = rows("findings").iter().filter(|finding| finding["severity"] == severity);
        of_it.map(|finding| finding["count"].as_u64().unwrap()).sum::<u64>()
    });
    json!({
        "verdict": verdict(&capture["summary"]),
        "outputs": outputs.collect::<Vec<_>>(),
        "findings": rows("findings").iter().map(|finding| &finding["id"]).collect::<Vec<_>>(),
        "counts": counts.iter().filter(|count| 0 < **count).collect::<Vec<_>>(),
    })
}

/// Calls stand in stream order on the page, by their index in the reading.
fn sorted(mut calls: Vec<Value>) -> Vec<Value> {
    calls.sort_by_key(Value::to_string);
    calls
}

/// What the page shows, with calls as [`said`] has them.
fn shown(page: &mut Browser) -> Value {
    let mut shown = page.evaluate(SHOWN);
    for output in shown["outputs"].as_array_mut().unwrap() {
        let calls = output["calls"].as_array_mut().unwrap();
        // A call without a name has its card, but is none that a client has to answer.
        calls.retain(|call| call[0] != "—");
        for call in calls {
            call[1] = arguments(word(&call[1]));
        }
        output["calls"] = sorted(output["calls"].as_array().unwrap().clone()).into();
    }
    shown
}

/// What of a capture a page lays out in its own way: its verdict, the kinds of its parts and findings, how many outputs.
fn kinds(capture: &Value) -> Vec<String> {
    let rows = |of: &Value, key: &str| of[key].as_array().unwrap().clone();
    let outputs = rows(&capture["reading"], "outputs");
    let parts = outputs.iter().flat_map(|output| rows(output, "parts"));
    let findings = rows(&capture["reading"], "findings").into_iter();
    let words = [verdict(&capture["summary"]).to_owned(), format!("{} outputs", outputs.len())];
    words
        .into_iter()
        .chain(parts.map(|part| word(&part["kind"]).to_owned()))
        .chain(findings.map(|finding| word(&finding["severity"]).to_owned()))
        .collect()
}

/// One page that goes from capture to capture, and what was wrong on the way.
struct Tour<'a> {
    page: &'a mut Browser,
    dashboard: SocketAddr,
    kinds: HashSet<String>,
    wrong: Vec<String>,
}

impl<'a> Tour<'a> {
    fn new(page: &'a mut Browser, dashboard: SocketAddr) -> Self {
        // Nothing that is looked at here moves; drawing it sixty times a second is what a tour would mostly cost.
        page.run("motion", json!({ "reduced": true }));
        Self { page, dashboard, kinds: HashSet::new(), wrong: Vec::new() }
    }

    /// Opens a capture and holds it to the API; what has something that was not seen before at the width of a telephone,
    /// and by axe-core, too.
    fn visit(&mut self, id: &str, name: &str) {
        let capture = get_json(self.dashboard, &format!("/api/captures/{id}"));
        let frames = capture["reading"]["counts"]["frames"].as_u64().unwrap();
        self.page.goto(&format!("http://{}/captures/{id}", self.dashboard));
        self.page.until(&format!(
            "document.querySelector('.capture-page.loaded .frames-pane .total').textContent.replaceAll(',', '') === '{frames}'"
        ));
        self.compare(&capture, name, 1280);
        let before = self.kinds.len();
        self.kinds.extend(kinds(&capture));
        if before < self.kinds.len() || wants_pictures() {
            let barriers = self.page.axe();
            self.wrong.extend(barriers.into_iter().map(|one| format!("{name}: {one}")));
            self.page.viewport(360, 740);
            self.compare(&capture, name, 360);
            self.page.viewport(1280, 740);
        }
        let problems = self.page.problems();
        self.wrong.extend(problems.into_iter().map(|one| format!("{name}: {one}")));
    }

    fn compare(&mut self, capture: &Value, name: &str, width: u32) {
        self.page.until("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
        let (shown, said) = (shown(self.page), said(capture));
        for key in ["verdict", "outputs", "findings", "counts"] {
            if shown[key] != said[key] {
                let (shown, said) = (&shown[key], &said[key]);
                self.wrong.push(format!("{name}, {width}: {key}: {shown} is shown, {said}"));
            }
        }
        let over = sticks_out(self.page).map(|over| format!("{name}, {width}: {over} sticks out"));
        self.wrong.extend(over);
        picture(self.page, &format!("{name}-{width}"));
    }

    /// Nothing was wrong in any of so many, and they were of so many kinds at least.
    fn end(self, captures: usize, kinds: usize) {
        let (wrong, seen) = (self.wrong, self.kinds.len());
        assert!(wrong.is_empty(), "{} of {captures}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(kinds <= seen, "{seen} kinds");
    }
}

/// By how much the page is wider than the screen, if it is.
fn sticks_out(page: &mut Browser) -> Option<Value> {
    let over = page.evaluate(
        "[document.documentElement, document.body, document.querySelector('main')].map((e) => e.scrollWidth - e.clientWidth).join()",
    );
    (over != "0,0,0").then_some(over)
}

fn wants_pictures() -> bool {
    std::env::var_os("TEELINE_PICTURES").is_some()
}

/// A picture for people, where they asked for it.
fn picture(page: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("TEELINE_PICTURES") {
        let folder = PathBuf::from(folder).join("real");
        std::fs::create_dir_all(&folder).unwrap();
        page.screenshot(&folder.join(format!("{name}.png")));
    }
}

#[test]
fn every_capture_of_the_demo_is_shown_as_it_is_read() {
    let suite = "every_capture_of_the_demo_is_shown_as_it_is_read";
    if !available(suite, &[Need::Chromium]) {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let mut command = Binary::command(["demo"]);
    command.env("TMPDIR", temporary.path());
    let demo = Teeline::spawn(command, temporary.path());
    let list = teeline_tests::eventually("the demo's streams", || {
        let list = get_json(demo.dashboard, "/api/captures?limit=1000");
        // The scene that is asked for last.
        let is_over = list["captures"][0]["model"] == "demo-answer";
        (is_over && list["counts"]["open"] == 0).then_some(list)
    });
    let captures = list["captures"].as_array().unwrap();
    assert!(captures.len() > 20, "{} captures", captures.len());
    let mut page = Browser::start();
    let mut tour = Tour::new(&mut page, demo.dashboard);
    for width in [360, 1280] {
        tour.page.viewport(width, 740);
        tour.page.goto(&format!("http://{}/", demo.dashboard));
        tour.page.wait(".row");
        picture(tour.page, &format!("list-{width}"));
        let barriers = tour.page.axe();
        tour.wrong.extend(barriers);
    }
    for capture in captures {
        let name = format!("demo-{}-{}", word(&capture["format"]), word(&capture["model"]));
        let name = name.replace(['/', ':'], "-");
        tour.visit(word(&capture["id"]), &name);
    }
    tour.end(captures.len(), 10);
    end(page);
}

/// A body as it would have come: in pieces of 100 bytes, 20 ms apart.
fn streamed(body: &[u8], path: &'static str, content_type: &'static str) -> Exchange {
    let mut exchange = Exchange::chat([]);
    (exchange.path, exchange.content_type) = (path, content_type);
    let pieces = body.chunks(100).zip(0..);
    exchange.chunks =
        pieces.map(|(piece, n)| (Bytes::copy_from_slice(piece), 300 + 20 * n)).collect();
    exchange
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("sse") => "text/event-stream",
        Some("ndjson") => "application/x-ndjson",
        _ => "application/json",
    }
}

#[test]
fn the_streams_of_public_reports_are_shown_as_they_are_read() {
    let Some((board, mut page)) = begin("the_streams_of_public_reports_are_shown_as_they_are_read")
    else {
        return;
    };
    let mut cases: Vec<(String, CaptureId)> = Vec::new();
    for entry in std::fs::read_dir(fixtures("cases")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(expect) = std::fs::read(folder.join("expect.json")) else { continue };
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        let file = folder.join(word(&expect["input"]));
        let body = std::fs::read(&file).unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        cases.push((name, board.put(streamed(&body, "/test/v1/answers", content_type(&file)))));
    }
    assert!(cases.len() > 80, "{} cases", cases.len());
    cases.sort();
    page.viewport(1280, 740);
    let mut tour = Tour::new(&mut page, board.address());
    for (name, id) in &cases {
        tour.visit(&id.to_string(), name);
    }
    tour.end(cases.len(), 10);
    end(page);
}

#[test]
fn citations_stand_under_the_text_they_belong_to() {
    let Some((board, mut page)) = begin("citations_stand_under_the_text_they_belong_to") else {
        return;
    };
    let body = std::fs::read(fixtures("cases").join("a-citations/stream.sse")).unwrap();
    let id = board.put(streamed(&body, "/anthropic/v1/messages", "text/event-stream"));
    page.goto(&board.url(&format!("/captures/{id}")));
    page.wait_text(".part.text .ln", "Grass is green.");
    page.wait_text(".citations summary", "2 citations");
    page.wait_count(".citations li", 2);
    // The title of the document that each is from, and the words that it cites.
    page.wait_text(".citations li:nth-child(1)", "D green");
    page.wait_text(".citations li:nth-child(2)", "D grass");
    assert_eq!(page.axe(), Vec::<String>::new());
    end(page);
}

/// Of each format that was recorded, the largest stream that is not huge: it has most of what the format has.
#[test]
fn recorded_streams_are_shown_as_they_are_read() {
    let suite = "recorded_streams_are_shown_as_they_are_read";
    if !available(suite, &[Need::Chromium, Need::Corpus]) {
        return;
    }
    let folder = corpus().unwrap();
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let mut largest: BTreeMap<String, (u64, PathBuf)> = BTreeMap::new();
    for row in manifest.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let bytes = row["bytes"].as_u64().unwrap();
        let best = largest.entry(word(&row["format"]).to_owned()).or_default();
        if bytes < LARGEST && best.0 < bytes {
            *best = (bytes, folder.join(word(&row["file"])));
        }
    }
    let board = Board::start();
    let mut page = Browser::start();
    page.viewport(1280, 740);
    let mut tour = Tour::new(&mut page, board.address());
    for (format, (_, file)) in largest.iter().filter(|(_, (bytes, _))| 0 < *bytes) {
        let body = std::fs::read(file).unwrap();
        let id = board.put(streamed(&body, "/test/v1/answers", content_type(file)));
        tour.visit(&id.to_string(), &format!("corpus-{format}"));
    }
    assert!(largest.len() > 20, "{} formats", largest.len());
    tour.end(largest.len(), 5);
    end(page);
}
