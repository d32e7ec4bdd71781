//! A stamped text as the body it was made from.

use bytes::Bytes;

use crate::{frame::Stamp, stamp::Stamps};

/// The lines of a text in which *every* line has a time stamp, as `teeline export --as stamped` writes it: each
/// without its stamp and the one blank behind it, line end included, so that joined they are the body. `None` if
/// a line has no stamp: then it is not known which bytes are the body's (a [`Decoder`](crate::Decoder) with
/// [`Options::stamps`](crate::Options::stamps) still reads it).
///
/// ```
/// let text = "2026-01-02T03:04:05.000001Z data: a\n2026-01-02T03:04:05.000001Z \n";
/// let lines = teeline_decoder::unstamped(&text.into()).unwrap();
/// let body: Vec<u8> = lines.iter().flat_map(|(line, _)| line.to_vec()).collect();
/// assert_eq!(body, b"data: a\n\n");
/// assert!(lines[0].1.dated);
/// assert!(teeline_decoder::unstamped(&"data: a\n\n".into()).is_none());
/// ```
pub fn unstamped(text: &Bytes) -> Option<Vec<(Bytes, Stamp)>> {
    let mut stamps = Stamps::new(true, false);
    let mut lines = Vec::new();
    let mut rest = text.clone();
    while !rest.is_empty() {
        let mut line = rest.split_to(line_length(&rest));
        let stripped = stamps.strip(content(&line), lines.len() as u64 + 1);
        let stamp = stripped.stamp?;
        let taken = line.get(..stripped.bytes)?;
        // Blanks beyond the first, and a byte-order mark, are the body's own.
        let own = taken.strip_suffix(crate::text::BOM).unwrap_or(taken);
        let end = own.trim_ascii_end().len();
        let _ = line.split_to((end + 1).min(own.len()));
        lines.push((line, stamp));
    }
    (!lines.is_empty()).then_some(lines)
}

/// How long the first line is, with its end: a line feed, or a carriage return with a stamp behind it.
fn line_length(text: &[u8]) -> usize {
    for (at, &byte) in text.iter().enumerate() {
        let after = text.get(at + 1..).unwrap_or_default();
        match byte {
            b'\n' => return at + 1,
            b'\r' if !after.starts_with(b"\n") => {
                let next = after.split(|&byte| matches!(byte, b'\n' | b'\r')).next();
                let mut alone = Stamps::new(true, false);
                if next.is_some_and(|next| alone.strip(next, 2).stamp.is_some()) {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Option<String> {
        let lines = unstamped(&Bytes::copy_from_slice(text.as_bytes()))?;
        let bytes = lines.into_iter().flat_map(|(line, _)| line.to_vec()).collect();
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn every_byte_but_the_stamps_stays() {
        let at = "2026-01-02T03:04:05.678901Z ";
        for own in [
            "data: a\n\n",
            "data: a\r\n\r\n",
            "data: a\rdata: b\r\r",
            "  {\"indented\":\n    1}\n",
            "\u{feff}data: a\n\n",
            "no end",
            "data: 12:00:00 o'clock\r\n",
        ] {
            let cr = !own.contains('\n');
            let ends = |c| c == '\n' || cr && c == '\r';
            let stamped: String = own.split_inclusive(ends).flat_map(|line| [at, line]).collect();
            assert_eq!(body(&stamped).as_deref(), Some(own));
        }
    }

    #[test]
    fn one_line_without_a_stamp_and_nothing_is_taken_off() {
        for text in ["", "data: a\n", "12:00:00 data: a\n\n12:00:01 data: b\n"] {
            assert_eq!(body(text), None, "{text:?}");
        }
    }
}
