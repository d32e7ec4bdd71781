//! The messages of a stream, by their ids or else their places.

use std::collections::HashMap;

use crate::{
    draft::{Draft, PartId, PartKind},
    json::Json,
    node::Map,
    response::{Items, Writer},
};

use super::{
    How,
    message::{self, Message},
    usage,
};

/// What a message costs of the text limit beyond its bytes.
const MESSAGE: usize = 1_024;

/// The messages of the model and of its tools, in the order in which they came.
#[derive(Default)]
pub(super) struct Messages {
    list: Vec<Message>,
    places: HashMap<String, usize>,
    /// How many are the model's: each is an output.
    answers: u64,
    /// The model's calls by their ids.
    calls: HashMap<String, PartId>,
    /// The sum of theirs.
    usage: Map,
}

impl Messages {
    /// Takes a message or a piece of one; where it has no id, `place` is its own. Whether it has stopped.
    pub(super) fn take(
        &mut self,
        place: (&str, u64),
        json: Json<'_>,
        how: How,
        draft: &mut Draft,
    ) -> bool {
        match self.place(place, json, draft) {
            Some(at) => self.read(at, json, how, draft),
            None => false,
        }
    }

    /// Where the message is, made if it is not there. `None`: somebody else says it.
    pub(super) fn place(
        &mut self,
        (scope, at): (&str, u64),
        json: Json<'_>,
        draft: &mut Draft,
    ) -> Option<usize> {
        let (class, _) = message::unwrap(json)?;
        let is_answer = message::is_ai(&class);
        if !is_answer && !message::is_tool(&class) {
            return None;
        }
        let key = message::id_of(json).unwrap_or_else(|| format!("{scope} #{at} {is_answer}"));
        self.at(key, is_answer, draft)
    }

    /// The message of this key, made if it is not there.
    pub(super) fn at(&mut self, key: String, is_answer: bool, draft: &mut Draft) -> Option<usize> {
        if let Some(at) = self.places.get(&key) {
            return Some(*at);
        }
        if !draft.admit(MESSAGE + 2 * key.len()) {
            return None;
        }
        let output = if is_answer { self.answers } else { self.answers.saturating_sub(1) };
        draft.output(output);
        if is_answer {
            self.answers += 1;
            draft.role(output, "ai");
        }
        let at = self.list.len();
        self.list.push(Message::new(output, is_answer));
        self.places.insert(key, at);
        Some(at)
    }

    pub(super) fn knows(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Message> {
        self.list.get_mut(at)
    }

    /// Reads a message at a place. Whether it has stopped.
    pub(super) fn read(&mut self, at: usize, json: Json<'_>, how: How, draft: &mut Draft) -> bool {
        let Some(message) = self.list.get_mut(at) else { return false };
        message.read(json, how, draft);
        let stopped = message.has_stopped(draft);
        self.settle(at, draft);
        stopped
    }

    /// After a change: the stream's usage is that of all messages, and a call that a tool has answered is
    /// none that the client has to answer.
    pub(super) fn settle(&mut self, at: usize, draft: &mut Draft) {
        let Some(message) = self.list.get_mut(at) else { return };
        for (id, part) in message.new_calls(draft) {
            self.calls.insert(id, part);
        }
        if let Some(part) = message.answers().and_then(|id| self.calls.remove(id)) {
            draft.get_mut(part).kind = PartKind::Other("answered-call");
        }
        if let Some((before, more)) = message.take_usage() {
            usage::combine(&mut self.usage, &before, u64::saturating_sub);
            usage::combine(&mut self.usage, &more, u64::saturating_add);
            draft.usage(usage::tokens(&self.usage), self.usage.clone());
        }
    }

    pub(super) fn write(&self, items: &mut Items<'_, '_>) {
        for message in &self.list {
            items.item(|value| message.write(value));
        }
    }

    pub(super) fn write_one(&self, at: usize, out: &mut Writer<'_>) {
        match self.list.get(at) {
            Some(message) => message.write(out),
            None => out.null(),
        }
    }
}
