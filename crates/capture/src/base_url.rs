//! A 404 whose path suggests that the client's base URL is wrong.

use crate::record::Record;

/// First segments of paths that stand behind a version.
const ENDPOINTS: [&str; 7] =
    ["chat", "completions", "responses", "embeddings", "messages", "models", "images"];

/// The base URL that was probably meant.
pub(crate) fn suggestion(record: &Record) -> Option<String> {
    if record.status() != Some(404) {
        return None;
    }
    let host = record.request_header("host").or_else(|| record.request_header(":authority"));
    let base = path(&record.upstream, record.path())?;
    Some(host.map_or_else(|| base.clone(), |host| format!("http://{host}{base}")))
}

fn path(upstream: &str, path: &str) -> Option<String> {
    let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut base = String::new();
    if segments.first().is_some_and(|first| *first == upstream) {
        base = format!("/{upstream}");
        segments.remove(0);
    }
    let is_version = |segment: &str| {
        segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match segments.as_slice() {
        // Anthropic's SDKs bring the version themselves, and so do Google's.
        [first, second, third, ..] if first == second && is_version(first) => {
            let brought = ["messages", "models"].contains(third) && upstream != "openai";
            Some(if brought { base } else { format!("{base}/{first}") })
        }
        ["v1", "messages", ..] if upstream == "openai" => Some("/anthropic".to_owned()),
        [first, ..] if ENDPOINTS.contains(first) => match upstream {
            "gemini" | "cohere" | "ollama" => None,
            "anthropic" => Some(base).filter(|_| *first == "messages"),
            _ => Some(format!("{base}/v1")),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_lacks_or_is_doubled_is_named() {
        for (upstream, given, meant) in [
            ("openai", "/openai/chat/completions", Some("/openai/v1")),
            ("openai", "/openai/v1/v1/chat/completions", Some("/openai/v1")),
            ("openai", "/openai/v1/messages", Some("/anthropic")),
            ("openai", "/openai/v1/chat/completions", None),
            ("openai", "/openai/v1/models/none", None),
            ("anthropic", "/anthropic/v1/v1/messages", Some("/anthropic")),
            ("anthropic", "/anthropic/v1/messages", None),
            ("gemini", "/gemini/v1beta/v1beta/models/x", Some("/gemini")),
            ("default", "/chat/completions", Some("/v1")),
        ] {
            assert_eq!(path(upstream, given).as_deref(), meant, "{given}");
        }
    }
}
