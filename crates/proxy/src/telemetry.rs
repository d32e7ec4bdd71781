//! What the proxy says in the log. Never a query, a header or a body: keys are in those.

use std::{io, net::SocketAddr};

use tracing::{debug, info, warn};

use crate::{failure::Failure, upstreams::Upstream};

/// No connection could be accepted. Said once until one is accepted again.
pub(crate) fn accept_failed(err: &io::Error) {
    warn!(%err, "cannot accept connections; trying again (a limit on open files? see `ulimit -n`)");
}

pub(crate) fn accepting_again(failures: u64) {
    info!(failures, "accepting connections again");
}

/// A request was answered by us before any upstream was asked.
pub(crate) fn refused(client: SocketAddr, failure: &Failure) {
    warn!(%client, kind = failure.kind.as_str(), "refused: {}", failure.message);
}

/// An upstream could not be reached or gave no answer.
pub(crate) fn failed(upstream: &Upstream, failure: &Failure) {
    warn!(upstream = upstream.name(), kind = failure.kind.as_str(), "{}", failure.message);
}

/// An upstream connection that was kept open turned out to be closed.
pub(crate) fn reopened(upstream: &Upstream) {
    debug!(
        upstream = upstream.name(),
        "the upstream had closed the idle connection; opened a new one"
    );
}

/// No HTTPS upstream can be used.
pub(crate) fn no_roots(err: &str) {
    warn!("https upstreams cannot be used: {err}");
}

/// A connection with the app is over.
pub(crate) fn connection_ended(client: SocketAddr, result: &hyper::Result<()>) {
    match result {
        Ok(()) => debug!(%client, "connection ended"),
        // The app left, or an upstream's broken end was passed on: both are in the capture.
        Err(err) => debug!(%client, %err, "connection broke"),
    }
}

/// The same where HTTP/2 was spoken.
pub(crate) fn http2_connection_ended(client: SocketAddr, result: &Result<(), h2::Error>) {
    match result {
        Ok(()) => debug!(%client, "connection ended"),
        Err(err) => debug!(%client, %err, "connection broke"),
    }
}

/// An app's connection ended before it had said anything that can be understood.
pub(crate) fn not_opened(client: SocketAddr, err: &io::Error) {
    debug!(%client, %err, "connection not opened");
}

pub(crate) fn grace_over(open: usize) {
    warn!(open, "grace period over; closed what was still open");
}
