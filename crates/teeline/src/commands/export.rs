//! `teeline export`: one capture as something to paste elsewhere.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use teeline_capture::Store;
use teeline_export::{Kind, export};

use crate::{args::ExportArgs, config, output::Output};

/// Writes the capture out.
///
/// # Errors
///
/// There is no store, no such capture or kind, or the kind does not fit the capture.
pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let kind = kind(args)?;
    let store = Store::open_read_only(&config::store_dir(&args.store)?)?;
    let id = store.find(&args.id)?;
    if let Some(path) = &args.output {
        let file =
            File::create(path).with_context(|| format!("{} cannot be written", path.display()))?;
        let mut file = BufWriter::new(file);
        export(&store, id, kind, &mut file)?;
        file.flush().with_context(|| format!("{} cannot be written", path.display()))?;
    } else {
        let mut output = Output::new();
        export(&store, id, kind, &mut output)?;
        output.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn kind(args: &ExportArgs) -> Result<Kind> {
    let Some(kind) = Kind::from_name(&args.kind) else {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        bail!("--as {} is no kind of export; these are: {}", args.kind, known.join(" "));
    };
    match (kind, args.encoded) {
        (kind, false) => Ok(kind),
        (Kind::Raw, true) => Ok(Kind::RawEncoded),
        (_, true) => bail!("--encoded goes with --as raw only"),
    }
}
