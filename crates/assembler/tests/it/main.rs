//! Readings against the specification: its examples, its rules, the cases of public reports, and laws.
#![cfg(test)]

mod absent;
mod ag_ui;
mod alike;
mod anthropic_messages;
mod bedrock_converse;
mod bedrock_invoke;
mod cases;
mod catalogue;
mod cohere;
mod cumulative;
mod dashscope;
mod eventstream;
mod gemini;
mod gemini_interactions;
mod judge;
mod langserve;
mod laws;
mod live;
mod llama_cpp;
mod mcp;
mod mistral_conversations;
mod near;
mod ollama;
mod openai_assistants;
mod openai_chat;
mod openai_completions;
mod openai_responses;
mod salyro_behavior;
mod support;
mod tgi;
mod unknown;
mod vercel_data;
mod vercel_ui;
