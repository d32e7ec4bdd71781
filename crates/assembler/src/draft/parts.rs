//! The texts: added to, replaced, settled.

use teeline_finding::{Kind, excerpt};

use crate::{
    json::Json,
    node::{Map, Node},
    part::Doubt,
    provenance::Added,
    tally::common_prefix,
    text::{Str, Text, count_chars},
};

use super::{Draft, Hint, OVERHEAD, Part, PartId, PartKind, SINK};

/// So many values decide that a part is cumulative before the stream ends.
const DECIDED: u64 = 16;

/// Parts.
impl Draft {
    /// A new part at the end of an output.
    pub fn part(&mut self, output: u64, kind: PartKind) -> PartId {
        let at = self.output_at(output);
        if at == 0 || !self.admit(OVERHEAD) {
            return SINK;
        }
        let id = PartId(self.parts.len());
        let mut part = Part::new(kind, at, 0);
        if let Some(output) = self.outputs.get_mut(at) {
            part.place = u32::try_from(output.parts.len()).unwrap_or(u32::MAX);
            output.parts.push(id);
            if kind == PartKind::Call {
                part.call.index = output.calls;
                output.calls += 1;
            }
        }
        // Most answers have one part beside the sink; a vector's own next step is to four.
        self.parts.reserve_exact(usize::from(self.parts.len() == 1));
        self.parts.push(part);
        id
    }

    /// A part.
    pub fn get(&self, part: PartId) -> &Part {
        // Ids are only made by `part`, and parts are never taken out.
        &self.parts[part.0]
    }

    /// A part, to change its fields. Text goes through [`append`](Self::append) and its kin.
    pub fn get_mut(&mut self, part: PartId) -> &mut Part {
        &mut self.parts[part.0]
    }

