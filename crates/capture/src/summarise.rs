//! Readings to summaries, and what only the whole exchange can tell.

use teeline_assembler::{Failure, Reading, Verdict};
use teeline_finding::{Finding, Kind, Place, Severity};

use crate::conversation::Conversation;
use crate::database::{IndexRow, SearchText};
use crate::live::Progress;
use crate::reading::Reader;
use crate::record::Record;
use crate::request::Asked;
use crate::{
    CaptureId, Ending, FindingCounts, Finish, Spark, State, Summary, Timestamp, Usage, base_url,
};

/// Names of called tools that a summary lists.
const TOOL_NAMES: usize = 64;

/// Bytes of each text that is searched for words: 64 KiB in all.
const ANSWER: usize = 40 << 10;
const REASONING: usize = 8 << 10;
const TOOLS: usize = 8 << 10;
const REQUEST: usize = 8 << 10;

/// No text yet.
const NO_SPARK: Spark = Spark { slot_ms: 25, bytes: Vec::new() };

/// A capture that has just begun.
pub(crate) fn start(id: CaptureId, record: &Record, started_at: Timestamp) -> Summary {
    Summary {
        id,
        upstream: record.upstream.clone(),
        method: record.method.clone(),
        path: record.path().to_owned(),
        status: record.status(),
        format: None,
        model: model_of_path(record.path()),
        streamed: None,
        state: State::Open,
        verdict: None,
        started_at,
        ended_at: None,
        first_byte_ms: None,
        first_text_ms: None,
        duration_ms: None,
        bytes: 0,
        frames: 0,
        usage: None,
        finish: None,
        preview: String::new(),
        findings: FindingCounts::default(),
        choices: 0,
        tool_names: Vec::new(),
        ended_by: None,
        end_reason: None,
        sha256: None,
        bytes_to_app: 0,
        spark: NO_SPARK,
        retry: None,
        retry_of: None,
    }
}

/// A capture that is open; without a reader where it could not be read.
pub(crate) fn open(
    before: &Summary,
    progress: &Progress,
    asked: Option<&Asked>,
    read: Option<(&Reading, Option<Shown>)>,
) -> Summary {
    let mut summary = before.clone();
    summary.status = progress.record.status();
    summary.bytes = progress.bytes;
    summary.bytes_to_app = progress.bytes_to_app;
    if let Some(asked) = asked {
        summary.model = asked.model.clone().or(summary.model);
        summary.retry = asked.retry.map(|retry| retry.number);
        summary.retry_of = asked.retry.and_then(|retry| retry.of);
    }
    if let Some((reading, shown)) = read {
        add_reading(&mut summary, reading);
        if let Some(shown) = shown {
            summary.preview = shown.preview;
            summary.frames = shown.frames;
            summary.spark = shown.spark;
        }
        // Not known yet: detection may be waiting for more.
        summary.format = summary.format.filter(|format| format != "unknown");
    }
    summary
}

/// A capture that has ended; without a reader where it could not be read.
pub(crate) fn ended(
    before: &Summary,
    progress: &Progress,
    ending: &Ending,
    asked: &Asked,
    (reading, shown): (&Reading, Option<Shown>),
) -> Summary {
    let record = &progress.record;
    let mut summary = open(before, progress, Some(asked), None);
    add_reading(&mut summary, reading);
    if let Some(shown) = shown {
        summary.preview = shown.preview;
        summary.spark = shown.spark;
    }
    if summary.streamed.is_none() && 0 < progress.bytes {
        summary.streamed = Some(false);
    }
    summary.state = ending.state();
    summary.verdict = Some(reading.verdict);
    summary.ended_by = Some(ending.by());
    summary.end_reason = end_reason(ending, record, reading);
    summary.sha256.clone_from(&record.sha256);
    if let Some(end) = record.moments.end_us {
        summary.ended_at = Some(summary.started_at.plus_micros(end));
        // Without times of its own, only what came with an import from elsewhere (0: nothing did).
        summary.duration_ms = (!record.untimed || 0 < end).then(|| millis(end));
    }
    summary
}

fn add_reading(summary: &mut Summary, reading: &Reading) {
    summary.format = Some(reading.format.to_owned());
    if reading.model.is_some() {
        summary.model.clone_from(&reading.model);
    }
    // A body that did not come has no framing, whatever would be assumed of it.
    if let Some(framing) = reading.framing.filter(|_| 0 < reading.counts.bytes) {
        summary.streamed = Some(framing != "json");
    }
    if reading.websocket.is_some() {
        summary.streamed = Some(true);
    }
    summary.frames = reading.counts.frames;
    let timing = reading.timing.unwrap_or_default();
    summary.first_byte_ms = timing.first_byte_ms;
    summary.first_text_ms = timing.first_text_ms;
    summary.usage = reading.usage.as_ref().map(Usage::from);
    let finish = reading.outputs.iter().find_map(|output| output.finish.as_ref());
    summary.finish = finish.map(Finish::from);
    summary.findings = count(&reading.findings);
    summary.choices = reading.outputs.len() as u64;
    summary.tool_names = reading
        .outputs
        .iter()
        .flat_map(|output| &output.tool_calls)
        .filter_map(|call| call.name.clone())
        .take(TOOL_NAMES)
        .collect();
}

fn count(findings: &[Finding]) -> FindingCounts {
    let of = |severity| {
        let fitting = findings.iter().filter(|finding| finding.severity() == severity);
        fitting.map(|finding| finding.count).sum()
    };
    FindingCounts {
        error: of(Severity::Error),
        warning: of(Severity::Warning),
        note: of(Severity::Note),
    }
}

