//! Captures that grow while they are looked at, and the moment in which they end.

use bytes::Bytes;
use serde_json::json;
use teeline_capture::Ending;
use teeline_tests::{Exchange, chat, eventually};

use super::{begin, end};

fn piece(text: &str) -> Bytes {
    Bytes::from(chat::delta(0, &json!({ "content": text })))
}

#[test]
fn an_answer_is_followed_held_still_and_paused() {
    let Some((board, mut page)) = begin("an_answer_is_followed_held_still_and_paused") else {
        return;
    };
    let tap = board.begin(&Exchange::chat([]));
    for n in 0..80 {
        tap.chunk(&piece(&format!("Line {n}\n")));
    }
    page.goto(&board.url(&format!("/captures/{}", tap.id())));
    page.wait_text(".verdict", "Streaming.");
    page.wait_text(".answer", "Line 79");
    page.wait(".answer .caret");
    page.wait_text(".frames-foot", "Following");
    // Both panes are at their ends, and stay there.
    let at_end = "['.answer', '.frames-scroll'].every((s) => { const e = document.querySelector(s); return e.scrollTop + e.clientHeight >= e.scrollHeight - 40; })";
    page.until(at_end);
    tap.chunk(&piece("Line 80\nLine 81\n"));
    page.wait_text(".answer", "Line 81");
    page.until(at_end);
    // Who scrolls up is left alone, and told how much there is.
    page.evaluate("document.querySelector('.frames-scroll').scrollTop = 200");
    page.until("!/Following/.test(document.querySelector('.frames-foot').textContent)");
    page.evaluate("document.querySelector('.answer').scrollTop = 100");
    tap.chunk(&piece("Line 82\n"));
    page.wait_text(".frames-foot", "1 more · End");
    assert_eq!(page.evaluate("document.querySelector('.frames-scroll').scrollTop"), 200);
    assert_eq!(page.evaluate("document.querySelector('.answer').scrollTop"), 100);
    page.click(".frames-foot button");
    page.wait_text(".frames-foot", "Following");
    // Paused, nothing comes in, not even the end; then all of it.
    page.press(" ");
    page.wait_text(".actions", "Follow");
    tap.chunk(&piece("Line 83\n"));
    tap.chunk(&Bytes::from(chat::finish(0, "stop") + chat::DONE));
    tap.end(Ending::Clean);
    let id = tap.id();
    drop(tap);
    board.ended(id);
    assert!(!page.text(".answer").contains("Line 83"));
    assert!(page.text(".verdict").contains("Streaming."));
    page.press(" ");
    page.wait_text(".answer", "Line 83");
    page.wait_text(".verdict", "Finished.");
    page.until("document.querySelector('.actions button').hidden");
    end(page);
}

#[test]
fn a_selection_stays_while_the_answer_grows() {
    let Some((board, mut page)) = begin("a_selection_stays_while_the_answer_grows") else { return };
    let tap = board.begin(&Exchange::chat([]));
    tap.chunk(&piece("Some words"));
    tap.chunk(&piece(" to select"));
    page.goto(&board.url(&format!("/captures/{}", tap.id())));
    page.wait_text(".answer", "to select");
    page.click(".frame[data-i='1']");
    page.evaluate("globalThis.line = document.querySelector('.ln').firstChild; getSelection().setBaseAndExtent(line, 0, line, 4); document.querySelector('.frames-scroll').focus()");
    for n in 0..5 {
        tap.chunk(&piece(&format!(" and {n}")));
    }
    page.wait_text(".answer", "and 4");
    page.wait_text(".frames-pane .total", "7");
    assert_eq!(page.evaluate("getSelection().toString()"), "Some");
    assert_eq!(
        page.evaluate("line.isConnected && document.activeElement.className"),
        "frames-scroll"
    );
    assert_eq!(
        page.evaluate("[...CSS.highlights.get('linked')].map((r) => r.toString()).join()"),
        " to select"
    );
    end(page);
}

/// The upstream breaks, and the page is opened before the store has the final state: the page has to come to the
/// final state all the same.
#[test]
fn a_page_opened_between_the_break_and_the_final_state_ends_too() {
    let Some((board, mut page)) =
        begin("a_page_opened_between_the_break_and_the_final_state_ends_too")
    else {
        return;
    };
    for round in 0..4 {
        let tap = board.begin(&Exchange::chat([]));
        tap.chunk(&piece("Half of"));
        tap.chunk(&Bytes::from_static(b"data: {\"cut"));
        tap.end(Ending::UpstreamBroke { how: "reset".to_owned() });
        // While a tap is held the capture is not final: for a second the store waits for the last bytes to the app.
        let id = tap.id();
        assert_eq!(board.store.summary(id).unwrap().state, teeline_capture::State::Open);
        page.goto(&board.url(&format!("/captures/{id}")));
        if round % 2 == 1 {
            page.wait_text(".answer", "Half of");
        }
        drop(tap);
        page.wait_text(".verdict", "Did not finish");
        page.wait_text(".frames-pane .total", "2");
        page.wait_text(".frame", "text +7");
        page.until("document.querySelector('.actions button').hidden");
        page.wait_text(".finding .sentence", "The upstream broke the connection");
    }
    end(page);
}

