//! Queries: the search box's language (contract 4.1).
//!
//! Words and "quoted phrases" are searched for, `key:value` narrows, `-key:value` excludes; all of it
//! has to fit.

mod parse;
mod sql;

pub(crate) use sql::{ANY_FINDING, BROKEN};

use crate::{State, Timestamp};
use teeline_assembler::Verdict;

/// A parsed query. The default one fits everything.
///
/// ```
/// use teeline_capture::Query;
///
/// assert!(Query::parse(r#"weather "in Paris" model:gpt -state:open status:4xx"#).is_ok());
/// let error = Query::parse("colour:red").unwrap_err().to_string();
/// assert!(error.contains("model:"), "{error}");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    terms: Vec<Term>,
}

/// What is wrong with a query; the message names what is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QueryError(String);

/// A key of the query language, for help and completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryKey {
    /// Its name, without the colon.
    pub name: &'static str,
    /// What it narrows by.
    pub about: &'static str,
    /// The values it knows; empty where any text is possible.
    pub values: &'static [&'static str],
}

const fn key(name: &'static str, about: &'static str, values: &'static [&'static str]) -> QueryKey {
    QueryKey { name, about, values }
}

impl Query {
    /// Every key. The values of `finding` and `format` are completed by their own tables.
    pub const KEYS: &'static [QueryKey] = &[
        key("model", "the model's name holds this", &[]),
        key("upstream", "the upstream's name holds this", &[]),
        key("format", "the format's name holds this", &[]),
        key("path", "the path holds this", &[]),
        key("tool", "a called tool's name holds this", &[]),
        key("finding", "a finding's id, or its severity", &["any", "error", "warning", "note"]),
        key("state", "where the exchange stands", &sql::STATES),
        key("verdict", "how the stream ended", &sql::VERDICTS),
        key("status", "the status, as 404 or 4xx", &["2xx", "3xx", "4xx", "5xx"]),
        key("since", "began at or after, as 2h or 2026-11-29", &[]),
        key("until", "began before, as 2h or the end of 2026-11-29", &[]),
        key("streamed", "whether the body came in frames", &["yes", "no"]),
    ];

    /// Parses a query (contract 4.1). Times that say how long ago count from now.
    ///
    /// # Errors
    ///
    /// A key or value that does not exist; the message names the known ones.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text, Timestamp::now()).map(|terms| Self { terms })
    }

    /// Whether it fits everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The query without what a list's segments write into it (`state:open`, `state:broken`,
    /// `finding:any`), so that the counts of the other segments stay true. Other states narrow all of them.
    pub(crate) fn without_segment(&self) -> Self {
        let terms = self.terms.iter().filter(|term| !term.is_segment()).cloned().collect();
        Self { terms }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    excluded: bool,
    test: Test,
}

impl Term {
    fn is_segment(&self) -> bool {
        let segment =
            matches!(self.test, Test::State(State::Open) | Test::Broken | Test::AnyFinding);
        segment && !self.excluded
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Text(String),
    Model(String),
    Upstream(String),
    Format(String),
    Path(String),
    Tool(String),
    Finding(&'static str),
    AnyFinding,
    Errors,
    Warnings,
    Notes,
    State(State),
    Broken,
    Verdict(Verdict),
    Status(u16),
    StatusClass(u16),
    Since(Timestamp),
    Until(Timestamp),
    Streamed(bool),
}
