//! What was deleted by query a moment ago, so that it can be brought back without naming every id.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use teeline_capture::CaptureId;

/// How long the store keeps what was deleted.
const KEPT: Duration = Duration::from_secs(10);

/// How many deletions are remembered; the oldest goes first.
const REMEMBERED: usize = 16;

struct Batch {
    number: u64,
    at: Instant,
    ids: Vec<CaptureId>,
}

/// The deletions of the last ten seconds.
#[derive(Default)]
pub(crate) struct Undo {
    batches: Mutex<VecDeque<Batch>>,
}

impl Undo {
    /// Remembers a deletion and gives its number.
    pub(crate) fn remember(&self, ids: Vec<CaptureId>) -> u64 {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.retain(|batch| batch.at.elapsed() < KEPT);
        if batches.len() == REMEMBERED {
            batches.pop_front();
        }
        let number = batches.back().map_or(1, |last| last.number + 1);
        batches.push_back(Batch { number, at: Instant::now(), ids });
        number
    }

    /// The ids of a deletion; it is forgotten.
    pub(crate) fn take(&self, number: u64) -> Option<Vec<CaptureId>> {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let at = batches.iter().position(|batch| batch.number == number)?;
        batches.remove(at).map(|batch| batch.ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_is_given_back_once() {
        let undo = Undo::default();
        let id: CaptureId = "0190b6a5-2f4e-7c31-9d2a-5b8f0e6a1c77".parse().unwrap();
        let first = undo.remember(vec![id]);
        let second = undo.remember(vec![]);
        assert_ne!(first, second);
        assert_eq!(undo.take(first), Some(vec![id]));
        assert_eq!(undo.take(first), None);
    }

    #[test]
    fn only_the_newest_are_remembered() {
        let undo = Undo::default();
        let first = undo.remember(vec![]);
        let last = (0..REMEMBERED).map(|_| undo.remember(vec![])).last().unwrap();
        assert_eq!(undo.take(first), None);
        assert_eq!(undo.take(last), Some(vec![]));
    }
}
