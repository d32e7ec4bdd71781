//! Bytes to frames: server-sent events, NDJSON, JSON arrays, plain JSON, AWS event streams. What the two sides of a
//! [`websocket`] say is read by a module of its own, since it has two directions.
//!
//! A [`Decoder`] does no input or output: the chunks of a body go in as they come, frames and findings come out, and any
//! chunking gives the same ones. It reads what the WHATWG's `EventSource` reads and says, in findings, what a stricter
//! reader would have lost.
//!
//! ```
//! use teeline_decoder::{Decoder, Options};
//! use teeline_finding::Findings;
//!
//! let mut decoder = Decoder::new(Options::default());
//! let mut findings = Findings::default();
//! let mut data = Vec::new();
//! for chunk in ["data: {\"n\":", "1}\n\nda", "ta: [DONE]\n"] {
//!     decoder.push(chunk.into());
//!     while let Some(frame) = decoder.next_frame(&mut findings) {
//!         data.extend(frame.data);
//!     }
//! }
//! decoder.finish();
//! while let Some(frame) = decoder.next_frame(&mut findings) {
//!     data.extend(frame.data);
//! }
//! assert_eq!(data.iter().map(|data| data.as_str()).collect::<Vec<_>>(), ["{\"n\":1}", "[DONE]"]);
//! assert_eq!(findings.list()[0].kind.id(), "unterminated");
//! ```
//!
//! It reports `empty`, `bom`, `ignored-line`, `cut`, `unterminated`, `too-large`, `crlf`, `bad-utf8`, `crc-mismatch`, for
//! what follows an array's closing bracket `after-end`, and for binary headers that cannot be read `bad-field`. Whether data
//! is JSON, and whether an event without data matters, depends on the format: the assembler says so.

mod array;
mod block;
mod decoder;
mod detect;
mod document;
mod eventstream;
mod frame;
pub mod json;
mod lines;
mod ndjson;
mod pieces;
mod sse;
mod stamp;
mod text;
mod unstamp;
pub mod websocket;

pub use decoder::{Counts, Decoder, FRAME_BOUND, Options};
pub use frame::{Data, Frame, Framing, Stamp};
pub use unstamp::unstamped;
