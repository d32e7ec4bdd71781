//! What can be typed: the command line of the contract, section 1. Nothing is decided here.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::commands::replay::{Fail, Speed};

/// A local HTTP debugging proxy for LLM APIs: your app's stream passes unchanged, and you see what was in it.
#[derive(Debug, Parser)]
#[command(name = "teeline", version, args_conflicts_with_subcommands = true, max_term_width = 110)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the proxy and the dashboard (what `teeline` alone does)
    Serve(ServeArgs),
    /// Show everything with a scripted LLM API: no key, no network, nothing left behind
    Demo(ServeArgs),
    /// Read streams from files or standard input: answer, tool calls, usage, findings
    Read(ReadArgs),
    /// List the frames of a stream
    Frames(FramesArgs),
    /// List the captures in the store, newest first
    List(ListArgs),
    /// Show one capture: what `read` prints, and its request and timing
    Show(ShowArgs),
    /// Write one capture out as something to paste elsewhere
    Export(ExportArgs),
    /// Store streams from files as captures: raw, stamped or HAR
    Import(ImportArgs),
    /// Follow captures as they happen
    Tail(TailArgs),
    /// Let exchanges pass unrecorded until `resume`
    Pause(RunningArgs),
    /// Record again after `pause`
    Resume(RunningArgs),
    /// Delete captures for good
    Delete(DeleteArgs),
    /// Answer as the upstream of a capture or a saved stream did
    Replay(ReplayArgs),
    /// Run a command with the base-URL variables set, and tell what its streams came to
    Run(RunArgs),
    /// Look for what would keep this from working here
    Doctor(DoctorArgs),
    /// Tell what a finding means, why it matters and what to do
    Explain(ExplainArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Address the proxy listens on [default: 127.0.0.1:4780]
    #[arg(long, value_name = "ADDR", env = "TEELINE_LISTEN")]
    pub(crate) listen: Option<SocketAddr>,
    /// Address of the dashboard [default: 127.0.0.1:4781]
    #[arg(long, value_name = "ADDR", env = "TEELINE_DASHBOARD")]
    pub(crate) dashboard: Option<SocketAddr>,
    /// Folder of the store [default: the platform's data folder]
    #[arg(long, value_name = "DIR", env = "TEELINE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Configuration file
    #[arg(long, value_name = "FILE", env = "TEELINE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Add or replace an upstream; the name `default` takes what no configured name takes
    #[arg(long = "upstream", value_name = "NAME=URL")]
    pub(crate) upstreams: Vec<String>,
    /// Open the dashboard in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Keep captures in memory only
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Allow listening on an address that other machines reach
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Certificate (PEM) by which apps may speak TLS, and so HTTP/2, with the proxy
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A further host name under which proxy and dashboard may be addressed
    #[arg(long = "allowed-host", value_name = "NAME")]
    pub(crate) allowed_hosts: Vec<String>,
}

/// Where the store is, for commands that only look at it.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct StoreArgs {
    /// Folder of the store [default: the platform's data folder]
    #[arg(long, value_name = "DIR", env = "TEELINE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Configuration file
    #[arg(long, value_name = "FILE", env = "TEELINE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
}

/// How input is to be cut into frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FramingArg {
    #[default]
    Auto,
    Sse,
    Ndjson,
    JsonArray,
    Json,
    AwsEventstream,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct InputArgs {
    /// Files to read; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How the input is cut into frames
    #[arg(long, value_enum, default_value_t, value_name = "F")]
    pub(crate) framing: FramingArg,
    /// Feed the input in pieces of N bytes; the result must not change
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) chunk_size: Option<u32>,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Read as this format and do not detect it
    #[arg(long = "as", value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Print only the answer's text
    #[arg(long, conflicts_with_all = ["json", "response", "frames"])]
    pub(crate) text: bool,
    /// Print only the equivalent non-streamed response
    #[arg(long, conflicts_with_all = ["json", "frames"])]
    pub(crate) response: bool,
}

#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(crate) struct ViewArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List the frames as well
    #[arg(long)]
    pub(crate) frames: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct FramesArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Print JSON, one frame a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON, one capture a line
    #[arg(long)]
    pub(crate) json: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Words to search, and `key:value` filters such as `model:gpt finding:error since:2h`
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// The capture's id, or an unambiguous beginning of it
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// The capture's id, or an unambiguous beginning of it
    pub(crate) id: String,
    /// What to write: raw, stamped, text, response, reading, frames, har or curl
    #[arg(long = "as", value_name = "KIND")]
    pub(crate) kind: String,
    /// With `--as raw`: the bytes before content decoding
    #[arg(long)]
    pub(crate) encoded: bool,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Debug, ClapArgs)]
