//! The tables and their versions.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::StoreError;

/// `PRAGMA application_id`: says that a file is ours ("teel").
const APPLICATION: i32 = 0x7465_656c;

/// One step a version: `user_version` says how many were taken.
const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// The version that wrote the store last.
const WRITTEN_BY: &str = env!("CARGO_PKG_VERSION");

/// Settings of a connection that writes.
pub(super) fn prepare(connection: &Connection, file: bool) -> Result<(), StoreError> {
    // Takes effect on an empty file only: it must come before the first table.
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA secure_delete = ON;")?;
    if file {
        // Checkpoints are done on a connection of their own, so that the writer never waits for a sync.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
             PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -4096;",
        )?;
    }
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Brings the file up to date.
pub(super) fn migrate(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    steps(connection, path, STEPS)
}

fn steps(connection: &Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let taken = version(connection, path)?;
    for (index, step) in steps.iter().enumerate().skip(taken) {
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {step}; PRAGMA user_version = {}; COMMIT",
            index + 1
        ))?;
    }
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.execute(
        "INSERT INTO meta (name, value) VALUES ('written_by', ?1)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [WRITTEN_BY],
    )?;
    Ok(())
}

/// Refuses what cannot be read without being brought up to date.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    if version(connection, path)? < STEPS.len() {
        return Err(StoreError::OlderVersion { path: path.to_owned() });
    }
    Ok(())
}

/// How many steps the file has taken.
fn version(connection: &Connection, path: &Path) -> Result<usize, StoreError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let foreign = application != APPLICATION && (application != 0 || version != 0);
    if foreign {
        let detail = "another program wrote it".to_owned();
        return Err(StoreError::Corrupt { path: path.to_owned(), detail });
    }
    let version = usize::try_from(version).unwrap_or_default();
    if STEPS.len() < version {
        let written_by = written_by(connection).unwrap_or_else(|| "of a later version".to_owned());
        return Err(StoreError::NewerVersion { path: path.to_owned(), written_by });
    }
    Ok(version)
}

fn written_by(connection: &Connection) -> Option<String> {
    let sql = "SELECT value FROM meta WHERE name = 'written_by'";
    connection.query_row(sql, [], |row| row.get(0)).optional().ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_file_is_brought_up_to_date_and_keeps_its_rows() {
        let connection = Connection::open_in_memory().unwrap();
        let path = Path::new("x");
        steps(&connection, path, &STEPS[..1]).unwrap();
        connection.execute("INSERT INTO meta VALUES ('salt', x'01')", []).unwrap();
        let two = [STEPS[0], "ALTER TABLE meta ADD COLUMN note TEXT"];
        steps(&connection, path, &two).unwrap();
        let (salt, note): (Vec<u8>, Option<String>) = connection
            .query_row("SELECT value, note FROM meta WHERE name = 'salt'", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((salt, note), (vec![1], None));
        let refused = check(&connection, path).unwrap_err().to_string();
        assert!(refused.contains(WRITTEN_BY) && refused.contains("newer"), "{refused}");
    }
}
