//! `application/vnd.amazon.eventstream`: binary messages with two checksums (`FORMATS.md` H6.1).

use bytes::{Bytes, BytesMut};
use teeline_finding::{Findings, Kind, Place};

use crate::{
    decoder::Framer,
    frame::{Data, Frame},
    text::{Spot, excerpt, well_formed},
};

/// Lengths and their checksum.
pub(crate) const PRELUDE_BYTES: usize = 12;
/// The prelude and the message's checksum.
const OVERHEAD_BYTES: usize = PRELUDE_BYTES + CHECKSUM_BYTES;
const CHECKSUM_BYTES: usize = 4;
/// The format's own limits, as botocore has them.
const HEADERS_LIMIT: usize = 131_072;
const PAYLOAD_LIMIT: usize = 25_165_824;

/// The first twelve bytes of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prelude {
    total: usize,
    headers: usize,
    /// The checksum that it has, and the one that its bytes give.
    checksum: (u32, u32),
}

impl Prelude {
    /// Reads it; `None` if `bytes` are too few.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let lengths = bytes.get(..8)?;
        Some(Self {
            total: u32_at(bytes, 0)? as usize,
            headers: u32_at(bytes, 4)? as usize,
            checksum: (u32_at(bytes, 8)?, crc32fast::hash(lengths)),
        })
    }

    /// Both checksum and lengths are right.
    pub(crate) fn is_good(&self) -> bool {
        self.checksum.0 == self.checksum.1 && self.lengths_fit()
    }

    fn lengths_fit(&self) -> bool {
        self.total
            .checked_sub(OVERHEAD_BYTES + self.headers)
            .is_some_and(|payload| payload <= PAYLOAD_LIMIT)
            && self.headers <= HEADERS_LIMIT
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[derive(Debug)]
pub(crate) struct EventStream {
    /// At most one message and what came with its last chunk.
    held: BytesMut,
    offset: u64,
    frames: u64,
    /// A message came, if only to be dropped.
    any: bool,
    over: bool,
}

impl EventStream {
    /// `offset`: where the first chunk stands in the body.
    pub(crate) fn new(offset: u64) -> Self {
        Self { held: BytesMut::new(), offset, frames: 0, any: false, over: false }
    }

    /// A place that is no frame: the message at hand.
    const fn here(&self) -> Place {
        Place { frame: None, line: None, offset: Some(self.offset) }
    }

    /// Nothing that follows can be read.
    fn stop(&mut self, kind: Kind, findings: &mut Findings) {
        findings.report(self.here(), kind);
        self.held = BytesMut::new();
        self.over = true;
    }

    fn end(&mut self, findings: &mut Findings) {
        self.over = true;
        if !self.held.is_empty() {
            findings.report(self.here(), Kind::Cut { bytes: self.held.len() as u64 });
        } else if !self.any {
            findings.report(Place::STREAM, Kind::Empty);
        }
    }

    /// Takes a whole message; `None` if it had to be dropped.
    fn message(&mut self, prelude: Prelude, findings: &mut Findings) -> Option<Frame> {
        let message = self.held.split_to(prelude.total).freeze();
        let place = self.here();
        let offset = self.offset;
        self.offset += prelude.total as u64;
        self.any = true;
        let end = prelude.total - CHECKSUM_BYTES;
        let (checksum, actual) = (u32_at(&message, end)?, crc32fast::hash(message.get(..end)?));
        if checksum != actual {
            findings.report(place, crc_mismatch("message", checksum, actual));
            return None;
        }
        let payload_at = PRELUDE_BYTES + prelude.headers;
        let headers = match read_headers(message.get(PRELUDE_BYTES..payload_at)?) {
            Ok(headers) => headers,
            Err(kind) => {
                findings.report(place, kind);
                return None;
            }
        };
        let payload = message.slice(payload_at..end);
        Some(self.frame(offset, message.len(), headers, payload, findings))
    }

    fn frame(
        &mut self,
        offset: u64,
        length: usize,
        headers: Vec<(String, String)>,
        payload: Bytes,
        findings: &mut Findings,
    ) -> Frame {
        let payload_offset = offset + (length - CHECKSUM_BYTES - payload.len()) as u64;
        let spot = Spot {
            frame: self.frames,
            line: 1,
            line_offset: offset,
            offset: payload_offset,
            last: false,
        };
        let event =
            [":event-type", ":exception-type", ":error-code"].into_iter().find_map(|wanted| {
                headers.iter().rfind(|(name, value)| name == wanted && !value.is_empty())
            });
        self.frames += 1;
        Frame {
            index: spot.frame,
            offset,
            length: length as u64,
            line: 1,
            lines: 1,
            event: event.map(|(_, value)| value.clone()),
            data: Some(Data::from_well_formed(well_formed(payload, spot, findings))),
            terminated: true,
            dispatched: true,
            headers,
            ..Frame::default()
        }
    }
}

fn crc_mismatch(what: &str, expected: u32, got: u32) -> Kind {
    Kind::CrcMismatch {
        what: what.into(),
        expected: format!("{expected:08x}"),
        got: format!("{got:08x}"),
    }
}

/// The text headers, in order. The others are checked and left out.
fn read_headers(mut bytes: &[u8]) -> Result<Vec<(String, String)>, Kind> {
    let mut headers = Vec::new();
    while !bytes.is_empty() {
        let name_length = usize::from(take(&mut bytes, 1, "header name")?[0]);
        if name_length == 0 {
            return Err(bad_header("header name", "1 to 255 bytes long", "empty"));
        }
        let name = take(&mut bytes, name_length, "header name")?;
        let name = std::str::from_utf8(name)
            .map_err(|_| bad_header("header name", "UTF-8", &excerpt(name)))?;
        let kind = take(&mut bytes, 1, name)?[0];
        let length = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            6 | 7 => {
                let length = take(&mut bytes, 2, name)?;
                usize::from(u16::from_be_bytes([length[0], length[1]]))
            }
            9 => 16,
            _ => {
                return Err(bad_header(name, "a value of type 0 to 9", &format!("of type {kind}")));
            }
        };
        let value = take(&mut bytes, length, name)?;
        if kind == 7 {
            headers.push((name.to_owned(), String::from_utf8_lossy(value).into_owned()));
        }
    }
    Ok(headers)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize, field: &str) -> Result<&'a [u8], Kind> {
    let (taken, rest) = bytes
        .split_at_checked(length)
        .ok_or_else(|| bad_header(field, "as long as its length says", "cut short"))?;
    *bytes = rest;
    Ok(taken)
}

fn bad_header(field: &str, expected: &str, value: &str) -> Kind {
    Kind::BadField { field: field.into(), expected: expected.into(), value: value.into() }
}

impl Framer for EventStream {
    fn push(&mut self, chunk: Bytes) {
        if !self.over {
            self.held.extend_from_slice(&chunk);
        }
    }

    fn next(&mut self, ended: bool, findings: &mut Findings) -> Option<Frame> {
        while !self.over {
            match Prelude::read(&self.held) {
                Some(Prelude { checksum: (expected, got), .. }) if expected != got => {
                    self.stop(crc_mismatch("prelude", expected, got), findings);
                }
                Some(prelude) if !prelude.lengths_fit() => {
                    self.stop(Kind::Cut { bytes: PRELUDE_BYTES as u64 }, findings);
                }
                Some(prelude) if self.held.len() >= prelude.total => {
                    let frame = self.message(prelude, findings);
                    if frame.is_some() {
                        return frame;
                    }
                }
                _ if ended => self.end(findings),
                _ => return None,
            }
        }
        None
    }

    fn held_from(&self) -> u64 {
        self.offset
    }

    fn stopped(&self) -> bool {
        false
    }
}