/// A page asks for the frames and for the capture at once. If the capture ends in between, the frames lack its last ones.
#[test]
fn frames_that_come_between_two_questions_of_a_page_are_shown() {
    let Some((board, mut page)) =
        begin("frames_that_come_between_two_questions_of_a_page_are_shown")
    else {
        return;
    };
    let tap = board.begin(&Exchange::chat([]));
    let id = tap.id();
    tap.chunk(&piece("Half of"));
    tap.chunk(&Bytes::from_static(b"data: {\"cut"));
    eventually("the first frame", || {
        let summary = board.store.summary(id).ok()?;
        (summary.frames == 1).then_some(())
    });
    page.keep_back(&board.url(&format!("/api/captures/{id}")));
    page.goto(&board.url(&format!("/captures/{id}")));
    page.until("performance.getEntriesByType('resource').some(({ name, responseEnd }) => /columns/.test(name) && responseEnd > 0)");
    tap.end(Ending::UpstreamBroke { how: "reset".to_owned() });
    drop(tap);
    eventually("the end", || {
        let summary = board.store.summary(id).ok()?;
        (summary.state == teeline_capture::State::UpstreamBroke).then_some(())
    });
    page.let_go();
    page.wait_text(".verdict", "Did not finish");
    page.wait_text(".frames-pane .total", "2");
    page.wait_text(".frame", "text +7");
    end(page);
}

/// Frames that could not be had are asked for again.
#[test]
fn a_part_that_failed_says_so_and_can_be_tried_again() {
    let Some((mut board, mut page)) = begin("a_part_that_failed_says_so_and_can_be_tried_again")
    else {
        return;
    };
    let words: Vec<String> = (0..900).map(|n| format!("w{n} ")).collect();
    let id = board.put(Exchange::answer(&words.concat()));
    page.goto(&board.url(&format!("/captures/{id}")));
    page.wait_text(".frame", "w3");
    board.stop();
    page.evaluate("document.querySelector('.frames-scroll').scrollTop = 15000");
    page.wait_text(".frames-pane .part-failed", "The frames could not be loaded");
    assert!(page.text(".answer").contains("w899"));
    board.restart();
    page.click(".frames-pane .part-failed button");
    page.wait_text(".frame:not([hidden])", "w640");
    assert!(page.problems().iter().all(|problem| problem.contains("ERR_")));
}

/// Browsers allow six connections to an origin, and none of these is hidden: eight windows beside each other.
#[test]
fn eight_tabs_follow_a_stream_at_once() {
    let Some((board, mut page)) = begin("eight_tabs_follow_a_stream_at_once") else { return };
    page.run("motion", json!({ "reduced": true }));
    let tap = board.begin(&Exchange::chat([]));
    tap.chunk(&piece("It begins"));
    let path = format!("/captures/{}", tap.id());
    let tabs = ["/", &path, &path, "/", &path, &path, &path, "/"];
    let shown = |path: &str| if path == "/" { ".row .preview" } else { ".answer" };
    for (number, path) in tabs.iter().enumerate() {
        page.tab(number);
        page.goto(&board.url(path));
        page.wait_text(shown(path), "It begins");
    }
    // Some are left to load pages with.
    let places = "navigator.locks.query().then(({ held }) => held.filter((lock) => lock.name.includes('place')).length === 4)";
    page.until(places);
    tap.chunk(&piece(" and grows"));
    for (number, path) in tabs.iter().enumerate() {
        page.tab(number);
        page.wait_text(shown(path), "It begins and grows");
    }
    // A tab that is closed gives its place to another.
    page.tab(0);
    page.goto(&board.url("/read"));
    page.wait("#paste textarea");
    page.until(places);
    tap.chunk(&Bytes::from(
        chat::delta(0, &json!({ "content": " to its end." }))
            + &chat::finish(0, "stop")
            + chat::DONE,
    ));
    tap.end(Ending::Clean);
    drop(tap);
    for (number, path) in tabs.iter().enumerate().skip(1) {
        page.tab(number);
        page.wait_text(shown(path), "It begins and grows to its end.");
        if *path == "/" {
            page.wait(".row .mark.finished");
        } else {
            page.wait_text(".verdict", "Finished.");
        }
    }
    end(page);
}

#[test]
fn a_hidden_tab_has_no_connection_and_catches_up_when_it_is_shown() {
    let Some((board, mut page)) =
        begin("a_hidden_tab_has_no_connection_and_catches_up_when_it_is_shown")
    else {
        return;
    };
    let tap = board.begin(&Exchange::chat([]));
    tap.chunk(&piece("It begins"));
    let connections =
        |n: usize| format!("navigator.locks.query().then(({{ held }}) => held.length === {n})");
    // A browser without a screen hides no tab: what a page is told then is told here.
    let hidden = |is: bool| {
        format!(
            "Object.defineProperty(document, 'hidden', {{ value: {is}, configurable: true }}); document.dispatchEvent(new Event('visibilitychange'))"
        )
    };
    for (path, shown) in
        [("/".to_owned(), ".row .preview"), (format!("/captures/{}", tap.id()), ".answer")]
    {
        page.goto(&board.url(&path));
        page.wait_text(shown, "It begins");
        page.until(&connections(1));
        page.evaluate(&hidden(true));
        page.until(&connections(0));
        let more = format!(" and {}", path.len());
        tap.chunk(&piece(&more));
        let late = format!("It came{more}");
        board.put(Exchange::answer(&late));
        page.evaluate(&hidden(false));
        page.wait_text(shown, &more);
        if path == "/" {
            page.wait_text(shown, &late);
        }
        page.until(&connections(1));
    }
    end(page);
}
