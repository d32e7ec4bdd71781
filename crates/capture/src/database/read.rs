//! Rows coming out.

use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use serde::de::DeserializeOwned;

use super::write::{Part, number};
use crate::query::{ANY_FINDING, BROKEN};
use crate::record::Record;
use crate::{CaptureId, Query, SegmentCounts, Summary, Timestamp};

/// A capture in a list.
#[derive(Debug)]
pub(crate) struct Hit {
    pub(crate) seq: i64,
    pub(crate) summary: Summary,
}

/// A capture's record and summary.
#[derive(Debug)]
pub(crate) struct Detail {
    pub(crate) seq: i64,
    pub(crate) record: Arc<Record>,
    pub(crate) summary: Summary,
}

/// A stored segment.
#[derive(Debug)]
pub(crate) struct SegmentRow {
    pub(crate) start: u64,
    pub(crate) times: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

/// Captures that fit, newest first.
pub(crate) fn list(
    connection: &Connection,
    query: &Query,
    before: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<Hit>> {
    let condition = query.condition();
    let sql = format!(
        "SELECT seq, (SELECT summary FROM detail WHERE detail.seq = capture.seq) FROM capture
         WHERE {} AND seq < ? ORDER BY seq DESC LIMIT ?",
        condition.sql
    );
    let mut values = condition.values;
    values.push(Value::from(before.unwrap_or(i64::MAX)));
    values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        Ok(Hit { seq: row.get(0)?, summary: json(row, 1)? })
    })?;
    rows.collect()
}

/// The ids of all captures that fit.
pub(crate) fn ids(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<CaptureId>> {
    let condition = query.condition();
    let sql = format!("SELECT id FROM capture WHERE {}", condition.sql);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(condition.values), |row| id(row, 0))?;
    rows.collect()
}

/// How many captures a list's segments hold.
pub(crate) fn counts(connection: &Connection, query: &Query) -> rusqlite::Result<SegmentCounts> {
    let condition = query.without_segment().condition();
    let sql = format!(
        "SELECT COUNT(*), COALESCE(SUM(state = 'open'), 0), COALESCE(SUM({BROKEN}), 0),
            COALESCE(SUM({ANY_FINDING}), 0) FROM capture WHERE {}",
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row(params_from_iter(condition.values), |row| {
        Ok(SegmentCounts {
            all: count(row, 0)?,
            open: count(row, 1)?,
            broken: count(row, 2)?,
            findings: count(row, 3)?,
        })
    })
}

/// How many captures there are, and when the oldest of them began.
pub(crate) fn extent(connection: &Connection) -> rusqlite::Result<(u64, Option<Timestamp>)> {
    let sql = "SELECT (SELECT COUNT(*) FROM capture WHERE deleted_us IS NULL),
        (SELECT started_us FROM capture WHERE deleted_us IS NULL ORDER BY started_us LIMIT 1)";
    connection.prepare_cached(sql)?.query_row([], |row| {
        let oldest: Option<i64> = row.get(1)?;
        Ok((count(row, 0)?, oldest.map(Timestamp::from_micros)))
    })
}

/// A capture that is not deleted.
pub(crate) fn detail(connection: &Connection, id: CaptureId) -> rusqlite::Result<Option<Detail>> {
    let sql = "SELECT seq, record, summary FROM capture JOIN detail USING (seq)
               WHERE id = ?1 AND deleted_us IS NULL";
    connection
        .prepare_cached(sql)?
        .query_row([id.to_string()], |row| {
            let record = Arc::new(json(row, 1)?);
            Ok(Detail { seq: row.get(0)?, record, summary: json(row, 2)? })
        })
        .optional()
}

/// Captures whose ids begin so: the first, and how many.
pub(crate) fn find(
    connection: &Connection,
    prefix: &str,
) -> rusqlite::Result<Option<(CaptureId, u64)>> {
    // Ids hold hexadecimal digits and `-`, all of which sort before `g`.
    let sql = "SELECT MIN(id), COUNT(*) FROM capture
               WHERE id >= ?1 AND id < ?1 || 'g' AND deleted_us IS NULL HAVING 0 < COUNT(*)";
    connection
        .prepare_cached(sql)?
        .query_row([prefix], |row| Ok((id(row, 0)?, count(row, 1)?)))
        .optional()
}

/// The segment of a body that holds the byte at `from`, or else the next one behind it.
pub(crate) fn segment(
    connection: &Connection,
    seq: i64,
    part: Part,
    from: u64,
) -> rusqlite::Result<Option<SegmentRow>> {
    let sqls = [
        "SELECT * FROM (SELECT start, times, data FROM segment
             WHERE seq = ?1 AND part = ?2 AND start <= ?3 ORDER BY start DESC LIMIT 1)
         WHERE ?3 < start + LENGTH(data)",
        "SELECT start, times, data FROM segment
             WHERE seq = ?1 AND part = ?2 AND ?3 < start ORDER BY start LIMIT 1",
    ];
    for sql in sqls {
        let row = connection
            .prepare_cached(sql)?
            .query_row(params![seq, part as i64, number(from)], |row| {
                Ok(SegmentRow { start: count(row, 0)?, times: row.get(1)?, data: row.get(2)? })
            })
            .optional()?;
        if row.is_some() {
            return Ok(row);
        }
    }
    Ok(None)
}

