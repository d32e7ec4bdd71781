//! From drafts to readings.

use serde_json::value::RawValue;
use teeline_decoder::Framing;
use teeline_finding::{Finding, Findings, Kind, Place};

use crate::{
    assembly::{Assembly, End, media_type},
    candidate::Candidate,
    draft::{Answer, Draft, Part, PartId, PartKind},
    format::{AS_OF, Format},
    json::Json,
    reading::{Failure, Finish, Output, Reading, SCHEMA, ToolCall, Usage, Verdict},
    response::Writer,
    text::lossy,
};

/// How many characters of the answer a preview has.
pub const PREVIEW: usize = 200;

/// A reading in the making.
pub(crate) struct View<'a> {
    assembly: &'a Assembly,
    leader: &'a Candidate,
    plain: bool,
}

impl<'a> View<'a> {
    pub(crate) fn new(assembly: &'a Assembly) -> Self {
        Self { assembly, leader: assembly.contest.leader(), plain: is_plain(assembly) }
    }

    pub(crate) fn reading(&self) -> Reading {
        let assembly = self.assembly;
        let draft = &self.leader.draft;
        let format = self.leader.format();
        let finished = assembly.end.is_some();
        let mut outputs: Vec<Output> = draft
            .sorted_outputs()
            .map(|output| view_output(draft, format, output, finished))
            .collect();
        if self.plain {
            outputs.clear();
        }
        let verdict = self.verdict();
        let usage = draft.usage.as_ref().and_then(|_| usage(draft));
        Reading {
            schema: SCHEMA,
            format: if self.plain {
                "unknown"
            } else {
                assembly.contest.name().unwrap_or("unknown")
            },
            framing: assembly.decoder.framing().filter(|_| !self.plain).map(Framing::as_str),
            verdict,
            summary: self.summary(verdict, &outputs),
            id: draft.id.clone(),
            model: draft.model.clone(),
            error: failure(draft, format),
            response: self.response(),
            findings: self.findings(),
            counts: assembly.counts(),
            timing: assembly.clock.timing(usage.as_ref().and_then(|usage| usage.output_tokens)),
            frames: None,
            websocket: None,
            outputs,
            usage,
        }
    }

    fn is_document(&self) -> bool {
        self.assembly.decoder.framing() == Some(Framing::Json)
    }

