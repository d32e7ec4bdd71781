//! The page that reads pasted streams.

use teeline_tests::{chat, text};

use super::{begin, end};

#[test]
fn examples_are_read_as_captures_are() {
    let Some((board, mut page)) = begin("examples_are_read_as_captures_are") else { return };
    page.goto(&board.url("/read"));
    page.wait_text(".nothing-read", "Nothing pasted yet.");
    page.click("#examples button:nth-child(1)");
    page.wait_text(".tool-card", "get_weather");
    page.wait_text("#format option", "Auto: openai-chat");
    // No times: no lane, and one line says so.
    page.wait_text(".lane-none", "No times in this text.");
    page.until("document.querySelector('.lane-row').hidden");
    page.click("#examples button:nth-child(2)");
    page.wait_text(".verdict", "the text stops inside frame");
    page.wait(".paste-line.cut");
    page.click("#examples button:nth-child(3)");
    page.wait_text(".verdict", "Finished.");
    page.until("!document.querySelector('.lane-row').hidden");
    page.wait_text(".meta", "times from the stamps");
    // Lines lead to frames and back.
    page.click(".paste-line:nth-child(14)");
    page.wait(".frame.selected");
    page.click(".frame[data-i='2']");
    page.wait(".paste-line.selected");
    end(page);
}

#[test]
fn a_stream_is_pasted_read_as_another_format_and_saved() {
    let Some((board, mut page)) = begin("a_stream_is_pasted_read_as_another_format_and_saved")
    else {
        return;
    };
    page.goto(&board.url("/read"));
    page.wait("#paste textarea");
    let stream = chat::answer(&["Pasted", " text."]).concat();
    page.run("set_clipboard", serde_json::json!({ "text": stream }));
    page.click("#paste textarea");
    page.press("Control+v");
    page.wait_text(".answer", "Pasted text.");
    // It is kept over the change of the language.
    page.click("#language");
    page.wait_text(".verdict", "已完成。");
    page.click("#language");
    page.wait_text(".verdict", "Finished.");
    page.run("select", serde_json::json!({ "selector": "#format", "value": "anthropic-messages" }));
    page.wait_text(".verdict", "Did not finish");
    page.run("select", serde_json::json!({ "selector": "#format", "value": "" }));
    page.wait_text(".verdict", "Finished.");
    page.press("s");
    page.wait_text(".capture-page .answer", "Pasted text.");
    let saved = board.store.list(&teeline_capture::Query::default(), None, 10).unwrap();
    assert_eq!(saved.captures.len(), 1);
    end(page);
}

#[test]
fn a_file_is_dropped_or_opened() {
    let Some((board, mut page)) = begin("a_file_is_dropped_or_opened") else { return };
    page.goto(&board.url("/read"));
    page.wait("#paste textarea");
    let stream = serde_json::json!(chat::answer(&["From", " a file."]).concat());
    page.evaluate(&format!(
        "(() => {{ const data = new DataTransfer(); data.items.add(new File([{stream}], 'stream.sse')); \
         document.dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }})); }})()",
    ));
    page.wait_text(".answer", "From a file.");
    page.click("#clear");
    page.wait_text(".nothing-read", "Nothing pasted yet.");
    let read = page.evaluate("fetch('/api/captures').then((answer) => answer.json()).then((list) => String(list.captures.length))");
    assert_eq!(text(&read), "0", "what is pasted is not stored");
    end(page);
}
