//! One reading of a stream, as one format: several run beside each other until the body tells which it is.

use teeline_decoder::Frame;
use teeline_finding::{Finding, Findings, Kind, Place, excerpt};

use crate::{
    draft::{Bounds, Draft},
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel},
    frame_log::Deed,
    judge::{Close, judge},
};

/// The rules of a body that is of no known format.
const UNKNOWN: Rules = Rules { sentinel: Sentinel::Ends, ..Rules::NONE };

/// A format that reads along.
pub(crate) struct Candidate {
    format: Option<&'static Format>,
    assembler: Option<Box<dyn Assembler>>,
    pub(crate) draft: Draft,
    sentinel_seen: bool,
}

impl std::fmt::Debug for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Candidate")
            .field("format", &self.name())
            .field("draft", &self.draft)
            .finish_non_exhaustive()
    }
}

impl Candidate {
    /// A reader of this format; of none: it only looks for errors and for what is not JSON.
    pub(crate) fn new(format: Option<&'static Format>, bounds: Bounds) -> Self {
        let rules = format.map_or(UNKNOWN, |format| format.rules);
        Self {
            format,
            assembler: format.map(|format| (format.start)()),
            draft: Draft::new(rules, bounds),
            sentinel_seen: false,
        }
    }

    pub(crate) fn format(&self) -> Option<&'static Format> {
        self.format
    }

    pub(crate) fn assembler(&self) -> Option<&dyn Assembler> {
        self.assembler.as_deref()
    }

    /// The format's name.
    pub(crate) fn name(&self) -> Option<&'static str> {
        self.format.map(|format| format.name)
    }

    /// Whether the stream is this format's by its data, though no frame names one.
    pub(crate) fn claims(&self) -> bool {
        self.assembler.as_ref().is_some_and(|assembler| assembler.claims(&self.draft))
    }

    /// Takes over what was found before this candidate began.
    pub(crate) fn inherit(&mut self, findings: Vec<Finding>) {
        self.draft.findings.extend(findings);
    }

    /// A new frame begins.
    pub(crate) fn begin(&mut self, frame: &Frame, rows: bool) {
        self.draft.place = Place::frame(frame.index, frame.line, frame.offset);
        self.draft.frame = frame.index;
        self.draft.log.wanted = rows;
        self.draft.log.clear();
    }

    /// A frame that names this format, or none.
    pub(crate) fn read(&mut self, event: &Event<'_>, neutral: bool) {
        let Some(assembler) = &mut self.assembler else {
            if is_error(event) {
                self.fault(event);
            }
            return;
        };
        if self.draft.is_over() && !assembler.passes_end(event) {
            self.after_end(event.json.raw());
        } else if neutral && is_error(event) {
            self.fault(event);
        } else {
            assembler.frame(event, &mut self.draft);
            self.draft.log.known();
        }
    }

    /// A frame that names another format: an error in it is one here, too.
    pub(crate) fn read_foreign(&mut self, event: &Event<'_>) {
        if self.assembler.is_none() {
            return;
        }
        if self.draft.is_over() {
            self.after_end(event.json.raw());
        } else if is_error(event) {
            self.fault(event);
        } else {
            self.draft.unknown(&name_of(event));
        }
    }

    /// A plain document. `named`: it names this format, so that it is read even with an error in it.
    pub(crate) fn read_document(&mut self, event: &Event<'_>, named: bool) {
        let is_error = is_error(event);
        if let Some(assembler) = &mut self.assembler
            && (named || !is_error)
        {
            self.draft.document = Some(event.json.compact());
            assembler.document(event.json, &mut self.draft);
        }
        if is_error {
            self.fault(event);
        }
    }

    /// `[DONE]`.
    pub(crate) fn sentinel(&mut self) {
        let again = std::mem::replace(&mut self.sentinel_seen, true);
        match self.draft.rules().sentinel {
            Sentinel::Ends if !self.draft.is_over() => self.draft.end(),
            Sentinel::Ends | Sentinel::MayFollow if self.draft.is_over() && !again => {
                self.draft.log.deed(Deed::End, || "end".to_owned());
            }
            _ if self.assembler.is_none() => {}
            _ if self.draft.is_over() => self.after_end("[DONE]"),
            _ => self.draft.unknown("[DONE]"),
        }
    }

    /// Data that is not JSON. `whole`: its frame was not cut off.
    pub(crate) fn text(&mut self, data: &str, error: &str, frame: &Frame, whole: bool) {
        if let Some(assembler) = &mut self.assembler {
            if assembler.text(data, frame, &mut self.draft) {
                self.draft.log.known();
                return;
            }
            if self.draft.is_over() && !frame.glued && !data.trim_ascii().is_empty() {
                self.after_end(data);
            }
        }
        self.draft.log.deed(Deed::Other, || "not JSON".to_owned());
        if whole {
            self.draft.report(Kind::NotJson {
                text: excerpt(data),
                error: error.to_owned(),
                glued: frame.glued,
            });
        }
        if data.trim_ascii().starts_with("[DONE]") && !frame.glued {
            self.sentinel();
        }
    }

    /// A frame that names an event and has no data.
    pub(crate) fn bare(&mut self, event: &str) {
        let known = match &mut self.assembler {
            Some(assembler) => assembler.bare(event, &mut self.draft),
            None => false,
        };
        if !known {
            self.draft.log.deed(Deed::Other, || "no data".to_owned());
            self.draft.report(Kind::IgnoredLine { text: excerpt(event), event_only: true });
        }
    }

    /// A frame of comments only.
    pub(crate) fn comment(&mut self) {
        self.draft.keep_alive();
    }

    /// A frame of ids and times only.
    pub(crate) fn meta(&mut self) {
        self.draft.log.deed(Deed::Control, String::new);
    }

    /// The error that a frame is, for all formats alike.
    pub(crate) fn fault(&mut self, event: &Event<'_>) {
        if !self.draft.failed {
            self.draft.fail(Fault::of_event(event));
        }
    }

    /// The body ended: the findings of the end.
    pub(crate) fn finish(&mut self, close: Close) -> Vec<(Place, Kind)> {
        match &mut self.assembler {
            Some(assembler) => judge(&mut self.draft, assembler.as_mut(), close),
            None => Vec::new(),
        }
    }

    /// What is not JSON and what has no data, found so far.
    pub(crate) fn findings(&self) -> &Findings {
        &self.draft.findings
    }

    fn after_end(&mut self, text: &str) {
        self.draft.log.deed(Deed::Other, || "after the end".to_owned());
        self.draft.report(Kind::AfterEnd { text: excerpt(text) });
    }
}

/// Whether a frame holds an error: a true `error` in it, an `event: error`, an AWS exception.
pub(crate) fn is_error(event: &Event<'_>) -> bool {
    let object = event.object.as_ref();
    let inner = object.and_then(|object| object.get("error"));
    inner.is_some_and(crate::json::Json::is_truthy)
        || event.name() == Some("error")
        || event.is_exception()
        || object.is_some_and(|object| object.str("type").as_deref() == Some("error"))
}

/// How an unknown frame is called: by its event, type or object, or by its data.
pub(crate) fn name_of(event: &Event<'_>) -> String {
    let object = event.object.as_ref();
    let member =
        |key: &str| object.and_then(|object| object.filled(key)).map(std::borrow::Cow::into_owned);
    event
        .name()
        .map(str::to_owned)
        .or_else(|| member("type"))
        .or_else(|| member("object"))
        .unwrap_or_else(|| event.json.shortened())
}
