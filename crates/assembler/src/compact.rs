//! JSON without white space and without members that a later one of the same key replaces.

use std::{collections::HashMap, ops::Range};

/// Objects up to this size are searched for equal keys, larger ones are indexed.
const SEARCHED: usize = 16;

/// An object that is open while [`compact`] runs: its keys, and where in the output each begins.
#[derive(Default)]
struct Level<'a> {
    object: bool,
    at_key: bool,
    starts: Vec<(&'a str, usize)>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Level<'a> {
    /// Notes a key that begins at `start`; what an earlier equal one covers of the output.
    fn key(&mut self, key: &'a str, start: usize) -> Option<Range<usize>> {
        let known = if self.starts.len() < SEARCHED {
            self.starts.iter().rposition(|(name, _)| *name == key)
        } else {
            if self.places.is_empty() {
                self.places =
                    self.starts.iter().enumerate().map(|(at, (key, _))| (*key, at)).collect();
            }
            self.places.insert(key, self.starts.len())
        };
        self.starts.push((key, start));
        let (_, from) = self.starts.get(known?)?;
        let (_, to) = self.starts.get(known? + 1)?;
        Some(*from..*to)
    }
}

/// Takes white space out, and members that a later one of the same key replaces. One pass, no recursion.
pub(crate) fn compact(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len());
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut replaced = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let mut end = at + 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at = end;
                continue;
            }
            b'"' => {
                end = string_end(bytes, at);
                if let Some(level) = levels.last_mut().filter(|level| level.at_key) {
                    level.at_key = false;
                    let key = raw.get(at..end).unwrap_or_default();
                    replaced.extend(level.key(key, out.len()));
                }
            }
            b'{' => levels.push(Level { object: true, at_key: true, ..Level::default() }),
            b'[' => levels.push(Level::default()),
            b'}' | b']' => drop(levels.pop()),
            b',' => {
                if let Some(level) = levels.last_mut() {
                    level.at_key = level.object;
                }
            }
            b':' => {}
            _ => {
                end = bytes
                    .iter()
                    .skip(at)
                    .position(|byte| b" \t\n\r,]}".contains(byte))
                    .map_or(bytes.len(), |length| at + length);
            }
        }
        out.push_str(raw.get(at..end).unwrap_or_default());
        at = end;
    }
    without(out, replaced)
}

/// Where a string that begins at `start` ends, behind its quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(length) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        match bytes.get(at + length) {
            Some(b'"') => return at + length + 1,
            _ => at += length + 2,
        }
    }
    bytes.len()
}

fn without(text: String, mut ranges: Vec<Range<usize>>) -> String {
    if ranges.is_empty() {
        return text;
    }
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for range in ranges {
        if range.start >= done {
            out.push_str(text.get(done..range.start).unwrap_or_default());
        }
        done = done.max(range.end);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_keeps_the_value() {
        for (raw, want) in [
            ("{ \"a\" : [ 1 , 2 ] , \"b\" : \" x \\\" y \" }", r#"{"a":[1,2],"b":" x \" y "}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":{"b":1,"b":2},"a":{"c":3,"c":4},"d":5}"#, r#"{"a":{"c":4},"d":5}"#),
            (r#"[{"a":1,"b":2,"a":3}]"#, r#"[{"b":2,"a":3}]"#),
            (" 1.50 ", "1.50"),
            ("null", "null"),
        ] {
            assert_eq!(compact(raw), want);
        }
    }
}
