//! The draft: what the frames of a stream have built so far.
//!
//! A format translates its frames into the verbs here; whether their order makes sense is judged here,
//! once for all formats. Every [`append`](Draft::append) is logged (frame, output, part, bytes), so that
//! provenance costs a format nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use teeline_finding::{Findings, Kind, Place};

use crate::{
    failure::Fault,
    format::Rules,
    frame_log::{Deed, FrameLog},
    json::{Json, shorten},
    node::{Map, Node},
    provenance::{Added, Provenance},
    text::Str,
};

pub use crate::part::{Call, Key, Part, PartId, PartKind};

/// What an output, a part or a new key costs of the text limit beyond its bytes.
const OVERHEAD: usize = 128;

/// How many different things are reported once each; later ones are taken for reported.
const ONCE: usize = 1_000;

/// Token counts, picked out of a format's usage object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Tokens of the prompt.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Both.
    pub total: Option<u64>,
    /// Prompt tokens that came from a cache.
    pub cached: Option<u64>,
    /// Answer tokens spent on reasoning.
    pub reasoning: Option<u64>,
}

/// An answer of the stream: a choice, a candidate, a message, a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draw {
    pub(crate) index: u64,
    pub(crate) role: Option<String>,
    pub(crate) parts: Vec<PartId>,
    pub(crate) calls: u64,
    pub(crate) finish: Option<String>,
}

/// A block that was opened under a key.
#[derive(Clone, Debug)]
struct Block {
    part: Option<PartId>,
    open: bool,
    order: usize,
}

/// What a stream has built so far, and what was wrong on the way.
#[derive(Debug)]
pub struct Draft {
    rules: Rules,
    pub(crate) place: Place,
    pub(crate) findings: Findings,
    /// Findings of the end, while it is judged.
    pub(crate) closing: Option<Vec<(Place, Kind)>>,
    said: BTreeSet<String>,
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) outputs: Vec<Draw>,
    by_index: BTreeMap<u64, usize>,
    pub(crate) parts: Vec<Part>,
    blocks: HashMap<Key, Block>,
    pub(crate) usage: Option<(Tokens, Node)>,
    pub(crate) fault: Option<Fault>,
    pub(crate) started: bool,
    pub(crate) ended: bool,
    pub(crate) failed: bool,
    /// A piece from before the end is missing.
    pub(crate) broken: bool,
    /// The stream gave a final object that the answer rests on, whatever is missing before it.
    pub(crate) rests: bool,
    held: usize,
    limit: usize,
    pub(crate) provenance: Provenance,
    pub(crate) log: FrameLog,
}

impl Draft {
    pub(crate) fn new(rules: Rules, limit: usize) -> Self {
        Self {
            rules,
            place: Place::STREAM,
            findings: Findings::default(),
            closing: None,
            said: BTreeSet::new(),
            id: None,
            model: None,
            outputs: Vec::new(),
            by_index: BTreeMap::new(),
            parts: Vec::new(),
            blocks: HashMap::new(),
            usage: None,
            fault: None,
            started: false,
            ended: false,
            failed: false,
            broken: false,
            rests: false,
            held: 0,
            limit,
            provenance: Provenance::default(),
            log: FrameLog::default(),
        }
    }

    /// What the format demands of a stream. A format that only wraps another may change them.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Changes the rules, for a format whose frames wrap those of another.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }
}

/// Findings.
impl Draft {
    /// Reports something at the current frame.
    pub fn report(&mut self, kind: Kind) {
        let place = self.place;
        self.report_at(place, kind);
    }

    /// Reports something about the whole stream.
    pub fn report_stream(&mut self, kind: Kind) {
        self.report_at(Place::STREAM, kind);
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
        self.report(Kind::UnknownEvent { name: shorten(name) });
    }

    /// Something is carried and not read; named once: `not-assembled`.
    pub fn not_assembled(&mut self, what: &str) {
        let what = shorten(what);
        self.report_once(&format!("not assembled {what}"), Kind::NotAssembled { what });
    }

    /// A field has another shape than its schema says, and is not read: `bad-field`.
    pub fn bad_field(&mut self, field: &str, expected: &str, value: Json<'_>) {
        let (field, expected, value) = (field.to_owned(), expected.to_owned(), value.shortened());
        self.report(Kind::BadField { field, expected, value });
    }
}