    fn verdict(&self) -> Verdict {
        let (assembly, draft) = (self.assembly, &self.leader.draft);
        let whole = assembly.end == Some(End::Clean);
        let stopped = assembly.decoder.stopped();
        if self.plain {
            return if whole { Verdict::Finished } else { Verdict::DidNotFinish };
        }
        if assembly.with_data == 0 && !stopped {
            return Verdict::Empty;
        }
        let cut = assembly.transport.count("cut") > 0;
        let without_marker = (self.is_document() && !draft.piece)
            || draft.open_ended
            || self.leader.format().is_none();
        let ended = draft.ended || (without_marker && whole);
        if draft.failed || cut || stopped || !ended {
            Verdict::DidNotFinish
        } else if draft.broken && !draft.rests {
            Verdict::NotTheWholeStream
        } else {
            Verdict::Finished
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let assembly = self.assembly;
        let mut all = Findings::default();
        if !self.plain {
            let is_read = |finding: &Finding| match (&finding.kind, self.leader.assembler()) {
                (Kind::IgnoredLine { text, .. }, Some(format)) => format.reads_line(text),
                _ => false,
            };
            all.extend(assembly.transport.clone().into_iter().filter(|found| !is_read(found)));
            if let Some(mixed) = assembly.contest.mixed() {
                all.report(Place::STREAM, mixed);
            }
            all.extend(self.leader.draft.findings.clone());
        }
        all.extend(assembly.live.clone());
        all.extend(assembly.closing.clone());
        all.into_iter().collect()
    }

    fn response(&self) -> Option<Box<RawValue>> {
        let draft = &self.leader.draft;
        if self.plain {
            return None;
        }
        if let Some(document) = &draft.document {
            return RawValue::from_string(document.to_string()).ok();
        }
        let mut out = Writer::new(draft);
        self.leader.assembler()?.response(&mut out);
        RawValue::from_string(out.into_json()).ok()
    }

    fn summary(&self, verdict: Verdict, outputs: &[Output]) -> String {
        let state = match verdict {
            Verdict::Finished => "Finished",
            Verdict::DidNotFinish if self.assembly.end.is_none() => "Not finished yet",
            Verdict::DidNotFinish => "Did not finish",
            Verdict::NotTheWholeStream => "Not the whole stream",
            Verdict::Empty => "Empty",
        };
        let unit = self.leader.draft.rules().unit;
        let chars: usize = outputs.iter().map(|output| output.text.chars().count()).sum();
        let calls: usize = outputs.iter().map(|output| output.tool_calls.len()).sum();
        let bytes = self.assembly.counts.bytes;
        let mut items = Vec::new();
        if outputs.is_empty() {
            items.push(count(usize::try_from(bytes).unwrap_or(usize::MAX), "byte"));
        } else {
            items.push(count(outputs.len(), unit));
            items.push(count(chars, "character"));
        }
        if calls > 0 {
            items.push(count(calls, "tool call"));
        }
        if self.leader.draft.fault.is_some() {
            items.push("an error".to_owned());
        }
        items.extend(self.leader.draft.remark.map(str::to_owned));
        format!("{state}: {}.", items.join(", "))
    }
}

/// A body that is no stream and no JSON: a web page, an image, a text. Nothing of a stream is asked of it.
fn is_plain(assembly: &Assembly) -> bool {
    let options = &assembly.options;
    if options.framing.is_some()
        || options.format.is_some()
        || assembly.with_data > 0
        || assembly.decoder.stopped()
    {
        return false;
    }
    let declared = options.content_type.as_deref().map(media_type).unwrap_or_default();
    let streams = [
        "",
        "application/json",
        "application/x-ndjson",
        "application/jsonl",
        "application/json-lines",
    ];
    let is_other = !streams.contains(&declared.as_str())
        && declared != "text/event-stream"
        && declared != "application/vnd.amazon.eventstream"
        && !declared.ends_with("+json");
    assembly.counts.bytes > 0
        && (is_other || assembly.first == Some(b'<') || options.request_streamed == Some(false))
        && assembly.decoder.framing() != Some(Framing::Json)
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn view_output(
    draft: &Draft,
    format: Option<&'static Format>,
    output: &Answer,
    finished: bool,
) -> Output {
    Output {
        index: output.index,
        role: output.role.clone(),
        text: joined(draft, output, PartKind::Text),
        reasoning: joined(draft, output, PartKind::Reasoning),
        refusal: joined(draft, output, PartKind::Refusal),
        tool_calls: tool_calls(draft, output, finished),
        parts: draft.shown(output).filter_map(|part| view_part(draft, part)).collect(),
        finish: output
            .finish
            .as_deref()
            .map(|reason| finish(reason, output.detail.as_deref(), format)),
    }
}

/// The texts of one kind, of the lowest rank that has any.
fn joined(draft: &Draft, output: &Answer, kind: PartKind) -> String {
    chosen(draft, output, kind).map(|part| lossy(part.shown()).into_owned()).collect()
}

fn chosen<'d>(
    draft: &'d Draft,
    output: &'d Answer,
    kind: PartKind,
) -> impl Iterator<Item = &'d Part> {
    let texts = || {
        let parts = output.parts.iter().map(|part| draft.get(*part));
        parts.filter(move |part| part.kind == kind && !part.text.is_empty())
    };
    let rank = texts().map(|part| part.rank).min();
    let mut chosen: Vec<&Part> = texts().filter(|part| Some(part.rank) == rank).collect();
    chosen.sort_by_key(|part| part.order);
    chosen.into_iter()
}

