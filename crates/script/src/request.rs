//! A request as it came.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use crate::body::Framing;

/// A head may have so many bytes; a longer one closes the connection.
pub(crate) const HEAD_LIMIT: usize = 1 << 20;

/// A request: its raw head, its parts, and what was read of its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Which connection it came on, counted from 0 in the order of acceptance.
    pub connection: u64,
    /// Its number among all requests of this upstream, from 0.
    pub number: u64,
    /// The head exactly as it came, with the blank line.
    pub head: Bytes,
    /// From the request line.
    pub method: String,
    /// From the request line, untouched.
    pub target: String,
    /// From the request line, like `HTTP/1.1`.
    pub version: String,
    /// Names in their own letter case, in order; bytes that are no UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// The body without its framing, as far as it was read and kept.
    pub body: Bytes,
    /// Bytes of the body that were read, kept or not.
    pub body_length: u64,
    /// Whether the body was read to its end.
    pub body_whole: bool,
    /// The trailers of a chunked body.
    pub trailers: Vec<(String, String)>,
    /// HTTP/2: the code by which the client reset the stream; `u32::MAX` where its connection went.
    pub reset: Option<u32>,
}

impl Request {
    /// Reads a head that ends with a blank line. What does not look like HTTP gives empty parts:
    /// the raw head is kept either way.
    pub(crate) fn parse(head: Bytes) -> Self {
        let text = String::from_utf8_lossy(&head).into_owned();
        let mut lines = text.lines();
        let mut words = lines.next().unwrap_or_default().splitn(3, ' ').map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        let (method, target, version) = (word(), word(), word());
        let headers = fields(lines);
        Self { head, method, target, version, headers, ..Self::default() }
    }

    /// The first header of this name, in any letter case.
    ///
    /// ```
    /// # use teeline_script::Request;
    /// let headers = vec![("Content-Type".into(), "application/json".into())];
    /// let request = Request { headers, ..Request::default() };
    /// assert_eq!(request.header("content-type"), Some("application/json"));
    /// assert_eq!(request.header("accept"), None);
    /// ```
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }

    /// How the body is framed (RFC 9112, section 6.3).
    pub(crate) fn framing(&self) -> Framing {
        if self
            .header("transfer-encoding")
            .is_some_and(|value| value.trim_end().ends_with("chunked"))
        {
            return Framing::chunked();
        }
        let length = self.header("content-length").and_then(|value| value.trim().parse().ok());
        Framing::Length(length.unwrap_or(0))
    }

    pub(crate) fn expects_continue(&self) -> bool {
        self.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    }
}

/// Header lines up to the blank one.
pub(crate) fn fields<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

/// Where the first head in `buffer` is, blank line included. Blank lines before it are skipped
/// (RFC 9112, section 2.2).
pub(crate) fn find_head(buffer: &[u8]) -> Option<Range<usize>> {
    let start = buffer.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let rest = buffer.get(start..)?;
    let end = [&b"\r\n\r\n"[..], b"\n\n"]
        .iter()
        .filter_map(|blank| memmem::find(rest, blank).map(|at| at + blank.len()))
        .min()?;
    Some(start..start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_keeps_case_order_and_duplicates() {
        let head =
            Bytes::from_static(b"POST //a%2Fb?x HTTP/1.1\r\nHOST: h\r\nx-b:  2 \r\nX-B: 3\r\n\r\n");
        let request = Request::parse(head.clone());
        assert_eq!(request.head, head);
        assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "//a%2Fb?x"));
        assert_eq!(request.version, "HTTP/1.1");
        let headers: Vec<_> =
            request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(headers, [("HOST", "h"), ("x-b", "2"), ("X-B", "3")]);
    }

    #[test]
    fn a_head_ends_at_its_blank_line() {
        let table: &[(&[u8], Option<Range<usize>>)] = &[
            (b"", None),
            (b"\r\n", None),
            (b"GET / HTTP/1.1\r\n\r", None),
            (b"GET / HTTP/1.1\r\n\r\nrest", Some(0..18)),
            (b"\r\nGET / HTTP/1.1\r\n\r\n", Some(2..20)),
            (b"GET / HTTP/1.1\n\nrest\r\n\r\n", Some(0..16)),
        ];
        for (bytes, expected) in table {
            assert_eq!(&find_head(bytes), expected, "{:?}", bytes.escape_ascii().to_string());
        }
    }
}
