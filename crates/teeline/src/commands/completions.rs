//! `teeline completions` and `teeline man`: what the command line's definition gives for free.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory as _;

use crate::{
    args::{Args, CompletionsArgs},
    output::Output,
};

/// Writes the completion script of a shell.
///
/// # Errors
///
/// The output cannot be written.
pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "teeline", &mut script);
    print(&script)
}

/// Writes the manual page, with a section for each command.
///
/// # Errors
///
/// The output cannot be written.
pub(crate) fn man() -> Result<ExitCode> {
    let mut command = Args::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let man = clap_mangen::Man::new(subcommand.clone());
        let name = subcommand.get_name().to_uppercase();
        page.extend_from_slice(format!(".SH \"TEELINE {name}\"\n").as_bytes());
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print(&page)
}

fn print(bytes: &[u8]) -> Result<ExitCode> {
    let mut output = Output::new();
    output.bytes(bytes)?;
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}
