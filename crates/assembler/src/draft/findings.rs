//! What a format reports.

use teeline_finding::{Kind, Place, excerpt};

use crate::{frame_log::Deed, json::Json};

use super::{Draft, ONCE};

/// Findings.
impl Draft {
    /// Reports something at the current frame.
    pub fn report(&mut self, kind: Kind) {
        let place = self.place;
        self.report_at(place, kind);
    }

    pub(crate) fn report_at(&mut self, place: Place, kind: Kind) {
        match &mut self.closing {
            Some(closing) => closing.push((place, kind)),
            None => self.findings.report(place, kind),
        }
    }

    /// Reports something once: later reports with the same `key` are dropped.
    pub fn report_once(&mut self, key: &str, kind: Kind) {
        if self.said.len() < ONCE && self.said.insert(key.to_owned()) {
            self.report(kind);
        }
    }

    /// The frame is no frame of this format: `unknown-event`.
    pub fn unknown(&mut self, name: &str) {
        self.log.deed(Deed::Other, || "unknown".to_owned());
        self.report(Kind::UnknownEvent { name: excerpt(name) });
    }

    /// Something is carried and not read; named once: `not-assembled`.
    pub fn not_assembled(&mut self, what: &str) {
        let what = excerpt(what);
        self.report_once(&format!("not assembled {what}"), Kind::NotAssembled { what });
    }

    /// A field has another shape than its schema says, and is not read: `bad-field`. Without a value it is
    /// not there: that is told as such, `null` is another thing (`FORMATS.md` 0.3).
    pub fn bad_field<'a>(
        &mut self,
        field: &str,
        expected: &str,
        value: impl Into<Option<Json<'a>>>,
    ) {
        let value = value.into().map_or_else(|| "missing".to_owned(), Json::shortened);
        let (field, expected) = (field.to_owned(), expected.to_owned());
        self.report(Kind::BadField { field, expected, value });
    }

    /// A field that has to be there is not: `bad-field`.
    pub fn missing_field(&mut self, field: &str, expected: &str) {
        self.bad_field(field, expected, None);
    }
}
