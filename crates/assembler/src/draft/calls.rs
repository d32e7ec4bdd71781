//! Tool calls.

use teeline_finding::Kind;

use crate::{equal::equal, frame_log::Deed, json::Json, text::Str};

use super::{Draft, Part, PartId, difference};

/// Tool calls: parts of kind [`PartKind::Call`](super::PartKind::Call).
impl Draft {
    /// A call's id, FIRST+.
    pub fn call_id(&mut self, part: PartId, id: &str) {
        let call = &mut self.get_mut(part).call;
        if !id.is_empty() && call.id.is_none() {
            call.id = Some(id.to_owned());
        }
    }

    /// A call's tool, FIRST+.
    pub fn call_name(&mut self, part: PartId, name: &str) {
        let call = &mut self.get_mut(part).call;
        if !name.is_empty() && call.name.is_none() {
            call.name = Some(name.to_owned());
            let index = call.index;
            self.log.deed(Deed::Control, || format!("tool {index} {name}"));
        }
    }

    /// A call's arguments as an object of the format's own: REPLACE, complete, not judged.
    pub fn call_object(&mut self, part: PartId, arguments: Json<'_>) {
        let compact = arguments.compact();
        self.replace(part, &Str::from(&*compact));
        let call = &mut self.get_mut(part).call;
        call.complete = true;
        call.judged = true;
    }

    /// A call's arguments as a value that counts, whatever their text gave: another one is `done-mismatch`.
    /// Text that says the same stays as it is.
    pub fn settle_call(&mut self, part: PartId, arguments: Json<'_>, what: &str) {
        let text = self.get(part).text.to_escaped().into_owned();
        if !text.trim().is_empty() && self.get(part).has_deltas() {
            if Json::parse(&text).is_ok_and(|json| equal(json, arguments)) {
                return self.close_call(part);
            }
            let (kept, assembled) = difference(&arguments.compact(), &text);
            self.report(Kind::DoneMismatch { what: what.to_owned(), kept, assembled });
        }
        self.call_object(part, arguments);
    }

    /// Everything of a call came: its arguments are judged now, once: `arguments-not-json`. Nothing is judged
    /// of a plain body.
    pub fn close_call(&mut self, part: PartId) {
        let (known, empty_is_fault) = (&self.parts[part.0], self.rules.empty_arguments);
        let name = known.call.name.clone().unwrap_or_default();
        let error = argument_error(known, empty_is_fault);
        let call = &mut self.parts[part.0].call;
        call.complete = true;
        if std::mem::replace(&mut call.judged, true) || call.free || self.document.is_some() {
            return;
        }
        if let Some((error, empty)) = error {
            self.report(Kind::ArgumentsNotJson { tool: name, error, empty });
        }
    }
}

fn argument_error(part: &Part, empty_is_fault: bool) -> Option<(String, bool)> {
    let text = part.text.to_escaped();
    if text.trim().is_empty() {
        return empty_is_fault.then(|| ("empty".to_owned(), true));
    }
    Json::parse(&text).err().map(|error| (error, false))
}
