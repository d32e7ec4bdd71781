//! A dashboard over a store in memory, filled by made-up streams as they happen: whole, with reasoning and
//! silences, tool calls, two choices, broken, left, failed, and one that never ends.
//!
//! `cargo run -p teeline-dashboard --example sample -- 127.0.0.1:4791 [more captures]`; `SAMPLE_DELAY`: how many
//! milliseconds the list stays empty.
#![expect(clippy::print_stdout, reason = "an example says where it is")]

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use teeline_capture::{Ending, Recorder, RequestHead, ResponseHead, Store, StoreOptions};
use teeline_dashboard::{Dashboard, serve};
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Bytes, and how long they are waited for.
type Steps = Vec<(u64, Bytes)>;

/// An exchange to be played.
struct Play {
    upstream: &'static str,
    path: &'static str,
    request: Value,
    status: u16,
    content_type: &'static str,
    steps: Steps,
    ending: Ending,
}

const STREET: &str = "Here are the basic steps for safely crossing the street:\n\n\
    **At intersections with traffic lights:**\n- Wait for the pedestrian \"Walk\" signal\n\
    - Look both ways before stepping into the street\n- Make eye contact with drivers when possible\n\
    - Stay alert for turning vehicles\n\n**At intersections without signals:**\n- Use crosswalks when available\n\
    - Stop at the curb and look left, right, then left again\n- Wait for a clear gap in traffic\n\
    - Walk briskly but don't run\n- Keep looking for traffic as you cross\n\n**General safety tips:**\n\
    - Put away phones and remove headphones\n- Wear bright or reflective clothing in low light\n\
    - Never assume drivers see you\n- Avoid crossing between parked cars\n- Walk facing traffic when there's no sidewalk";

const POEM: &str = "**The Recursive Bard's Tale**\n\nIn loops and lines of coded art,\nThere lies a trick to play your part—\n\
    A function bold, both old and new,\nThat calls itself to see it through.\n\n**\"To solve a task so vast,\"** it said,\n\
    **\"Break it down to smaller threads.\nA piece so light, it barely bends,\nThen call me till the problem ends.\"**\n\n\
    A mirror held to mirror bright,\nReflections deep in endless sight.\nYet fear not this eternal spin—\n\
    A base case waits to reel you in.\n\nLike nested dolls that hide inside,\nOr trees with branches stretching wide,\n\
    It climbs, it winds, it";

