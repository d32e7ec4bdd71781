//! What the statuses of a run mean (`FORMATS.md` H2).

use crate::format::Reason;

/// The statuses, and after them the reasons of `incomplete_details`, which tell more.
pub(super) const REASONS: &[Reason] = &[
    reason("completed", "The run came to its natural end."),
    reason("requires_action", "The model wants tools called; their outputs go on with the run."),
    reason("incomplete", "The run is real and partial: it was cut."),
    reason("failed", "The run failed; the error tells why."),
    reason("cancelled", "The run was cancelled."),
    reason("expired", "The run took too long, or tool outputs came too late."),
    reason("queued", "The run waits to begin."),
    reason("in_progress", "The run goes on."),
    reason("max_completion_tokens", "The run is cut: its budget of answer tokens is used up."),
    reason("max_prompt_tokens", "The run is cut: its budget of prompt tokens is used up."),
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: "OpenAI's published API schema" }
}
