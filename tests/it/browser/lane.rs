//! The time lane and the histogram of gaps.

use teeline_tests::{Board, Browser, Exchange};

use super::{begin, end};

/// Forty words over about five seconds, with silences of two and of one and a half seconds in them.
fn open(board: &Board, page: &mut Browser) {
    let words: Vec<String> = (0..40).map(|n| format!("word{n} ")).collect();
    let exchange =
        Exchange::answer(&words.concat()).silent_before(10, 2000).silent_before(25, 1500);
    let id = board.put(exchange);
    page.goto(&board.url(&format!("/captures/{id}")));
    page.wait(".frame");
}

#[test]
fn the_lane_says_its_milestones_and_gaps_and_is_worked_by_keys() {
    let Some((board, mut page)) =
        begin("the_lane_says_its_milestones_and_gaps_and_is_worked_by_keys")
    else {
        return;
    };
    open(&board, &mut page);
    page.until("/first text 0.55 s/.test(document.querySelector('.lane-canvas').getAttribute('aria-label'))");
    let label = page.evaluate("document.querySelector('.lane-canvas').getAttribute('aria-label')");
    let label = label.as_str().unwrap_or_default().to_owned();
    assert!(label.contains("2.05 s with no frame from 0.950"), "{label}");
    page.press("Shift+ArrowRight");
    page.wait(".frame.selected[data-i='10']");
    page.press("Shift+ArrowRight");
    page.wait(".frame.selected[data-i='25']");
    page.press("Shift+ArrowLeft");
    page.wait(".frame.selected[data-i='10']");
    page.press("ArrowRight");
    page.wait(".frame.selected[data-i='11']");
    page.press("+");
    page.until("location.search.includes('zoom=')");
    let zoomed = page.text(".lane-info");
    page.reload();
    page.wait(".frame");
    page.wait_text(".lane-info", &zoomed);
    page.press("-");
    page.press("-");
    page.wait_text(".lane-info", "whole stream");
    page.press("=");
    page.until("location.search.includes('zoom=')");
    page.press("0");
    page.until("!location.search.includes('zoom=')");
    end(page);
}

#[test]
fn the_lane_is_zoomed_by_the_wheel_and_a_span_is_dragged() {
    let Some((board, mut page)) = begin("the_lane_is_zoomed_by_the_wheel_and_a_span_is_dragged")
    else {
        return;
    };
    open(&board, &mut page);
    page.drag(".lane-canvas", (0.1, 0.5), (0.3, 0.5));
    page.until("location.search.includes('span=')");
    page.wait(".frame.in-span");
    page.until(
        "[...CSS.highlights.get('linked')].map((r) => r.toString()).join('').startsWith('word')",
    );
    page.wheel(".lane-canvas", (0.5, 0.5), -300);
    page.until("location.search.includes('zoom=')");
    page.hover(".lane-canvas", (0.5, 0.5));
    // A click on a tick selects its frame.
    page.press("0");
    page.press("Escape");
    page.press("Escape");
    page.click_at(".lane-canvas", (0.085, 0.6));
    page.wait(".frame.selected");
    end(page);
}

#[test]
fn gaps_have_a_histogram_with_its_numbers() {
    let Some((board, mut page)) = begin("gaps_have_a_histogram_with_its_numbers") else { return };
    open(&board, &mut page);
    page.wait_text(".gaps-summary", "p50 50 ms · p95 50 ms");
    assert_eq!(page.evaluate("document.querySelector('.gaps').title"), "max 2.05 s");
    // On a narrower page it is behind a toggle.
    page.viewport(1000, 800);
    page.until("document.querySelector('.gaps-canvas').clientWidth === 0");
    page.click(".gaps-toggle");
    page.until("document.querySelector('.gaps-canvas').clientWidth > 0");
    page.wait_text(".facts", "2.05 s");
    end(page);
}
