//! The tree of an equivalent response while it grows, and the verbs of `FORMATS.md` 0.2 on it.
//!
//! A [`Node`] keeps what came as source text and opens it only where something is merged into it. Texts
//! that grow by deltas are not in the tree: it points to the [`Draft`](crate::Draft)'s parts, so that they
//! are held once.

use std::collections::{BTreeMap, HashMap};

use crate::{draft::PartId, json::Json, text::Text};

/// A value of the tree.
#[derive(Clone, Debug)]
pub enum Node {
    /// JSON as it came, compacted.
    Raw(Box<str>),
    /// A text of the format's own that grows, such as base64 data.
    Text(Text),
    /// The text of a part, as a string.
    Part(PartId),
    /// The text of a part, as the JSON that it is; as a string if it does not parse, `{}` if it is blank.
    PartJson(PartId),
    /// An array.
    Array(Vec<Node>),
    /// An array whose elements come under indexes, in any order: written ascending, without holes.
    Slots(BTreeMap<u64, Node>),
    /// An object.
    Object(Map),
}

impl Node {
    /// `null`.
    pub fn null() -> Self {
        Self::from(Json::NULL)
    }

    /// `true` or `false`.
    pub fn bool(value: bool) -> Self {
        Self::Raw(if value { "true" } else { "false" }.into())
    }

    /// A string.
    pub fn string(text: &str) -> Self {
        let mut raw = String::with_capacity(text.len() + 2);
        crate::text::write_json_str(text, &mut raw);
        Self::Raw(raw.into_boxed_str())
    }

    /// Whether it is a plain `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Raw(raw) if &**raw == "null")
    }

    /// The source text, where nothing was merged into it.
    pub fn json(&self) -> Option<Json<'_>> {
        match self {
            Self::Raw(raw) => Some(Json::from_known(raw)),
            _ => None,
        }
    }

    /// A whole number from 0 on.
    pub fn u64(&self) -> Option<u64> {
        self.json()?.u64()
    }

    /// The whole number at the end of a path of keys.
    pub fn number_at(&self, path: &[&str]) -> Option<u64> {
        let Some((first, rest)) = path.split_first() else { return self.u64() };
        match self {
            Self::Raw(raw) => {
                let value =
                    path.iter().try_fold(Json::from_known(raw), |value, key| value.get(key));
                value?.u64()
            }
            Self::Object(map) => map.get(first)?.number_at(rest),
            _ => None,
        }
    }

    /// The object in it; anything else is replaced by an empty one. Source text is opened one level.
    pub fn object(&mut self) -> &mut Map {
        if !matches!(self, Self::Object(_)) {
            let opened = self.json().and_then(Json::object).map(|object| Map::from(&object));
            *self = Self::Object(opened.unwrap_or_default());
        }
        match self {
            Self::Object(map) => map,
            _ => unreachable!("it was made an object above"),
        }
    }

    /// The text in it, a string's too; anything else is replaced by an empty one.
    pub fn text(&mut self) -> &mut Text {
        if !matches!(self, Self::Text(_)) {
            let mut text = Text::default();
            if let Some(known) = self.json().and_then(Json::text) {
                text.append(&known);
            }
            *self = Self::Text(text);
        }
        match self {
            Self::Text(text) => text,
            _ => unreachable!("it was made a text above"),
        }
    }

    /// The array in it; anything else is replaced by an empty one. Source text is opened one level.
    pub fn array(&mut self) -> &mut Vec<Self> {
        if !matches!(self, Self::Array(_)) {
            let opened = self.elements().collect();
            *self = Self::Array(opened);
        }
        match self {
            Self::Array(items) => items,
            _ => unreachable!("it was made an array above"),
        }
    }

    /// The array in it by index; anything else is replaced by an empty one. Source text is opened one level.
    pub fn slots(&mut self) -> &mut BTreeMap<u64, Self> {
        if !matches!(self, Self::Slots(_)) {
            let opened = (0..).zip(self.elements()).collect();
            *self = Self::Slots(opened);
        }
        match self {
            Self::Slots(slots) => slots,
            _ => unreachable!("it was made an array above"),
        }
    }

    /// Takes the elements out of an array.
    fn elements(&mut self) -> std::vec::IntoIter<Self> {
        let items = match std::mem::replace(self, Self::null()) {
            Self::Array(items) => items,
            Self::Slots(slots) => slots.into_values().collect(),
            other => {
                let items = other.json().and_then(Json::items).unwrap_or_default();
                items.into_iter().map(Self::from).collect()
            }
        };
        items.into_iter()
    }

    fn merge(&mut self, value: Json<'_>, depth: u8) {
        match value.object() {
            Some(object) if depth < MERGED_DEPTH && self.is_object() => {
                let map = self.object();
                object.iter().for_each(|(key, value)| map.merge_at(key, value, depth + 1));
            }
            _ if value.is_null() => {}
            _ => *self = Self::from(value),
        }
    }

    /// Whether it is an object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_)) || self.json().is_some_and(Json::is_object)
    }

    /// Whether it is an array.
    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Slots(_)) || self.json().is_some_and(Json::is_array)
    }
}

