//! The list of captures.

use std::time::Duration;

use teeline_capture::{Ending, RequestHead};
use teeline_tests::{Board, Browser, Exchange, chat};

use super::{begin, end};

const SELECTED: &str = ".row.selected";

fn broken() -> Exchange {
    let frames = chat::answer(&["Half", " of it"]).into_iter().take(3);
    Exchange::chat(frames).ending(Ending::UpstreamBroke { how: "reset".to_owned() })
}

/// Captures that differ in upstream, state and text, and a browser that shows them.
fn filled(board: &Board, page: &mut Browser) {
    board.put(Exchange::answer("An answer about bridges."));
    board.put(broken().through("anthropic"));
    board.put(Exchange::answer("Another one about tunnels.").through("ollama"));
    page.goto(&board.url("/"));
    page.wait_count(".row", 3);
}

#[test]
fn recording_is_paused_and_goes_on_from_the_menu() {
    let Some((board, mut page)) = begin("recording_is_paused_and_goes_on_from_the_menu") else {
        return;
    };
    filled(&board, &mut page);
    page.click("#list-more");
    page.click(".menu button:first-child");
    page.wait_text("#recording", "Recording is paused");
    assert!(!board.store.recording().on);
    // Another tab, or the command line, lets it go on: this one hears of it.
    board.store.set_recording(true);
    page.until("document.querySelector('#recording').hidden");
    board.store.set_recording(false);
    page.wait_text("#recording", "Recording is paused");
    page.click("#recording button");
    page.until("document.querySelector('#recording').hidden");
    assert!(board.store.recording().on);
    assert_eq!(page.problems(), Vec::<String>::new());
}

fn crowd(board: &Board, n: usize) {
    for k in 0..n {
        board.put(Exchange::answer(&format!("Answer number {k}.")));
    }
}

/// The first row that is wholly in view, and where it stands.
const FIRST_IN_VIEW: &str = "(() => { const top = rows.getBoundingClientRect().top; \
    const row = [...document.querySelectorAll('.row')].find((r) => r.getBoundingClientRect().top >= top); \
    return [row.dataset.id, Math.round(row.getBoundingClientRect().top), rows.scrollTop]; })()";

#[test]
fn keys_move_open_and_lead_back_to_the_same_place() {
    let Some((board, mut page)) = begin("keys_move_open_and_lead_back_to_the_same_place") else {
        return;
    };
    filled(&board, &mut page);
    page.press("j");
    assert!(page.text(SELECTED).contains("tunnels"));
    page.press("ArrowDown");
    page.press("j");
    page.press("k");
    assert!(page.text(SELECTED).contains("Half of it"));
    let href = page.evaluate("document.activeElement.dataset.id");
    // The selected row has the focus and stands in the address: a link opens the same list.
    page.until("location.search.includes('sel=')");
    page.press("Enter");
    page.wait_text(".verdict", "Did not finish");
    assert_eq!(page.address(), format!("/captures/{}", href.as_str().unwrap_or_default()));
    page.press("Escape");
    page.wait(SELECTED);
    assert!(page.text(SELECTED).contains("Half of it"));
    // `/` leads to the search from everywhere, Escape out of it.
    page.press("/");
    page.until("document.activeElement.id === 'query'");
    page.press("Escape");
    page.press("Escape");
    page.until("document.activeElement.id !== 'query'");
    page.press("g");
    page.press("r");
    page.wait("#paste");
    page.press("/");
    page.until("document.activeElement.id === 'query'");
    end(page);
}

#[test]
fn segments_and_searches_are_steps_of_the_history() {
    let Some((board, mut page)) = begin("segments_and_searches_are_steps_of_the_history") else {
        return;
    };
    filled(&board, &mut page);
    page.wait_text("[data-segment=all] .count", "3");
    page.wait_text("[data-segment=broken] .count", "1");
    page.click("[data-segment=broken]");
    page.wait_count(".row", 1);
    assert_eq!(page.address(), "/?q=state%3Abroken");
    // The other segments still say what they would have.
    page.wait_text("[data-segment=all] .count", "3");
    page.click("[data-segment=all]");
    page.wait_count(".row", 3);
    page.fill("#query", "tunnels");
    page.wait_count(".row", 1);
    page.until("location.search === '?q=tunnels'");
    page.back();
    page.wait_count(".row", 3);
    page.back();
    page.wait_count(".row", 1);
    assert!(page.text(".row").contains("Half of it"));
    page.forward();
    page.forward();
    page.wait_text(".row", "tunnels");
    assert_eq!(page.evaluate("query.value"), "tunnels");
    // What matches nothing says how much it hides, and leads back.
    page.fill("#query", "no such words");
    page.wait_text("#list-state", "3 are hidden by this search");
    page.click("#list-state button");
    page.wait_count(".row", 3);
    end(page);
}

