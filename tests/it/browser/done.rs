//! What a new user can do without reading anything: one script for each sentence of the "done when", with a
//! budget of clicks and keys.

use bytes::Bytes;
use serde_json::json;
use teeline_capture::{Ending, Timestamp};
use teeline_tests::{Browser, Exchange, chat, get_json};

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

/// From the list: the capture, then what its head says of the longest gap.
#[test]
fn find_the_slowest_gap() {
    let Some((board, mut page)) = begin("find_the_slowest_gap") else { return };
    let words: Vec<String> = (0..60).map(|n| format!("word{n} ")).collect();
    // Longer ones stand before and after shorter ones, one before a keep-alive: only the columns tell which it is.
    let mut slow = Exchange::answer(&words.concat());
    for (frame, ms) in [(10, 1200), (25, 2500), (40, 4000), (50, 3900), (55, 1500)] {
        slow = slow.silent_before(frame, ms);
    }
    board.put(Exchange::answer("A quick one."));
    board.put(slow);
    board.put(Exchange::answer("Another quick one."));
    page.goto(&board.url("/"));
    page.wait_count(".row", 3);
    page.click(".row:has-text('word0')");
    page.wait_text(".facts", "4.05 s");
    page.click(".facts button");
    page.wait(".frame.selected");
    let id = page.address();
    let id = id.trim_start_matches("/captures/").split('?').next().unwrap().to_owned();
    // By the API it is that frame.
    let frames = get_json(board.address(), &format!("/api/captures/{id}/frames?limit=200&data=no"));
    let at: Vec<f64> =
        frames["frames"].as_array().unwrap().iter().map(|f| f["at_ms"].as_f64().unwrap()).collect();
    let gap = |i: usize| at[i] - at[i - 1];
    let longest = (1..at.len()).max_by(|a, b| gap(*a).total_cmp(&gap(*b))).unwrap();
    assert_eq!(longest, 40);
    let selected = page.evaluate("document.querySelector('.frame.selected').dataset.i");
    assert_eq!(selected, longest.to_string().as_str());
    page.wait_text(".gap-row", "4.05 s with no frame");
    within(&mut page, 2);
    end(page);
}

#[test]
fn search_for_a_phrase_in_yesterdays_answers() {
    let Some((board, mut page)) = begin("search_for_a_phrase_in_yesterdays_answers") else {
        return;
    };
    // Midnights, in microseconds, and the date, where this runs.
    page.goto(&board.url("/"));
    let midnight = |page: &mut Browser, ago: u32| {
        let day = format!(
            "(() => {{ const day = new Date(); day.setHours(0, 0, 0, 0); day.setDate(day.getDate() - {ago}); return day.getTime(); }})()"
        );
        page.evaluate(&day).as_i64().unwrap() * 1000
    };
    let (today, yesterday) = (midnight(&mut page, 0), midnight(&mut page, 1));
    let date = page.evaluate(&format!("new Date({}).toLocaleDateString('sv')", yesterday / 1000));
    let date = teeline_tests::text(&date);
    // The same phrase on each of three days, and at both ends of yesterday.
    let when = [
        ("the day before", yesterday - 1),
        ("yesterday's first", yesterday),
        ("yesterday's last", today - 1),
        ("today's first", today),
    ];
    for (n, (day, at)) in when.into_iter().enumerate() {
        board.put(Exchange {
            at: Some(Timestamp::from_micros(at)),
            ..Exchange::answer(&format!("The quarter comes to forty euro, {day}."))
        });
        board.put(Exchange {
            at: Some(Timestamp::from_micros(at)),
            ..Exchange::answer(&format!("Something else {n}, which comes up to forty."))
        });
    }
    page.wait_count(".row", 8);
    page.click("#query");
    page.type_text("\"comes to forty\" since:");
    // The day before today is offered.
    page.click(&format!("[data-option='since:{date}']"));
    page.type_text("until:");
    page.click(&format!("[data-option='until:{date}']"));
    page.wait_count(".row", 2);
    let rows = page.evaluate(
        "[...document.querySelectorAll('.row .preview')].map((p) => p.textContent).join('|')",
    );
    let rows = teeline_tests::text(&rows);
    assert!(rows.contains("yesterday's first") && rows.contains("yesterday's last"), "{rows}");
    within(&mut page, 3);
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
