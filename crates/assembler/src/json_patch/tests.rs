use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn applied(document: &str, patch: &str) -> Result<String, Refused> {
    let mut node = Node::from(Json::parse(document).unwrap());
    let done = apply(&mut node, Json::parse(patch).unwrap(), &mut |_| true);
    if done.is_err() {
        let (after, before) = (source(&node), Json::parse(document).unwrap());
        assert!(equal(Json::from_known(&after), before), "{patch} changed {document} to {after}");
    }
    done.map(|()| source(&node))
}

/// RFC 6902, appendix A: document, patch, result; `""` where it has to be refused.
const EXAMPLES: &[(&str, &str, &str, &str)] = &[
    (
        "A.1",
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz","value":"qux"}]"#,
        r#"{"baz":"qux","foo":"bar"}"#,
    ),
    (
        "A.2",
        r#"{"foo":["bar","baz"]}"#,
        r#"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
        r#"{"foo":["bar","qux","baz"]}"#,
    ),
    (
        "A.3",
        r#"{"baz":"qux","foo":"bar"}"#,
        r#"[{"op":"remove","path":"/baz"}]"#,
        r#"{"foo":"bar"}"#,
    ),
    (
        "A.4",
        r#"{"foo":["bar","qux","baz"]}"#,
        r#"[{"op":"remove","path":"/foo/1"}]"#,
        r#"{"foo":["bar","baz"]}"#,
    ),
    (
        "A.5",
        r#"{"baz":"qux","foo":"bar"}"#,
        r#"[{"op":"replace","path":"/baz","value":"boo"}]"#,
        r#"{"baz":"boo","foo":"bar"}"#,
    ),
    (
        "A.6",
        r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
        r#"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
        r#"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#,
    ),
    (
        "A.7",
        r#"{"foo":["all","grass","cows","eat"]}"#,
        r#"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
        r#"{"foo":["all","cows","eat","grass"]}"#,
    ),
    (
        "A.8",
        r#"{"baz":"qux","foo":["a",2,"c"]}"#,
        r#"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
        r#"{"baz":"qux","foo":["a",2,"c"]}"#,
    ),
    ("A.9", r#"{"baz":"qux"}"#, r#"[{"op":"test","path":"/baz","value":"bar"}]"#, ""),
    (
        "A.10",
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
        r#"{"foo":"bar","child":{"grandchild":{}}}"#,
    ),
    (
        "A.11",
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#,
        r#"{"foo":"bar","baz":"qux"}"#,
    ),
    ("A.12", r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz/bat","value":"qux"}]"#, ""),
    ("A.13", r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz","value":"qux","op":"remove"}]"#, ""),
    (
        "A.14",
        r#"{"/":9,"~1":10}"#,
        r#"[{"op":"test","path":"/~01","value":10}]"#,
        r#"{"/":9,"~1":10}"#,
    ),
    ("A.15", r#"{"/":9,"~1":10}"#, r#"[{"op":"test","path":"/~01","value":"10"}]"#, ""),
    (
        "A.16",
        r#"{"foo":["bar"]}"#,
        r#"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
        r#"{"foo":["bar",["abc","def"]]}"#,
    ),
];

/// What sections 4 and 5 and RFC 6901 say beside the examples.
const RULES: &[(&str, &str, &str, &str)] = &[
    // 4.1: an existing member is replaced, the whole document too; indexes count up to the length.
    ("4.1", r#"{"a":1}"#, r#"[{"op":"add","path":"/a","value":2}]"#, r#"{"a":2}"#),
    ("4.1", r#"{"a":1}"#, r#"[{"op":"add","path":"","value":[1]}]"#, "[1]"),
    ("4.1", "[1]", r#"[{"op":"add","path":"/1","value":2}]"#, "[1,2]"),
    ("4.1", "[1]", r#"[{"op":"add","path":"/2","value":2}]"#, ""),
    ("4.1", "[1]", r#"[{"op":"add","path":"/01","value":2}]"#, ""),
    ("4.1", "[1]", r#"[{"op":"add","path":"/+1","value":2}]"#, ""),
    ("4.1", "1", r#"[{"op":"add","path":"/a","value":2}]"#, ""),
    ("4.1", "{}", r#"[{"op":"add","path":"/a"}]"#, ""),
    ("4.1", "{}", r#"[{"op":"add","path":"/a","value":null}]"#, r#"{"a":null}"#),
    // 4.2 and 4.3: the target has to exist.
    ("4.2", "{}", r#"[{"op":"remove","path":"/a"}]"#, ""),
    ("4.2", "[1]", r#"[{"op":"remove","path":"/-"}]"#, ""),
    ("4.2", "[1]", r#"[{"op":"remove","path":"/1"}]"#, ""),
    ("4.3", "{}", r#"[{"op":"replace","path":"/a","value":1}]"#, ""),
    ("4.3", "[1]", r#"[{"op":"replace","path":"/0","value":{}}]"#, "[{}]"),
    ("4.3", "[1]", r#"[{"op":"replace","path":"","value":{}}]"#, "{}"),
    // 4.4: not into itself, onto itself it may.
    ("4.4", r#"{"a":{"b":1}}"#, r#"[{"op":"move","from":"/a","path":"/a/b"}]"#, ""),
    ("4.4", r#"{"a":1}"#, r#"[{"op":"move","from":"/a","path":"/a"}]"#, r#"{"a":1}"#),
    ("4.4", r#"{"a":1,"ab":2}"#, r#"[{"op":"move","from":"/a","path":"/ab"}]"#, r#"{"ab":1}"#),
    ("4.4", "{}", r#"[{"op":"move","from":"/a","path":"/b"}]"#, ""),
    ("4.4", "{}", r#"[{"op":"move","path":"/b"}]"#, ""),
    // 4.5
    ("4.5", r#"{"a":[1]}"#, r#"[{"op":"copy","from":"/a","path":"/a/0"}]"#, r#"{"a":[[1],1]}"#),
    ("4.5", "{}", r#"[{"op":"copy","from":"/a","path":"/b"}]"#, ""),
    // 4.6: numbers by value, objects in any order, arrays in theirs.
    ("4.6", "1.0", r#"[{"op":"test","path":"","value":1}]"#, "1.0"),
    (
        "4.6",
        r#"{"a":1,"b":2}"#,
        r#"[{"op":"test","path":"","value":{"b":2,"a":1}}]"#,
        r#"{"a":1,"b":2}"#,
    ),
    ("4.6", "[1,2]", r#"[{"op":"test","path":"","value":[2,1]}]"#, ""),
    ("4.6", "null", r#"[{"op":"test","path":""}]"#, ""),
    // 5: all or nothing.
    (
        "5",
        "[1]",
        r#"[{"op":"add","path":"/-","value":2},{"op":"remove","path":"/0"},{"op":"test","path":"/0","value":1}]"#,
        "",
    ),
    (
        "5",
        r#"{"a":{"b":1}}"#,
        r#"[{"op":"move","from":"/a/b","path":"/c"},{"op":"replace","path":"","value":1},{"op":"oops","path":""}]"#,
        "",
    ),
    ("5", "{}", "[]", "{}"),
    // The shape of a patch.
    ("3", "{}", "{}", ""),
    ("3", "{}", "[1]", ""),
    ("3", "{}", r#"[{"path":"/a","value":1}]"#, ""),
    ("4", "{}", r#"[{"op":"put","path":"/a","value":1}]"#, ""),
    ("4", "{}", r#"[{"op":"add","value":1}]"#, ""),
    // RFC 6901: escapes, empty keys, keys that look like indexes.
    (
        "6901",
        r#"{"a/b":1,"m~n":2,"":3,"0":4}"#,
        r#"[{"op":"test","path":"/a~1b","value":1},{"op":"test","path":"/m~0n","value":2},{"op":"test","path":"/","value":3},{"op":"test","path":"/0","value":4}]"#,
        r#"{"a/b":1,"m~n":2,"":3,"0":4}"#,
    ),
    ("6901", "{}", r#"[{"op":"add","path":"a","value":1}]"#, ""),
    ("6901", "{}", r#"[{"op":"add","path":"/~2","value":1}]"#, ""),
    ("6901", "{}", r#"[{"op":"add","path":"/~","value":1}]"#, ""),
    // Numbers are never read.
    (
        "text",
        r#"{"a":[]}"#,
        r#"[{"op":"add","path":"/a/-","value":1e400},{"op":"copy","from":"/a/0","path":"/b"}]"#,
        r#"{"a":[1e400],"b":1e400}"#,
    ),
];

#[test]
fn examples_and_rules() {
    for (name, document, patch, want) in EXAMPLES.iter().chain(RULES) {
        match applied(document, patch) {
            Ok(got) => {
                assert!(!want.is_empty(), "{name}: {patch} on {document} gives {got}");
                let (got, want) = (Json::parse(&got).unwrap(), Json::parse(want).unwrap());
                assert!(equal(got, want), "{name}: {patch} on {document} gives {got}");
            }
            Err(refused) => assert!(want.is_empty(), "{name}: {patch} on {document}: {refused:?}"),
        }
    }
}

#[test]
fn the_operation_at_fault_is_told() {
    let patch = r#"[{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"}]"#;
    assert_eq!(applied("{}", patch).map_err(|refused| refused.operation), Err(1));
}

/// Copies cost what they copy, and deep pointers are refused: no patch makes more of little.
#[test]
fn bounds() {
    let mut node = Node::from(Json::parse(r#"{"a":"xxxx"}"#).unwrap());
    let patch = r#"[{"op":"copy","from":"","path":"/b"},{"op":"copy","from":"","path":"/c"}]"#;
    let mut left = 30_usize;
    let done = apply(&mut node, Json::parse(patch).unwrap(), &mut |bytes| {
        left.checked_sub(bytes).map(|rest| left = rest).is_some()
    });
    assert_eq!(done.map_err(|refused| refused.operation), Err(1));
    assert_eq!(source(&node), r#"{"a":"xxxx"}"#);
    let deep = format!(r#"[{{"op":"add","path":"{}","value":1}}]"#, "/a".repeat(300));
    assert!(applied("{}", &deep).unwrap_err().expected.contains("256"));
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "0", "1", "-", "", "~0", "~1"]).prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(key(), 0..4)
        .prop_map(|keys| keys.iter().flat_map(|key| ["/", key]).collect())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), (0..3_u8).prop_map(Value::from), Just("x".into())];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn operation() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test"]);
    (name, path(), path(), value()).prop_map(|(op, path, from, value)| {
        serde_json::json!({"op": op, "path": path, "from": from, "value": value})
    })
}

proptest! {
    /// Whatever the patch: it is applied, or the document is as it was ([`applied`] looks).
    #[test]
    fn all_or_nothing(document in value(), patch in prop::collection::vec(operation(), 0..6)) {
        let patch = Value::from(patch).to_string();
        if let Ok(after) = applied(&document.to_string(), &patch) {
            prop_assert!(Json::parse(&after).is_ok());
        }
    }

    /// What is added is found and can be removed again.
    #[test]
    fn added_and_removed(document in value(), at in path(), new in value()) {
        let add = serde_json::json!([{"op": "add", "path": at, "value": new}]).to_string();
        let test = serde_json::json!([{"op": "test", "path": at, "value": new}]).to_string();
        if let Ok(after) = applied(&document.to_string(), &add)
            && !at.ends_with("/-")
        {
            prop_assert!(applied(&after, &test).is_ok(), "{} in {}", at, after);
        }
    }
}
