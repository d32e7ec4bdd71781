//! Chat Completions: the examples of `FORMATS.md`, and its rules one by one.

use serde_json::Value;
use teeline_assembler::Verdict;

use crate::support::{SIZES, fixtures, ids, read, response};

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join("openai-chat").join(name)).unwrap()
}

/// The stream blocks of `FORMATS.md` A and H5 give its json blocks, with the findings it names.
#[test]
fn examples() {
    for (name, findings, verdict) in [
        ("A1", &[][..], Verdict::Finished),
        ("A2", &["index-reused"], Verdict::Finished),
        ("A3", &[], Verdict::Finished),
        ("A4", &["error-event"], Verdict::DidNotFinish),
        ("H5", &[], Verdict::Finished),
    ] {
        let body = fixture(&format!("{name}.sse"));
        let want: Value = serde_json::from_slice(&fixture(&format!("{name}.json"))).unwrap();
        for size in SIZES {
            let reading = read(&body, size);
            assert_eq!(reading.format, "openai-chat");
            assert_eq!(response(&reading), want, "{name}, chunks of {size}");
            assert_eq!(ids(&reading), findings, "{name}");
            assert_eq!(reading.verdict, verdict, "{name}");
        }
    }
}
