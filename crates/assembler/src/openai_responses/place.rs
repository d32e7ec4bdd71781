//! Where in an item the texts are that deltas build, and how they get there.

use std::collections::BTreeMap;

use crate::{
    draft::PartKind,
    json::{Json, Object},
    node::{Map, Node},
    text::Str,
};

/// The place of a text in an item. Indexes are those of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// `summary[i].text`.
    Summary(u64),
    /// `content[i].text` of an answer.
    Text(u64),
    /// `content[i].text` of reasoning.
    Reasoning(u64),
    /// `content[i].refusal`.
    Refusal(u64),
    /// `arguments`.
    Arguments,
    /// `input`.
    Input,
    /// `code`.
    Code,
    /// `action.commands[i]`.
    Command(u64),
    /// `output[i].stdout`.
    Stdout(u64),
    /// `output[i].stderr`.
    Stderr(u64),
    /// `operation.diff`.
    Diff,
}

/// A list of an item whose elements hold texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Content,
    Summary,
    Output,
}

impl Place {
    /// What a text here is in the reading.
    pub(super) const fn kind(self) -> PartKind {
        match self {
            Self::Text(_) => PartKind::Text,
            Self::Reasoning(_) | Self::Summary(_) => PartKind::Reasoning,
            Self::Refusal(_) => PartKind::Refusal,
            _ => PartKind::Other(self.words()),
        }
    }

    /// What a text here is called.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Summary(_) => "reasoning summary",
            Self::Text(_) => "text",
            Self::Reasoning(_) => "reasoning",
            Self::Refusal(_) => "refusal",
            Self::Arguments => "arguments",
            Self::Input => "input",
            Self::Code => "code",
            Self::Command(_) => "command",
            Self::Stdout(_) => "stdout",
            Self::Stderr(_) => "stderr",
            Self::Diff => "diff",
        }
    }

    /// Its index, 0 where there is none.
    pub(super) const fn index(self) -> u64 {
        match self {
            Self::Summary(index)
            | Self::Text(index)
            | Self::Reasoning(index)
            | Self::Refusal(index)
            | Self::Command(index)
            | Self::Stdout(index)
            | Self::Stderr(index) => index,
            Self::Arguments | Self::Input | Self::Code | Self::Diff => 0,
        }
    }

    /// The same place of another element.
    pub(super) const fn at(self, index: u64) -> Self {
        match self {
            Self::Summary(_) => Self::Summary(index),
            Self::Text(_) => Self::Text(index),
            Self::Reasoning(_) => Self::Reasoning(index),
            Self::Refusal(_) => Self::Refusal(index),
            Self::Command(_) => Self::Command(index),
            Self::Stdout(_) => Self::Stdout(index),
            Self::Stderr(_) => Self::Stderr(index),
            Self::Arguments | Self::Input | Self::Code | Self::Diff => self,
        }
    }

    /// Whether it is in an element of this list.
    pub(super) fn is_in(self, list: List) -> bool {
        list.places(self.index()).contains(&self)
    }

    /// Puts a text there; what leads to it is made where it is missing.
    pub(super) fn put(self, item: &mut Map, text: Node) {
        match self {
            Self::Summary(index) => {
                List::Summary.element(item, index, "summary_text").set("text", text);
            }
            Self::Text(index) => {
                List::Content.element(item, index, "output_text").set("text", text);
            }
            Self::Reasoning(index) => {
                List::Content.element(item, index, "reasoning_text").set("text", text);
            }
            Self::Refusal(index) => {
                List::Content.element(item, index, "refusal").set("refusal", text);
            }
            Self::Arguments => item.set("arguments", text),
            Self::Input => item.set("input", text),
            Self::Code => item.set("code", text),
            Self::Command(index) => {
                item.entry("action").object().entry("commands").slots().insert(index, text);
            }
            Self::Stdout(index) => List::Output.element(item, index, "").set("stdout", text),
            Self::Stderr(index) => List::Output.element(item, index, "").set("stderr", text),
            Self::Diff => item.entry("operation").object().set("diff", text),
        }
    }
}

