//! Which format is it: ordered tests on one frame, and the request's path as a hint (`FORMATS.md` 1).

mod langchain;
mod path;

use teeline_decoder::Framing;

use crate::{
    format::Event,
    json::{Json, Object},
};

pub use path::path_hint;

/// Which format a frame names; `None` for frames that many formats have.
pub(crate) fn vote(event: &Event<'_>) -> Option<&'static str> {
    let name = event.name().unwrap_or_default();
    if event.framing == Framing::AwsEventstream {
        // Both formats have the same exceptions.
        if event.is_exception() {
            return None;
        }
        return Some(match name {
            "chunk" | "trace" | "returnControl" | "files" | "output" | "citation" | "guardrail" => {
                "bedrock-invoke"
            }
            _ => "bedrock-converse",
        });
    }
    match &event.object {
        Some(object) => object_vote(object, name),
        None if langchain::is_message_list(event.json) => Some("langserve"),
        None if is_batch(event.json) => Some("mcp"),
        None => langchain::event(name),
    }
}

/// Which format a frame has the shape of that names none: it is that one's if no other frame names another.
pub(crate) fn shape(event: &Event<'_>) -> Option<&'static str> {
    event.object.as_ref().is_some_and(is_reason_only).then_some("openai-chat")
}

/// Which format an object is of that came inside another's frame.
pub(crate) fn vote_inner(object: &Object<'_>) -> Option<&'static str> {
    object_vote(object, "")
}

/// Which format a plain, non-streamed document is of.
pub(crate) fn vote_document(event: &Event<'_>) -> Option<&'static str> {
    let object = event.object.as_ref()?;
    let kind = object.str("object").unwrap_or_default();
    let data_type = object.str("type").unwrap_or_default();
    match (&*kind, &*data_type) {
        ("response", _) => return Some("openai-responses"),
        ("interaction", _) => return Some("gemini-interactions"),
        ("conversation.response", _) => return Some("mistral-conversations"),
        (_, "message") => return Some("anthropic-messages"),
        _ => {}
    }
    if object.get("stopReason").is_some() && object.get("output").is_some_and(Json::is_object) {
        return Some("bedrock-converse");
    }
    if object.has("finish_reason") && object.get("message").is_some_and(Json::is_object) {
        return Some("cohere");
    }
    if object.has("generation_id") && object.get("text").is_some_and(Json::is_string) {
        return Some("cohere");
    }
    if object.has("generated_text") {
        return Some("tgi");
    }
    if object.has("runId") && object.get("messages").is_some_and(Json::is_array) {
        return Some("ag-ui");
    }
    if object.str("role").as_deref() == Some("assistant")
        && object.get("parts").and_then(Json::items).is_some_and(|parts| is_ui(&parts))
    {
        return Some("vercel-ui");
    }
    if object.has("output")
        && object.get("metadata").is_some_and(|data| data.get("run_id").is_some())
    {
        return Some("langserve");
    }
    if is_dashscope_error(object) {
        return Some("dashscope");
    }
    if is_invoked(object) {
        return Some("bedrock-invoke");
    }
    object_vote(object, event.name().unwrap_or_default())
}

/// Lines of the Vercel data stream: a code, a colon, JSON.
pub(crate) fn vote_text(data: &str) -> Option<&'static str> {
    let (code, value) = data.split_once(':')?;
    let known = matches!(code.as_bytes(), [b'0'..=b'9' | b'a'..=b'k']);
    (known && Json::parse(value).is_ok()).then_some("vercel-data")
}

/// What a row of the table says of a frame.
enum Row {
    Names(&'static str),
    /// Many formats have such frames; no later row is asked.
    Neutral,
    /// The row does not fit.
    Next,
}

impl Row {
    fn from_known(name: Option<&'static str>) -> Self {
        name.map_or(Self::Neutral, Self::Names)
    }
}

/// Row 2, for several messages in one frame, as older versions of MCP send them.
fn is_batch(json: Json<'_>) -> bool {
    let is_rpc = |item: &Json<'_>| item.get("jsonrpc").is_some();
    json.items().is_some_and(|items| !items.is_empty() && items.iter().all(is_rpc))
}

/// The rows of the table that look at an object, in its order.
fn object_vote(object: &Object<'_>, event: &str) -> Option<&'static str> {
    if object.str("jsonrpc").as_deref() == Some("2.0") {
        return Some("mcp");
    }
    match named_object(object, event) {
        Row::Names(name) => return Some(name),
        Row::Neutral => return None,
        Row::Next => {}
    }
    let data_type = object.str("type").unwrap_or_default();
    match &*data_type {
        "ping" | "keepalive" => None,
        _ if langchain::is_langchain(object) => Some("langserve"),
        "error" => error_type(object),
        _ => google(object)
            .or_else(|| typed(&data_type))
            .or_else(|| shaped(object))
            .or_else(|| langchain::event(event)),
    }
}

/// Rows 4 to 10.
fn named_object(object: &Object<'_>, event: &str) -> Row {
    let kind = object.str("object").unwrap_or_default();
    let data_type = object.str("type").unwrap_or_default();
    if kind.starts_with("chat.completion")
        || matches!(&*kind, "chat.reasoning" | "chat.reasoning.done")
    {
        return Row::Names("openai-chat");
    }
    if kind == "text_completion" || has_choice_text(object) {
        return Row::Names("openai-completions");
    }
    if kind.starts_with("thread.") || event.starts_with("thread.") {
        return Row::Names("openai-assistants");
    }
    if data_type == "response.completed" || (data_type.is_empty() && event == "response.completed")
    {
        return Row::from_known(completed(object));
    }
    if data_type.starts_with("response.") && data_type != "response.started" {
        return Row::Names("openai-responses");
    }
    if is_behavior(&data_type) || (data_type.is_empty() && is_behavior(event)) {
        return Row::Names("salyro-behavior");
    }
    if is_anthropic(&data_type) { Row::Names("anthropic-messages") } else { Row::Next }
}

/// Row 7: the one name that two formats share.
fn completed(object: &Object<'_>) -> Option<&'static str> {
    if object.get("response").is_some_and(Json::is_object) {
        return Some("openai-responses");
    }
    object.get("usage")?.get("inputTokens").map(|_| "salyro-behavior")
}

/// Row 12: whose error it is.
fn error_type(object: &Object<'_>) -> Option<&'static str> {
    let inner = object.get("error").and_then(|error| error.get("type"));
    let numbered = object.has("sequence_number");
    if inner.is_some_and(Json::is_string) && !numbered {
        return Some("anthropic-messages");
    }
    if numbered || object.has("code") || object.has("message") {
        return Some("openai-responses");
    }
    object.has("errorText").then_some("vercel-ui")
}

/// Rows 13 and 14, and the events of Cohere's v1 (`FORMATS.md` H4), which has the key of row 13.
fn google(object: &Object<'_>) -> Option<&'static str> {
    let event_type = object.str("event_type").unwrap_or_default();
    if event_type.starts_with("interaction.") || event_type.starts_with("step.") {
        return Some("gemini-interactions");
    }
    if is_cohere_v1(&event_type) {
        return Some("cohere");
    }
    let wrapped =
        || object.get("response").and_then(Json::object).is_some_and(|inner| is_gemini(&inner));
    (is_gemini(object) || wrapped()).then_some("gemini")
}

/// Rows 15 to 18: what `type` alone names.
fn typed(data_type: &str) -> Option<&'static str> {
    match data_type {
        "message-start" | "content-start" | "content-delta" | "content-end" | "tool-plan-delta"
        | "tool-call-start" | "tool-call-delta" | "tool-call-end" | "citation-start"
        | "citation-end" | "message-end" | "debug" => Some("cohere"),
        "start"
        | "message-metadata"
        | "start-step"
        | "finish-step"
        | "reset-step"
        | "text-start"
        | "text-delta"
        | "text-end"
        | "reasoning-start"
        | "reasoning-delta"
        | "reasoning-end"
        | "tool-input-start"
        | "tool-input-delta"
        | "tool-input-available"
        | "tool-input-error"
        | "tool-approval-request"
        | "tool-approval-response"
        | "tool-output-available"
        | "tool-output-error"
        | "tool-output-denied"
        | "source-url"
        | "source-document"
        | "file"
        | "reasoning-file"
        | "custom"
        | "abort"
        | "finish" => Some("vercel-ui"),
        _ if data_type.starts_with("data-") => Some("vercel-ui"),
        _ if is_ag_ui(data_type) => Some("ag-ui"),
        "function.call.delta" => Some("mistral-conversations"),
        _ if ["conversation.", "message.output.", "tool.execution.", "agent.handoff."]
            .iter()
            .any(|prefix| data_type.starts_with(prefix)) =>
        {
            Some("mistral-conversations")
        }
        _ => None,
    }
}

/// Rows 19 to 24: what the keys tell.
fn shaped<'a>(object: &Object<'a>) -> Option<&'static str> {
    let is = |key: &str, test: fn(Json<'a>) -> bool| object.get(key).is_some_and(test);
    if is("done", |done| done.bool().is_some())
        && ["message", "response", "model"].iter().any(|key| object.has(key))
    {
        return Some("ollama");
    }
    if is("token", Json::is_object) && object.has("generated_text") {
        return Some("tgi");
    }
    if is("content", Json::is_string) && is("stop", |stop| stop.bool().is_some()) {
        return Some("llama-cpp");
    }
    if is("output", Json::is_object)
        && (object.has("request_id") || object.has("usage"))
        && !object.has("choices")
    {
        return Some("dashscope");
    }
    if is("choices", Json::is_array) {
        return (!is_reason_only(object)).then_some("openai-chat");
    }
    let legacy =
        is("completion", Json::is_string) || object.str("type").as_deref() == Some("completion");
    legacy.then_some("anthropic-messages")
}

/// The parts of a message of the AI SDK: Google's and others' have no types.
fn is_ui(parts: &[Json<'_>]) -> bool {
    !parts.is_empty() && parts.iter().all(|part| part.get("type").is_some_and(Json::is_string))
}

fn is_gemini(object: &Object<'_>) -> bool {
    // With these names, other vendors have fields of their own.
    let is_usage = |usage: Json<'_>| {
        ["prompt_token_count", "candidates_token_count", "total_token_count"]
            .iter()
            .any(|key| usage.get(key).is_some())
    };
    ["candidates", "promptFeedback", "prompt_feedback", "usageMetadata"]
        .iter()
        .any(|key| object.has(key))
        || object.get("usage_metadata").is_some_and(is_usage)
}

/// The whole answer of a model behind Bedrock whose vendor has no format here (`FORMATS.md` H7).
fn is_invoked(object: &Object<'_>) -> bool {
    let lists = |key: &str, inner: [&str; 2]| {
        let first = object.get(key).and_then(Json::items);
        let first = first.and_then(|list| list.first().copied()).and_then(Json::object);
        first.is_some_and(|item| inner.iter().all(|key| item.has(key)))
    };
    (object.has("generation") && object.has("generation_token_count"))
        || lists("results", ["outputText", "completionReason"])
        || lists("outputs", ["text", "stop_reason"])
        || lists("generations", ["text", "finish_reason"])
}

/// The whole of an error that `DashScope` answers (`FORMATS.md` F.2).
fn is_dashscope_error(object: &Object<'_>) -> bool {
    object.len() == 3
        && ["code", "message", "request_id"].iter().all(|key| object.str(key).is_some())
}

fn has_choice_text(object: &Object<'_>) -> bool {
    let first =
        object.get("choices").and_then(Json::items).and_then(|choices| choices.first().copied());
    first
        .and_then(Json::object)
        .is_some_and(|choice| choice.has("text") && !choice.has("delta") && !choice.has("message"))
}

/// Choices without any text: Chat and Completions both end with such a frame, and some servers begin with one.
fn is_reason_only(object: &Object<'_>) -> bool {
    let choices = object.get("choices").and_then(Json::items).unwrap_or_default();
    let is_bare = |choice: &Json<'_>| {
        let fields = choice.object().unwrap_or_default();
        fields.has("finish_reason")
            && !["delta", "message", "text"].iter().any(|key| fields.has(key))
    };
    !choices.is_empty() && choices.iter().all(is_bare)
}

fn is_behavior(name: &str) -> bool {
    matches!(
        name,
        "response.started"
            | "output_text.delta"
            | "tool.started"
            | "tool.completed"
            | "tool.failed"
    )
}

fn is_anthropic(data_type: &str) -> bool {
    matches!(
        data_type,
        "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "message_stop"
            | "vertex_event"
    )
}

fn is_cohere_v1(event_type: &str) -> bool {
    matches!(
        event_type,
        "stream-start"
            | "text-generation"
            | "tool-calls-chunk"
            | "tool-calls-generation"
            | "citation-generation"
            | "search-queries-generation"
            | "search-results"
            | "stream-end"
    )
}

fn is_ag_ui(data_type: &str) -> bool {
    matches!(data_type, "RAW" | "CUSTOM")
        || [
            "RUN_",
            "TEXT_MESSAGE_",
            "TOOL_CALL_",
            "REASONING_",
            "THINKING_",
            "STATE_",
            "MESSAGES_",
            "ACTIVITY_",
            "STEP_",
        ]
        .iter()
        .any(|prefix| data_type.starts_with(prefix))
            && data_type.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

#[cfg(test)]
mod tests;
