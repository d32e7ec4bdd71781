//! The law of every decoder: pieces change nothing, frames are ordered and do not overlap.

use bytes::Bytes;
use teeline_decoder::{Decoder, Frame, Framing, Options};
use teeline_finding::Findings;

fn decode(options: &Options, pieces: impl Iterator<Item = Bytes>) -> (Vec<Frame>, Findings) {
    let mut decoder = Decoder::new(options.clone());
    let (mut frames, mut findings) = (Vec::new(), Findings::default());
    for piece in pieces {
        decoder.push(piece);
        while let Some(frame) = decoder.next_frame(&mut findings) {
            frames.push(frame);
        }
    }
    decoder.finish();
    while let Some(frame) = decoder.next_frame(&mut findings) {
        frames.push(frame);
    }
    (frames, findings)
}

/// The first byte chooses the size of the pieces and whether stamps are read, the rest is the body.
pub fn pieces_change_nothing(input: &[u8], framing: Option<Framing>) {
    let Some((&choice, body)) = input.split_first() else { return };
    let options = Options { framing, stamps: choice & 1 == 1, ..Options::default() };
    let size = usize::from(choice >> 1).max(1);
    let whole = decode(&options, std::iter::once(Bytes::copy_from_slice(body)));
    let cut = decode(&options, body.chunks(size).map(Bytes::copy_from_slice));
    assert_eq!(whole, cut, "pieces of {size} bytes");
    let mut end = 0;
    for frame in &whole.0 {
        assert!(end <= frame.offset, "frame {} overlaps the one before", frame.index);
        end = frame.offset + frame.length;
        assert!(end <= body.len() as u64);
    }
}
