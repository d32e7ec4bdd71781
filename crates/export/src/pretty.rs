//! JSON with line breaks, every token as it was.
//!
//! `serde_json`'s own pretty printer would need a parsed value, and parsing loses the source text of numbers and
//! lone surrogate escapes.

/// Indents well-formed JSON by two spaces. Empty objects and arrays stay on one line.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut characters = json.chars().peekable();
    let mut in_string = false;
    let mut escaped = false;
    while let Some(c) = characters.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(close) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_stay_as_they_were() {
        let json = r#"{"a":[1.0e400,{}],"s":"x\"{,:\\","e":[ ],"u":"\ud83d"}"#;
        let shown = "{\n  \"a\": [\n    1.0e400,\n    {}\n  ],\n  \"s\": \"x\\\"{,:\\\\\",\n  \"e\": [],\n  \"u\": \"\\ud83d\"\n}";
        assert_eq!(pretty(json), shown);
        // What is already indented comes out the same.
        assert_eq!(pretty(shown), shown);
    }
}
