//! `teeline import`: saved streams and HARs become captures in the store.

use std::{io::Read as _, process::ExitCode};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use teeline_capture::{Store, StoreOptions};

use super::{list, read};
use crate::{args::ImportArgs, config, inputs::Input, output::Output};

/// A larger file is refused: it is held in memory while it is stored. `teeline read` reads any size.
const LARGEST: u64 = 512 << 20;

/// Imports every file, and lists what came of each as `list` does.
///
/// # Errors
///
/// A file cannot be read, is too large, or means to be a HAR and is none. What was imported before stays.
pub(crate) fn run(args: &ImportArgs) -> Result<ExitCode> {
    let format = args.format.as_deref().map(read::named_format).transpose()?;
    let store = Store::open_beside(&config::store_dir(&args.store)?, StoreOptions::default())?;
    let mut output = Output::new();
    for path in &args.files {
        let input = Input::at(path);
        let imports = teeline_export::import(whole(&input)?, format.map(|format| format.name))
            .with_context(|| input.name())?;
        for import in imports {
            let summary = store.summary(store.import(import)?)?;
            if args.json { output.json(&summary)? } else { output.line(&list::row(&summary))? }
        }
    }
    store.shutdown();
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn whole(input: &Input) -> Result<Bytes> {
    let unreadable = || format!("{} cannot be read", input.name());
    let mut bytes = Vec::new();
    input.open()?.take(LARGEST + 1).read_to_end(&mut bytes).with_context(unreadable)?;
    ensure!(
        bytes.len() as u64 <= LARGEST,
        "{} is larger than {} MiB; `teeline read` reads files of any size",
        input.name(),
        LARGEST >> 20
    );
    Ok(bytes.into())
}
