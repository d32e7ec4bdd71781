//! The page of a capture that has ended: linked panes, keys, address, exports.

use teeline_capture::{CaptureId, Ending};
use teeline_tests::{Board, Browser, Exchange, chat};

use super::{begin, end};

const TEXT: &str = "Here are the steps:\n\nFirst look left, then right.\nThen walk.\n";

/// The text of the ranges that a highlight marks.
fn highlighted(page: &mut Browser, name: &str) -> String {
    let script = format!(
        "[...(CSS.highlights.get('{name}') ?? [])].map((range) => range.toString()).join('|')"
    );
    page.evaluate(&script).as_str().unwrap_or_default().to_owned()
}

fn open(board: &Board, page: &mut Browser, exchange: Exchange) -> CaptureId {
    let id = board.put(exchange);
    page.goto(&board.url(&format!("/captures/{id}")));
    page.wait(".capture-page.loaded");
    page.wait(".frame");
    id
}

/// An answer with a silence, a byte that is no UTF-8 and a usage.
fn marked() -> Exchange {
    let mut exchange = Exchange::answer(TEXT).silent_before(6, 2400);
    let bytes = exchange.chunks[7].0.to_vec();
    let at = bytes.windows(4).position(|window| window == b"look").unwrap() + 1;
    exchange.chunks[7].0 = [&bytes[..at], b"\xe2", &bytes[at..]].concat().into();
    exchange
}

#[test]
fn text_frame_tick_and_finding_are_one_thing() {
    let Some((board, mut page)) = begin("text_frame_tick_and_finding_are_one_thing") else {
        return;
    };
    open(&board, &mut page, marked());
    // A frame marks its text, in the address, on the lane.
    page.click(".frame[data-i='2']");
    page.until("location.search.includes('frame=2')");
    assert_eq!(highlighted(&mut page, "linked"), "are ");
    page.wait(".frame.selected[data-i='2']");
    // The text leads to its frame.
    page.click_at(".ln:nth-child(3)", (0.05, 0.5));
    page.until("document.querySelector('.frame.selected')?.dataset.i !== '2'");
    let frame = page.evaluate("Number(document.querySelector('.frame.selected').dataset.i)");
    assert!(frame.as_u64().is_some_and(|frame| frame > 4), "{frame}");
    // Pointing at it marks what came with it.
    page.hover(".ln:nth-child(1)", (0.05, 0.5));
    page.until("CSS.highlights.has('hovered')");
    // A finding leads to its frame and its text; the replaced byte is marked.
    page.click(".finding .sentence");
    page.until("location.search.includes('finding=0')");
    assert_eq!(page.evaluate("document.querySelector('.frame.selected').dataset.i"), "7");
    assert!(highlighted(&mut page, "linked").contains("l\u{fffd}ook"));
    assert_eq!(highlighted(&mut page, "bad"), "\u{fffd}");
    page.wait_text(".finding.selected", "Why it matters");
    page.wait_text(".finding.selected", "What to do");
    // Back and forward lead through what was selected.
    page.back();
    page.back();
    page.until("document.querySelector('.frame.selected')?.dataset.i === '2'");
    assert_eq!(highlighted(&mut page, "linked"), "are ");
    page.forward();
    page.forward();
    page.until("document.querySelector('.frame.selected')?.dataset.i === '7'");
    // A link opens the same view.
    page.reload();
    page.wait(".frame.selected[data-i='7']");
    page.wait(".finding.selected");
    end(page);
}

#[test]
fn the_scrubber_shows_the_answer_as_it_stood_and_nothing_moves() {
    let Some((board, mut page)) =
        begin("the_scrubber_shows_the_answer_as_it_stood_and_nothing_moves")
    else {
        return;
    };
    open(&board, &mut page, marked());
    let place = "(() => { const box = document.querySelector('.ln:last-child').getBoundingClientRect(); \
        const pane = document.querySelector('.outputs').getBoundingClientRect(); return [box.top - pane.top, box.width, pane.width]; })()";
    let before = page.evaluate(place);
    page.click(".frame[data-i='3']");
    page.press(",");
    page.wait_text(".stood-bar", "As it stood at frame 2 of");
    page.wait_text("#hints", "step");
    page.wait_text("#hints", "Back to the end");
    let later = highlighted(&mut page, "later");
    assert!(
        later.starts_with("the steps:") && later.ends_with("walk.\n\n")
            || later.starts_with("the steps:"),
        "{later:?}"
    );
    assert_eq!(page.evaluate(place), before, "later text stays in its place");
    page.press(".");
    page.wait_text(".stood-bar", "frame 3 of");
    page.until("location.search.includes('at=3')");
    // Under the axis the pointer is dragged.
    page.drag(".lane-canvas", (0.3, 0.95), (0.9, 0.95));
    page.until("Number(new URLSearchParams(location.search).get('at')) > 5");
    page.wait_text(".lane-info", "as it stood at frame");
    page.press("Escape");
    page.until("document.querySelector('.stood-bar').hidden");
    assert_eq!(highlighted(&mut page, "later"), "");
    end(page);
}

