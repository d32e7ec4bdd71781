//! What stop reasons and exceptions mean (`FORMATS.md` H6.2, H7).

use crate::format::Reason;

const AWS: &str = "the AWS service model of Bedrock";

pub(crate) const REASONS: &[Reason] = &[
    reason("end_turn", "The model finished its turn."),
    reason("tool_use", "The model wants tools called; at least one call awaits its result."),
    reason("max_tokens", "The request's token limit was reached; the answer is cut."),
    reason("stop_sequence", "One of the request's stop sequences matched."),
    reason("guardrail_intervened", "A guardrail blocked or replaced the answer."),
    reason("content_filtered", "A content filter withheld or cut the answer."),
    reason("malformed_model_output", "What the model wrote could not be read."),
    reason("malformed_tool_use", "The model wrote a tool call that could not be read."),
    reason(
        "model_context_window_exceeded",
        "The model's context window was used up before the request's token limit.",
    ),
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: AWS }
}

pub(crate) const ERRORS: &[(&str, &str)] = &[
    ("internalServerException", "Bedrock failed; the same request may work later."),
    (
        "modelStreamErrorException",
        "The model failed in the middle of its answer; `originalMessage` may say why.",
    ),
    ("modelTimeoutException", "The model took too long and Bedrock gave up."),
    ("validationException", "The request's values are not valid for the model."),
    ("throttlingException", "Too many requests or tokens in a short time; wait and try again."),
    ("serviceUnavailableException", "Bedrock cannot serve the request now; try again later."),
];
