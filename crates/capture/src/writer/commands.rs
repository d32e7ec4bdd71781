//! What the store asks of the writer. The one who asks waits for the answer, never an app.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use rusqlite::TransactionBehavior;

use super::Writer;
use crate::database::{NewSegment, read, write};
use crate::live::{Live, Progress};
use crate::record::Record;
use crate::stream::lock;
use crate::{CaptureId, Change, StoreError, Timestamp, summarise};

type Answer<T> = SyncSender<Result<T, StoreError>>;

pub(crate) enum Command {
    /// Mark captures as deleted, or take the mark away.
    Mark { ids: Vec<CaptureId>, at: Option<Timestamp>, answer: Answer<Vec<CaptureId>> },
    /// Remove captures for good; `done` once nothing readable is left.
    Remove { ids: Vec<CaptureId>, done: SyncSender<()>, answer: Answer<Vec<CaptureId>> },
    /// Add an exchange that is over.
    Import { row: Box<ImportRow>, answer: Answer<()> },
}

/// An exchange from somewhere else, ready to be written.
pub(crate) struct ImportRow {
    pub(crate) id: CaptureId,
    pub(crate) started_at: Timestamp,
    pub(crate) record: Record,
    pub(crate) segments: Vec<NewSegment>,
}

impl Writer {
    pub(super) fn run_commands(&mut self) {
        let commands = std::mem::take(&mut *lock(&self.inner.commands));
        for command in commands {
            // Nobody waits any longer if an answer cannot be given.
            match command {
                Command::Mark { ids, at, answer } => drop(answer.send(self.mark(&ids, at))),
                Command::Remove { ids, done, answer } => {
                    let removed = self.remove(&ids);
                    self.deletion.notify(done);
                    drop(answer.send(removed));
                }
                Command::Import { row, answer } => drop(answer.send(self.import(*row))),
            }
        }
    }

    fn mark(
        &mut self,
        ids: &[CaptureId],
        at: Option<Timestamp>,
    ) -> Result<Vec<CaptureId>, StoreError> {
        let changed = {
            let mut connection = self.inner.database.writer()?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut changed = write::mark_deleted(&transaction, ids, at)?;
            if at.is_none() {
                // What is already being removed does not come back.
                let mut kept = Vec::new();
                for id in changed {
                    if !read::seq(&transaction, id)?.is_some_and(|seq| self.deletion.holds(seq)) {
                        kept.push(id);
                    }
                }
                changed = kept;
            }
            transaction.commit()?;
            changed
        };
        self.deletion.marked |= at.is_some();
        for id in &changed {
            self.tell_mark(*id, at.is_some());
        }
        Ok(changed)
    }

    fn tell_mark(&self, id: CaptureId, deleted: bool) {
        let live = self.inner.live(id);
        if let Some(live) = &live {
            live.hide(deleted);
        }
        let change = if deleted {
            Some(Change::Deleted(id))
        } else if let Some(live) = live {
            Some(Change::Capture(live.summary()))
        } else {
            let detail = self.inner.database.read(|c| read::detail(c, id)).ok().flatten();
            detail.map(|detail| Change::Capture(Arc::new(detail.summary)))
        };
        if let Some(change) = change {
            drop(self.inner.feed.send(change));
        }
    }

    fn remove(&mut self, ids: &[CaptureId]) -> Result<Vec<CaptureId>, StoreError> {
        // Gone from every answer at once, and looked for again if removing fails.
        write::mark_deleted(&*self.inner.database.writer()?, ids, Some(Timestamp::now()))?;
        let mut removed = Vec::new();
        for id in ids {
            if let Some(seq) = self.inner.database.read(|c| read::seq(c, *id))? {
                self.discard(seq, *id);
                removed.push(*id);
            }
        }
        Ok(removed)
    }

    /// Removes a capture for good, open or not.
    pub(super) fn discard(&mut self, seq: i64, id: CaptureId) {
        self.deletion.add(&self.inner, seq, id);
        for entry in &mut self.entries {
            entry.discard(seq);
        }
        drop(self.inner.feed.send(Change::Deleted(id)));
    }

    fn import(&mut self, row: ImportRow) -> Result<(), StoreError> {
        let summary = summarise::start(row.id, &row.record, row.started_at);
        let seq = {
            let mut connection = self.inner.database.writer()?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let seq = write::insert_capture(&transaction, row.id, &row.record, &summary)?;
            for segment in &row.segments {
                write::insert_segment(&transaction, seq, segment)?;
            }
            transaction.commit()?;
            seq
        };
        let bytes = row.segments.iter().map(|segment| segment.data.len()).sum();
        self.checkpointer.wrote(bytes);
        let (bytes, bytes_to_app) = (row.record.bytes, row.record.bytes_to_app);
        let record = Arc::new(row.record);
        let progress = Progress { record, bytes, bytes_to_app, finished: true };
        let live = Arc::new(Live::new(row.id, seq, row.started_at, progress, summary));
        self.inner.add_live(&live);
        self.inner.tell(&live, live.summary());
        self.inner.queue.push(&live);
        Ok(())
    }
}
