//! Text as JSON carries it: WTF-8, that is UTF-8 plus surrogate halves that stand alone.
//!
//! A careless server cuts a character in two and sends `"\ud83d"` in one delta and `"\ude00"` in the
//! next. `String` cannot hold the first half; [`Text`] can, and joins the two when they meet
//! (`FORMATS.md` 0.3, rule 9).

use std::{borrow::Cow, fmt::Write as _};

/// A string out of a JSON document, escapes undone. Borrowed where it had none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Str<'a>(Cow<'a, [u8]>);

impl<'a> Str<'a> {
    /// Wraps WTF-8 bytes. Anything else is shown with replacement characters.
    pub(crate) fn from_wtf8(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes, WTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many characters it has; a lone half counts as one.
    pub fn chars(&self) -> u64 {
        count_chars(&self.0)
    }

    /// The text, with U+FFFD for lone halves.
    pub fn to_str(&self) -> Cow<'_, str> {
        lossy(&self.0)
    }

    /// The text, with U+FFFD for lone halves.
    pub fn into_str(self) -> Cow<'a, str> {
        match self.0 {
            Cow::Borrowed(bytes) => lossy(bytes),
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Cow::Owned(text),
                Err(error) => Cow::Owned(lossy(error.as_bytes()).into_owned()),
            },
        }
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text.into_bytes()))
    }
}

/// Text that grows by deltas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    bytes: Vec<u8>,
}

impl Text {
    /// Bytes so far, counted as UTF-8 (a lone half takes three, as U+FFFD does).
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds at the end. A second half joins a first half that stands there alone.
    pub fn append(&mut self, more: &Str<'_>) {
        let more = more.as_bytes();
        if let (Some(high), Some(low)) = (high_half_at_end(&self.bytes), low_half_at_start(more))
            && let Some(joined) = join_halves(high, low)
        {
            self.bytes.truncate(self.bytes.len() - HALF);
            self.bytes.extend_from_slice(joined.encode_utf8(&mut [0; 4]).as_bytes());
            self.bytes.extend_from_slice(more.get(HALF..).unwrap_or_default());
        } else {
            self.bytes.extend_from_slice(more);
        }
    }

    /// Takes everything after the first `len` bytes off.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// The bytes, WTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text as a [`Str`].
    pub fn as_ref(&self) -> Str<'_> {
        Str(Cow::Borrowed(&self.bytes))
    }

    /// The text, with U+FFFD for lone halves.
    pub fn to_str(&self) -> Cow<'_, str> {
        lossy(&self.bytes)
    }

    /// The text, with `\udXXX` for lone halves: what tool arguments show.
    pub fn to_escaped(&self) -> Cow<'_, str> {
        if let Ok(text) = std::str::from_utf8(&self.bytes) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(self.bytes.len());
        for piece in pieces(&self.bytes) {
            match piece {
                Piece::Str(text) => out.push_str(text),
                Piece::Half(half) => drop(write!(out, "\\u{half:04x}")),
                Piece::Bad => out.push(char::REPLACEMENT_CHARACTER),
            }
        }
        Cow::Owned(out)
    }

    /// Appends it to `out` as a JSON string, lone halves as escapes.
    pub fn write_json(&self, out: &mut String) {
        write_json_bytes(&self.bytes, out);
    }
}

/// Appends `text` to `out` as a JSON string.
pub(crate) fn write_json_str(text: &str, out: &mut String) {
    out.push('"');
    escape(text, out);
    out.push('"');
}

/// Appends WTF-8 to `out` as a JSON string, lone halves as escapes.
pub(crate) fn write_json_bytes(bytes: &[u8], out: &mut String) {
    out.push('"');
    for piece in pieces(bytes) {
        match piece {
            Piece::Str(text) => escape(text, out),
            Piece::Half(half) => drop(write!(out, "\\u{half:04x}")),
            Piece::Bad => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out.push('"');
}

fn escape(text: &str, out: &mut String) {
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(text.get(done..at).unwrap_or_default());
        done = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => drop(write!(out, "\\u{byte:04x}")),
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
}

/// A surrogate half takes three bytes.
const HALF: usize = 3;

enum Piece<'a> {
    Str(&'a str),
    Half(u16),
    Bad,
}

/// WTF-8 cut into what `str` can hold and what it cannot.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => rest
                .get(..error.valid_up_to())
                .and_then(|valid| std::str::from_utf8(valid).ok())
                .unwrap_or_default(),
        };
        if !valid.is_empty() {
            rest = rest.get(valid.len()..).unwrap_or_default();
            return Some(Piece::Str(valid));
        }
        if let Some(half) = half_at_start(rest) {
            rest = rest.get(HALF..).unwrap_or_default();
            return Some(Piece::Half(half));
        }
        rest = rest.get(1..).unwrap_or_default();
        Some(Piece::Bad)
    })
}

/// WTF-8 as text, with U+FFFD for lone halves.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(
            pieces(bytes)
                .map(|piece| match piece {
                    Piece::Str(text) => text,
                    Piece::Half(_) | Piece::Bad => "\u{fffd}",
                })
                .collect(),
        ),
    }
}

/// Characters of WTF-8: every byte that does not continue one begins one.
pub(crate) fn count_chars(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64
}

fn half_at_start(bytes: &[u8]) -> Option<u16> {
    match bytes {
        [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
            Some(0xd000 | (u16::from(second & 0x3f) << 6) | u16::from(third & 0x3f))
        }
        _ => None,
    }
}

fn low_half_at_start(bytes: &[u8]) -> Option<u16> {
    half_at_start(bytes).filter(|half| (0xdc00..=0xdfff).contains(half))
}

fn high_half_at_end(bytes: &[u8]) -> Option<u16> {
    let tail = bytes.get(bytes.len().checked_sub(HALF)?..)?;
    half_at_start(tail).filter(|half| (0xd800..=0xdbff).contains(half))
}

fn join_halves(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn text(deltas: &[&str]) -> Text {
        let mut text = Text::default();
        for delta in deltas {
            text.append(&Json::parse(delta).unwrap().text().unwrap());
        }
        text
    }

    #[test]
    fn halves_join_when_they_meet() {
        let joined = text(&[r#""a\ud83d""#, r#""\ude00b""#]);
        assert_eq!(joined.to_str(), "a😀b");
        assert_eq!(text(&[r#""\ud83d\ude00""#]).to_str(), "😀");
    }

    #[test]
    fn a_lone_half_is_kept_and_shown() {
        for (deltas, shown, escaped) in [
            (&[r#""a\ud83d""#, r#""b""#][..], "a\u{fffd}b", "a\\ud83db"),
            (&[r#""\ude00\ud83d""#], "\u{fffd}\u{fffd}", "\\ude00\\ud83d"),
            (&[r#""\ud83d""#, r#""""#, r#""\ude00""#], "😀", "😀"),
        ] {
            let text = text(deltas);
            assert_eq!(text.to_str(), shown);
            assert_eq!(text.to_escaped(), escaped);
            let mut json = String::new();
            text.write_json(&mut json);
            assert_eq!(json, format!("\"{escaped}\""));
        }
    }

    #[test]
    fn json_strings_are_escaped() {
        let mut out = String::new();
        write_json_str("a\"\\\n\r\t\u{1}é", &mut out);
        assert_eq!(out, r#""a\"\\\n\r\t\u0001é""#);
    }
}
