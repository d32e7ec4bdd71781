//! A message, or a control frame, which is one by itself.

use bytes::Bytes;

use super::{
    Fault,
    head::{CONTROL, Head},
};
use crate::Data;

/// Faults of one message that are kept.
const FAULTS: usize = 8;

/// What a message is (RFC 6455, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// A continuation of nothing.
    Continuation,
    /// UTF-8.
    Text,
    /// Bytes.
    Binary,
    /// The last that its sender says.
    Close,
    /// To be answered by a pong.
    Ping,
    /// The answer to a ping, or a sign of life.
    Pong,
    /// Of no meaning yet.
    Reserved(u8),
}

impl Opcode {
    pub(super) const TEXT: u8 = 1;
    pub(super) const BINARY: u8 = 2;
    pub(super) const CLOSE: u8 = 8;

    const fn new(number: u8) -> Self {
        match number {
            0 => Self::Continuation,
            Self::TEXT => Self::Text,
            Self::BINARY => Self::Binary,
            Self::CLOSE => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            other => Self::Reserved(other),
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continuation => "continuation",
            Self::Text => "text",
            Self::Binary => "binary",
            Self::Close => "close",
            Self::Ping => "ping",
            Self::Pong => "pong",
            Self::Reserved(_) => "reserved",
        }
    }
}

/// A message that came, or what there is of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its first frame's first byte, in bytes of its direction.
    pub offset: u64,
    /// Bytes from there to the end of its last frame, the frames' heads and control frames between
    /// them included.
    pub length: u64,
    /// When its first byte came, as it was told.
    pub at_us: Option<u64>,
    /// What it is.
    pub opcode: Opcode,
    /// Bytes of its payload.
    pub size: u64,
    /// Frames that it was in.
    pub frames: u64,
    /// Its payload is compressed, and not decoded.
    pub compressed: bool,
    /// It is longer than what is kept.
    pub too_large: bool,
    /// It came whole.
    pub complete: bool,
    /// Its payload, unmasked; empty where it is compressed or too large.
    pub payload: Bytes,
    /// A text, or the reason of a close. What is no UTF-8 in it is replaced.
    pub text: Option<Data>,
    /// The code of a close.
    pub close: Option<u16>,
    /// What is wrong with it, the first eight.
    pub faults: Vec<Fault>,
}

/// A message that comes.
#[derive(Debug)]
pub(super) struct Open {
    offset: u64,
    at_us: Option<u64>,
    opcode: Opcode,
    pub(super) end: u64,
    pub(super) frames: u64,
    size: u64,
    compressed: bool,
    too_large: bool,
    payload: Vec<u8>,
    faults: Vec<Fault>,
}

impl Open {
    pub(super) fn new(head: &Head, compressed: bool) -> Self {
        Self {
            offset: head.offset,
            at_us: head.at_us,
            opcode: Opcode::new(head.opcode),
            end: head.offset,
            frames: u64::from(head.is_control()),
            size: 0,
            compressed,
            too_large: false,
            payload: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Adds faults, each once.
    pub(super) fn faults(&mut self, faults: impl IntoIterator<Item = Fault>) {
        for fault in faults {
            if self.faults.len() < FAULTS && !self.faults.contains(&fault) {
                self.faults.push(fault);
            }
        }
    }

    /// Takes a piece of a frame's payload, `at` bytes into it.
    pub(super) fn take(&mut self, piece: &[u8], mask: Option<[u8; 4]>, at: u64, bound: usize) {
        self.size += piece.len() as u64;
        if self.compressed || self.too_large {
            return;
        }
        let bound = match self.opcode {
            Opcode::Close | Opcode::Ping | Opcode::Pong => bound.min(usize::from(CONTROL)),
            _ => bound,
        };
        if bound < self.payload.len() + piece.len() {
            self.too_large = true;
            self.payload = Vec::new();
            return;
        }
        let start = self.payload.len();
        self.payload.extend_from_slice(piece);
        if let Some(mask) = mask {
            let turn = usize::try_from(at % 4).unwrap_or(0);
            let keys = mask.iter().cycle().skip(turn);
            for (byte, key) in self.payload.iter_mut().skip(start).zip(keys) {
                *byte ^= key;
            }
        }
    }

    pub(super) fn message(mut self, complete: bool) -> Message {
        let payload = Bytes::from(std::mem::take(&mut self.payload));
        let known = !self.compressed && !self.too_large;
        let (mut text, mut close) = (None, None);
        if known && self.opcode == Opcode::Text {
            text = Some(self.text(payload.clone(), complete));
        } else if known && self.opcode == Opcode::Close {
            match payload.first_chunk() {
                Some(code) => {
                    let code = u16::from_be_bytes(*code);
                    if !may_be_sent(code) {
                        self.faults([Fault::CloseCode(code)]);
                    }
                    close = Some(code);
                    text = Some(self.text(payload.slice(2..), complete));
                }
                None if payload.is_empty() => {}
                None => self.faults([Fault::HalfCloseCode]),
            }
        }
        Message {
            offset: self.offset,
            length: self.end.saturating_sub(self.offset),
            at_us: self.at_us,
            opcode: self.opcode,
            size: self.size,
            frames: self.frames,
            compressed: self.compressed,
            too_large: self.too_large,
            complete,
            payload,
            text,
            close,
            faults: self.faults,
        }
    }

    fn text(&mut self, bytes: Bytes, complete: bool) -> Data {
        // Of what was cut off the last character may be missing in part.
        if std::str::from_utf8(&bytes).is_err_and(|err| complete || err.error_len().is_some()) {
            self.faults([Fault::BadUtf8]);
        }
        Data::from_lossy(bytes)
    }
}

/// Codes that may stand in a close frame (section 7.4, and the registry that it founds).
const fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}