/// The response as a whole.
impl Draft {
    /// The response's id, FIRST+. Another one later is `id-changed`, once; `what` names it there.
    pub fn id(&mut self, what: &str, id: &str) {
        if id.is_empty() {
            return;
        }
        match &self.id {
            None => self.id = Some(id.to_owned()),
            Some(first) if first != id => {
                let (first, second) = (shorten(first), shorten(id));
                let key = format!("id {what}");
                self.report_once(&key, Kind::IdChanged { what: what.to_owned(), first, second });
            }
            Some(_) => {}
        }
    }

    /// The model, LAST+.
    pub fn model(&mut self, model: &str) {
        if !model.is_empty() && self.model.as_deref() != Some(model) {
            self.model = Some(model.to_owned());
        }
    }

    /// The event that the stream begins with came.
    pub fn start(&mut self) {
        self.started = true;
        self.log.deed(Deed::Start, || "start".to_owned());
    }

    /// Token counts, REPLACE: `raw` is the format's whole object, merged where the format merges.
    pub fn usage(&mut self, tokens: Tokens, raw: impl Into<Node>) {
        self.usage = Some((tokens, raw.into()));
        self.log.deed(Deed::Usage, || "usage".to_owned());
    }

    /// The end marker came. Frames after it are `after-end`, apart from those that
    /// [`Assembler::passes_end`](crate::Assembler::passes_end) lets through.
    pub fn end(&mut self) {
        self.ended = true;
        self.log.deed(Deed::End, || "end".to_owned());
    }

    /// For formats without an end marker: whether the stream could end here as a whole answer.
    pub fn set_ended(&mut self, ended: bool) {
        self.ended = ended;
    }

    /// An error that ends the stream: `error-event`.
    pub fn fail(&mut self, fault: Fault) {
        self.failed = true;
        self.fail_and_go_on(fault);
    }

    /// An error after which the stream goes on: `error-event`.
    pub fn fail_and_go_on(&mut self, fault: Fault) {
        let (message, error_type) = (shorten(&fault.message), fault.label().to_owned());
        self.log.deed(Deed::Error, || format!("error: {message}"));
        self.report(Kind::ErrorEvent { message, error_type });
        self.fault = Some(fault);
    }

    /// Whether the end marker or an error that ends the stream came.
    pub fn is_over(&self) -> bool {
        self.ended || self.failed
    }

    /// Whether the end marker came.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether an error ended the stream.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// A final object came that holds the whole answer: what is missing before it does not count.
    pub fn rest_on_final(&mut self) {
        self.rests = true;
    }

    /// The frame is a keep-alive of the format's own.
    pub fn keep_alive(&mut self) {
        self.log.deed(Deed::KeepAlive, || "keep-alive".to_owned());
    }

    /// What the frame did besides adding text, in a word or two for its row.
    pub fn note(&mut self, words: &str) {
        self.log.deed(Deed::Control, || words.to_owned());
    }
}

/// Outputs.
impl Draft {
    /// Makes sure that the output exists: `index` is a choice's or candidate's, 0 in formats with one answer.
    pub fn output(&mut self, index: u64) {
        self.output_at(index);
    }

    /// The role, FIRST+.
    pub fn role(&mut self, output: u64, role: &str) {
        let at = self.output_at(output);
        if let Some(output) = self.outputs.get_mut(at)
            && output.role.is_none()
            && !role.is_empty()
        {
            output.role = Some(role.to_owned());
            self.log.deed(Deed::Control, || format!("role {role}"));
        }
    }

    /// Why it stopped, LAST+.
    pub fn stop(&mut self, output: u64, reason: &str) {
        let at = self.output_at(output);
        if let Some(output) = self.outputs.get_mut(at)
            && !reason.is_empty()
        {
            output.finish = Some(reason.to_owned());
            self.log.deed(Deed::Control, || format!("finish {reason}"));
        }
    }

    /// Why it stopped.
    pub fn reason(&self, output: u64) -> Option<&str> {
        self.by_index.get(&output).and_then(|at| self.outputs.get(*at))?.finish.as_deref()
    }

    /// The outputs' indexes, ascending.
    pub fn output_indexes(&self) -> impl Iterator<Item = u64> {
        self.by_index.keys().copied()
    }

    /// The outputs by ascending index.
    pub(crate) fn sorted_outputs(&self) -> impl Iterator<Item = &Draw> {
        self.by_index.values().filter_map(|at| self.outputs.get(*at))
    }

    fn output_at(&mut self, index: u64) -> usize {
        self.log.touch(index);
        if let Some(at) = self.by_index.get(&index) {
            return *at;
        }
        self.held += OVERHEAD;
        let at = self.outputs.len();
        self.outputs.push(Draw { index, ..Draw::default() });
        self.by_index.insert(index, at);
        at
    }
}

