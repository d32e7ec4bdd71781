//! Members of events that have another shape than the protocol says.

use super::*;
use crate::alike::{Told, told_alone};

/// Members that may be left out, and have another shape.
fn of_shapes() -> Vec<Told> {
    let member = |event: &str, key: &str, value: Value, near: &str| {
        let args = json!({"field": key, "expected": "a string", "value": value.to_string()});
        let key = key.split(' ').next_back().unwrap();
        let with = |value: &str| event.replace('?', &format!(r#""{key}":{value}"#));
        ("bad-field", 4, args, with(&value.to_string()), with(near))
    };
    let start = with(&[
        r#"{"type":"TEXT_MESSAGE_START","messageId":"n",?}"#,
        &CLOSE.replace("\"m\"", "\"n\""),
    ]);
    let call = |members: &str| {
        with(&[&event("TOOL_CALL_START", &format!(r#""toolCallId":"c",{members}"#)), CALLED])
    };
    vec![
        member(&start, "TEXT_MESSAGE_START role", json!(7), "null"),
        member(&call("?"), "TOOL_CALL_START toolCallName", json!(["f"]), "\"f\""),
        member(
            &call(r#""toolCallName":"f",?"#),
            "TOOL_CALL_START parentMessageId",
            json!({}),
            "null",
        ),
    ]
}

#[test]
fn members_of_another_shape_are_named() {
    told_alone(of_shapes());
}
