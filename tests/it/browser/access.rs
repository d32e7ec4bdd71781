//! Every page for everybody: axe-core finds nothing, in both themes and at both widths; nothing captured runs; nothing
//! leaves the origin; the first paint waits for no data.

use bytes::Bytes;
use serde_json::json;
use teeline_capture::Ending;
use teeline_tests::{Board, Browser, Exchange, chat};

use super::{begin, end};

/// A store with one of each, and the pages that show them.
fn pages(board: &Board) -> Vec<String> {
    let whole =
        board.put(Exchange::answer("A whole answer.\n\nWith lines.").silent_before(4, 1800));
    let mut broken =
        Exchange::answer("It breaks in").ending(Ending::UpstreamBroke { how: "reset".to_owned() });
    broken.chunks.truncate(3);
    let broken = board.put(broken.through("anthropic"));
    let mut frames = chat::tool_calls();
    frames.remove(6);
    let tools = board.put(Exchange::chat(frames));
    let choices = board.put(Exchange::chat(chat::two_choices()));
    vec![
        "/".to_owned(),
        "/?q=nothing-like-this".to_owned(),
        format!("/captures/{whole}?frame=2&open=1"),
        format!("/captures/{whole}?tab=response"),
        format!("/captures/{whole}?tab=request"),
        format!("/captures/{whole}?at=3"),
        format!("/captures/{broken}"),
        format!("/captures/{tools}"),
        format!("/captures/{choices}"),
        format!("/compare?a={whole}&b={broken}"),
        "/compare".to_owned(),
        "/read".to_owned(),
    ]
}

fn settled(page: &mut Browser) {
    page.until("document.readyState === 'complete' && !document.querySelector('.skeleton')");
    page.until(
        "document.querySelector('.row, .welcome, .nothing, .capture-page.loaded, .compare-answer, .pick-row, #paste textarea') !== null",
    );
}

#[test]
fn axe_finds_nothing_on_any_page_in_either_theme() {
    let Some((board, mut page)) = begin("axe_finds_nothing_on_any_page_in_either_theme") else {
        return;
    };
    page.goto(&board.url("/"));
    page.wait(".welcome");
    let mut found = page.axe();
    for path in pages(&board) {
        for (scheme, width, height) in
            [("light", 1440, 900), ("dark", 1440, 900), ("light", 360, 740), ("dark", 360, 740)]
        {
            page.run("theme", json!({ "scheme": scheme }));
            page.viewport(width, height);
            page.goto(&board.url(&path));
            settled(&mut page);
            let violations = page.axe();
            found.extend(
                violations.into_iter().map(|one| format!("{path} {scheme} {width}: {one}")),
            );
        }
    }
    page.viewport(1440, 900);
    page.goto(&board.url("/"));
    page.wait(".row");
    page.press("?");
    page.wait("dialog.sheet");
    found.extend(page.axe());
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
    end(page);
}

#[test]
fn nothing_that_was_captured_runs() {
    let Some((board, mut page)) = begin("nothing_that_was_captured_runs") else { return };
    let hostile = "<img src=https://evil.example/x onerror=\"document.title='hit'\"><script>document.title='hit'</script>\u{1b}[31m\u{202e}";
    let mut frames = chat::answer(&[hostile]);
    frames.push(format!("event: {hostile}\ndata: {{}}\n\n"));
    frames.extend([chat::delta(0, &json!({ "tool_calls": [{ "index": 0, "id": hostile, "type": "function", "function": { "name": hostile, "arguments": hostile } }] }))]);
    let mut exchange = Exchange::chat(frames);
    exchange.request["model"] = json!(hostile);
    exchange.headers = vec![("x-hostile", "<script>document.title='hit'</script>")];
    let id = board.put(exchange);
    let other = board.put(Exchange::answer("Harmless."));
    let shown = ["answer", "response", "request", "headers", "usage", "frames", "findings"];
    let paths =
        shown.map(|tab| format!("/captures/{id}?tab={tab}&frame=1&open=1")).into_iter().chain([
            "/".to_owned(),
            format!("/compare?a={id}&b={other}&same=1"),
            "/compare".to_owned(),
        ]);
    for path in paths {
        page.goto(&board.url(&path));
        settled(&mut page);
        assert_ne!(page.evaluate("document.title"), "hit", "{path}");
        assert_eq!(page.count("img, iframe, object, main script"), 0, "{path}");
    }
    end(page);
}

#[test]
fn the_first_paint_waits_for_no_data_and_motion_can_be_reduced() {
    let Some((board, mut page)) =
        begin("the_first_paint_waits_for_no_data_and_motion_can_be_reduced")
    else {
        return;
    };
    for n in 0..200 {
        board.put(Exchange::answer(&format!("Answer {n}.")));
    }
    page.keep_back(&board.url("/api/**"));
    page.goto(&board.url("/"));
    page.until("performance.getEntriesByName('first-contentful-paint').length === 1");
    assert_eq!(page.count(".row"), 0);
    page.let_go();
    page.wait(".row");
    page.run("motion", json!({ "reduced": true }));
    page.until("matchMedia('(prefers-reduced-motion: reduce)').matches");
    let tap = board.begin(&Exchange::chat([]));
    tap.chunk(&Bytes::from(chat::delta(0, &json!({ "content": "Still." }))));
    page.wait(".row .mark.open");
    page.until("document.getAnimations().filter((a) => a.playState === 'running' && a.effect.getTiming().duration > 1).length === 0");
    end(page);
}

#[test]
fn lists_and_lanes_have_roles_names_and_one_tab_stop() {
    let Some((board, mut page)) = begin("lists_and_lanes_have_roles_names_and_one_tab_stop") else {
        return;
    };
    let paths = pages(&board);
    page.goto(&board.url("/"));
    page.wait_count(".row", 4);
    assert_eq!(
        page.evaluate("rows.getAttribute('role') + rows.getAttribute('aria-rowcount')"),
        "grid4"
    );
    page.press("j");
    assert_eq!(page.evaluate("document.querySelectorAll('.row[tabindex=\"0\"]').length"), 1);
    page.goto(&board.url(&paths[2]));
    page.wait(".frame");
    assert_eq!(
        page.evaluate(
            "document.querySelector('.frames-scroll').getAttribute('aria-activedescendant')"
        ),
        "frame-2"
    );
    assert_eq!(
        page.evaluate("document.querySelector('.findings-list').getAttribute('aria-live')"),
        "polite"
    );
    end(page);
}
