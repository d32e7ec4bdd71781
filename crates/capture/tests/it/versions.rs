//! Stores that older versions wrote.

use teeline_capture::Query;

use super::*;

/// A file a version of the tables, as the first teeline of that version left it.
fn stores() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores");
    let mut stores: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap()))
        .collect();
    stores.sort();
    assert!(!stores.is_empty());
    stores
}

fn forever() -> StoreOptions {
    StoreOptions { retention_days: 0, ..StoreOptions::default() }
}

#[test]
fn every_store_there_ever_was_is_read_and_written() {
    for (name, sql) in stores() {
        let dir = tempfile::tempdir().unwrap();
        let file = rusqlite::Connection::open(dir.path().join("teeline.db")).unwrap();
        // As a store is made: what it is to be is said before its first table.
        file.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL").unwrap();
        file.execute_batch(&sql).unwrap();
        drop(file);
        let store = Store::open(dir.path(), forever()).unwrap();
        let listed = store.list(&Query::default(), None, 9).unwrap().captures;
        let [second, first] = &listed[..] else { panic!("{name}: {listed:?}") };
        assert_eq!((first.state, second.state), (State::Ended, State::Interrupted), "{name}");
        assert_eq!(store.reading(first.id).unwrap().outputs[0].text, "kept across versions");
        assert_eq!(store.reading(second.id).unwrap().outputs[0].text, "kept across ");
        let stored = store.exchange(first.id).unwrap();
        assert!(stored.request.body.contains("Will you stay?"), "{name}");
        let secret = "sk-0123456789abcdef";
        assert!(stored.request.headers.iter().any(|(key, _)| key == "Authorization"), "{name}");
        assert!(stored.request.headers.iter().all(|(_, value)| !value.contains(secret)));
        let body = bytes(store.chunks(first.id).unwrap());
        assert_eq!(body.len() as u64, first.bytes, "{name}");
        assert!(body.ends_with(b"data: [DONE]\n\n"), "{name}");
        for (query, fits) in [("versions", 1), ("across", 2), ("stay", 1), ("model:m-1", 2)] {
            let found = store.list(&Query::parse(query).unwrap(), None, 9).unwrap();
            assert_eq!(found.captures.len(), fits, "{name}: {query}");
        }
        // It goes on as any other.
        let mut feed = store.feed();
        let new = exchange(&store, "/openai/v1/chat/completions", chat("hello there").as_bytes());
        settled(&mut feed, new);
        assert_eq!(store.list(&Query::default(), None, 9).unwrap().captures[0].id, new);
        store.delete_now(&[first.id]).unwrap();
        store.shutdown();
        drop(store);
        let file = rusqlite::Connection::open(dir.path().join("teeline.db")).unwrap();
        let check: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok", "{name}");
        drop(file);
        assert_eq!(folder_holds(dir.path(), "Will you stay?"), None, "{name}");
    }
}
