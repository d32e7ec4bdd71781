//! The draft: what the frames of a stream have built so far.
//!
//! A format translates its frames into the verbs here; whether their order makes sense is judged here,
//! once for all formats. Every [`append`](Draft::append) is logged (frame, output, part, bytes), so that
//! provenance costs a format nothing.

mod blocks;
mod calls;
mod findings;
mod parts;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use teeline_finding::{Findings, Kind, Place, excerpt};

use crate::{
    failure::Fault,
    format::Rules,
    frame_log::{Deed, FrameLog},
    json::{Json, Object},
    node::{Map, Node},
    provenance::{Added, Provenance},
};

pub use crate::part::{Call, Hint, Key, Part, PartId, PartKind};
pub use parts::difference;

/// What an output, a part or a new key costs of the text limit beyond its bytes.
const OVERHEAD: usize = 128;

/// The part that takes what the bound no longer admits: it is in no output and stays empty.
const SINK: PartId = PartId(0);

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
pub(crate) struct Answer {
    pub(crate) index: u64,
    pub(crate) role: Option<String>,
    pub(crate) parts: Vec<PartId>,
    pub(crate) calls: u64,
    pub(crate) finish: Option<String>,
    /// A finer word for it, by which the meaning is found.
    pub(crate) detail: Option<String>,
}

/// A block that was opened under a key.
#[derive(Clone, Debug)]
struct Block {
    part: Option<PartId>,
    open: bool,
    order: usize,
}

/// How much of a stream a draft holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes of text and of other content.
    pub(crate) text: usize,
    /// Entries of provenance.
    pub(crate) trace: usize,
}

/// What a stream has built so far, and what was wrong on the way.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the stream")]
pub struct Draft {
    rules: Rules,
    pub(crate) place: Place,
    /// The newest frame's index.
    pub(crate) frame: u64,
    pub(crate) findings: Findings,
    /// Findings of the end, while it is judged.
    pub(crate) closing: Option<Vec<(Place, Kind)>>,
    said: BTreeSet<String>,
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    /// The first one is in no index: it belongs to the part that takes what the bound no longer admits.
    outputs: Vec<Answer>,
    by_index: BTreeMap<u64, usize>,
    /// The first one takes what the bound no longer admits.
    pub(crate) parts: Vec<Part>,
    blocks: HashMap<Key, Block>,
    blocks_made: usize,
    pub(crate) usage: Option<(Tokens, Node)>,
    pub(crate) fault: Option<Fault>,
    /// A plain body, which is its own response.
    pub(crate) document: Option<Box<str>>,
    pub(crate) started: bool,
    pub(crate) ended: bool,
    /// The end of the body is an end as well.
    pub(crate) open_ended: bool,
    /// A document that says of itself that more comes.
    pub(crate) piece: bool,
    pub(crate) failed: bool,
    /// A piece from before the end is missing.
    pub(crate) broken: bool,
    /// The stream gave a final object that the answer rests on, whatever is missing before it.
    pub(crate) rests: bool,
    /// What the summary says besides.
    pub(crate) remark: Option<&'static str>,
    held: usize,
    limit: usize,
    /// The bound was reached: new outputs, parts and blocks are not made.
    full: bool,
    pub(crate) provenance: Provenance,
    pub(crate) log: FrameLog,
}

