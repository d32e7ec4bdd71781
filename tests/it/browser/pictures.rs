//! Pictures of every page at both widths, in both themes and both languages, for people to look at beside the design:
//! `target/pictures`, or where `TEELINE_PICTURES` says. What is held here is that nothing sticks out to the side.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use teeline_capture::Ending;
use teeline_tests::{Board, Exchange, chat};

use super::{begin, end};

fn folder() -> PathBuf {
    let named = std::env::var_os("TEELINE_PICTURES").map(PathBuf::from);
    let test = std::env::current_exe().unwrap();
    named.unwrap_or_else(|| test.ancestors().nth(3).unwrap().join("pictures"))
}

const STREET: &str = "Here are the basic steps for safely crossing the street:\n\n**At intersections with traffic lights:**\n\
    - Wait for the pedestrian \"Walk\" signal\n- Look both ways before stepping into the street\n\
    - Make eye contact with drivers when possible\n\n**At intersections without signals:**\n\
    - Use crosswalks when available\n- Stop at the curb and look left, right, then left again\n- Walk briskly but don't run\n";

/// A list as people have it, and the pages of some of its captures.
fn fill(board: &Board) -> Vec<(&'static str, String)> {
    board.put(Exchange::answer("Yesterday's answer.").ago(Duration::from_hours(30)));
    for n in 0..12 {
        let upstream = ["openai", "anthropic", "ollama"][n % 3];
        board.put(
            Exchange::answer(&format!("Answer number {n}, as it goes on all day."))
                .through(upstream)
                .ago(Duration::from_mins(90 - n as u64)),
        );
    }
    let mut frames = chat::answer(&STREET.split_inclusive(' ').collect::<Vec<_>>());
    for (n, words) in ["The user asks", " for basic steps,", " so be short."].iter().enumerate() {
        frames.insert(1 + n, chat::delta(0, &json!({ "reasoning_content": words })));
    }
    let whole = board.put(Exchange::chat(frames).silent_before(4, 3240).silent_before(30, 1590));
    let other = board.put(
        Exchange::answer(&STREET.replace("don't", "don\u{fffd}t"))
            .through("anthropic")
            .silent_before(9, 1760),
    );
    let mut tools = chat::tool_calls();
    tools.remove(6);
    let tools = board.put(Exchange::chat(tools));
    let choices = board.put(Exchange::chat(chat::two_choices()));
    let mut broken =
        Exchange::answer(STREET).ending(Ending::UpstreamBroke { how: "reset".to_owned() });
    broken.chunks.truncate(30);
    let broken = board.put(broken.through("anthropic"));
    vec![
        ("list", "/".to_owned()),
        ("capture", format!("/captures/{whole}?frame=26&open=1")),
        ("capture-scrubbed", format!("/captures/{whole}?at=20")),
        ("capture-broken", format!("/captures/{broken}")),
        ("capture-tools", format!("/captures/{tools}")),
        ("capture-choices", format!("/captures/{choices}")),
        ("compare", format!("/compare?a={whole}&b={other}")),
        ("pick", "/compare".to_owned()),
        ("read", "/read".to_owned()),
    ]
}

#[test]
fn every_page_has_its_picture_and_nothing_sticks_out() {
    let Some((board, mut page)) = begin("every_page_has_its_picture_and_nothing_sticks_out") else {
        return;
    };
    let folder = folder();
    std::fs::create_dir_all(&folder).unwrap();
    page.goto(&board.url("/"));
    page.wait(".welcome");
    page.screenshot(&folder.join("empty.png"));
    let pages = fill(&board);
    let tap = board.begin(&Exchange::chat([]).through("anthropic"));
    tap.chunk(&Bytes::from(chat::delta(
        0,
        &json!({ "content": "The retry loop never sees the reset, because" }),
    )));
    for language in ["en", "zh"] {
        page.goto(&board.url("/"));
        page.evaluate(&format!("localStorage.setItem('teeline-language', '{language}')"));
        for (name, path) in &pages {
            for (scheme, width, height) in
                [("light", 1280, 800), ("dark", 1280, 800), ("light", 360, 740), ("dark", 360, 740)]
            {
                page.run("theme", json!({ "scheme": scheme }));
                page.viewport(width, height);
                page.goto(&board.url(path));
                page.until("document.querySelector('.row, .capture-page.loaded, .compare-answer, .pick-row, #paste textarea') !== null");
                if *name == "read" {
                    page.click("#examples button:nth-child(3)");
                    page.wait_text(".answer", "write");
                }
                page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
                let over = page.evaluate(
                    "[document.documentElement, document.body, document.querySelector('main')].map((e) => e.scrollWidth - e.clientWidth).join()",
                );
                assert_eq!(over, "0,0,0", "{name} {scheme} {width} {language}");
                page.screenshot(&folder.join(format!("{name}-{width}-{scheme}-{language}.png")));
            }
        }
    }
    end(page);
}