    /// Carries a field along in what a part shows beyond its text, by a verb of [`Map`], with the bound.
    pub fn extra(
        &mut self,
        part: PartId,
        key: &str,
        value: Json<'_>,
        verb: fn(&mut Map, &str, Json<'_>),
    ) {
        if part == SINK {
            return;
        }
        let mut extra = std::mem::take(&mut self.get_mut(part).extra);
        self.carry(&mut extra, key, value, verb);
        self.get_mut(part).extra = extra;
    }

    /// REPLACE in what a part shows beyond its text: what was there no longer counts against the bound.
    pub fn extra_set(&mut self, part: PartId, key: &str, value: Json<'_>) {
        if part == SINK {
            return;
        }
        let known = self.get(part).extra.get(key);
        let (new, before) = match known.and_then(Node::json) {
            Some(json) => (0, json.raw().len()),
            None => (OVERHEAD + key.len(), 0),
        };
        self.held = self.held.saturating_sub(before);
        if self.admit(new + value.raw().len()) {
            self.get_mut(part).extra.set(key, value);
        } else {
            self.held += before;
        }
    }

    /// Whether the bound was reached when the part was made: it is in no output and stays empty.
    pub(crate) fn is_dropped(part: PartId) -> bool {
        part == SINK
    }

    /// PUSH onto a list in what a part shows beyond its text, with the bound.
    pub fn extra_push(&mut self, part: PartId, key: &str, value: Json<'_>) {
        if part != SINK && self.admit(OVERHEAD + value.raw().len()) {
            self.get_mut(part).extra.entry(key).array().push(value.into());
        }
    }

    /// Adds to a text in what a part shows beyond its own, with the bound. `verb` is how it grows.
    pub fn extra_append(
        &mut self,
        part: PartId,
        key: &str,
        more: &Str<'_>,
        verb: fn(&mut Text, &Str<'_>),
    ) {
        if part != SINK && self.admit(more.as_bytes().len()) {
            verb(self.get_mut(part).extra.entry(key).text(), more);
        }
    }

    /// The index of the output that a part belongs to.
    pub fn output_of(&self, part: PartId) -> u64 {
        self.outputs.get(self.get(part).output).map_or(0, |output| output.index)
    }

    /// APPEND: a delta of a part's text.
    pub fn append(&mut self, id: PartId, more: &Str<'_>) {
        self.append_counted(id, more, None);
    }

    fn append_counted(&mut self, id: PartId, more: &Str<'_>, tokens: Option<u64>) {
        if more.is_empty() || id == SINK || !self.admit(more.as_bytes().len()) {
            return;
        }
        let part = &mut self.parts[id.0];
        let before = part.text.len();
        let newest = part.text.as_bytes().get(part.newest..).unwrap_or_default();
        let place = part.doubt.is_some().then_some(self.place);
        part.tally.add(newest, more.as_bytes(), tokens, place);
        part.text.append(more);
        part.newest = part.text.len().saturating_sub(more.as_bytes().len());
        self.log_added(id, before, 0, more);
    }

    /// A value of which it is not known whether it is a delta or the text so far (`FORMATS.md` F.4). Both
    /// readings are kept until the values tell; `what` names the part in a `rewritten`.
    pub fn undecided(&mut self, part: PartId, value: &Str<'_>, what: &str) {
        self.hinted(part, value, what, Hint::default());
    }

    /// The same, where more is known than the values.
    pub fn hinted(&mut self, part: PartId, value: &Str<'_>, what: &str, hint: Hint) {
        if value.is_empty() || part == SINK {
            return;
        }
        let known = self.get_mut(part);
        if known.is_cumulative() {
            known.tally.add(known.text.as_bytes(), value.as_bytes(), hint.tokens, None);
            return self.snapshot(part, value, what);
        }
        let (what, snapshot) = (what.into(), hint.snapshot);
        known.doubt.get_or_insert(Doubt { what, snapshot, decided: false });
        self.append_counted(part, value, hint.tokens);
        let known = self.get(part);
        if known.tally.values() >= DECIDED && known.looks_cumulative() {
            self.decide(part);
        }
    }

    /// Takes an undecided part for cumulative: its text is the newest value.
    fn decide(&mut self, part: PartId) {
        let known = self.get_mut(part);
        let newest = known.text.as_bytes().get(known.newest..).unwrap_or_default().to_vec();
        let changes = known.tally.take_changes();
        let Some(doubt) = &mut known.doubt else { return };
        doubt.decided = true;
        let what = doubt.what.to_string();
        for (place, at) in changes {
            self.report_at(place, Kind::Rewritten { what: what.clone(), at });
        }
        self.replace(part, &Str::from_wtf8(newest));
    }

    /// The body ended: what is still undecided is decided now. One server does not send both, so what says
    /// nothing by itself goes with what does.
    pub(crate) fn decide_all(&mut self) {
        let undecided = |part: &Part| part.doubt.as_ref().is_some_and(|doubt| !doubt.decided);
        let any = self.parts.iter().any(|part| {
            part.is_cumulative() || (part.doubt.is_some() && part.tally.evidence().is_some())
        });
        for at in 0..self.parts.len() {
            let part = &self.parts[at];
            let follows = any && part.tally.values() > 1 && !part.tally.is_delta();
            if undecided(part) && (follows || part.looks_cumulative() || is_json_by_newest(part)) {
                self.decide(PartId(at));
            }
        }
    }

    /// REPLACE: a whole new text, kept from where it differs. Reports nothing.
    pub fn replace(&mut self, part: PartId, text: &Str<'_>) {
        let _ = self.replaced(part, text);
    }

    /// CUM: the text so far. A value that changes earlier text is `rewritten`; `what` names it there.
    pub fn snapshot(&mut self, part: PartId, text: &Str<'_>, what: &str) {
        if text.is_empty() && self.get(part).text.is_empty() {
            return;
        }
        let (before, common) = self.replaced(part, text);
        if common < before {
            let kept = self.get(part).text.as_bytes().get(..common).unwrap_or_default();
            let at = count_chars(kept);
            self.report(Kind::Rewritten { what: what.to_owned(), at });
        }
    }

    /// An authoritative final text. If deltas came and gave another, it is `done-mismatch`, and the final
    /// one is kept.
    pub fn settle(&mut self, part: PartId, text: &Str<'_>, what: &str) {
        let known = self.get(part);
        if known.has_deltas() && known.text.as_bytes() != text.as_bytes() {
            let (kept, assembled) = difference(&text.to_str(), &known.text.to_str());
            self.report(Kind::DoneMismatch { what: what.to_owned(), kept, assembled });
        }
        self.replace(part, text);
    }

    /// The length before, and how much of it was kept.
    fn replaced(&mut self, part: PartId, text: &Str<'_>) -> (usize, usize) {
        let known = &mut self.parts[part.0];
        let before = known.text.len();
        let common = common_prefix(known.text.as_bytes(), text.as_bytes());
        if common == before && before == text.as_bytes().len() {
            return (before, common);
        }
        let added = text.as_bytes().get(common..).unwrap_or_default().to_vec();
        if part == SINK || !self.admit(added.len()) {
            return (before, before);
        }
        self.held = self.held.saturating_sub(before - common);
        let known = &mut self.parts[part.0];
        known.text.truncate(common);
        let added = Str::from_wtf8(added);
        known.text.append(&added);
        known.newest = 0;
        self.log_added(part, common, before - common, &added);
        (before, common)
    }

    fn log_added(&mut self, part: PartId, before: usize, cut: usize, more: &Str<'_>) {
        let output = self.output_of(part);
        let known = &self.parts[part.0];
        let place = known.place;
        let bytes = known.text.len().saturating_sub(before);
        let call = (known.kind == PartKind::Call).then_some(known.call.index);
        self.log.gain(known.kind, output, call, known.rank, more);
        self.provenance.push(Added::new(self.frame, output, place, bytes, cut));
    }
}

/// Whether a call's newest value is an object, although all its values together are no JSON.
fn is_json_by_newest(part: &Part) -> bool {
    let newest = part.text.as_bytes().get(part.newest..).unwrap_or_default();
    let is_object = |text: &[u8]| {
        let text = Str::from_wtf8(text).to_str().into_owned();
        text.trim_start().starts_with('{') && Json::parse(&text).is_ok()
    };
    part.kind == PartKind::Call && is_object(newest) && !is_object(part.text.as_bytes())
}

/// Two texts from shortly before they part, for a finding.
pub fn difference(kept: &str, assembled: &str) -> (String, String) {
    const BEFORE: usize = 20;
    let common = common_prefix(kept.as_bytes(), assembled.as_bytes());
    let shared = kept.get(..common).unwrap_or_default();
    let from = shared.char_indices().rev().nth(BEFORE).map_or(0, |(at, _)| at);
    let cut = |text: &str| {
        let shown = excerpt(text.get(from..).unwrap_or_default());
        if from > 0 { format!("…{shown}") } else { shown }
    };
    (cut(kept), cut(assembled))
}
