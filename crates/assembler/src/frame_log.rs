//! What one frame did, for its row in the list of frames.

use crate::{part::PartKind, reading::Effect, text::Str};

/// How much of a frame's new text its row shows, in characters.
const SNIPPET: usize = 64;

/// How many places and deeds a row names.
const NAMED: usize = 16;

/// Text that a frame added in one place.
#[derive(Debug)]
struct Gain {
    kind: PartKind,
    unit: Option<u64>,
    call: Option<u64>,
    chars: u64,
}

/// What the verbs of one frame did. Words are only made where somebody asked for rows.
#[derive(Debug, Default)]
pub(crate) struct FrameLog {
    /// Whether rows are wanted.
    pub(crate) wanted: bool,
    /// New bytes of text, reasoning and refusal.
    pub(crate) text_bytes: u64,
    /// New bytes of tool arguments.
    pub(crate) call_bytes: u64,
    gains: Vec<Gain>,
    words: Vec<String>,
    snippet: String,
    kind: Option<(u8, &'static str)>,
    output: Option<u64>,
    several: bool,
    reasoned: bool,
}

/// Kinds of frames that are no text, by which one names the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    Error,
    End,
    Start,
    Usage,
    Control,
    KeepAlive,
    Other,
}

impl Deed {
    const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::End => "end",
            Self::Usage => "usage",
            Self::Start => "start",
            Self::Control => "control",
            Self::KeepAlive => "keep-alive",
            Self::Other => "other",
        }
    }
}

impl FrameLog {
    /// Begins with a new frame.
    pub(crate) fn clear(&mut self) {
        let wanted = self.wanted;
        *self = Self { wanted, ..Self::default() };
    }

    /// New text in a part of output `output`.
    pub(crate) fn gain(
        &mut self,
        kind: PartKind,
        output: u64,
        call: Option<u64>,
        rank: u8,
        text: &Str<'_>,
    ) {
        // The same reasoning under another key of the same frame is no gain.
        if kind == PartKind::Reasoning && std::mem::replace(&mut self.reasoned, true) && rank > 0 {
            return;
        }
        let bytes = text.as_bytes().len() as u64;
        match kind {
            PartKind::Text | PartKind::Reasoning | PartKind::Refusal => self.text_bytes += bytes,
            PartKind::Call => self.call_bytes += bytes,
            PartKind::Other(_) => {}
        }
        if !self.wanted {
            return;
        }
        self.touch(output);
        let full = self.gains.len() >= NAMED;
        let known = self
            .gains
            .iter_mut()
            .find(|gain| gain.kind == kind && gain.call == call && gain.unit == Some(output));
        match known {
            Some(gain) => gain.chars += text.chars(),
            None if full => return,
            None => self.gains.push(Gain { kind, unit: Some(output), call, chars: text.chars() }),
        }
        let room = SNIPPET.saturating_sub(self.snippet.chars().count());
        self.snippet.extend(text.to_str().chars().take(room));
    }

    /// Something else that the frame did.
    pub(crate) fn deed(&mut self, deed: Deed, words: impl FnOnce() -> String) {
        let rank = deed as u8;
        if self.kind.is_none_or(|(known, _)| rank < known) {
            self.kind = Some((rank, deed.name()));
        }
        if self.wanted {
            let words = words();
            if !words.is_empty() && self.words.len() < NAMED && !self.words.contains(&words) {
                self.words.push(words);
            }
        }
    }

    /// The frame was read: if it did nothing that shows, it is a control frame.
    pub(crate) fn known(&mut self) {
        if self.kind.is_none() {
            self.deed(Deed::Control, String::new);
        }
    }

    /// The output that the frame is about.
    pub(crate) fn touch(&mut self, output: u64) {
        self.several |= self.output.is_some_and(|known| known != output);
        self.output.get_or_insert(output);
    }

    /// The row's columns.
    pub(crate) fn effect(&self, unit: &str) -> Effect {
        let mut words: Vec<String> =
            self.gains.iter().map(|gain| self.gained(gain, unit)).collect();
        words.extend(self.words.iter().cloned());
        let gain = self.gains.first();
        let failed = self.kind.filter(|(rank, _)| *rank == Deed::Error as u8);
        let kind = match (failed, gain.map(|gain| gain.kind), self.kind) {
            (Some((_, name)), ..) | (_, None | Some(PartKind::Other(_)), Some((_, name))) => name,
            (_, Some(PartKind::Call), _) => "tool",
            (_, Some(PartKind::Other(_)), None) => Deed::Control.name(),
            (_, Some(kind), _) => kind.as_str(),
            (_, None, None) => Deed::Other.name(),
        };
        Effect {
            kind,
            carried: words.join(", "),
            output: self.output,
            call: gain.and_then(|gain| gain.call),
            snippet: self.snippet.clone(),
        }
    }

    fn gained(&self, gain: &Gain, unit: &str) -> String {
        let place = match gain.unit {
            Some(output) if self.several => format!("{unit} {output} "),
            _ => String::new(),
        };
        match gain.call {
            Some(call) => format!("{place}tool {call} args +{}", gain.chars),
            None => format!("{place}{} +{}", gain.kind.as_str(), gain.chars),
        }
    }
}
