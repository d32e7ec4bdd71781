//! JSON with unpaired surrogate halves, which `serde_json` refuses and both sides write.

use serde_json::Value;

/// Parses a document; an unpaired `\udXXX` becomes these six characters.
pub fn parse(source: &str) -> Value {
    serde_json::from_str(source)
        .or_else(|_| serde_json::from_str(&halves_as_text(source)))
        .unwrap_or_else(|error| panic!("no JSON ({error}): {source}"))
}

fn halves_as_text(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match unit(rest) {
            Some(0xD800..=0xDBFF)
                if unit(&rest[6..]).is_some_and(|low| (0xDC00..=0xDFFF).contains(&low)) =>
            {
                12
            }
            Some(0xD800..=0xDFFF) => {
                text.push('\\');
                6
            }
            Some(_) => 6,
            // A backslash and what it escapes, which is ASCII in JSON.
            None => 2,
        };
        text.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    text + rest
}

/// The UTF-16 unit of a `\uXXXX` at the beginning.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn pairs_stay_and_halves_are_shown() {
        assert_eq!(parse(r#""\ud83d\ude00\\ud83d""#), "😀\\ud83d");
        assert_eq!(parse(r#""a\ud83db\n\udE00""#), "a\\ud83db\n\\udE00");
        assert_eq!(parse(r#""\ud83d\ud83d\ude00""#), "\\ud83d😀");
    }
}
