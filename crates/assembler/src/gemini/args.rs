//! Arguments that come leaf by leaf, each addressed by a JSON path (`FORMATS.md` D.5).

use std::collections::HashSet;

use crate::{
    draft::{Draft, PartId},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
    text::{Str, Text, write_json_bytes},
};

use super::{
    camel, either,
    path::{self, Step},
};

/// What a place in the tree costs of the text limit beyond its bytes.
const PLACE: usize = 64;

/// The arguments so far.
///
/// Besides the tree there is the text of the call's part. As long as leaves come in the order in which
/// they will stand, each one is added to it at once: so arguments are seen to grow, and every frame is
/// known to have added what it did. When the call closes, the tree is what counts.
#[derive(Debug)]
pub(super) struct Args {
    root: Node,
    /// The paths whose text goes on.
    open: HashSet<Box<str>>,
    /// The path of the newest leaf in the text; `None` once leaves came out of order.
    spine: Option<Vec<Step>>,
    /// The text ends inside a string.
    in_string: bool,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            root: Map::default().into(),
            open: HashSet::new(),
            spine: Some(Vec::new()),
            in_string: false,
        }
    }
}

/// What a piece brings for its leaf.
enum Value<'a> {
    Text(Str<'a>),
    Other(Json<'a>),
}

/// What had to be made on the way to a leaf.
#[derive(Clone, Copy)]
struct Grown {
    /// The first step that led to nothing yet.
    at: usize,
    /// How many elements before it were left out, if it is an element.
    holes: usize,
}

impl Args {
    /// The tree.
    pub(super) fn node(&self) -> &Node {
        &self.root
    }

    /// Reads a piece.
    pub(super) fn read(&mut self, piece: Json<'_>, part: PartId, draft: &mut Draft) {
        let Some(fields) = piece.object() else {
            draft.bad_field("partialArgs[]", "an object", piece);
            return;
        };
        let path = either(&fields, "jsonPath");
        let name = path.and_then(Json::str).unwrap_or_default();
        let Some(steps) = path::steps(&name) else {
            draft.bad_field("partialArgs[].jsonPath", "a JSON path to a member", path);
            return;
        };
        let goes_on = either(&fields, "willContinue").and_then(Json::bool) == Some(true);
        let went_on = self.open.contains(&*name);
        if let Some(value) = value(&fields, draft) {
            self.leaf(steps, &value, (part, went_on), draft);
        }
        if went_on && !goes_on {
            self.open.remove(&*name);
        } else if goes_on && !went_on && draft.admit(PLACE + name.len()) {
            self.open.insert(name.into());
        }
    }

    /// Takes members that came whole.
    pub(super) fn merge(&mut self, members: &Object<'_>, draft: &mut Draft) {
        self.spine = None;
        for (key, value) in members.iter() {
            draft.carry(self.root.object(), key, value, Map::set_json);
        }
    }

    /// Makes the part's text the arguments so far, as JSON.
    pub(super) fn show(&self, part: PartId, draft: &mut Draft) {
        let mut out = Writer::new(draft);
        out.node(&self.root);
        let text = out.into_json();
        draft.replace(part, &Str::from(text));
    }

    fn leaf(
        &mut self,
        steps: Vec<Step>,
        value: &Value<'_>,
        (part, went_on): (PartId, bool),
        draft: &mut Draft,
    ) {
        let size = match value {
            Value::Text(text) => text.as_bytes().len(),
            Value::Other(json) => json.raw().len(),
        };
        if !draft.admit(size) {
            return;
        }
        let Some((leaf, grown)) = descend(&mut self.root, &steps, draft) else { return };
        match (value, leaf) {
            (Value::Text(more), Node::Text(text)) if went_on => text.append(more),
            (Value::Text(first), leaf) => {
                let mut text = Text::default();
                text.append(first);
                *leaf = Node::Text(text);
            }
            (Value::Other(json), leaf) => *leaf = Node::from(*json),
        }
        if let Some(more) = self.grow(steps, value, went_on, grown) {
            draft.append(part, &Str::from(more));
        }
    }

    /// What the text grows by, if the leaf is its last one going on, or stands behind all others.
    fn grow(
        &mut self,
        steps: Vec<Step>,
        value: &Value<'_>,
        went_on: bool,
        grown: Option<Grown>,
    ) -> Option<String> {
        let spine = self.spine.take()?;
        let mut more = String::new();
        if steps == spine {
            let Value::Text(text) = value else { return None };
            if !(went_on && self.in_string) {
                return None;
            }
            escape(text, &mut more);
        } else {
            let shared = spine.iter().zip(&steps).take_while(|(one, other)| one == other).count();
            let grown = grown.filter(|grown| grown.at == shared)?;
            if spine.is_empty() {
                more.push('{');
            } else {
                self.turn(&spine, steps.get(shared)?, shared, &mut more)?;
            }
            path::write(&steps, shared, grown.holes, &mut more);
            self.in_string = matches!(value, Value::Text(_));
            match value {
                Value::Text(text) => {
                    more.push('"');
                    escape(text, &mut more);
                }
                Value::Other(json) => more.push_str(&json.compact()),
            }
        }
        self.spine = Some(steps);
        Some(more)
    }

    /// Writes what leads from the newest leaf back to the container that both it and the next one are in.
    fn turn(&self, spine: &[Step], next: &Step, shared: usize, more: &mut String) -> Option<()> {
        if spine.get(shared)?.is_key() != next.is_key() {
            return None;
        }
        if self.in_string {
            more.push('"');
        }
        let inner = spine.get(shared + 1..).unwrap_or_default();
        more.extend(inner.iter().rev().map(|step| if step.is_key() { '}' } else { ']' }));
        more.push(',');
        Some(())
    }
}

/// The node at the end of a path, made where it is not there; holes in arrays are `null`.
fn descend<'n>(
    root: &'n mut Node,
    steps: &[Step],
    draft: &mut Draft,
) -> Option<(&'n mut Node, Option<Grown>)> {
    let mut grown = None;
    let mut node = root;
    for (at, step) in steps.iter().enumerate() {
        node = match step {
            Step::Key(key) => {
                let map = node.object();
                if !map.has(key) {
                    if !draft.admit(PLACE + key.len()) {
                        return None;
                    }
                    grown = grown.or(Some(Grown { at, holes: 0 }));
                }
                map.entry(key)
            }
            Step::Index(index) => {
                let items = node.array();
                if items.len() <= *index {
                    let holes = index - items.len();
                    if !draft.admit(PLACE * (holes + 1)) {
                        return None;
                    }
                    grown = grown.or(Some(Grown { at, holes }));
                    items.resize_with(index + 1, Node::null);
                }
                items.get_mut(*index)?
            }
        };
    }
    Some((node, grown))
}

