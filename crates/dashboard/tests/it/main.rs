//! The dashboard over HTTP.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api;
mod live;
mod pages;
mod security;
mod support;
