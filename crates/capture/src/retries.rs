//! Which exchange is a client's second try of an earlier one.

use std::collections::VecDeque;

use sha2::{Digest as _, Sha256};

use crate::record::Record;
use crate::{CaptureId, State, Summary, Timestamp};

/// Clients give up or try again within this.
const WITHIN_US: i64 = 60_000_000;

/// Exchanges that are remembered.
const REMEMBERED: usize = 1024;

/// In it, SDKs made by Stainless (OpenAI's, Anthropic's and others') count their retries.
const COUNT: &str = "x-stainless-retry-count";

/// That an exchange repeats another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// The how manieth try after the first it is.
    pub(crate) number: u64,
    /// The try before; `None` if it was not recorded.
    pub(crate) of: Option<CaptureId>,
}

/// The requests of the last minute.
#[derive(Default)]
pub(crate) struct Retries {
    recent: VecDeque<Seen>,
}

struct Seen {
    id: CaptureId,
    /// Upstream, method, path and body.
    request: [u8; 32],
    started_at: Timestamp,
    /// What the client says itself.
    counted: Option<u64>,
    number: u64,
    failed: bool,
}

impl Retries {
    /// Remembers a request that has come whole.
    pub(crate) fn remember(
        &mut self,
        id: CaptureId,
        started_at: Timestamp,
        record: &Record,
        body: &[u8],
    ) {
        let mut hash = Sha256::new();
        for part in [&record.upstream, &record.method, &record.target] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.update(body);
        let counted = record.request_header(COUNT).and_then(|count| count.trim().parse().ok());
        let request = hash.finalize().into();
        while REMEMBERED <= self.recent.len() {
            self.recent.pop_front();
        }
        self.recent.push_back(Seen { id, request, started_at, counted, number: 0, failed: false });
    }

    /// What a remembered request repeats: the last one like it within the minute before, if that failed or if the
    /// client says that this is a retry.
    pub(crate) fn of(&mut self, id: CaptureId) -> Option<Retry> {
        let place = self.recent.iter().rposition(|seen| seen.id == id)?;
        let this = self.recent.get(place)?;
        let counted = this.counted.filter(|count| 0 < *count);
        let before = self.recent.range(..place).rev().find(|seen| seen.request == this.request);
        let before = before.filter(|seen| {
            let later = this.started_at.as_micros().saturating_sub(seen.started_at.as_micros());
            (0..=WITHIN_US).contains(&later) && (seen.failed || counted.is_some())
        });
        let number = counted.or_else(|| before.map(|before| before.number + 1))?;
        let retry = Retry { number, of: before.map(|before| before.id) };
        if let Some(this) = self.recent.get_mut(place) {
            this.number = number;
        }
        Some(retry)
    }

    /// How an exchange ended.
    pub(crate) fn ended(&mut self, summary: &Summary) {
        let failed = summary.state != State::Ended || summary.status.is_some_and(|it| 400 <= it);
        if let Some(seen) = self.recent.iter_mut().rfind(|seen| seen.id == summary.id) {
            seen.failed = failed;
        }
    }
}
