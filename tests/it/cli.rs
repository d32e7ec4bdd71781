//! The command line as scripts use it: output, exit codes, clear errors.

use std::{fs, process::Output};

use serde_json::Value;
use teeline_tests::{fixtures, run, run_with_input};

const WHOLE: &str = concat!(
    r#"data: {"id":"c1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}"#,
    "\n\n",
    r#"data: {"id":"c1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#,
    "\n\ndata: [DONE]\n\n"
);

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

#[test]
fn read_tells_success_by_its_exit_code() {
    let whole = run_with_input(["read", "--json"], WHOLE.as_bytes());
    assert_eq!(whole.status.code(), Some(0));
    assert_eq!(json(&whole)["outputs"][0]["text"], "Hello");

    let cut = run_with_input(["read", "--json", "-"], &WHOLE.as_bytes()[..200]);
    assert_eq!(cut.status.code(), Some(1));
    assert_eq!(json(&cut)["verdict"], "did-not-finish");
}

#[test]
fn read_prints_just_what_was_asked_for() {
    let text_only = run_with_input(["read", "--text"], WHOLE.as_bytes());
    assert_eq!(text(&text_only.stdout), "Hello\n");
    let response = run_with_input(["read", "--response"], WHOLE.as_bytes());
    assert_eq!(json(&response)["choices"][0]["message"]["content"], "Hello");
    assert_eq!(json(&response)["object"], "chat.completion");
    let frames = run_with_input(["read", "--json", "--frames"], WHOLE.as_bytes());
    assert_eq!(json(&frames)["frames"].as_array().map(Vec::len), Some(3));
}

#[test]
fn several_inputs_give_a_reading_each() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one.sse", "two.sse"].map(|name| folder.path().join(name));
    fs::write(&one, WHOLE).unwrap();
    fs::write(&two, WHOLE.replace("Hel", "Wel")).unwrap();
    let output = run(["read".as_ref(), "--json".as_ref(), one.as_os_str(), two.as_os_str()]);
    let lines = text(&output.stdout);
    let texts: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["outputs"][0]["text"].clone())
        .collect();
    assert_eq!(texts, ["Hello", "Wello"]);
}

#[test]
fn frames_are_listed_one_a_line() {
    let output = run_with_input(["frames", "--json"], b": hi\n\ndata: 1\ndata: 2\n\nid: 7\n\n");
    assert_eq!(output.status.code(), Some(0));
    let rows: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1]["data"], "1\n2");
    assert_eq!(rows[2]["id"], "7");
    assert!(rows[0].get("kind").is_none());
    assert_eq!(
        [&rows[0]["dispatched"], &rows[1]["dispatched"], &rows[2]["dispatched"]],
        [false, true, false]
    );
}

#[test]
fn nothing_from_the_wire_reaches_the_terminal_raw() {
    let hostile = WHOLE.replace("Hel", "\\u001b[31mHel\\u0007").replace("m-1", "\\u009b2J\\u202e");
    let output = run_with_input(["read", "--frames"], hostile.as_bytes());
    let shown = text(&output.stdout);
    assert!(shown.contains("\\u{1b}[31mHel\\u{7}"), "{shown}");
    assert!(!shown.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{shown:?}");
}

#[test]
fn what_cannot_be_done_is_said_and_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("teeline.toml");
    fs::write(&config, "listen = \"127.0.0.1:0\"\nports = 3\n").unwrap();
    let config = config.to_str().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    for (args, words) in [
        (&["read", "/does/not/exist.sse"][..], &["/does/not/exist.sse", "cannot be read"][..]),
        (&["read", "--as", "nonsense", "-"], &["nonsense", "openai-chat"]),
        (&["read", "--nonsense"], &["--nonsense"]),
        (&["frames", "--framing", "nonsense"], &["nonsense", "ndjson"]),
        (&["serve", "--config", config], &["line 2, column 1", "ports"]),
        (&["serve", "--config", "/does/not/exist.toml"], &["/does/not/exist.toml"]),
        (&["serve", "--listen", "0.0.0.0:0", "--data-dir", data], &["--allow-remote"]),
        (&["serve", "--upstream", "nonsense", "--data-dir", data], &["NAME=URL"]),
        (&["serve", "--upstream", "a=ftp://x", "--data-dir", data], &["ftp"]),
        (&["explain", "nonsense"], &["nonsense"]),
        (&["show", "0", "--data-dir", data], &["data"]),
        (&["delete", "--data-dir", data], &["--all"]),
    ] {
        let output = run(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{args:?}: {word} is not in {said}");
        }
        assert!(output.stdout.is_empty(), "{args:?} printed {}", text(&output.stdout));
    }
}

#[test]
fn every_finding_is_explained() {
    let list = text(&run(["explain"]).stdout);
    assert_eq!(list.lines().count(), teeline_finding::catalogue::ENTRIES.len());
    let one = text(&run(["explain", "tool-call-no-index"]).stdout);
    for part in ["Why it matters:", "What to do:", "warning"] {
        assert!(one.contains(part), "{one}");
    }
}

#[test]
fn pieces_change_nothing() {
    let folder = fixtures("cases").join("f-crlf-split-across-reads");
    let body = fs::read(folder.join("stream.sse")).unwrap();
    let whole = json(&run_with_input(["read", "--json", "--frames"], &body));
    for size in ["1", "2", "3", "7"] {
        assert_eq!(
            json(&run_with_input(["read", "--json", "--frames", "--chunk-size", size], &body)),
            whole
        );
    }
}
