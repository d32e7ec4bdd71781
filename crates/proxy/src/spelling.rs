//! Heads as they were spelled.
//!
//! hyper gives names in lower case and puts equal ones together; it keeps the original spelling to
//! itself, for writing. The capture shows what was sent, so the bytes of each head are kept on their
//! way to hyper. Where they cannot be told for sure (pipelined requests with bodies, heads above
//! 64 KiB) the capture has hyper's form, which means the same.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use memchr::memmem;

/// No more of a head is kept.
const LIMIT: usize = 64 << 10;

/// Keeps the bytes that come while a head is expected.
#[derive(Debug, Default)]
pub(crate) struct HeadWatch {
    expecting: bool,
    bytes: Vec<u8>,
    /// More came than is kept.
    full: bool,
}

impl HeadWatch {
    /// A head comes next.
    pub(crate) fn expect(&mut self) {
        *self = Self { expecting: true, ..Self::default() };
    }

    /// Bytes came.
    pub(crate) fn saw(&mut self, bytes: &[u8]) {
        if !self.expecting {
            return;
        }
        let room = LIMIT - self.bytes.len();
        self.full |= room < bytes.len();
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// The first head, if it is there whole. What follows is kept, as the beginning of the next one.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let end = memmem::find(&self.bytes, b"\r\n\r\n")? + 4;
        let rest = self.bytes.split_off(end);
        let head = std::mem::replace(&mut self.bytes, rest);
        if self.full {
            self.stop();
        }
        Some(head)
    }

    /// A head comes next; what was taken in already is its beginning.
    pub(crate) fn go_on(&mut self) {
        self.expecting = true;
    }

    /// No head is expected.
    pub(crate) fn stop(&mut self) {
        *self = Self::default();
    }
}

/// The headers in `raw` where they are those of `head`, else the latter.
pub(crate) fn spelled(raw: Option<&[u8]>, head: &HeaderMap) -> Vec<(String, Bytes)> {
    raw.and_then(|raw| parse(raw, head)).unwrap_or_else(|| {
        let entry = |(name, value): (_, &HeaderValue)| (ToString::to_string(name), copy(value));
        head.iter().map(entry).collect()
    })
}

fn copy(value: &HeaderValue) -> Bytes {
    Bytes::copy_from_slice(value.as_bytes())
}

/// The headers of a raw head, if each is in `head`, and none else.
fn parse(raw: &[u8], head: &HeaderMap) -> Option<Vec<(String, Bytes)>> {
    let lines = raw.split(|byte| *byte == b'\n').skip(1);
    let lines = lines.map(<[u8]>::trim_ascii).take_while(|line| !line.is_empty());
    let mut headers = Vec::with_capacity(head.len());
    for line in lines {
        let colon = memchr::memchr(b':', line)?;
        let (name, value) = line.split_at(colon);
        let name = std::str::from_utf8(name.trim_ascii()).ok()?;
        let value = value.get(1..)?.trim_ascii();
        // The first of this name must be its first in the map, and so on.
        let same = |entry: &&(String, Bytes)| entry.0.eq_ignore_ascii_case(name);
        let known = head.get_all(name).iter().nth(headers.iter().filter(same).count())?;
        if known.as_bytes() != value {
            return None;
        }
        headers.push((name.to_owned(), copy(known)));
    }
    (headers.len() == head.len()).then_some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut head = HeaderMap::new();
        for (name, value) in headers {
            head.append(*name, HeaderValue::from_static(value));
        }
        head
    }

    fn list(headers: &[(&str, &'static str)]) -> Vec<(String, Bytes)> {
        headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Bytes::from_static(value.as_bytes())))
            .collect()
    }

    #[test]
    fn names_keep_case_and_order() {
        let raw = b"GET / HTTP/1.1\r\nX-A: 1\r\nHOST:h\r\nx-a:  2 \r\nEmpty:\r\n\r\n";
        let head = head(&[("x-a", "1"), ("x-a", "2"), ("host", "h"), ("empty", "")]);
        let expected = list(&[("X-A", "1"), ("HOST", "h"), ("x-a", "2"), ("Empty", "")]);
        assert_eq!(spelled(Some(raw), &head), expected);
    }

    #[test]
    fn another_head_is_not_taken_for_this_one() {
        let head = head(&[("host", "h")]);
        let own = list(&[("host", "h")]);
        for raw in [
            &b"GET / HTTP/1.1\r\nHost: other\r\n\r\n"[..],
            b"GET / HTTP/1.1\r\nHost: h\r\nMore: 1\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
            b"{\"json\": 1}",
            b"",
        ] {
            assert_eq!(spelled(Some(raw), &head), own);
        }
        assert_eq!(spelled(None, &head), own);
    }

    #[test]
    fn what_follows_a_head_begins_the_next() {
        let mut watch = HeadWatch::default();
        watch.saw(b"ignored");
        watch.expect();
        watch.saw(b"GET /a HTTP/1.1\r\n\r");
        assert_eq!(watch.take(), None);
        watch.saw(b"\nGET /b HTTP/1.1\r\n\r\n");
        assert_eq!(watch.take().as_deref(), Some(&b"GET /a HTTP/1.1\r\n\r\n"[..]));
        assert_eq!(watch.take().as_deref(), Some(&b"GET /b HTTP/1.1\r\n\r\n"[..]));
        watch.saw(&[b"A\r\n\r\n", vec![b'x'; LIMIT].as_slice(), b"\r\n\r\n"].concat());
        assert_eq!(watch.take().as_deref(), Some(&b"A\r\n\r\n"[..]));
        assert_eq!(watch.take(), None, "what follows is not all there");
    }
}
