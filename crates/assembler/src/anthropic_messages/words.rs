//! What stop reasons and errors mean (`FORMATS.md` C.7, C.8).

use crate::format::Reason;

const SDK: &str = "the source of Anthropic's SDKs";

pub(crate) const REASONS: &[Reason] = &[
    reason("end_turn", "The model finished its turn."),
    reason("max_tokens", "The request's token limit was reached; the answer is cut."),
    reason("stop_sequence", "One of the stop sequences matched; `stop_sequence` says which."),
    reason("tool_use", "The model wants tools called; at least one call awaits its result."),
    reason(
        "pause_turn",
        "A long turn with the provider's own tools was paused; send the message back to go on.",
    ),
    reason(
        "refusal",
        "The model declined, or a safety classifier stopped it; `stop_details` may say more.",
    ),
    reason(
        "model_context_window_exceeded",
        "The model's context window was used up before the request's token limit.",
    ),
    reason("compaction", "The turn was paused after a compaction block was written."),
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: SDK }
}

pub(crate) const ERRORS: &[(&str, &str)] = &[
    ("invalid_request_error", "The request's format or content is wrong."),
    ("authentication_error", "The API key is missing, wrong or revoked."),
    ("billing_error", "The account cannot pay; waiting does not help."),
    ("permission_error", "The API key may not use this resource."),
    ("not_found_error", "The resource does not exist, or the key cannot see it."),
    ("rate_limit_error", "A rate limit of the account was hit; wait and try again."),
    ("timeout_error", "Anthropic took too long and gave up."),
    ("overloaded_error", "Anthropic's API is overloaded; try again later."),
    ("api_error", "Anthropic's API failed; the same request may work later."),
];