#[test]
fn tabs_are_keys_and_stand_in_the_address() {
    let Some((board, mut page)) = begin("tabs_are_keys_and_stand_in_the_address") else { return };
    open(&board, &mut page, marked());
    let tabs = [
        ("2", "response", "chat.completion"),
        ("3", "request", "Please answer."),
        ("4", "headers", "text/event-stream"),
        ("5", "usage", "16"),
    ];
    for (key, tab, holds) in tabs {
        page.press(key);
        page.wait_text(".tab-body", holds);
        assert!(page.address().ends_with(&format!("tab={tab}")), "{}", page.address());
    }
    page.back();
    page.wait_text(".tab-body", "text/event-stream");
    page.reload();
    page.wait_text(".tab-body", "text/event-stream");
    page.press("1");
    page.wait(".answer");
    // The response is a tree and raw text; long branches fold.
    page.press("2");
    page.click(".json-bar button:nth-of-type(2)");
    page.wait_text(".json-text", "\"object\": \"chat.completion\"");
    end(page);
}

#[test]
fn frames_are_filtered_opened_and_stepped_through() {
    let Some((board, mut page)) = begin("frames_are_filtered_opened_and_stepped_through") else {
        return;
    };
    open(&board, &mut page, marked());
    page.press("f");
    page.until("document.activeElement.type === 'search'");
    page.type_text("usage");
    page.wait_text(".frames-pane .total", "of");
    page.until("location.search.includes('filter=usage')");
    let rows = "[...document.querySelectorAll('.frame:not([hidden])')].filter((row) => /usage/.test(row.textContent)).length";
    assert!(page.evaluate(rows).as_u64().is_some_and(|n| n > 0));
    page.reload();
    page.wait_text(".frames-pane .total", "of");
    page.press("f");
    page.press("Escape");
    page.press("Escape");
    page.until("!location.search.includes('filter')");
    // A row opens to its lines, with what is not seen made visible.
    page.press("j");
    page.press("o");
    page.wait_text(".opened", "data:");
    page.wait_text(".opened .line-end", "LF");
    page.until("location.search.includes('open=1')");
    page.click(".opened-head button[data-kind=json]");
    page.wait_text(".opened .json-text", "\"object\"");
    page.press("j");
    page.until("document.querySelector('.frame.selected').dataset.i === '1'");
    page.wait(".opened");
    page.press("Escape");
    page.until("!document.querySelector('.opened')");
    page.click(".frame[data-i='7']");
    page.press("o");
    page.wait_text(".opened .bad-byte", "E2");
    // A silence is a row between the frames.
    page.wait_text(".gap-row", "2.45 s with no frame");
    end(page);
}

#[test]
fn findings_neighbours_and_the_way_back_are_keys() {
    let Some((board, mut page)) = begin("findings_neighbours_and_the_way_back_are_keys") else {
        return;
    };
    board.put(Exchange::answer("The older one."));
    open(&board, &mut page, marked());
    board.put(Exchange::answer("The newer one."));
    page.reload();
    page.wait(".finding");
    page.press("]");
    page.wait(".finding.selected");
    assert!(page.address().contains("finding=0"));
    page.wait_text("#hint-note", "of 3");
    // Who is quicker than the list that names the neighbours is led there all the same.
    page.keep_back(&board.url("/api/captures*"));
    page.press("n");
    page.wait_text(".answer", "The older one.");
    page.press("p");
    page.let_go();
    page.wait_text(".answer", "Here are the steps");
    page.wait_text("#hint-note", "of 3");
    page.press("p");
    page.wait_text(".answer", "The newer one.");
    page.press("Escape");
    page.wait_count(".row", 3);
    end(page);
}

#[test]
fn a_broken_stream_says_why_where_it_broke_and_what_is_kept() {
    let Some((board, mut page)) = begin("a_broken_stream_says_why_where_it_broke_and_what_is_kept")
    else {
        return;
    };
    let mut exchange =
        Exchange::answer(TEXT).ending(Ending::UpstreamBroke { how: "reset".to_owned() });
    exchange.chunks.truncate(6);
    let last = exchange.chunks[5].0.clone();
    exchange.chunks[5].0 = last.slice(..40);
    open(&board, &mut page, exchange);
    page.wait_text(".verdict", "Did not finish: the upstream reset the connection after frame 5");
    page.wait_text(".answer-end", "The upstream reset the connection here.");
    page.wait_text(".answer-end", "Kept:");
    page.wait_text(".frames-end", "connection reset by the upstream");
    page.wait_text(".frame.cut", "cut after 40 B");
    // Why it broke explains the rest: it is the first of the findings.
    assert!(page.text(".finding .sentence").contains("broke the connection"));
    end(page);
}

