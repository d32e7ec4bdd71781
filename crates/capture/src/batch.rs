//! Bytes on their way from the tap to the writer.

use bytes::Bytes;

/// Chunks below this are copied into the batch's one buffer: a slice of 20 bytes would else keep the
/// whole read buffer of the connection alive. Larger ones are kept as they are.
pub(crate) const COPIED_BELOW: usize = 4096;

/// What a chunk costs in the queue apart from its bytes.
pub(crate) const CHUNK_COST: usize = size_of::<Entry>();

/// A chunk's place in a [`Batch`].
#[derive(Debug)]
struct Entry {
    at_us: u64,
    offset: u64,
    length: usize,
    kept: Option<Bytes>,
}

/// A chunk of a [`Batch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk<'a> {
    /// The first byte's place in the body.
    pub(crate) offset: u64,
    /// When it came, in microseconds since the request's start.
    pub(crate) at_us: u64,
    pub(crate) bytes: &'a [u8],
}

/// Chunks in order, small ones in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    entries: Vec<Entry>,
    copied: Vec<u8>,
    bytes: usize,
}

impl Batch {
    /// Adds a chunk that begins at `offset` of its body. Allocates only where the buffers grow.
    pub(crate) fn push(&mut self, offset: u64, at_us: u64, chunk: &Bytes) {
        let kept = if chunk.len() < COPIED_BELOW {
            self.copied.extend_from_slice(chunk);
            None
        } else {
            Some(chunk.clone())
        };
        self.bytes += chunk.len();
        self.entries.push(Entry { at_us, offset, length: chunk.len(), kept });
    }

    /// Bytes of all chunks.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What it takes of the queue's bound.
    pub(crate) fn cost(&self) -> usize {
        self.bytes + self.entries.len() * CHUNK_COST
    }

    /// The chunks in order.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        let mut copied = self.copied.as_slice();
        self.entries.iter().map(move |entry| {
            let bytes = if let Some(bytes) = &entry.kept {
                bytes.as_ref()
            } else {
                let (chunk, rest) = copied.split_at_checked(entry.length).unwrap_or((copied, &[]));
                copied = rest;
                chunk
            };
            Chunk { offset: entry.offset, at_us: entry.at_us, bytes }
        })
    }

    /// Empties it and keeps its buffers, unless they have grown beyond what a usual batch needs.
    pub(crate) fn clear(&mut self) {
        const USUAL: usize = 64 * 1024;
        self.entries.clear();
        self.copied.clear();
        self.bytes = 0;
        self.copied.shrink_to(USUAL);
        self.entries.shrink_to(USUAL / CHUNK_COST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_chunks_come_out_in_order() {
        let large = Bytes::from(vec![b'x'; COPIED_BELOW]);
        let mut batch = Batch::default();
        batch.push(0, 1, &Bytes::from_static(b"ab"));
        batch.push(2, 2, &large);
        batch.push(9000, 4, &Bytes::from_static(b"c"));
        let chunks: Vec<_> =
            batch.chunks().map(|chunk| (chunk.offset, chunk.at_us, chunk.bytes)).collect();
        assert_eq!(chunks, [(0, 1, &b"ab"[..]), (2, 2, &large[..]), (9000, 4, &b"c"[..])]);
        assert_eq!(batch.bytes(), COPIED_BELOW + 3);
        batch.clear();
        assert!(batch.cost() == 0 && batch.chunks().next().is_none());
    }

    #[test]
    fn a_small_slice_does_not_keep_its_buffer_alive() {
        let buffer = Bytes::from(vec![b'x'; 400 * 1024]);
        let mut batch = Batch::default();
        batch.push(0, 0, &buffer.slice(..20));
        assert!(buffer.try_into_mut().is_ok(), "the batch must hold a copy");
    }
}
