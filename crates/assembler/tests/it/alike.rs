//! What is asked of every format alike: plain bodies, and findings with their near misses.

use serde_json::{Value, json};
use teeline_assembler::{Reading, Verdict};

use crate::support::{SIZES, ids, read, response, told};

/// `(finding, a body in which it is the only one, the nearest body without any)`.
pub(crate) type Row = (&'static str, String, String);

/// Each finding fires, alone, in its body and not in the nearest one.
pub(crate) fn fire_alone(rows: Vec<Row>) {
    let found = |body: &str| ids(&read(body.as_bytes(), 0));
    let faults: Vec<String> = rows
        .into_iter()
        .filter_map(|(id, bad, near)| {
            let (fires, misses) = (found(&bad), found(&near));
            let right = fires == [id] && misses.is_empty();
            let told = || format!("{id}: {fires:?} in\n{bad}near: {misses:?} in\n{near}");
            (!right).then(told)
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// `(finding, its frame, its arguments, a body in which it is the only one, the nearest body without any)`.
pub(crate) type Told<B = String> = (&'static str, u64, Value, B, B);

/// Each finding is told, alone, of its frame and in its words in its body, and nothing is in the nearest one.
pub(crate) fn told_alone<B: AsRef<[u8]>>(rows: Vec<Told<B>>) {
    for (id, frame, args, bad, near) in rows {
        let want = json!([[id, frame, args]]);
        assert_eq!(json!(told(&read(bad.as_ref(), 0))), want);
        assert_eq!(told(&read(near.as_ref(), 0)), [Value::Null; 0], "near {want}");
    }
}

/// Frames of these data lines.
pub(crate) fn sse<S: AsRef<str>>(frames: &[S]) -> String {
    frames.iter().map(|data| ["data: ", data.as_ref(), "\n\n"].concat()).collect()
}

/// The findings of server-sent events as such, from a stream in which nothing else is found.
pub(crate) fn of_sse(good: &str) -> Vec<Row> {
    let good = good.to_owned();
    vec![
        ("bom", format!("\u{feff}{good}"), good.clone()),
        ("crlf", good.replace('\n', "\r\n"), good.replacen('\n', "\r\n", 1)),
        ("ignored-line", format!("Data: x\n{good}"), format!(": x\n{good}")),
        ("not-json", format!("data: oops\n\n{good}"), format!("id: oops\n\n{good}")),
        ("unterminated", good.trim_end().to_owned(), good),
    ]
}

/// The endings that no format is needed for: cut, too large, an error, nothing, another format's frame.
pub(crate) fn end_badly(good: &str) {
    let (first, rest) = good.split_once("\n\n").unwrap();
    let large = format!("data: \"{}\"\n\n", "x".repeat(1_048_577));
    let error = "data: {\"error\":{\"message\":\"m\"}}\n\n";
    let other = "data: {\"choices\":[]}\n\n";
    for (body, verdict, found) in [
        (String::new(), Verdict::Empty, "empty"),
        (good[..good.len() - 5].to_owned(), Verdict::DidNotFinish, "cut"),
        (format!("{first}\n\n{large}{rest}"), Verdict::DidNotFinish, "too-large"),
        (format!("{first}\n\n{error}"), Verdict::DidNotFinish, "error-event"),
        (format!("{good}{other}"), Verdict::Finished, "mixed"),
    ] {
        let reading = read(body.as_bytes(), 0);
        assert!(ids(&reading).contains(&found), "{found}: {:?}", ids(&reading));
        assert_eq!(reading.verdict, verdict, "{found}");
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
