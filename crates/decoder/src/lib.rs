//! Bytes to frames.

mod frame;

pub use frame::{Data, Frame, Framing, Stamp};
