//! What a conversation amounts to.

use teeline_assembler::{Counts, Reading, SCHEMA, SideFacts, Timing, Verdict, WebSocketFacts};
use teeline_finding::{Findings, Kind, Place};

use super::{Conversation, Direction};
use crate::summarise::millis;

impl Conversation {
    /// What it amounts to.
    pub(crate) fn reading(&self) -> Reading {
        let mut facts = self.facts.clone();
        facts.from_app.bytes = self.app.position;
        facts.from_upstream.bytes = self.upstream.position;
        facts.closed_by = self.closed_by.map(Direction::sender);
        let verdict = self.verdict();
        let mut findings: Findings = self.findings.clone();
        let compressed = facts.from_app.compressed + facts.from_upstream.compressed;
        if 0 < compressed {
            let kind = Kind::WebsocketCompressed { messages: compressed };
            findings.report(Place::STREAM, kind);
        }
        Reading {
            schema: SCHEMA,
            format: "unknown",
            framing: None,
            verdict,
            summary: self.summary(verdict, &facts, compressed),
            id: None,
            model: self.model.clone(),
            outputs: Vec::new(),
            usage: None,
            error: None,
            response: None,
            findings: findings.into_iter().collect(),
            counts: Counts {
                bytes: self.upstream.position,
                frames: self.frames,
                comments: 0,
                events: facts.from_app.messages + facts.from_upstream.messages,
            },
            timing: self.times.last.map(|last| Timing {
                first_byte_ms: self.times.first.map(millis),
                first_text_ms: self.times.first_text.map(millis),
                last_byte_ms: Some(millis(last)),
                longest_gap_ms: self.times.gap.map(millis),
                tokens_per_second: None,
            }),
            frames: None,
            websocket: Some(facts),
        }
    }

    /// A conversation is over when one side has said so; without that nobody can know that it was.
    fn verdict(&self) -> Verdict {
        if self.frames == 0 {
            Verdict::Empty
        } else if self.closed_by.is_some() && !self.cut {
            Verdict::Finished
        } else {
            Verdict::DidNotFinish
        }
    }

    fn summary(&self, verdict: Verdict, facts: &WebSocketFacts, compressed: u64) -> String {
        let state = match (verdict, &self.finished) {
            (_, None) => "Open",
            (Verdict::Finished, _) => "Finished",
            (Verdict::Empty, _) => "Empty",
            _ => "Did not finish",
        };
        let messages = |side: &SideFacts| match side.messages {
            1 => "1 message".to_owned(),
            other => format!("{other} messages"),
        };
        let mut text = format!(
            "{state}: a WebSocket with {} from the app and {} from the upstream",
            messages(&facts.from_app),
            messages(&facts.from_upstream),
        );
        if 0 < compressed {
            text.push_str(&format!(", {compressed} of them compressed and not decoded"));
        }
        let closed = self.closed_by.map(|direction| match direction {
            Direction::FromApp => ("app", &facts.from_app.close),
            Direction::FromUpstream => ("upstream", &facts.from_upstream.close),
        });
        if let Some((who, Some(close))) = closed {
            let code = close.code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
            text.push_str(&format!("; closed by the {who} with {code}"));
            if !close.reason.is_empty() {
                text.push_str(&format!(" ({})", close.reason));
            }
        } else if self.finished.is_some() {
            text.push_str("; no close frame came");
        }
        text.push('.');
        text
    }
}
