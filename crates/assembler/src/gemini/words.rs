//! What finish reasons, block reasons and errors mean (`FORMATS.md` D.6, D.9).

use crate::format::Reason;

const BOTH: &str = "Google's published protos of the Gemini API and Vertex AI";
const GEMINI: &str = "Google's published proto of the Gemini API";
const VERTEX: &str = "Google's published proto of Vertex AI";
const UNVERIFIED: &str = "third-party client code, not verified";

pub(super) const REASONS: &[Reason] = &[
    reason("STOP", "The answer came to its natural end, or a stop sequence matched.", BOTH),
    reason("MAX_TOKENS", "The request's output limit was reached; the answer is cut.", BOTH),
    reason("SAFETY", "The answer was flagged as unsafe; its text may be withheld.", BOTH),
    reason("RECITATION", "The answer came too close to existing text.", BOTH),
    reason("LANGUAGE", "The answer would be in a language that is not supported.", GEMINI),
    reason("OTHER", "It stopped for a reason that is not stated.", BOTH),
    reason("BLOCKLIST", "The answer holds a forbidden term.", BOTH),
    reason("PROHIBITED_CONTENT", "The answer probably holds prohibited content.", BOTH),
    reason("SPII", "The answer may hold sensitive personal data.", BOTH),
    reason(
        "MALFORMED_FUNCTION_CALL",
        "The model wrote an invalid function call; `finishMessage` may show it.",
        BOTH,
    ),
    reason("MODEL_ARMOR", "Model Armor stopped the answer.", VERTEX),
    reason("IMAGE_SAFETY", "The image was withheld as unsafe.", GEMINI),
    reason("IMAGE_PROHIBITED_CONTENT", "The image was withheld as prohibited content.", GEMINI),
    reason("IMAGE_RECITATION", "The image was withheld as too close to an existing one.", GEMINI),
    reason("IMAGE_OTHER", "The image was withheld for a reason that is not stated.", GEMINI),
    reason("NO_IMAGE", "An image was expected, and the model made none.", GEMINI),
    reason(
        "UNEXPECTED_TOOL_CALL",
        "The model called a tool, though the request offers none.",
        GEMINI,
    ),
    reason("TOO_MANY_TOOL_CALLS", "The model called too many tools in a row.", GEMINI),
    reason(
        "MISSING_THOUGHT_SIGNATURE",
        "The request lacks a thought signature that the model needs.",
        UNVERIFIED,
    ),
    reason("MALFORMED_RESPONSE", "The model wrote an invalid response.", UNVERIFIED),
    reason("ESCALATION", "The answer was handed on.", UNVERIFIED),
];

const fn reason(value: &'static str, meaning: &'static str, source: &'static str) -> Reason {
    Reason { value, meaning, source }
}

/// What a block reason means, `""` if it is unknown.
pub(super) fn block_meaning(reason: &str) -> &'static str {
    match reason {
        "SAFETY" => "It was rated unsafe; see its safety ratings.",
        "OTHER" => "The reason is not stated.",
        "BLOCKLIST" => "It holds a term of the blocklist.",
        "PROHIBITED_CONTENT" => "It holds prohibited content.",
        "IMAGE_SAFETY" => "It asks for an unsafe image.",
        "MODEL_ARMOR" => "Model Armor blocked it.",
        "JAILBREAK" => "It was taken for a jailbreak attempt.",
        _ => "",
    }
}

/// Google's status names, the same in all its APIs.
pub(crate) const ERRORS: &[(&str, &str)] = &[
    ("INVALID_ARGUMENT", "The request is malformed or asks for something the model cannot do."),
    (
        "FAILED_PRECONDITION",
        "The account or its region may not use this; billing may have to be enabled.",
    ),
    ("OUT_OF_RANGE", "A value of the request is out of its range."),
    ("UNAUTHENTICATED", "The API key or token is missing, wrong or expired."),
    ("PERMISSION_DENIED", "The key may not use this model or resource."),
    ("NOT_FOUND", "The model or resource does not exist, or the key cannot see it."),
    ("ABORTED", "The request was aborted, mostly for a conflict with another one; try again."),
    (
        "RESOURCE_EXHAUSTED",
        "Too many requests or tokens in a short time, or the quota is used up; wait and try again.",
    ),
    ("CANCELLED", "The request was cancelled, mostly by the client."),
    ("INTERNAL", "The provider failed; the same request may work later."),
    ("UNKNOWN", "The provider failed; the same request may work later."),
    ("UNIMPLEMENTED", "The model or the API does not support what the request asks for."),
    ("UNAVAILABLE", "The provider is overloaded or down for now; try again later."),
    ("DEADLINE_EXCEEDED", "The provider took too long; a smaller prompt or a longer limit helps."),
];
