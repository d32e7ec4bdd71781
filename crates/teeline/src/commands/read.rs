//! `teeline read`: what a client should have built from a stream, and what is wrong with it.

use std::process::ExitCode;

use anyhow::{Result, bail};
use teeline_assembler::{Assembly, FORMATS, Format, Options, Reading, format};

use crate::{
    args::ReadArgs,
    inputs::{Input, inputs},
    output::{Output, escaped},
    present,
    spool::Spool,
};

/// Reads every input.
///
/// # Errors
///
/// An input cannot be read, or `--as` names no format.
pub(crate) fn run(args: &ReadArgs) -> Result<ExitCode> {
    let format = args.format.as_deref().map(named_format).transpose()?;
    let inputs = inputs(&args.input);
    let mut output = Output::new();
    let mut good = true;
    for (position, input) in inputs.iter().enumerate() {
        let read = read(args, format, input)?;
        good &= present::is_good(&read.reading);
        if inputs.len() > 1 && !args.view.json {
            output.line(&format!(
                "{}== {}",
                if position == 0 { "" } else { "\n" },
                input.name()
            ))?;
        }
        print(args, read, &mut output)?;
    }
    output.flush()?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The format of this name.
pub(super) fn named_format(name: &str) -> Result<&'static Format> {
    let Some(format) = format(name) else {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        bail!("--as {name} names no format; these are known: {}", known.join(" "));
    };
    Ok(format)
}

/// What one input came to, and its frames where they were asked for.
struct Read {
    reading: Reading,
    frames: Option<Spool>,
}

fn read(args: &ReadArgs, format: Option<&'static Format>, input: &Input) -> Result<Read> {
    let options = Options {
        format,
        framing: args.input.framing.framing(),
        stamps: true,
        ..Options::default()
    };
    let mut assembly = Assembly::new(options);
    assembly.keep_rows(args.view.frames);
    let mut frames = args.view.frames.then(|| Spool::new(args.view.json)).transpose()?;
    input.feed(args.input.chunk_size, &mut assembly, |assembly| match &mut frames {
        Some(spool) => spool.add(&assembly.take_rows()),
        None => Ok(()),
    })?;
    Ok(Read { reading: assembly.reading(), frames })
}

fn print(args: &ReadArgs, read: Read, output: &mut Output) -> Result<()> {
    let Read { reading, frames } = read;
    if args.view.json {
        return print_json(&reading, frames, output);
    }
    if args.text {
        for answer in &reading.outputs {
            output.line(&escaped(&answer.text))?;
        }
        return Ok(());
    }
    if args.response {
        return output.line(reading.response.as_ref().map_or("null", |response| response.get()));
    }
    output.bytes(present::reading(&reading).as_bytes())?;
    if let Some(spool) = frames {
        output.line("")?;
        spool.print(output)?;
    }
    Ok(())
}

/// The reading as one line; `frames` is its last member.
fn print_json(reading: &Reading, frames: Option<Spool>, output: &mut Output) -> Result<()> {
    let json = serde_json::to_string(reading)?;
    let Some(spool) = frames else { return output.line(&json) };
    let members = json.strip_suffix('}').unwrap_or(&json);
    output.bytes(members.as_bytes())?;
    output.bytes(b",\"frames\":[")?;
    spool.print(output)?;
    output.line("]}")
}
