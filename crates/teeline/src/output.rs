//! The only place that prints. Results go to standard output, everything else to standard error.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write as _},
};

use anyhow::Result;

/// Standard output, buffered. A reader that went away (`teeline list | head`) ends the program quietly.
pub(crate) struct Output {
    to: io::BufWriter<io::StdoutLock<'static>>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { to: io::BufWriter::with_capacity(1 << 16, io::stdout().lock()) }
    }

    /// Writes a line as it is; what came off the wire has to be [`escaped`] before.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        quiet_on_broken_pipe(self.to.write_all(bytes))
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<()> {
        self.bytes(&serde_json::to_vec(value)?)?;
        self.bytes(b"\n")
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        quiet_on_broken_pipe(self.to.flush())
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn quiet_on_broken_pipe(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => Ok(other?),
    }
}

/// Tells the person at the terminal something; goes to standard error.
pub(crate) fn say(text: &str) {
    // Nothing can be done where standard error is closed, and the work goes on.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// What came off the wire, safe to print: control and direction characters are shown as `\u{…}`, so that a
/// stream can neither move the cursor nor reorder the text around it. Line feeds and tabs stay.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\n' || c == '\t')
}

/// As [`escaped`], for a text that has to stay on one line.
pub(crate) fn escaped_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hostile(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_hostile(c) || keep(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

/// Controls (C0, DEL, C1), line and paragraph separators, and the marks that change direction.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_the_wire_reaches_the_terminal_raw() {
        for (raw, shown) in [
            ("plain 好\n\tx", "plain 好\n\tx"),
            ("\u{1b}[31mred\u{7}", "\\u{1b}[31mred\\u{7}"),
            ("a\rb", "a\\rb"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("abc\u{202e}fed", "abc\\u{202e}fed"),
        ] {
            assert_eq!(escaped(raw), shown);
        }
        assert_eq!(escaped_line("a\n\tb"), "a\\n\\tb");
    }
}
