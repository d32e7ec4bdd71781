//! `teeline list`: the captures in the store, newest first.

use std::process::ExitCode;

use anyhow::Result;
use jiff::{Timestamp, tz::TimeZone};
use teeline_capture::{Query, State, Store, Summary};

use crate::{
    args::ListArgs,
    config,
    output::{Output, escaped_line},
    present::duration,
};

/// Lists what the query finds.
///
/// # Errors
///
/// There is no store, or the query names something that does not exist.
pub(crate) fn run(args: &ListArgs) -> Result<ExitCode> {
    let store = Store::open_read_only(&config::store_dir(&args.store)?)?;
    let page = store.list(&Query::parse(&args.query.join(" "))?, None, args.limit)?;
    let mut output = Output::new();
    for summary in &page.captures {
        if args.json { output.json(summary)? } else { output.line(&row(summary))? }
    }
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// One capture as a line.
pub(super) fn row(summary: &Summary) -> String {
    let started = local_time(&summary.started_at.to_string());
    let status = summary.status.map_or_else(|| "—".to_owned(), |status| status.to_string());
    let total = summary.duration_ms.map_or_else(|| "…".to_owned(), duration);
    let mut row = format!(
        "{}  {started}  {:<10} {:<18} {status:>3} {:<20} {total:>9}  {}",
        summary.id,
        escaped_line(&summary.upstream),
        summary.format.as_deref().unwrap_or("—"),
        state_words(summary),
        escaped_line(&summary.preview.chars().take(60).collect::<String>()),
    );
    for name in &summary.tool_names {
        row.push_str(&format!(" [{}]", escaped_line(name)));
    }
    if let Some(number) = summary.retry {
        row.push_str(&format!(" (retry {number})"));
    }
    let findings = summary.findings;
    for (count, word) in
        [(findings.error, "error"), (findings.warning, "warning"), (findings.note, "note")]
    {
        if count > 0 {
            row.push_str(&format!(" {count} {word}{}", if count == 1 { "" } else { "s" }));
        }
    }
    row
}

/// The verdict once it is known and says more than the state, else the state.
fn state_words(summary: &Summary) -> &'static str {
    match (summary.state, summary.verdict) {
        (State::Ended, Some(verdict)) => verdict.as_str(),
        (state, _) => state.as_str(),
    }
}

/// A time of the store in this machine's time zone, to the second.
fn local_time(utc: &str) -> String {
    utc.parse::<Timestamp>().map_or_else(
        |_| utc.to_owned(),
        |time| time.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}
