//! `teeline run -- CMD...`: a command with the base-URL variables set, and what its streams came to.

mod junit;

use std::{
    net::SocketAddr,
    process::{ExitCode, ExitStatus, Stdio},
};

use anyhow::{Context as _, Result};
use teeline_assembler::Reading;
use teeline_capture::{Query, Store, Summary};
use teeline_finding::Severity;
use tokio::process::Command;

use super::{
    list,
    serve::{self, Running},
};
use crate::{
    args::{FailOn, RunArgs, ServeArgs},
    base_urls::{VARIABLES, Variable},
    config::{Config, NamedUpstream},
    output::{escaped_line, say},
    stop,
};

/// Captures of one run that are read at a time.
const PAGE: usize = 1000;

/// One exchange of the command, and what was read in it.
struct Captured {
    summary: Summary,
    reading: std::sync::Arc<Reading>,
}

/// Runs the command. Its exit code is this program's, unless it is 0 and `--fail-on` finds something: then 1.
///
/// # Errors
///
/// The proxy cannot start, the command cannot be started, or the report cannot be written.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let mut config = Config::resolve(&with_own_places(&args.serve)?)?;
    let variables = lead_through(&mut config);
    serve::prepare();
    let (status, store) = serve::runtime()?.block_on(async {
        let running = Running::start(&config).await?;
        say(&format!("teeline: the dashboard is at {} while this runs", running.dashboard_url()));
        let status = command(args, &variables, running.proxy()).await;
        let store = running.stop().await?;
        Ok::<_, anyhow::Error>((status?, store))
    })?;
    let captured = captured(&store)?;
    report(&captured);
    if let Some(path) = &args.junit {
        let file = std::fs::File::create(path)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        junit::write(&captured, args.fail_on.unwrap_or_default().severity(), file)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let failing = args.fail_on.is_some_and(|fail_on| {
        captured.iter().any(|one| failings(&one.reading, fail_on.severity()).next().is_some())
    });
    Ok(match exit_code(status) {
        0 if failing => ExitCode::FAILURE,
        code => ExitCode::from(code),
    })
}

/// Free ports, and captures in memory unless a folder was named.
fn with_own_places(args: &ServeArgs) -> Result<ServeArgs> {
    let free: SocketAddr = "127.0.0.1:0".parse()?;
    let mut args = args.clone();
    args.listen.get_or_insert(free);
    args.dashboard.get_or_insert(free);
    args.no_store |= args.data_dir.is_none();
    Ok(args)
}

/// The variables to set. Where one points somewhere now, its upstream becomes that, unless it was configured: the
/// command's requests go where they would have gone.
fn lead_through(config: &mut Config) -> Vec<Variable> {
    let configured = |config: &Config, name: &str| config.upstreams.iter().any(|u| u.name == name);
    for variable in VARIABLES {
        let Ok(value) = std::env::var(variable.name) else { continue };
        let url = variable.upstream_url(&value);
        if url.contains("://") && !configured(config, variable.upstream) {
            config.upstreams.push(NamedUpstream::plain(variable.upstream, url));
        }
    }
    let only_configured = configured(config, "default");
    VARIABLES
        .into_iter()
        .filter(|variable| !only_configured || configured(config, variable.upstream))
        .collect()
}

async fn command(args: &RunArgs, variables: &[Variable], proxy: SocketAddr) -> Result<ExitStatus> {
    let [program, arguments @ ..] = args.command.as_slice() else {
        anyhow::bail!("no command was given");
    };
    let mut child = Command::new(program)
        .args(arguments)
        .envs(variables.iter().map(|variable| (variable.name, variable.through(proxy))))
        .env("TEELINE_PROXY_URL", format!("http://{proxy}"))
        .stdin(Stdio::inherit())
        .spawn()
        .with_context(|| format!("{program} cannot be started"))?;
    loop {
        tokio::select! {
            status = child.wait() => return Ok(status?),
            // The terminal gives Ctrl-C to the command as well; what it does then is its own affair.
            () = stop::requested() => {}
        }
    }
}

fn captured(store: &Store) -> Result<Vec<Captured>> {
    let mut all = Vec::new();
    let mut before = None;
    loop {
        let page = store.list(&Query::default(), before, PAGE)?;
        for summary in page.captures {
            let reading = store.reading(summary.id)?;
            all.push(Captured { summary, reading });
        }
        before = page.next;
        if before.is_none() {
            all.reverse();
            return Ok(all);
        }
    }
}

fn report(captured: &[Captured]) {
    let plural = if captured.len() == 1 { "" } else { "s" };
    say(&format!("teeline: {} exchange{plural}", captured.len()));
    for Captured { summary, reading } in captured {
        say(&list::row(summary));
        for finding in failings(reading, Severity::Warning) {
            let place = finding.place.frame.map(|frame| format!(" (frame {frame})"));
            say(&format!(
                "  {:<8} {}: {}{}",
                finding.severity().as_str(),
                finding.kind.id(),
                escaped_line(&finding.kind.message()),
                place.unwrap_or_default(),
            ));
        }
    }
}

/// The findings of this severity and above.
fn failings(reading: &Reading, least: Severity) -> impl Iterator<Item = &teeline_finding::Finding> {
    let counts = move |severity| match least {
        Severity::Error => severity == Severity::Error,
        Severity::Warning => severity != Severity::Note,
        Severity::Note => true,
    };
    reading.findings.iter().filter(move |finding| counts(finding.severity()))
}

/// As a shell has it: the code, or 128 and the signal.
fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status.code().map_or(1, |code| u8::try_from(code & 0xff).unwrap_or(1))
}

impl FailOn {
    const fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
        }
    }
}
