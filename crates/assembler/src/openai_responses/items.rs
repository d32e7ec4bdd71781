//! The items of the output, each under its index, and the events that are about one of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::{Json, Object},
    response::Writer,
    text::Str,
};

use super::{
    index_in,
    item::Item,
    outcome::pairs,
    place::{List, Place},
    place_in,
};

/// The items so far.
#[derive(Debug, Default)]
pub(super) struct Items {
    by_index: BTreeMap<u64, Item>,
    /// Those that a snapshot of the response had, and no event of their own added.
    seeded: BTreeSet<u64>,
    /// Their indexes by item id, for servers that send no `output_index`.
    by_id: HashMap<String, u64>,
    /// The indexes of calls by call id.
    calls: HashMap<String, u64>,
    /// The item that was opened last.
    last: u64,
    transcript: Option<PartId>,
}

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.by_index.is_empty()
    }

    /// `response.output_item.added`.
    pub(super) fn add(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let Some((index, raw, item)) = item_of(frame, draft) else { return };
        let index = index.unwrap_or_else(|| self.next());
        let key = Item::key(index);
        let is_new = self.seeded.remove(&index);
        match self.by_index.get_mut(&index) {
            Some(known) if !is_new => {
                let replaced = known.discard(draft);
                draft.reopen_bare(&key, replaced);
            }
            Some(known) => {
                known.discard(draft);
                draft.open_bare(key);
            }
            None => drop(draft.open_bare(key)),
        }
        self.insert(index, raw, &item, draft);
        self.last = index;
    }

    /// `response.output_item.done`. An item that was never added is used all the same: it is complete.
    pub(super) fn done(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let Some((index, raw, item)) = item_of(frame, draft) else { return };
        let by_id = || item.str("id").and_then(|id| self.by_id.get(&*id).copied());
        let last = Some(self.last).filter(|_| !self.by_index.is_empty());
        let index = index.or_else(by_id).or(last).unwrap_or(0);
        let key = Item::key(index);
        if draft.is_open(&key) {
            draft.close(&key);
        } else if !self.by_index.contains_key(&index) {
            draft.unstarted(&key);
            self.insert(index, raw, &item, draft);
        }
        self.complete(index, &item, draft);
    }

    /// A part of a list begins or is whole; a command's output is whole.
    pub(super) fn element(
        &mut self,
        list: List,
        is_whole: bool,
        frame: &Object<'_>,
        draft: &mut Draft,
    ) {
        let place = match list {
            List::Content => Place::Text,
            List::Summary => Place::Summary,
            List::Output => Place::Stdout,
        };
        let Ok(place) = place_in(place, frame, draft) else { return };
        let value = match list {
            List::Output => {
                let outputs = frame.get("output").and_then(Json::items).unwrap_or_default();
                outputs.first().copied()
            }
            _ => frame.get("part"),
        };
        let Some(item) = self.find(frame, draft) else { return };
        let Some(element) = value.and_then(Json::object) else {
            let field = if list == List::Output { "output[0]" } else { "part" };
            draft.bad_field(field, "an object", value);
            return;
        };
        if draft.admit(value.map_or(0, |value| value.raw().len())) {
            item.element((list, place.index()), &element, is_whole, draft);
            if let (Some(status), List::Summary) = (frame.filled("status"), list) {
                item.mark(place, &status, draft);
            }
            draft.note(if is_whole { "part done" } else { "part added" });
        }
    }

    /// A piece of a text.
    pub(super) fn delta(&mut self, place: fn(u64) -> Place, frame: &Object<'_>, draft: &mut Draft) {
        let Ok(place) = place_in(place, frame, draft) else { return };
        let Some(item) = self.find(frame, draft) else { return };
        let value = frame.get("delta").unwrap_or(Json::NULL);
        match value.text() {
            Some(text) => item.append(place, &text, draft),
            // Some code deltas are null.
            None if value.is_null() => item.append(place, &Str::default(), draft),
            None => draft.bad_field("delta", "a string", value),
        }
        if let (Place::Text(index), Some(logprobs)) = (place, frame.get("logprobs")) {
            item.logprobs(index, logprobs, false, draft);
        }
    }

    /// A whole text, under `key`.
    pub(super) fn settle(
        &mut self,
        place: fn(u64) -> Place,
        key: &str,
        frame: &Object<'_>,
        draft: &mut Draft,
    ) {
        let Ok(place) = place_in(place, frame, draft) else { return };
        let Some(item) = self.find(frame, draft) else { return };
        if let Some(value) = frame.some(key) {
            match value.text() {
                Some(text) => item.settle(place, &text, draft),
                None => draft.bad_field(key, "a string", value),
            }
        }
        if let (Place::Text(index), Some(logprobs)) = (place, frame.get("logprobs")) {
            item.logprobs(index, logprobs, true, draft);
        }
        if let Some(name) = frame.some("name").filter(|_| place == Place::Arguments) {
            item.name(name, draft);
        }
        if matches!(place, Place::Arguments | Place::Input) {
            item.close(draft);
        }
        draft.note(&format!("{} done", place.words()));
    }

    /// A shell command begins.
    pub(super) fn command(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let Ok(place) = place_in(Place::Command, frame, draft) else { return };
        let Some(item) = self.find(frame, draft) else { return };
        let value = frame.get("command");
        match value.and_then(Json::text) {
            Some(text) => item.set(place, &text, draft),
            None => draft.bad_field("command", "a string", value),
        }
    }

    /// Pieces of a command's outputs.
    pub(super) fn output_delta(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let Ok(place) = place_in(Place::Stdout, frame, draft) else { return };
        let Some(item) = self.find(frame, draft) else { return };
        let value = frame.get("delta");
        let Some(delta) = value.and_then(Json::object) else {
            draft.bad_field("delta", "an object", value);
            return;
        };
        for (place, text) in List::Output.texts(place.index(), &delta, false) {
            item.append(place, &text, draft);
        }
    }

    /// A citation.
    pub(super) fn annotation(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let Ok(place) = place_in(Place::Text, frame, draft) else { return };
        let Ok(at) = index_in(frame, "annotation_index", draft) else { return };
        let Some(item) = self.find(frame, draft) else { return };
        if let Some(annotation) = frame.some("annotation") {
            item.annotate(place.index(), at, annotation, draft);
            draft.note("annotation");
        }
    }

    /// Where the provider is with what it runs.
    pub(super) fn status(&mut self, status: &str, frame: &Object<'_>, draft: &mut Draft) {
        if let Some(item) = self.find(frame, draft) {
            item.status(status, draft);
            draft.note(status);
        }
    }

    /// What the provider runs failed.
    pub(super) fn tool_failed(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        if let Some(item) = self.find(frame, draft) {
            item.fail(draft);
            draft.note("failed");
        }
    }

    /// A picture so far: the whole one comes with the item.
    pub(super) fn preview(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        if let Some(item) = self.find(frame, draft) {
            item.preview(draft);
            draft.note("preview");
        }
    }

    /// What the audio says, which has no place in the output.
    pub(super) fn transcript(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        draft.not_assembled("response.audio.transcript.delta");
        if let Some(text) = frame.get("delta").and_then(Json::text) {
            let part = *self
                .transcript
                .get_or_insert_with(|| draft.part(0, PartKind::Other("transcript")));
            draft.append(part, &text);
        }
    }

    /// The agent that an event is of: LAST on the item.
    pub(super) fn agent(&mut self, frame: &Object<'_>, agent: Json<'_>, draft: &mut Draft) {
        let item = self.locate(frame).and_then(|index| self.by_index.get_mut(&index));
        match item {
            Some(item) if frame.has("output_index") || frame.has("item_id") => {
                draft.carry(&mut item.tree, "agent", agent, crate::node::Map::last);
            }
            _ => draft.not_assembled("agent"),
        }
    }

    /// Items that a snapshot of the response has beyond those that were added.
    pub(super) fn seed(&mut self, response: &Object<'_>, draft: &mut Draft) {
        let output = response.get("output").and_then(Json::items).unwrap_or_default();
        if output.len() < self.by_index.len() {
            return;
        }
        for (index, raw) in (0..).zip(&output) {
            let Some(item) = raw.object() else { continue };
            if let Some(known) = self.by_index.get_mut(&index) {
                if self.seeded.contains(&index) {
                    known.begin(&item, draft);
                }
            } else if self.insert(index, raw.raw().len(), &item, draft) {
                self.seeded.insert(index);
            }
        }
    }

    /// The final object's output: what was assembled is compared with it and gives way.
    pub(super) fn rest(&mut self, output: &[Json<'_>], draft: &mut Draft) {
        let finals: Vec<(u64, usize, Object<'_>)> = (0..)
            .zip(output)
            .filter_map(|(at, raw)| Some((at, raw.raw().len(), raw.object()?)))
            .collect();
        let mut known = std::mem::take(&mut self.by_index);
        let pairs = pairs(&known, &finals);
        for ((at, raw, item), index) in finals.iter().zip(pairs) {
            match index.and_then(|index| known.remove(&index)) {
                Some(mut old) => {
                    old.move_to(*at, draft);
                    self.by_index.insert(*at, old);
                }
                None => drop(self.insert(*at, *raw, item, draft)),
            }
        }
        for mut old in known.into_values() {
            old.leave_out(draft);
        }
        self.calls.clear();
        for (at, _, item) in &finals {
            self.complete(*at, item, draft);
        }
    }

    /// The body ended.
    pub(super) fn finish(&mut self, draft: &mut Draft) {
        self.by_index.values_mut().for_each(|item| item.finish(draft));
    }

    /// Writes the output.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.array(|items| {
            for item in self.by_index.values() {
                items.item(|value| value.object(|fields| fields.map(&item.tree)));
            }
        });
    }

    fn insert(&mut self, index: u64, raw: usize, item: &Object<'_>, draft: &mut Draft) -> bool {
        let Some(new) = Item::open(index, item, raw, draft) else { return false };
        if let Some(id) = &new.id {
            self.by_id.insert(id.clone(), index);
        }
        self.by_index.insert(index, new);
        self.answer(index, item, draft);
        true
    }

    fn complete(&mut self, index: u64, item: &Object<'_>, draft: &mut Draft) {
        if let Some(known) = self.by_index.get_mut(&index) {
            known.complete(item, draft);
        }
        self.answer(index, item, draft);
    }

    /// A call whose output is in the same response was run by the provider.
    fn answer(&mut self, index: u64, item: &Object<'_>, draft: &mut Draft) {
        let (Some(id), Some(new)) = (item.filled("call_id"), self.by_index.get(&index)) else {
            return;
        };
        if new.is_call() {
            self.calls.insert(id.into_owned(), index);
        } else if new.is_output()
            && let Some(call) = self.calls.get(&*id).and_then(|call| self.by_index.get(call))
        {
            call.is_answered(draft);
        }
    }

    /// The item that an event is about. Never added: `block-unstarted`.
    fn find(&mut self, frame: &Object<'_>, draft: &mut Draft) -> Option<&mut Item> {
        let _ = index_in(frame, "output_index", draft);
        let id = frame.filled("item_id");
        let located = self.locate(frame);
        let Some(index) = located.filter(|index| self.by_index.contains_key(index)) else {
            let by_id = || id.map(|id| Key::Name("output item", id.into()));
            let key = located.map(Item::key).or_else(by_id).unwrap_or_else(|| Item::key(0));
            draft.unstarted(&key);
            return None;
        };
        let item = self.by_index.get_mut(&index)?;
        if let (Some(second), Some(first)) = (id, &item.id)
            && second != *first
        {
            let what = Item::key(index).to_string();
            let (first, second) = (excerpt(first), excerpt(&second));
            draft.report_once(&format!("id {what}"), Kind::IdChanged { what, first, second });
        }
        Some(item)
    }

    /// An event's item: by its index, or else its id, or else the one that was opened last.
    fn locate(&self, frame: &Object<'_>) -> Option<u64> {
        let index = frame.get("output_index").and_then(Json::index);
        let by_id = || frame.str("item_id").and_then(|id| self.by_id.get(&*id).copied());
        index.or_else(by_id).or_else(|| Some(self.last).filter(|_| !self.by_index.is_empty()))
    }

    fn next(&self) -> u64 {
        self.by_index.last_key_value().map_or(0, |(last, _)| last + 1)
    }
}

/// The item of an `added` or `done` event, and its index if it has one.
fn item_of<'a>(frame: &Object<'a>, draft: &mut Draft) -> Option<(Option<u64>, usize, Object<'a>)> {
    let value = frame.get("item");
    let Some((raw, item)) = value.and_then(|value| Some((value.raw(), value.object()?))) else {
        draft.bad_field("item", "an object", value);
        return None;
    };
    let index = index_in(frame, "output_index", draft).ok().flatten();
    Some((index, raw.len(), item))
}
