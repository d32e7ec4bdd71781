//! Rows going in. Everything here runs inside a transaction of the writer.

use rusqlite::{Connection, params};

use crate::record::Record;
use crate::{CaptureId, Summary, Timestamp};

/// Which body a segment is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Request = 0,
    Response = 1,
}

/// A segment to be stored.
#[derive(Debug)]
pub(crate) struct NewSegment {
    pub(crate) part: Part,
    pub(crate) start: u64,
    pub(crate) times: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

/// What a list and a query look at, beside what the summary says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexRow {
    /// The findings' ids, each once.
    pub(crate) findings: Vec<&'static str>,
}

/// What is searched for words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchText {
    pub(crate) answer: String,
    pub(crate) reasoning: String,
    pub(crate) tools: String,
    pub(crate) request: String,
}

impl SearchText {
    /// Bytes of all of it.
    pub(crate) fn bytes(&self) -> usize {
        self.answer.len() + self.reasoning.len() + self.tools.len() + self.request.len()
    }
}

/// Adds a capture and gives its number.
pub(crate) fn insert_capture(
    connection: &Connection,
    id: CaptureId,
    record: &Record,
    summary: &Summary,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO capture (id, started_us, state, upstream, path) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            id.to_string(),
            summary.started_at.as_micros(),
            summary.state.as_str(),
            record.upstream,
            record.path()
        ])?;
    let seq = connection.last_insert_rowid();
    connection
        .prepare_cached("INSERT INTO detail (seq, record, summary) VALUES (?1, ?2, ?3)")?
        .execute(params![seq, json(record)?, json(summary)?])?;
    Ok(seq)
}

/// Replaces a capture's record.
pub(crate) fn update_record(
    connection: &Connection,
    seq: i64,
    record: &Record,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE detail SET record = ?2 WHERE seq = ?1")?
        .execute(params![seq, json(record)?])?;
    Ok(())
}

/// Adds a segment.
pub(crate) fn insert_segment(
    connection: &Connection,
    seq: i64,
    segment: &NewSegment,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO segment (seq, part, start, times, data) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            seq,
            segment.part as i64,
            number(segment.start),
            segment.times,
            segment.data
        ])?;
    Ok(())
}

/// Replaces a capture's summary and what queries look at; false if there is no such capture.
pub(crate) fn update_summary(
    connection: &Connection,
    seq: i64,
    summary: &Summary,
    index: &IndexRow,
) -> rusqlite::Result<bool> {
    let there = connection
        .prepare_cached(
            "UPDATE capture SET state = ?2, verdict = ?3, errors = ?4, warnings = ?5, notes = ?6,
                status = ?7, streamed = ?8, format = ?9, model = ?10, tools = ?11, findings = ?12
             WHERE seq = ?1",
        )?
        .execute(params![
            seq,
            summary.state.as_str(),
            summary.verdict.map(teeline_assembler::Verdict::as_str),
            number(summary.findings.error),
            number(summary.findings.warning),
            number(summary.findings.note),
            summary.status,
            summary.streamed,
            summary.format,
            summary.model,
            summary.tool_names.join("\n"),
            format!("\n{}\n", index.findings.join("\n")),
        ])?;
    connection
        .prepare_cached("UPDATE detail SET summary = ?2 WHERE seq = ?1")?
        .execute(params![seq, json(summary)?])?;
    Ok(0 < there)
}

/// Makes a capture findable by its words.
pub(crate) fn insert_search(
    connection: &Connection,
    seq: i64,
    summary: &Summary,
    text: &SearchText,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO search (rowid, answer, reasoning, tools, model, path, request)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            seq,
            text.answer,
            text.reasoning,
            text.tools,
            summary.model.as_deref().unwrap_or_default(),
            summary.path,
            text.request
        ])?;
    Ok(())
}

/// Marks captures deleted, or takes the mark away. Gives those that it changed.
pub(crate) fn mark_deleted(
    connection: &Connection,
    ids: &[CaptureId],
    at: Option<Timestamp>,
) -> rusqlite::Result<Vec<CaptureId>> {
    let sql = "UPDATE capture SET deleted_us = ?2 WHERE id = ?1 AND (deleted_us IS NULL) = (?2 IS NOT NULL)";
    let mut statement = connection.prepare_cached(sql)?;
    let mut changed = Vec::new();
    for id in ids {
        if 0 < statement.execute(params![id.to_string(), at.map(Timestamp::as_micros)])? {
            changed.push(*id);
        }
    }
    Ok(changed)
}

/// Removes up to `most` segments of a capture; false once there are none.
pub(crate) fn purge_segments(
    connection: &Connection,
    seq: i64,
    most: u32,
) -> rusqlite::Result<bool> {
    let sql =
        "DELETE FROM segment WHERE rowid IN (SELECT rowid FROM segment WHERE seq = ?1 LIMIT ?2)";
    let removed = connection.prepare_cached(sql)?.execute(params![seq, most])?;
    Ok(0 < removed)
}

/// Removes the rest of a capture.
pub(crate) fn purge_rows(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM search WHERE rowid = ?1",
        "DELETE FROM detail WHERE seq = ?1",
        "DELETE FROM capture WHERE seq = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([seq])?;
    }
    Ok(())
}

/// Gives up to so many free pages back to the file system.
pub(crate) fn give_back(connection: &Connection, pages: u32) -> rusqlite::Result<()> {
    // Every step frees a page.
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Something was deleted, and the file is not wiped yet.
pub(crate) fn mark_unclean(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta (name, value) VALUES ('unclean', 1) ON CONFLICT DO NOTHING";
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// The file is wiped.
pub(crate) fn mark_clean(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM meta WHERE name = 'unclean'", []).map(drop)
}

/// The store's salt, made once.
pub(crate) fn salt(connection: &Connection) -> rusqlite::Result<[u8; 16]> {
    connection.execute(
        "INSERT INTO meta (name, value) VALUES ('salt', randomblob(16)) ON CONFLICT DO NOTHING",
        [],
    )?;
    connection.query_row("SELECT value FROM meta WHERE name = 'salt'", [], |row| row.get(0))
}

fn json<T: serde::Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// SQLite's integers are signed. Nothing that is counted here comes near the edge.
pub(super) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
