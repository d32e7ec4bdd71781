//! HTTP/2: the app's side ([`serve`]), the upstream's side ([`Link`]), and what both need.
//!
//! By the `h2` crate itself, since what has to be passed on is below what hyper shows: which code a
//! stream was reset with, what of it is really written, a 1xx on its way.

mod io;
mod link;
mod pass;
mod serve;
mod watch;

pub(crate) use link::{Claim, Link, Opened, Unanswered, is_unprocessed};
pub(crate) use serve::serve;
pub(crate) use watch::Watch;

/// Bytes of a body that may wait here for a slow receiver: the window of a stream.
const STREAM_WINDOW: u32 = 256 << 10;

/// Streams that an app may have open at once.
const MAX_STREAMS: u32 = 256;

/// The window of a connection: as much as all its streams, so that none that is stalled holds up
/// another.
const CONNECTION_WINDOW: u32 = STREAM_WINDOW * MAX_STREAMS;

/// Bytes of a body that h2 may hold before they are written.
const SEND_BUFFER: usize = 64 << 10;

/// As many bytes of head as HTTP/1 takes.
const MAX_HEAD: u32 = 400 << 10;
