//! Every row of `tests/fixtures/conformance`, with every chunking that it lists and pieces of 1, 2, 3 and 7 bytes.
//!
//! The rows come from the WHATWG standard (checked with a browser), from AWS's published framing and from the rules
//! written beside them; nothing in them is this decoder's own output.

#![expect(clippy::expect_used, reason = "a fixture that cannot be read fails the test")]

mod row;
mod suites;
