//! Faults that are put into a recorded stream: what a client should survive.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::recording::{End, Timed};
use crate::args::FaultArgs;

/// Which frames are tampered with, and how it ends. Frames are counted as `teeline frames` lists them.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    close_after: Option<u64>,
    reset_after: Option<u64>,
    stall: Option<(u64, Duration)>,
    drop: Vec<u64>,
    repeat: Vec<u64>,
    swap: Vec<u64>,
    chunk_size: Option<usize>,
}

impl Faults {
    pub(super) fn of(args: &FaultArgs) -> Self {
        Self {
            close_after: args.close_after,
            reset_after: args.reset_after,
            stall: args.stall,
            drop: args.drop_frame.clone(),
            repeat: args.repeat_frame.clone(),
            swap: args.swap_frame.clone(),
            chunk_size: args.chunk_size.and_then(|size| usize::try_from(size).ok()),
        }
    }

    /// Whether the body has to be cut into frames.
    pub(super) fn need_frames(&self) -> bool {
        self.close_after.is_some()
            || self.reset_after.is_some()
            || self.stall.is_some()
            || self.chunk_size.is_some()
            || !(self.drop.is_empty() && self.repeat.is_empty() && self.swap.is_empty())
    }

    /// How the answer ends now, if that was asked for.
    pub(super) fn end(&self) -> Option<End> {
        let early = self.close_after.map(|_| End::Early);
        self.reset_after.map(|_| End::Reset).or(early)
    }

    /// The frames with the faults in them.
    ///
    /// # Errors
    ///
    /// There is no frame of a number that was named.
    pub(super) fn add(&self, mut frames: Vec<Timed>) -> Result<Vec<Timed>> {
        let count = frames.len() as u64;
        let named = self.drop.iter().chain(&self.repeat).chain(&self.swap).copied();
        let named = named.chain(self.stall.map(|(frame, _)| frame));
        for frame in named {
            ensure!(frame < count, "there is no frame {frame}: it has {count}, counted from 0");
        }
        if let Some((from, pause)) = self.stall {
            let late = frames.iter_mut().filter(|piece| Some(from) <= piece.frame);
            late.for_each(|piece| piece.at += pause);
        }
        for &frame in &self.swap {
            let at = usize::try_from(frame).unwrap_or(usize::MAX);
            if let [first, second, ..] = frames.get_mut(at..).unwrap_or_default() {
                std::mem::swap(&mut first.bytes, &mut second.bytes);
                std::mem::swap(&mut first.frame, &mut second.frame);
            }
        }
        let after = self.reset_after.into_iter().chain(self.close_after).min();
        if let Some(after) = after {
            frames.truncate(usize::try_from(after).unwrap_or(usize::MAX));
        }
        let named = |list: &[u64], piece: &Timed| piece.frame.is_some_and(|f| list.contains(&f));
        frames.retain(|piece| !named(&self.drop, piece));
        let frames = frames.into_iter().flat_map(|piece| {
            let again = named(&self.repeat, &piece).then(|| piece.clone());
            std::iter::once(piece).chain(again)
        });
        Ok(frames.flat_map(|piece| self.cut(piece)).collect())
    }

    /// A piece in the size that was asked for.
    fn cut(&self, piece: Timed) -> Vec<Timed> {
        let Some(size) = self.chunk_size else { return vec![piece] };
        let Timed { at, mut bytes, frame } = piece;
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let bytes = bytes.split_to(size.clamp(1, bytes.len()));
            pieces.push(Timed { at, bytes, frame });
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn frames() -> Vec<Timed> {
        let frame = |index: u64, text: &'static str| Timed {
            at: Duration::from_millis(index),
            bytes: Bytes::from_static(text.as_bytes()),
            frame: Some(index),
        };
        vec![frame(0, "a"), frame(1, "b"), frame(2, "cc")]
    }

    fn texts(faults: &Faults) -> Vec<String> {
        let pieces = faults.add(frames()).unwrap();
        pieces.iter().map(|piece| String::from_utf8(piece.bytes.to_vec()).unwrap()).collect()
    }

    #[test]
    fn each_fault_does_what_it_says() {
        let none = Faults::default();
        assert_eq!(
            (texts(&none), none.need_frames(), none.end()),
            (vec!["a".into(), "b".into(), "cc".into()], false, None)
        );
        for (faults, expected, end) in [
            (Faults { close_after: Some(2), ..none.clone() }, &["a", "b"][..], Some(End::Early)),
            (Faults { reset_after: Some(0), ..none.clone() }, &[], Some(End::Reset)),
            (Faults { drop: vec![1], ..none.clone() }, &["a", "cc"], None),
            (Faults { repeat: vec![0], ..none.clone() }, &["a", "a", "b", "cc"], None),
            (Faults { swap: vec![1], ..none.clone() }, &["a", "cc", "b"], None),
            (Faults { chunk_size: Some(1), ..none.clone() }, &["a", "b", "c", "c"], None),
        ] {
            assert!(faults.need_frames());
            assert_eq!(
                (texts(&faults), faults.end()),
                (expected.iter().map(|&text| text.to_owned()).collect(), end),
                "{faults:?}"
            );
        }
        let stalled = Faults { stall: Some((1, Duration::from_secs(5))), ..none.clone() };
        let at: Vec<u64> =
            stalled.add(frames()).unwrap().iter().map(|piece| piece.at.as_secs()).collect();
        assert_eq!(at, [0, 5, 5]);
        assert!(Faults { drop: vec![3], ..none }.add(frames()).is_err());
    }
}