#[group(id = "which", required = true, multiple = false)]
pub(crate) struct WhichArgs {
    /// Ids of captures
    #[arg(group = "which")]
    pub(crate) ids: Vec<String>,
    /// All captures that a query finds
    #[arg(long, value_name = "QUERY", group = "which")]
    pub(crate) query: Option<String>,
    /// All captures
    #[arg(long, group = "which")]
    pub(crate) all: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    pub(crate) which: WhichArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ImportArgs {
    /// Files to import; `-`: standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Read streams as this format and do not detect it
    #[arg(long = "as", value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Print JSON, one capture a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct TailArgs {
    /// Print JSON: every change of a capture, one a line; with --follow every reading
    #[arg(long)]
    pub(crate) json: bool,
    /// Follow one capture's answer as it grows; its id, or an unambiguous beginning of it
    #[arg(long, value_name = "ID")]
    pub(crate) follow: Option<String>,
    #[command(flatten)]
    pub(crate) running: RunningArgs,
}

/// Which running teeline is meant.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct RunningArgs {
    /// Address of the running dashboard [default: the one that serves the store]
    #[arg(long, value_name = "ADDR", env = "TEELINE_DASHBOARD")]
    pub(crate) dashboard: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    /// Ids of captures, and files: raw, stamped or HAR
    #[arg(value_name = "CAPTURE|FILE", required = true)]
    pub(crate) sources: Vec<String>,
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4790")]
    pub(crate) listen: SocketAddr,
    /// How quickly: 2 is twice as quick as recorded, `max` has no pauses
    #[arg(long, value_name = "N|max", default_value = "1")]
    pub(crate) speed: Speed,
    /// Begin again when every recording was played
    #[arg(long = "loop")]
    pub(crate) repeat: bool,
    /// Allow listening on an address that other machines reach
    #[arg(long)]
    pub(crate) allow_remote: bool,
    #[command(flatten)]
    pub(crate) faults: FaultArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Faults to put into what is replayed. Frames are counted from 0, as `teeline frames` lists them.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Faults")]
pub(crate) struct FaultArgs {
    /// Close the connection after so many frames
    #[arg(long, value_name = "FRAMES")]
    pub(crate) close_after: Option<u64>,
    /// Reset the connection after so many frames
    #[arg(long, value_name = "FRAMES", conflicts_with = "close_after")]
    pub(crate) reset_after: Option<u64>,
    /// Wait so many seconds before a frame
    #[arg(long, value_name = "FRAME=SECONDS", value_parser = stall)]
    pub(crate) stall: Option<(u64, Duration)>,
    /// Leave a frame out
    #[arg(long, value_name = "FRAME")]
    pub(crate) drop_frame: Vec<u64>,
    /// Send a frame twice
    #[arg(long, value_name = "FRAME")]
    pub(crate) repeat_frame: Vec<u64>,
    /// Send a frame after the one that follows it
    #[arg(long, value_name = "FRAME")]
    pub(crate) swap_frame: Vec<u64>,
    /// Send pieces of N bytes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) chunk_size: Option<u32>,
    /// Answer the first request with this status, or with `429*3` the first three
    #[arg(long, value_name = "STATUS[*N]")]
    pub(crate) fail: Option<Fail>,
}

fn stall(text: &str) -> Result<(u64, Duration), String> {
    let parsed = text.split_once('=').and_then(|(frame, seconds)| {
        let seconds = seconds.parse::<f64>().ok().filter(|s| (0.0..=86_400.0).contains(s))?;
        Some((frame.parse().ok()?, Duration::from_secs_f64(seconds)))
    });
    parsed.ok_or_else(|| "must be a frame and seconds, such as 3=2.5".to_owned())
}

/// From which severity a finding fails a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    #[default]
    Error,
    Warning,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct RunArgs {
    /// Exit with 1 if a stream has a finding of this severity or above
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
    /// Write a report as CI systems read it (JUnit): a test case for each exchange
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, last = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Print JSON, one look a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Ask no upstream
    #[arg(long)]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// The finding's id; none: the list of all
    pub(crate) finding: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn serve_is_the_default_command() {
        let args =
            Args::parse_from(["teeline", "--listen", "127.0.0.1:0", "--upstream", "a=http://x"]);
        assert!(args.command.is_none());
        assert_eq!(args.serve.upstreams, ["a=http://x"]);
    }
}
