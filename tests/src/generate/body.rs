//! Bodies, written as different servers write them.

use bytes::Bytes;
use serde_json::Value;

use super::Random;
use crate::sdk::Stream;

/// How a server writes JSON: compact or with spaces, characters as they are or escaped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    spaces: bool,
    ascii: bool,
    html: bool,
}

impl Style {
    /// One of the styles.
    pub(super) fn of(random: &mut Random) -> Self {
        Self { spaces: random.chance(25), ascii: random.chance(25), html: false }
    }

    /// As Go writes it: what HTML and JavaScript would trip over is escaped.
    pub(super) fn go() -> Self {
        Self { spaces: false, ascii: false, html: true }
    }

    /// Writes a value.
    pub(super) fn json(self, value: &Value) -> String {
        let mut text = String::new();
        self.write(value, &mut text);
        text
    }

    fn write(self, value: &Value, text: &mut String) {
        let comma = if self.spaces { ", " } else { "," };
        match value {
            Value::String(string) => self.string(string, text),
            Value::Array(items) => {
                text.push('[');
                for (place, item) in items.iter().enumerate() {
                    text.push_str(if place == 0 { "" } else { comma });
                    self.write(item, text);
                }
                text.push(']');
            }
            Value::Object(members) => {
                text.push('{');
                for (place, (name, member)) in members.iter().enumerate() {
                    text.push_str(if place == 0 { "" } else { comma });
                    self.string(name, text);
                    text.push_str(if self.spaces { ": " } else { ":" });
                    self.write(member, text);
                }
                text.push('}');
            }
            other => text.push_str(&other.to_string()),
        }
    }

    fn string(self, string: &str, text: &mut String) {
        let quoted = Value::from(string).to_string();
        for character in quoted.chars() {
            let trips = matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
            if self.ascii && !character.is_ascii() || self.html && trips {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                text.push(character);
            }
        }
    }
}

/// An event stream in the making.
pub(super) struct Sse {
    random: Random,
    style: Style,
    line_end: &'static str,
    space: &'static str,
    keep_alive: &'static str,
    body: String,
}

impl Sse {
    /// An empty one. `keep_alive` is the comment that this server sends now and then; `""`: it sends none.
    pub(super) fn new(random: &mut Random, keep_alive: &'static str) -> Self {
        let style = Style::of(random);
        let (random, body) = (random.clone(), String::new());
        Self { random, style, line_end: "\n", space: " ", keep_alive, body }
    }

    /// The same with other line ends.
    pub(super) fn line_end(self, line_end: &'static str) -> Self {
        Self { line_end, ..self }
    }

    /// The same without a space before the data.
    pub(super) fn no_space(self) -> Self {
        Self { space: "", ..self }
    }

    /// A frame without a name.
    pub(super) fn data(&mut self, value: &Value) {
        let json = self.style.json(value);
        self.raw(&json);
    }

    /// A frame named after its type.
    pub(super) fn event(&mut self, value: &Value) {
        self.named(value["type"].as_str().expect("it has a type"), value);
    }

    /// A frame with this name.
    pub(super) fn named(&mut self, name: &str, value: &Value) {
        self.line(&format!("event: {name}"));
        self.data(value);
    }

    /// A frame of a name alone, which no standard reader dispatches.
    pub(super) fn bare(&mut self, name: &str) {
        self.body.extend(["event: ", name, self.line_end, self.line_end]);
    }

    /// A line of the frame that comes next.
    pub(super) fn line(&mut self, line: &str) {
        self.body.extend([line, self.line_end]);
    }

    /// A frame with this text.
    pub(super) fn raw(&mut self, data: &str) {
        self.body.extend(["data:", self.space, data, self.line_end, self.line_end]);
        if !self.keep_alive.is_empty() && self.random.chance(5) {
            self.body.extend([self.keep_alive, self.line_end, self.line_end]);
        }
    }

    /// The whole stream.
    pub(super) fn stream(self, format: &str, seed: u64) -> Stream {
        stream(format, seed, self.body.into(), "text/event-stream")
    }
}

/// A stream with the id of a generated one.
pub(super) fn stream(format: &str, seed: u64, body: Bytes, content_type: &'static str) -> Stream {
    Stream { id: format!("generated/{format}/{seed}"), body, content_type }
}
