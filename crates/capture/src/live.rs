//! What changes, for those who watch.

use std::sync::Arc;

use teeline_assembler::Reading;
use tokio::sync::watch;

use crate::{CaptureId, Summary};

/// A change of the store.
#[derive(Clone, Debug)]
pub enum Change {
    /// A capture began, changed (at most ten times a second) or ended.
    Capture(Arc<Summary>),
    /// A capture was deleted.
    Deleted(CaptureId),
}

/// The reading of an open capture as it grows.
pub struct LiveReading {
    pub(crate) receiver: watch::Receiver<Option<Arc<Reading>>>,
}

impl LiveReading {
    /// The newest reading that was not given yet, waited for; at most ten a second. `None` after the
    /// final one. Cancel-safe.
    pub async fn next(&mut self) -> Option<Arc<Reading>> {
        loop {
            self.receiver.changed().await.ok()?;
            let newest = self.receiver.borrow_and_update().clone();
            if newest.is_some() {
                return newest;
            }
        }
    }
}