impl Draft {
    pub(crate) fn new(rules: Rules, bounds: Bounds) -> Self {
        Self {
            rules,
            place: Place::STREAM,
            frame: 0,
            findings: Findings::default(),
            closing: None,
            said: BTreeSet::new(),
            id: None,
            model: None,
            outputs: vec![Answer::default()],
            by_index: BTreeMap::new(),
            parts: vec![Part::new(PartKind::Other("dropped"), 0, 0)],
            blocks: HashMap::new(),
            blocks_made: 0,
            usage: None,
            fault: None,
            document: None,
            started: false,
            ended: false,
            open_ended: false,
            piece: false,
            failed: false,
            broken: false,
            rests: false,
            remark: None,
            held: 0,
            limit: bounds.text,
            full: false,
            provenance: Provenance::new(bounds.trace),
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
                let (first, second) = (excerpt(first), excerpt(id));
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

    /// Token counts that come in pieces, LAST member by member; `tokens` picks the common ones out of what
    /// came so far.
    pub fn merge_usage(&mut self, usage: &Object<'_>, tokens: fn(&Map) -> Tokens) {
        let mut raw = self.usage.take().map_or_else(|| Map::default().into(), |(_, raw)| raw);
        let known = raw.object();
        usage.iter().for_each(|(key, value)| self.carry(known, key, value, Map::last));
        let tokens = tokens(known);
        self.usage(tokens, raw);
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

    /// A document that says of itself that it is a stream's first piece: the rest did not come.
    pub fn set_piece(&mut self) {
        self.piece = true;
    }

    /// For streams that have no end marker: a body that ended well is whole.
    pub fn ends_with_body(&mut self) {
        self.open_ended = true;
    }

    /// An error that ends the stream: `error-event`.
    pub fn fail(&mut self, fault: Fault) {
        self.failed = true;
        self.fail_and_go_on(fault);
    }

    /// An error after which the stream goes on: `error-event`.
    pub fn fail_and_go_on(&mut self, fault: Fault) {
        let (message, error_type) = (excerpt(&fault.message), fault.label().to_owned());
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

    /// Whether it is of a plain body, of which no stream finding is told (`FORMATS.md` G.1).
    pub fn is_document(&self) -> bool {
        self.document.is_some()
    }

    /// Something that the summary says besides, in a few words.
    pub fn remark(&mut self, words: &'static str) {
        self.remark = Some(words);
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

    /// Why it stopped, in a finer word than the reason: it tells the meaning, where the format's table has it.
    pub fn stop_detail(&mut self, output: u64, detail: &str) {
        let at = self.output_at(output);
        if let Some(output) = self.outputs.get_mut(at) {
            output.detail = Some(detail.to_owned());
        }
    }

    /// Why it stopped.
    pub fn reason(&self, output: u64) -> Option<&str> {
        self.by_index.get(&output).and_then(|at| self.outputs.get(*at))?.finish.as_deref()
    }

    /// Who speaks.
    pub fn role_of(&self, output: u64) -> Option<&str> {
        self.by_index.get(&output).and_then(|at| self.outputs.get(*at))?.role.as_deref()
    }

    /// Whether there is any output.
    pub fn has_outputs(&self) -> bool {
        !self.by_index.is_empty()
    }

    /// The outputs' indexes, ascending.
    pub fn output_indexes(&self) -> impl Iterator<Item = u64> {
        self.by_index.keys().copied()
    }

    /// The outputs by ascending index.
    pub(crate) fn sorted_outputs(&self) -> impl Iterator<Item = &Answer> {
        self.by_index.values().filter_map(|at| self.outputs.get(*at))
    }

    /// The parts of an output that the reading shows: those that were taken out of the answer are not.
    pub(crate) fn shown(&self, output: &Answer) -> impl Iterator<Item = PartId> {
        output.parts.iter().copied().filter(|part| !self.get(*part).discarded)
    }

    /// Which frame added which bytes of which part, by the places that the parts are shown at.
    pub(crate) fn provenance(&self) -> Cow<'_, [Added]> {
        let entries = self.provenance.entries();
        if !self.parts.iter().any(|part| part.discarded) {
            return Cow::Borrowed(entries);
        }
        let mut places: HashMap<(u64, u64), u32> = HashMap::new();
        for output in self.sorted_outputs() {
            for (place, part) in (0..).zip(self.shown(output)) {
                places.insert((output.index, self.get(part).place.into()), place);
            }
        }
        let moved = |added: &Added| {
            places.get(&(added.output(), added.part())).map(|place| added.at(*place))
        };
        Cow::Owned(entries.iter().filter_map(moved).collect())
    }

    fn output_at(&mut self, index: u64) -> usize {
        self.log.touch(index);
        if let Some(at) = self.by_index.get(&index) {
            return *at;
        }
        if !self.admit(OVERHEAD) {
            return 0;
        }
        let at = self.outputs.len();
        // Most answers are the only one beside the sink; a vector's own next step is to four.
        self.outputs.reserve_exact(usize::from(at == 1));
        self.outputs.push(Answer { index, ..Answer::default() });
        self.by_index.insert(index, at);
        at
    }
}

/// Bounds.
impl Draft {
    /// EXTEND and PUSH onto a tree of the format's own: whether `bytes` more may be kept.
    pub fn admit(&mut self, bytes: usize) -> bool {
        if self.held.saturating_add(bytes) > self.limit {
            let limit = self.limit;
            self.full = true;
            self.not_assembled(&format!("what exceeds the {limit} bytes that a reading holds"));
            return false;
        }
        self.held += bytes;
        true
    }

    /// What was admitted is kept no longer: `bytes` of it count no more.
    pub fn give_back(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Carries a vendor's field along by a verb of [`Map`]: what is new counts against the bound.
    pub fn carry(
        &mut self,
        map: &mut Map,
        key: &str,
        value: Json<'_>,
        verb: fn(&mut Map, &str, Json<'_>),
    ) {
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
