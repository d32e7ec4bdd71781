//! The body's lines, each behind the time at which its first byte came.

use std::io::Write;

use teeline_assembler::Reading;
use teeline_capture::{CaptureId, Piece, Store, StoredChunk, Timestamp};

use crate::ExportError;

/// Writes `2026-01-02T03:04:05.678901Z ` before every line, blank ones too.
pub(crate) fn write(store: &Store, id: CaptureId, out: &mut dyn Write) -> Result<(), ExportError> {
    let reading = store.reading(id)?;
    let framed = reading.framing == Some("aws-eventstream") || reading.websocket.is_some();
    if framed || is_binary(store, id, &reading)? {
        return Err(ExportError::Binary);
    }
    let started_at = store.summary(id)?.started_at;
    let mut stamper = Stamper::new(started_at, ends_lines_with_cr(&reading));
    for piece in store.body(id)? {
        if let Piece::Chunk(chunk) = piece? {
            stamper.chunk(&chunk, out)?;
        }
    }
    Ok(())
}

/// A body of no format that does not begin as text: a picture, a sound.
fn is_binary(store: &Store, id: CaptureId, reading: &Reading) -> Result<bool, ExportError> {
    if reading.format != "unknown" {
        return Ok(false);
    }
    let first = store.body(id)?.find_map(|piece| match piece {
        Ok(Piece::Chunk(chunk)) => Some(chunk.bytes),
        _ => None,
    });
    let first = first.unwrap_or_default();
    // A character that the chunk's end cuts is no fault.
    let text =
        std::str::from_utf8(&first).map_or_else(|error| error.error_len().is_none(), |_| true);
    Ok(!text || first.contains(&0))
}

/// A lone CR ends a line of an event stream; in JSON it is white space.
fn ends_lines_with_cr(reading: &Reading) -> bool {
    matches!(reading.framing, Some("sse") | None)
}

struct Stamper {
    started_at: Timestamp,
    cr_ends_line: bool,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The next byte is a line's first.
    LineStart,
    InLine,
    /// Behind a CR, whose LF may still come.
    BehindCr,
}

impl Stamper {
    fn new(started_at: Timestamp, cr_ends_line: bool) -> Self {
        Self { started_at, cr_ends_line, place: Place::LineStart }
    }

    fn chunk(&mut self, chunk: &StoredChunk, out: &mut dyn Write) -> Result<(), ExportError> {
        let Some(at_us) = chunk.at_us else {
            return Err(ExportError::Nothing("no times are known of this capture".to_owned()));
        };
        let stamp = format!("{} ", self.started_at.plus_micros(at_us));
        let mut from = 0;
        for (position, &byte) in chunk.bytes.iter().enumerate() {
            let continues_line_end = self.place == Place::BehindCr && byte == b'\n';
            if self.place != Place::InLine && !continues_line_end {
                out.write_all(chunk.bytes.get(from..position).unwrap_or_default())?;
                out.write_all(stamp.as_bytes())?;
                from = position;
            }
            self.place = match byte {
                b'\n' => Place::LineStart,
                b'\r' if self.cr_ends_line => Place::BehindCr,
                _ => Place::InLine,
            };
        }
        Ok(out.write_all(chunk.bytes.get(from..).unwrap_or_default())?)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn stamped(chunks: &[&'static str], cr_ends_line: bool) -> String {
        let mut stamper = Stamper::new(Timestamp::from_micros(0), cr_ends_line);
        let mut out = Vec::new();
        for (number, text) in (1..).zip(chunks) {
            let bytes = Bytes::from_static(text.as_bytes());
            stamper
                .chunk(&StoredChunk { offset: 0, at_us: Some(number), bytes }, &mut out)
                .unwrap();
        }
        String::from_utf8(out).unwrap().replace("1970-01-01T00:00:00.00000", "@")
    }

    #[test]
    fn every_line_has_the_time_of_its_first_byte() {
        for (chunks, cr, expected) in [
            (&["data: a\n\n"][..], true, "@1Z data: a\n@1Z \n"),
            (&["da", "ta: a\n", "\nid: 1\n"], true, "@1Z data: a\n@3Z \n@3Z id: 1\n"),
            (&["a\r\n\r", "\nb"], true, "@1Z a\r\n@1Z \r\n@2Z b"),
            (&["a\rb\r", "c"], true, "@1Z a\r@1Z b\r@2Z c"),
            (&["{\"a\":\r1}\n"], false, "@1Z {\"a\":\r1}\n"),
        ] {
            assert_eq!(stamped(chunks, cr), expected);
        }
    }
}
