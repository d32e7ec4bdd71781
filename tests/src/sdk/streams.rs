//! Where streams come from: our cases and the recordings beside the repository.

use std::fs;

use bytes::Bytes;
use serde_json::Value;

/// A body that a provider could have sent.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Where it is from: `cases/…`, `raw/…` of the recordings, or a generator with its seed.
    pub id: String,
    /// The body.
    pub body: Bytes,
    /// Its content type.
    pub content_type: &'static str,
}

impl Stream {
    /// Whether other people's words are in it, which stay out of the repository.
    pub fn is_recorded(&self) -> bool {
        self.id.starts_with("raw/")
    }
}

/// The cases of a format (its name in `expect.json`) that are about reading.
pub fn cases(format: &str) -> Vec<Stream> {
    let folder = crate::fixtures("cases");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .expect("the cases are here")
        .map(|entry| {
            entry.expect("the folder can be read").file_name().into_string().expect("a name")
        })
        .collect();
    names.sort();
    names
        .into_iter()
        .filter_map(|name| {
            let expect = fs::read(folder.join(&name).join("expect.json")).ok()?;
            let expect: Value = serde_json::from_slice(&expect).expect("expect.json is JSON");
            let input = folder.join(&name).join(expect["input"].as_str()?);
            (expect["format"] == format).then(|| Stream {
                id: format!("cases/{name}"),
                body: fs::read(input).expect("the input is here").into(),
                content_type: content_type(expect["content_type"].as_str().unwrap_or_default()),
            })
        })
        .collect()
}

/// The recordings of a format (its name in the manifest); where they are not here, none and a word about it.
pub fn recordings(test: &str, format: &str) -> Vec<Stream> {
    let here = crate::available(test, &[crate::Need::Corpus]);
    let Some(folder) = crate::corpus().filter(|_| here) else { return Vec::new() };
    let manifest = fs::read_to_string(folder.join("manifest.jsonl")).expect("it can be read");
    manifest
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).expect("a row is JSON"))
        .filter(|row| row["format"] == format)
        .map(|row| Stream {
            id: crate::text(&row["file"]).to_owned(),
            body: fs::read(folder.join(crate::text(&row["file"]))).expect("it is here").into(),
            content_type: match crate::text(&row["framing"]) {
                "ndjson" => "application/x-ndjson",
                "json_array" => "application/json",
                "eventstream" => "application/vnd.amazon.eventstream",
                _ => "text/event-stream",
            },
        })
        .collect()
}

fn content_type(named: &str) -> &'static str {
    if named.starts_with("application/x-ndjson") {
        "application/x-ndjson"
    } else {
        "text/event-stream"
    }
}