#[test]
fn filters_complete_become_chips_and_open_again() {
    let Some((board, mut page)) = begin("filters_complete_become_chips_and_open_again") else {
        return;
    };
    filled(&board, &mut page);
    page.press("/");
    page.type_text("ups");
    page.wait_text(".completions", "upstream:");
    page.press("ArrowDown");
    page.press("Enter");
    // Values that the list has shown are offered.
    page.wait_text(".completions", "ollama");
    page.type_text("oll");
    page.press("ArrowDown");
    page.press("Tab");
    page.wait_count(".filter", 1);
    page.wait_count(".row", 1);
    page.press("Backspace");
    page.wait_count(".filter", 0);
    assert_eq!(page.evaluate("query.value"), "upstream:ollama");
    page.fill("#query", "-upstream:ollama ");
    page.wait_count(".row", 2);
    page.click(".filter button");
    page.wait_count(".row", 3);
    // A value that does not exist is named, with those that do.
    page.fill("#query", "state:finished ");
    page.wait_text(".problem-line", "upstream-broke");
    assert!(page.problems().iter().all(|problem| problem.contains("400")));
    end(page);
}

#[test]
fn new_rows_wait_behind_a_pill_while_the_reader_is_elsewhere() {
    let Some((board, mut page)) =
        begin("new_rows_wait_behind_a_pill_while_the_reader_is_elsewhere")
    else {
        return;
    };
    crowd(&board, 60);
    page.goto(&board.url("/"));
    page.wait(".row");
    page.evaluate("rows.scrollTop = 700");
    page.until("Math.abs(rows.scrollTop - 700) < 1");
    let before = page.evaluate(FIRST_IN_VIEW);
    crowd(&board, 3);
    page.wait_text("#pill", "3 new");
    page.wait_text("#hint-note", "63");
    assert_eq!(page.evaluate(FIRST_IN_VIEW), before);
    page.click("#pill");
    page.until("rows.scrollTop === 0");
    page.until("document.querySelector('#pill').hidden");
    assert!(page.text(".row").contains("Answer number 2."));
    // At the top they come by themselves, unless the list is paused.
    crowd(&board, 1);
    page.until("rows.getAttribute('aria-rowcount') === '64'");
    page.until("document.querySelector('.row').textContent.includes('Answer number 0.')");
    page.press(" ");
    page.until("pause.getAttribute('aria-pressed') === 'true'");
    crowd(&board, 2);
    page.wait_text("#pill", "2 new");
    page.press(" ");
    page.until("document.querySelector('#pill').hidden");
    // Nothing moves under a pressed pointer.
    page.run("hold", serde_json::json!({ "selector": ".row:nth-child(2)" }));
    crowd(&board, 1);
    page.wait_text("#pill", "1 new");
    page.press("g");
    page.press("g");
    end(page);
}

#[test]
fn live_changes_keep_focus_scroll_and_selected_text() {
    let Some((board, mut page)) = begin("live_changes_keep_focus_scroll_and_selected_text") else {
        return;
    };
    crowd(&board, 40);
    let open = Exchange::chat([]);
    let tap = board.begin(&open);
    let frames = chat::answer(&["It", " grows", " and", " grows."]);
    tap.chunk(&bytes::Bytes::from(frames[..2].concat()));
    page.goto(&board.url("/"));
    page.wait_text(".row", "It");
    page.press("j");
    page.press("j");
    let focused = page.evaluate("document.activeElement.dataset.id");
    page.evaluate("globalThis.kept = document.activeElement; const text = kept.querySelector('.preview').firstChild; \
        getSelection().setBaseAndExtent(text, 0, text, 6)");
    tap.chunk(&bytes::Bytes::from(frames[2..].concat()));
    page.wait_text(".row", "It grows and grows.");
    tap.end(Ending::Clean);
    drop(tap);
    page.until("!document.querySelector('.row .mark.open')");
    assert_eq!(page.evaluate("document.activeElement.dataset.id"), focused);
    assert_eq!(page.evaluate("kept === document.activeElement && kept.isConnected"), true);
    assert_eq!(page.evaluate("getSelection().toString()"), "Answer");
    end(page);
}

