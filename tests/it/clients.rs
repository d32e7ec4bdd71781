//! The README's table of clients: each is run as its row says, and its stream is captured.

use std::{fs, process::Command};

use serde::Deserialize;
use serde_json::json;
use teeline_script::{Request, Script, Upstream};
use teeline_tests::{Need, Teeline, Turn, available, block_on, chat, eventually, get_json, root};

#[derive(Deserialize)]
struct Table {
    client: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    set: String,
    #[serde(default)]
    env: toml::Table,
    run: Vec<(String, String)>,
    path: String,
    format: String,
}

fn table() -> Vec<Row> {
    let text =
        fs::read_to_string(root().join("tests/clients/clients.toml")).expect("the table is there");
    toml::from_str::<Table>(&text).expect("it is a table").client
}

/// `event: NAME` and `data: {…}`, the type in it.
fn typed(name: &str, mut data: serde_json::Value) -> String {
    data["type"] = name.into();
    format!("event: {name}\ndata: {data}\n\n")
}

/// "Hello" as each API streams it, by the path that was asked for (the APIs' own references).
fn answer(request: &Request) -> Script {
    let path = request.target.split('?').next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let asked: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or_default();
    match last {
        "completions"
            if asked["model"].as_str().is_some_and(|model| model.starts_with("mistral")) =>
        {
            Script::sse(mistral())
        }
        "completions" => Script::sse(chat::answer(&["Hel", "lo"])),
        "responses" => Script::sse(responses()),
        "messages" if asked["stream"] == true => Script::sse(messages()),
        "chat" if path.ends_with("/v2/chat") => Script::sse(cohere()),
        "chat" => {
            let lines = [
                json!({ "model": "llama3.2", "created_at": "2026-01-02T03:04:05Z", "message": { "role": "assistant", "content": "Hello" }, "done": false }),
                json!({ "model": "llama3.2", "created_at": "2026-01-02T03:04:06Z", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 1 }),
            ];
            let head = Script::head(
                "200 OK",
                &[("Content-Type", "application/x-ndjson"), ("Transfer-Encoding", "chunked")],
            );
            lines.iter().fold(head, |script, line| script.chunk(format!("{line}\n"))).last_chunk()
        }
        _ if last.ends_with(":streamGenerateContent") => Script::sse([format!(
            "data: {}\n\n",
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "Hello" }] }, "finishReason": "STOP", "index": 0 }], "usageMetadata": { "promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4 }, "modelVersion": "gemini-2.5-flash", "responseId": "r1" })
        )]),
        _ => Script::answer(
            "404 Not Found",
            &[("Content-Type", "application/json")],
            r#"{"error":{"message":"not here","type":"not_found_error"}}"#,
        ),
    }
}

/// Mistral's own clients ask for more members than others, and for no frame without a choice.
fn mistral() -> Vec<String> {
    let chunk = |content: &str, reason: serde_json::Value, usage: serde_json::Value| {
        let chunk = json!({ "id": "m1", "object": "chat.completion.chunk", "created": 1_760_000_000, "model": "mistral-small-latest", "choices": [{ "index": 0, "delta": { "role": "assistant", "content": content }, "finish_reason": reason }], "usage": usage });
        format!("data: {}\n\n", chunk.to_string().replace(",\"usage\":null", ""))
    };
    let usage = json!({ "prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4 });
    vec![
        chunk("Hello", json!(null), json!(null)),
        chunk("", json!("stop"), usage),
        chat::DONE.to_owned(),
    ]
}

fn responses() -> Vec<String> {
    let response = |status: &str, output: serde_json::Value, usage: serde_json::Value| json!({ "id": "resp_1", "object": "response", "created_at": 1_760_000_000, "model": "gpt-4o-mini", "status": status, "output": output, "usage": usage, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [] });
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
    let item = |status: &str, content: serde_json::Value| json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content });
    let place = json!({ "item_id": "msg_1", "output_index": 0, "content_index": 0 });
    let at = |name: &str, number: u64, more: serde_json::Value| {
        let mut data = place.clone();
        data["sequence_number"] = number.into();
        for (key, value) in more.as_object().into_iter().flatten() {
            data[key] = value.clone();
        }
        typed(name, data)
    };
    let whole = item("completed", json!([part("Hello")]));
    let usage = json!({ "input_tokens": 3, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 1, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 4 });
    vec![
        typed(
            "response.created",
            json!({ "sequence_number": 0, "response": response("in_progress", json!([]), json!(null)) }),
        ),
        typed(
            "response.output_item.added",
            json!({ "sequence_number": 1, "output_index": 0, "item": item("in_progress", json!([])) }),
        ),
        at("response.content_part.added", 2, json!({ "part": part("") })),
        at("response.output_text.delta", 3, json!({ "delta": "Hello", "logprobs": [] })),
        at("response.output_text.done", 4, json!({ "text": "Hello", "logprobs": [] })),
        at("response.content_part.done", 5, json!({ "part": part("Hello") })),
        typed(
            "response.output_item.done",
            json!({ "sequence_number": 6, "output_index": 0, "item": whole }),
        ),
        typed(
            "response.completed",
            json!({ "sequence_number": 7, "response": response("completed", json!([whole]), usage) }),
        ),
    ]
}

