//! A bounded list of findings.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{Kind, Severity};

/// Where in the decoded body something is wrong. `None` where it concerns the whole stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The frame's index, from 0.
    pub frame: Option<u64>,
    /// The line at fault, from 1.
    pub line: Option<u64>,
    /// That line's first byte in the decoded body.
    pub offset: Option<u64>,
}

impl Place {
    /// The whole stream.
    pub const STREAM: Self = Self { frame: None, line: None, offset: None };

    /// A frame, at its first line.
    pub const fn frame(index: u64, line: u64, offset: u64) -> Self {
        Self { frame: Some(index), line: Some(line), offset: Some(offset) }
    }
}

/// A fault that was found: what, where, and how many times.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong, with its values.
    pub kind: Kind,
    /// Where.
    pub place: Place,
    /// 1, or, in the last one listed of its id, 1 plus the number of those that are not listed.
    pub count: u64,
}

impl Finding {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

/// As in the contract, section 3: `{id, severity, message, args, frame, line, offset, count}`.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Finding", 8)?;
        object.serialize_field("id", self.kind.id())?;
        object.serialize_field("severity", &self.kind.severity())?;
        object.serialize_field("message", &self.kind.message())?;
        object.serialize_field("args", &Args(&self.kind))?;
        object.serialize_field("frame", &self.place.frame)?;
        object.serialize_field("line", &self.place.line)?;
        object.serialize_field("offset", &self.place.offset)?;
        object.serialize_field("count", &self.count)?;
        object.end()
    }
}

struct Args<'a>(&'a Kind);

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.args())
    }
}

/// The findings of one stream, in the order in which they were reported.
///
/// At most [`Findings::LISTED`] of each id are kept; later ones are counted in the last of them, so
/// that a hundred thousand bad frames cost no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    /// How many of one id are listed.
    pub const LISTED: usize = 5;

    /// Adds a finding, or counts it where enough of its id are listed.
    pub fn report(&mut self, place: Place, kind: Kind) {
        self.add(Finding { kind, place, count: 1 });
    }

    /// Adds everything from `others`, in order.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Finding>) {
        others.into_iter().for_each(|finding| self.add(finding));
    }

    /// What was found.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// How many were found of `id`, listed or only counted.
    pub fn count(&self, id: &str) -> u64 {
        self.list
            .iter()
            .filter(|finding| finding.kind.id() == id)
            .map(|finding| finding.count)
            .sum()
    }

    /// How many were found of `severity`, listed or only counted.
    pub fn count_severity(&self, severity: Severity) -> u64 {
        self.list
            .iter()
            .filter(|finding| finding.severity() == severity)
            .map(|finding| finding.count)
            .sum()
    }

    fn add(&mut self, finding: Finding) {
        let id = finding.kind.id();
        let listed = self.list.iter().filter(|known| known.kind.id() == id).count();
        if listed < Self::LISTED {
            // A vector's own first step is to four; most lists that are not empty hold one.
            self.list.reserve_exact(usize::from(self.list.is_empty()));
            self.list.push(finding);
        } else if let Some(last) = self.list.iter_mut().rev().find(|known| known.kind.id() == id) {
            last.count += finding.count;
        }
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_in_the_fifth() {
        let mut findings = Findings::default();
        for index in 0..9 {
            findings.report(Place::frame(index, 1, 0), Kind::Unterminated { array: false });
            findings.report(Place::STREAM, Kind::Crlf);
        }
        let counts: Vec<u64> = findings
            .list()
            .iter()
            .filter(|f| f.kind.id() == "unterminated")
            .map(|f| f.count)
            .collect();
        assert_eq!(counts, [1, 1, 1, 1, 5]);
        assert_eq!(findings.count("crlf"), 9);
        assert_eq!(findings.count_severity(Severity::Warning), 9);
    }
}
