//! Terms to SQL.

use rusqlite::types::Value;

use super::{Query, Test};

/// The values of `state:`.
pub(super) const STATES: [&str; 7] =
    ["open", "ended", "upstream-broke", "client-left", "failed", "interrupted", "broken"];

/// The values of `verdict:`.
pub(super) const VERDICTS: [&str; 4] =
    ["finished", "did-not-finish", "not-the-whole-stream", "empty"];

/// What `state:broken` means: the upstream or teeline broke it off before it was finished, or it ended
/// cleanly without being finished. An app that leaves broke nothing.
pub(crate) const BROKEN: &str = "((state IN ('upstream-broke', 'failed', 'interrupted') AND verdict IS NOT 'finished') \
     OR (state = 'ended' AND verdict IS 'did-not-finish'))";

/// What `finding:any` means.
pub(crate) const ANY_FINDING: &str = "(0 < errors + warnings + notes)";

/// A condition on rows of `capture`, with the values of its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Condition {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

impl Query {
    /// The condition, without what is deleted.
    pub(crate) fn condition(&self) -> Condition {
        let mut condition = Condition { sql: "deleted_us IS NULL".to_owned(), values: Vec::new() };
        for term in &self.terms {
            condition.sql.push_str(if term.excluded { " AND NOT " } else { " AND " });
            condition.add(&term.test);
        }
        condition
    }
}

impl Condition {
    /// Adds a test. Each is wrapped so that NULL counts as false, also where it is excluded.
    fn add(&mut self, wanted: &Test) {
        match wanted {
            Test::Text(text) => self.text(text),
            Test::Model(text) => self.holds("model", text),
            Test::Upstream(text) => self.holds("upstream", text),
            Test::Format(text) => self.holds("format", text),
            Test::Path(text) => self.holds("path", text),
            Test::Tool(text) => self.holds("tools", text),
            Test::Finding(id) => self.is("instr(findings, ?)", format!("\n{id}\n").into()),
            Test::AnyFinding => self.sql.push_str(ANY_FINDING),
            Test::Errors => self.sql.push_str("(0 < errors)"),
            Test::Warnings => self.sql.push_str("(0 < warnings)"),
            Test::Notes => self.sql.push_str("(0 < notes)"),
            Test::State(state) => self.is("(state IS ?)", state.as_str().to_owned().into()),
            Test::Broken => self.sql.push_str(BROKEN),
            Test::Verdict(verdict) => self.is("(verdict IS ?)", verdict.as_str().to_owned().into()),
            Test::Status(status) => self.is("(status IS ?)", i64::from(*status).into()),
            Test::StatusClass(class) => self.is("(status / 100 IS ?)", i64::from(*class).into()),
            Test::Since(time) => self.is("(? <= started_us)", time.as_micros().into()),
            Test::Until(time) => self.is("(started_us < ?)", time.as_micros().into()),
            Test::Streamed(yes) => self.is("(streamed IS ?)", i64::from(*yes).into()),
        }
    }

    fn is(&mut self, sql: &str, value: Value) {
        self.sql.push_str(sql);
        self.values.push(value);
    }

    fn holds(&mut self, column: &str, text: &str) {
        let sql = format!("(coalesce({column}, '') LIKE ? ESCAPE '\\')");
        self.is(&sql, like(text).into());
    }

    /// The index needs three characters; a shorter text is looked for row by row. Of an open capture
    /// only path and model are known yet.
    fn text(&mut self, text: &str) {
        self.sql.push_str("(seq IN (SELECT rowid FROM search WHERE ");
        if 3 <= text.chars().count() {
            self.is("search MATCH ?", format!("\"{}\"", text.replace('"', "\"\"")).into());
        } else {
            let columns = ["answer", "reasoning", "tools", "model", "path", "request"];
            for (index, column) in columns.iter().enumerate() {
                let or = if index == 0 { "" } else { " OR " };
                self.is(&format!("{or}{column} LIKE ? ESCAPE '\\'"), like(text).into());
            }
        }
        self.sql.push_str(") OR (state = 'open' AND (");
        self.is("path LIKE ? ESCAPE '\\'", like(text).into());
        self.is(" OR coalesce(model, '') LIKE ? ESCAPE '\\'", like(text).into());
        self.sql.push_str(")))");
    }
}

/// A pattern for LIKE that holds `text` as it is.
fn like(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}
