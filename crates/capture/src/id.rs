//! The name of a capture.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id of a capture: a UUID of version 7, so that ids sort by the time at which they were made.
///
/// ```
/// use teeline_capture::CaptureId;
///
/// let id: CaptureId = "0190b6a5-2f4e-7c31-9d2a-5b8f0e6a1c77".parse().unwrap();
/// assert_eq!(id.to_string(), "0190b6a5-2f4e-7c31-9d2a-5b8f0e6a1c77");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaptureId(Uuid);

impl CaptureId {
    /// A new id of this moment.
    pub(crate) fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for CaptureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

impl fmt::Debug for CaptureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is no UUID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no capture id")]
pub struct IdError(String);

impl FromStr for CaptureId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Uuid::try_parse(text).map(Self).map_err(|_| IdError(text.to_owned()))
    }
}
