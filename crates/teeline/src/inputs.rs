//! Files and standard input, fed in pieces into an assembly.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use teeline_assembler::{Assembly, End};
use teeline_decoder::Framing;

use crate::args::{FramingArg, InputArgs};

/// How much is read at a time: large enough to be quick, small enough to be nothing.
const PIECE: usize = 1 << 16;

/// Where to read from: a path, or standard input for `-`.
pub(crate) struct Input {
    path: PathBuf,
}

/// The inputs that were named; none: standard input.
pub(crate) fn inputs(args: &InputArgs) -> Vec<Input> {
    if args.files.is_empty() {
        return vec![Input { path: "-".into() }];
    }
    args.files.iter().map(|path| Input { path: path.clone() }).collect()
}

impl Input {
    /// The file at `path`; `-`: standard input.
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Its name for people.
    pub(crate) fn name(&self) -> String {
        if self.path == Path::new("-") {
            "standard input".to_owned()
        } else {
            self.path.display().to_string()
        }
    }

    /// Opens it.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>> {
        if self.path == Path::new("-") {
            return Ok(Box::new(io::stdin().lock()));
        }
        let file =
            File::open(&self.path).with_context(|| format!("{} cannot be read", self.name()))?;
        Ok(Box::new(file))
    }

    /// Feeds the whole input into `assembly`, calling `after` behind each piece and behind the end.
    ///
    /// # Errors
    ///
    /// The input cannot be opened or read, or `after` fails.
    pub(crate) fn feed(
        &self,
        chunk_size: Option<u32>,
        assembly: &mut Assembly,
        mut after: impl FnMut(&mut Assembly) -> Result<()>,
    ) -> Result<()> {
        let mut reader = self.open()?;
        let mut piece = vec![0; PIECE];
        let step = chunk_size.map_or(PIECE, |size| usize::try_from(size).unwrap_or(PIECE));
        loop {
            let read = match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(error).with_context(|| format!("{} cannot be read", self.name()));
                }
            };
            let mut rest = Bytes::copy_from_slice(piece.get(..read).unwrap_or_default());
            while !rest.is_empty() {
                assembly.push(rest.split_to(step.min(rest.len())), None);
                after(assembly)?;
            }
        }
        assembly.finish(End::Clean);
        after(assembly)
    }
}

impl FramingArg {
    /// The framing that was asked for; `None`: to be detected.
    pub(crate) fn framing(self) -> Option<Framing> {
        match self {
            Self::Auto => None,
            Self::Sse => Some(Framing::Sse),
            Self::Ndjson => Some(Framing::Ndjson),
            Self::JsonArray => Some(Framing::JsonArray),
            Self::Json => Some(Framing::Json),
            Self::AwsEventstream => Some(Framing::AwsEventstream),
        }
    }
}
