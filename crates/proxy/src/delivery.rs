//! How much of a body reached the app's socket.

use std::collections::VecDeque;

/// So many pieces are remembered at most. hyper holds sixteen before it insists on writing.
const PENDING: usize = 64;

/// How much of a body the app got.
pub(crate) struct Delivery {
    chunked: bool,
    ended: bool,
    /// Lengths of the pieces that are not known to be written, oldest first; [`PENDING`] at most.
    pending: VecDeque<u64>,
    /// Bytes of the body that were handed over, and that were written.
    handed: u64,
    written: u64,
}

impl Delivery {
    /// Nothing was handed over yet. `chunked`: in chunked framing.
    pub(crate) fn new(chunked: bool) -> Self {
        Self {
            chunked,
            ended: false,
            pending: VecDeque::with_capacity(PENDING),
            handed: 0,
            written: 0,
        }
    }

    /// A piece of the body was handed to hyper.
    pub(crate) fn handed(&mut self, length: u64) {
        self.handed += length;
        if self.pending.len() == PENDING {
            self.pending.pop_front();
        }
        self.pending.push_back(length);
    }

    /// All but the last `unsent` bytes on the connection are written. Which of those are the body's
    /// follows from the framing that hyper puts around each piece. Gives how many of them are new.
    pub(crate) fn wrote(&mut self, unsent: u64) -> u64 {
        let (mut left, mut body, mut kept) = (unsent, 0, 0);
        for &length in self.pending.iter().rev() {
            if left == 0 {
                break;
            }
            let (before, after) = if self.chunked { (size_line(length), 2) } else { (0, 0) };
            left = left.saturating_sub(after);
            body += left.min(length);
            left = left.saturating_sub(length).saturating_sub(before);
            kept += 1;
        }
        self.pending.drain(..self.pending.len() - kept);
        let new = (self.handed - body).saturating_sub(self.written);
        self.written += new;
        new
    }

    /// No piece follows.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether all pieces are known to be written, and none follows.
    pub(crate) fn is_done(&self) -> bool {
        self.ended && self.pending.is_empty()
    }
}

/// The length of a chunk-size line.
fn size_line(length: u64) -> u64 {
    let digits = u64::from(length.checked_ilog(16).unwrap_or(0)) + 1;
    digits + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever part of the buffer is written, the body's bytes in it are counted, no more.
    #[test]
    fn the_bodys_bytes_are_told_from_their_framing() {
        let pieces = [1_usize, 15, 16, 300];
        for chunked in [true, false] {
            // The bytes as hyper writes them, behind a head; `true` where they are the body's.
            let mut stream = vec![false; 40];
            for &piece in &pieces {
                let (before, after) =
                    if chunked { (format!("{piece:X}\r\n").len(), 2) } else { (0, 0) };
                stream
                    .extend([vec![false; before], vec![true; piece], vec![false; after]].concat());
            }
            for cut in 0..=stream.len() {
                let mut delivery = Delivery::new(chunked);
                for &piece in &pieces {
                    delivery.handed(piece as u64);
                }
                let first = delivery.wrote((stream.len() - cut) as u64);
                let expected = stream[..cut].iter().filter(|is_body| **is_body).count();
                assert_eq!(first, expected as u64, "chunked: {chunked}, cut: {cut}");
                // Half of the rest, then all of it.
                let second = delivery.wrote(((stream.len() - cut) / 2) as u64);
                delivery.end();
                let third = delivery.wrote(0);
                assert_eq!((first + second + third, delivery.is_done()), (332, true));
            }
        }
    }
}