/// What a list shows of a body beside its reading.
pub(crate) struct Shown {
    preview: String,
    frames: u64,
    spark: Spark,
}

impl From<&Reader> for Shown {
    fn from(reader: &Reader) -> Self {
        let spark = reader.spark();
        Self {
            preview: reader.preview(),
            frames: reader.counts().frames,
            spark: Spark { slot_ms: spark.slot_ms(), bytes: spark.bytes().to_vec() },
        }
    }
}

impl From<&Conversation> for Shown {
    fn from(conversation: &Conversation) -> Self {
        Self {
            preview: conversation.preview().to_owned(),
            frames: conversation.frames(),
            // There is no answer that grows.
            spark: NO_SPARK,
        }
    }
}

pub(crate) fn millis(micros: u64) -> f64 {
    // Whole microseconds: exact up to 285 years.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 microseconds")]
    let micros = micros as f64;
    micros / 1000.0
}

/// How it ended, in a few words; `None` after a clean end.
fn end_reason(ending: &Ending, record: &Record, reading: &Reading) -> Option<String> {
    let place = match (reading.counts.frames, record.bytes) {
        (0, 0) => "before the first byte".to_owned(),
        (0, bytes) => format!("after {bytes} bytes"),
        (frames, bytes) => format!("after frame {} and {bytes} bytes", frames - 1),
    };
    match ending {
        Ending::Clean => ended_in_error(record, reading),
        Ending::UpstreamBroke { how } => Some(format!("{how} {place}")),
        Ending::ClientLeft => Some(match &record.left {
            Some(how) => format!("left ({how}) {place}"),
            None => format!("left {place}"),
        }),
        Ending::Failed { kind, message } if message.is_empty() => Some(kind.clone()),
        Ending::Failed { kind, message } => Some(format!("{kind}: {message}")),
        Ending::Interrupted => Some(format!("teeline stopped {place}")),
    }
}

/// The error in which a stream ended that came whole: its type or code, and the frame that said so.
fn ended_in_error(record: &Record, reading: &Reading) -> Option<String> {
    if record.is_error() || reading.verdict != Verdict::DidNotFinish {
        return None;
    }
    reading.findings.iter().rev().find_map(|finding| match (&finding.kind, finding.place.frame) {
        (Kind::ErrorEvent { error_type, .. }, Some(frame)) => {
            let name = if error_type.is_empty() { "error" } else { error_type };
            Some(format!("{name} in frame {frame}"))
        }
        _ => None,
    })
}

/// Adds what only the whole exchange can tell, and takes away what it explains.
pub(crate) fn judge(reading: &mut Reading, record: &Record) {
    if matches!(record.ending, Some(Ending::Failed { .. })) {
        // No response came: nothing can be empty.
        reading.findings.retain(|finding| !matches!(finding.kind, Kind::Empty));
    }
    // Why it broke explains what else is missing, so it comes first. The others keep their order.
    reading.findings.sort_by_key(|finding| !matches!(finding.kind, Kind::ConnectionBroke { .. }));
    if let Some(response) = record.response.as_ref().filter(|response| 400 <= response.status) {
        // The body of a gateway's refusal is in no format, and some types have no meaning that is known.
        let failure = Failure::of_status(response.status, response.reason.as_deref());
        match &mut reading.error {
            Some(error) => error.meaning = error.meaning.take().or(failure.meaning),
            none => *none = Some(failure),
        }
    }
    if let Some(suggested) = base_url::suggestion(record) {
        let kind = Kind::BaseUrl { suggested };
        reading.findings.push(Finding { kind, place: Place::STREAM, count: 1 });
    }
}

/// What queries look at, beside the summary.
pub(crate) fn index(reading: Option<&Reading>) -> IndexRow {
    let mut findings = Vec::new();
    for finding in reading.iter().flat_map(|reading| &reading.findings) {
        if !findings.contains(&finding.kind.id()) {
            findings.push(finding.kind.id());
        }
    }
    IndexRow { findings }
}

/// What is searched for words.
pub(crate) fn search_text(
    reading: &Reading,
    asked: &Asked,
    said: Option<(&str, &str)>,
) -> SearchText {
    let mut text = SearchText::default();
    let (app, upstream) = said.unwrap_or_default();
    add(&mut text.answer, upstream, ANSWER);
    add(&mut text.request, app, REQUEST);
    for output in &reading.outputs {
        add(&mut text.answer, &output.text, ANSWER);
        add(&mut text.answer, &output.refusal, ANSWER);
        add(&mut text.reasoning, &output.reasoning, REASONING);
        for call in &output.tool_calls {
            add(&mut text.tools, call.name.as_deref().unwrap_or_default(), TOOLS);
            add(&mut text.tools, &call.arguments, TOOLS);
        }
    }
    if let Some(error) = &reading.error {
        add(&mut text.answer, &error.message, ANSWER);
    }
    add(&mut text.request, &asked.message, REQUEST);
    text
}

/// Adds a line to a text of so many bytes at most.
pub(crate) fn add(text: &mut String, more: &str, most: usize) {
    if more.is_empty() || most <= text.len() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let room = more.floor_char_boundary(most.saturating_sub(text.len()));
    text.push_str(more.get(..room).unwrap_or_default());
}

/// The model, where the path names it: `/models/NAME:…`, `/model/NAME/…`, `/deployments/NAME/…`.
fn model_of_path(path: &str) -> Option<String> {
    let (_, rest) = ["/models/", "/model/", "/deployments/"]
        .iter()
        .find_map(|segment| path.split_once(segment))?;
    let name = rest.split(['/', ':']).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}
