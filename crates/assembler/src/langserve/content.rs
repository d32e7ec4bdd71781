//! The content of a message: a text, or a list of blocks.

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
    text::Str,
};

use super::{How, text_field};

/// What a block costs of the text limit beyond its bytes.
const BLOCK: usize = 256;

/// Types of blocks that are calls; they are read as such.
const CALLS: &[&str] =
    &["tool_use", "tool_call", "tool_call_chunk", "input_json_delta", "function_call"];

/// The content.
pub(super) struct Content {
    output: u64,
    is_answer: bool,
    blocks: Vec<Block>,
    /// A list came, be it empty.
    is_list: bool,
}

struct Block {
    /// Its index as it came.
    at: Option<Box<str>>,
    kind: Option<PartKind>,
    part: Option<PartId>,
    /// It was no block but a text.
    bare: bool,
    fields: Map,
}

impl Content {
    pub(super) fn new(output: u64, is_answer: bool) -> Self {
        Self { output, is_answer, blocks: Vec::new(), is_list: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether some of it may be deltas or not.
    pub(super) fn is_guessed(&self, draft: &Draft) -> bool {
        let parts = self.blocks.iter().filter_map(|block| block.part);
        parts.into_iter().any(|part| draft.get(part).doubt.is_some())
    }

    pub(super) fn read(&mut self, value: Json<'_>, how: How, draft: &mut Draft) {
        if let Some(text) = value.text() {
            return self.bare(&text, how, draft);
        }
        match value.items() {
            Some(items) => {
                self.is_list |= !items.is_empty() || self.blocks.is_empty();
                if how.adds() {
                    for item in items {
                        self.piece(item, how, draft);
                    }
                } else {
                    self.whole(&items, how, draft);
                }
            }
            None if value.is_null() => {}
            None => draft.bad_field("content", "a string or an array", value),
        }
    }

    fn bare(&mut self, text: &Str<'_>, how: How, draft: &mut Draft) {
        let kind = self.kind(PartKind::Text);
        if matches!(how, How::Snapshot | How::Final) && self.blocks.iter().any(|block| !block.bare)
        {
            return self.texts(kind, &[text], how, draft);
        }
        let last = self.blocks.iter().rposition(|block| block.kind == Some(kind));
        let known = last.filter(|at| self.blocks.get(*at).is_some_and(|block| block.bare));
        let at = match known {
            Some(at) => at,
            None if text.is_empty() => {
                self.is_list = false;
                return;
            }
            None => {
                let Some(at) = self.push(None, "text", draft) else { return };
                if let Some(block) = self.blocks.get_mut(at) {
                    block.bare = true;
                }
                at
            }
        };
        self.take(at, text, how, draft);
    }

    /// A piece: it goes on in the block of its index, or else in the last one of its type.
    fn piece(&mut self, item: Json<'_>, how: How, draft: &mut Draft) {
        if let Some(text) = item.text() {
            return self.bare(&text, how, draft);
        }
        let Some(fields) = item.object() else {
            return draft.bad_field("content[]", "an object", item);
        };
        let kind = fields.str("type").unwrap_or_default();
        let at = fields.some("index").map(Json::raw);
        if let Some(at) = self.find(at, &kind).or_else(|| self.push(at, &kind, draft)) {
            self.fill(at, &fields, how, draft);
        }
    }

    /// The block of this index and kind of text, made if it is not there.
    pub(super) fn at(&mut self, at: &str, kind: &str, draft: &mut Draft) -> Option<usize> {
        self.is_list = true;
        self.find(Some(at), kind).or_else(|| self.push(Some(at), kind, draft))
    }

    fn find(&self, at: Option<&str>, kind: &str) -> Option<usize> {
        let kind = text_field(kind).map(|(kind, _)| self.kind(kind));
        let fits = |block: &Block| {
            let same = block.kind == kind || kind.is_none();
            match at {
                Some(_) => block.at.as_deref() == at && same,
                None => block.kind == kind && kind.is_some(),
            }
        };
        // Pieces follow each other: the block is one of the last.
        let from = self.blocks.len().saturating_sub(SEARCHED);
        self.blocks.iter().skip(from).rposition(fits).map(|at| from + at)
    }

    fn push(&mut self, at: Option<&str>, kind: &str, draft: &mut Draft) -> Option<usize> {
        if !draft.admit(BLOCK) {
            return None;
        }
        let text = text_field(kind).map(|(kind, _)| self.kind(kind));
        let part = match text {
            Some(kind) => Some(draft.part(self.output, kind)),
            None if CALLS.contains(&kind) => None,
            None => {
                let part = draft.part(self.output, PartKind::Other("content"));
                let shown = Node::string(&teeline_finding::excerpt(kind));
                draft.get_mut(part).extra.set("type", shown);
                Some(part)
            }
        };
        let at = at.map(Into::into);
        self.blocks.push(Block { at, kind: text, part, bare: false, fields: Map::default() });
        Some(self.blocks.len() - 1)
    }

    /// What a tool says is no text of the answer.
    fn kind(&self, kind: PartKind) -> PartKind {
        if self.is_answer { kind } else { PartKind::Other("tool-message") }
    }

    /// The fields of a piece.
    pub(super) fn fill(&mut self, at: usize, fields: &Object<'_>, how: How, draft: &mut Draft) {
        let kind = fields.str("type").unwrap_or_default();
        let text = text_field(&kind).map(|(_, field)| field);
        for (key, value) in fields.iter() {
            if Some(key) == text {
                match value.text() {
                    Some(text) => self.take(at, &text, how, draft),
                    None if value.is_null() => {}
                    None => draft.bad_field("content[].text", "a string", value),
                }
            } else if let Some(block) = self.blocks.get_mut(at) {
                let verb = if key == "type" { Map::first_filled } else { Map::merge };
                draft.carry(&mut block.fields, key, value, verb);
            }
        }
        if let (Some(field), Some(block)) = (text, self.blocks.get_mut(at))
            && let Some(part) = block.part
        {
            block.fields.set(field, Node::Part(part));
        }
    }

    /// All of it: each text of a kind is that of the same place, unless they only are cut otherwise.
    fn whole(&mut self, items: &[Json<'_>], how: How, draft: &mut Draft) {
        let mut taken = Vec::new();
        for item in items {
            let text = item.text();
            let fields = item.object().unwrap_or_default();
            let kind = fields.str("type").unwrap_or_else(|| "text".into());
            match text_field(&kind) {
                Some((kind, field)) => {
                    let text = text.or_else(|| fields.get(field)?.text()).unwrap_or_default();
                    taken.push((self.kind(kind), text));
                }
                None if CALLS.contains(&&*kind) => {}
                None => {
                    let known = self.blocks.iter().filter(|block| block.kind.is_none()).count();
                    let now = items.iter().filter(|item| is_other(**item)).count();
                    if known < now {
                        self.push(None, &kind, draft);
                    }
                }
            }
        }
        for kind in
            [PartKind::Text, PartKind::Reasoning, PartKind::Refusal, self.kind(PartKind::Text)]
        {
            let texts: Vec<&Str<'_>> =
                taken.iter().filter(|(of, _)| *of == kind).map(|(_, text)| text).collect();
            if !texts.is_empty() {
                self.texts(kind, &texts, how, draft);
            }
        }
    }

    fn texts(&mut self, kind: PartKind, texts: &[&Str<'_>], how: How, draft: &mut Draft) {
        let of_kind = |block: &Block| block.kind == Some(kind);
        let known: Vec<usize> =
            (0..self.blocks.len()).filter(|at| self.blocks.get(*at).is_some_and(of_kind)).collect();
        let parts = || known.iter().filter_map(|at| self.blocks.get(*at)?.part);
        let before: Vec<u8> =
            parts().flat_map(|part| draft.get(part).text.as_bytes().to_vec()).collect();
        let now: Vec<u8> = texts.iter().flat_map(|text| text.as_bytes().to_vec()).collect();
        if before == now {
            return;
        }
        let name = match kind {
            PartKind::Reasoning => "reasoning",
            PartKind::Refusal => "refusal",
            _ => "text",
        };
        for at in 0..known.len().max(texts.len()) {
            let none = Str::default();
            let text = texts.get(at).copied().unwrap_or(&none);
            let place = known.get(at).copied().or_else(|| self.push(None, name, draft));
            if let Some(place) = place {
                self.take(place, text, how, draft);
            }
        }
    }

    /// A text of a block.
    pub(super) fn take(&mut self, at: usize, text: &Str<'_>, how: How, draft: &mut Draft) {
        let Some(part) = self.blocks.get(at).and_then(|block| block.part) else { return };
        how.take(part, text, "the text", draft);
    }

    /// Gives a block its type and the place of its text, where no event of its own did.
    pub(super) fn show(&mut self, at: usize, kind: &str, field: &str) {
        if let Some(block) = self.blocks.get_mut(at)
            && let Some(part) = block.part.filter(|_| !block.fields.has(field))
        {
            block.fields.set("type", Node::string(kind));
            block.fields.set(field, Node::Part(part));
        }
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        match self.blocks.as_slice() {
            [] if !self.is_list => out.string(""),
            [Block { bare: true, part: Some(part), .. }] => out.part(*part),
            blocks => out.array(|items| {
                for block in blocks {
                    match block.part.filter(|_| block.fields.is_empty()) {
                        Some(part) if block.kind.is_some() => items.item(|value| {
                            value.object(|fields| {
                                fields.string("type", "text");
                                fields.field("text", |value| value.part(part));
                            });
                        }),
                        _ => items.item(|value| value.object(|fields| fields.map(&block.fields))),
                    }
                }
            }),
        }
    }
}

/// Among so many of the last blocks the one of a piece is looked for.
const SEARCHED: usize = 256;

fn is_other(item: Json<'_>) -> bool {
    let kind = item.get("type").and_then(Json::str).unwrap_or_default();
    item.is_object() && text_field(&kind).is_none() && !CALLS.contains(&&*kind)
}