/// Parts.
impl Draft {
    /// A new part at the end of an output.
    pub fn part(&mut self, output: u64, kind: PartKind) -> PartId {
        let at = self.output_at(output);
        let id = PartId(self.parts.len());
        self.held += OVERHEAD;
        let mut part = Part::new(kind, at, 0);
        if let Some(output) = self.outputs.get_mut(at) {
            part.place = u32::try_from(output.parts.len()).unwrap_or(u32::MAX);
            output.parts.push(id);
            if kind == PartKind::Call {
                part.call.index = output.calls;
                output.calls += 1;
            }
        }
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

    /// The index of the output that a part belongs to.
    pub fn output_of(&self, part: PartId) -> u64 {
        self.outputs.get(self.get(part).output).map_or(0, |output| output.index)
    }

    /// APPEND: a delta of a part's text.
    pub fn append(&mut self, part: PartId, more: &Str<'_>) {
        if more.is_empty() || !self.admit(more.as_bytes().len()) {
            return;
        }
        let part = &mut self.parts[part.0];
        let before = part.text.len();
        let newest = part.text.as_bytes().get(part.newest..).unwrap_or_default();
        part.tally.add(newest, more.as_bytes());
        part.text.append(more);
        part.newest = (part.text.len() + before).saturating_sub(before + more.as_bytes().len());
        self.log_added(part_id(part, &self.outputs), before, 0, more);
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
            let at = crate::text::count_chars(kept);
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
        let common = crate::cumulative::common_prefix(known.text.as_bytes(), text.as_bytes());
        let added = text.as_bytes().get(common..).unwrap_or_default().to_vec();
        if !self.admit(added.len()) {
            return (before, before);
        }
        self.held = self.held.saturating_sub(before - common);
        let known = &mut self.parts[part.0];
        known.text.truncate(common);
        let added = Str::from_wtf8(added);
        known.text.append(&added);
        known.newest = 0;
        self.log_added(part_id(known, &self.outputs), common, before - common, &added);
        (before, common)
    }

    fn log_added(&mut self, at: (u64, u32, usize), before: usize, cut: usize, more: &Str<'_>) {
        let (output, place, part) = at;
        let known = &self.parts[part];
        let bytes = known.text.len().saturating_sub(before);
        let call = (known.kind == PartKind::Call).then_some(known.call.index);
        self.log.gain(known.kind, output, call, known.rank, more);
        let frame = self.place.frame.unwrap_or_default();
        self.provenance.push(Added::new(frame, output, place, bytes, cut));
    }
}

/// Blocks: what is opened, added to and closed under a key.
impl Draft {
    /// Opens a block with a part. An open or closed one under the same key is replaced: `block-restarted`.
    pub fn open(&mut self, key: Key, output: u64, kind: PartKind) -> PartId {
        if let Some(part) = self.blocks.get(&key).and_then(|block| block.part) {
            let replaced = self.get(part).text.len() as u64;
            self.restarted(&key, replaced);
            self.replace(part, &Str::default());
            let known = self.get_mut(part);
            let (output, place, index) = (known.output, known.place, known.call.index);
            *known = Part::new(kind, output, place);
            known.call.index = index;
            self.reopen(&key);
            return part;
        }
        let part = self.part(output, kind);
        self.insert(key, Some(part));
        part
    }

    /// Opens a block that has no text of its own. `true` if it was there already: `block-restarted`.
    pub fn open_bare(&mut self, key: Key) -> bool {
        let known = self.blocks.contains_key(&key);
        if known {
            self.restarted(&key, 0);
            self.reopen(&key);
        } else {
            self.insert(key, None);
        }
        known
    }

    /// The part of an open block, for formats whose blocks need no opening: made where it is not there.
    pub fn ensure(&mut self, key: Key, output: u64, kind: PartKind) -> PartId {
        if let Some(part) = self.blocks.get(&key).and_then(|block| block.part) {
            return part;
        }
        let part = self.part(output, kind);
        self.insert(key, Some(part));
        part
    }

    /// The part of an open block. Not open: `block-unstarted`, and what came for it is dropped.
    pub fn opened(&mut self, key: &Key) -> Option<PartId> {
        match self.blocks.get(key) {
            Some(block) if block.open => block.part,
            _ => {
                self.unstarted(key);
                None
            }
        }
    }