fn messages() -> Vec<String> {
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [], "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 3, "output_tokens": 1 } });
    vec![
        typed("message_start", json!({ "message": message })),
        typed(
            "content_block_start",
            json!({ "index": 0, "content_block": { "type": "text", "text": "" } }),
        ),
        typed(
            "content_block_delta",
            json!({ "index": 0, "delta": { "type": "text_delta", "text": "Hello" } }),
        ),
        typed("content_block_stop", json!({ "index": 0 })),
        typed(
            "message_delta",
            json!({ "delta": { "stop_reason": "end_turn", "stop_sequence": null }, "usage": { "output_tokens": 1 } }),
        ),
        typed("message_stop", json!({})),
    ]
}

fn cohere() -> Vec<String> {
    vec![
        typed(
            "message-start",
            json!({ "id": "c1", "delta": { "message": { "role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": [] } } }),
        ),
        typed(
            "content-start",
            json!({ "index": 0, "delta": { "message": { "content": { "type": "text", "text": "" } } } }),
        ),
        typed(
            "content-delta",
            json!({ "index": 0, "delta": { "message": { "content": { "text": "Hello" } } } }),
        ),
        typed("content-end", json!({ "index": 0 })),
        typed(
            "message-end",
            json!({ "delta": { "finish_reason": "COMPLETE", "usage": { "billed_units": { "input_tokens": 3, "output_tokens": 1 }, "tokens": { "input_tokens": 3, "output_tokens": 1 } } } }),
        ),
    ]
}

/// Runs a client; its output, and whether it was content.
fn run(row: &Row, kind: &str, name: &str, proxy: &str) -> (String, bool) {
    let folder = root().join("tests/clients");
    let mut command = match kind {
        "python" => {
            let mut command = Command::new(folder.join(".venv/bin/python"));
            command.arg(folder.join("clients.py"));
            command
        }
        "node" => {
            let mut command = Command::new(folder.join("node_modules/.bin/node"));
            command.arg(folder.join("clients.mjs"));
            command
        }
        _ => {
            let mut command = Command::new("curl");
            let url = format!("http://{proxy}/openai/v1/chat/completions");
            command.args([
                "-sSN",
                &url,
                "-H",
                "Content-Type: application/json",
                "-d",
                r#"{"stream":true}"#,
            ]);
            command
        }
    };
    if kind != "shell" {
        command.args([name, proxy]);
    }
    for key in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "MISTRAL_API_KEY",
        "CO_API_KEY",
        "GROQ_API_KEY",
    ] {
        command.env(key, "sk-planted-client-key");
    }
    for (key, value) in &row.env {
        command.env(key, value.as_str().expect("text").replace("PROXY", proxy));
    }
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    (
        format!("{said}\n{errors}"),
        output.status.success() && said.contains(if kind == "shell" { "[DONE]" } else { "Hello" }),
    )
}

/// Newest first.
fn captures(teeline: &Teeline) -> Vec<serde_json::Value> {
    let list = get_json(teeline.dashboard, "/api/captures?limit=500");
    list["captures"].as_array().expect("a list").clone()
}

#[test]
fn every_client_of_the_table_goes_through() {
    if !available("every_client_of_the_table_goes_through", &[Need::Clients]) {
        return;
    }
    let _turn = Turn::shared();
    let upstream = block_on(Upstream::start(answer)).expect("a port is free");
    let folder = tempfile::tempdir().expect("a folder");
    let named: Vec<String> =
        ["openai", "anthropic", "gemini", "mistral", "cohere", "groq", "ollama"]
            .iter()
            .map(|name| format!("--upstream={name}={}", upstream.url()))
            .collect();
    let flags: Vec<&str> = named.iter().map(String::as_str).collect();
    let teeline = Teeline::start(&folder.path().join("data"), &flags);
    let proxy = teeline.proxy.to_string();
    let mut faults = Vec::new();
    for row in table() {
        for (kind, name) in &row.run {
            let before = captures(&teeline).len();
            let (said, well) = run(&row, kind, name, &proxy);
            let list = eventually("the ends of the client's captures", || {
                let list = captures(&teeline);
                list.iter().all(|capture| capture["state"] != "open").then_some(list)
            });
            let new: Vec<String> = list
                .iter()
                .take(list.len() - before)
                .map(|capture| {
                    ["path", "format", "verdict"]
                        .map(|key| capture[key].as_str().unwrap_or("none"))
                        .join(" ")
                })
                .collect();
            let expected = format!("{} {} finished", row.path, row.format);
            let (begin, end) = expected.split_once('*').unwrap_or((&expected, ""));
            let fits = |new: &String| new.starts_with(begin) && new.ends_with(end);
            if !well || !new.iter().any(fits) {
                let said: String = said.chars().take(2000).collect();
                faults.push(format!("{kind} {name}: {new:?} and not {expected}; it said: {said}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn the_readme_has_the_rows_that_are_tried() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md is there");
    for row in table() {
        let set = row.set.replace("PROXY", "127.0.0.1:4780").replace('|', "\\|");
        let line = format!("| {} | {set} |", row.name);
        assert!(readme.contains(&line), "the README lacks this row:\n{line}");
    }
}
