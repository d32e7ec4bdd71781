//! What a request's path says of the format.

/// The format that a request path suggests (`FORMATS.md` 1.1). A hint: gateways rewrite paths.
pub fn path_hint(target: &str) -> Option<&'static str> {
    let path = target.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let ends = |suffix: &str| path.ends_with(suffix);
    let last = path.rsplit('/').next().unwrap_or_default();
    Some(match () {
        () if ends("/chat/completions") || ends("/agents/completions") => "openai-chat",
        () if ends("/completions") => "openai-completions",
        () if ends("/responses") || path.contains("/responses/") => "openai-responses",
        () if ends("/v1/messages")
            || last.ends_with(":streamRawPredict")
            || last.ends_with(":rawPredict") =>
        {
            "anthropic-messages"
        }
        () if last.ends_with(":streamGenerateContent") || last.ends_with(":generateContent") => {
            "gemini"
        }
        () if ends("/interactions") => "gemini-interactions",
        () if ends("/runs/stream") => "langserve",
        () if ends("/threads/runs")
            || ends("/submit_tool_outputs")
            || (path.contains("/threads/") && ends("/runs")) =>
        {
            "openai-assistants"
        }
        () if ends("/api/chat") || ends("/api/generate") => "ollama",
        () if ends("/v2/chat") => "cohere",
        () if ends("/converse-stream") || ends("/converse") => "bedrock-converse",
        () if ends("/invoke-with-response-stream") => "bedrock-invoke",
        () if path.contains("/services/aigc/") && ends("/generation") => "dashscope",
        () if ends("/generate_stream") => "tgi",
        () if ends("/stream") || ends("/stream_log") || ends("/stream_events") => "langserve",
        () if ends("/completion") || ends("/infill") => "llama-cpp",
        () if ends("/mcp") => "mcp",
        () if ends("/v1/conversations") || path.contains("/v1/conversations/") => {
            "mistral-conversations"
        }
        () => return None,
    })
}
