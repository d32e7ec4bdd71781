//! End-to-end tests: the built program, real sockets.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "whatever fails here is a failed test"
)]

mod browser;
mod cli;
mod clients;
mod commands;
mod corpus;
mod faults;
mod generated;
mod hostile;
mod injected;
mod kill;
mod long;
mod memory;
mod scripts;
mod sdk;
mod stream;
mod tidy;
