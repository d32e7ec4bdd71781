//! What `LangChain`'s messages and `LangGraph`'s events look like.

use crate::json::{Json, Object};

/// Row 3: a list of messages, or a message and its metadata.
pub(super) fn is_message_list(json: Json<'_>) -> bool {
    let Some(items) = json.items() else { return false };
    let is_message = |item: &Json<'_>| item.object().is_some_and(|item| is_message(&item));
    match items.as_slice() {
        [] => false,
        [message, metadata] if metadata.is_object() && !is_message(metadata) => is_message(message),
        items => items.iter().all(is_message),
    }
}

/// A message in a list, by its type alone.
fn is_message(object: &Object<'_>) -> bool {
    let data_type = object.str("type").unwrap_or_default();
    is_chunk(&data_type)
        || is_serialized(object)
        || matches!(
            &*data_type,
            "ai" | "human" | "tool" | "system" | "function" | "chat" | "remove"
        )
}

/// A message, an event in an envelope, or changes of a log.
pub(super) fn is_langchain(object: &Object<'_>) -> bool {
    is_lone_message(object) || is_envelope(object) || is_log(object)
}

/// A message that stands alone: its type is told by the class's name or by fields of its own.
fn is_lone_message(object: &Object<'_>) -> bool {
    let data_type = object.str("type").unwrap_or_default();
    is_chunk(&data_type) || is_serialized(object) || (data_type == "ai" && object.has("content"))
}

/// An event in an envelope.
fn is_envelope(object: &Object<'_>) -> bool {
    object.str("type").as_deref() == Some("event")
        && object.get("method").is_some_and(Json::is_string)
        && object.get("params").is_some_and(Json::is_object)
}

/// Changes of a run's log.
fn is_log(object: &Object<'_>) -> bool {
    let is_change = |change: &Json<'_>| change.get("op").is_some() && change.get("path").is_some();
    let changes = object.get("ops").and_then(Json::items).unwrap_or_default();
    !changes.is_empty() && changes.iter().all(is_change)
}

fn is_chunk(data_type: &str) -> bool {
    matches!(
        data_type,
        "AIMessageChunk"
            | "HumanMessageChunk"
            | "ToolMessageChunk"
            | "SystemMessageChunk"
            | "FunctionMessageChunk"
            | "ChatMessageChunk"
    )
}

/// An object as `LangChain` writes its own: its class is the last part of its id.
fn is_serialized(object: &Object<'_>) -> bool {
    let class = object.get("id").and_then(Json::items).and_then(|id| id.last()?.str());
    object.str("type").as_deref() == Some("constructor")
        && class.is_some_and(|class| class.ends_with("Message") || class.ends_with("MessageChunk"))
}

/// Row 25; a subgraph's name may follow the mode.
pub(super) fn event(event: &str) -> Option<&'static str> {
    let mode = event.split('|').next().unwrap_or_default();
    matches!(
        mode,
        "metadata"
            | "values"
            | "updates"
            | "messages"
            | "messages/partial"
            | "messages/complete"
            | "messages/metadata"
            | "custom"
            | "debug"
            | "events"
            | "tasks"
            | "checkpoints"
            | "end"
            | "feedback"
    )
    .then_some("langserve")
}
