//! Bytes as text: what is ill-formed is replaced and reported, what is long is measured.

use bytes::Bytes;
use teeline_finding::{Findings, Kind, Place};

/// U+FEFF at the start of a body.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The most bytes that so many UTF-16 units can come from: a unit is at most a character of three bytes, or U+FFFD for an
/// ill-formed sequence of up to three.
pub(crate) const fn most_bytes(units: usize) -> usize {
    units.saturating_mul(3)
}

/// Where a piece of text stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// The frame that it belongs to.
    pub(crate) frame: u64,
    /// Its line.
    pub(crate) line: u64,
    /// That line's first byte.
    pub(crate) line_offset: u64,
    /// The piece's own first byte.
    pub(crate) offset: u64,
    /// Nothing follows: a character that the body's end cuts is no ill-formed one.
    pub(crate) last: bool,
}

impl Spot {
    pub(crate) const fn place(&self) -> Place {
        Place { frame: Some(self.frame), line: Some(self.line), offset: Some(self.line_offset) }
    }
}

/// The same bytes if they are UTF-8; else a copy with U+FFFD for each ill-formed sequence, as the
/// WHATWG Encoding Standard replaces them. Each run of such sequences is a `bad-utf8`.
pub(crate) fn well_formed(bytes: Bytes, spot: Spot, findings: &mut Findings) -> Bytes {
    if std::str::from_utf8(&bytes).is_ok() {
        return bytes;
    }
    let mut text = String::with_capacity(bytes.len());
    let mut run = 0..0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            report_run(&bytes, run.clone(), spot, findings);
            run = run.end + chunk.valid().len()..run.end + chunk.valid().len();
        }
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            run.end += chunk.invalid().len();
        }
    }
    report_run(&bytes, run, spot, findings);
    Bytes::from(text)
}

fn report_run(bytes: &[u8], run: std::ops::Range<usize>, spot: Spot, findings: &mut Findings) {
    let Some(bad) = bytes.get(run.clone()).filter(|bad| !bad.is_empty()) else { return };
    let cut_by_the_end = spot.last
        && run.end == bytes.len()
        && std::str::from_utf8(bad)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
    if !cut_by_the_end {
        let at = spot.offset + run.start as u64;
        findings.report(spot.place(), Kind::BadUtf8 { bytes: hex(bad), at });
    }
}

/// The first bytes in hexadecimal: `C3 28 …`.
fn hex(bytes: &[u8]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> =
        bytes.iter().take(SHOWN).map(|byte| format!("{byte:02X}")).collect();
    if bytes.len() > SHOWN {
        text.push("…".to_owned());
    }
    text.join(" ")
}

/// Says that the body begins with a byte-order mark.
pub(crate) fn report_bom(findings: &mut Findings) {
    findings.report(Place { frame: None, line: Some(1), offset: Some(0) }, Kind::Bom);
}

/// UTF-16 units of well-formed UTF-8: one for each character, two for those of four bytes.
pub(crate) fn utf16_units(text: &[u8]) -> usize {
    text.iter().map(|&byte| usize::from(byte & 0xc0 != 0x80) + usize::from(byte >= 0xf0)).sum()
}

/// White space as JSON has it.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// JSON's white space and nothing else.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    text.iter().copied().all(is_space)
}

/// How many bytes of white space `text` begins with.
pub(crate) fn leading_space(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_space(**byte)).count()
}

/// The text without white space at its end.
pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    let space = text.iter().rev().take_while(|byte| is_space(**byte)).count();
    &text[..text.len() - space]
}

/// The start of a text that may be long, for a finding's sentence.
pub(crate) fn excerpt(text: &[u8]) -> String {
    // Only the start is looked at: the text may be megabytes.
    let head = &text[..text.len().min(teeline_finding::EXCERPT_CHARS * 4 + 4)];
    teeline_finding::excerpt(&String::from_utf8_lossy(head))
}
