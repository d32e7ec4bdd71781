//! teeline: a local HTTP debugging proxy for LLM APIs.

mod args;
mod config;

fn main() {}