/// Pieces as a tokenizer might cut them.
fn words(text: &str) -> Vec<String> {
    text.split_inclusive([' ', '\n'])
        .flat_map(|word| {
            let cut = word.char_indices().nth(9).map_or(word.len(), |(at, _)| at);
            [word[..cut].to_owned(), word[cut..].to_owned()]
        })
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// Pauses that vary, the same in every run.
fn pause(n: usize) -> u64 {
    [34, 71, 28, 55, 96, 31, 140, 44, 62, 27, 83, 39][n % 12]
}

fn chunk(index: u64, delta: &Value, finish: Option<&str>) -> Bytes {
    let choice =
        json!({ "index": index, "delta": delta, "logprobs": null, "finish_reason": finish });
    frame(&json!({
        "id": "chatcmpl-7f2", "object": "chat.completion.chunk", "created": 1_767_323_045,
        "model": "gpt-4o-mini-2024-07-18", "choices": [choice],
    }))
}

fn usage(input: u64, output: u64) -> Bytes {
    frame(&json!({
        "id": "chatcmpl-7f2", "object": "chat.completion.chunk", "created": 1_767_323_045,
        "model": "gpt-4o-mini-2024-07-18", "choices": [],
        "usage": { "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                   "prompt_tokens_details": { "cached_tokens": 0 } },
    }))
}

fn frame(data: &Value) -> Bytes {
    Bytes::from(format!("data: {data}\n\n"))
}

fn done() -> Bytes {
    Bytes::from_static(b"data: [DONE]\n\n")
}

fn request(model: &str, prompt: &str) -> Value {
    json!({
        "model": model, "stream": true, "stream_options": { "include_usage": true }, "temperature": 0.2,
        "messages": [
            { "role": "system", "content": "You are a careful assistant." },
            { "role": "user", "content": prompt },
        ],
    })
}

fn play(request: Value, steps: Steps, ending: Ending) -> Play {
    Play {
        upstream: "openai",
        path: "/openai/v1/chat/completions",
        request,
        status: 200,
        content_type: "text/event-stream",
        steps,
        ending,
    }
}

fn whole() -> Play {
    let mut steps: Steps =
        vec![(600, chunk(0, &json!({ "role": "assistant", "content": "" }), None))];
    let reasoning = "The user asks for basic steps. I should be short, cover signals and no signals, and add a few tips.";
    for (n, piece) in words(reasoning).into_iter().enumerate() {
        steps.push((pause(n), chunk(0, &json!({ "reasoning_content": piece }), None)));
    }
    steps.push((900, Bytes::from_static(b": keep-alive\n\n")));
    for (n, piece) in words(STREET).into_iter().enumerate() {
        let wait = if n == 0 {
            2300
        } else if n == 90 {
            1590
        } else {
            pause(n)
        };
        steps.push((wait, chunk(0, &json!({ "content": piece }), None)));
    }
    steps.push((30, chunk(0, &json!({}), Some("stop"))));
    steps.push((60, usage(43, 282)));
    steps.push((2, done()));
    play(request("gpt-4o-mini", "How do I cross the street?"), steps, Ending::Clean)
}

fn broken() -> Play {
    let mut steps: Steps =
        vec![(498, chunk(0, &json!({ "role": "assistant", "content": "" }), None))];
    for (n, piece) in words(POEM).into_iter().enumerate() {
        steps.push((pause(n), chunk(0, &json!({ "content": piece }), None)));
    }
    let last = chunk(0, &json!({ "content": " twines" }), None);
    steps.push((11, last.slice(..118)));
    let mut play = play(
        request("deepseek-chat", "A poem on recursion"),
        steps,
        Ending::UpstreamBroke { how: "reset".to_owned() },
    );
    play.upstream = "deepseek";
    play.path = "/deepseek/v1/chat/completions";
    play
}

fn call(index: u64, function: &Value, id: Option<&str>) -> Value {
    let mut call = json!({ "index": index, "function": function });
    if let Some(id) = id {
        call["id"] = json!(id);
        call["type"] = json!("function");
    }
    json!({ "tool_calls": [call] })
}

fn tools() -> Play {
    let mut steps: Steps =
        vec![(440, chunk(0, &json!({ "role": "assistant", "content": null }), None))];
    let calls = [
        ("get_weather", "call_Xa01", r#"{"location": "New York, NY"}"#),
        ("get_time", "call_Xa02", r#"{"timezone": "America/New_York"}"#),
        ("write_file", "call_Xa03", r#"{"path":"a.txt","text":"Lorem ip"#),
    ];
    for (index, (name, id, arguments)) in (0..).zip(calls) {
        let opened = call(index, &json!({ "name": name, "arguments": "" }), Some(id));
        steps.push((80, chunk(0, &opened, None)));
        let bytes = arguments.as_bytes();
        for (n, piece) in bytes.chunks(7).enumerate() {
            let piece = String::from_utf8_lossy(piece);
            steps.push((
                pause(n),
                chunk(0, &call(index, &json!({ "arguments": piece }), None), None),
            ));
        }
    }
    steps.push((65, chunk(0, &json!({}), Some("length"))));
    steps.push((35, usage(418, 163)));
    steps.push((189, done()));
    let mut request = request("gpt-4o-mini", "Weather and time in New York, then write a.txt");
    request["tools"] = json!([
        { "type": "function", "function": { "name": "get_weather", "description": "The weather at a place",
          "parameters": { "type": "object", "properties": { "location": { "type": "string" } } } } },
        { "type": "function", "function": { "name": "write_file", "description": "Writes a file",
          "parameters": { "type": "object", "properties": { "path": { "type": "string" }, "text": { "type": "string" } } } } },
    ]);
    play(request, steps, Ending::Clean)
}

fn choices() -> Play {
    let texts = [
        "Sure, here's a light-hearted joke about OpenTelemetry:\n\nWhy did the developer break up with the application?\n\n\
         Because it couldn't commit to using OpenTelemetry and was always too \"insecure\" about its performance!",
        "Sure, here's a light-hearted joke about OpenTelemetry:\n\nWhy did the software developer decide to use OpenTelemetry?\n\n\
         Because he wanted to trace his bugs back to their roots, and he heard OpenTelemetry was the best shovel in town!",
    ];
    let mut steps: Steps = vec![
        (584, chunk(0, &json!({ "role": "assistant" }), None)),
        (1, chunk(1, &json!({ "role": "assistant" }), None)),
    ];
    let (left, right) = (words(texts[0]), words(texts[1]));
    for n in 0..left.len().max(right.len()) {
        for (index, pieces) in (0..).zip([&left, &right]) {
            if let Some(piece) = pieces.get(n) {
                steps.push((pause(n) / 3, chunk(index, &json!({ "content": piece }), None)));
            }
        }
    }
    steps.push((10, chunk(0, &json!({}), Some("stop"))));
    steps.push((10, chunk(1, &json!({}), Some("stop"))));
    steps.push((20, usage(39, 95)));
    steps.push((2, done()));
    let mut request = request("palmyra-x4", "Tell me a joke about OpenTelemetry");
    request["n"] = json!(2);
    let mut play = play(request, steps, Ending::Clean);
    play.upstream = "writer";
    play.path = "/writer/v1/chat";
    play
}

fn left() -> Play {
    let mut steps: Steps =
        vec![(700, chunk(0, &json!({ "role": "assistant", "content": "" }), None))];
    for (n, piece) in words(
        "Before changing anything I want to reproduce the failure, so I will run the tests that",
    )
    .into_iter()
    .enumerate()
    {
        steps.push((pause(n), chunk(0, &json!({ "content": piece }), None)));
    }
    play(request("gpt-4.1", "Fix the build"), steps, Ending::ClientLeft)
}

fn failed() -> Play {
    let mut play = play(
        request("Qwen/Qwen3-30B-A3B", "Hi"),
        vec![],
        Ending::Failed {
            kind: "connect-failed".to_owned(),
            message: "nothing listens on 127.0.0.1:8000".to_owned(),
        },
    );
    play.upstream = "vllm";
    play.path = "/vllm/v1/chat/completions";
    play
}

fn limited() -> Play {
    let body = json!({ "error": { "message": "Rate limit reached for gpt-4o in organization org-1 on tokens per min", "type": "tokens", "code": "rate_limit_exceeded" } });
    let mut play =
        play(request("gpt-4o", "Hi"), vec![(210, Bytes::from(body.to_string()))], Ending::Clean);
    play.status = 429;
    play.content_type = "application/json";
    play
}

fn hostile() -> Play {
    let text = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u{1b}[31mred\u{1b}[0m \u{202e}rtl \u{fffd} </textarea>";
    let steps = vec![
        (300, chunk(0, &json!({ "role": "assistant", "content": "" }), None)),
        (40, chunk(0, &json!({ "content": text }), None)),
        (40, Bytes::from_static(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"bad \xe2 byte\"}}]}\n\n")),
        (20, chunk(0, &json!({}), Some("stop"))),
        (2, done()),
    ];
    play(request("<b>model</b>", "<script>alert(3)</script>"), steps, Ending::Clean)
}

fn event(data: &Value) -> Bytes {
    Bytes::from(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default()))
}

fn delta(index: u64, delta: &Value) -> Bytes {
    event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
}

/// A Messages stream with thinking, a silence, a byte that is not UTF-8 and frames in one read.
fn messages() -> Play {
    let usage = json!({ "input_tokens": 43, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1 });
    let message = json!({
        "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-20250514",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let mut steps: Steps = vec![
        (612, event(&json!({ "type": "message_start", "message": message }))),
        (
            2,
            event(
                &json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
            ),
        ),
        (60, event(&json!({ "type": "ping" }))),
    ];
    for (n, piece) in words("The question is about crossing a street. Be short; order by kind of crossing; end with tips.").into_iter().enumerate() {
        steps.push((pause(n), delta(0, &json!({ "type": "thinking_delta", "thinking": piece }))));
    }
    steps.push((
        34,
        delta(0, &json!({ "type": "signature_delta", "signature": "EqQBCkYIAhgCIkA9".repeat(31) })),
    ));
    steps.push((35, event(&json!({ "type": "content_block_stop", "index": 0 }))));
    steps.push((3240, event(&json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }))));
    let pieces = words(STREET);
    for (n, piece) in pieces.iter().enumerate() {
        let bytes = delta(1, &json!({ "type": "text_delta", "text": piece }));
        if n == 60 {
            let (head, tail) = bytes.split_at(bytes.len() - 6);
            steps.push((pause(n), Bytes::from([head, b"\xe2", tail].concat())));
        } else if n == 90 {
            let burst: Vec<u8> = pieces
                .iter()
                .take(14)
                .flat_map(|piece| delta(1, &json!({ "type": "text_delta", "text": piece })))
                .collect();
            steps.push((1020, Bytes::from(burst)));
        } else {
            steps.push((pause(n), bytes));
        }
    }
    steps.push((20, event(&json!({ "type": "content_block_stop", "index": 1 }))));
    steps.push((80, event(&json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null }, "usage": { "output_tokens": 282 } }))));
    steps.push((1, event(&json!({ "type": "message_stop" }))));
    let mut play = play(
        json!({
            "model": "claude-sonnet-4-20250514", "max_tokens": 1024, "stream": true, "system": "Answer in lists.",
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "How do I cross the street?" }] }],
        }),
        steps,
        Ending::Clean,
    );
    play.upstream = "litellm";
    play.path = "/litellm/v1/messages";
    play
}

