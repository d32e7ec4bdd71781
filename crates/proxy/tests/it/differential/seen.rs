//! What the two sides of a script see, in a form that can be compared.

use std::{fmt, io};

/// What app and upstream saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) answers: Vec<Answer>,
    pub(crate) asked: Vec<Asked>,
}

/// One answer as the app got it, its framing undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status line; as far as it came.
    pub(crate) status: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// What stands behind the sizes of chunks.
    pub(crate) extensions: String,
    pub(crate) trailers: Vec<(String, String)>,
    pub(crate) end: End,
}

/// The class of an ending: what an HTTP library tells its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By its own mark.
    Whole,
    /// By the end of the connection, where nothing else marks it.
    Close,
    /// Before its end.
    Broken,
}

/// Bytes that are shown as text, and in length only where they are many.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0..200 => write!(f, "\"{}\"", self.0.escape_ascii()),
            length => write!(f, "{length} bytes"),
        }
    }
}

/// One request as the upstream got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Bytes,
    pub(crate) length: u64,
    pub(crate) whole: bool,
    pub(crate) trailers: Vec<(String, String)>,
}

impl Asked {
    pub(crate) fn of(request: teeline_script::Request, host: &str) -> Self {
        Self {
            head: String::from_utf8_lossy(&request.head).replace(host, "{host}"),
            body: Bytes(request.body.to_vec()),
            length: request.body_length,
            whole: request.body_whole,
            trailers: request.trailers,
        }
    }
}

impl Seen {
    /// `sent`: the requests, which say whose answers have no body. `error`: how reading ended.
    pub(crate) fn parse(
        sent: &str,
        mut read: &[u8],
        error: Option<io::ErrorKind>,
        asked: Vec<Asked>,
    ) -> Self {
        let methods: Vec<&str> = sent
            .lines()
            .filter(|line| line.contains(" HTTP/1."))
            .map(|line| line.split(' ').next().unwrap_or_default())
            .collect();
        let (mut answers, mut number) = (Vec::new(), 0);
        while !read.is_empty() {
            let method = methods.get(number).copied().unwrap_or_default();
            let (answer, rest) = Answer::parse(read, method, error.is_some());
            read = rest;
            number += usize::from(!answer.status.contains(" 1"));
            answers.push(answer);
        }
        Self { answers, asked }
    }
}

impl Answer {
    /// An answer of teeline's own, of which only the kind is compared.
    pub(crate) fn own(status: &str, kind: &str) -> Self {
        Self {
            status: format!("HTTP/1.1 {status}"),
            headers: vec![("x-teeline-error".to_owned(), kind.to_owned())],
            body: Bytes(Vec::new()),
            extensions: String::new(),
            trailers: Vec::new(),
            end: End::Whole,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }

    fn parse<'a>(read: &'a [u8], method: &str, failed: bool) -> (Self, &'a [u8]) {
        let end = read.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, rest) = read.split_at(end.map_or(read.len(), |end| end + 4));
        let head: String = head.iter().copied().map(char::from).collect();
        let mut lines = head.lines();
        let mut answer = Self {
            status: lines.next().unwrap_or_default().to_owned(),
            headers: fields(lines),
            body: Bytes(Vec::new()),
            extensions: String::new(),
            trailers: Vec::new(),
            end: End::Broken,
        };
        if end.is_none() {
            return (answer, &[]);
        }
        let rest = answer.take_body(rest, method, failed);
        if let Some(kind) = answer.header("x-teeline-error") {
            let status = answer.status.trim_start_matches("HTTP/1.1 ").to_owned();
            answer = Self::own(&status, kind);
        }
        (answer, rest)
    }

    fn take_body<'a>(&mut self, mut rest: &'a [u8], method: &str, failed: bool) -> &'a [u8] {
        let code = self.status.split(' ').nth(1).unwrap_or_default();
        let none = method == "HEAD" || code.starts_with('1') || ["204", "304"].contains(&code);
        let length = self.header("content-length").and_then(|value| value.parse::<usize>().ok());
        if none {
            self.end = End::Whole;
        } else if self.header("transfer-encoding") == Some("chunked") {
            rest = self.take_chunks(rest);
        } else if let Some(length) = length {
            let (body, after) = rest.split_at(length.min(rest.len()));
            self.body.0.extend_from_slice(body);
            self.end = if body.len() == length { End::Whole } else { End::Broken };
            rest = after;
        } else {
            self.body.0.extend_from_slice(rest);
            self.end = if failed { End::Broken } else { End::Close };
            rest = &[];
        }
        rest
    }

    fn take_chunks<'a>(&mut self, mut rest: &'a [u8]) -> &'a [u8] {
        loop {
            let Some(at) = rest.windows(2).position(|window| window == b"\r\n") else { return &[] };
            let line = std::str::from_utf8(&rest[..at]).unwrap_or_default();
            let (size, extension) = line.split_at(line.find(';').unwrap_or(line.len()));
            let Ok(size) = usize::from_str_radix(size.trim(), 16) else { return &[] };
            self.extensions.push_str(extension);
            rest = &rest[at + 2..];
            if size == 0 {
                let end = rest.windows(4).position(|window| window == b"\r\n\r\n");
                let (trailers, after) = match (rest, end) {
                    ([b'\r', b'\n', after @ ..], _) => (&[][..], after),
                    (_, Some(end)) => rest.split_at(end + 4),
                    (_, None) => return &[],
                };
                self.trailers = fields(String::from_utf8_lossy(trailers).lines());
                self.end = End::Whole;
                return after;
            }
            self.body.0.extend_from_slice(&rest[..size.min(rest.len())]);
            rest = rest.get(size + 2..).unwrap_or_default();
        }
    }
}

fn fields<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    let pairs = lines.filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}
