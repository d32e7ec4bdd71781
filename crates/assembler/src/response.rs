//! Writing the equivalent response.

use crate::{
    draft::{Draft, PartId},
    json::Json,
    node::{Map, Node},
    text::{Text, write_json_bytes, write_json_str},
};

/// Writes one JSON value; texts come out of the draft.
#[derive(Debug)]
pub struct Writer<'d> {
    draft: &'d Draft,
    out: String,
}

impl<'d> Writer<'d> {
    pub(crate) fn new(draft: &'d Draft) -> Self {
        Self { draft, out: String::new() }
    }

    pub(crate) fn into_json(self) -> String {
        self.out
    }

    /// The draft that the response is of.
    pub fn draft(&self) -> &'d Draft {
        self.draft
    }

    /// Writes a node.
    pub fn node(&mut self, node: &Node) {
        match node {
            Node::Raw(raw) => self.out.push_str(raw),
            Node::Text(text) => self.text(text),
            Node::Part(part) => self.part(*part),
            Node::PartJson(part) => self.part_json(*part),
            Node::Array(items) => {
                self.array(|array| items.iter().for_each(|item| array.node(item)));
            }
            Node::Slots(slots) => {
                self.array(|array| slots.values().for_each(|item| array.node(item)));
            }
            Node::Object(map) => self.object(|object| object.map(map)),
        }
    }

    /// Writes JSON that is known to be whole.
    pub fn json(&mut self, json: Json<'_>) {
        self.out.push_str(&json.compact());
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        write_json_str(text, &mut self.out);
    }

    /// Writes a string, `null` for none.
    pub fn string_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.null(),
        }
    }

    /// Writes a text.
    pub fn text(&mut self, text: &Text) {
        text.write_json(&mut self.out);
    }

    /// Writes a whole number.
    pub fn number(&mut self, number: u64) {
        self.out.push_str(&number.to_string());
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.out.push_str("null");
    }

    /// Writes a part's text as a string.
    pub fn part(&mut self, part: PartId) {
        write_json_bytes(self.draft.get(part).shown(), &mut self.out);
    }

    /// Writes a part's text as the JSON that it is, as a string if it does not parse, `{}` if it is blank.
    pub fn part_json(&mut self, part: PartId) {
        let text = &self.draft.get(part).text;
        let escaped = text.to_escaped();
        if escaped.trim().is_empty() {
            self.out.push_str("{}");
        } else if let Ok(json) = Json::parse(&escaped) {
            self.json(json);
        } else {
            self.text(text);
        }
    }

    /// Writes an object.
    pub fn object(&mut self, write: impl FnOnce(&mut Fields<'_, 'd>)) {
        self.out.push('{');
        write(&mut Fields { writer: self, first: true });
        self.out.push('}');
    }

    /// Writes an array.
    pub fn array(&mut self, write: impl FnOnce(&mut Items<'_, 'd>)) {
        self.out.push('[');
        write(&mut Items { writer: self, first: true });
        self.out.push(']');
    }
}

/// The members of an object that is being written.
#[derive(Debug)]
pub struct Fields<'w, 'd> {
    writer: &'w mut Writer<'d>,
    first: bool,
}

impl<'d> Fields<'_, 'd> {
    /// The draft that the response is of.
    pub fn draft(&self) -> &'d Draft {
        self.writer.draft
    }

    /// Writes a member; `write` writes exactly one value.
    pub fn field(&mut self, key: &str, write: impl FnOnce(&mut Writer<'d>)) {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.out.push(',');
        }
        self.writer.string(key);
        self.writer.out.push(':');
        write(self.writer);
    }

    /// Writes a member that is a node.
    pub fn node(&mut self, key: &str, node: &Node) {
        self.field(key, |value| value.node(node));
    }

    /// Writes a member that is a string.
    pub fn string(&mut self, key: &str, text: &str) {
        self.field(key, |value| value.string(text));
    }

    /// Writes all members of a map.
    pub fn map(&mut self, map: &Map) {
        map.iter().for_each(|(key, node)| self.node(key, node));
    }
}

/// The elements of an array that is being written.
#[derive(Debug)]
pub struct Items<'w, 'd> {
    writer: &'w mut Writer<'d>,
    first: bool,
}

impl<'d> Items<'_, 'd> {
    /// Writes an element; `write` writes exactly one value.
    pub fn item(&mut self, write: impl FnOnce(&mut Writer<'d>)) {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.out.push(',');
        }
        write(self.writer);
    }

    /// Writes an element that is a node.
    pub fn node(&mut self, node: &Node) {
        self.item(|value| value.node(node));
    }
}
