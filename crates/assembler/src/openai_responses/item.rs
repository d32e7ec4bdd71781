//! One item of the output: its tree, the texts in it, and its parts in the reading.

mod shown;
mod texts;

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    text::Str,
};

use super::{
    kind::{CallKind, Kind},
    place::{List, Place, Texts},
};

/// What an item or a text costs of the text limit beyond its bytes.
const OVERHEAD: usize = 512;

/// An item of the output.
#[derive(Debug)]
pub(super) struct Item {
    /// Its place in the output.
    index: u64,
    /// The first id that came.
    pub(super) id: Option<String>,
    kind: Kind,
    type_name: String,
    /// The item as the response shows it; texts are put in as parts.
    pub(super) tree: Map,
    texts: BTreeMap<Place, PartId>,
    /// The part of the item itself, where it is no message and no reasoning.
    own: Option<PartId>,
    /// A summary has text, so that the reasoning itself is not shown beside it.
    summarised: bool,
    failure: Failure,
    /// How many pictures came before the final one.
    previews: u64,
}

/// What is known of an item's failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Failure {
    #[default]
    None,
    /// An event said so; the error comes with the whole item.
    Heard,
    Told,
}

impl Item {
    /// An item as it is when it begins. `None` when the bound is reached.
    pub(super) fn open(
        index: u64,
        item: &Object<'_>,
        raw: usize,
        draft: &mut Draft,
    ) -> Option<Self> {
        if !draft.admit(OVERHEAD + raw) {
            return None;
        }
        draft.output(0);
        let mut new = Self {
            index,
            id: None,
            kind: Kind::of(item),
            type_name: item.str("type").unwrap_or_default().into_owned(),
            tree: Map::default(),
            texts: BTreeMap::new(),
            own: None,
            summarised: false,
            failure: Failure::None,
            previews: 0,
        };
        if new.kind == Kind::Message {
            draft.role(0, &item.str("role").unwrap_or_default());
        }
        if let Some(kind) = new.kind.part() {
            let own = draft.part(0, kind);
            draft.get_mut(own).order = new.order(0);
            new.own = Some(own);
        }
        new.begin(item, draft);
        Some(new)
    }

    /// The item as a snapshot has it: its texts replace those known, and are no deltas.
    pub(super) fn begin(&mut self, item: &Object<'_>, draft: &mut Draft) {
        let texts = Texts::of(item);
        self.replace(item, &texts);
        for (place, text) in &texts.found {
            if let Some(part) = self.part(*place, draft) {
                draft.replace(part, text);
                self.ranks(*place, draft);
            }
        }
        self.identify(item, draft);
        self.describe(draft);
    }

    /// The whole item came: its texts are compared with what the deltas gave, and everything else is replaced.
    pub(super) fn complete(&mut self, item: &Object<'_>, draft: &mut Draft) {
        self.retype(item, draft);
        let texts = Texts::of(item);
        self.renumber(&texts);
        self.replace(item, &texts);
        for (place, text) in &texts.found {
            self.settle(*place, text, draft);
        }
        let gone: Vec<Place> =
            self.texts.keys().copied().filter(|place| texts.lack(*place)).collect();
        for place in gone {
            if let Some(part) = self.texts.remove(&place) {
                self.drop_text(place, part, draft);
            }
        }
        self.identify(item, draft);
        self.arguments(item, draft);
        self.close(draft);
        self.describe(draft);
        self.show_encrypted(draft);
        self.tell_failure(draft);
    }

    /// Another place in the output, as the final object has it.
    pub(super) fn move_to(&mut self, index: u64, draft: &mut Draft) {
        self.index = index;
        for (place, part) in &self.texts {
            draft.get_mut(*part).order = self.order(place.index());
        }
        if let Some(own) = self.own {
            draft.get_mut(own).order = self.order(0);
        }
    }

    /// Takes the item out of the answer. Returns how many bytes of text it had.
    pub(super) fn discard(&mut self, draft: &mut Draft) -> u64 {
        let parts: Vec<PartId> = self.parts().collect();
        let held = parts.iter().map(|part| draft.get(*part).text.len() as u64).sum();
        for part in parts {
            draft.discard(part);
        }
        self.texts.clear();
        self.own = None;
        held
    }

    /// Takes the item out because the final object has none like it: if deltas built text, that is a
    /// `done-mismatch`.
    pub(super) fn leave_out(&mut self, draft: &mut Draft) {
        for (place, part) in std::mem::take(&mut self.texts) {
            self.drop_text(place, part, draft);
        }
        self.discard(draft);
    }

    /// A piece of a text.
    pub(super) fn append(&mut self, place: Place, text: &Str<'_>, draft: &mut Draft) {
        if let Some(part) = self.part(place, draft) {
            draft.append(part, text);
            self.ranks(place, draft);
        }
    }

    /// A text as it begins: REPLACE, and no delta.
    pub(super) fn set(&mut self, place: Place, text: &Str<'_>, draft: &mut Draft) {
        if let Some(part) = self.part(place, draft) {
            draft.replace(part, text);
            self.ranks(place, draft);
        }
    }

    /// A text as it is in the end: REPLACE, and a `done-mismatch` if deltas gave another.
    pub(super) fn settle(&mut self, place: Place, text: &Str<'_>, draft: &mut Draft) {
        if let Some(part) = self.part(place, draft) {
            draft.settle(part, text, &self.name_of(place));
            self.ranks(place, draft);
        }
    }

