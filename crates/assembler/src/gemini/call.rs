//! Function calls: whole, or with arguments in pieces (`FORMATS.md` D.4, D.5).

use std::collections::HashMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::{args::Args, camel, either};

/// What is known of a candidate's calls besides the calls themselves.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// How many came in pieces.
    partial: u64,
    /// The place of the open one among the candidate's parts.
    open: Option<usize>,
    /// The whole calls that have an id, as they came.
    whole: HashMap<String, Box<str>>,
}

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    part: PartId,
    /// The fields of the part; the call itself holds a place only.
    fields: Map,
    /// The call's key in them.
    key: Box<str>,
    /// The call's own fields; `args` holds a place only.
    inner: Map,
    /// While it is open: the block's key, and the arguments so far.
    open: Option<(Key, Args)>,
}

impl Calls {
    /// The place of the open call.
    pub(super) fn open(&self) -> Option<usize> {
        self.open
    }

    /// Begins a call, which is to be the part at `place`. None is open.
    pub(super) fn begin(
        &mut self,
        candidate: u64,
        (key, call): (&str, &Object<'_>),
        place: usize,
        draft: &mut Draft,
    ) -> Option<Call> {
        if call.is_empty() && self.partial > 0 {
            return None; // ends a call that its last piece has ended already
        }
        if !is_piece(call) {
            return self.whole(candidate, (key, call), draft);
        }
        if Call::goes_on(call) {
            draft.unstarted(&Key::Index("a function call of candidate", candidate));
            return None;
        }
        let block = Key::Pair("function call", candidate, self.partial);
        self.partial += 1;
        let part = draft.open(block.clone(), candidate, PartKind::Call);
        let mut made = Call::new(part, key);
        made.open = Some((block, Args::default()));
        self.open = Some(place);
        self.go_on(&mut made, call, draft);
        made.inner.last("args", Json::NULL);
        Some(made)
    }

    /// A call that came in one piece. An equal one with the same id is the same call again.
    fn whole(
        &mut self,
        candidate: u64,
        (key, call): (&str, &Object<'_>),
        draft: &mut Draft,
    ) -> Option<Call> {
        if let Some(id) = call.filled("id") {
            let mut out = Writer::new(draft);
            out.object(|fields| fields.map(&Map::from(call)));
            let source = out.into_json().into_boxed_str();
            if self.whole.get(&*id) == Some(&source) {
                return None;
            }
            if draft.admit(source.len()) {
                self.whole.insert(id.into_owned(), source);
            }
        }
        let part = draft.part(candidate, PartKind::Call);
        let mut made = Call::new(part, key);
        let mut arguments = Json::from_known("{}");
        for (key, value) in call.iter() {
            match &*camel(key) {
                "args" if value.is_object() => {
                    arguments = value;
                    made.inner.set("args", Node::null());
                }
                "args" if value.is_null() => {}
                "args" => draft.bad_field("functionCall.args", "an object", value),
                "willContinue" => {}
                _ => made.field(key, value, draft),
            }
        }
        draft.call_object(part, arguments);
        Some(made)
    }

    /// A piece of the open call.
    pub(super) fn go_on(&mut self, open: &mut Call, piece: &Object<'_>, draft: &mut Draft) {
        for (key, value) in piece.iter() {
            match &*camel(key) {
                "partialArgs" => open.pieces(value, draft),
                "args" => open.members(value, draft),
                "willContinue" => {}
                _ => open.field(key, value, draft),
            }
        }
        if !continues(piece) {
            self.close(open, draft);
        }
    }

    /// Closes the open call.
    pub(super) fn close(&mut self, open: &mut Call, draft: &mut Draft) {
        self.open = None;
        open.show(draft);
        if let Some((block, _)) = open.open.take() {
            draft.close(&block);
            let call = &mut draft.get_mut(open.part).call;
            (call.complete, call.judged) = (true, true);
        }
    }
}

impl Call {
    fn new(part: PartId, key: &str) -> Self {
        let mut fields = Map::default();
        fields.set(key, Node::null());
        Self { part, fields, key: key.into(), inner: Map::default(), open: None }
    }

    /// The fields of the part.
    pub(super) fn fields(&mut self) -> &mut Map {
        &mut self.fields
    }

    /// Whether a call goes on with an open one: whatever has a name begins another.
    pub(super) fn goes_on(call: &Object<'_>) -> bool {
        either(call, "name").is_none_or(Json::is_blank)
    }

    /// Whether it cannot be answered.
    pub(super) fn is_nameless(&self, draft: &Draft) -> bool {
        draft.get(self.part).call.name.is_none()
    }

    fn field(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        match (key, value.str()) {
            ("name", Some(name)) => draft.call_name(self.part, &name),
            ("id", Some(id)) => draft.call_id(self.part, &id),
            ("name" | "id", None) if !value.is_null() => {
                draft.bad_field(&format!("functionCall.{key}"), "a string", value);
                return;
            }
            _ => {}
        }
        let is_identity = matches!(key, "name" | "id");
        let verb = if is_identity { Map::first_filled } else { Map::last };
        draft.carry(&mut self.inner, key, value, verb);
    }

    fn pieces(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some((_, args)) = &mut self.open else { return };
        match value.items() {
            Some(pieces) => pieces.into_iter().for_each(|piece| args.read(piece, self.part, draft)),
            None if value.is_null() => {}
            None => draft.bad_field("functionCall.partialArgs", "an array", value),
        }
    }

    /// Members of the arguments that came whole, although the call came in pieces.
    fn members(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some((_, args)) = &mut self.open else { return };
        match value.object() {
            Some(members) => args.merge(&members, draft),
            None if value.is_null() => {}
            None => draft.bad_field("functionCall.args", "an object", value),
        }
    }

    /// Makes the text of the call's part the arguments so far, as JSON.
    pub(super) fn show(&self, draft: &mut Draft) {
        if let Some((_, args)) = &self.open {
            args.show(self.part, draft);
        }
    }

    /// Writes the part.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.object(|fields| {
            for (key, node) in self.fields.iter() {
                if *key == *self.key {
                    fields.field(key, |value| self.write_call(value));
                } else {
                    fields.node(key, node);
                }
            }
        });
    }

    fn write_call(&self, out: &mut Writer<'_>) {
        out.object(|fields| {
            for (key, node) in self.inner.iter() {
                match (key, &self.open) {
                    ("args", Some((_, args))) => fields.node(key, args.node()),
                    ("args", None) => fields.node(key, &Node::PartJson(self.part)),
                    _ => fields.node(key, node),
                }
            }
        });
    }
}

/// Whether it is a piece of a call whose arguments are streamed.
fn is_piece(call: &Object<'_>) -> bool {
    either(call, "partialArgs").is_some() || continues(call)
}

fn continues(call: &Object<'_>) -> bool {
    either(call, "willContinue").and_then(Json::bool) == Some(true)
}
