//! gzip (RFC 1952), member after member, with everything that precedes a fault given.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::Step;

/// Headers may hold a file name, a comment and more. Longer ones are taken for junk.
const HEADER_MAX: usize = 64 * 1024;

pub(super) struct Gzip {
    state: State,
}

enum State {
    Header(Vec<u8>),
    Body(Box<Body>),
    Trailer {
        bytes: Vec<u8>,
        expected: [u8; 8],
    },
    /// Something that is no further member follows the last one. It is passed over, as gzip does.
    Over,
}

struct Body {
    inflate: Decompress,
    crc: Crc,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self { state: State::Header(Vec::new()) }
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        let (next, step) = match &mut self.state {
            State::Header(header) => read_header(header, input),
            State::Body(body) => body.step(input, out),
            State::Trailer { bytes, expected } => read_trailer(bytes, *expected, input),
            State::Over => (None, Step::over(input.len())),
        };
        if let Some(next) = next {
            self.state = next;
        }
        step
    }
}

fn read_header(header: &mut Vec<u8>, input: &[u8]) -> (Option<State>, Step) {
    let before = header.len();
    header.extend_from_slice(input);
    match header_length(header) {
        Err(why) => (None, Step::fault(0, why)),
        Ok(None) if HEADER_MAX < header.len() => {
            (None, Step::fault(0, "its gzip header does not end".to_owned()))
        }
        Ok(None) => (None, Step::read(input.len())),
        Ok(Some(length)) => {
            let body = Body { inflate: Decompress::new(false), crc: Crc::new() };
            (Some(State::Body(Box::new(body))), Step::read(length.saturating_sub(before)))
        }
    }
}

/// How long the header is, once it is there.
fn header_length(header: &[u8]) -> Result<Option<usize>, String> {
    let magic = [0x1f, 0x8b, 8];
    if header.iter().zip(magic).any(|(byte, expected)| *byte != expected) {
        return Err("it is no gzip data".to_owned());
    }
    let Some(&[_, _, _, flags, ..]) = header.first_chunk::<10>() else {
        return Ok(None);
    };
    let mut length = 10;
    if flags & 4 != 0 {
        let Some(&[low, high]) = header.get(length..).and_then(<[u8]>::first_chunk::<2>) else {
            return Ok(None);
        };
        length += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let rest = header.get(length..).unwrap_or_default();
            let Some(end) = rest.iter().position(|byte| *byte == 0) else {
                return Ok(None);
            };
            length += end + 1;
        }
    }
    if flags & 2 != 0 {
        length += 2;
    }
    Ok((length <= header.len()).then_some(length))
}

impl Body {
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> (Option<State>, Step) {
        let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
        let result = self.inflate.decompress(input, out, FlushDecompress::Sync);
        let count = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
        let read = count(self.inflate.total_in(), before_in);
        let written = count(self.inflate.total_out(), before_out);
        self.crc.update(out.get(..written).unwrap_or_default());
        match result {
            Err(error) => (None, Step::fault(written, format!("its gzip data is broken: {error}"))),
            Ok(Status::StreamEnd) => {
                let (sum, amount) = (u64::from(self.crc.sum()), u64::from(self.crc.amount()));
                let expected = (amount << 32 | sum).to_le_bytes();
                let next = State::Trailer { bytes: Vec::with_capacity(8), expected };
                (Some(next), Step { read, written, over: false, fault: None })
            }
            Ok(Status::Ok | Status::BufError) => {
                (None, Step { read, written, over: false, fault: None })
            }
        }
    }
}

fn read_trailer(bytes: &mut Vec<u8>, expected: [u8; 8], input: &[u8]) -> (Option<State>, Step) {
    let missing = expected.len() - bytes.len();
    if missing == 0 {
        // The next member, if there is one.
        let next = match input.first() {
            Some(0x1f) => State::Header(Vec::new()),
            Some(_) => State::Over,
            None => return (None, Step::read(0)),
        };
        return (Some(next), Step::read(0));
    }
    let taken = input.get(..missing).unwrap_or(input);
    bytes.extend_from_slice(taken);
    if bytes.len() == expected.len() && *bytes != expected {
        let why = "its gzip data is broken: the checksum does not fit".to_owned();
        return (None, Step::fault(0, why));
    }
    (None, Step::read(taken.len()))
}
