//! `teeline frames`: how a body is cut, before anything is made of it.

use std::process::ExitCode;

use anyhow::Result;
use teeline_assembler::{Assembly, Options};

use crate::{args::FramesArgs, inputs::inputs, output::Output, present};

/// Lists the frames of every input as they are found; the memory needed does not grow with the input.
///
/// # Errors
///
/// An input cannot be read.
pub(crate) fn run(args: &FramesArgs) -> Result<ExitCode> {
    let mut output = Output::new();
    for input in inputs(&args.input) {
        let options =
            Options { framing: args.input.framing.framing(), stamps: true, ..Options::default() };
        let mut assembly = Assembly::new(options);
        assembly.keep_rows(true);
        input.feed(args.input.chunk_size, &mut assembly, |assembly| {
            for mut row in assembly.take_rows() {
                row.effect = None;
                if args.json { output.json(&row)? } else { output.line(&present::frame(&row))? }
            }
            Ok(())
        })?;
    }
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}