impl From<Json<'_>> for Node {
    fn from(value: Json<'_>) -> Self {
        Self::Raw(value.compact())
    }
}

impl From<Map> for Node {
    fn from(map: Map) -> Self {
        Self::Object(map)
    }
}

impl From<u64> for Node {
    fn from(number: u64) -> Self {
        Self::Raw(number.to_string().into_boxed_str())
    }
}

/// How deep objects are merged key by key; below, the newer one replaces the older.
const MERGED_DEPTH: u8 = 64;

/// Maps up to this size are searched, larger ones are indexed.
const SEARCHED: usize = 16;

/// An object whose keys keep their first-seen order.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<(Box<str>, Node)>,
    places: HashMap<Box<str>, usize>,
}

impl Map {
    /// A member.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.place(key).and_then(|at| self.entries.get(at)).map(|(_, node)| node)
    }

    /// A member, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.place(key).and_then(|at| self.entries.get_mut(at)).map(|(_, node)| node)
    }

    /// Whether the key was seen, even as `null`.
    pub fn has(&self, key: &str) -> bool {
        self.place(key).is_some()
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.entries.iter().map(|(key, node)| (&**key, node))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A member, made `null` at the end if it is not there yet.
    pub fn entry(&mut self, key: &str) -> &mut Node {
        let at = self.place(key).unwrap_or_else(|| self.insert(key, Node::null()));
        match self.entries.get_mut(at) {
            Some((_, node)) => node,
            None => unreachable!("the place is that of an entry"),
        }
    }

    /// Sets a member, whatever it was: REPLACE.
    pub fn set(&mut self, key: &str, value: impl Into<Node>) {
        *self.entry(key) = value.into();
    }

    /// Sets a member to a value that came: REPLACE.
    pub fn set_json(&mut self, key: &str, value: Json<'_>) {
        self.set(key, value);
    }

    /// Takes a member out.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let at = self.place(key)?;
        let (_, node) = self.entries.remove(at);
        self.places.clear();
        if self.entries.len() > SEARCHED {
            self.index();
        }
        Some(node)
    }

    /// LAST: the newest value that is not `null`; `null` is remembered where nothing else came.
    pub fn last(&mut self, key: &str, value: Json<'_>) {
        if !value.is_null() || !self.has(key) {
            self.set(key, value);
        }
    }

    /// LAST+: the newest value that is not `null` and not `""`.
    pub fn last_filled(&mut self, key: &str, value: Json<'_>) {
        if !is_vacant(value) || !self.has(key) {
            self.set(key, value);
        }
    }

    /// FIRST: the first value that is not `null`.
    pub fn first(&mut self, key: &str, value: Json<'_>) {
        if self.get(key).is_none_or(Node::is_null) {
            self.set(key, value);
        }
    }

    /// FIRST+: the first value that is not `null` and not `""`.
    pub fn first_filled(&mut self, key: &str, value: Json<'_>) {
        if self.get(key).is_none_or(|node| node.json().is_some_and(is_vacant)) {
            self.last(key, value);
        }
    }

    /// MERGE: objects key by key, leaves by LAST.
    pub fn merge(&mut self, key: &str, value: Json<'_>) {
        self.merge_at(key, value, 0);
    }

    /// EXTEND: every element of an array is added to the array at `key`. Returns how many.
    pub fn extend(&mut self, key: &str, value: Json<'_>) -> usize {
        let Some(items) = value.items() else {
            self.last(key, value);
            return 0;
        };
        let count = items.len();
        self.entry(key).array().extend(items.into_iter().map(Node::from));
        count
    }

    fn merge_at(&mut self, key: &str, value: Json<'_>, depth: u8) {
        match self.get_mut(key) {
            Some(known) => known.merge(value, depth),
            None => self.set(key, value),
        }
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.entries.len() <= SEARCHED {
            self.entries.iter().position(|(name, _)| **name == *key)
        } else {
            self.places.get(key).copied()
        }
    }

    fn insert(&mut self, key: &str, value: Node) -> usize {
        let at = self.entries.len();
        self.entries.push((key.into(), value));
        match at.cmp(&SEARCHED) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => self.index(),
            std::cmp::Ordering::Greater => drop(self.places.insert(key.into(), at)),
        }
        at
    }

    fn index(&mut self) {
        self.places =
            self.entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
    }
}

