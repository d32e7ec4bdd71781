//! `teeline read`: what a client should have built from a stream, and what is wrong with it.

use std::process::ExitCode;

use anyhow::{Result, bail};
use teeline_assembler::{Assembly, FORMATS, Format, Options, Reading, format};

use crate::{
    args::ReadArgs,
    inputs::{Input, inputs},
    output::{Output, escaped},
    present,
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
        let reading = read(args, format, input)?;
        good &= present::is_good(&reading);
        if inputs.len() > 1 && !args.view.json {
            output.line(&format!(
                "{}== {}",
                if position == 0 { "" } else { "\n" },
                input.name()
            ))?;
        }
        print(args, &reading, &mut output)?;
    }
    output.flush()?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn named_format(name: &str) -> Result<&'static Format> {
    let Some(format) = format(name) else {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        bail!("--as {name} names no format; these are known: {}", known.join(" "));
    };
    Ok(format)
}

fn read(args: &ReadArgs, format: Option<&'static Format>, input: &Input) -> Result<Reading> {
    let options = Options {
        format,
        framing: args.input.framing.framing(),
        stamps: true,
        ..Options::default()
    };
    let mut assembly = Assembly::new(options);
    assembly.keep_rows(args.view.frames);
    let mut rows = Vec::new();
    input.feed(args.input.chunk_size, &mut assembly, |assembly| {
        rows.append(&mut assembly.take_rows());
        Ok(())
    })?;
    let mut reading = assembly.reading();
    reading.frames = args.view.frames.then_some(rows);
    Ok(reading)
}

fn print(args: &ReadArgs, reading: &Reading, output: &mut Output) -> Result<()> {
    if args.view.json {
        return output.json(reading);
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
    output.bytes(present::reading(reading).as_bytes())?;
    if let Some(rows) = &reading.frames {
        output.line("")?;
        for row in rows {
            output.line(&present::frame(row))?;
        }
    }
    Ok(())
}
