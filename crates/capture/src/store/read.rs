//! What is asked of the store.

use std::sync::{Arc, Mutex};

use teeline_assembler::{Added, FrameRow, Reading};

use super::Store;
use crate::cache::weight;
use crate::conversation::Conversation;
use crate::database::{Detail, read};
use crate::frames::{Follower, FrameMark};
use crate::pieces::{Pieces, Segments, request_body};
use crate::reading::{Reader, unread};
use crate::stream::lock;
use crate::workers::guarded;
use crate::{
    CaptureId, End, Ending, Exchange, LiveReading, Page, Query, RequestView, State, StoreError,
    StoreSize, Summary, summarise,
};

/// Frames of one page, at most.
const PAGE_FRAMES: usize = 10_000;

impl Store {
    /// A page of captures, newest first by order of arrival; `before` is the `next` of the page before.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn list(
        &self,
        query: &Query,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let before = before.map(|before| i64::try_from(before).unwrap_or(i64::MAX));
        let (mut hits, counts) = self.inner().database.read(|connection| {
            let hits = read::list(connection, query, before, limit.saturating_add(1))?;
            Ok((hits, read::counts(connection, query)?))
        })?;
        let more = limit < hits.len();
        hits.truncate(limit);
        let last = hits.last().filter(|_| more).map(|hit| hit.seq);
        let captures = hits.into_iter().map(|hit| self.newest(hit.summary)).collect();
        Ok(Page { captures, next: last.and_then(|seq| u64::try_from(seq).ok()), counts })
    }

    /// The ids of all captures that fit.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn matching(&self, query: &Query) -> Result<Vec<CaptureId>, StoreError> {
        self.inner().database.read(|connection| read::ids(connection, query))
    }

    /// How much is in the store, and how much may be.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn size(&self) -> Result<StoreSize, StoreError> {
        let bounds = self.handle.bounds.unwrap_or_default();
        self.inner().database.read(|connection| {
            let (captures, oldest) = read::extent(connection)?;
            Ok(StoreSize {
                captures,
                bytes: read::used_bytes(connection)?,
                limit_bytes: Some(bounds.bytes).filter(|bytes| 0 < *bytes),
                keep_days: Some(bounds.days).filter(|days| 0 < *days),
                oldest,
            })
        })
    }

    /// One capture in one row.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn summary(&self, id: CaptureId) -> Result<Summary, StoreError> {
        self.detail(id).map(|detail| self.newest(detail.summary))
    }

    /// Heads, request body, trailers and moments.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn exchange(&self, id: CaptureId) -> Result<Exchange, StoreError> {
        let detail = self.detail(id)?;
        let record = &detail.record;
        let (body, whole) = request_body(&self.inner().database, detail.seq, record)?;
        let request = RequestView {
            method: record.method.clone(),
            url: record.url.clone(),
            version: record.version.clone(),
            headers: record.headers.clone(),
            body: String::from_utf8_lossy(&body).into_owned(),
            body_truncated: record.request_truncated || !whole,
        };
        let summary = self.newest(detail.summary);
        let ending = record.ending.as_ref().filter(|_| summary.state != State::Open);
        let end = ending.map(|ending| End::new(&summary, ending, record.left.as_deref()));
        Ok(Exchange {
            request,
            response: record.response.clone(),
            moments: record.moments,
            ending: record.ending.clone(),
            summary,
            end,
        })
    }

    /// The capture with this id, or the only one whose id begins so.
    ///
    /// # Errors
    ///
    /// None or several fit, or the store failed.
    pub fn find(&self, id_or_prefix: &str) -> Result<CaptureId, StoreError> {
        let prefix = id_or_prefix.trim().to_ascii_lowercase();
        let plain =
            !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let found = if plain {
            self.inner().database.read(|connection| read::find(connection, &prefix))?
        } else {
            None
        };
        match found {
            None => Err(StoreError::NotFound(id_or_prefix.to_owned())),
            Some((id, 1)) => Ok(id),
            Some((_, count)) => Err(StoreError::Ambiguous { prefix, count }),
        }
    }

    /// The response's body as it came: encoded, with times, what is lost named. The body of an error
    /// that came encoded is the exception: it is kept decoded ([`Store::is_kept_decoded`]).
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed (also later, in the iterator).
    pub fn chunks(&self, id: CaptureId) -> Result<Pieces, StoreError> {
        self.pieces(id, false)
    }

    /// The response's body with its content coding undone, with times. The offsets of chunks are those
    /// of the decoded body, the range of a gap is of the encoded one.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed (also later, in the iterator).
    pub fn body(&self, id: CaptureId) -> Result<Pieces, StoreError> {
        self.pieces(id, true)
    }

    fn pieces(&self, id: CaptureId, decoded: bool) -> Result<Pieces, StoreError> {
        let detail = self.detail(id)?;
        let database = Arc::clone(&self.inner().database);
        Ok(Pieces::response(database, detail.seq, detail.record, decoded))
    }

    /// Whether the body is kept with its content coding undone: so is that of an error (status 400 and
    /// above), since secrets that it quotes could not be masked in coded bytes.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn is_kept_decoded(&self, id: CaptureId) -> Result<bool, StoreError> {
        self.detail(id).map(|detail| detail.record.kept_decoded)
    }

    /// What the response amounts to: final for an ended capture, as it stands for an open one. Without
    /// frames.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn reading(&self, id: CaptureId) -> Result<Arc<Reading>, StoreError> {
        let detail = self.detail(id)?;
        if let Some(reading) = self.inner().readings.get(id) {
            return Ok(reading);
        }
        if let Some(live) = self.inner().live(id) {
            let reading = guarded(|| lock(&live.session).reading());
            if let Ok(Some(reading)) = reading {
                return Ok(Arc::new(reading));
            }
        }
        let reading = match guarded(|| self.derive(&detail)) {
            Ok(reading) => Arc::new(reading?),
            Err(panic) => Arc::new(unread(&detail.record, &panic)),
        };
        if detail.summary.state != State::Open {
            self.inner().readings.put(id, Arc::clone(&reading), weight(&reading));
        }
        Ok(reading)
    }

    /// Reads the stored body from its start.
    fn derive(&self, detail: &Detail) -> Result<Reading, StoreError> {
        let (record, database) = (&detail.record, &self.inner().database);
        let is_open = detail.summary.state == State::Open;
        if record.is_websocket() {
            let mut conversation = Conversation::new(record, detail.summary.started_at, false);
            conversation.advance(database, detail.seq, record, usize::MAX)?;
            if !is_open {
                let ending = record.ending.as_ref().unwrap_or(&Ending::Interrupted);
                conversation.finish(record, ending);
            }
            return Ok(conversation.reading());
        }
        let mut reader = Reader::new(record, detail.summary.started_at, None, false);
        let mut segments = Segments::response(Arc::clone(database), detail.seq, Arc::clone(record));
        let mut pieces = Vec::new();
        while segments.next(&mut pieces)? {
            pieces.drain(..).for_each(|piece| reader.piece(&piece));
        }
        if is_open {
            return Ok(reader.reading());
        }
        segments.finish(&mut pieces);
        for piece in &pieces {
            reader.piece(piece);
        }
        reader.finish(record.ending.as_ref().unwrap_or(&Ending::Interrupted));
        let mut reading = reader.reading();
        summarise::judge(&mut reading, record);
        Ok(reading)
    }

    /// How many frames there are, and those from `offset` on: at most `limit` and at most 10,000, and
    /// fewer where they are long.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn frames(
        &self,
        id: CaptureId,
        offset: u64,
        limit: usize,
    ) -> Result<(u64, Vec<FrameRow>), StoreError> {
        self.follow(id, |follower, detail| {
            let limit = limit.min(PAGE_FRAMES);
            let rows = follower.page(&self.inner().database, detail, offset, limit)?;
            Ok((follower.total(), rows))
        })
    }

    /// When the frames from `from` on came, how long they are and what they did. Of all frames at once, since
    /// nothing has to be read again for it.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn frame_marks(&self, id: CaptureId, from: u64) -> Result<Vec<FrameMark>, StoreError> {
        self.follow(id, |follower, _| Ok(follower.marks(from)))
    }

    /// Which frame added which bytes of which part, in order.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn provenance(&self, id: CaptureId) -> Result<Arc<[Added]>, StoreError> {
        self.follow(id, |follower, _| Ok(follower.provenance()))
    }

    fn follow<T>(
        &self,
        id: CaptureId,
        ask: impl FnOnce(&Follower, &Detail) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let detail = self.detail(id)?;
        let cache = &self.inner().followers;
        let follower =
            cache.get(id).unwrap_or_else(|| Arc::new(Mutex::new(Follower::new(detail.seq))));
        let mut locked = lock(&follower);
        let ended = detail.summary.state != State::Open;
        let advanced = guarded(|| locked.advance(&self.inner().database, &detail, ended));
        match advanced {
            Ok(result) => result?,
            Err(panic) => {
                tracing::error!(capture = %id, panic, "a fault in the reading of a capture");
                cache.remove(id);
                return ask(&Follower::new(detail.seq), &detail);
            }
        }
        let answer = ask(&locked, &detail);
        cache.put(id, Arc::clone(&follower), locked.weight());
        answer
    }

    /// The reading of an open capture as it grows; `None` if it is not open.
    pub fn watch(&self, id: CaptureId) -> Option<LiveReading> {
        let live = self.inner().live(id).filter(|live| !live.is_hidden())?;
        let watcher = live.watch();
        live.want(true);
        self.inner().queue.push(&live);
        Some(watcher)
    }

    pub(super) fn detail(&self, id: CaptureId) -> Result<Detail, StoreError> {
        let detail = self.inner().database.read(|connection| read::detail(connection, id))?;
        detail.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// Of an open capture the newest summary is in memory.
    fn newest(&self, stored: Summary) -> Summary {
        match self.inner().live(stored.id) {
            Some(live) if stored.state == State::Open => live.summary().as_ref().clone(),
            _ => stored,
        }
    }
}