#[test]
fn tool_calls_show_where_they_stop_being_json() {
    let Some((board, mut page)) = begin("tool_calls_show_where_they_stop_being_json") else {
        return;
    };
    let mut frames = chat::tool_calls();
    frames.remove(6);
    open(&board, &mut page, Exchange::chat(frames));
    page.wait_text(".tool-card:not(.wrong)", "get_weather");
    page.wait_text(".tool-card:not(.wrong)", "valid JSON");
    page.wait_text(".tool-card.wrong", "not JSON");
    page.wait_text(".tool-card.wrong", "ends here, character");
    page.wait_text(".tool-card.wrong .tool-reason", "opened at character 1, never closed");
    assert_eq!(highlighted(&mut page, "opener"), "{");
    page.click(".tool-card .frame-link");
    page.until("location.search.includes('span=')");
    page.wait(".frame.in-span");
    end(page);
}

#[test]
fn choices_stand_beside_each_other_or_in_tabs() {
    let Some((board, mut page)) = begin("choices_stand_beside_each_other_or_in_tabs") else {
        return;
    };
    open(&board, &mut page, Exchange::chat(chat::two_choices()));
    page.wait_text(".outputs.beside", "Choice 1");
    page.wait_text(".verdict", "2 choices");
    let frames = (0..3).flat_map(|choice| {
        let text = serde_json::json!({ "content": format!("This is answer {choice}.") });
        [chat::delta(choice, &text), chat::finish(choice, "stop")]
    });
    open(&board, &mut page, Exchange::chat(frames.chain([chat::DONE.to_owned()])));
    page.wait_count(".choice-tabs button", 3);
    page.click(".choice-tabs button:nth-child(3)");
    page.until("location.search === '?choice=2'");
    page.until("[...document.querySelectorAll('.output')].map((o) => o.hidden).join() === 'true,true,false'");
    // A frame leads to the choice that it went to.
    page.click(".frame[data-i='2']");
    page.until("[...document.querySelectorAll('.output')].map((o) => o.hidden).join() === 'true,false,true'");
    end(page);
}

#[test]
fn what_is_exported_and_copied_is_what_came() {
    let Some((board, mut page)) = begin("what_is_exported_and_copied_is_what_came") else { return };
    let exchange = Exchange::answer("Copy me.");
    let body: Vec<u8> = exchange.chunks.iter().flat_map(|(bytes, _)| bytes.to_vec()).collect();
    open(&board, &mut page, exchange);
    page.press("e");
    let (name, raw) = page.download(".menu a[href$='as=raw']");
    assert!(name.contains('.'), "{name}");
    assert_eq!(raw.as_bytes(), body);
    page.press("c");
    page.wait_text(".toast", "Copied");
    let copied: serde_json::Value = serde_json::from_str(&page.clipboard()).unwrap();
    assert_eq!(copied["choices"][0]["message"]["content"], "Copy me.");
    page.click(".actions button:nth-child(3)");
    page.until("navigator.clipboard.readText().then((text) => text.startsWith('curl'))");
    // Pass-through: what came is what went out, and its hash.
    page.wait_text(".facts", "in = out");
    end(page);
}

#[test]
fn a_deleted_capture_can_be_brought_back_from_its_own_page() {
    let Some((board, mut page)) = begin("a_deleted_capture_can_be_brought_back_from_its_own_page")
    else {
        return;
    };
    let id = open(&board, &mut page, marked());
    page.press("d");
    page.wait_text(".toast", "Deleted 1 capture.");
    assert!(board.store.summary(id).is_err());
    page.click(".toast button");
    page.wait(".capture-page.loaded:not(.gone)");
    page.wait_text(".verdict", "Finished.");
    assert!(board.store.summary(id).is_ok());
    end(page);
}

#[test]
fn a_plain_error_is_not_said_to_be_a_stream() {
    let Some((board, mut page)) = begin("a_plain_error_is_not_said_to_be_a_stream") else { return };
    let mut exchange = Exchange::chat([
        r#"{"error":{"message":"Slow down","type":"rate_limit_error"}}"#.to_owned(),
    ]);
    exchange.status = 429;
    exchange.content_type = "application/json";
    let id = board.put(exchange);
    page.goto(&board.url(&format!("/captures/{id}")));
    page.wait_text(".verdict", "Failed: the upstream answered 429: rate_limit_error: Slow down");
    page.wait_text(".answer-end", "The upstream answered with an error");
    page.wait_text(".finding", "The upstream answered with an error: Slow down");
    page.wait_text(".finding .why", "It is no answer.");
    end(page);
}

#[test]
fn a_frame_that_carried_nothing_says_so() {
    let Some((board, mut page)) = begin("a_frame_that_carried_nothing_says_so") else { return };
    let mut frames = chat::answer(&["Some ", "text."]);
    frames.insert(2, chat::delta(0, &serde_json::json!({})));
    open(&board, &mut page, Exchange::chat(frames));
    page.wait_text(".frame[data-i='2'] .f-what", "+0");
    page.wait_text(".frame[data-i='3'] .f-what", "text +5");
    end(page);
}
