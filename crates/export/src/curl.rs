//! A command that repeats the request; redacted secrets become shell variables.

use std::fmt::Write as _;

use teeline_capture::Exchange;

/// Headers that curl makes itself, or that are about this hop or another coding of the body.
const LEFT_OUT: &[&str] = &[
    "host",
    "content-length",
    "content-encoding",
    "connection",
    "accept-encoding",
    "transfer-encoding",
    "expect",
];

/// What stands in place of a secret in a header, up to its length and tag.
const REDACTED: &str = "[redacted ";

/// What stands in place of a secret in a URL.
const REDACTED_IN_URL: &str = "REDACTED-";

/// The command, ending with a line end.
pub(crate) fn command(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let mut command = String::new();
    let websocket = exchange.is_websocket();
    if request.body_truncated && !websocket {
        command.push_str("# The body below is not whole: it was longer than what is kept.\n");
    }
    // `-N`: a stream is shown as it comes.
    let _ = write!(command, "curl -N {}", quoted_url(&request.url));
    // What the app said after the switch is no body.
    let body = if websocket { "" } else { request.body.as_str() };
    let implied = if body.is_empty() { "GET" } else { "POST" };
    if websocket {
        command.push_str(" --http1.1");
    }
    if request.method != implied {
        let _ = write!(command, " \\\n  -X {}", quoted(&request.method));
    }
    for (name, value) in &request.headers {
        let name_in_lower_case = name.to_ascii_lowercase();
        let upgrade = websocket && name_in_lower_case == "connection";
        if upgrade || !LEFT_OUT.contains(&name_in_lower_case.as_str()) {
            let header = quoted_header(name, value, &exchange.summary.upstream);
            let _ = write!(command, " \\\n  -H {header}");
        }
    }
    if !body.is_empty() {
        let _ = write!(command, " \\\n  --data-raw {}", quoted(body));
    }
    command.push('\n');
    command
}

/// A word for the shell that stands for itself.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Text in which everything between `start` and `end` is a secret: it becomes the variable.
fn quoted_with_variables(
    text: &str,
    start: &str,
    end: impl Fn(char) -> bool,
    inclusive: bool,
    variable: &str,
) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(start) {
        out.push_str(&if before.is_empty() { String::new() } else { quoted(before) });
        let _ = write!(out, "\"${variable}\"");
        let close = behind.find(&end).unwrap_or(behind.len());
        let skip = if inclusive {
            behind.get(close..).and_then(|tail| tail.chars().next()).map_or(0, char::len_utf8)
        } else {
            0
        };
        rest = behind.get(close + skip..).unwrap_or_default();
    }
    if !rest.is_empty() || out.is_empty() {
        out.push_str(&quoted(rest));
    }
    out
}

fn quoted_header(name: &str, value: &str, upstream: &str) -> String {
    let variable = match name.to_ascii_lowercase().as_str() {
        "authorization" | "x-api-key" | "api-key" | "x-goog-api-key" => {
            format!("{}_API_KEY", shell_name(upstream))
        }
        other => shell_name(other),
    };
    quoted_with_variables(&format!("{name}: {value}"), REDACTED, |c| c == ']', true, &variable)
}

fn quoted_url(url: &str) -> String {
    quoted_with_variables(
        url,
        REDACTED_IN_URL,
        |c: char| !c.is_ascii_alphanumeric() && c != '-',
        false,
        "API_KEY",
    )
}

/// A name that a shell variable may have.
fn shell_name(text: &str) -> String {
    let mut name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_become_variables_and_the_rest_stays_literal() {
        for (name, value, expected) in [
            (
                "Authorization",
                "Bearer [redacted 51 bytes, a1b2c3d4]",
                r#"'Authorization: Bearer '"$OPENAI_API_KEY""#,
            ),
            ("Cookie", "[redacted 9 bytes, a1b2c3d4]", r#"'Cookie: '"$COOKIE""#),
            ("X-It", "it's $HOME `x`", r"'X-It: it'\''s $HOME `x`'"),
        ] {
            assert_eq!(quoted_header(name, value, "openai"), expected);
        }
        assert_eq!(
            quoted_url("https://h/p?key=REDACTED-39-bytes-a1b2c3d4&x=1"),
            r#"'https://h/p?key='"$API_KEY"'&x=1'"#
        );
        assert_eq!(shell_name("my-gateway.2"), "MY_GATEWAY_2");
    }
}
