//! The decoder from outside: rows of `tests/fixtures/conformance`, tables made from the written rules, and laws.

#![expect(clippy::expect_used, reason = "a fixture that cannot be read fails the test")]

mod bounds;
mod conformance;
mod detection;
mod encoding;
mod eventstream;
mod json;
mod laws;
mod reading;
mod recovery;
mod row;
mod splitting;
mod stamps;
