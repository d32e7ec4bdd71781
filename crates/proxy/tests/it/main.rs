//! The proxy between real sockets: a scripted upstream, a client that speaks in raw bytes.
//!
//! Order is proved by causality: the upstream goes on when the client has what came before, the
//! client goes on when the upstream has.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod differential;
mod endings;
mod errors;
mod heads;
mod http2;
mod laws;
mod leaving;
mod outbound;
mod reuse;
mod scenarios;
mod shutdown;
mod stalled;
mod streaming;
mod support;
mod tls;
mod upgrades;
mod uploads;