fn tool_calls(draft: &Draft, output: &Answer, finished: bool) -> Vec<ToolCall> {
    let rules = draft.rules();
    let mut calls: Vec<&Part> = output
        .parts
        .iter()
        .map(|part| draft.get(*part))
        .filter(|part| part.kind == PartKind::Call)
        .filter(|part| {
            !finished || !rules.calls_need_name || part.call.missing(rules.calls_need_id).is_none()
        })
        .collect();
    calls.sort_by_key(|part| (part.order, part.call.index));
    calls
        .into_iter()
        .map(|part| {
            let arguments = part.text.to_escaped().into_owned();
            ToolCall {
                index: part.call.index,
                id: part.call.id.clone(),
                name: part.call.name.clone(),
                arguments_valid: Json::parse(&arguments).is_ok(),
                arguments,
                complete: part.call.complete
                    || (rules.judge_calls_at_end && output.finish.is_some()),
            }
        })
        .collect()
}

fn view_part(draft: &Draft, id: PartId) -> Option<Box<RawValue>> {
    let part = draft.get(id);
    let mut out = Writer::new(draft);
    out.object(|fields| {
        fields.string("kind", part.kind.as_str());
        if part.kind == PartKind::Call {
            let call = &part.call;
            fields.field("index", |value| value.number(call.index));
            fields.field("id", |value| value.string_or_null(call.id.as_deref()));
            fields.field("name", |value| value.string_or_null(call.name.as_deref()));
            fields.field("arguments", |value| value.string(&part.text.to_escaped()));
            fields.field("complete", |value| {
                value.json(Json::from_known(if call.complete { "true" } else { "false" }));
            });
        } else if !part.text.is_empty() || !matches!(part.kind, PartKind::Other(_)) {
            fields.string("text", &lossy(part.shown()));
        }
        fields.map(&part.extra);
    });
    RawValue::from_string(out.into_json()).ok()
}

fn finish(reason: &str, detail: Option<&str>, format: Option<&'static Format>) -> Finish {
    let find = |value: &str| {
        format.and_then(|format| format.reasons.iter().find(|known| known.value == value))
    };
    let known = detail.and_then(find).or_else(|| find(reason));
    Finish {
        reason: reason.to_owned(),
        meaning: known.map(|known| known.meaning.to_owned()),
        source: known.map(|known| known.source.to_owned()),
        as_of: known.map(|_| AS_OF),
    }
}

fn usage(draft: &Draft) -> Option<Usage> {
    let (tokens, raw) = draft.usage.as_ref()?;
    let mut out = Writer::new(draft);
    out.node(raw);
    Some(Usage {
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        total_tokens: tokens.total,
        cached_tokens: tokens.cached,
        reasoning_tokens: tokens.reasoning,
        raw: RawValue::from_string(out.into_json()).ok()?,
    })
}

fn failure(draft: &Draft, format: Option<&'static Format>) -> Option<Failure> {
    let fault = draft.fault.as_ref()?;
    Some(Failure {
        message: fault.message.clone(),
        error_type: fault.error_type.clone(),
        code: fault.code.clone(),
        meaning: fault.meaning(format.map_or(&[], |format| format.errors)),
        raw: RawValue::from_string(fault.raw.to_string()).ok()?,
    })
}

/// The first characters of the first output's text, or else its refusal, or else its reasoning.
pub(crate) fn preview(draft: &Draft) -> String {
    for kind in [PartKind::Text, PartKind::Refusal, PartKind::Reasoning] {
        let mut shown = String::new();
        let mut left = PREVIEW;
        for part in
            draft.sorted_outputs().next().into_iter().flat_map(|output| chosen(draft, output, kind))
        {
            // Four bytes a character are enough, however long the text is.
            let head = part.text.as_bytes().get(..4 * left).unwrap_or(part.text.as_bytes());
            let head =
                crate::text::Str::from_wtf8(head).to_str().chars().take(left).collect::<String>();
            left -= head.chars().count();
            shown.push_str(&head);
        }
        if !shown.is_empty() {
            return shown;
        }
    }
    String::new()
}
