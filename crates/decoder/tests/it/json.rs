//! The grammar of RFC 8259, against the RFC's own statements and against `serde_json` as a second reader.

use proptest::prelude::*;
use serde_json::value::RawValue;
use teeline_decoder::json::{self, check};

/// Whether the other reader takes it. It steps over values without building them, as ours does.
fn other_reads(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

const JSON: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-0.0",
    "10",
    "1.5",
    "1e5",
    "1E+5",
    "1e-05",
    "0e0",
    "\"\"",
    "\"é🚀\"",
    "[]",
    "{}",
    " [ ] ",
    "\t{\"a\" : [1 , {\"b\" : null}]}\r\n",
    "[[],{},[{}]]",
    "{\"a\":1,\"a\":2}",
    "{\"\":0}",
    r#""\"\\\/\b\f\n\r\t\u00e9\uD83D""#,
    r#""\ud83d\ude00""#,
    "\"\u{7f}\u{2028}\u{fffd}\"",
    "1e999999",
    "123456789012345678901234567890.5",
    "-1E-999999999999999999999",
];

const NOT_JSON: &[(&str, &str)] = &[
    ("", "it ends at byte 0 where a value is due"),
    ("  ", "it ends at byte 2 where a value is due"),
    ("[DONE]", "a value or `]` is due at byte 1, not `D`"),
    ("{'a':1}", "a name or `}` is due at byte 1, not `'`"),
    ("{\"a\":1,}", "a name is due at byte 7, not `}`"),
    ("{\"a\" 1}", "`:` is due at byte 5, not `1`"),
    ("{\"a\":1 \"b\":2}", "`,` or `}` is due at byte 7, not `\"`"),
    ("{\"a\"", "it ends at byte 4 where `:` is due"),
    ("{\"a\":", "it ends at byte 5 where a value is due"),
    ("{\"a\":1", "it ends at byte 6 where `,` or `}` is due"),
    ("{", "it ends at byte 1 where a name or `}` is due"),
    ("{\"a\":1,", "it ends at byte 7 where a name is due"),
    ("[1,]", "a value is due at byte 3, not `]`"),
    ("[1 2]", "`,` or `]` is due at byte 3, not `2`"),
    ("[1}", "`,` or `]` is due at byte 2, not `}`"),
    ("{\"a\":1]", "`,` or `}` is due at byte 6, not `]`"),
    ("[1", "it ends at byte 2 where `,` or `]` is due"),
    ("1 2", "the end is due at byte 2, not `2`"),
    ("{}]", "the end is due at byte 2, not `]`"),
    ("\"a", "it ends at byte 2 where a character of the string or its closing quote is due"),
    (
        "\"a\nb\"",
        "a character of the string or its closing quote is due at byte 2, not a line feed",
    ),
    (
        "\"\r\"",
        "a character of the string or its closing quote is due at byte 1, not a carriage return",
    ),
    ("\"\t\"", "a character of the string or its closing quote is due at byte 1, not a tab"),
    (
        "\"\0\"",
        "a character of the string or its closing quote is due at byte 1, not the control character U+0000",
    ),
    ("\"\\x\"", "an escape such as `n` or `u` is due at byte 2, not `x`"),
    ("\"\\", "it ends at byte 2 where an escape such as `n` or `u` is due"),
    ("\"\\u12g4\"", "a hexadecimal digit is due at byte 5, not `g`"),
    ("\"\\u123", "it ends at byte 6 where a hexadecimal digit is due"),
    ("01", "the end is due at byte 1, not `1`"),
    ("-01", "the end is due at byte 2, not `1`"),
    ("-", "it ends at byte 1 where a digit is due"),
    ("+1", "a value is due at byte 0, not `+`"),
    (".5", "a value is due at byte 0, not `.`"),
    ("1.", "it ends at byte 2 where a digit is due"),
    ("1.e5", "a digit is due at byte 2, not `e`"),
    ("1e", "it ends at byte 2 where a digit is due"),
    ("1e+", "it ends at byte 3 where a digit is due"),
    ("1e+x", "a digit is due at byte 3, not `x`"),
    ("[-]", "a digit is due at byte 2, not `]`"),
    ("tru", "it ends at byte 3 inside `true`"),
    ("trux", "`true` is broken at byte 3 by `x`"),
    ("nulll", "the end is due at byte 4, not `l`"),
    ("NaN", "a value is due at byte 0, not `N`"),
    ("\u{feff}1", "a value is due at byte 0, not a character outside ASCII"),
    ("\u{a0}1", "a value is due at byte 0, not a character outside ASCII"),
    ("1\u{c}", "the end is due at byte 1, not the control character U+000C"),
    ("\u{7f}", "a value is due at byte 0, not the control character U+007F"),
];

#[test]
fn what_is_json() {
    for text in JSON {
        assert_eq!(check(text), Ok(()), "{text:?}");
        assert!(other_reads(text), "{text:?}");
    }
}

#[test]
fn what_is_not() {
    for (text, sentence) in NOT_JSON {
        let error = check(text).expect_err(text);
        assert_eq!(error.to_string(), *sentence, "{text:?}");
        assert_eq!(error.is_incomplete(), sentence.starts_with("it ends"), "{text:?}");
        assert!(sentence.contains(&format!("byte {}", error.offset)), "{text:?}");
        assert!(!other_reads(text), "{text:?}");
    }
}

/// Nesting is bounded by nothing but the text; nothing recurses.
#[test]
fn deep_nesting() {
    const DEPTH: usize = 1_000_000;
    let arrays = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    let mixed = "[{\"a\":".repeat(DEPTH) + "0" + &"}]".repeat(DEPTH);
    for text in [&arrays, &mixed] {
        assert_eq!(check(text), Ok(()));
        assert!(other_reads(text));
        assert!(check(&text[..text.len() - 1]).expect_err("cut").is_incomplete());
        assert!(!check(&format!("{text}]")).expect_err("one too many").is_incomplete());
    }
    let crossed = "[{\"a\":".repeat(9) + "0" + &"}]".repeat(4) + "]" + &"}]".repeat(5);
    assert!(check(&crossed).is_err());
}

/// Texts that are nearly JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        "[\\[\\]{},:\" \\\\\n]",
        prop_oneof!["0|-|1|\\.|e|E|\\+|tru|true|null|nul|\\\\u12ab|\\\\u|\"a\"|\"\":|é|🚀", "\\PC"],
    ];
    proptest::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn two_readers_agree(text in nearly_json()) {
        prop_assert_eq!(check(&text).is_ok(), other_reads(&text), "{:?}", text);
    }
}

proptest! {
    /// A text that ends too early can be continued, one that is broken cannot.
    #[test]
    fn incomplete_means_that_it_could_go_on(text in nearly_json()) {
        for (at, _) in text.char_indices() {
            let (start, rest) = text.split_at(at);
            if let Err(error) = check(start) && !error.is_incomplete() {
                prop_assert_eq!(check(&text), Err(error), "{:?} {:?}", start, rest);
            }
        }
    }
}

/// The error can be passed on like any other.
#[test]
fn an_error_like_others() {
    let error: Box<dyn std::error::Error + Send + Sync> =
        Box::new(json::check("x").expect_err("no JSON"));
    assert!(error.source().is_none());
}
