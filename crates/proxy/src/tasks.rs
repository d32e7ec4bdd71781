//! The only place where tasks are born, and the phases in which they die.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::{sync::watch, task::AbortHandle, time::timeout};
use tokio_util::task::TaskTracker;

/// What the proxy is doing. Phases only go forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// New connections are accepted.
    Serving,
    /// No new connection, no new request; what is under way goes on.
    Draining,
    /// Whatever is still open is closed.
    Closing,
}

/// Every task of a proxy, and the phase all of them watch. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    phase: Arc<watch::Sender<Phase>>,
}

/// A task that is aborted with this value.
#[derive(Debug)]
pub(crate) struct Owned(AbortHandle);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Tasks {
    pub(crate) fn new() -> Self {
        Self { tracker: TaskTracker::new(), phase: Arc::new(watch::channel(Phase::Serving).0) }
    }

    /// Starts a task that ends by itself, at the latest when closing begins.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(task);
    }

    /// Starts a task that ends with what it belongs to.
    pub(crate) fn spawn_owned(&self, task: impl Future<Output = ()> + Send + 'static) -> Owned {
        Owned(self.tracker.spawn(task).abort_handle())
    }

    /// Whether open streams are being closed by us.
    pub(crate) fn is_closing(&self) -> bool {
        *self.phase.borrow() == Phase::Closing
    }

    /// Waits until `phase` has begun.
    pub(crate) async fn reached(&self, phase: Phase) {
        let mut watched = self.phase.subscribe();
        // The sender lives in `self`.
        let _ = watched.wait_for(|now| phase <= *now).await;
    }

    /// Ends all tasks: those that are done within `grace` by themselves, the others by closing what
    /// they hold. Gives the number of the latter.
    pub(crate) async fn end(&self, grace: Duration) -> usize {
        self.phase.send_replace(Phase::Draining);
        self.tracker.close();
        if timeout(grace, self.tracker.wait()).await.is_ok() {
            return 0;
        }
        let left = self.tracker.len();
        self.phase.send_replace(Phase::Closing);
        self.tracker.wait().await;
        left
    }
}
