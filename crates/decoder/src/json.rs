//! JSON by the grammar of RFC 8259, read in pieces and without recursion.
//!
//! Only the form is judged: numbers may be of any size, `\ud83d` may stand alone, names may repeat and
//! nesting may be as deep as the text is long. Whoever wants values parses the text afterwards.
//!
//! ```
//! use teeline_decoder::json;
//!
//! assert!(json::check(r#"{"a":[1e999,"\ud83d"]}"#).is_ok());
//! let error = json::check(r#"{"a":1,}"#).unwrap_err();
//! assert_eq!(error.to_string(), "a name is due at byte 7, not `}`");
//! assert!(json::check(r#"{"a":"#).unwrap_err().is_incomplete());
//! ```

use std::fmt;

/// Whether `text` is one JSON value, white space around it allowed.
///
/// # Errors
/// The first fault, with its place.
pub fn check(text: &str) -> Result<(), JsonError> {
    let mut scanner = Scanner::new();
    scanner.feed(text.as_bytes())?;
    scanner.finish()
}

/// Why a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Bytes of the text before the fault.
    pub offset: u64,
    /// What was due there.
    due: Due,
    /// The byte that came, `None` at the end of the text.
    found: Option<u8>,
}

impl JsonError {
    /// The text ends too early; up to there it is well formed.
    pub fn is_incomplete(&self) -> bool {
        self.found.is_none()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let due = match self.due {
            Due::Value => "a value",
            Due::Name => "a name",
            Due::NameOrEnd => "a name or `}`",
            Due::ValueOrEnd => "a value or `]`",
            Due::Colon => "`:`",
            Due::CommaOrBrace => "`,` or `}`",
            Due::CommaOrBracket => "`,` or `]`",
            Due::End => "the end",
            Due::Character => "a character of the string or its closing quote",
            Due::Escape => "an escape such as `n` or `u`",
            Due::HexDigit => "a hexadecimal digit",
            Due::Digit => "a digit",
            Due::Word(word) => return self.word(word, f),
        };
        match self.found {
            None => write!(f, "it ends at byte {} where {due} is due", self.offset),
            Some(byte) => write!(f, "{due} is due at byte {}, not {}", self.offset, Shown(byte)),
        }
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    fn word(&self, word: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.found {
            None => write!(f, "it ends at byte {} inside `{word}`", self.offset),
            Some(byte) => {
                write!(f, "`{word}` is broken at byte {} by {}", self.offset, Shown(byte))
            }
        }
    }
}

/// A byte as a sentence names it.
struct Shown(u8);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte @ 0x20..=0x7e => write!(f, "`{}`", char::from(byte)),
            b'\n' => f.write_str("a line feed"),
            b'\r' => f.write_str("a carriage return"),
            b'\t' => f.write_str("a tab"),
            byte @ (0..0x20 | 0x7f) => write!(f, "the control character U+{byte:04X}"),
            _ => f.write_str("a character outside ASCII"),
        }
    }
}

/// What the grammar wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Value,
    Name,
    NameOrEnd,
    ValueOrEnd,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    End,
    Character,
    Escape,
    HexDigit,
    Digit,
    Word(&'static str),
}

/// Where in the grammar the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between tokens.
    Between(Due),
    /// In a string; `name` if it names a member.
    Text { name: bool },
    /// Behind a backslash.
    Escape { name: bool },
    /// Behind `\u`, with `left` digits to come.
    Hex { name: bool, left: u8 },
    /// In `true`, `false` or `null`, `read` bytes of it.
    Word { word: &'static str, read: usize },
    /// In a number.
    Number(Number),
}

/// Where in a number the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// Behind the minus sign.
    Minus,
    /// Behind a leading zero, which no digit may follow.
    Zero,
    /// In the digits before the point.
    Integer,
    /// Behind the point.
    Point,
    /// In the digits behind the point.
    Fraction,
    /// Behind `e`.
    Exponent,
    /// Behind the exponent's sign.
    Sign,
    /// In the exponent's digits.
    Power,
}

/// A reader of one JSON value that comes in pieces.
///
/// Holds one bit for each level of nesting and nothing of the text.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    state: State,
    nesting: Nesting,
    read: u64,
}

impl Scanner {
    pub(crate) const fn new() -> Self {
        Self { state: State::Between(Due::Value), nesting: Nesting::new(), read: 0 }
    }

