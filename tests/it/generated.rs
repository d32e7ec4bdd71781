//! Generated streams of every format: read, they give the response back that they were made from.

use bytes::Bytes;
use teeline_assembler::{End, Options, Output, Reading, Verdict, read_all};
use teeline_tests::{
    generate::{Answer, Generated, Generator, generator},
    sdk::{fields, parse, response},
};

/// So many seeds of each format.
const STREAMS: u64 = 2_000;

fn read(generated: &Generated, size: usize) -> Reading {
    let options = Options {
        content_type: Some(generated.stream.content_type.to_owned()),
        ..Options::default()
    };
    let body = &generated.stream.body;
    let pieces = body.chunks(size).map(|piece| (Bytes::copy_from_slice(piece), None));
    read_all(options, pieces, End::Clean)
}

fn answer(output: &Output, objects: bool) -> Answer {
    let calls = output.tool_calls.iter().map(|call| {
        let arguments =
            if objects { parse(&call.arguments).to_string() } else { call.arguments.clone() };
        (call.id.clone(), call.name.clone().unwrap_or_default(), arguments)
    });
    Answer {
        text: output.text.clone(),
        reasoning: output.reasoning.clone(),
        refusal: output.refusal.clone(),
        calls: calls.collect(),
        finish: output.finish.as_ref().map(|finish| finish.reason.clone()),
    }
}

/// Reads all seeds of a format, whole and in pieces. `said`: what the reader may say of a valid stream.
fn comes_back(name: &str, said: &[&str]) {
    let Generator { format, make, objects, .. } = *generator(name);
    for seed in 0..STREAMS {
        let generated = make(seed);
        let id = &generated.stream.id;
        let size =
            if seed % 2 == 0 { generated.stream.body.len() } else { 1 + (seed % 61) as usize };
        let reading = read(&generated, size);
        assert_eq!((reading.format, reading.verdict), (format, Verdict::Finished), "{id}");
        let ours = response(&reading);
        assert!(
            ours == generated.response,
            "{id} reads as another response: {:#?}\nours: {ours}\nmade: {}",
            fields(&ours, &generated.response),
            generated.response
        );
        let answers: Vec<Answer> =
            reading.outputs.iter().map(|output| answer(output, objects)).collect();
        assert_eq!(answers, generated.outputs, "{id}");
        assert!(reading.error.is_none(), "{id}");
        let findings: Vec<_> = reading
            .findings
            .iter()
            .filter(|finding| !said.contains(&finding.kind.id()))
            .filter(|finding| {
                finding.kind.id() != "usage-missing" || !generated.response["usage"].is_null()
            })
            .map(|finding| finding.kind.message())
            .collect();
        assert!(findings.is_empty(), "{id} is valid, yet: {findings:?}");
    }
}

#[test]
fn openai_chat_comes_back() {
    comes_back("openai-chat", &[]);
}

#[test]
fn openai_responses_comes_back() {
    comes_back("openai-responses", &["incomplete"]);
}

#[test]
fn anthropic_messages_comes_back() {
    comes_back("anthropic-messages", &[]);
}

#[test]
fn gemini_comes_back() {
    comes_back("gemini", &["crlf"]);
}

#[test]
fn mistral_chat_comes_back() {
    comes_back("mistral-chat", &[]);
}

#[test]
fn ollama_comes_back() {
    comes_back("ollama", &[]);
}

#[test]
fn cohere_comes_back() {
    comes_back("cohere", &[]);
}

#[test]
fn bedrock_converse_comes_back() {
    comes_back("bedrock-converse", &[]);
}

#[test]
fn openai_completions_comes_back() {
    comes_back("openai-completions", &[]);
}

#[test]
fn openai_assistants_comes_back() {
    comes_back("openai-assistants", &["incomplete"]);
}

#[test]
fn salyro_behavior_comes_back() {
    comes_back("salyro-behavior", &["tool-failed"]);
}

#[test]
fn cumulative_comes_back() {
    comes_back("cumulative", &["cumulative"]);
}

#[test]
fn gemini_interactions_comes_back() {
    comes_back("gemini-interactions", &["incomplete"]);
}

#[test]
fn cohere_v1_comes_back() {
    comes_back("cohere-v1", &[]);
}

#[test]
fn mistral_conversations_comes_back() {
    comes_back("mistral-conversations", &[]);
}

#[test]
fn bedrock_invoke_comes_back() {
    comes_back("bedrock-invoke", &[]);
}

#[test]
fn dashscope_comes_back() {
    comes_back("dashscope", &["cumulative"]);
}

#[test]
fn langserve_comes_back() {
    comes_back("langserve", &["cumulative", "crlf"]);
}

#[test]
fn langgraph_comes_back() {
    comes_back("langgraph", &[]);
}

#[test]
fn vercel_ui_comes_back() {
    comes_back("vercel-ui", &[]);
}

#[test]
fn vercel_data_comes_back() {
    comes_back("vercel-data", &[]);
}

#[test]
fn ag_ui_comes_back() {
    comes_back("ag-ui", &[]);
}

#[test]
fn mcp_comes_back() {
    comes_back("mcp", &[]);
}

#[test]
fn tgi_comes_back() {
    comes_back("tgi", &[]);
}

#[test]
fn llama_cpp_comes_back() {
    comes_back("llama-cpp", &[]);
}
