//! What is asked of every format alike: plain bodies, and findings with their near misses.

use serde_json::{Value, json};
use teeline_assembler::{Reading, Verdict};

use crate::support::{SIZES, ids, read, response};

/// `(finding, a body in which it is the only one, the nearest body without any)`.
pub(crate) type Row = (&'static str, String, String);

/// Each finding fires, alone, in its body and not in the nearest one.
pub(crate) fn fire_alone(rows: Vec<Row>) {
    for (id, bad, near) in rows {
        assert_eq!(ids(&read(bad.as_bytes(), 0)), [id], "{bad}");
        assert_eq!(ids(&read(near.as_bytes(), 0)), [""; 0], "near miss of {id}: {near}");
    }
}

/// A plain body gives what its stream gives, whole and without findings, and is its own response.
pub(crate) fn plain_as_streamed(stream: &[u8], plain: &[u8]) {
    let streamed = read(stream, 0);
    for size in SIZES {
        let reading = read(plain, size);
        assert_eq!(taken(&reading), taken(&streamed));
        assert_eq!(
            (reading.framing, reading.verdict, ids(&reading)),
            (Some("json"), Verdict::Finished, vec![])
        );
        assert_eq!(response(&reading), serde_json::from_slice::<Value>(plain).unwrap());
    }
}

/// Of a reading what a client takes from it.
fn taken(reading: &Reading) -> Value {
    let outputs: Value = reading
        .outputs
        .iter()
        .map(|output| {
            let reason = output.finish.as_ref().map(|finish| finish.reason.clone());
            json!([
                output.index,
                output.role,
                output.text,
                output.reasoning,
                output.tool_calls,
                reason
            ])
        })
        .collect();
    let usage: Value = reading
        .usage
        .as_ref()
        .map_or(Value::Null, |usage| serde_json::from_str(usage.raw.get()).unwrap());
    json!([reading.format, reading.id, reading.model, outputs, usage])
}
