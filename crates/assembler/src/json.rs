//! JSON as it stands in a frame: checked once, read lazily, never turned into a `serde_json::Value`.
//!
//! Streams hold what typed parsers refuse: lone surrogate halves, duplicate keys, numbers such as
//! `1e400`, brackets nested ten thousand deep. A [`Json`] is a piece of source text that is known to be
//! JSON; each step into it reads one level. So numbers keep their text, keys their order, and depth
//! costs no stack.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::de::{self, Deserializer as _};
use serde_json::value::RawValue;
use teeline_finding::excerpt;

use crate::{compact::compact, text::Str};

/// A JSON value: its source text, without white space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// `null`.
    pub const NULL: Json<'static> = Json("null");

    /// Checks that `text` is one JSON value.
    ///
    /// # Errors
    /// What the parser said, where it is not.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        serde_json::from_str::<&RawValue>(text).map(Self::from).map_err(|error| {
            match teeline_decoder::json::check(text) {
                Err(fault) => fault.to_string(),
                Ok(()) => error.to_string(),
            }
        })
    }

    /// Wraps text that is known to be JSON, such as what [`Json::compact`] gave.
    pub(crate) fn from_known(text: &'a str) -> Self {
        Self(text)
    }

    /// The source text.
    pub fn raw(self) -> &'a str {
        self.0
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Whether it is a string.
    pub fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// Whether it is a number.
    pub fn is_number(self) -> bool {
        self.0.starts_with(|first: char| first == '-' || first.is_ascii_digit())
    }

    /// Whether it says nothing: `null`, `""`, `{}` or `[]`.
    pub fn is_blank(self) -> bool {
        match self.0.as_bytes() {
            b"null" | b"\"\"" => true,
            [b'{' | b'[', inner @ .., _] => inner.iter().all(u8::is_ascii_whitespace),
            _ => false,
        }
    }

    /// Whether JavaScript and Python hold it for true: not `null`, `false`, `0` or `""`.
    pub fn is_truthy(self) -> bool {
        !matches!(self.0, "null" | "false" | "0" | "\"\"")
    }

    /// A string, escapes undone.
    pub fn text(self) -> Option<Str<'a>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if !inner.contains('\\') {
            return Some(Str::from(inner));
        }
        serde_json::Deserializer::from_str(self.0).deserialize_bytes(Wtf8).ok()
    }

    /// A string, with U+FFFD for surrogate halves that stand alone: for ids, names and types.
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.text().map(Str::into_str)
    }

    /// A whole number from 0 on.
    pub fn u64(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// An index: 0 to 2^31 - 1, since a reader cannot trust it (`FORMATS.md` 0.3, rule 5).
    pub fn index(self) -> Option<u64> {
        self.u64().filter(|index| *index < 1 << 31)
    }

    /// `true` or `false`.
    pub fn bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// An object, one level of it.
    pub fn object(self) -> Option<Object<'a>> {
        if !self.is_object() {
            return None;
        }
        serde_json::Deserializer::from_str(self.0).deserialize_map(Entries).ok()
    }

    /// An array's elements.
    pub fn items(self) -> Option<Vec<Json<'a>>> {
        if !self.is_array() {
            return None;
        }
        serde_json::Deserializer::from_str(self.0).deserialize_seq(Elements).ok()
    }

    /// A member of an object. For more than one, take the [`object`](Self::object) once.
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        self.object()?.get(key)
    }

    /// The same value without white space, and of equal keys of an object only the last.
    pub fn compact(self) -> Box<str> {
        compact(self.0).into_boxed_str()
    }

    /// Its first characters, for a finding.
    pub fn shortened(self) -> String {
        excerpt(self.0)
    }
}

impl<'a> From<&'a RawValue> for Json<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get())
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The members of an object in their order. Of equal keys the last one counts, at the first one's place.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    entries: Vec<(Cow<'a, str>, Json<'a>)>,
}

