//! One answer in each format, and some that went wrong: the examples that the tests read, too.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use teeline_decoder::{Decoder, Options};
use teeline_finding::Findings;

use super::scenes::{Ending, Scene, pause};

/// A stream of a fixture, by its place in `tests/fixtures`.
macro_rules! fixture {
    ($path:literal) => {
        include_bytes!(concat!("../../../../../tests/fixtures/", $path))
    };
}

const SSE: &str = "text/event-stream";
const NDJSON: &str = "application/x-ndjson";
const AWS: &str = "application/vnd.amazon.eventstream";

/// Format, path, content type, body.
type Example = (&'static str, &'static str, &'static str, &'static [u8]);

/// In the order in which they are asked for. The rows of a format that has several begin with the plain one.
const EXAMPLES: &[Example] = &[
    ("cumulative", "/growing", SSE, fixture!("cumulative/growing.sse")),
    ("llama-cpp", "/completion", SSE, fixture!("llama-cpp/H12.sse")),
    ("tgi", "/generate_stream", SSE, fixture!("tgi/H11.sse")),
    ("vercel-data", "/ai/data", "text/plain", fixture!("vercel-data/H8b.txt")),
    ("vercel-ui", "/ai/ui", SSE, fixture!("vercel-ui/H8.sse")),
    ("ag-ui", "/agent", SSE, fixture!("ag-ui/H9.sse")),
    ("mcp", "/mcp", SSE, fixture!("mcp/H10.sse")),
    ("langserve", "/chain/stream", SSE, fixture!("langserve/F1.sse")),
    (
        "dashscope",
        "/api/v1/services/aigc/text-generation/generation",
        SSE,
        fixture!("dashscope/F2.sse"),
    ),
    (
        "bedrock-converse",
        "/model/demo/converse-stream",
        AWS,
        fixture!("bedrock-converse/H6.eventstream"),
    ),
    (
        "bedrock-invoke",
        "/model/demo/invoke-with-response-stream",
        AWS,
        fixture!("bedrock-invoke/anthropic.eventstream"),
    ),
    ("mistral-conversations", "/v1/conversations", SSE, fixture!("mistral-conversations/H5b.sse")),
    ("cohere", "/v2/chat", SSE, fixture!("cohere/H4.sse")),
    ("ollama", "/api/chat", NDJSON, fixture!("ollama/H3.ndjson")),
    ("openai-assistants", "/v1/threads/runs", SSE, fixture!("openai-assistants/H2.sse")),
    ("openai-completions", "/v1/completions", SSE, fixture!("openai-completions/H1.sse")),
    ("salyro-behavior", "/v1/behaviors/greeter/runs", SSE, fixture!("salyro-behavior/E1.sse")),
    ("gemini-interactions", "/v1beta/interactions", SSE, fixture!("gemini-interactions/D2A.sse")),
    (
        "gemini",
        "/v1beta/models/demo:streamGenerateContent",
        "application/json",
        fixture!("gemini/D2.array"),
    ),
    ("gemini", "/v1beta/models/demo:streamGenerateContent?alt=sse", SSE, fixture!("gemini/D1.sse")),
    ("anthropic-messages", "/v1/messages", SSE, fixture!("anthropic-messages/C1.sse")),
    ("openai-responses", "/v1/responses", SSE, fixture!("openai-responses/B1.sse")),
    // What goes wrong in the wild.
    ("openai-responses", "/v1/responses?cut", SSE, fixture!("cases/r-incomplete/stream.sse")),
    (
        "anthropic-messages",
        "/v1/messages?beta=true",
        SSE,
        fixture!("cases/a-error-midway/stream.sse"),
    ),
    (
        "openai-chat",
        "/gateway/v1/chat/completions",
        SSE,
        fixture!("cases/c-cumulative-content/stream.sse"),
    ),
    (
        "openai-chat",
        "/proxy/v1/chat/completions",
        SSE,
        fixture!("cases/f-html-error-inside/stream.sse"),
    ),
];

/// A scene for each example, frame by frame.
pub(super) fn examples() -> Vec<Scene> {
    EXAMPLES
        .iter()
        .map(|&(format, path, content_type, body)| Scene {
            path,
            request: request(format),
            content_type,
            pieces: paced(&Bytes::from_static(body)),
            ending: Ending::Clean,
        })
        .collect()
}

/// A request as such an API takes it, about.
fn request(format: &str) -> Value {
    let prompt = format!("Show me a stream of the format {format}.");
    let model = format!("demo-{format}");
    match format {
        "gemini" => json!({ "contents": [{ "role": "user", "parts": [{ "text": prompt }] }] }),
        "openai-responses" | "gemini-interactions" | "langserve" | "mistral-conversations" => {
            json!({ "model": model, "input": prompt, "stream": true })
        }
        "openai-completions" | "llama-cpp" => {
            json!({ "model": model, "prompt": prompt, "stream": true })
        }
        "ag-ui" => {
            json!({ "threadId": "t", "runId": "r", "messages": [{ "id": "u", "role": "user", "content": prompt }] })
        }
        "mcp" => {
            let params = json!({ "name": "show", "arguments": { "what": prompt } });
            json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
        }
        "tgi" => json!({ "model": model, "inputs": prompt, "stream": true }),
        _ => {
            json!({ "model": model, "stream": true, "messages": [{ "role": "user", "content": prompt }] })
        }
    }
}

/// The body cut where its frames begin, with pauses like a model's.
fn paced(body: &Bytes) -> Vec<(Duration, Bytes)> {
    let mut decoder = Decoder::new(Options::default());
    decoder.push(body.clone());
    decoder.finish();
    let mut findings = Findings::default();
    let frames = std::iter::from_fn(|| decoder.next_frame(&mut findings));
    let begins = frames.filter_map(|frame| usize::try_from(frame.offset).ok());
    // What stands before the first frame goes with it.
    let ends = begins.skip(1).chain([body.len()]);
    let mut rest = body.clone();
    let pieces = ends.map(|end| rest.split_to(end.saturating_sub(body.len() - rest.len())));
    // More quickly than a model: there are many, and the scenes worth a long look come after them.
    pieces.enumerate().map(|(position, piece)| (pause(position) / 4, piece)).collect()
}

#[cfg(test)]
mod tests {
    use teeline_assembler::{Assembly, End, FORMATS, Verdict};

    use super::*;

    #[test]
    fn there_is_an_answer_in_every_format_and_it_is_read_as_that() {
        for format in FORMATS {
            let mut examples = EXAMPLES.iter().filter(|(name, ..)| *name == format.name);
            if format.name != "openai-chat" {
                let (.., body) = examples.next().unwrap_or_else(|| panic!("no {}", format.name));
                let reading = read(Bytes::from_static(body));
                assert_eq!(reading.format, format.name);
                assert_eq!(
                    reading.verdict,
                    Verdict::Finished,
                    "{}: {}",
                    format.name,
                    reading.summary
                );
            }
        }
    }

    #[test]
    fn the_pieces_are_the_body() {
        for (name, .., body) in EXAMPLES {
            let pieces = paced(&Bytes::from_static(body));
            let joined: Vec<u8> = pieces.iter().flat_map(|(_, piece)| piece.to_vec()).collect();
            assert_eq!(joined, *body, "{name}");
            assert!(1 < pieces.len(), "{name}");
        }
    }

    fn read(body: Bytes) -> teeline_assembler::Reading {
        let mut assembly = Assembly::new(teeline_assembler::Options::default());
        assembly.push(body, None);
        assembly.finish(End::Clean);
        assembly.reading()
    }
}
