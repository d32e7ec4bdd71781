//! Bytes that the capture lacks.

use serde::{Deserialize, Serialize};

/// A range of the encoded body that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) reason: String,
}

/// The ranges that were not kept, in order. At most [`Lost::RANGES`]: from then on the last one grows
/// over what lies between, so that the worst case costs no memory. Bytes in between that were kept stay
/// in the store; they are called lost, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Lost(Vec<Range>);

impl Lost {
    pub(crate) const RANGES: usize = 64;

    /// Adds a range.
    pub(crate) fn add(&mut self, from: u64, to: u64, reason: &str) {
        if to <= from {
            return;
        }
        let full = Self::RANGES <= self.0.len();
        match self.0.last_mut() {
            Some(last) if full || (last.to == from && last.reason == reason) => {
                last.from = last.from.min(from);
                last.to = last.to.max(to);
            }
            _ => self.0.push(Range { from, to, reason: reason.to_owned() }),
        }
    }

    /// The ranges in the order in which they were lost.
    pub(crate) fn ranges(&self) -> &[Range] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why the byte at `offset` was not kept, as far as is known.
    pub(crate) fn reason_at(&self, offset: u64) -> &str {
        self.0
            .iter()
            .find(|range| range.from <= offset && offset < range.to)
            .map_or("not kept", |range| range.reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_merge_and_the_list_is_bounded() {
        let mut lost = Lost::default();
        lost.add(0, 0, "nothing");
        assert!(lost.is_empty());
        lost.add(0, 10, "queue full");
        lost.add(10, 20, "queue full");
        lost.add(20, 30, "disk full");
        let ranges: Vec<_> = lost.ranges().iter().map(|range| (range.from, range.to)).collect();
        assert_eq!(ranges, [(0, 20), (20, 30)]);
        assert_eq!(lost.reason_at(25), "disk full");
        for index in 0..1000 {
            lost.add(100 + index * 2, 101 + index * 2, "queue full");
        }
        assert_eq!(lost.ranges().len(), Lost::RANGES);
        assert_eq!(lost.ranges().last().map(|range| range.to), Some(2099));
    }
}
