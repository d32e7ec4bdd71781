//! What changes the store beside recording.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use super::Store;
use crate::batch::Chunk;
use crate::intake::{self, Intake};
use crate::record::Record;
use crate::stream::{REQUEST_BODY, lock};
use crate::tap::{redacted, redacted_headers};
use crate::writer::{Command, ImportRow};
use crate::{CaptureId, Ending, Import, Query, ResponseView, StoreError, Timestamp};

/// How long an import waits for its reading.
const READ: Duration = Duration::from_mins(1);

impl Store {
    /// Deletes captures: gone from every answer at once, for good after 10 s. An open one is recorded
    /// until then, so that it can come back. Gives those that were there.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn delete(&self, ids: &[CaptureId]) -> Result<Vec<CaptureId>, StoreError> {
        let at = Some(Timestamp::now());
        self.ask(|answer| Command::Mark { ids: ids.to_vec(), at, answer })
    }

    /// Deletes all that a query gives, as [`Store::delete`].
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn delete_matching(&self, query: &Query) -> Result<Vec<CaptureId>, StoreError> {
        self.delete(&self.matching(query)?)
    }

    /// Brings back what was deleted less than 10 s ago. Gives those that came back.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn undelete(&self, ids: &[CaptureId]) -> Result<Vec<CaptureId>, StoreError> {
        self.ask(|answer| Command::Mark { ids: ids.to_vec(), at: None, answer })
    }

    /// Deletes captures for good; when this returns, nothing readable of them is left in the folder.
    /// Gives those that were there.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn delete_now(&self, ids: &[CaptureId]) -> Result<Vec<CaptureId>, StoreError> {
        let (done, gone) = sync_channel(1);
        let removed = self.ask(|answer| Command::Remove { ids: ids.to_vec(), done, answer })?;
        gone.recv().map_err(|_| StoreError::Stopped)?;
        Ok(removed)
    }

    /// Stores an exchange that comes from somewhere else. When this returns, it can be read.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn import(&self, import: Import) -> Result<CaptureId, StoreError> {
        let row = Box::new(self.import_row(import));
        let id = row.id;
        self.ask(|answer| Command::Import { row, answer })?;
        self.inner().wait_settled(&[id], READ);
        Ok(id)
    }

    fn import_row(&self, import: Import) -> ImportRow {
        let hub = &self.inner().hub;
        let (mut record, secrets) = redacted(hub, import.request);
        record.response = import.response.map(|head| ResponseView {
            status: head.status,
            reason: head.reason.map(|reason| secrets.mask_text(&reason)),
            version: head.version.to_owned(),
            headers: redacted_headers(hub, &secrets, &head.headers),
            ..ResponseView::default()
        });
        record.ending = Some(match import.ending {
            Ending::Failed { kind, message } => {
                Ending::Failed { kind, message: secrets.mask_text(&message) }
            }
            other => other,
        });
        record.kept_decoded =
            import.decoded && record.response_header("content-encoding").is_some();
        record.untimed = import.chunks.iter().all(|(_, at)| at.is_none());
        record.format = import.format;
        record.stamps = import.stamps;
        let kept = usize::try_from(REQUEST_BODY).unwrap_or(usize::MAX);
        record.request_truncated = kept < import.request_body.len();
        let request = import.request_body.slice(..kept.min(import.request_body.len()));
        let whole = Chunk { offset: 0, at_us: 0, bytes: &request };
        let mut segments = intake::request(std::iter::once(whole));
        segments.extend(import_body(&import.chunks, &secrets, &mut record));
        if let Some(moments) = import.moments {
            record.moments = moments;
        }
        let started_at = import.started_at.unwrap_or_else(Timestamp::now);
        ImportRow { id: CaptureId::new(), started_at, record, segments }
    }

    fn ask<T>(
        &self,
        command: impl FnOnce(SyncSender<Result<T, StoreError>>) -> Command,
    ) -> Result<T, StoreError> {
        if self.handle.running.is_none() {
            return Err(StoreError::ReadOnly);
        }
        let (answer, result): (_, Receiver<Result<T, StoreError>>) = sync_channel(1);
        {
            let mut commands = lock(&self.inner().commands);
            if self.inner().stopping.load(Ordering::Acquire) {
                return Err(StoreError::Stopped);
            }
            commands.push(command(answer));
        }
        self.inner().hub.mark_urgent();
        result.recv().map_err(|_| StoreError::Stopped)?
    }
}

fn import_body(
    chunks: &[(bytes::Bytes, Option<u64>)],
    secrets: &crate::redact::Secrets,
    record: &mut Record,
) -> Vec<crate::database::NewSegment> {
    let (mut offset, mut at) = (0, 0);
    let placed: Vec<Chunk<'_>> = chunks
        .iter()
        .filter(|(bytes, _)| !bytes.is_empty())
        .map(|(bytes, at_us)| {
            at = at_us.unwrap_or(at).max(at);
            let chunk = Chunk { offset, at_us: at, bytes };
            offset += bytes.len() as u64;
            chunk
        })
        .collect();
    record.bytes = offset;
    record.bytes_to_app = offset;
    record.moments.end_us = Some(at);
    record.moments.response_us = placed.first().map(|chunk| chunk.at_us);
    let mut intake = Intake::new();
    let segments = intake.response(placed.into_iter(), secrets, record);
    record.sha256 = intake.hash(record);
    segments
}
