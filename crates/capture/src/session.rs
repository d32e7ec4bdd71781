//! The reading of one open capture, brought up to what is stored.

use std::sync::Arc;
use std::time::{Duration, Instant};

use teeline_assembler::Reading;

use crate::conversation::Conversation;
use crate::database::SearchText;
use crate::inner::Inner;
use crate::live::{Live, Progress};
use crate::pieces::{Segments, request_body};
use crate::reading::{Reader, unread};
use crate::record::Record;
use crate::request::Asked;
use crate::stream::lock;
use crate::summarise::Shown;
use crate::{Ending, Piece, StoreError, Summary, summarise};

/// Segments that are read at a turn: others wait, too.
const TURN: usize = 64;

/// A summary and a reading are shown at most so often.
pub(crate) const SHOW_EVERY: Duration = Duration::from_millis(100);

/// The summary of an open capture is written at most so often, for those who read the file.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// What is known of an open capture's reading. Only workers touch it, one at a time.
#[derive(Default)]
pub(crate) struct Session {
    reader: Option<Box<Reader>>,
    /// In place of the reader, of a WebSocket.
    conversation: Option<Box<Conversation>>,
    /// The stored body's next byte.
    position: u64,
    asked: Option<Asked>,
    shown: Option<Instant>,
    saved: Option<Instant>,
    /// Making a snapshot took so long: it is done less often, so that reading stays ahead.
    snapshot_cost: Duration,
    /// Reading failed for good; why.
    broken: Option<String>,
    /// Reads that failed in a row.
    pub(crate) failures: u32,
    /// What was shown last.
    last: Option<Seen>,
    pub(crate) finished: bool,
}

/// What a capture was shown with.
struct Seen {
    position: u64,
    bytes: u64,
    bytes_to_app: u64,
    record: Arc<Record>,
}

/// What a turn came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// There is more to read.
    More,
    /// Everything that is stored was read.
    Reached,
}

impl Session {
    /// Reads what is stored and was not read, up to a bound.
    pub(crate) fn advance(
        &mut self,
        live: &Live,
        progress: &Progress,
        inner: &Inner,
    ) -> Result<Turn, StoreError> {
        if self.broken.is_some() {
            return Ok(Turn::Reached);
        }
        self.ask(live, progress, inner)?;
        let record = &progress.record;
        if record.is_websocket() {
            let conversation = self.conversation(live, record);
            let reached = conversation.advance(&inner.database, live.seq, record, TURN)?;
            self.position = conversation.bytes();
            return Ok(if reached { Turn::Reached } else { Turn::More });
        }
        let segments =
            Segments::response(Arc::clone(&inner.database), live.seq, Arc::clone(record));
        let mut segments = segments.from(self.position);
        let mut pieces = Vec::new();
        for _ in 0..TURN {
            // The file may be ahead of what is known, which is too old then to tell why bytes before those behind
            // it are missing. (The offsets of a body that is kept decoded are others, and show no gaps.)
            let ahead = !record.kept_decoded && progress.bytes <= self.position;
            if ahead || !segments.next(&mut pieces)? {
                return Ok(Turn::Reached);
            }
            self.take(live, record, &mut pieces);
            self.position = segments.position();
        }
        Ok(Turn::More)
    }

    fn conversation(&mut self, live: &Live, record: &Record) -> &mut Conversation {
        self.conversation
            .get_or_insert_with(|| Box::new(Conversation::new(record, live.started_at, false)))
    }

    fn take(&mut self, live: &Live, record: &Record, pieces: &mut Vec<Piece>) {
        let streamed = self.asked.as_ref().and_then(|asked| asked.streamed);
        let reader = self
            .reader
            .get_or_insert_with(|| Box::new(Reader::new(record, live.started_at, streamed, false)));
        pieces.drain(..).for_each(|piece| reader.piece(&piece));
    }

    /// Looks into the request, once its body is there.
    fn ask(&mut self, live: &Live, progress: &Progress, inner: &Inner) -> Result<(), StoreError> {
        let moments = &progress.record.moments;
        let there = moments.request_end_us.or(moments.response_us).is_some() || progress.finished;
        if self.asked.is_none() && there {
            let (body, _) = request_body(&inner.database, live.seq, &progress.record)?;
            let fits = body.len() <= crate::request::LONGEST;
            let mut asked = if fits { Asked::of(&body) } else { Asked::default() };
            let mut retries = lock(&inner.retries);
            retries.remember(live.id, live.started_at, &progress.record, &body);
            asked.retry = retries.of(live.id);
            self.asked = Some(asked);
        }
        Ok(())
    }

