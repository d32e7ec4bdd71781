//! The framing of a request's body, undone as it is read.

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::memchr;

use crate::request::fields;

/// A chunk-size or trailer line may have so many bytes.
const LINE_LIMIT: usize = 64 << 10;

/// What is left of a body.
#[derive(Debug)]
pub(crate) enum Framing {
    /// So many bytes; 0 is the end.
    Length(u64),
    /// Chunks (RFC 9112, section 7.1).
    Chunked(Chunked),
}

#[derive(Debug)]
pub(crate) enum Chunked {
    /// At a chunk-size line.
    Size,
    /// In a chunk, so many bytes before its line end.
    Data { left: u64 },
    /// At the line end that follows a chunk.
    DataEnd,
    /// Among the trailers, which are collected.
    Trailers { lines: Vec<String> },
    /// After the blank line.
    Done { trailers: Vec<(String, String)> },
}

/// The framing is broken; nothing more can be read from this connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadFraming;

impl Framing {
    pub(crate) fn chunked() -> Self {
        Self::Chunked(Chunked::Size)
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunked(Chunked::Done { .. }))
    }

    pub(crate) fn into_trailers(self) -> Vec<(String, String)> {
        match self {
            Self::Chunked(Chunked::Done { trailers }) => trailers,
            _ => Vec::new(),
        }
    }

    /// Takes at most `limit` bytes of data off the front of `input`. `None`: more input is needed,
    /// or the body is done.
    pub(crate) fn take(
        &mut self,
        input: &mut BytesMut,
        limit: u64,
    ) -> Result<Option<Bytes>, BadFraming> {
        match self {
            Self::Length(left) => Ok(take_data(left, input, limit)),
            Self::Chunked(state) => state.take(input, limit),
        }
    }
}

impl Chunked {
    fn take(&mut self, input: &mut BytesMut, limit: u64) -> Result<Option<Bytes>, BadFraming> {
        loop {
            match self {
                Self::Data { left: 0 } => *self = Self::DataEnd,
                Self::Data { left } => return Ok(take_data(left, input, limit)),
                Self::Size => {
                    let Some(line) = take_line(input)? else { return Ok(None) };
                    let digits = line.split(';').next().unwrap_or_default().trim();
                    *self = match u64::from_str_radix(digits, 16).map_err(|_| BadFraming)? {
                        0 => Self::Trailers { lines: Vec::new() },
                        left => Self::Data { left },
                    };
                }
                Self::DataEnd => {
                    let Some(line) = take_line(input)? else { return Ok(None) };
                    if !line.is_empty() {
                        return Err(BadFraming);
                    }
                    *self = Self::Size;
                }
                Self::Trailers { lines } => {
                    let Some(line) = take_line(input)? else { return Ok(None) };
                    if line.is_empty() {
                        *self = Self::Done { trailers: fields(lines.iter().map(String::as_str)) };
                    } else if lines.len() < 1_000 {
                        lines.push(line);
                    } else {
                        return Err(BadFraming);
                    }
                }
                Self::Done { .. } => return Ok(None),
            }
        }
    }
}

fn take_data(left: &mut u64, input: &mut BytesMut, limit: u64) -> Option<Bytes> {
    let most = usize::try_from(limit.min(*left)).unwrap_or(usize::MAX);
    let length = input.len().min(most);
    if length == 0 {
        return None;
    }
    *left -= length as u64;
    Some(input.split_to(length).freeze())
}

/// Takes a line off the front, without its line end. `None`: it is not whole yet.
fn take_line(input: &mut BytesMut) -> Result<Option<String>, BadFraming> {
    let Some(end) = memchr(b'\n', input) else {
        return if LINE_LIMIT < input.len() { Err(BadFraming) } else { Ok(None) };
    };
    let line = input.split_to(end);
    input.advance(1);
    let line = line.strip_suffix(b"\r").unwrap_or(&line);
    Ok(Some(String::from_utf8_lossy(line).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Outcome = Result<(Vec<u8>, Framing), BadFraming>;

    /// Feeds `input` in pieces of `size`.
    fn read(mut framing: Framing, input: &[u8], size: usize) -> Outcome {
        let (mut buffer, mut data) = (BytesMut::new(), Vec::new());
        for piece in input.chunks(size) {
            buffer.extend_from_slice(piece);
            while let Some(bytes) = framing.take(&mut buffer, u64::MAX)? {
                data.extend_from_slice(&bytes);
            }
        }
        Ok((data, framing))
    }

    #[test]
    fn chunks_are_joined_however_they_arrive() {
        let input =
            b"4\r\nWiki\r\n5;ext=1\r\npedia\r\nE\r\n in\r\n\r\nchunks.\r\n0\r\nX-Sum: 7\r\n\r\n";
        for size in 1..=input.len() {
            let (data, framing) = read(Framing::chunked(), input, size).unwrap();
            assert_eq!(data, b"Wikipedia in\r\n\r\nchunks.", "pieces of {size}");
            assert!(framing.is_done());
            assert_eq!(framing.into_trailers(), [("X-Sum".to_owned(), "7".to_owned())]);
        }
    }

    #[test]
    fn a_length_ends_where_it_says() {
        let (data, framing) = read(Framing::Length(4), b"bodyGET / HTTP", 3).unwrap();
        assert_eq!(data, b"body");
        assert!(framing.is_done());
    }

    #[test]
    fn broken_chunks_are_an_error() {
        for input in [&b"x\r\n"[..], b"1\r\nab\r\n", b"\r\n"] {
            assert_eq!(read(Framing::chunked(), input, 1).unwrap_err(), BadFraming);
        }
    }

    #[test]
    fn no_more_is_taken_than_asked_for() {
        let mut buffer = BytesMut::from(&b"abcdef"[..]);
        let mut framing = Framing::Length(5);
        assert_eq!(framing.take(&mut buffer, 2), Ok(Some(Bytes::from_static(b"ab"))));
        assert_eq!(framing.take(&mut buffer, 9), Ok(Some(Bytes::from_static(b"cde"))));
        assert_eq!(framing.take(&mut buffer, 9), Ok(None));
        assert_eq!(&buffer[..], b"f");
    }
}
