//! Streams as providers send them, made from a seed: a response is thought out first and then cut into deltas by the
//! provider's rules. Nothing here knows how a stream is read, so the response is what every reader has to come back to.

mod ag_ui;
mod anthropic;
mod assistants;
mod bedrock;
mod body;
mod chat;
mod cohere;
mod cohere_v1;
mod completions;
mod conversations;
mod dashscope;
mod gemini;
mod interactions;
mod invoke;
mod langgraph;
mod langserve;
mod llama;
mod mcp;
mod mistral;
mod ollama;
mod random;
mod responses;
mod salyro;
mod snapshots;
mod tgi;
mod vercel_data;
mod vercel_ui;

use serde_json::Value;

use crate::sdk::Stream;

pub use random::Random;

/// A generator of streams of one format.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// Its name: the format's, or a dialect of it.
    pub name: &'static str,
    /// The format's name.
    pub format: &'static str,
    /// Arguments come as an object, whose text is the writer's own affair.
    pub objects: bool,
    /// Makes the stream of a seed.
    pub make: fn(u64) -> Generated,
    /// Makes only what the provider's own SDK knows: without fields of other vendors or rarer framings.
    pub official: fn(u64) -> Generated,
}

/// A stream and what it was made from.
#[derive(Clone, Debug)]
pub struct Generated {
    /// What is sent.
    pub stream: Stream,
    /// The response that the provider would have sent in one piece.
    pub response: Value,
    /// The same as the reader shows it, by output.
    pub outputs: Vec<Answer>,
}

/// One choice, candidate or message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Its reasoning.
    pub reasoning: String,
    /// Its refusal.
    pub refusal: String,
    /// Its tool calls: id, name, arguments as they were sent (compact where the format sends an object).
    pub calls: Vec<(Option<String>, String, String)>,
    /// Why it stopped.
    pub finish: Option<String>,
}

/// All generators.
pub const GENERATORS: &[Generator] = &[
    chat::GENERATOR,
    mistral::GENERATOR,
    responses::GENERATOR,
    anthropic::GENERATOR,
    gemini::GENERATOR,
    ollama::GENERATOR,
    cohere::GENERATOR,
    bedrock::GENERATOR,
    completions::GENERATOR,
    assistants::GENERATOR,
    salyro::GENERATOR,
    snapshots::GENERATOR,
    interactions::GENERATOR,
    cohere_v1::GENERATOR,
    conversations::GENERATOR,
    invoke::GENERATOR,
    dashscope::GENERATOR,
    langserve::GENERATOR,
    langgraph::GENERATOR,
    vercel_ui::GENERATOR,
    vercel_data::GENERATOR,
    ag_ui::GENERATOR,
    mcp::GENERATOR,
    tgi::GENERATOR,
    llama::GENERATOR,
];

/// The generator of this name.
pub fn generator(name: &str) -> &'static Generator {
    GENERATORS.iter().find(|generator| generator.name == name).expect("there is one of this name")
}

/// The first streams that a provider's own SDK is given.
pub fn official(name: &str, count: u64) -> Vec<Stream> {
    (0..count).map(|seed| (generator(name).official)(seed).stream).collect()
}
