//! What finish reasons and errors mean (`FORMATS.md` A.7, A.9).

use crate::format::Reason;

const OPENAI: &str = "OpenAI's published API schema";
const DEEPSEEK: &str = "DeepSeek's documentation";
const DEEPSEEK_WIRE: &str = "a recorded DeepSeek stream";
const MISTRAL: &str = "Mistral's client source";
const ROUTERS: &str = "the sources of Mistral's and OpenRouter's clients and of vLLM";
const SERVERS: &str = "the sources of vLLM and SGLang";
const VLLM: &str = "the source of vLLM";
const TGI: &str = "the source of Hugging Face TGI";
const UNVERIFIED: &str = "reports about the provider, not verified";

pub(crate) const REASONS: &[Reason] = &[
    reason("stop", "The answer came to its natural end, or a stop sequence matched.", OPENAI),
    reason(
        "length",
        "The token limit of the request or of the context was reached; the answer is cut.",
        OPENAI,
    ),
    reason("tool_calls", "The model wants tools called.", OPENAI),
    reason("content_filter", "A filter withheld or cut the answer.", OPENAI),
    reason(
        "function_call",
        "The model wants a function called (the deprecated form of `tool_calls`).",
        OPENAI,
    ),
    reason(
        "insufficient_system_resource",
        "The provider's servers ran out of capacity in the middle of the answer.",
        DEEPSEEK,
    ),
    reason("aborted", "The request was aborted.", DEEPSEEK_WIRE),
    reason("model_length", "The model's context window is used up.", MISTRAL),
    reason("error", "Generating failed.", ROUTERS),
    reason("abort", "The request was cancelled at the server.", SERVERS),
    reason("repetition", "The server's repetition detector stopped the answer.", VLLM),
    reason("eos_token", "The model wrote its end token: a natural end.", TGI),
    reason("stop_sequence", "A stop sequence matched.", TGI),
    reason("end_turn", "The model ended its turn.", UNVERIFIED),
    reason("sensitive", "A filter stopped the answer as sensitive.", UNVERIFIED),
    reason("network_error", "The provider's inference failed in its own network.", UNVERIFIED),
];

const fn reason(value: &'static str, meaning: &'static str, source: &'static str) -> Reason {
    Reason { value, meaning, source }
}

pub(super) const ERRORS: &[(&str, &str)] = &[
    ("overloaded", "The server has no capacity for the request now; try again later."),
    ("generation", "The server failed while it generated."),
    ("validation", "The request's values are not valid for the model."),
    ("incomplete_generation", "The server stopped before the answer was whole."),
];
