//! Every fixture, through the store: frames by pages are those of the assembler, and a coded body reads
//! as the plain one does.

use std::io::Write as _;

use teeline_assembler::{Assembly, End, FrameRow, Options};

use super::*;

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/cases");
    let mut fixtures = Vec::new();
    for entry in root.read_dir().unwrap() {
        let dir = entry.unwrap().path();
        for file in dir.read_dir().into_iter().flatten() {
            let path = file.unwrap().path();
            if path.file_stem().is_some_and(|stem| stem == "stream") {
                fixtures.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    assert!(50 < fixtures.len());
    fixtures
}

fn rows(
    body: &[u8],
    started_at_us: i64,
    at: &[(usize, u64)],
    content_type: Option<&str>,
) -> Vec<FrameRow> {
    let mut assembly = Assembly::new(Options {
        content_type: content_type.map(str::to_owned),
        path: Some("/x/y".to_owned()),
        started_at_us: Some(started_at_us),
        ..Options::default()
    });
    assembly.keep_rows(true);
    let mut from = 0;
    for (size, at_us) in at {
        let to = body.len().min(from + size);
        assembly.push(Bytes::copy_from_slice(&body[from..to]), Some(*at_us));
        from = to;
    }
    assembly.finish(End::Clean);
    assembly.take_rows()
}

#[test]
fn pages_of_frames_are_the_assemblers_rows() {
    let store = memory();
    let mut feed = store.feed();
    for (name, body) in fixtures() {
        let tap = store.recorder().begin(request("/x/y"));
        tap.response(response(200, &[]));
        for chunk in body.chunks(37) {
            tap.chunk(&Bytes::copy_from_slice(chunk));
        }
        let id = finish(tap, Ending::Clean);
        settled(&mut feed, id);
        let times: Vec<(usize, u64)> = store
            .chunks(id)
            .unwrap()
            .map(|piece| match piece.unwrap() {
                Piece::Chunk(chunk) => (chunk.bytes.len(), chunk.at_us.unwrap()),
                gap @ Piece::Gap { .. } => panic!("{gap:?}"),
            })
            .collect();
        let started_at = store.summary(id).unwrap().started_at;
        let expected = rows(&body, started_at.as_micros(), &times, None);
        let json = |rows: &[FrameRow]| {
            rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect::<Vec<_>>()
        };
        let mut paged = Vec::new();
        loop {
            let (total, page) = store.frames(id, paged.len() as u64, 3).unwrap();
            assert_eq!(total, expected.len() as u64, "{name}");
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(json(&paged), json(&expected), "{name}");
    }
}

#[test]
fn a_coded_body_reads_as_the_plain_one() {
    let store = memory();
    let mut feed = store.feed();
    for (name, body) in fixtures() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&body).unwrap();
        let coded = encoder.finish().unwrap();
        let record = |headers: &[(&str, &str)], body: &[u8], feed: &mut _| {
            let tap = store.recorder().begin(request("/x/y"));
            tap.response(response(200, headers));
            body.chunks(29).for_each(|chunk| tap.chunk(&Bytes::copy_from_slice(chunk)));
            let id = finish(tap, Ending::Clean);
            settled(feed, id);
            id
        };
        let plain = record(&[], &body, &mut feed);
        let gzip = record(&[("Content-Encoding", "gzip")], &coded, &mut feed);
        assert_eq!(bytes(store.body(gzip).unwrap()), body, "{name}");
        assert_eq!(bytes(store.chunks(gzip).unwrap()), coded, "{name}");
        let (one, two) = (store.reading(plain).unwrap(), store.reading(gzip).unwrap());
        assert_eq!(one.summary, two.summary, "{name}");
        assert_eq!(
            serde_json::to_string(&one.outputs).unwrap(),
            serde_json::to_string(&two.outputs).unwrap(),
            "{name}"
        );
        let frames = |id| {
            let (_, rows) = store.frames(id, 0, 1000).unwrap();
            rows.iter().map(|row| (row.offset, row.data.clone())).collect::<Vec<_>>()
        };
        assert_eq!(frames(plain), frames(gzip), "{name}");
    }
}
