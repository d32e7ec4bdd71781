//! The record of a request and its response while they are under way.

use teeline_capture::{Ending, Tap};

use crate::{outlet::Outlet, tasks::Tasks, upload::Passage, upstream_io::Travels};

/// Ends the record when nobody holds it any more: until a response came the request's future does,
/// then the response's body.
pub(crate) struct Exchange {
    tap: Tap,
    passage: Passage,
    tasks: Tasks,
    /// Where the app can be seen to leave.
    outlet: Outlet,
    wire: Travels,
}

impl Exchange {
    pub(crate) fn new(tap: Tap, tasks: Tasks, outlet: Outlet) -> Self {
        Self { tap, passage: Passage::default(), tasks, outlet, wire: Travels::default() }
    }

    pub(crate) fn tap(&self) -> &Tap {
        &self.tap
    }

    /// How far the request has passed.
    pub(crate) fn passage(&self) -> &Passage {
        &self.passage
    }

    /// On which connection it travels.
    pub(crate) fn wire(&self) -> &Travels {
        &self.wire
    }

    /// Ends the record; the first ending counts.
    pub(crate) fn end(&self, ending: Ending) {
        self.tap.end(ending);
    }
}

impl Drop for Exchange {
    /// Given up without an ending: either we stop, or the app went.
    fn drop(&mut self) {
        if let Some(left) = self.outlet.left() {
            self.tap.left(&left.how());
        }
        let closing = self.tasks.is_closing();
        self.end(if closing { Ending::Interrupted } else { Ending::ClientLeft });
    }
}