impl List {
    const fn key(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Summary => "summary",
            Self::Output => "output",
        }
    }

    /// The places that an element has.
    pub(super) const fn places(self, index: u64) -> [Place; 3] {
        match self {
            Self::Content => [Place::Text(index), Place::Reasoning(index), Place::Refusal(index)],
            Self::Summary => [Place::Summary(index); 3],
            Self::Output => [Place::Stdout(index), Place::Stderr(index), Place::Stderr(index)],
        }
    }

    /// An element, to be changed; made with this type where it is missing. A command's output begins with
    /// empty texts and exit code 0, as the official accumulator has it.
    pub(super) fn element<'m>(self, item: &'m mut Map, index: u64, kind: &str) -> &'m mut Map {
        let node = item.entry(self.key()).slots().entry(index).or_insert_with(|| {
            let mut fresh = Map::default();
            if self == Self::Output {
                fresh.set("stdout", Node::string(""));
                fresh.set("stderr", Node::string(""));
                fresh.set("outcome", Json::from_known(r#"{"type":"exit","exit_code":0}"#));
            } else {
                fresh.set("type", Node::string(kind));
            }
            fresh.into()
        });
        node.object()
    }

    /// Sets an element to a value that came.
    pub(super) fn set(self, item: &mut Map, index: u64, element: &Object<'_>) {
        item.entry(self.key()).slots().insert(index, Map::from(element).into());
    }

    /// The texts of an element.
    pub(super) fn texts<'a>(
        self,
        index: u64,
        element: &Object<'a>,
        reasons: bool,
    ) -> Vec<(Place, Str<'a>)> {
        let is_reasoning = reasons || element.str("type").as_deref() == Some("reasoning_text");
        let places: &[(&str, Place)] = match self {
            Self::Content if is_reasoning => &[("text", Place::Reasoning(index))],
            Self::Content => &[("text", Place::Text(index)), ("refusal", Place::Refusal(index))],
            Self::Summary => &[("text", Place::Summary(index))],
            Self::Output => &[("stdout", Place::Stdout(index)), ("stderr", Place::Stderr(index))],
        };
        let found = |(key, place): &(&str, Place)| Some((*place, element.get(key)?.text()?));
        places.iter().filter_map(found).collect()
    }
}

/// The texts of a whole item, and how long its lists are.
#[derive(Debug, Default)]
pub(super) struct Texts<'a> {
    pub(super) found: BTreeMap<Place, Str<'a>>,
    content: usize,
    summary: usize,
    commands: usize,
    outputs: usize,
}

impl<'a> Texts<'a> {
    pub(super) fn of(item: &Object<'a>) -> Self {
        let mut texts = Self::default();
        let kind = item.str("type").unwrap_or_default();
        texts.summary = texts.list(List::Summary, item, false);
        texts.content = texts.list(List::Content, item, kind == "reasoning");
        if kind == "shell_call_output" {
            texts.outputs = texts.list(List::Output, item, false);
        }
        for (key, place) in
            [("arguments", Place::Arguments), ("input", Place::Input), ("code", Place::Code)]
        {
            texts.found.extend(item.get(key).and_then(Json::text).map(|text| (place, text)));
        }
        let inner = |key: &str, member: &str| item.get(key)?.get(member);
        texts.found.extend(
            inner("operation", "diff").and_then(Json::text).map(|text| (Place::Diff, text)),
        );
        let commands = inner("action", "commands").and_then(Json::items).unwrap_or_default();
        texts.commands = commands.len();
        let commands = (0..).zip(commands);
        texts.found.extend(
            commands.filter_map(|(at, command)| Some((Place::Command(at), command.text()?))),
        );
        texts
    }

    fn list(&mut self, list: List, item: &Object<'a>, reasons: bool) -> usize {
        let elements = item.get(list.key()).and_then(Json::items).unwrap_or_default();
        for (at, element) in (0..).zip(&elements) {
            if let Some(element) = element.object() {
                self.found.extend(list.texts(at, &element, reasons));
            }
        }
        elements.len()
    }

    /// How many elements a list has.
    pub(super) const fn len(&self, list: List) -> usize {
        match list {
            List::Content => self.content,
            List::Summary => self.summary,
            List::Output => self.outputs,
        }
    }

    /// Whether the item has a list for this place and no such element in it. A list that is missing or
    /// empty says nothing.
    pub(super) fn lack(&self, place: Place) -> bool {
        let length = match place {
            Place::Summary(_) => self.summary,
            Place::Text(_) | Place::Reasoning(_) | Place::Refusal(_) => self.content,
            Place::Command(_) => self.commands,
            Place::Stdout(_) | Place::Stderr(_) => self.outputs,
            Place::Arguments | Place::Input | Place::Code | Place::Diff => 0,
        };
        length > 0 && usize::try_from(place.index()).is_ok_and(|index| index >= length)
    }
}