impl<'a> Object<'a> {
    /// A member.
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// A member that is there and not `null`.
    pub fn some(&self, key: &str) -> Option<Json<'a>> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// A member that is a string.
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.str()
    }

    /// A member that is a string and not empty.
    pub fn filled(&self, key: &str) -> Option<Cow<'a, str>> {
        self.str(key).filter(|text| !text.is_empty())
    }

    /// A member that is a whole number from 0 on.
    pub fn u64(&self, key: &str) -> Option<u64> {
        self.get(key)?.u64()
    }

    /// Whether the key is there, even as `null`.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Json<'a>)> {
        self.entries.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

/// Objects up to this size are searched, larger ones are indexed while equal keys are looked for.
const SEARCHED: usize = 16;

struct Entries;

impl<'de> de::Visitor<'de> for Entries {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = Object::default();
        let mut places: HashMap<Cow<'de, str>, usize> = HashMap::new();
        while let Some(key) = map.next_key_seed(Wtf8)? {
            let key = key.into_str();
            let value = Json::from(map.next_value::<&'de RawValue>()?);
            let count = object.entries.len();
            if count == SEARCHED && places.is_empty() {
                places.extend(
                    object.entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)),
                );
            }
            let known = if count < SEARCHED {
                object.entries.iter().position(|(name, _)| *name == key)
            } else {
                places.get(&key).copied()
            };
            if let Some((_, known)) = known.and_then(|at| object.entries.get_mut(at)) {
                *known = value;
                continue;
            }
            if count >= SEARCHED {
                places.insert(key.clone(), count);
            }
            object.entries.push((key, value));
        }
        Ok(object)
    }
}

struct Elements;

impl<'de> de::Visitor<'de> for Elements {
    type Value = Vec<Json<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = array.next_element::<&'de RawValue>()? {
            items.push(Json::from(item));
        }
        Ok(items)
    }
}

/// Strings with their surrogate halves: `serde_json` checks for them only where a `str` is asked for.
struct Wtf8;

impl<'de> de::DeserializeSeed<'de> for Wtf8 {
    type Value = Str<'de>;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Str<'de>, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl<'de> de::Visitor<'de> for Wtf8 {
    type Value = Str<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Str<'de>, E> {
        Ok(Str::from_wtf8(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Str<'de>, E> {
        Ok(Str::from_wtf8(bytes.to_vec()))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Str<'de>, E> {
        Ok(Str::from(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Str<'de>, E> {
        Ok(Str::from(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json<'_> {
        Json::parse(text).unwrap()
    }

    #[test]
    fn what_typed_parsers_refuse_is_read() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(json(&deep).get("a").unwrap().is_array());
        assert_eq!(json(&deep).compact().len(), deep.len());
        let object =
            json(r#" {"n": 1e400, "d":1, "d" :2, "\ud800":3, "s":"\ud83d"} "#).object().unwrap();
        assert_eq!(object.get("n").unwrap().raw(), "1e400");
        assert_eq!(object.u64("d"), Some(2));
        assert_eq!(object.u64("\u{fffd}"), Some(3));
        assert_eq!(object.str("s").unwrap(), "\u{fffd}");
        assert_eq!(
            object.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>(),
            ["n", "d", "\u{fffd}", "s"]
        );
    }

    #[test]
    fn large_objects_keep_the_last_of_equal_keys() {
        let members: Vec<String> =
            (0..40_000).map(|n| format!("\"k{}\":{n}", n % 20_000)).collect();
        let text = format!("{{{},\"end\":0}}", members.join(","));
        let object = json(&text).object().unwrap();
        assert_eq!((object.len(), object.u64("k7")), (20_001, Some(20_007)));
        let compact = json(&text).compact();
        assert_eq!(json(&compact).object().unwrap().u64("k19999"), Some(39_999));
        assert_eq!(compact.matches("\"k7\"").count(), 1);
    }

    #[test]
    fn blank_and_truthy() {
        for (raw, blank, truthy) in [
            ("null", true, false),
            ("\"\"", true, false),
            ("{ }", true, true),
            ("[]", true, true),
            ("0", false, false),
            ("false", false, false),
            ("\"a\"", false, true),
            ("[1]", false, true),
        ] {
            assert_eq!((json(raw).is_blank(), json(raw).is_truthy()), (blank, truthy), "{raw}");
        }
    }
}
