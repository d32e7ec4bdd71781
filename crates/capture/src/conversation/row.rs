//! A message as a row of the list of frames.

use serde_json::value::RawValue;
use teeline_assembler::{Effect, FrameRow, MessageFacts};
use teeline_decoder::websocket::{Message, Opcode};

use crate::Timestamp;
use crate::database::Part;
use crate::request::members;
use crate::summarise::millis;

/// Characters of a message that its row shows.
const SNIPPET: usize = 64;

/// An object without `type` is named by its keys, if they are no more than these.
const KEYS: usize = 3;

/// The longest name that is shown.
const NAME: usize = 80;

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    FromApp,
    FromUpstream,
}

impl Direction {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::FromApp => "from-app",
            Self::FromUpstream => "from-upstream",
        }
    }

    pub(crate) const fn sender(self) -> &'static str {
        match self {
            Self::FromApp => "app",
            Self::FromUpstream => "upstream",
        }
    }

    /// Where it is stored.
    pub(crate) const fn part(self) -> Part {
        match self {
            Self::FromApp => Part::Request,
            Self::FromUpstream => Part::Response,
        }
    }

    pub(crate) fn from_name(name: &str) -> Self {
        if name == Self::FromApp.as_str() { Self::FromApp } else { Self::FromUpstream }
    }

    /// As it is drawn: the app is on the left.
    const fn arrow(self) -> &'static str {
        match self {
            Self::FromApp => "→",
            Self::FromUpstream => "←",
        }
    }
}

/// What a message says, as text. Some send JSON in binary messages (Gemini Live does).
pub(crate) fn data_of(message: &Message) -> Option<String> {
    if let Some(text) = &message.text {
        return Some(text.as_str().to_owned());
    }
    let speaks = matches!(message.opcode, Opcode::Binary | Opcode::Ping | Opcode::Pong);
    let shown = speaks && !message.payload.is_empty();
    shown.then(|| std::str::from_utf8(&message.payload).ok().map(str::to_owned)).flatten()
}

/// What a JSON message calls itself: its `type`, or else its few keys.
pub(crate) fn event_of(data: &str) -> Option<String> {
    let members = members(data)?;
    let named = members.iter().rev().find(|(key, _)| key == "type");
    let name = match named {
        Some((_, raw)) => serde_json::from_str(RawValue::get(raw)).ok()?,
        None if (1..=KEYS).contains(&members.len()) => {
            let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
            keys.join(", ")
        }
        None => return None,
    };
    Some(name.chars().take(NAME).collect())
}

pub(super) fn row(
    index: u64,
    direction: Direction,
    message: &Message,
    data: Option<String>,
    started_at: Timestamp,
) -> FrameRow {
    let event = data.as_deref().and_then(event_of);
    FrameRow {
        index,
        offset: message.offset,
        length: message.length,
        line: 1,
        lines: 1,
        at: message.at_us.map(|at| started_at.plus_micros(at).to_string()),
        at_ms: message.at_us.map(millis),
        effect: Some(Effect {
            kind: kind(message, event.as_deref()),
            carried: carried(direction, message),
            output: None,
            call: None,
            snippet: data.iter().flat_map(|data| data.chars()).take(SNIPPET).collect(),
        }),
        event,
        data,
        id: None,
        retry: None,
        comments: Vec::new(),
        terminated: message.complete,
        dispatched: message.complete,
        message: Some(MessageFacts {
            direction: direction.as_str(),
            opcode: message.opcode.as_str(),
            size: message.size,
            fragments: message.frames,
            compressed: message.compressed,
            close_code: message.close,
            faults: message.faults.iter().map(ToString::to_string).collect(),
        }),
    }
}

fn kind(message: &Message, event: Option<&str>) -> &'static str {
    match message.opcode {
        Opcode::Ping | Opcode::Pong => "keep-alive",
        Opcode::Close => "end",
        _ if event == Some("error") => "error",
        _ => "other",
    }
}

fn carried(direction: Direction, message: &Message) -> String {
    let mut words = vec![format!("{} {}", direction.arrow(), message.opcode.as_str())];
    if let Some(code) = message.close {
        words.push(code.to_string());
    }
    if 1 < message.frames {
        words.push(format!("{} fragments", message.frames));
    }
    if message.compressed {
        words.push("compressed".to_owned());
        words.push("not decoded".to_owned());
    }
    if message.too_large {
        words.push("too large to be shown".to_owned());
    }
    if !message.complete {
        words.push("cut off".to_owned());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_named_as_they_name_themselves() {
        for (data, event) in [
            (r#"{"type":"session.created","event_id":"e"}"#, Some("session.created")),
            (r#"{"event_id":"e","type":"a","type":"b"}"#, Some("b")),
            (r#"{"setupComplete":{}}"#, Some("setupComplete")),
            (r#"{"serverContent":{},"usageMetadata":{}}"#, Some("serverContent, usageMetadata")),
            (r#"{"a":1,"b":1,"c":1,"d":1}"#, None),
            (r#"{"type":7}"#, None),
            ("{}", None),
            ("[1]", None),
            ("hello", None),
        ] {
            assert_eq!(event_of(data).as_deref(), event, "{data}");
        }
    }
}
