use teeline_decoder::Frame;

use super::*;

fn voted(event: Option<&str>, data: &str, framing: Framing) -> Option<&'static str> {
    let frame = Frame { event: event.map(str::to_owned), ..Frame::default() };
    let event = Event::parse(&frame, framing, data).unwrap();
    if framing == Framing::Json { vote_document(&event) } else { vote(&event) }
}

/// The rows of `FORMATS.md` 1.2 in their order: number, `event:`, data, vote.
const ROWS: &[(u32, &str, &str, &str)] = &[
    (2, "", r#"{"jsonrpc":"2.0","method":"m"}"#, "mcp"),
    (2, "", r#"[{"jsonrpc":"2.0","method":"m"}]"#, "mcp"),
    (2, "", r#"[{"jsonrpc":"2.0","method":"m"},{}]"#, ""),
    (3, "", r#"[{"type":"ai","content":"x"}]"#, "langserve"),
    (3, "", r#"[{"type":"AIMessageChunk","content":"x"},{"node":"n"}]"#, "langserve"),
    (3, "", r#"[{"type":"text"}]"#, ""),
    (
        3,
        "",
        r#"{"type":"AIMessageChunk","content":"x","usage_metadata":{"total_tokens":1}}"#,
        "langserve",
    ),
    (3, "", r#"{"type":"ai","content":"x"}"#, "langserve"),
    (3, "", r#"{"type":"ai"}"#, ""),
    (
        3,
        "",
        r#"[{"type":"constructor","id":["messages","AIMessage"],"kwargs":{}},{"node":"n"}]"#,
        "langserve",
    ),
    (3, "", r#"[{"type":"constructor","id":["Document"]}]"#, ""),
    (25, "", r#"{"type":"event","method":"values","params":{"data":{}}}"#, "langserve"),
    (25, "", r#"{"type":"event","method":"values"}"#, ""),
    (25, "tasks", "{}", "langserve"),
    (25, "data", r#"{"ops":[{"op":"add","path":"/x","value":1}]}"#, "langserve"),
    (25, "data", r#"{"ops":[1]}"#, ""),
    (4, "", r#"{"object":"chat.completion.chunk","choices":[]}"#, "openai-chat"),
    (4, "", r#"{"object":"chat.completion.done"}"#, "openai-chat"),
    (4, "", r#"{"object":"chat.reasoning"}"#, "openai-chat"),
    (5, "", r#"{"object":"text_completion","choices":[]}"#, "openai-completions"),
    (5, "", r#"{"choices":[{"index":0,"text":"x"}]}"#, "openai-completions"),
    (5, "", r#"{"choices":[{"index":0,"text":"x","delta":{}}]}"#, "openai-chat"),
    (6, "", r#"{"object":"thread.run"}"#, "openai-assistants"),
    (6, "thread.message.delta", r#"{"id":"m"}"#, "openai-assistants"),
    (7, "", r#"{"type":"response.completed","response":{}}"#, "openai-responses"),
    (7, "", r#"{"type":"response.completed","usage":{"inputTokens":1}}"#, "salyro-behavior"),
    (7, "response.completed", r#"{"usage":{"inputTokens":1}}"#, "salyro-behavior"),
    (7, "", r#"{"type":"response.completed"}"#, ""),
    (8, "", r#"{"type":"response.created"}"#, "openai-responses"),
    (9, "", r#"{"type":"response.started"}"#, "salyro-behavior"),
    (9, "output_text.delta", r#"{"delta":"x"}"#, "salyro-behavior"),
    (10, "", r#"{"type":"message_start"}"#, "anthropic-messages"),
    (10, "", r#"{"type":"vertex_event"}"#, "anthropic-messages"),
    (11, "", r#"{"type":"ping"}"#, ""),
    (11, "", r#"{"type":"keepalive","sequence_number":3}"#, ""),
    (12, "error", r#"{"type":"error","error":{"type":"overloaded_error"}}"#, "anthropic-messages"),
    (12, "", r#"{"type":"error","sequence_number":1,"error":{"type":"x"}}"#, "openai-responses"),
    (12, "", r#"{"type":"error","code":"c","message":"m"}"#, "openai-responses"),
    (12, "", r#"{"type":"error","errorText":"m"}"#, "vercel-ui"),
    (12, "", r#"{"type":"error"}"#, ""),
    (13, "", r#"{"event_type":"step.delta","delta":{"type":"text"}}"#, "gemini-interactions"),
    (13, "", r#"{"event_type":"text-generation","text":"x"}"#, "cohere"),
    (13, "", r#"{"event_type":"text","text":"x"}"#, ""),
    (14, "", r#"{"candidates":[]}"#, "gemini"),
    (14, "", r#"{"promptFeedback":{}}"#, "gemini"),
    (14, "", r#"{"response":{"usageMetadata":{}}}"#, "gemini"),
    (14, "", r#"{"prompt_feedback":{"block_reason":1}}"#, "gemini"),
    (14, "", r#"{"usage_metadata":{"total_token_count":3}}"#, "gemini"),
    (14, "", r#"{"usage_metadata":{"total_tokens":3}}"#, ""),
    (15, "", r#"{"type":"message-start"}"#, "cohere"),
    (16, "", r#"{"type":"start"}"#, "vercel-ui"),
    (16, "", r#"{"type":"data-weather","data":1}"#, "vercel-ui"),
    (17, "", r#"{"type":"TEXT_MESSAGE_CONTENT","delta":"x"}"#, "ag-ui"),
    (17, "", r#"{"type":"SOMETHING_ELSE"}"#, ""),
    (18, "", r#"{"type":"message.output.delta"}"#, "mistral-conversations"),
    (18, "", r#"{"type":"function.call.delta"}"#, "mistral-conversations"),
    (19, "", r#"{"model":"m","response":"x","done":false}"#, "ollama"),
    (20, "", r#"{"token":{"id":1},"generated_text":null}"#, "tgi"),
    (21, "", r#"{"content":"x","stop":false}"#, "llama-cpp"),
    (22, "result", r#"{"output":{"text":"x"},"request_id":"r"}"#, "dashscope"),
    (23, "", r#"{"choices":[]}"#, "openai-chat"),
    (23, "", r#"{"choices":null}"#, ""),
    (23, "", r#"{"choices":[{"index":0,"finish_reason":"stop"}]}"#, ""),
    (23, "", r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#, "openai-chat"),
    (24, "completion", r#"{"completion":" x","stop_reason":null}"#, "anthropic-messages"),
    (25, "messages/partial", "[]", "langserve"),
    (25, "values|sub", r#"{"x":1}"#, "langserve"),
    (25, "metadata", r#"{"run_id":"r"}"#, "langserve"),
    (25, "data", r#""text""#, ""),
    (26, "", r#"{"error":{"message":"m"}}"#, ""),
];

#[test]
fn rows_of_the_table() {
    for &(row, event, data, want) in ROWS {
        let event = Some(event).filter(|event| !event.is_empty());
        let got = voted(event, data, Framing::Sse).unwrap_or_default();
        assert_eq!(got, want, "row {row}: {event:?} {data}");
    }
}

#[test]
fn binary_messages_are_of_bedrock() {
    let vote = |event| voted(Some(event), r#"{"p":"ab"}"#, Framing::AwsEventstream);
    assert_eq!(vote("messageStart"), Some("bedrock-converse"));
    for name in ["chunk", "trace", "output", "citation"] {
        assert_eq!(vote(name), Some("bedrock-invoke"), "{name}");
    }
}

/// Plain bodies, as the formats' sections on the non-streamed response have them.
#[test]
fn documents() {
    for (data, want) in [
        (r#"{"object":"chat.completion","choices":[{"message":{}}]}"#, "openai-chat"),
        (r#"{"object":"response","output":[]}"#, "openai-responses"),
        (r#"{"type":"message","content":[]}"#, "anthropic-messages"),
        (r#"{"candidates":[]}"#, "gemini"),
        (r#"{"object":"interaction","steps":[]}"#, "gemini-interactions"),
        (r#"{"object":"text_completion","choices":[{"text":"x"}]}"#, "openai-completions"),
        (r#"{"object":"thread.run"}"#, "openai-assistants"),
        (r#"{"model":"m","message":{},"done":true}"#, "ollama"),
        (r#"{"id":"m","finish_reason":"COMPLETE","message":{"role":"assistant"}}"#, "cohere"),
        (r#"{"object":"conversation.response","outputs":[]}"#, "mistral-conversations"),
        (r#"{"output":{"message":{}},"stopReason":"end_turn"}"#, "bedrock-converse"),
        (r#"{"output":{"text":"x"},"request_id":"r"}"#, "dashscope"),
        (r#"{"code":"InvalidApiKey","message":"m","request_id":"r"}"#, "dashscope"),
        (r#"{"code":"c","message":"m"}"#, ""),
        (r#"{"generation":"x","generation_token_count":1,"stop_reason":"stop"}"#, "bedrock-invoke"),
        (r#"{"generation":"x"}"#, ""),
        (r#"{"results":[{"outputText":"x","completionReason":"FINISH"}]}"#, "bedrock-invoke"),
        (r#"{"outputs":[{"text":"x","stop_reason":"stop"}]}"#, "bedrock-invoke"),
        (r#"{"outputs":[{"text":"x"}]}"#, ""),
        (r#"{"generations":[{"text":"x","finish_reason":"COMPLETE"}]}"#, "bedrock-invoke"),
        (r#"{"output":"x","metadata":{"run_id":"r"}}"#, "langserve"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "mcp"),
        (r#"{"id":"u","role":"assistant","parts":[{"type":"text","text":"x"}]}"#, "vercel-ui"),
        (r#"{"role":"agent","parts":[{"type":"text","text":"x"}]}"#, ""),
        (r#"{"role":"assistant","parts":[{"text":"x"}]}"#, ""),
        (r#"{"role":"assistant","parts":[]}"#, ""),
        (r#"{"threadId":"t","runId":"r","messages":[]}"#, "ag-ui"),
        (r#"{"generated_text":"x"}"#, "tgi"),
        (r#"{"content":"x","stop":true}"#, "llama-cpp"),
        (r#"{"object":"list","data":[]}"#, ""),
        (r#"{"error":{"message":"m"}}"#, ""),
        ("[1,2]", ""),
    ] {
        assert_eq!(voted(None, data, Framing::Json).unwrap_or_default(), want, "{data}");
    }
}

#[test]
fn coded_lines() {
    for (line, want) in [
        (r#"0:"Hel""#, Some("vercel-data")),
        (r#"d:{"finishReason":"stop"}"#, Some("vercel-data")),
        (r#"z:"x""#, None),
        ("0:x", None),
        ("hello", None),
    ] {
        assert_eq!(vote_text(line), want, "{line}");
    }
}

/// `FORMATS.md` 1.1.
#[test]
fn paths() {
    for (path, want) in [
        ("/v1/chat/completions", "openai-chat"),
        ("/openai/deployments/d/chat/completions?api-version=1", "openai-chat"),
        ("/v1/completions", "openai-completions"),
        ("/openai/v1/responses", "openai-responses"),
        ("/v1/responses/resp_1?stream=true&starting_after=3", "openai-responses"),
        ("/backend-api/codex/responses", "openai-responses"),
        ("/v1/messages?beta=true", "anthropic-messages"),
        (
            "/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict",
            "anthropic-messages",
        ),
        ("/v1beta/models/g:streamGenerateContent?alt=sse", "gemini"),
        ("/v1beta/models/g:generateContent", "gemini"),
        ("/v1beta/interactions", "gemini-interactions"),
        ("/v1/threads/runs", "openai-assistants"),
        ("/v1/threads/t/runs", "openai-assistants"),
        ("/v1/threads/t/runs/r/submit_tool_outputs", "openai-assistants"),
        ("/threads/t/runs/stream", "langserve"),
        ("/api/chat", "ollama"),
        ("/api/generate", "ollama"),
        ("/v2/chat", "cohere"),
        ("/model/m/converse-stream", "bedrock-converse"),
        ("/model/m/invoke-with-response-stream", "bedrock-invoke"),
        ("/api/v1/services/aigc/text-generation/generation", "dashscope"),
        ("/chain/stream", "langserve"),
        ("/generate_stream", "tgi"),
        ("/completion", "llama-cpp"),
        ("/mcp", "mcp"),
        ("/v1/conversations", "mistral-conversations"),
        ("/v1/agents/completions", "openai-chat"),
        ("/v1/models", ""),
        ("/", ""),
    ] {
        assert_eq!(path_hint(path).unwrap_or_default(), want, "{path}");
    }
}
