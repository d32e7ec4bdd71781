//! States and the patches to them.

use teeline_assembler::Options;

use super::*;
use crate::support::read_with;

#[test]
fn patches() {
    let state = event("STATE_SNAPSHOT", r#""snapshot":{"n":[1]}"#);
    let bad = event(
        "STATE_DELTA",
        r#""delta":[{"op":"add","path":"/n/-","value":2},{"op":"test","path":"/n/0","value":9}]"#,
    );
    let reading = read(with(&[&state, &bad]).as_bytes(), 0);
    assert_eq!(response(&reading)["state"], json!({"n": [1]}));
    let message = reading.findings[0].kind.message();
    assert!(message.contains("delta[1]"), "{message}");
    let activity =
        event("ACTIVITY_SNAPSHOT", r#""messageId":"a","activityType":"x","content":{"n":1}"#);
    let bad = event(
        "ACTIVITY_DELTA",
        r#""messageId":"a","activityType":"x","patch":[{"op":"replace","path":"/m","value":2}]"#,
    );
    let reading = read(with(&[&activity, &bad]).as_bytes(), 0);
    assert_eq!(
        (ids(&reading), &messages(&reading)[1]["content"]),
        (vec!["bad-field"], &json!({"n": 1}))
    );
    // A snapshot that does not replace is for those who have none.
    let kept = activity.replace("\"n\":1", "\"n\":2").replace("}}", "},\"replace\":false}");
    let reading = read(with(&[&activity, &kept]).as_bytes(), 0);
    assert_eq!((ids(&reading), &messages(&reading)[1]["content"]), (vec![], &json!({"n": 1})));
}

/// Copies of copies stay within the bound, and say so.
#[test]
fn states_are_bounded() {
    let copies = (0..40).map(|at| {
        event("STATE_DELTA", &format!(r#""delta":[{{"op":"copy","from":"","path":"/{at}"}}]"#))
    });
    let mut events = vec![START.to_owned(), event("STATE_SNAPSHOT", r#""snapshot":{}"#)];
    events.extend(copies);
    events.push(END.to_owned());
    let options = Options { text_limit: 20_000, ..Options::default() };
    let reading = read_with(options, sse(&events).as_bytes(), 0);
    assert!(ids(&reading).contains(&"not-assembled"));
    assert!(reading.response.unwrap().get().len() < 20_000);
}
