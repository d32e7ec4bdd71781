//! English and Chinese, light and dark.

use teeline_tests::Exchange;

use super::{begin, end};

#[test]
fn the_language_is_switched_in_the_head_and_kept() {
    let Some((board, mut page)) = begin("the_language_is_switched_in_the_head_and_kept") else {
        return;
    };
    let id = board.put(Exchange::answer("Hello there."));
    page.goto(&board.url(&format!("/captures/{id}?frame=1")));
    page.wait_text(".verdict", "Finished.");
    assert_eq!(page.evaluate("document.documentElement.lang"), "en");
    page.click("#language");
    page.wait_text(".verdict", "已完成。");
    assert_eq!(page.evaluate("document.documentElement.lang"), "zh-CN");
    assert_eq!(page.text("#language"), "English");
    // The same view, in the other language: frames, findings, keys.
    page.wait_text(".frame.selected", "正文 +");
    page.wait_text(".nothing-wrong", "没有发现问题。");
    page.wait_text("#hints", "筛选帧");
    page.press("?");
    page.wait_text("dialog.sheet", "按键与标记");
    page.press("Escape");
    page.until("!document.querySelector('dialog')");
    page.press("Escape");
    page.press("Escape");
    page.wait_text("#segments", "进行中");
    page.wait_text(".list-head", "首个正文");
    page.goto(&board.url("/read"));
    page.wait_text("#examples", "被截断的流");
    page.goto(&board.url("/nothing"));
    page.wait_text("h1", "没有这个页面");
    page.click("#language");
    page.wait_text("h1", "No such page");
    assert!(page.problems().iter().all(|problem| problem.contains("404")));
}

#[test]
fn findings_are_said_in_both_languages() {
    let Some((board, mut page)) = begin("findings_are_said_in_both_languages") else { return };
    let mut exchange = Exchange::answer("It stops here.");
    exchange.chunks.truncate(3);
    let id = board.put(exchange);
    page.goto(&board.url(&format!("/captures/{id}")));
    page.wait_text(".finding .sentence", "The stream ended without data: [DONE].");
    page.wait_text(".finding .why", "A client cannot tell a finished answer");
    page.click("#language");
    page.wait_text(".finding .sentence", "流结束了却没有 data: [DONE]。");
    page.wait_text(".finding .why", "为什么要紧");
    page.wait_text(".finding .why", "客户端无法区分完成的回答和中断的回答");
    end(page);
}

#[test]
fn the_theme_is_the_systems_until_it_is_switched() {
    let Some((board, mut page)) = begin("the_theme_is_the_systems_until_it_is_switched") else {
        return;
    };
    page.goto(&board.url("/"));
    page.until("document.documentElement.dataset.theme === 'light'");
    page.run("theme", serde_json::json!({ "scheme": "dark" }));
    page.until("document.documentElement.dataset.theme === 'dark'");
    page.press("t");
    page.until("document.documentElement.dataset.theme === 'light'");
    page.reload();
    assert_eq!(page.evaluate("document.documentElement.dataset.theme"), "light");
    page.click("#theme");
    page.until("document.documentElement.dataset.theme === 'dark'");
    end(page);
}

#[test]
fn the_sheet_lists_the_keys_and_finds_them() {
    let Some((board, mut page)) = begin("the_sheet_lists_the_keys_and_finds_them") else { return };
    page.goto(&board.url("/"));
    page.wait(".welcome");
    page.press("?");
    page.wait("dialog.sheet");
    for words in [
        "mark to compare",
        "swap A and B",
        "step one frame back, on",
        "gap before, after",
        "save as capture",
    ] {
        page.wait_text("dialog.sheet", words);
    }
    page.type_text("compare");
    page.until("[...document.querySelectorAll('.key-row:not([hidden])')].map((row) => row.textContent).join().includes('mark to compare')");
    page.until("document.querySelectorAll('.key-row:not([hidden])').length < 4");
    page.press("Escape");
    page.press("Escape");
    page.until("!document.querySelector('dialog')");
    end(page);
}
