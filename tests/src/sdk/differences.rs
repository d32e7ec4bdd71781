//! The committed list of what SDKs get wrong: `tests/sdk/differences.json`.

use std::{collections::BTreeMap, fs};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Difference, Sdk, Stream,
    compare::same,
    places::{fault, packages},
};

#[derive(Deserialize)]
struct List {
    sdks: BTreeMap<String, Value>,
    differences: Vec<Entry>,
}

/// Streams in which an SDK goes wrong at one place for one reason.
#[derive(Deserialize)]
struct Entry {
    sdk: String,
    /// The line of the SDK that is at fault.
    at: String,
    /// Why it is, in a sentence.
    why: String,
    /// By stream: by field: the SDK's value, see [`digest`].
    streams: BTreeMap<String, BTreeMap<String, Value>>,
}

/// A value as the list holds it: other people's words and structures as a hash.
pub fn digest(stream: &Stream, field: &str, value: &Value) -> Value {
    let short = matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
    if field == "raised" || short || !stream.is_recorded() {
        return value.clone();
    }
    json!(format!("sha256:{}", &crate::sha256(value.to_string().as_bytes())[..16]))
}

/// Fails unless the list holds exactly these differences of this SDK, in this version, for these streams.
pub fn judge(
    sdk: &Sdk,
    versions: &Value,
    streams: &[Stream],
    found: &BTreeMap<String, Vec<Difference>>,
) {
    let path = crate::root().join("tests/sdk/differences.json");
    let list = fs::read_to_string(&path).expect("the list of differences is here");
    let list: List = serde_json::from_str(&list).expect("the list has its shape");
    assert_eq!(
        list.sdks.get(sdk.name),
        Some(versions),
        "the list of differences is about another version of {}",
        sdk.name
    );
    let entries: Vec<&Entry> =
        list.differences.iter().filter(|entry| entry.sdk == sdk.name).collect();
    let faults = faulty_places(sdk, &entries);
    assert!(faults.is_empty(), "{}: places that are none:\n{}", sdk.name, faults.join("\n"));
    let mut listed: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
    for entry in entries {
        assert!(!entry.why.is_empty(), "an entry says why: {}", entry.at);
        for (stream, fields) in &entry.streams {
            assert!(
                !stream.starts_with("generated/"),
                "{stream} is valid: nobody may differ there"
            );
            for (field, value) in fields {
                let earlier = listed.insert((stream, field), value);
                assert!(earlier.is_none(), "{stream} {field} is listed twice for {}", sdk.name);
            }
        }
    }
    let mut complaints = Vec::new();
    for stream in streams {
        for difference in found.get(&stream.id).into_iter().flatten() {
            let theirs = digest(stream, &difference.field, &difference.theirs);
            let entry = listed.remove(&(stream.id.as_str(), difference.field.as_str()));
            if entry.is_none_or(|value| !same(value, &theirs)) {
                complaints.push(json!({
                    "stream": stream.id, "field": difference.field, "theirs": theirs,
                    "shown": shortened(&difference.theirs), "ours": shortened(&difference.ours),
                }));
            }
        }
    }
    let given = |id: &str| streams.iter().any(|stream| stream.id == id);
    for ((stream, field), _) in listed.into_iter().filter(|((stream, _), _)| given(stream)) {
        complaints.push(json!({ "stream": stream, "field": field, "stale": true }));
    }
    let lines: Vec<String> = complaints.iter().map(Value::to_string).collect();
    assert!(
        lines.is_empty(),
        "{}: {} differences that the list does not hold, or holds wrongly:\n{}",
        sdk.name,
        lines.len(),
        lines.join("\n")
    );
}

/// The places that entries name, and the lines from which errors are said to be raised, which are not there.
fn faulty_places(sdk: &Sdk, entries: &[&Entry]) -> Vec<String> {
    let packages = packages(sdk.language);
    let raised = |entry: &Entry| {
        let values = entry.streams.values().filter_map(|fields| fields.get("raised"));
        values.filter_map(|value| Some(value["at"].as_str()?.to_owned())).collect::<Vec<_>>()
    };
    let mut places: Vec<String> =
        entries.iter().flat_map(|entry| [vec![entry.at.clone()], raised(entry)].concat()).collect();
    places.sort();
    places.dedup();
    places.iter().filter_map(|at| fault(&packages, at)).collect()
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}