    /// Reads on. After an error nothing more may be fed.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), JsonError> {
        let mut rest = bytes;
        loop {
            if let State::Text { .. } = self.state {
                // Most bytes are inside strings: run over them.
                let plain = rest.iter().take_while(|byte| is_plain(**byte)).count();
                self.read += plain as u64;
                rest = &rest[plain..];
            }
            let Some((&byte, behind)) = rest.split_first() else { return Ok(()) };
            self.step(byte)?;
            rest = behind;
        }
    }

    /// Whether a whole value was read. A number at the top may still grow.
    pub(crate) fn is_complete(&self) -> bool {
        self.finish().is_ok()
    }

    /// Ends the text.
    pub(crate) fn finish(&self) -> Result<(), JsonError> {
        match self.due() {
            Due::End => Ok(()),
            due => Err(JsonError { offset: self.read, due, found: None }),
        }
    }

    fn step(&mut self, byte: u8) -> Result<(), JsonError> {
        self.state = match self.state {
            State::Between(due) => self.between(due, byte),
            State::Text { name } => self.text(name, byte),
            State::Escape { name } => match byte {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                    Some(State::Text { name })
                }
                b'u' => Some(State::Hex { name, left: 4 }),
                _ => None,
            },
            State::Hex { name, left } if byte.is_ascii_hexdigit() => Some(if left == 1 {
                State::Text { name }
            } else {
                State::Hex { name, left: left - 1 }
            }),
            State::Hex { .. } => None,
            State::Word { word, read } => match word.as_bytes().get(read) {
                Some(&due) if due == byte && read + 1 == word.len() => Some(self.after_value()),
                Some(&due) if due == byte => Some(State::Word { word, read: read + 1 }),
                _ => None,
            },
            State::Number(number) => match number.next(byte) {
                Some(next) => Some(State::Number(next)),
                // What ends a number belongs to what is around it.
                None if number.may_end() => {
                    self.state = self.after_value();
                    return self.step(byte);
                }
                None => None,
            },
        }
        .ok_or(JsonError { offset: self.read, due: self.due(), found: Some(byte) })?;
        self.read += 1;
        Ok(())
    }

    fn between(&mut self, due: Due, byte: u8) -> Option<State> {
        match (due, byte) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => Some(State::Between(due)),
            (Due::Name | Due::NameOrEnd, b'"') => Some(State::Text { name: true }),
            (Due::Colon, b':') | (Due::CommaOrBracket, b',') => Some(State::Between(Due::Value)),
            (Due::CommaOrBrace, b',') => Some(State::Between(Due::Name)),
            (Due::NameOrEnd | Due::CommaOrBrace, b'}')
            | (Due::ValueOrEnd | Due::CommaOrBracket, b']') => {
                self.nesting.pop();
                Some(self.after_value())
            }
            (Due::Value | Due::ValueOrEnd, _) => self.value(byte),
            _ => None,
        }
    }

    fn value(&mut self, byte: u8) -> Option<State> {
        Some(match byte {
            b'"' => State::Text { name: false },
            b'{' => {
                self.nesting.push(true);
                State::Between(Due::NameOrEnd)
            }
            b'[' => {
                self.nesting.push(false);
                State::Between(Due::ValueOrEnd)
            }
            b't' => State::Word { word: "true", read: 1 },
            b'f' => State::Word { word: "false", read: 1 },
            b'n' => State::Word { word: "null", read: 1 },
            b'-' => State::Number(Number::Minus),
            b'0' => State::Number(Number::Zero),
            b'1'..=b'9' => State::Number(Number::Integer),
            _ => return None,
        })
    }

    fn text(&self, name: bool, byte: u8) -> Option<State> {
        match byte {
            b'"' if name => Some(State::Between(Due::Colon)),
            b'"' => Some(self.after_value()),
            b'\\' => Some(State::Escape { name }),
            0..0x20 => None,
            _ => Some(State::Text { name }),
        }
    }

    fn after_value(&self) -> State {
        State::Between(self.due_after_value())
    }

    fn due_after_value(&self) -> Due {
        match self.nesting.top() {
            Some(true) => Due::CommaOrBrace,
            Some(false) => Due::CommaOrBracket,
            None => Due::End,
        }
    }

    fn due(&self) -> Due {
        match self.state {
            State::Between(due) => due,
            State::Text { .. } => Due::Character,
            State::Escape { .. } => Due::Escape,
            State::Hex { .. } => Due::HexDigit,
            State::Word { word, .. } => Due::Word(word),
            State::Number(number) if !number.may_end() => Due::Digit,
            // The number may be over, and then what is around it goes on.
            State::Number(_) => self.due_after_value(),
        }
    }
}

/// A byte of a string that changes nothing.
const fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

impl Number {
    const fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::Power)
    }

    const fn next(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Minus, b'0') => Self::Zero,
            (Self::Minus, b'1'..=b'9') | (Self::Integer, b'0'..=b'9') => Self::Integer,
            (Self::Zero | Self::Integer, b'.') => Self::Point,
            (Self::Point | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Self::Exponent,
            (Self::Exponent, b'+' | b'-') => Self::Sign,
            (Self::Exponent | Self::Sign | Self::Power, b'0'..=b'9') => Self::Power,
            _ => return None,
        })
    }
}

/// A stack of bits: for each open level whether it is an object.
#[derive(Clone, Debug)]
struct Nesting {
    bits: Vec<u8>,
    depth: usize,
}

impl Nesting {
    const fn new() -> Self {
        Self { bits: Vec::new(), depth: 0 }
    }

    fn push(&mut self, object: bool) {
        let (byte, mask) = (self.depth / 8, 1 << (self.depth % 8));
        if byte == self.bits.len() {
            self.bits.push(0);
        }
        if let Some(bits) = self.bits.get_mut(byte) {
            *bits = if object { *bits | mask } else { *bits & !mask };
        }
        self.depth += 1;
    }

    const fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn top(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        Some(self.bits.get(at / 8)? & (1 << (at % 8)) != 0)
    }
}
