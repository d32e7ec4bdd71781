//! Frame rows on their way to the end of the output: they come before what is printed ahead of them is known, and
//! there may be more than memory holds, so they wait in a temporary file.

use std::{
    fs::File,
    io::{BufWriter, Read as _, Seek as _, Write as _},
};

use anyhow::{Context as _, Result};
use teeline_assembler::FrameRow;

use crate::{output::Output, present};

/// Rows in their printed form.
pub(crate) struct Spool {
    file: BufWriter<File>,
    json: bool,
    any: bool,
}

impl Spool {
    /// An empty one; `json`: rows are printed as JSON, separated by commas.
    ///
    /// # Errors
    ///
    /// No temporary file can be made.
    pub(crate) fn new(json: bool) -> Result<Self> {
        let file = tempfile::tempfile().context("no temporary file can be made for the frames")?;
        Ok(Self { file: BufWriter::new(file), json, any: false })
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written.
    pub(crate) fn add(&mut self, rows: &[FrameRow]) -> Result<()> {
        for row in rows {
            if self.json {
                if std::mem::replace(&mut self.any, true) {
                    self.file.write_all(b",")?;
                }
                serde_json::to_writer(&mut self.file, row)?;
            } else {
                writeln!(self.file, "{}", present::frame(row))?;
            }
        }
        Ok(())
    }

    /// Prints all of them.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be read back, or the output cannot be written.
    pub(crate) fn print(self, output: &mut Output) -> Result<()> {
        let mut file = self.file.into_inner().context("the temporary file cannot be written")?;
        file.rewind()?;
        let mut piece = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut piece)?;
            if read == 0 {
                return Ok(());
            }
            output.bytes(piece.get(..read).unwrap_or_default())?;
        }
    }
}