/// Grows for minutes.
fn endless() -> Play {
    let mut steps: Steps =
        vec![(600, chunk(0, &json!({ "role": "assistant", "content": "" }), None))];
    for round in 0..40 {
        for (n, piece) in words(STREET).into_iter().enumerate() {
            let wait = if n == 40 { 2600 } else { pause(n + round) };
            steps.push((wait, chunk(0, &json!({ "content": piece }), None)));
        }
        steps.push((30, chunk(0, &json!({ "content": "\n\n" }), None)));
    }
    play(request("gpt-4o-mini", "How do I cross the street? At length."), steps, Ending::Clean)
}

async fn run(recorder: Recorder, play: Play, speed: u64) {
    let target = play.path.to_owned();
    let tap = recorder.begin(RequestHead {
        upstream: play.upstream.to_owned(),
        method: "POST".to_owned(),
        url: format!("https://api.example{target}"),
        target,
        version: "HTTP/1.1",
        headers: vec![
            ("content-type".to_owned(), Bytes::from_static(b"application/json")),
            ("authorization".to_owned(), Bytes::from_static(b"Bearer sk-example-0123456789")),
        ],
        client: None,
    });
    tap.request_body(&Bytes::from(play.request.to_string()));
    tap.request_end(true);
    tap.sent();
    if matches!(play.ending, Ending::Failed { .. }) {
        tap.end(play.ending);
        return;
    }
    let mut steps = play.steps.into_iter();
    if let Some((wait, _)) = steps.as_slice().first() {
        sleep(Duration::from_millis(wait / speed)).await;
    }
    tap.response(ResponseHead {
        status: play.status,
        reason: None,
        version: "HTTP/1.1",
        headers: vec![("content-type".to_owned(), Bytes::from(play.content_type))],
    });
    for (n, (wait, bytes)) in steps.by_ref().enumerate() {
        sleep(Duration::from_millis(if n == 0 { 5 } else { wait / speed })).await;
        tap.chunk(&bytes);
        tap.written(bytes.len() as u64);
    }
    sleep(Duration::from_millis(31 / speed)).await;
    tap.end(play.ending);
}

