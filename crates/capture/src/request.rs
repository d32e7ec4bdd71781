//! What is of interest in a request's body: the model asked for, whether a stream was, and the last message.
//!
//! Every API names these in its own way; what is not found is not known, and nothing depends on it.

use std::collections::HashMap;

use serde::Deserialize as _;
use serde_json::value::RawValue;

use crate::retries::Retry;

/// Longer bodies are not looked into.
pub(crate) const LONGEST: usize = 8 << 20;

/// What a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) model: Option<String>,
    pub(crate) streamed: Option<bool>,
    /// The last message's text.
    pub(crate) message: String,
    /// The earlier exchange that it repeats.
    pub(crate) retry: Option<Retry>,
}

type Object<'a> = HashMap<String, &'a RawValue>;

impl Asked {
    /// Looks into a body, its content coding undone.
    pub(crate) fn of(body: &[u8]) -> Self {
        let Some(object) = std::str::from_utf8(body).ok().and_then(object) else {
            return Self::default();
        };
        let messages = ["messages", "input", "contents", "message", "prompt", "inputs"];
        let message = messages.iter().find_map(|key| object.get(*key));
        Self {
            model: object.get("model").or_else(|| object.get("modelId")).and_then(|raw| text(raw)),
            streamed: object.get("stream").and_then(|raw| raw.get().parse().ok()),
            message: message.map(|raw| last_text(raw, 8)).unwrap_or_default(),
            retry: None,
        }
    }
}

/// The members of a JSON object in order, those of equal name all; `None` if it is no object.
pub(crate) fn members(json: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> serde::de::Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    if !json.trim_start().starts_with('{') {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    serde::Deserializer::deserialize_map(&mut deserializer, Members).ok()
}

fn object(json: &str) -> Option<Object<'_>> {
    // Not derived: of a key that is there twice the last one counts, as with every client's parser.
    let mut deserializer = serde_json::Deserializer::from_str(json);
    Object::deserialize(&mut deserializer).ok()
}

/// A JSON string's text. A half of a surrogate pair, which no Rust string can hold, is replaced.
fn text(raw: &RawValue) -> Option<String> {
    let json = raw.get();
    if !json.starts_with('"') {
        return None;
    }
    serde_json::from_str(json).ok().or_else(|| {
        let bytes: Result<Vec<u8>, _> = serde_json::from_str::<Bytes>(json).map(|bytes| bytes.0);
        bytes.ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    })
}

/// A string read as bytes: `serde_json` then lets halves of surrogate pairs pass.
struct Bytes(Vec<u8>);

impl<'de> serde::Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

/// The text of a message, of the last of several, or of the parts of one.
fn last_text(raw: &RawValue, depth: u8) -> String {
    if depth == 0 {
        return String::new();
    }
    if let Some(text) = text(raw) {
        return text;
    }
    if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        let messages = list
            .iter()
            .any(|item| object(item.get()).is_some_and(|object| object.contains_key("role")));
        if messages {
            return list.last().map(|last| last_text(last, depth - 1)).unwrap_or_default();
        }
        let texts = list.iter().map(|item| last_text(item, depth - 1));
        return texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    }
    let Some(object) = object(raw.get()) else {
        return String::new();
    };
    let inner =
        ["content", "parts", "text", "output", "input"].iter().find_map(|key| object.get(*key));
    inner.map(|raw| last_text(raw, depth - 1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_is_found_in_every_api() {
        for (body, model, streamed, message) in [
            (
                r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}"#,
                Some("m"),
                Some(true),
                "b",
            ),
            (
                r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"b"}]}]}"#,
                Some("m"),
                None,
                "a\nb",
            ),
            (r#"{"model":"m","input":"hello"}"#, Some("m"), None, "hello"),
            (
                r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]}"#,
                None,
                None,
                "hi",
            ),
            (
                r#"{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"user","parts":[{"text":"y"}]}]}"#,
                None,
                None,
                "y",
            ),
            (r#"{"prompt":"p","stream":false}"#, None, Some(false), "p"),
            (r#"{"model":"a","model":"b"}"#, Some("b"), None, ""),
            (r#"{"prompt":"half \ud83d"}"#, None, None, "half \u{fffd}\u{fffd}\u{fffd}"),
            ("[1,2]", None, None, ""),
            ("not json", None, None, ""),
        ] {
            let asked = Asked::of(body.as_bytes());
            assert_eq!(
                (asked.model.as_deref(), asked.streamed, asked.message.as_str()),
                (model, streamed, message),
                "{body}"
            );
        }
    }
}