    /// Reading failed for good: the capture is kept and says so.
    pub(crate) fn give_up(&mut self, why: String) {
        self.reader = None;
        self.conversation = None;
        self.broken = Some(why);
    }

    /// Whether there is anything that was not shown.
    pub(crate) fn has_news(&self, progress: &Progress) -> bool {
        self.last.as_ref().is_none_or(|last| {
            last.position != self.position
                || last.bytes != progress.bytes
                || last.bytes_to_app != progress.bytes_to_app
                || !Arc::ptr_eq(&last.record, &progress.record)
        })
    }

    /// When the capture may be shown again.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.shown.map(|shown| shown + SHOW_EVERY.max(self.snapshot_cost * 20))
    }

    /// The capture as it stands, and whether it is to be written.
    pub(crate) fn snapshot(&mut self, live: &Live, progress: &Progress) -> Snapshot {
        let begun = Instant::now();
        let reading = match &self.broken {
            Some(why) => Some(unread(&progress.record, why)),
            None => self.reading(),
        };
        let shown = reading.as_ref().map(|reading| (reading, self.shown()));
        let summary = summarise::open(&live.summary(), progress, self.asked.as_ref(), shown);
        let save = self.saved.is_none_or(|saved| SAVE_EVERY <= saved.elapsed());
        if save {
            self.saved = Some(begun);
        }
        self.shown = Some(begun);
        self.last = Some(Seen {
            position: self.position,
            bytes: progress.bytes,
            bytes_to_app: progress.bytes_to_app,
            record: Arc::clone(&progress.record),
        });
        self.snapshot_cost = begun.elapsed();
        Snapshot { summary, reading, save }
    }

    /// The capture for good. Where reading failed, nothing of what failed is called again.
    pub(crate) fn finish(&mut self, live: &Live, progress: &Progress, inner: &Inner) -> Final {
        let record = &progress.record;
        let ending = record.ending.clone().unwrap_or(Ending::Interrupted);
        let whole = match (&self.broken, record.is_websocket()) {
            (Some(why), _) => Some(unread(record, why)),
            (None, true) => {
                self.conversation(live, record).finish(record, &ending);
                self.reading()
            }
            (None, false) => {
                self.read_to_end(live, record, &ending, inner);
                self.reading()
            }
        };
        let mut reading = whole.unwrap_or_else(|| unread(record, "it was not begun"));
        let asked = self.asked.get_or_insert_default();
        // The try before may have failed only since.
        asked.retry = lock(&inner.retries).of(live.id);
        let asked = asked.clone();
        summarise::judge(&mut reading, record);
        let read = (&reading, self.shown());
        let summary = summarise::ended(&live.summary(), progress, &ending, &asked, read);
        let said = self.conversation.as_ref().map(|conversation| conversation.said());
        let search = summarise::search_text(&reading, &asked, said);
        (self.reader, self.conversation) = (None, None);
        self.finished = true;
        Final { summary, reading, search }
    }

    fn read_to_end(&mut self, live: &Live, record: &Arc<Record>, ending: &Ending, inner: &Inner) {
        let segments =
            Segments::response(Arc::clone(&inner.database), live.seq, Arc::clone(record));
        let mut missing = Vec::new();
        segments.from(self.position).finish(&mut missing);
        self.take(live, record, &mut missing);
        if let Some(reader) = &mut self.reader {
            reader.finish(ending);
        }
    }

    /// The reading as it stands.
    pub(crate) fn reading(&self) -> Option<Reading> {
        let said = self.conversation.as_ref().map(|conversation| conversation.reading());
        said.or_else(|| self.reader.as_ref().map(|reader| reader.reading()))
    }

    fn shown(&self) -> Option<Shown> {
        let said = self.conversation.as_deref().map(Shown::from);
        said.or_else(|| self.reader.as_deref().map(Shown::from))
    }
}

/// A capture as it stands.
pub(crate) struct Snapshot {
    pub(crate) summary: Summary,
    pub(crate) reading: Option<Reading>,
    pub(crate) save: bool,
}

/// A capture for good.
pub(crate) struct Final {
    pub(crate) summary: Summary,
    pub(crate) reading: Reading,
    pub(crate) search: SearchText,
}
