//! `teeline doctor`: what would keep this from working here.

mod checks;
mod network;

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use super::serve;
use crate::{
    args::DoctorArgs,
    config::Config,
    output::{Output, escaped_line},
};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    /// As it should be.
    Ok,
    /// It may be meant so.
    Note,
    /// Something will not work, the rest will.
    Warning,
    /// teeline cannot work like this.
    Error,
}

/// What one look found.
#[derive(Clone, Debug, Serialize)]
struct Found {
    check: &'static str,
    level: Level,
    message: String,
}

impl Found {
    fn new(check: &'static str, level: Level, message: impl Into<String>) -> Self {
        Self { check, level, message: message.into() }
    }
}

/// Looks at everything. The exit code is 1 if something keeps teeline from working.
///
/// # Errors
///
/// The output cannot be written.
pub(crate) fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let found = match Config::resolve(&args.serve) {
        Ok(config) => serve::runtime()?.block_on(look(&config, args.offline)),
        Err(error) => vec![Found::new("configuration", Level::Error, format!("{error:#}"))],
    };
    let mut output = Output::new();
    for one in &found {
        if args.json {
            output.json(one)?;
            continue;
        }
        let mark = match one.level {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "ERROR",
        };
        output.line(&format!("{mark:<8} {:<14} {}", one.check, escaped_line(&one.message)))?;
    }
    output.flush()?;
    let broken = found.iter().any(|one| one.level == Level::Error);
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn look(config: &Config, offline: bool) -> Vec<Found> {
    let mut found = vec![Found::new("configuration", Level::Ok, "it can be read")];
    found.extend(checks::ports(config).await);
    found.extend(checks::folder(config));
    found.extend(checks::store(config));
    match serve::proxy_config(config) {
        Err(error) => found.push(Found::new("upstreams", Level::Error, format!("{error:#}"))),
        Ok(_) if offline => {
            found.push(Found::new("upstreams", Level::Note, "not asked: --offline"));
        }
        Ok(proxy) => found.extend(network::upstreams(config, &proxy).await),
    }
    found.extend(checks::variables(config));
    found
}
