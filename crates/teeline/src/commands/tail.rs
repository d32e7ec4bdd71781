//! `teeline tail`: captures as they happen, or one answer as it grows.

use std::{collections::HashSet, process::ExitCode};

use anyhow::Result;
use serde::Deserialize;
use teeline_capture::{State, Summary};
use teeline_decoder::Frame;

use super::{list, serve};
use crate::{
    args::TailArgs,
    dashboard_client::{Events, address},
    output::{Output, escaped, escaped_line, say},
    stop,
};

/// Follows what the running teeline records, until it stops or this is stopped.
///
/// # Errors
///
/// No teeline is running, or it has no such capture.
pub(crate) fn run(args: &TailArgs) -> Result<ExitCode> {
    let address = address(&args.running)?;
    serve::runtime()?.block_on(async {
        tokio::select! {
            done = follow(args, &address) => done?,
            () = stop::requested() => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn follow(args: &TailArgs, address: &str) -> Result<()> {
    match &args.follow {
        Some(id) => one(address, id, args.json).await,
        None => all(address, args.json).await,
    }
}

/// A line when a capture begins and one when it ends; as JSON every change.
async fn all(address: &str, json: bool) -> Result<()> {
    let mut events = Events::open(address, "/api/live").await?;
    say(&format!("following the captures of http://{address}"));
    let mut output = Output::new();
    let mut begun = HashSet::new();
    while let Some(event) = events.next().await? {
        let data = text(&event);
        match event.event.as_deref() {
            Some("capture") if json => output.line(&data)?,
            Some("capture") => {
                let summary: Summary = serde_json::from_str(&data)?;
                let open = summary.state == State::Open;
                let news = if open { begun.insert(summary.id) } else { begun.remove(&summary.id) };
                // One that was open before this began to follow is shown at its end.
                if news || !open {
                    output.line(&list::row(&summary))?;
                }
            }
            Some("missed") => say("some changes came too fast and are not shown"),
            _ => {}
        }
        output.flush()?;
    }
    say("teeline stopped");
    Ok(())
}

/// The parts of a Reading that are shown while it grows.
#[derive(Deserialize)]
struct Grown {
    outputs: Vec<GrownOutput>,
    findings: Vec<GrownFinding>,
    summary: String,
}

#[derive(Deserialize)]
struct GrownOutput {
    index: i64,
    text: String,
}

#[derive(Deserialize)]
struct GrownFinding {
    id: String,
    severity: String,
    message: String,
}

/// The answer as it grows, then what the whole came to; as JSON every reading.
async fn one(address: &str, id: &str, json: bool) -> Result<()> {
    let path = format!("/api/captures/{}/live", path_segment(id));
    let mut events = Events::open(address, &path).await?;
    let mut output = Output::new();
    let mut shown: Vec<(i64, String)> = Vec::new();
    let mut last = None;
    while let Some(event) = events.next().await? {
        match event.event.as_deref() {
            Some("reading") if json => output.line(&text(&event))?,
            Some("reading") => {
                let reading: Grown = serde_json::from_str(&text(&event))?;
                for answer in &reading.outputs {
                    print_growth(&mut output, &mut shown, answer)?;
                }
                last = Some(reading);
            }
            Some("end") => break,
            _ => {}
        }
        output.flush()?;
    }
    if let Some(reading) = last {
        output.line(&format!("\n\n{}", escaped_line(&reading.summary)))?;
        for finding in reading.findings {
            let GrownFinding { id, severity, message } = finding;
            output.line(&format!("{severity:<8} {id}: {}", escaped_line(&message)))?;
        }
    }
    output.flush()
}

/// Prints what an answer gained. Another choice than the last one shown begins on its own line.
fn print_growth(
    output: &mut Output,
    shown: &mut Vec<(i64, String)>,
    answer: &GrownOutput,
) -> Result<()> {
    let was_last = shown.last().is_some_and(|(index, _)| *index == answer.index);
    let before = shown.iter().position(|(index, _)| *index == answer.index);
    let before = before.map(|at| shown.remove(at).1).unwrap_or_default();
    let result = match answer.text.strip_prefix(before.as_str()) {
        Some("") if !before.is_empty() || answer.text.is_empty() => Ok(()),
        Some(gained) => {
            if !was_last && !shown.is_empty() {
                output.line(&format!("\n── choice {} ──", answer.index))?;
            }
            output.bytes(escaped(gained).as_bytes())
        }
        None => output.bytes(format!("\n── rewritten ──\n{}", escaped(&answer.text)).as_bytes()),
    };
    let grew = before != answer.text;
    let place = if grew || was_last { shown.len() } else { 0 };
    shown.insert(place, (answer.index, answer.text.clone()));
    result
}

fn text(event: &Frame) -> String {
    event.data.as_ref().map(|data| data.as_str().to_owned()).unwrap_or_default()
}

/// An id has none of the characters that a path gives a meaning; anything else is no id and finds nothing.
fn path_segment(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