/// The value of a piece, the first if there are several. It may have none and only end a text.
fn value<'a>(fields: &Object<'a>, draft: &mut Draft) -> Option<Value<'a>> {
    let mut found = None;
    for (key, value) in fields.iter() {
        let here = match &*camel(key) {
            "stringValue" => {
                let text = value.text();
                if text.is_none() {
                    draft.bad_field("partialArgs[].stringValue", "a string", value);
                }
                text.map(Value::Text)
            }
            "numberValue" if value.is_number() => Some(Value::Other(value)),
            "numberValue" => {
                draft.bad_field("partialArgs[].numberValue", "a number", value);
                None
            }
            "boolValue" if value.bool().is_some() => Some(Value::Other(value)),
            "boolValue" => {
                draft.bad_field("partialArgs[].boolValue", "true or false", value);
                None
            }
            "nullValue" => Some(Value::Other(Json::NULL)),
            "jsonPath" | "willContinue" => None,
            _ => {
                draft.not_assembled(&format!("partialArgs[].{key}"));
                None
            }
        };
        found = found.or(here);
    }
    found
}

/// Adds a text as it stands between the quotes of a string.
fn escape(text: &Str<'_>, out: &mut String) {
    let mut quoted = String::new();
    write_json_bytes(text.as_bytes(), &mut quoted);
    out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
}
