//! Content codings, undone as the bytes come.
//!
//! Whatever can be decoded of the bytes so far is given at once: a stream that is cut keeps its prefix,
//! and a live view waits for nothing. The output is capped, so that a small body that unpacks to a huge
//! one ends the decoding and nothing else.

use std::io::{self, Write as _};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status, write::MultiGzDecoder};
use zstd::stream::raw::{Decoder as ZstdDecoder, Operation as _};

/// A decoded body ends here, in bytes. The rest is named as not read.
pub(crate) const DECODED_MAX: u64 = 128 << 20;

/// Bytes that are decoded at once.
const STEP: usize = 64 * 1024;

/// Bytes of gzip that are given to its decoder at once: they unpack to half a MiB at most.
const GZIP_STEP: usize = 512;

/// Undoes the content codings of one body.
pub(crate) struct Decoding {
    /// In the order in which they are undone.
    stages: Vec<Stage>,
    decoded: u64,
    max: u64,
}

impl Decoding {
    /// For the values of a `content-encoding` header. `None`: the bytes are as they are (`identity`).
    ///
    /// # Errors
    ///
    /// A coding that is not known; the message names it.
    pub(crate) fn new(codings: &str) -> Result<Option<Self>, String> {
        let mut stages = Vec::new();
        for name in codings.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let stage = match name.to_ascii_lowercase().as_str() {
                "identity" => continue,
                "gzip" | "x-gzip" => Stage::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
                "deflate" => Stage::Deflate(None),
                "br" => Stage::Brotli(Box::new(brotli())),
                "zstd" => Stage::Zstd(ZstdDecoder::new().map_err(|error| error.to_string())?),
                _ => return Err(format!("the content coding `{name}` is not known")),
            };
            if stages.len() == 4 {
                return Err("more than four content codings".to_owned());
            }
            stages.push(stage);
        }
        stages.reverse();
        Ok((!stages.is_empty()).then_some(Self { stages, decoded: 0, max: DECODED_MAX }))
    }

    /// Decodes a chunk; `sink` gets everything that is known after it, in pieces of at most half a MiB.
    ///
    /// # Errors
    ///
    /// The data is broken, or unpacks to more than the cap. What came before was given. Not to be called again.
    pub(crate) fn push(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Bytes)) -> Result<(), String> {
        let (decoded, max) = (&mut self.decoded, self.max);
        run(&mut self.stages, chunk, &mut |bytes| {
            let room = usize::try_from(max - *decoded).unwrap_or(usize::MAX);
            let fits = bytes.get(..room).unwrap_or(bytes);
            *decoded += fits.len() as u64;
            sink(Bytes::copy_from_slice(fits));
            if fits.len() < bytes.len() {
                return Err(format!("it unpacks to more than {} MiB", max >> 20));
            }
            Ok(())
        })
    }
}

type Sink<'a> = dyn FnMut(&[u8]) -> Result<(), String> + 'a;

fn run(stages: &mut [Stage], input: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
    match stages.split_first_mut() {
        None if input.is_empty() => Ok(()),
        None => sink(input),
        Some((first, rest)) => first.push(input, &mut |bytes| run(rest, bytes, sink)),
    }
}

enum Stage {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// `None` until the first byte tells zlib's wrapping (the standard's) from bare deflate (which is sent, too).
    Deflate(Option<Decompress>),
    Brotli(Box<Brotli>),
    Zstd(ZstdDecoder<'static>),
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

fn brotli() -> Brotli {
    BrotliState::new(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default())
}

/// What a step did: bytes read, bytes written, and whether the coded data is over.
struct Step {
    read: usize,
    written: usize,
    over: bool,
}

impl Stage {
    fn push(&mut self, input: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
        if input.is_empty() {
            return Ok(());
        }
        if let Self::Gzip(decoder) = self {
            return gzip(decoder, input, sink);
        }
        let mut buffer = vec![0; STEP];
        let mut input = input;
        loop {
            let step = self.step(input, &mut buffer)?;
            input = input.get(step.read..).unwrap_or_default();
            let out = buffer.get(..step.written).unwrap_or_default();
            if !out.is_empty() {
                sink(out)?;
            }
            // A full buffer may have more behind it; else no input left means no output left.
            let stuck = step.read == 0 && step.written == 0;
            if step.over || stuck || (input.is_empty() && step.written < buffer.len()) {
                return Ok(());
            }
        }
    }

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, String> {
        match self {
            // Handled in `push`.
            Self::Gzip(_) => Ok(Step { read: input.len(), written: 0, over: true }),
            Self::Deflate(decoder) => deflate(decoder, input, out),
            Self::Brotli(state) => unbrotli(state, input, out),
            Self::Zstd(decoder) => {
                let status = decoder
                    .run_on_buffers(input, out)
                    .map_err(|error| format!("its zstd data is broken: {error}"))?;
                Ok(Step { read: status.bytes_read, written: status.bytes_written, over: false })
            }
        }
    }
}

fn gzip(
    decoder: &mut MultiGzDecoder<Vec<u8>>,
    input: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), String> {
    for part in input.chunks(GZIP_STEP) {
        let result = decoder.write_all(part).and_then(|()| flush(decoder));
        let out = std::mem::take(decoder.get_mut());
        if !out.is_empty() {
            sink(&out)?;
        }
        result.map_err(|error| format!("its gzip data is broken: {error}"))?;
    }
    Ok(())
}

fn flush(decoder: &mut MultiGzDecoder<Vec<u8>>) -> io::Result<()> {
    match decoder.flush() {
        // Behind the last byte of a member there is nothing to flush; that is no fault.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        result => result,
    }
}

fn deflate(decoder: &mut Option<Decompress>, input: &[u8], out: &mut [u8]) -> Result<Step, String> {
    // RFC 1950: the low half of the first byte is 8 and the high one at most 7. In bare deflate that
    // would be a stored block with junk in its padding, which no compressor writes.
    let zlib = input.first().is_none_or(|first| first & 0x0f == 8 && first >> 4 <= 7);
    let decoder = decoder.get_or_insert_with(|| Decompress::new(zlib));
    let (read, written) = (decoder.total_in(), decoder.total_out());
    let status = decoder
        .decompress(input, out, FlushDecompress::Sync)
        .map_err(|error| format!("its deflate data is broken: {error}"))?;
    Ok(Step {
        read: usize::try_from(decoder.total_in() - read).unwrap_or(input.len()),
        written: usize::try_from(decoder.total_out() - written).unwrap_or(out.len()),
        over: status == Status::StreamEnd,
    })
}

fn unbrotli(state: &mut Brotli, input: &[u8], out: &mut [u8]) -> Result<Step, String> {
    let (mut left, mut read) = (input.len(), 0);
    let (mut room, mut written, mut total) = (out.len(), 0, 0);
    let result = BrotliDecompressStream(
        &mut left,
        &mut read,
        input,
        &mut room,
        &mut written,
        out,
        &mut total,
        state,
    );
    match result {
        BrotliResult::ResultFailure => Err("its brotli data is broken".to_owned()),
        BrotliResult::ResultSuccess => Ok(Step { read, written, over: true }),
        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {
            Ok(Step { read, written, over: false })
        }
    }
}
