//! The event types and what each does: the table of `FORMATS.md` B.3, row by row.

use super::place::{List, Place};

/// What an event does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    /// The response begins.
    Created,
    /// A newer snapshot of the response.
    Progress,
    /// The response ended, with this status.
    Terminal(&'static str),
    /// An error, apart from the response.
    Error,
    ItemAdded,
    ItemDone,
    /// An element of a list begins.
    ElementAdded(List),
    /// An element is whole.
    ElementDone(List),
    /// A piece of a text.
    Delta(fn(u64) -> Place),
    /// A whole text, under this key.
    Done(fn(u64) -> Place, &'static str),
    /// A command begins.
    CommandAdded,
    /// Pieces of a command's two outputs.
    OutputDelta,
    /// A command's outputs are whole.
    OutputDone,
    Annotation,
    /// What the provider runs is at this stage.
    Status(&'static str),
    /// What the provider runs failed.
    ToolFailed,
    /// A picture so far.
    Preview,
    /// A piece of audio, which has no place in the output.
    Audio,
    /// A piece of what the audio says.
    Transcript,
    /// Nothing that a response shows.
    Nothing(&'static str),
    KeepAlive,
}

/// What the event of this type does.
pub(super) fn find(kind: &str) -> Option<Deed> {
    EVENTS.iter().find(|(name, _)| *name == kind).map(|(_, deed)| *deed)
}

/// The 58 events of the schema in its order, then those that were seen on the wire. What is most frequent is
/// found as fast as what is first: there are few.
pub(super) const EVENTS: &[(&str, Deed)] = &[
    ("response.created", Deed::Created),
    ("response.queued", Deed::Progress),
    ("response.in_progress", Deed::Progress),
    ("response.completed", Deed::Terminal("completed")),
    ("response.incomplete", Deed::Terminal("incomplete")),
    ("response.failed", Deed::Terminal("failed")),
    ("error", Deed::Error),
    ("response.output_item.added", Deed::ItemAdded),
    ("response.output_item.done", Deed::ItemDone),
    ("response.content_part.added", Deed::ElementAdded(List::Content)),
    ("response.content_part.done", Deed::ElementDone(List::Content)),
    ("response.output_text.delta", Deed::Delta(Place::Text)),
    ("response.output_text.done", Deed::Done(Place::Text, "text")),
    ("response.output_text.annotation.added", Deed::Annotation),
    ("response.refusal.delta", Deed::Delta(Place::Refusal)),
    ("response.refusal.done", Deed::Done(Place::Refusal, "refusal")),
    ("response.reasoning_text.delta", Deed::Delta(Place::Reasoning)),
    ("response.reasoning_text.done", Deed::Done(Place::Reasoning, "text")),
    ("response.reasoning_summary_part.added", Deed::ElementAdded(List::Summary)),
    ("response.reasoning_summary_part.done", Deed::ElementDone(List::Summary)),
    ("response.reasoning_summary_text.delta", Deed::Delta(Place::Summary)),
    ("response.reasoning_summary_text.done", Deed::Done(Place::Summary, "text")),
    ("response.function_call_arguments.delta", Deed::Delta(|_| Place::Arguments)),
    ("response.function_call_arguments.done", Deed::Done(|_| Place::Arguments, "arguments")),
    ("response.custom_tool_call_input.delta", Deed::Delta(|_| Place::Input)),
    ("response.custom_tool_call_input.done", Deed::Done(|_| Place::Input, "input")),
    ("response.mcp_call_arguments.delta", Deed::Delta(|_| Place::Arguments)),
    ("response.mcp_call_arguments.done", Deed::Done(|_| Place::Arguments, "arguments")),
    ("response.mcp_call.in_progress", Deed::Status("in_progress")),
    ("response.mcp_call.completed", Deed::Status("completed")),
    ("response.mcp_call.failed", Deed::ToolFailed),
    ("response.mcp_list_tools.in_progress", Deed::Nothing("in progress")),
    ("response.mcp_list_tools.completed", Deed::Nothing("completed")),
    ("response.mcp_list_tools.failed", Deed::ToolFailed),
    ("response.file_search_call.in_progress", Deed::Status("in_progress")),
    ("response.file_search_call.searching", Deed::Status("searching")),
    ("response.file_search_call.completed", Deed::Status("completed")),
    ("response.web_search_call.in_progress", Deed::Status("in_progress")),
    ("response.web_search_call.searching", Deed::Status("searching")),
    ("response.web_search_call.completed", Deed::Status("completed")),
    ("response.code_interpreter_call.in_progress", Deed::Status("in_progress")),
    ("response.code_interpreter_call.interpreting", Deed::Status("interpreting")),
    ("response.code_interpreter_call.completed", Deed::Status("completed")),
    ("response.code_interpreter_call_code.delta", Deed::Delta(|_| Place::Code)),
    ("response.code_interpreter_call_code.done", Deed::Done(|_| Place::Code, "code")),
    ("response.image_generation_call.in_progress", Deed::Status("in_progress")),
    ("response.image_generation_call.generating", Deed::Status("generating")),
    ("response.image_generation_call.completed", Deed::Status("completed")),
    ("response.image_generation_call.partial_image", Deed::Preview),
    ("response.shell_call_command.added", Deed::CommandAdded),
    ("response.shell_call_command.delta", Deed::Delta(Place::Command)),
    ("response.shell_call_command.done", Deed::Done(Place::Command, "command")),
    ("response.shell_call_output_content.delta", Deed::OutputDelta),
    ("response.shell_call_output_content.done", Deed::OutputDone),
    ("response.audio.delta", Deed::Audio),
    ("response.audio.done", Deed::Nothing("audio done")),
    ("response.audio.transcript.delta", Deed::Transcript),
    ("response.audio.transcript.done", Deed::Nothing("transcript done")),
    // Not in the schema
    ("keepalive", Deed::KeepAlive),
    ("response.apply_patch_call_operation_diff.delta", Deed::Delta(|_| Place::Diff)),
    ("response.apply_patch_call_operation_diff.done", Deed::Done(|_| Place::Diff, "diff")),
    ("response.inject.created", Deed::Nothing("injected")),
    ("response.inject.failed", Deed::Nothing("not injected")),
];

/// The members that events have. Any other is named in `not-assembled`.
pub(super) const FIELDS: &[&str] = &[
    "type",
    "sequence_number",
    "item_id",
    "output_index",
    "content_index",
    "delta",
    "obfuscation",
    "logprobs",
    "response",
    "item",
    "part",
    "text",
    "refusal",
    "arguments",
    "name",
    "input",
    "code",
    "summary_index",
    "status",
    "annotation",
    "annotation_index",
    "command",
    "command_index",
    "output",
    "diff",
    "partial_image_index",
    "partial_image_b64",
    "size",
    "quality",
    "background",
    "output_format",
    // of errors, handled before
    "error",
    "message",
    "param",
    // beta: which agent an event is of
    "agent",
];

/// The key of the index that goes with a place.
pub(super) const fn index_key(place: Place) -> &'static str {
    match place {
        Place::Summary(_) => "summary_index",
        Place::Command(_) | Place::Stdout(_) | Place::Stderr(_) => "command_index",
        _ => "content_index",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema has 58 events; five more were seen.
    #[test]
    fn every_event_is_there_once() {
        let mut names: Vec<_> = EVENTS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 58 + 5);
    }
}
