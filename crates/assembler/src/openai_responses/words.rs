//! What statuses, reasons for an incomplete answer and error codes mean (`FORMATS.md` B.6, B.9).

use crate::format::Reason;

const OPENAI: &str = "OpenAI's published API schema";
const SALYRO: &str = "the notes on Salyro's streams";

/// The statuses, and after them the reasons of `incomplete_details`, which tell more.
pub(super) const REASONS: &[Reason] = &[
    reason("completed", "The answer came to its natural end."),
    reason("incomplete", "The answer is real and partial: it was cut."),
    reason("failed", "Generating failed; the error tells why."),
    reason("cancelled", "The response ran in the background and was cancelled."),
    reason("queued", "The response waits to be generated."),
    reason("in_progress", "The response is being generated."),
    reason(
        "max_output_tokens",
        "The answer is cut: the budget of output tokens, reasoning included, is used up.",
    ),
    reason("content_filter", "The answer is cut: a filter stopped it."),
    Reason {
        value: "length",
        meaning: "The answer is cut: the token limit was reached.",
        source: SALYRO,
    },
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: OPENAI }
}

pub(super) const ERRORS: &[(&str, &str)] = &[
    ("invalid_prompt", "The prompt is not valid, or the provider's policy forbids it."),
    ("data_residency_mismatch", "The request's data may not be processed in this region."),
    ("bio_policy", "The provider's policy on biological risks forbids the request."),
    ("vector_store_timeout", "Searching the vector store took too long."),
    ("invalid_image", "An image cannot be used."),
    ("invalid_image_format", "An image is in a format that is not read."),
    ("invalid_base64_image", "An image's base64 text cannot be decoded."),
    ("invalid_image_url", "An image's URL is not valid."),
    ("image_too_large", "An image has too many pixels."),
    ("image_too_small", "An image has too few pixels."),
    ("image_parse_error", "An image's file cannot be read."),
    ("image_content_policy_violation", "The provider's policy forbids an image."),
    ("invalid_image_mode", "An image's color mode is not read."),
    ("image_file_too_large", "An image's file is too large."),
    ("unsupported_image_media_type", "An image's media type is not read."),
    ("empty_image_file", "An image's file is empty."),
    ("failed_to_download_image", "The provider could not download an image from its URL."),
    ("image_file_not_found", "An image's file does not exist, or the key cannot see it."),
];
