//! Queries: the search box's language.

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    words: Vec<String>,
}

/// What is wrong with a query; the message names what is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QueryError(String);

impl Query {
    /// Parses a query (contract 4.1).
    ///
    /// # Errors
    ///
    /// A key or value that does not exist; the message names the known ones.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self { words: text.split_whitespace().map(str::to_lowercase).collect() })
    }

    pub(crate) fn fits(&self, summary: &crate::Summary) -> bool {
        self.words.iter().all(|word| summary.path.to_lowercase().contains(word))
    }
}
