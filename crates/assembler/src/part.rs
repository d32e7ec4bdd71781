//! The parts of an answer: texts, reasoning, refusals, tool calls and whatever else a format has.

use std::fmt;

use crate::{node::Map, tally::Tally, text::Text};

/// A part of a [`Draft`](crate::Draft).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartId(pub(crate) usize);

/// What a part is: where its text counts, and its `kind` in the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Text of the answer.
    Text,
    /// Reasoning, thinking, thought summaries.
    Reasoning,
    /// A refusal.
    Refusal,
    /// A tool call that the client has to answer; its text is the arguments.
    Call,
    /// Anything else, with its name in the reading; its text counts nowhere.
    Other(&'static str),
}

impl PartKind {
    /// The `kind` in the reading.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::Refusal => "refusal",
            Self::Call => "tool-call",
            Self::Other(name) => name,
        }
    }
}

/// How a block is addressed by the frames: the first field is a noun for it, as findings say it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// `block 3`.
    Index(&'static str, u64),
    /// `part 3.0`: an index within another.
    Pair(&'static str, u64, u64),
    /// ``step `s1` ``.
    Name(&'static str, Box<str>),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(noun, index) => write!(f, "{noun} {index}"),
            Self::Pair(noun, index, inner) => write!(f, "{noun} {index}.{inner}"),
            Self::Name(noun, name) => write!(f, "{noun} `{name}`"),
        }
    }
}

/// A tool call's own fields.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the call")]
pub struct Call {
    /// Its position among the calls of its output.
    pub index: u64,
    /// Its id.
    pub id: Option<String>,
    /// The tool.
    pub name: Option<String>,
    /// Its input is free text, never judged as JSON.
    pub free: bool,
    /// It needs no id to be answered.
    pub anonymous: bool,
    /// Everything of it came.
    pub complete: bool,
    /// Its arguments have been judged, or need no judgement: an object the format carried as one.
    pub judged: bool,
}

impl Call {
    /// What it would need to be answered and never got.
    pub(crate) fn missing(&self, needs_id: bool) -> Option<&'static str> {
        match (needs_id && !self.anonymous && self.id.is_none(), self.name.is_none()) {
            (true, true) => Some("id and name"),
            (true, false) => Some("id"),
            (false, true) => Some("name"),
            (false, false) => None,
        }
    }
}

/// What is known of a value of which nobody knows whether it is a delta.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hint {
    /// Who sends such values mostly sends the text so far: it is, unless the values say otherwise.
    pub snapshot: bool,
    /// How many tokens of the answer were counted by then.
    pub tokens: Option<u64>,
}

/// That nobody knows whether a part's values are deltas.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    /// What the part is called in a finding.
    pub(crate) what: Box<str>,
    pub(crate) snapshot: bool,
    /// They are the text so far.
    pub(crate) decided: bool,
}

/// A part while it grows.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Its text so far: a call's arguments, a block's text.
    pub text: Text,
    /// Of an output's parts of one kind, only those of the lowest rank that has text are joined: for
    /// formats that send the same text in several places.
    pub rank: u8,
    /// Where its text belongs among the others of its kind, ascending; equal ones as they came. For formats
    /// that stream an answer's pieces in another order than the answer has.
    pub order: u64,
    /// What else its entry in the reading's `parts` shows.
    pub extra: Map,
    /// The fields of a tool call.
    pub call: Call,
    /// The place of its output among the draft's.
    pub(crate) output: usize,
    /// Its place among the output's parts.
    pub(crate) place: u32,
    /// Where in `text` the newest value begins.
    pub(crate) newest: usize,
    pub(crate) tally: Tally,
    /// It is no longer of the answer.
    pub(crate) discarded: bool,
    /// Its values may be deltas or the text so far.
    pub(crate) doubt: Option<Doubt>,
}

impl Part {
    pub(crate) fn new(kind: PartKind, output: usize, place: u32) -> Self {
        Self {
            kind,
            text: Text::default(),
            rank: 0,
            order: 0,
            extra: Map::default(),
            call: Call::default(),
            output,
            place,
            newest: 0,
            tally: Tally::default(),
            discarded: false,
            doubt: None,
        }
    }

    /// The text as far as it is known, WTF-8: of an undecided part whose values look cumulative, the newest.
    pub(crate) fn shown(&self) -> &[u8] {
        let all = self.text.as_bytes();
        if self.looks_cumulative() { all.get(self.newest..).unwrap_or(all) } else { all }
    }

    /// Whether it is undecided, and its values speak for the text so far.
    pub(crate) fn looks_cumulative(&self) -> bool {
        self.doubt.as_ref().is_some_and(|doubt| {
            let leans = doubt.snapshot && self.tally.values() > 1 && !self.tally.is_delta();
            !doubt.decided && (leans || self.tally.evidence().is_some())
        })
    }

    /// Whether its values were found to be the text so far.
    pub(crate) fn is_cumulative(&self) -> bool {
        self.doubt.as_ref().is_some_and(|doubt| doubt.decided)
    }

    /// Whether deltas with text came for it.
    pub fn has_deltas(&self) -> bool {
        self.tally.values() > 0
    }
}
