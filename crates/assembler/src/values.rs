//! Values of no known shape: the texts in them are found by their keys, and each may be a delta or the
//! text so far (`FORMATS.md` F.4).

use std::collections::HashMap;

use crate::{
    draft::{Draft, Hint, PartId, PartKind},
    json::{Json, Object},
    node::Node,
    text::Str,
};

/// What the answer's text is called.
const TEXT_KEYS: &[&str] = &[
    "content",
    "text",
    "answer",
    "output",
    "output_text",
    "generated_text",
    "response",
    "completion",
    "message",
    "result",
    "reply",
    "markdown",
];

/// Who says it, and what: of others than the model nothing is taken.
const ROLE_KEYS: &[&str] = &["role", "type"];
const NOT_THE_ANSWER: &[&str] =
    &["user", "human", "HumanMessageChunk", "system", "SystemMessageChunk", "tool", "function"];

/// How deep texts are looked for.
const DEPTH: usize = 8;

/// How many texts are told apart.
const TEXTS: usize = 64;

/// What a place in the tree costs of the text limit beyond its bytes.
const PLACE: usize = 64;

/// The values so far, as one: objects by key, arrays by the elements' ids or places, texts by F.4, anything
/// else the newest.
#[derive(Debug, Default)]
pub(crate) struct Values {
    tree: Option<Node>,
    /// The texts by where they are.
    texts: HashMap<String, PartId>,
    /// Where in an array the element with an id is.
    places: HashMap<String, usize>,
}

/// How the texts of a value are to be taken.
#[derive(Clone, Copy)]
struct Take {
    output: u64,
    hint: Hint,
}

impl Values {
    /// Takes a value.
    pub(crate) fn take(&mut self, value: Json<'_>, output: u64, hint: Hint, draft: &mut Draft) {
        let mut tree = self.tree.take().unwrap_or_else(Node::null);
        let mut path = String::new();
        self.absorb(&mut tree, value, &mut path, Take { output, hint }, draft);
        self.tree = Some(tree);
    }

    /// All of it, with the texts as they are known.
    pub(crate) fn node(&self) -> Option<&Node> {
        self.tree.as_ref()
    }

    /// The texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = PartId> {
        self.texts.values().copied()
    }

    fn absorb(
        &mut self,
        node: &mut Node,
        value: Json<'_>,
        path: &mut String,
        take: Take,
        draft: &mut Draft,
    ) {
        let is_text = path.rsplit('/').next().is_some_and(|key| TEXT_KEYS.contains(&key));
        if let Some(text) = value.text().filter(|_| path.is_empty() || is_text) {
            self.text(node, &text, path, take, draft);
            return;
        }
        let depth = path.bytes().filter(|byte| *byte == b'/').count();
        match (value.object(), value.items()) {
            (Some(object), _) if depth < DEPTH && is_answer(&object) => {
                self.object(node, &object, path, take, draft);
            }
            (_, Some(items)) if depth < DEPTH && items.iter().any(|item| item.is_object()) => {
                self.array(node, &items, path, take, draft);
            }
            _ if value.is_null() && !node.is_null() => {}
            _ => {
                if draft.admit(if node.is_null() { value.raw().len() } else { 0 }) {
                    *node = Node::from(value);
                }
            }
        }
    }

    fn object(
        &mut self,
        node: &mut Node,
        object: &Object<'_>,
        path: &mut String,
        take: Take,
        draft: &mut Draft,
    ) {
        let map = node.object();
        for (key, value) in object.iter() {
            if !map.has(key) && !draft.admit(PLACE + key.len()) {
                continue;
            }
            let before = path.len();
            path.push('/');
            path.push_str(&key.replace('/', "~1"));
            self.absorb(map.entry(key), value, path, take, draft);
            path.truncate(before);
        }
    }

    fn array(
        &mut self,
        node: &mut Node,
        items: &[Json<'_>],
        path: &mut String,
        take: Take,
        draft: &mut Draft,
    ) {
        for (place, item) in items.iter().enumerate() {
            let list = node.array();
            let id = item.get("id").and_then(Json::str).filter(|id| !id.is_empty());
            let at = match id {
                Some(id) => {
                    let fresh = list.len();
                    *self.places.entry(format!("{path}#{id}")).or_insert(fresh)
                }
                None => place,
            };
            if at >= list.len() {
                if !draft.admit(PLACE * (at + 1 - list.len())) {
                    return;
                }
                list.resize_with(at + 1, Node::null);
            }
            let before = path.len();
            path.push('/');
            path.push_str(&at.to_string());
            if let Some(node) = list.get_mut(at) {
                self.absorb(node, *item, path, take, draft);
            }
            path.truncate(before);
        }
    }

    fn text(&mut self, node: &mut Node, text: &Str<'_>, path: &str, take: Take, draft: &mut Draft) {
        let part = match self.texts.get(path) {
            Some(part) => *part,
            None if self.texts.len() >= TEXTS => return draft.not_assembled(path),
            None => {
                let part = draft.part(take.output, PartKind::Text);
                self.texts.insert(path.to_owned(), part);
                *node = Node::Part(part);
                part
            }
        };
        let what =
            if path.is_empty() { "The text".to_owned() } else { format!("The text at {path}") };
        draft.hinted(part, text, &what, take.hint);
    }
}

/// Whether the text of an object may be the answer: not what somebody else than the model says.
fn is_answer(object: &Object<'_>) -> bool {
    let says = |key: &&str| object.str(key).is_some_and(|who| NOT_THE_ANSWER.contains(&&*who));
    !ROLE_KEYS.iter().any(says)
}
