//! Frames to readings.

mod reading;

pub use reading::{
    Counts, Effect, Failure, Finish, FrameRow, Output, Reading, SCHEMA, Timing, ToolCall, Usage,
    Verdict,
};
