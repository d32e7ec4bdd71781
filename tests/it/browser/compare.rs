//! Two captures compared.

use serde_json::json;
use teeline_capture::CaptureId;
use teeline_tests::{Board, Browser, Exchange, chat};

use super::{begin, end};

const TEXT: &str = "One\nTwo\nThree\nFour\nFive\nSix\nSeven\nEight\nNine\nTen\nEleven\nTwelve\nIt's the last line.\n";

/// Two captures of nearly the same answer: B has another quote in its last line, is slower, lacks a field of the
/// request and has headers of its own.
fn pair(board: &Board) -> (CaptureId, CaptureId) {
    let a = Exchange {
        headers: vec![("x-request-id", "req_1"), ("server", "same")],
        ..Exchange::answer(TEXT)
    };
    let mut b = Exchange::answer(&TEXT.replace("It's", "It\u{2019}s"))
        .through("anthropic")
        .silent_before(4, 2550);
    b.headers = vec![("x-request-id", "req_2"), ("server", "same"), ("via", "gateway")];
    b.content_type = "text/plain";
    b.request = json!({
        "model": "test-model", "stream": true,
        "messages": [{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "Please answer." }],
    });
    (board.put(a), board.put(b))
}

fn open(board: &Board, page: &mut Browser) -> (CaptureId, CaptureId) {
    let (a, b) = pair(board);
    page.goto(&board.url(&format!("/compare?a={a}&b={b}")));
    page.wait(".compare-answer");
    (a, b)
}

#[test]
fn two_captures_are_aligned_by_content() {
    let Some((board, mut page)) = begin("two_captures_are_aligned_by_content") else { return };
    let (_, b) = open(&board, &mut page);
    page.wait_text(".verdict", "Same answer but for one character.");
    page.wait_text(".verdict", "Through anthropic it took 2.55 s longer");
    page.wait_text(".compare-answer .pane-head", "1 line differs of 13");
    page.wait_count(".diff-row.differs", 1);
    assert_eq!(page.evaluate("[...document.querySelectorAll('.diff-row.differs mark')].map((m) => m.textContent).join()"), "',\u{2019}");
    // Far from the difference it folds, and opens.
    page.wait_text(".compare-answer .fold", "6 lines the same");
    page.click(".compare-answer .fold");
    page.wait_count(".diff-row", 13);
    // The request by its fields: an inserted message moves no other.
    let requests = page.text("#section-3");
    assert!(requests.contains("temperature") && requests.contains("(not sent)"), "{requests}");
    assert!(requests.contains("messages[0]") && requests.contains("Be brief."), "{requests}");
    assert!(!requests.contains("messages[1]"), "{requests}");
    let headers = page.text("#response-headers");
    assert!(
        headers.contains("req_1") && headers.contains("via") && !headers.contains("server:"),
        "{headers}"
    );
    // Numbers with their difference.
    let table = page.text(".numbers-table");
    assert!(table.contains("+2.55 s"), "{table}");
    // A finding that only one has leads to its frame there.
    page.wait_text("#section-4", "Only in B");
    page.click("#section-4 a.frame-link");
    page.wait(".capture-page.loaded");
    assert!(page.address().starts_with(&format!("/captures/{b}?finding=")), "{}", page.address());
    end(page);
}

#[test]
fn keys_step_through_differences_swap_and_show_what_is_the_same() {
    let Some((board, mut page)) =
        begin("keys_step_through_differences_swap_and_show_what_is_the_same")
    else {
        return;
    };
    let (a, b) = open(&board, &mut page);
    page.press("j");
    page.wait(".diff-row.differs.current");
    assert!(page.address().ends_with("diff=0"));
    page.press("j");
    page.wait(".pair.current");
    page.press("k");
    page.wait(".diff-row.differs.current");
    page.press("=");
    page.wait_count(".compare-answer .fold", 0);
    assert!(page.address().contains("same=1"));
    page.reload();
    page.wait_count(".diff-row", 13);
    page.press("=");
    page.wait_count(".compare-answer .fold", 1);
    page.press("4");
    page.until("document.activeElement.id === 'section-4'");
    page.press("s");
    page.wait_text(".compare-side-head", "anthropic");
    assert!(page.address().starts_with(&format!("/compare?a={b}&b={a}")));
    page.back();
    page.wait_text(".compare-side-head", "openai");
    page.click(".compare-head .actions button:nth-child(2)");
    page.click(".menu button");
    page.until("navigator.clipboard.readText().then((text) => text.includes('A It'))");
    let copied = page.clipboard();
    assert!(copied.contains("A It's the last line.\nB It\u{2019}s the last line."), "{copied}");
    page.click("#language");
    page.wait_text(".verdict", "回答只差一个字符。");
    end(page);
}

#[test]
fn what_is_to_be_compared_is_chosen_from_the_newest() {
    let Some((board, mut page)) = begin("what_is_to_be_compared_is_chosen_from_the_newest") else {
        return;
    };
    page.goto(&board.url("/compare"));
    page.wait_text(".pick", "There is no capture yet.");
    let (a, b) = pair(&board);
    page.reload();
    page.wait_count(".pick-row", 2);
    page.click(".pick-row:nth-child(2)");
    page.wait_text(".pick h1", "Compare with another capture");
    page.click(".pick-row:not(:disabled)");
    page.wait(".compare-answer");
    assert_eq!(page.address(), format!("/compare?a={a}&b={b}"));
    page.back();
    page.wait_text(".pick h1", "Compare with another capture");
    // From a capture: with the one that was marked, else with one to be chosen.
    page.goto(&board.url(&format!("/captures/{a}")));
    page.wait(".capture-page.loaded");
    page.press("x");
    page.wait_text(".toast", "Marked as A.");
    page.goto(&board.url(&format!("/captures/{b}")));
    page.wait(".capture-page.loaded");
    page.click(".actions button:has(use[href='#i-compare'])");
    page.wait(".compare-answer");
    assert_eq!(page.address(), format!("/compare?a={a}&b={b}"));
    // What is gone is said.
    page.goto(&board.url(&format!("/compare?a={a}&b=0190b6a5-2f4e-7c31-9d2a-5b8f0e6a1c77")));
    page.wait_text(".part-failed", "This capture was deleted.");
    assert!(page.problems().iter().all(|problem| problem.contains("404")));
}

#[test]
fn tool_calls_are_compared_by_what_is_called_with_what() {
    let Some((board, mut page)) = begin("tool_calls_are_compared_by_what_is_called_with_what")
    else {
        return;
    };
    let a = board.put(Exchange::chat(chat::tool_calls()));
    let frames = chat::tool_calls()
        .into_iter()
        .map(|frame| frame.replace("Atlantic/", "Europe/").replace("call_a", "call_z"));
    let b = board.put(Exchange::chat(frames));
    page.goto(&board.url(&format!("/compare?a={a}&b={b}")));
    page.wait(".compare-answer");
    page.wait_text(".same-piece", "get_weather");
    page.wait_count(".diff-row.differs", 1);
    assert_eq!(
        page.evaluate(
            "[...document.querySelectorAll('.differs mark')].map((m) => m.textContent).join()"
        ),
        "Atlantic,Europe"
    );
    end(page);
}
