//! Captures that were open when teeline stopped.

use std::sync::Arc;
use std::time::Duration;

use crate::database::{Part, read, write};
use crate::inner::Inner;
use crate::live::{Live, Progress};
use crate::{CaptureId, Ending, StoreError, segment};

/// How long the start waits for their readings. Longer ones follow.
const WAIT: Duration = Duration::from_secs(2);

/// Gives every capture that is open in the file its end, and to the workers. Only under the lock.
pub(crate) fn recover(inner: &Inner) -> Result<Vec<CaptureId>, StoreError> {
    let open = inner.database.read(read::open_captures)?;
    for id in &open {
        finish(inner, *id)?;
    }
    if !open.is_empty() {
        tracing::info!(captures = open.len(), "captures were open when teeline stopped");
    }
    Ok(open)
}

/// Waits a while until their readings are final.
pub(crate) fn wait(inner: &Inner, ids: &[CaptureId]) {
    inner.wait_settled(ids, WAIT);
}

fn finish(inner: &Inner, id: CaptureId) -> Result<(), StoreError> {
    // A deleted one has no detail, and goes soon.
    let Some(detail) = inner.database.read(|c| read::detail(c, id))? else {
        return Ok(());
    };
    let (seq, mut record) = (detail.seq, detail.record.as_ref().clone());
    let stored = inner.database.read(|c| read::stored_end(c, seq, Part::Response))?.unwrap_or(0);
    let lost = record.lost.ranges().iter().map(|range| range.to).max().unwrap_or(0);
    if !record.kept_decoded {
        record.bytes = record.bytes.max(stored).max(lost);
    }
    if record.ending.is_none() {
        record.ending = Some(Ending::Interrupted);
        let ended_us = last_time(inner, seq, stored)?;
        let moments = &mut record.moments;
        moments.end_us = ended_us.or(moments.response_us).or(moments.sent_us);
    }
    write::update_record(&*inner.database.writer()?, seq, &record)?;
    let (bytes, bytes_to_app) = (record.bytes, record.bytes_to_app);
    let record = Arc::new(record);
    let progress = Progress { record, bytes, bytes_to_app, finished: true };
    let started_at = detail.summary.started_at;
    let live = Arc::new(Live::new(id, seq, started_at, progress, detail.summary));
    inner.add_live(&live);
    inner.queue.push(&live);
    Ok(())
}

/// When the last stored byte came.
fn last_time(inner: &Inner, seq: i64, end: u64) -> Result<Option<u64>, StoreError> {
    let last = end.saturating_sub(1);
    let row = inner.database.read(|c| read::segment(c, seq, Part::Response, last))?;
    Ok(row.and_then(|row| {
        segment::chunks(row.start, &row.times, row.data, true).last().and_then(|chunk| chunk.at_us)
    }))
}