#[test]
fn what_is_deleted_can_be_brought_back() {
    let Some((board, mut page)) = begin("what_is_deleted_can_be_brought_back") else { return };
    filled(&board, &mut page);
    page.press("j");
    page.press("d");
    page.wait_count(".row", 2);
    page.wait_text(".toast", "Deleted 1 capture.");
    page.click(".toast button");
    page.wait_count(".row", 3);
    // A search, then all that it shows; what it does not show stays.
    page.fill("#query", "bridges");
    page.wait_count(".row", 1);
    page.click("#list-more");
    page.click(".menu .danger");
    page.wait_text("dialog", "Delete this capture?");
    page.click("dialog .danger");
    page.wait_text("#list-state", "No capture matches.");
    page.wait_text(".toast", "Deleted 1 capture.");
    page.click(".toast button");
    page.wait_count(".row", 1);
    page.press("Escape");
    page.press("Escape");
    page.wait_count(".row", 3);
    page.click("#list-more");
    page.click(".menu .danger");
    page.wait_text("dialog", "Delete all 3 captures (");
    page.click("dialog .danger");
    page.wait(".welcome");
    page.click(".toast button");
    page.wait_count(".row", 3);
    end(page);
}

/// How much is kept and how far back it goes is said; all of it goes in three clicks, and comes back in one.
#[test]
fn the_stores_size_and_age_are_said_and_all_of_it_is_cleared() {
    let Some((board, mut page)) =
        begin("the_stores_size_and_age_are_said_and_all_of_it_is_cleared")
    else {
        return;
    };
    page.goto(&board.url("/"));
    page.wait_text("#hint-note", "captures stay on this machine");
    board.put(Exchange::answer("Three days ago.").ago(Duration::from_hours(73)));
    page.wait_text("#hint-note", "1 capture");
    page.wait_text("#hint-note", "oldest 3 d");
    // The store in memory keeps 256 MiB.
    page.wait_text("#hint-note", " of 268.4 MB");
    let note = page.evaluate("document.querySelector('#hint-note span[title]').title");
    assert_eq!(
        note,
        "The oldest are deleted when all take more than 268.4 MB. Captures older than 14 days are deleted."
    );
    let open = board.begin(&Exchange::chat([]));
    page.wait_count(".row", 2);
    page.actions();
    page.click("#list-more");
    page.wait_text(".menu .danger", "Delete all captures");
    page.click(".menu .danger");
    page.wait_text("dialog", "Delete the only capture ");
    page.wait_text("dialog", "Open streams stay.");
    let question = page.text("dialog");
    assert!(question.contains(" B)") || question.contains(" MB)"), "{question}");
    page.click("dialog .danger");
    // What is still open stays.
    page.wait_count(".row", 1);
    page.wait(".row .mark.open");
    page.click(".toast button");
    page.wait_count(".row", 2);
    assert_eq!(page.actions(), 4);
    drop(open);
    end(page);
}

#[test]
fn the_empty_state_tells_how_to_begin_and_becomes_the_first_capture() {
    let Some((board, mut page)) =
        begin("the_empty_state_tells_how_to_begin_and_becomes_the_first_capture")
    else {
        return;
    };
    page.goto(&board.url("/"));
    page.wait(".welcome");
    for line in [
        "OPENAI_BASE_URL=http://127.0.0.1:4780/openai/v1",
        "client = OpenAI(base_url=\"http://127.0.0.1:4780/openai/v1\")",
        "new OpenAI({ baseURL: \"http://127.0.0.1:4780/openai/v1\" })",
        "genai.Client(http_options={\"base_url\": \"http://127.0.0.1:4780/gemini\"})",
        "curl -N http://127.0.0.1:4780/openai/v1/chat/completions",
    ] {
        page.wait_text(".lines", line);
    }
    page.press("2");
    page.wait_text(".line button", "Copied");
    assert!(page.clipboard().contains("OpenAI(base_url=\"http://127.0.0.1:4780/openai/v1\")"));
    page.click(".picker button:nth-child(3)");
    page.wait_text(".lines", "http://127.0.0.1:4780/ollama/v1");
    board.put(Exchange::answer("The first."));
    page.wait_text(".row", "The first.");
    assert_eq!(page.count(".welcome"), 0);
    end(page);
}