/// More captures than fit on a screen, all at once.
async fn crowd(recorder: &Recorder, n: usize) {
    for k in 0..n {
        let make = [choices, tools, left, limited, broken][k % 5];
        tokio::spawn(run(recorder.clone(), make(), 40));
        if k % 50 == 49 {
            sleep(Duration::from_millis(400)).await;
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let listener =
        TcpListener::bind(args.next().unwrap_or_else(|| "127.0.0.1:0".to_owned())).await?;
    let more: usize = args.next().map_or(Ok(0), |n| n.parse())?;
    let delay = std::env::var("SAMPLE_DELAY").map_or(Ok(0), |ms| ms.parse())?;
    let address = listener.local_addr()?;
    println!("http://{address}");
    let store = Store::in_memory(StoreOptions::default())?;
    let upstreams =
        ["openai", "anthropic", "gemini", "openrouter", "ollama", "vllm", "groq", "mistral"];
    let dashboard = Dashboard {
        store: store.clone(),
        proxy_url: "http://127.0.0.1:4780".to_owned(),
        upstreams: upstreams
            .iter()
            .map(|name| ((*name).to_owned(), format!("https://{name}.example")))
            .collect(),
        allowed_hosts: vec![],
        address,
        shutdown: CancellationToken::new(),
    };
    tokio::spawn(async move {
        sleep(Duration::from_millis(delay)).await;
        let recorder = store.recorder();
        crowd(&recorder, more).await;
        for make in [failed, limited, hostile, left, choices, tools, broken, whole, messages] {
            tokio::spawn(run(recorder.clone(), make(), 1));
            sleep(Duration::from_millis(150)).await;
        }
        loop {
            run(recorder.clone(), endless(), 1).await;
        }
    });
    serve(listener, dashboard).await?;
    Ok(())
}
