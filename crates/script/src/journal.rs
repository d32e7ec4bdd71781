//! What happened: requests, gates, connections. Shared by the server and whoever watches it.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::Request;

/// How many connections are remembered as gone.
const CONNECTIONS_KEPT: usize = 10_000;

/// How a client's connection was seen to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gone {
    /// The client closed it: a FIN.
    Closed,
    /// The client reset it, or a write failed.
    Reset,
    /// This side ended it, as the script said.
    Ended,
}

#[derive(Debug)]
pub(crate) struct Journal {
    state: Mutex<State>,
    changed: Notify,
    keep_requests: usize,
    keep_body: usize,
}

#[derive(Debug, Default)]
struct State {
    requests: VecDeque<Entry>,
    /// How many requests came in all.
    received: u64,
    gone: BTreeMap<u64, Gone>,
    open: HashSet<Arc<str>>,
    reached: HashMap<Arc<str>, u64>,
}

#[derive(Debug)]
struct Entry {
    request: Request,
    /// The body as it grows; it is put into `request` when that is asked for.
    body: Vec<u8>,
}

impl Journal {
    pub(crate) fn new(keep_requests: usize, keep_body: usize) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), keep_requests, keep_body }
    }

    /// A head came: gives the request its number.
    pub(crate) fn begin(&self, request: &mut Request) {
        let mut state = self.lock();
        request.number = state.received;
        state.received += 1;
        if self.keep_requests <= state.requests.len() {
            state.requests.pop_front();
        }
        state.requests.push_back(Entry { request: request.clone(), body: Vec::new() });
        drop(state);
        self.changed.notify_waiters();
    }

    /// A piece of a body was read.
    pub(crate) fn body(&self, number: u64, piece: &[u8]) {
        let keep = self.keep_body;
        self.update(number, |entry| {
            entry.request.body_length += piece.len() as u64;
            let room = keep.saturating_sub(entry.body.len()).min(piece.len());
            entry.body.extend_from_slice(piece.get(..room).unwrap_or_default());
        });
    }

    /// A body was read to its end.
    pub(crate) fn body_end(&self, number: u64, trailers: Vec<(String, String)>) {
        self.update(number, |entry| {
            entry.request.body_whole = true;
            entry.request.trailers = trailers;
        });
    }

    /// The client reset a request's stream.
    pub(crate) fn reset(&self, number: u64, code: u32) {
        self.update(number, |entry| entry.request.reset = Some(code));
    }

    pub(crate) async fn until_reset(&self, number: u64) -> u32 {
        self.until(|state| state.find(number)?.request.reset).await
    }

    pub(crate) fn gone(&self, connection: u64, how: Gone) {
        let mut state = self.lock();
        state.gone.entry(connection).or_insert(how);
        if CONNECTIONS_KEPT < state.gone.len() {
            state.gone.pop_first();
        }
        drop(state);
        self.changed.notify_waiters();
    }

    pub(crate) fn open(&self, name: &str) {
        self.lock().open.insert(name.into());
        self.changed.notify_waiters();
    }

    pub(crate) fn reach(&self, name: &Arc<str>) {
        *self.lock().reached.entry(Arc::clone(name)).or_default() += 1;
        self.changed.notify_waiters();
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.lock().requests.iter().map(Entry::snapshot).collect()
    }

    pub(crate) fn request(&self, number: u64) -> Option<Request> {
        self.lock().find(number).map(|entry| entry.snapshot())
    }

    pub(crate) async fn until_open(&self, name: &str) {
        self.until(|state| state.open.contains(name).then_some(())).await;
    }

    pub(crate) async fn until_reached(&self, name: &str, times: u64) {
        self.until(|state| (times <= *state.reached.get(name)?).then_some(())).await;
    }

    pub(crate) async fn until_gone(&self, connection: u64) -> Gone {
        self.until(|state| state.gone.get(&connection).copied()).await
    }

    pub(crate) async fn until_received(&self, count: u64) {
        self.until(|state| (count <= state.received).then_some(())).await;
    }

    pub(crate) async fn until_body(&self, number: u64, length: u64) {
        self.until(|state| {
            let request = &state.find(number)?.request;
            (length <= request.body_length || request.body_whole).then_some(())
        })
        .await;
    }

    async fn until<T>(&self, mut ready: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            // Registered before the look, so that a change in between is not missed.
            let changed = self.changed.notified();
            if let Some(value) = ready(&mut self.lock()) {
                return value;
            }
            changed.await;
        }
    }

    fn update(&self, number: u64, change: impl FnOnce(&mut Entry)) {
        self.lock().find(number).map(change);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&mut self, number: u64) -> Option<&mut Entry> {
        let first = self.requests.front()?.request.number;
        let index = usize::try_from(number.checked_sub(first)?).ok()?;
        self.requests.get_mut(index)
    }
}

impl Entry {
    fn snapshot(&self) -> Request {
        Request { body: Bytes::copy_from_slice(&self.body), ..self.request.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_requests_make_room_and_numbers_go_on() {
        let journal = Journal::new(2, 3);
        for _ in 0..3 {
            journal.begin(&mut Request::default());
        }
        journal.body(0, b"forgotten");
        journal.body(2, b"ab");
        journal.body(2, b"cd");
        let requests = journal.requests();
        let numbers: Vec<_> = requests.iter().map(|request| request.number).collect();
        assert_eq!(numbers, [1, 2]);
        assert_eq!((requests[1].body.as_ref(), requests[1].body_length), (&b"abc"[..], 4));
    }
}