    /// An element of a list begins or is whole.
    pub(super) fn element(
        &mut self,
        (list, index): (List, u64),
        element: &Object<'_>,
        is_whole: bool,
        draft: &mut Draft,
    ) {
        list.set(&mut self.tree, index, element);
        for place in list.places(index) {
            if let Some(part) = self.texts.get(&place) {
                place.put(&mut self.tree, Node::Part(*part));
            }
        }
        for (place, text) in list.texts(index, element, self.kind == Kind::Reasoning) {
            if is_whole {
                self.settle(place, &text, draft);
            } else {
                self.set(place, &text, draft);
            }
        }
    }

    /// A citation, at its place in the text's list or after the last.
    pub(super) fn annotate(
        &mut self,
        index: u64,
        at: Option<u64>,
        annotation: Json<'_>,
        draft: &mut Draft,
    ) {
        if self.part(Place::Text(index), draft).is_none() || !draft.admit(annotation.raw().len()) {
            return;
        }
        let element = List::Content.element(&mut self.tree, index, "output_text");
        let slots = element.entry("annotations").slots();
        let next = || slots.last_key_value().map_or(0, |(last, _)| last + 1);
        let at = at.unwrap_or_else(next);
        slots.insert(at, annotation.into());
    }

    /// Log probabilities of a text: more of them, or all.
    pub(super) fn logprobs(
        &mut self,
        index: u64,
        list: Json<'_>,
        is_whole: bool,
        draft: &mut Draft,
    ) {
        if list.is_array() && !list.is_blank() && self.texts.contains_key(&Place::Text(index)) {
            let element = List::Content.element(&mut self.tree, index, "output_text");
            if is_whole {
                draft.carry(element, "logprobs", list, Map::set_json);
            } else {
                draft.extend(element, "logprobs", list);
            }
        }
    }

    /// Where the provider is with the item.
    pub(super) fn status(&mut self, status: &str, draft: &mut Draft) {
        self.tree.set("status", Node::string(status));
        if let Some(own) = self.own {
            draft.get_mut(own).extra.set("status", Node::string(status));
        }
    }

    /// The item failed.
    pub(super) fn fail(&mut self, draft: &mut Draft) {
        if self.failure == Failure::None {
            self.failure = Failure::Heard;
        }
        // Lists of tools have no status.
        if self.type_name != "mcp_list_tools" {
            self.status("failed", draft);
        }
    }

    /// A picture so far, whole each time; the last one comes with the item.
    pub(super) fn preview(&mut self, draft: &mut Draft) {
        self.previews += 1;
        if let Some(own) = self.own {
            draft.get_mut(own).extra.set("previews", self.previews);
        }
    }

    /// FIRST+.
    pub(super) fn name(&mut self, name: Json<'_>, draft: &mut Draft) {
        draft.carry(&mut self.tree, "name", name, Map::first_filled);
        if let (Some(own), Some(name)) = (self.own, name.str()) {
            draft.call_name(own, &name);
        }
    }

    /// Everything of a call's text came: it is judged.
    pub(super) fn close(&self, draft: &mut Draft) {
        let is_judged = matches!(self.kind, Kind::Call(CallKind::Function | CallKind::Custom))
            || self.type_name == "mcp_call";
        if let Some(own) = self.own.filter(|_| is_judged) {
            draft.close_call(own);
        }
    }

    /// The body ended: what was not told.
    pub(super) fn finish(&mut self, draft: &mut Draft) {
        self.tell_failure(draft);
        self.show_encrypted(draft);
    }

    /// The provider ran the call itself: its output is in the same response.
    pub(super) fn is_answered(&self, draft: &mut Draft) {
        if let (Some(own), Kind::Call(_)) = (self.own, self.kind) {
            draft.get_mut(own).kind = PartKind::Other("provider-call");
        }
    }

    /// The item's type.
    pub(super) fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Whether an item is of the same type.
    pub(super) fn is_of_type(&self, item: &Object<'_>) -> bool {
        item.str("type").unwrap_or_default() == self.type_name
    }

    /// How whole a text is, as its part shows it.
    pub(super) fn mark(&self, place: Place, status: &str, draft: &mut Draft) {
        if let Some(part) = self.texts.get(&place) {
            draft.get_mut(*part).extra.set("status", Node::string(status));
        }
    }

    /// Whether the client has to answer it.
    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind, Kind::Call(_))
    }

    /// Whether it is what came of a call.
    pub(super) fn is_output(&self) -> bool {
        self.type_name.ends_with("_output")
    }

    /// What findings call it.
    pub(super) fn key(index: u64) -> Key {
        Key::Index("output item", index)
    }

    fn parts(&self) -> impl Iterator<Item = PartId> {
        let own = self.own;
        let others = self.texts.values().copied().filter(move |part| Some(*part) != own);
        own.into_iter().chain(others)
    }

    fn order(&self, index: u64) -> u64 {
        (self.index << 32) | index
    }

    /// The whole item is of another type, or it shows only now who runs it.
    fn retype(&mut self, item: &Object<'_>, draft: &mut Draft) {
        let kind = Kind::of(item);
        if !self.is_of_type(item) {
            self.discard(draft);
            if let Some(new) = Self::open(self.index, item, 0, draft) {
                *self = Self { id: self.id.take(), failure: self.failure, ..new };
            }
        } else if let (Some(own), Some(part)) =
            (self.own, kind.part().filter(|_| kind != self.kind))
        {
            self.kind = kind;
            draft.get_mut(own).kind = part;
        }
    }
}
