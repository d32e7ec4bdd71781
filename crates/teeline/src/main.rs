//! teeline: a local HTTP debugging proxy for LLM APIs.

mod args;
mod base_urls;
mod commands;
mod config;
mod dashboard_client;
mod inputs;
mod logging;
mod memory;
mod output;
mod present;
mod spool;
mod stop;
mod system;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{
    args::{Args, Command},
    commands::{
        completions, delete, demo, doctor, explain, export, frames, import, list, read, recording,
        replay, run, serve, show, tail,
    },
};

/// The exit code where the input could not be read or the call is wrong.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    let ended = match args.command {
        None => serve::run(&args.serve),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Demo(args)) => demo::run(&args),
        Some(Command::Read(args)) => read::run(&args),
        Some(Command::Frames(args)) => frames::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Tail(args)) => tail::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Pause(args)) => recording::run(&args, false),
        Some(Command::Resume(args)) => recording::run(&args, true),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man) => completions::man(),
        Some(Command::Delete(args)) => delete::run(&args),
        Some(Command::Explain(args)) => explain::run(args.finding.as_deref()),
    };
    ended.unwrap_or_else(|error| {
        output::say(&format!("teeline: {}", output::escaped(&format!("{error:#}"))));
        ExitCode::from(UNUSABLE)
    })
}
