//! Whether two JSON values say the same, however they are written.

use crate::json::Json;

/// Below this depth values are compared as they are written.
const DEPTH: u8 = 64;

/// Equal apart from white space, the order of members and the way strings and fractions are written.
pub(crate) fn equal(a: Json<'_>, b: Json<'_>) -> bool {
    equal_at(a, b, 0)
}

fn equal_at(a: Json<'_>, b: Json<'_>, depth: u8) -> bool {
    if a == b {
        return true;
    }
    if depth == DEPTH {
        return a.compact() == b.compact();
    }
    if let (Some(a), Some(b)) = (a.object(), b.object()) {
        let same = |(key, value)| b.get(key).is_some_and(|other| equal_at(value, other, depth + 1));
        return a.len() == b.len() && a.iter().all(same);
    }
    if let (Some(a), Some(b)) = (a.items(), b.items()) {
        let mut pairs = a.iter().zip(&b);
        return a.len() == b.len() && pairs.all(|(a, b)| equal_at(*a, *b, depth + 1));
    }
    match (a.text(), b.text()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => equal_numbers(a, b),
        _ => false,
    }
}

/// `1.0` is `1`, but whole numbers differ by each of their digits, however many these are.
fn equal_numbers(a: Json<'_>, b: Json<'_>) -> bool {
    let is_whole = |number: Json<'_>| !number.raw().contains(['.', 'e', 'E']);
    if !a.is_number() || !b.is_number() || (is_whole(a) && is_whole(b)) {
        return false;
    }
    let value = |number: Json<'_>| number.raw().parse::<f64>().ok();
    value(a).zip(value(b)).is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_not_spellings() {
        for (a, b, want) in [
            (r#"{"a":1,"b":[2]}"#, r#"{ "b" : [2], "a":1 }"#, true),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
            (r#"{"a":1,"b":2}"#, r#"{"a":1,"c":2}"#, false),
            ("[1,2]", "[2,1]", false),
            (r#""\u0061""#, r#""a""#, true),
            ("1.0", "1", true),
            ("1e2", "100", true),
            ("12345678901234567890", "12345678901234567891", false),
            ("1", "\"1\"", false),
            ("null", "false", false),
            ("[]", "{}", false),
        ] {
            let (a, b) = (Json::parse(a).unwrap(), Json::parse(b).unwrap());
            assert_eq!((equal(a, b), equal(b, a)), (want, want), "{a} {b}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(50_000), "]".repeat(50_000));
        let (one, two) = (deep("1"), deep(" 1"));
        assert!(equal(Json::parse(&one).unwrap(), Json::parse(&two).unwrap()));
    }
}
