//! The stream cases of public reports, judged as `tools/check.py` judges them.

use serde_json::{Value, json};
use teeline_assembler::format;

use crate::{
    judge::{judge, list, same, text},
    support::{SIZES, fixtures, read, value},
};

/// The cases' names of the formats.
const FORMATS: &[(&str, &str)] = &[
    ("chat", "openai-chat"),
    ("responses", "openai-responses"),
    ("anthropic", "anthropic-messages"),
    ("gemini", "gemini"),
    ("ollama", "ollama"),
];

/// Every case in a format that is read gives what its `expect.json` asks for, in any chunking.
#[test]
fn cases_of_public_reports() {
    let mut seen = 0;
    let mut faults = Vec::new();
    for entry in std::fs::read_dir(fixtures().join("cases")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(expect) = std::fs::read(path.join("expect.json")) else { continue };
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        let known = FORMATS.iter().find(|(name, _)| expect["format"] == *name);
        let Some((_, name)) = known.filter(|(_, name)| format(name).is_some()) else { continue };
        seen += 1;
        let body = std::fs::read(path.join(expect["input"].as_str().unwrap())).unwrap();
        if let Err(fault) = case(&body, name, &expect) {
            faults.push(format!("{}: {fault}", path.display()));
        }
    }
    assert!(seen > 30, "the cases are missing");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn case(body: &[u8], name: &str, expect: &Value) -> Result<(), String> {
    let whole = value(&read(body, 0));
    for size in SIZES {
        let reading = value(&read(body, size));
        same("another chunking", &reading, &whole)?;
        if !list(&expect["format_any_of"]).contains(&text(&reading["format"])) {
            same("format", &reading["format"], &json!(name))?;
        }
        if !expect["frames_dispatched"].is_null() && reading["framing"] == "sse" {
            same("events", &reading["counts"]["events"], &expect["frames_dispatched"])?;
        }
    }
    let alternatives = expect["alternatives"].as_array().into_iter().flatten().map(|alternative| {
        let mut want = expect.clone();
        want.as_object_mut().unwrap().extend(alternative.as_object().unwrap().clone());
        want
    });
    let first = judge(&whole, expect);
    if first.is_ok() || alternatives.into_iter().any(|want| judge(&whole, &want).is_ok()) {
        Ok(())
    } else {
        first
    }
}
