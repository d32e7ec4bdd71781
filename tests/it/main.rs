//! End-to-end tests: the built program, real sockets.

mod browser;
mod cli;
mod faults;
mod kill;
mod memory;
mod sdk;
mod stream;
mod tidy;
