use teeline_capture::{Query, StoreError};

use super::*;

#[test]
fn a_second_serve_is_told_where_the_first_is() {
    let dir = tempfile::tempdir().unwrap();
    let addresses = "http://127.0.0.1:4781".to_owned();
    let first = Store::open(dir.path(), StoreOptions { addresses, ..StoreOptions::default() });
    let first = first.unwrap();
    let second = || Store::open(dir.path(), StoreOptions::default());
    match second().err().unwrap() {
        StoreError::InUse { dashboard, pid } => {
            assert_eq!((dashboard.as_str(), pid), ("http://127.0.0.1:4781", std::process::id()));
        }
        other => panic!("{other}"),
    }
    first.announce("http://127.0.0.1:9");
    assert!(second().err().unwrap().to_string().contains("http://127.0.0.1:9;"));
    drop(first);
    second().unwrap();
}

#[test]
fn others_read_and_delete_while_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let reads = || Store::open_read_only(dir.path());
    assert!(matches!(reads().err().unwrap(), StoreError::Missing { .. }));
    let store = open(dir.path());
    let mut feed = store.feed();
    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    tap.response(response(200, &SSE));
    let (first, rest) = (chat("hello there").split_at(400).0.to_owned(), chat("hello there"));
    tap.chunk(&Bytes::from(first.clone()));
    let bytes_of = |summary: &Summary| summary.bytes;
    wait_for(&mut feed, |change| match change {
        Change::Capture(summary) if bytes_of(&summary) == 400 => Some(()),
        _ => None,
    });
    let reader = reads().unwrap();
    let listed = reader.list(&Query::default(), None, 10).unwrap().captures;
    assert_eq!(listed[0].state, State::Open);
    assert_eq!(bytes(reader.chunks(tap.id()).unwrap()), first.as_bytes());
    assert!(reader.reading(tap.id()).is_ok());
    assert!(matches!(reader.delete(&[tap.id()]).err().unwrap(), StoreError::ReadOnly));
    reader.recorder().begin(request("/x")).chunk(&Bytes::from_static(b"x"));
    tap.chunk(&Bytes::from(rest[400..].to_owned()));
    let id = finish(tap, Ending::Clean);
    settled(&mut feed, id);
    assert_eq!(reader.reading(id).unwrap().outputs[0].text, "hello there");
    let beside = Store::open_beside(dir.path(), StoreOptions::default()).unwrap();
    assert_eq!(beside.delete_now(&[id]).unwrap(), [id]);
    assert!(matches!(store.summary(id).err().unwrap(), StoreError::NotFound(_)));
    assert!(matches!(reader.reading(id).err().unwrap(), StoreError::NotFound(_)));
}

#[test]
fn what_was_open_is_interrupted_and_read() {
    let dir = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut feed = store.feed();
    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    tap.response(response(200, &SSE));
    let body = chat("one two three");
    let half = body.split_inclusive("\n\n").take(3).collect::<String>();
    tap.chunk(&Bytes::from(half.clone()));
    let ended = exchange(&store, "/openai/v1/chat/completions", body.as_bytes());
    settled(&mut feed, ended);
    // The files as they are is what a killed process leaves.
    for entry in dir.path().read_dir().unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let found = open(copy.path());
    let summary = found.summary(tap.id()).unwrap();
    assert_eq!(summary.state, State::Interrupted);
    assert_eq!(
        summary.end_reason.as_deref(),
        Some(format!("teeline stopped after frame 2 and {} bytes", summary.bytes).as_str())
    );
    assert_eq!((summary.bytes, summary.preview.as_str()), (half.len() as u64, "one two "));
    assert!(summary.ended_at.is_some());
    assert_eq!(found.summary(ended).unwrap().state, State::Ended);
    let hits = found.list(&Query::parse("state:interrupted two").unwrap(), None, 9).unwrap();
    assert_eq!(hits.captures.len(), 1);
}

#[test]
fn what_is_no_store_or_newer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let file = dir.path().join("teeline.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch(
            "PRAGMA user_version = 99; UPDATE meta SET value = '99.1.0' WHERE name = 'written_by'",
        )
        .unwrap();
    drop(connection);
    for result in
        [Store::open(dir.path(), StoreOptions::default()), Store::open_read_only(dir.path())]
    {
        match result.err().unwrap() {
            StoreError::NewerVersion { written_by, .. } => assert_eq!(written_by, "99.1.0"),
            other => panic!("{other}"),
        }
    }
    let before =
        b"no database, but a file of something else, and long enough to be looked at ".repeat(20);
    std::fs::write(&file, &before).unwrap();
    for name in ["teeline.db-wal", "teeline.db-shm"] {
        drop(std::fs::remove_file(dir.path().join(name)));
    }
    for result in
        [Store::open(dir.path(), StoreOptions::default()), Store::open_read_only(dir.path())]
    {
        assert!(matches!(result.err().unwrap(), StoreError::Corrupt { .. }));
    }
    assert_eq!(std::fs::read(&file).unwrap(), before, "it is left as it was");
    std::fs::remove_file(&file).unwrap();
    let foreign = rusqlite::Connection::open(&file).unwrap();
    foreign.execute_batch("PRAGMA application_id = 7; CREATE TABLE notes (x)").unwrap();
    drop(foreign);
    assert!(matches!(
        Store::open(dir.path(), StoreOptions::default()).err().unwrap(),
        StoreError::Corrupt { .. }
    ));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a file");
    std::fs::write(&file, "x").unwrap();
    let error = Store::open(&file.join("data"), StoreOptions::default()).err().unwrap();
    assert!(error.to_string().contains("a file") && error.to_string().contains("--data-dir"));
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("some/data");
    let there = dir.path().join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o755)).unwrap();
    for data in [data, there] {
        let store = open(&data);
        let mut feed = store.feed();
        let id = exchange(&store, "/x/y", b"{}");
        settled(&mut feed, id);
        assert_eq!(mode(&data), 0o700);
        let mut names = Vec::new();
        for entry in data.read_dir().unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
        names.sort();
        assert_eq!(
            names,
            ["checkpoint.lock", "serve.lock", "teeline.db", "teeline.db-shm", "teeline.db-wal"]
        );
    }
    let shared = dir.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::write(shared.join("other"), "x").unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
    drop(open(&shared));
    assert_eq!(mode(&shared), 0o755, "a folder with other things is left as it is");
}
