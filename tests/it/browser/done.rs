//! What a new user can do without reading anything: one script for each sentence of the "done when", with a
//! budget of clicks and keys.

use bytes::Bytes;
use serde_json::json;
use std::time::Duration;
use teeline_capture::Ending;
use teeline_tests::{Browser, Exchange, chat};

use super::{begin, end};

/// No more clicks and keys than these were needed.
fn within(page: &mut Browser, budget: u64) {
    let used = page.actions();
    assert!(used <= budget, "{used} clicks and keys, {budget} were allowed");
}

#[test]
fn point_an_sdk_at_it_and_watch_the_first_answer_grow() {
    let Some((board, mut page)) = begin("point_an_sdk_at_it_and_watch_the_first_answer_grow")
    else {
        return;
    };
    page.goto(&board.url("/"));
    page.wait(".welcome");
    page.click(".line:nth-child(2) button");
    assert!(page.clipboard().contains("http://127.0.0.1:4780/openai/v1"));
    let tap = board.begin(&Exchange::chat([]));
    tap.chunk(&Bytes::from(chat::delta(0, &json!({ "content": "It begins" }))));
    // The row comes by itself, and grows.
    page.wait_text(".row .preview", "It begins");
    tap.chunk(&Bytes::from(chat::delta(0, &json!({ "content": " and grows" }))));
    page.wait_text(".row .preview", "It begins and grows");
    page.click(".row");
    page.wait_text(".answer", "It begins and grows");
    tap.chunk(&Bytes::from(
        chat::delta(0, &json!({ "content": " to its end." }))
            + &chat::finish(0, "stop")
            + chat::DONE,
    ));
    page.wait_text(".answer", "to its end.");
    tap.end(Ending::Clean);
    drop(tap);
    page.wait_text(".verdict", "Finished.");
    within(&mut page, 2);
    end(page);
}

#[test]
fn find_out_why_a_broken_stream_broke() {
    let Some((board, mut page)) = begin("find_out_why_a_broken_stream_broke") else { return };
    for n in 0..30 {
        board.put(Exchange::answer(&format!("Whole answer {n}.")));
    }
    let mut broken = Exchange::answer("It breaks in the middle of")
        .ending(Ending::UpstreamBroke { how: "reset".to_owned() });
    broken.chunks.truncate(5);
    board.put(broken);
    for n in 0..30 {
        board.put(Exchange::answer(&format!("Later answer {n}.")));
    }
    page.goto(&board.url("/"));
    page.wait(".row");
    page.click("[data-segment=broken]");
    page.wait_count(".row", 1);
    page.click(".row");
    page.wait_text(".verdict", "the upstream reset the connection after frame 4");
    page.wait_text(
        ".finding .sentence",
        "The upstream broke the connection (reset) after 5 frames",
    );
    page.wait_text(".finding .why", "a limit on time or size shows as the same number each time");
    within(&mut page, 2);
    end(page);
}

#[test]
fn find_the_slowest_gap() {
    let Some((board, mut page)) = begin("find_the_slowest_gap") else { return };
    let words: Vec<String> = (0..60).map(|n| format!("word{n} ")).collect();
    let id = board.put(Exchange::answer(&words.concat()).silent_before(40, 4000));
    page.goto(&board.url(&format!("/captures/{id}")));
    page.wait(".frame");
    // How long it was stands in the strip of facts, where it was one key away.
    page.wait_text(".facts", "4.05 s");
    page.press("Shift+ArrowRight");
    page.wait(".frame.selected[data-i='40']");
    page.wait_text(".gap-row", "4.05 s with no frame");
    within(&mut page, 1);
    end(page);
}

#[test]
fn search_for_a_phrase_in_yesterdays_answers() {
    let Some((board, mut page)) = begin("search_for_a_phrase_in_yesterdays_answers") else {
        return;
    };
    board.put(Exchange::answer("The quarter comes to forty euro.").ago(Duration::from_hours(26)));
    for n in 0..20 {
        board.put(Exchange::answer(&format!("Something else {n}.")));
    }
    page.goto(&board.url("/"));
    page.wait(".row");
    page.click("#query");
    page.type_text("\"comes to forty\"");
    page.wait_count(".row", 1);
    page.wait_text(".row", "The quarter comes to forty euro.");
    within(&mut page, 1);
    end(page);
}

#[test]
fn compare_two_captures() {
    let Some((board, mut page)) = begin("compare_two_captures") else { return };
    board.put(Exchange::answer("The same answer but for one word."));
    board.put(Exchange::answer("The same answer but for one thing."));
    page.goto(&board.url("/"));
    page.wait_count(".row", 2);
    page.click(".nav[href='/compare']");
    page.wait_count(".pick-row", 2);
    page.click(".pick-row:nth-child(1)");
    page.wait_text(".pick h1", "another");
    page.click(".pick-row:not(:disabled)");
    page.wait_text(".verdict", "The answers differ in 1 of 1 line.");
    page.wait_text(".diff-row mark", "word");
    within(&mut page, 3);
    end(page);
}

#[test]
fn copy_the_response_json() {
    let Some((board, mut page)) = begin("copy_the_response_json") else { return };
    board.put(Exchange::answer("To be copied."));
    page.goto(&board.url("/"));
    page.click(".row");
    page.wait_text(".answer", "To be copied.");
    page.click(".actions button:has(use[href='#i-copy'])");
    page.wait_text(".actions", "Copied");
    let copied: serde_json::Value = serde_json::from_str(&page.clipboard()).unwrap();
    assert_eq!(copied["choices"][0]["message"]["content"], "To be copied.");
    within(&mut page, 2);
    end(page);
}

#[test]
fn export_a_stream_and_paste_it_back() {
    let Some((board, mut page)) = begin("export_a_stream_and_paste_it_back") else { return };
    board.put(Exchange::answer("There and back again.").silent_before(3, 1500));
    page.goto(&board.url("/"));
    page.click(".row");
    page.wait_text(".answer", "There and back again.");
    page.click(".actions button:has(use[href='#i-export'])");
    page.click(".menu button:has-text('Copy stamped')");
    page.wait_text(".toast", "Copied");
    page.click(".nav[href='/read']");
    page.wait("#paste textarea");
    page.press("Control+v");
    page.wait_text(".answer", "There and back again.");
    // With its times: the silence is where it was.
    page.wait_text(".facts", "1.55 s");
    within(&mut page, 5);
    end(page);
}
