//! Content codings, undone as the bytes come.
//!
//! Whatever can be decoded of the bytes so far is given at once: a stream that is cut keeps its prefix,
//! and a live view waits for nothing. The output is capped, so that a small body that unpacks to a huge
//! one ends the decoding and nothing else.

mod gzip;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{Decoder as ZstdDecoder, InBuffer, Operation as _, OutBuffer};

use self::gzip::Gzip;

/// A decoded body ends here, in bytes. The rest is named as not read.
pub(crate) const DECODED_MAX: u64 = 128 << 20;

/// Bytes that are decoded at once.
const STEP: usize = 64 * 1024;

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
                "gzip" | "x-gzip" => Stage::Gzip(Gzip::new()),
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
    Gzip(Gzip),
    /// `None` until the first byte tells zlib's wrapping (the standard's) from bare deflate (which is sent, too).
    Deflate(Option<Decompress>),
    Brotli(Box<Brotli>),
    Zstd(ZstdDecoder<'static>),
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

fn brotli() -> Brotli {
    BrotliState::new(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default())
}

/// What a step did.
struct Step {
    /// Bytes read.
    read: usize,
    /// Bytes written, also where there is a fault behind them.
    written: usize,
    /// The coded data is over: what follows is not looked at.
    over: bool,
    /// The data is broken; why.
    fault: Option<String>,
}

impl Step {
    fn read(read: usize) -> Self {
        Self { read, written: 0, over: false, fault: None }
    }

    fn over(read: usize) -> Self {
        Self { read, written: 0, over: true, fault: None }
    }

    fn fault(written: usize, why: String) -> Self {
        Self { read: 0, written, over: false, fault: Some(why) }
    }
}

impl Stage {
    fn push(&mut self, input: &[u8], sink: &mut Sink<'_>) -> Result<(), String> {
        if input.is_empty() {
            return Ok(());
        }
        let mut buffer = vec![0; STEP];
        let (mut input, mut idle) = (input, 0);
        loop {
            let step = self.step(input, &mut buffer);
            input = input.get(step.read..).unwrap_or_default();
            let out = buffer.get(..step.written).unwrap_or_default();
            if !out.is_empty() {
                sink(out)?;
            }
            if let Some(why) = step.fault {
                return Err(why);
            }
            // A step may only change the state; two in a row that do nothing mean that nothing can be done.
            idle = if step.read == 0 && step.written == 0 { idle + 1 } else { 0 };
            // A full buffer may have more behind it; else no input left means no output left.
            if step.over || 1 < idle || (input.is_empty() && step.written < buffer.len()) {
                return Ok(());
            }
        }
    }

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        match self {
            Self::Gzip(gzip) => gzip.step(input, out),
            Self::Deflate(decoder) => deflate(decoder, input, out),
            Self::Brotli(state) => unbrotli(state, input, out),
            Self::Zstd(decoder) => unzstd(decoder, input, out),
        }
    }
}

fn deflate(decoder: &mut Option<Decompress>, input: &[u8], out: &mut [u8]) -> Step {
    // RFC 1950: the low half of the first byte is 8 and the high one at most 7. In bare deflate that
    // would be a stored block with junk in its padding, which no compressor writes.
    let zlib = input.first().is_none_or(|first| first & 0x0f == 8 && first >> 4 <= 7);
    let decoder = decoder.get_or_insert_with(|| Decompress::new(zlib));
    let (before_in, before_out) = (decoder.total_in(), decoder.total_out());
    let result = decoder.decompress(input, out, FlushDecompress::Sync);
    let count = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
    Step {
        read: count(decoder.total_in(), before_in),
        written: count(decoder.total_out(), before_out),
        over: matches!(result, Ok(Status::StreamEnd)),
        fault: result.err().map(|error| format!("its deflate data is broken: {error}")),
    }
}

fn unbrotli(state: &mut Brotli, input: &[u8], out: &mut [u8]) -> Step {
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
    let broken = matches!(result, BrotliResult::ResultFailure);
    Step {
        read,
        written,
        over: matches!(result, BrotliResult::ResultSuccess),
        fault: broken.then(|| "its brotli data is broken".to_owned()),
    }
}

fn unzstd(decoder: &mut ZstdDecoder<'static>, input: &[u8], out: &mut [u8]) -> Step {
    let mut source = InBuffer::around(input);
    let mut target = OutBuffer::around(out);
    let result = decoder.run(&mut source, &mut target);
    let fault = result.err().map(|error| format!("its zstd data is broken: {error}"));
    Step { read: source.pos(), written: target.pos(), over: false, fault }
}

#[cfg(test)]
mod tests;