/// Where a body's stored bytes end.
pub(crate) fn stored_end(
    connection: &Connection,
    seq: i64,
    part: Part,
) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT start + LENGTH(data) FROM segment WHERE seq = ?1 AND part = ?2
               ORDER BY start DESC LIMIT 1";
    connection
        .prepare_cached(sql)?
        .query_row(params![seq, part as i64], |row| count(row, 0))
        .optional()
}

/// Captures that are open in the file, oldest first.
pub(crate) fn open_captures(connection: &Connection) -> rusqlite::Result<Vec<CaptureId>> {
    let mut statement =
        connection.prepare("SELECT id FROM capture WHERE state = 'open' ORDER BY seq")?;
    let rows = statement.query_map([], |row| id(row, 0))?;
    rows.collect()
}

/// Captures that were deleted before `moment`, or after `now`: there the clock was put back.
pub(crate) fn deleted_before(
    connection: &Connection,
    moment: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<Vec<(i64, CaptureId)>> {
    let sql = "SELECT seq, id FROM capture WHERE deleted_us <= ?1 OR ?2 < deleted_us ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let moments = [moment.as_micros(), now.as_micros()];
    let rows = statement.query_map(moments, |row| Ok((row.get(0)?, id(row, 1)?)))?;
    rows.collect()
}

/// Captures that are not open, oldest first, with about how many bytes each takes.
pub(crate) fn oldest_ended(
    connection: &Connection,
    started_before: Timestamp,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, CaptureId, u64)>> {
    let sql = "SELECT seq, id, (SELECT COALESCE(SUM(LENGTH(data) + LENGTH(times)), 0) FROM segment
                   WHERE segment.seq = capture.seq) FROM capture
               WHERE state != 'open' AND started_us < ?1 ORDER BY seq LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![started_before.as_micros(), limit], |row| {
        Ok((row.get(0)?, id(row, 1)?, count(row, 2)?))
    })?;
    rows.collect()
}

/// Whether any capture is marked as deleted.
pub(crate) fn has_deleted(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM capture WHERE deleted_us IS NOT NULL)";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Whether the file is to be wiped.
pub(crate) fn is_unclean(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'unclean')";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Pages that are free in the file, and all pages.
pub(crate) fn free_pages(connection: &Connection) -> rusqlite::Result<(u64, u64)> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| count(row, 0));
    Ok((pragma("freelist_count")?, pragma("page_count")?))
}

/// The number of a capture, deleted or not.
pub(crate) fn seq(connection: &Connection, id: CaptureId) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT seq FROM capture WHERE id = ?1")?
        .query_row([id.to_string()], |row| row.get(0))
        .optional()
}

/// Bytes that the store holds, without what is free in the file.
pub(crate) fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| count(row, 0));
    Ok((pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?)
}

fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<CaptureId> {
    row.get::<_, String>(column)?.parse().map_err(|error| conversion(column, Box::new(error)))
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?)
        .map_err(|error| conversion(column, Box::new(error)))
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|value| u64::try_from(value).unwrap_or_default())
}

fn conversion(column: usize, error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error)
}
