//! The words of the format.

use crate::format::Reason;

/// The type of the fault that an `abort` is.
pub(super) const ABORTED: &str = "abort";

const SDK: &str = "the source of the AI SDK";

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: SDK }
}

/// What the finish reasons mean; the older data stream has the same, and `unknown`.
pub(crate) const REASONS: &[Reason] = &[
    reason("stop", "The answer came to its natural end, or a stop sequence matched."),
    reason(
        "length",
        "The token limit of the request or of the context was reached; the answer is cut.",
    ),
    reason("content-filter", "A filter of the provider withheld the rest of the answer."),
    reason("tool-calls", "The model wants tools called."),
    reason("error", "Generating failed."),
    reason("other", "The provider gave a reason that the SDK has no word for."),
    reason("unknown", "The provider gave no reason that the SDK knows."),
];