#[test]
fn a_lost_connection_is_said_and_what_came_meanwhile_is_caught_up() {
    let Some((mut board, mut page)) =
        begin("a_lost_connection_is_said_and_what_came_meanwhile_is_caught_up")
    else {
        return;
    };
    filled(&board, &mut page);
    board.stop();
    page.wait_text("#banner", "Lost the connection to teeline.");
    crowd(&board, 2);
    board.restart();
    page.wait_text("#banner", "Back. 2 captures came meanwhile.");
    page.wait_count(".row", 5);
    // What the browser says of the connection itself is no fault of the page.
    assert!(page.problems().iter().all(|problem| problem.contains("ERR_")));
}

#[test]
fn times_are_relative_on_hover_and_days_have_a_row() {
    let Some((board, mut page)) = begin("times_are_relative_on_hover_and_days_have_a_row") else {
        return;
    };
    board.put(Exchange::answer("Long ago.").ago(Duration::from_hours(72)));
    board.put(Exchange::answer("A while ago.").ago(Duration::from_mins(5)));
    page.goto(&board.url("/"));
    page.wait_count(".row", 2);
    page.wait(".day");
    page.hover(".row .c-time", (0.5, 0.5));
    page.until("/(5 minutes|yesterday|ago)/.test(document.querySelector('.row .c-time').title)");
    end(page);
}

#[test]
fn a_capture_is_exported_from_the_list_and_two_are_marked_to_compare() {
    let Some((board, mut page)) =
        begin("a_capture_is_exported_from_the_list_and_two_are_marked_to_compare")
    else {
        return;
    };
    filled(&board, &mut page);
    page.press("j");
    page.press("e");
    let (name, text) = page.download(".menu a[href$='as=text']");
    assert!(name.contains('.'), "{name}");
    assert_eq!(text.trim_end(), "Another one about tunnels.");
    page.press("x");
    page.wait_text(".row.selected .c-mark", "A");
    page.press("j");
    page.press("j");
    page.press("x");
    page.wait_text(".verdict", "differ");
    assert!(page.address().starts_with("/compare?a="));
    end(page);
}

#[test]
fn an_ending_says_why_in_both_languages() {
    let Some((board, mut page)) = begin("an_ending_says_why_in_both_languages") else { return };
    let mut failing = Exchange::chat([]);
    failing.chunks = [
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    ]
    .into_iter()
    .map(|frame| (frame.into(), 100))
    .collect();
    board.put(failing.through("anthropic"));
    let tap = board.store.recorder().begin(RequestHead {
        upstream: "vllm".to_owned(),
        method: "POST".to_owned(),
        target: "/vllm/v1/chat/completions".to_owned(),
        url: "http://127.0.0.1:8000/v1/chat/completions".to_owned(),
        version: "HTTP/1.1",
        headers: vec![],
        client: None,
    });
    tap.end(Ending::Failed {
        kind: "connect-failed".to_owned(),
        message:
            "no connection to 127.0.0.1 port 8000 (refused); is it running, and is its URL right?"
                .to_owned(),
    });
    let failed = tap.id();
    drop(tap);
    board.ended(failed);
    page.goto(&board.url("/"));
    page.wait_text(".row .chip", "overloaded_error in frame 1");
    page.wait_text(".row", "connect-failed: no connection to 127.0.0.1 port 8000 (refused)");
    page.click("#language");
    page.wait_text(".row .chip", "第 1 帧 overloaded_error");
    page.wait_text(".row", "connect-failed：无法连接 127.0.0.1 端口 8000（refused）");
    page.goto(&board.url(&format!("/captures/{failed}")));
    page.wait_text(".verdict", "无法连接 127.0.0.1 端口 8000（refused）");
    end(page);
}
