//! Which frame added which bytes of which part.

use serde::{Serialize, Serializer, ser::SerializeSeq as _};

/// How many entries are kept unless [told otherwise](crate::Options::trace_limit): 20 bytes each.
pub(crate) const TRACE_LIMIT: usize = 4_000_000;

/// Text that a frame added to a part. In JSON `[frame, output, part, bytes]`; with a fifth number, the
/// bytes that it first took off the part's end, where it changed earlier text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    frame: u32,
    output: u32,
    part: u32,
    bytes: u32,
    cut: u32,
}

impl Added {
    pub(crate) fn new(frame: u64, output: u64, part: u32, bytes: usize, cut: usize) -> Self {
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            frame: narrow(frame),
            output: narrow(output),
            part,
            bytes: narrow(bytes as u64),
            cut: narrow(cut as u64),
        }
    }

    /// The same, of the part at another place.
    pub(crate) fn at(self, part: u32) -> Self {
        Self { part, ..self }
    }

    /// The frame's index.
    pub fn frame(self) -> u64 {
        self.frame.into()
    }

    /// The output's index.
    pub fn output(self) -> u64 {
        self.output.into()
    }

    /// The part's place in the output's `parts`.
    pub fn part(self) -> u64 {
        self.part.into()
    }

    /// How many bytes of the part's text it added at the end.
    pub fn bytes(self) -> u64 {
        self.bytes.into()
    }

    /// How many bytes of the part's text it took off the end before.
    pub fn cut(self) -> u64 {
        self.cut.into()
    }
}

impl Serialize for Added {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = [self.frame, self.output, self.part, self.bytes, self.cut];
        let numbers = if self.cut == 0 { numbers.get(..4).unwrap_or(&numbers) } else { &numbers };
        let mut array = serializer.serialize_seq(Some(numbers.len()))?;
        numbers.iter().try_for_each(|number| array.serialize_element(number))?;
        array.end()
    }
}

/// The log, bounded.
#[derive(Debug)]
pub(crate) struct Provenance {
    entries: Vec<Added>,
    limit: usize,
}

impl Provenance {
    pub(crate) fn new(limit: usize) -> Self {
        Self { entries: Vec::new(), limit }
    }

    pub(crate) fn push(&mut self, added: Added) {
        if self.entries.len() < self.limit && (added.bytes > 0 || added.cut > 0) {
            self.entries.push(added);
        }
    }

    pub(crate) fn entries(&self) -> &[Added] {
        &self.entries
    }
}