    /// Closes a block. Not open: `block-unstarted`.
    pub fn close(&mut self, key: &Key) -> Option<PartId> {
        match self.blocks.get_mut(key) {
            Some(block) if block.open => {
                block.open = false;
                let part = block.part;
                self.log.deed(Deed::Control, || format!("{key} closed"));
                part
            }
            _ => {
                self.unstarted(key);
                None
            }
        }
    }

    /// Whether a block is open.
    pub fn is_open(&self, key: &Key) -> bool {
        self.blocks.get(key).is_some_and(|block| block.open)
    }

    /// The part of a block, open or closed.
    pub fn part_of(&self, key: &Key) -> Option<PartId> {
        self.blocks.get(key)?.part
    }

    /// An event came for something that was never opened: `block-unstarted`.
    pub fn unstarted(&mut self, key: &Key) {
        self.broken = true;
        self.report(Kind::BlockUnstarted { what: key.to_string() });
    }

    /// Something was opened a second time: `block-restarted`.
    pub fn restarted(&mut self, key: &Key, replaced: u64) {
        self.broken = true;
        self.report(Kind::BlockRestarted { what: key.to_string(), replaced });
    }

    /// The blocks that are open, in the order in which they were opened.
    pub(crate) fn open_blocks(&self) -> Vec<Key> {
        let mut open: Vec<_> = self.blocks.iter().filter(|(_, block)| block.open).collect();
        open.sort_by_key(|(_, block)| block.order);
        open.into_iter().map(|(key, _)| key.clone()).collect()
    }

    fn insert(&mut self, key: Key, part: Option<PartId>) {
        self.log.deed(Deed::Control, || format!("{key} opened"));
        self.held += OVERHEAD;
        let order = self.blocks.len();
        self.blocks.insert(key, Block { part, open: true, order });
    }

    fn reopen(&mut self, key: &Key) {
        if let Some(block) = self.blocks.get_mut(key) {
            block.open = true;
        }
    }
}

/// Tool calls: parts of kind [`PartKind::Call`].
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

    /// Everything of a call came: its arguments are judged now, once: `arguments-not-json`.
    pub fn close_call(&mut self, part: PartId) {
        let (known, empty_is_fault) = (&self.parts[part.0], self.rules.empty_arguments);
        let name = known.call.name.clone().unwrap_or_default();
        let error = argument_error(known, empty_is_fault);
        let call = &mut self.parts[part.0].call;
        call.complete = true;
        if std::mem::replace(&mut call.judged, true) || call.free {
            return;
        }
        if let Some((error, empty)) = error {
            self.report(Kind::ArgumentsNotJson { tool: name, error, empty });
        }
    }
}

/// Bounds.
impl Draft {
    /// EXTEND and PUSH onto a tree of the format's own: whether `bytes` more may be kept.
    pub fn admit(&mut self, bytes: usize) -> bool {
        if self.held.saturating_add(bytes) > self.limit {
            let limit = self.limit;
            self.not_assembled(&format!("what exceeds the {limit} bytes that a reading holds"));
            return false;
        }
        self.held += bytes;
        true
    }

    /// Carries a vendor's field along by a verb of [`Map`]: what is new counts against the bound.
    pub fn carry(&mut self, map: &mut Map, key: &str, value: Json<'_>, verb: fn(&mut Map, &str, Json<'_>)) {
        if map.has(key) || self.admit(OVERHEAD + key.len() + value.raw().len()) {
            verb(map, key, value);
        }
    }

    /// EXTEND with the bound: every element of an array is added to the array at `key`.
    pub fn extend(&mut self, map: &mut Map, key: &str, value: Json<'_>) {
        if self.admit(value.raw().len()) {
            map.extend(key, value);
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

fn part_id(part: &Part, outputs: &[Draw]) -> (u64, u32, usize) {
    let output = outputs.get(part.output);
    let id = output.and_then(|output| output.parts.get(part.place as usize));
    (output.map_or(0, |output| output.index), part.place, id.map_or(0, |id| id.0))
}

/// Two texts from shortly before they part, for a finding.
pub fn difference(kept: &str, assembled: &str) -> (String, String) {
    const BEFORE: usize = 20;
    let common = crate::cumulative::common_prefix(kept.as_bytes(), assembled.as_bytes());
    let shared = kept.get(..common).unwrap_or_default();
    let from = shared.char_indices().rev().nth(BEFORE).map_or(0, |(at, _)| at);
    let cut = |text: &str| {
        let shown = shorten(text.get(from..).unwrap_or_default());
        if from > 0 { format!("…{shown}") } else { shown }
    };
    (cut(kept), cut(assembled))
}
