//! A segment of a stored body: bytes of several chunks, and a table with the time and length of each.
//!
//! The table is a run of LEB128 numbers, two a chunk: microseconds since the chunk before (the first
//! one's: since the request's start), and its length. A body without times has 0 in place of the first.

use bytes::Bytes;

use crate::StoredChunk;

/// A segment is written when it has so many bytes, or 100 ms after its first.
pub(crate) const SEGMENT_BYTES: usize = 64 * 1024;

/// Chunks being put together.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    /// The first byte's place in the body.
    pub(crate) offset: u64,
    pub(crate) data: Vec<u8>,
    pub(crate) times: Vec<u8>,
    last_us: u64,
}

impl Builder {
    pub(crate) fn at(offset: u64) -> Self {
        Self { offset, ..Self::default() }
    }

    pub(crate) fn push(&mut self, at_us: u64, chunk: &[u8]) {
        write_number(&mut self.times, at_us.saturating_sub(self.last_us));
        write_number(&mut self.times, chunk.len() as u64);
        self.last_us = self.last_us.max(at_us);
        self.data.extend_from_slice(chunk);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub(crate) fn end(&self) -> u64 {
        self.offset + self.data.len() as u64
    }
}

/// The chunks of a stored segment. A damaged table gives what can be read, the rest as one chunk.
pub(crate) fn chunks(offset: u64, table: &[u8], data: Vec<u8>, timed: bool) -> Vec<StoredChunk> {
    let mut data = Bytes::from(data);
    let mut table = table;
    let (mut at, mut offset) = (0_u64, offset);
    let mut chunks = Vec::new();
    while let (Some(wait), Some(length)) = (read_number(&mut table), read_number(&mut table)) {
        at = at.saturating_add(wait);
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(data.len());
        let bytes = data.split_to(length);
        let next = offset + bytes.len() as u64;
        chunks.push(StoredChunk { offset, at_us: timed.then_some(at), bytes });
        offset = next;
    }
    if !data.is_empty() {
        chunks.push(StoredChunk { offset, at_us: timed.then_some(at), bytes: data });
    }
    chunks
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

fn read_number(input: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_put_in_comes_out(
            offset in 0..u64::MAX / 2,
            waits in prop::collection::vec((0..1_u64 << 40, prop::collection::vec(any::<u8>(), 0..300)), 1..20),
        ) {
            let mut builder = Builder::at(offset);
            let (mut at, mut expected, mut place) = (0, Vec::new(), offset);
            for (wait, bytes) in &waits {
                at += wait;
                builder.push(at, bytes);
                expected.push(StoredChunk { offset: place, at_us: Some(at), bytes: Bytes::from(bytes.clone()) });
                place += bytes.len() as u64;
            }
            prop_assert_eq!(builder.end(), place);
            prop_assert_eq!(chunks(offset, &builder.times, builder.data, true), expected);
        }

        #[test]
        fn a_damaged_table_loses_no_byte(table in prop::collection::vec(any::<u8>(), 0..40), data in prop::collection::vec(any::<u8>(), 0..200)) {
            let joined: Vec<u8> =
                chunks(7, &table, data.clone(), false).iter().flat_map(|chunk| chunk.bytes.to_vec()).collect();
            prop_assert_eq!(joined, data);
        }
    }
}
