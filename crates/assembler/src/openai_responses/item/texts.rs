//! The texts of an item: which part each is, and what becomes of it when the whole item comes.

use std::collections::{BTreeMap, BTreeSet};

use teeline_finding::Kind as Finding;

use crate::{
    draft::{Draft, PartId, difference},
    json::Object,
    node::{Map, Node},
    text::Str,
};

use super::{
    super::place::{List, Place, Texts},
    Item, OVERHEAD,
};

impl Item {
    /// The part of a text, made where it is missing.
    pub(super) fn part(&mut self, place: Place, draft: &mut Draft) -> Option<PartId> {
        if let Some(part) = self.texts.get(&place) {
            return Some(*part);
        }
        if !draft.admit(OVERHEAD) {
            return None;
        }
        let is_own = self.kind.own_place(&self.type_name) == Some(place);
        let part = match self.own.filter(|_| is_own) {
            Some(own) => own,
            None => draft.part(0, place.kind()),
        };
        draft.get_mut(part).order = self.order(place.index());
        place.put(&mut self.tree, Node::Part(part));
        self.texts.insert(place, part);
        Some(part)
    }

    /// Some servers count the parts of a list otherwise than the list does: as many as there are, they are the
    /// same in order.
    pub(super) fn renumber(&mut self, texts: &Texts<'_>) {
        for list in [List::Content, List::Summary] {
            let of_list = |place: &Place| place.is_in(list);
            let known: BTreeSet<u64> = self
                .texts
                .keys()
                .filter(|place| of_list(place))
                .map(|place| place.index())
                .collect();
            let positions: BTreeMap<u64, u64> = known.into_iter().zip(0..).collect();
            if positions.len() != texts.len(list) || positions.iter().all(|(from, to)| from == to) {
                continue;
            }
            let (moved, others) =
                std::mem::take(&mut self.texts).into_iter().partition(|(place, _)| of_list(place));
            self.texts = others;
            let moved: BTreeMap<Place, PartId> = moved;
            for (place, part) in moved {
                let at = positions.get(&place.index()).copied().unwrap_or_default();
                self.texts.insert(place.at(at), part);
            }
        }
    }

    /// Takes over everything but the texts.
    pub(super) fn replace(&mut self, item: &Object<'_>, texts: &Texts<'_>) {
        let mut tree = Map::from(item);
        for (place, part) in self.texts.iter().filter(|(place, _)| !texts.lack(**place)) {
            place.put(&mut tree, Node::Part(*part));
        }
        self.tree = tree;
    }

    /// Reasoning itself is shown only where there is no summary of it.
    pub(super) fn ranks(&mut self, place: Place, draft: &mut Draft) {
        match place {
            Place::Summary(_) if !self.summarised => {
                self.summarised =
                    self.texts.get(&place).is_some_and(|part| !draft.get(*part).text.is_empty());
                if self.summarised {
                    let of_reasoning =
                        self.texts.iter().filter(|(place, _)| matches!(place, Place::Reasoning(_)));
                    of_reasoning.for_each(|(_, part)| draft.get_mut(*part).rank = 1);
                }
            }
            Place::Reasoning(_) if self.summarised => {
                if let Some(part) = self.texts.get(&place) {
                    draft.get_mut(*part).rank = 1;
                }
            }
            _ => {}
        }
    }

    /// The final object has no such text.
    pub(super) fn drop_text(&self, place: Place, part: PartId, draft: &mut Draft) {
        let known = draft.get(part);
        if known.has_deltas() && !known.text.is_empty() {
            let (kept, assembled) = difference("", &known.text.to_str());
            draft.report(Finding::DoneMismatch { what: self.name_of(place), kept, assembled });
        }
        if Some(part) == self.own {
            draft.replace(part, &Str::default());
        } else {
            draft.discard(part);
        }
    }

    pub(super) fn name_of(&self, place: Place) -> String {
        let (words, item) = (place.words(), Self::key(self.index));
        match place.index() {
            0 => format!("the {words} of {item}"),
            index => format!("the {words} {index} of {item}"),
        }
    }
}
