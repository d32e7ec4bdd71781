//! End-to-end tests: the built program, real sockets.

mod cli;
mod tidy;
