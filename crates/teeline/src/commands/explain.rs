//! `teeline explain`: the catalogue of findings, in words.

use std::process::ExitCode;

use anyhow::{Result, bail};
use teeline_finding::catalogue::{ENTRIES, Entry, entry};

use crate::output::Output;

/// Explains one finding, or lists them all.
///
/// # Errors
///
/// There is no finding of that name.
pub(crate) fn run(finding: Option<&str>) -> Result<ExitCode> {
    let mut output = Output::new();
    match finding {
        None => {
            for entry in ENTRIES {
                output.line(&format!(
                    "{:<8} {:<21} {}",
                    entry.severity.as_str(),
                    entry.id,
                    first_sentence(entry)
                ))?;
            }
        }
        Some(id) => {
            let Some(entry) = entry(id) else {
                bail!("there is no finding `{id}`; `teeline explain` lists them all");
            };
            output.line(&format!(
                "{} ({})\n\n{}",
                entry.id,
                entry.severity.as_str(),
                entry.meaning()
            ))?;
            output.line(&format!(
                "\nWhy it matters: {}\n\nWhat to do: {}",
                entry.why, entry.advice
            ))?;
        }
    }
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn first_sentence(entry: &Entry) -> &'static str {
    let meaning = entry.meaning();
    meaning.split_inclusive(". ").next().unwrap_or(meaning).trim_end()
}
