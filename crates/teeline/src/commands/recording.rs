//! `teeline pause` and `teeline resume`: the running teeline passes exchanges on unrecorded, or records again.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::serve;
use crate::{
    args::RunningArgs,
    dashboard_client::{address, put},
    output::Output,
};

/// Tells the running teeline, and prints how it stands then.
///
/// # Errors
///
/// No teeline is running.
pub(crate) fn run(args: &RunningArgs, on: bool) -> Result<ExitCode> {
    let address = address(args)?;
    let wanted = json!({ "on": on });
    let recording = serve::runtime()?.block_on(put(&address, "/api/recording", &wanted))?;
    let passed = recording["passed"].as_u64().unwrap_or_default();
    let state = if on { "recording" } else { "paused: what begins now passes unrecorded" };
    let mut output = Output::new();
    output.line(&format!("{state}; {passed} exchanges have passed unrecorded"))?;
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}
