//! What the end-to-end tests share: a built `teeline` as a process, a raw HTTP client, and the rule for suites that
//! need something beyond Rust.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "support for tests: whatever fails here is a failed test"
)]

mod board;
mod browser;
pub mod chat;
pub mod generate;
mod http;
mod process;
mod require;
pub mod sdk;
mod turn;
mod world;

use std::path::{Path, PathBuf};

pub use board::{Board, Exchange};
pub use browser::Browser;
pub use http::{Client, Dechunk, Response, get, get_json, request};
pub use process::{Binary, Teeline, run, run_with_input};
pub use require::{Need, available, chromium, python, skipped};
pub use turn::Turn;
pub use world::{World, block_on, eventually, hex, sha256, text};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ stands in the repository")
        .to_owned()
}

/// A folder of `tests/fixtures`.
pub fn fixtures(name: &str) -> PathBuf {
    root().join("tests/fixtures").join(name)
}

/// The recorded streams of other people, which stand beside the repository and are never copied into it.
pub fn corpus() -> Option<PathBuf> {
    let folder = root().parent()?.join("shared/corpus");
    folder.join("manifest.jsonl").is_file().then_some(folder)
}
