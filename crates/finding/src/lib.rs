//! What can be wrong with a stream.
//!
//! A [`Finding`] is a fault that was found, with its place. Its [`Kind`] holds the facts; the words
//! (id, severity, sentence, why it matters, what to do) stand in one table, [`catalogue`], from which
//! the command line, the dashboard and the documentation all print.
//!
//! ```
//! use teeline_finding::{Findings, Kind, Place};
//!
//! let mut findings = Findings::default();
//! findings.report(Place::STREAM, Kind::NoEnd { expected: "`data: [DONE]`".into(), finished: false });
//! let finding = &findings.list()[0];
//! assert_eq!(finding.kind.id(), "no-end");
//! assert_eq!(finding.kind.message(), "The stream ended without `data: [DONE]`.");
//! ```
//!
//! The ids and severities come from `FORMATS.md` 0.6 and J, the folding of repeats from the
//! contract: the first five of a kind are listed, the rest are counted in the fifth.

pub mod catalogue;
mod excerpt;
mod findings;

pub use catalogue::{Entry, Kind};
pub use excerpt::{EXCERPT_CHARS, excerpt};
pub use findings::{Finding, Findings, Place};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A client is missing something, or breaks.
    Error,
    /// Some clients break, or something is missing that does not show.
    Warning,
    /// Worth knowing; nothing is lost.
    Note,
}

impl Severity {
    /// The name used in JSON and queries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}