impl From<&crate::json::Object<'_>> for Map {
    fn from(object: &crate::json::Object<'_>) -> Self {
        let mut map = Self::default();
        object.iter().for_each(|(key, value)| map.set(key, value));
        map
    }
}

/// `null` or `""`.
fn is_vacant(value: Json<'_>) -> bool {
    matches!(value.raw(), "null" | "\"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(verb: fn(&mut Map, &str, Json<'_>), values: &[&str]) -> String {
        let mut map = Map::default();
        for value in values {
            verb(&mut map, "k", Json::parse(value).unwrap());
        }
        map.get("k").and_then(Node::json).unwrap().raw().to_owned()
    }

    /// The verbs as `FORMATS.md` 0.2 words them.
    #[test]
    fn verbs() {
        for (verb, values, want) in [
            (Map::last as fn(&mut Map, &str, Json<'_>), &["1", "null"][..], "1"),
            (Map::last, &["null"], "null"),
            (Map::last, &["1", "\"\""], "\"\""),
            (Map::last_filled, &["1", "\"\"", "null"], "1"),
            (Map::last_filled, &["\"\"", "2"], "2"),
            (Map::first, &["null", "1", "2"], "1"),
            (Map::first, &["\"\"", "2"], "\"\""),
            (Map::first_filled, &["null", "\"\"", "1", "2"], "1"),
            (Map::first_filled, &["\"\"", "null"], "\"\""),
        ] {
            assert_eq!(after(verb, values), want, "{values:?}");
        }
    }

    #[test]
    fn merge_goes_key_by_key() {
        let mut map = Map::default();
        for value in [r#"{"a":{"x":1,"y":2},"b":1}"#, r#"{"a":{"y":3,"x":null},"c":4}"#] {
            map.merge("k", Json::parse(value).unwrap());
        }
        let node = map.get("k").unwrap();
        assert_eq!(node.number_at(&["a", "x"]), Some(1));
        assert_eq!(node.number_at(&["a", "y"]), Some(3));
        assert_eq!(node.number_at(&["b"]), Some(1));
        assert_eq!(node.number_at(&["c"]), Some(4));
    }

    /// An index is no position: 2^31 - 1 costs as much as 0, and there are no holes (`FORMATS.md` 0.3, rule 5).
    #[test]
    fn slots_keep_their_order_whatever_came_first() {
        let mut node = Node::from(Json::parse("[7, 8]").unwrap());
        for (index, value) in [(2_147_483_647_u64, 3_u64), (5, 2), (1, 9)] {
            node.slots().insert(index, value.into());
        }
        let values: Vec<_> = node.array().iter().map(Node::u64).collect();
        assert_eq!(values, [7, 9, 2, 3].map(Some));
    }

    #[test]
    fn many_keys_are_found_and_removed() {
        let mut map = Map::default();
        for n in 0..100_u64 {
            map.set(&format!("k{n}"), n);
        }
        assert!(map.remove("k3").is_some());
        assert_eq!((map.len(), map.get("k99").and_then(Node::u64)), (99, Some(99)));
        assert!(!map.has("k3"));
    }
}
