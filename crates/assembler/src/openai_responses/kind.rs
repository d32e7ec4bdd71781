//! The types of items, and what each is in the reading (`FORMATS.md` B.4).

use crate::{
    draft::PartKind,
    json::{Json, Object},
};

use super::place::Place;

/// What an item is to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Texts and refusals.
    Message,
    /// Summaries and texts of reasoning.
    Reasoning,
    /// A call that the client has to answer.
    Call(CallKind),
    /// Anything else, mostly what the provider runs by itself: the name of its part.
    Other(&'static str),
}

/// How a call names its tool and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// `name`, and `arguments` as JSON text.
    Function,
    /// `name`, and `input` as free text.
    Custom,
    /// A tool of the API: its name, and the members of which the first one there holds the arguments.
    BuiltIn(&'static str, &'static [&'static str]),
}

impl Kind {
    pub(super) fn of(item: &Object<'_>) -> Self {
        let kind = item.str("type").unwrap_or_default();
        match &*kind {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Call(CallKind::Function),
            "custom_tool_call" => Self::Call(CallKind::Custom),
            "computer_call" => Self::Call(CallKind::BuiltIn("computer", &["action", "actions"])),
            "local_shell_call" => Self::Call(CallKind::BuiltIn("local_shell", &["action"])),
            "apply_patch_call" => Self::Call(CallKind::BuiltIn("apply_patch", &["operation"])),
            "shell_call" if !runs_in_container(item) => {
                Self::Call(CallKind::BuiltIn("shell", &["action"]))
            }
            "tool_search_call" if item.str("execution").as_deref() == Some("client") => {
                Self::Call(CallKind::BuiltIn("tool_search", &["arguments"]))
            }
            kind => Self::Other(part_name(kind)),
        }
    }

    /// The part of the item itself.
    pub(super) const fn part(self) -> Option<PartKind> {
        match self {
            Self::Message | Self::Reasoning => None,
            Self::Call(_) => Some(PartKind::Call),
            Self::Other(name) => Some(PartKind::Other(name)),
        }
    }

    /// The text of an item that its own part holds.
    pub(super) fn own_place(self, kind: &str) -> Option<Place> {
        match (self, kind) {
            (Self::Message | Self::Reasoning | Self::Call(CallKind::BuiltIn(..)), _) => None,
            (Self::Call(CallKind::Custom), _) => Some(Place::Input),
            (_, "code_interpreter_call" | "program") => Some(Place::Code),
            _ => Some(Place::Arguments),
        }
    }
}

/// Whether the provider runs a shell call, in a container of its own.
fn runs_in_container(item: &Object<'_>) -> bool {
    let environment = item.get("environment").and_then(|environment| environment.get("type"));
    environment.and_then(Json::str).is_some_and(|kind| kind.starts_with("container"))
}

fn part_name(kind: &str) -> &'static str {
    match kind {
        "mcp_call" => "mcp-call",
        "mcp_list_tools" => "mcp-list-tools",
        "mcp_approval_request" => "mcp-approval-request",
        "mcp_approval_response" => "mcp-approval-response",
        "file_search_call" => "file-search-call",
        "web_search_call" => "web-search-call",
        "code_interpreter_call" => "code-interpreter-call",
        "image_generation_call" => "image-generation-call",
        "shell_call" => "shell-call",
        "shell_call_output" => "shell-call-output",
        "apply_patch_call_output" => "apply-patch-call-output",
        "computer_call_output" => "computer-call-output",
        "local_shell_call_output" => "local-shell-call-output",
        "function_call_output" => "function-call-output",
        "custom_tool_call_output" => "custom-tool-call-output",
        "tool_search_call" => "tool-search-call",
        "tool_search_output" => "tool-search-output",
        "additional_tools" => "additional-tools",
        "program" => "program",
        "program_output" => "program-output",
        "compaction" => "compaction",
        _ => "other",
    }
}
