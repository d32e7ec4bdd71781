//! The dashboard in a real Chromium.

mod access;
mod capture;
mod compare;
mod done;
mod lane;
mod language;
mod list;
mod live;
mod pictures;
mod read;
mod real;
mod scale;

use serde_json::json;
use teeline_script::Script;
use teeline_tests::{Board, Browser, Need, World, available, block_on, chat};

/// A dashboard with nothing in it and a browser, where there is one.
fn begin(suite: &str) -> Option<(Board, Browser)> {
    available(suite, &[Need::Chromium]).then(|| (Board::start(), Browser::start()))
}

/// No page did anything that it should never do.
fn end(mut page: Browser) {
    assert_eq!(page.problems(), Vec::<String>::new());
}

#[test]
fn a_capture_appears_grows_and_ends() {
    if !available("a_capture_appears_grows_and_ends", &[Need::Chromium]) {
        return;
    }
    let world = World::start(|_| {
        Script::sse_head()
            .chunk(chat::delta(0, &json!({ "role": "assistant", "content": "First words" })))
            .gate("more")
            .chunk(chat::delta(0, &json!({ "content": ", then more" })))
            .gate("end")
            .chunk(chat::delta(0, &json!({ "content": ", then the last." })))
            .chunk(chat::finish(0, "stop"))
            .chunk(chat::usage())
            .chunk(chat::DONE)
            .last_chunk()
    });
    let mut browser = Browser::start();
    let home = format!("http://{}/", world.teeline.dashboard);
    browser.goto(&home);
    // Nothing yet: the page tells how to begin, with this proxy's own address.
    browser.wait_text("body", &format!("http://{}/test/v1", world.teeline.proxy));

    let mut client = world.ask();
    browser.wait_text("body", "First words");
    block_on(world.upstream.reached("more"));

    let id = teeline_tests::text(&world.newest()["id"]).to_owned();
    browser.goto(&format!("{home}captures/{id}"));
    browser.wait_text("body", "First words");
    world.upstream.open_gate("more");
    browser.wait_text("body", "First words, then more");
    block_on(world.upstream.reached("end"));
    world.upstream.open_gate("end");
    assert!(client.response().whole);
    browser.wait_text("body", "First words, then more, then the last.");
    browser.wait_text("body", "Finished");
    // Every frame is listed, those that came after the page was opened, too.
    for carried in ["text +11", "text +16", "finish stop", "usage"] {
        browser.wait_text("body", carried);
    }
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
fn a_break_is_seen_while_it_happens() {
    if !available("a_break_is_seen_while_it_happens", &[Need::Chromium]) {
        return;
    }
    let world = World::start(|_| {
        Script::sse_head()
            .chunk(chat::delta(0, &json!({ "role": "assistant", "content": "Half of" })))
            .gate("break")
            .bytes("40\r\ndata: {\"cut")
            .rst()
    });
    let mut browser = Browser::start();
    let mut client = world.ask();
    block_on(world.upstream.reached("break"));
    let id = teeline_tests::eventually("the first text", || {
        let newest = world.newest();
        (newest["preview"] == "Half of").then(|| teeline_tests::text(&newest["id"]).to_owned())
    });
    browser.goto(&format!("http://{}/captures/{id}", world.teeline.dashboard));
    browser.wait_text("body", "Half of");
    world.upstream.open_gate("break");
    assert!(!client.response().whole);
    for said in
        ["Did not finish", "reset", "text +7", "The stream was cut in the middle of a frame"]
    {
        browser.wait_text("body", said);
    }
    assert_eq!(browser.problems(), Vec::<String>::new());
}
