//! Secrets never reach the disk.

/// What is redacted beyond the built-in names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Further header names.
    pub headers: Vec<String>,
    /// Further names of query values.
    pub query: Vec<String>,
}
