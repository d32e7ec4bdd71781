//! A frame's head (RFC 6455, section 5.2).

use super::{Fault, Opcode, Sender};

/// The longest head: two bytes, eight of length, four of mask.
const LONGEST: usize = 14;

/// Bytes that a control frame may hold (section 5.5).
pub(super) const CONTROL: u8 = 125;

/// A head as it comes, byte by byte.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    bytes: [u8; LONGEST],
    have: usize,
    /// Where it begins, and when it did.
    start: (u64, Option<u64>),
}

/// A head that has come.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) offset: u64,
    pub(super) at_us: Option<u64>,
    pub(super) fin: bool,
    pub(super) rsv1: bool,
    /// RSV1, RSV2 and RSV3, in this order from the highest bit.
    reserved: u8,
    pub(super) opcode: u8,
    pub(super) mask: Option<[u8; 4]>,
    pub(super) length: u64,
    /// How many bytes the length was written in beside the first.
    length_bytes: usize,
}

impl Gathered {
    /// Where the head begins that has not come whole.
    pub(super) fn begun(&self) -> Option<u64> {
        (0 < self.have).then_some(self.start.0)
    }

    /// Adds a byte, and gives the head if it was the last.
    pub(super) fn add(&mut self, byte: u8, offset: u64, at_us: Option<u64>) -> Option<Head> {
        if self.have == 0 {
            self.start = (offset, at_us);
        }
        if let Some(place) = self.bytes.get_mut(self.have) {
            *place = byte;
        }
        self.have += 1;
        let [first, second, rest @ ..] = self.bytes;
        let length_bytes = match second & 0x7f {
            127 => 8,
            126 => 2,
            _ => 0,
        };
        let masked = second & 0x80 != 0;
        if self.have < 2 + length_bytes + if masked { 4 } else { 0 } {
            return None;
        }
        self.have = 0;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        let (length, mask) = rest.split_at(length_bytes);
        Some(Head {
            offset: self.start.0,
            at_us: self.start.1,
            fin: first & 0x80 != 0,
            rsv1: first & 0x40 != 0,
            reserved: first >> 4 & 0x7,
            opcode: first & 0x0f,
            mask: mask.first_chunk().copied().filter(|_| masked),
            length: if length_bytes == 0 { u64::from(second & 0x7f) } else { number(length) },
            length_bytes,
        })
    }
}

impl Head {
    pub(super) fn is_control(&self) -> bool {
        self.opcode & 0x8 != 0
    }

    /// The length cannot be true.
    pub(super) fn is_lost(&self) -> bool {
        1 << 63 <= self.length
    }

    /// What is wrong with it by itself. `deflate`: RSV1 may mark the start of a compressed message.
    pub(super) fn faults(&self, sender: Sender, deflate: bool) -> Vec<Fault> {
        let mut faults = Vec::new();
        let starts = self.opcode == Opcode::TEXT || self.opcode == Opcode::BINARY;
        let explained = if deflate && starts { 0b100 } else { 0 };
        if self.reserved & !explained != 0 {
            faults.push(Fault::ReservedBits(self.reserved));
        }
        if matches!(self.opcode, 3..=7 | 11..) {
            faults.push(Fault::ReservedOpcode(self.opcode));
        }
        match (sender, self.mask) {
            (Sender::Client, None) => faults.push(Fault::NotMasked),
            (Sender::Server, Some(_)) => faults.push(Fault::Masked),
            _ => {}
        }
        if self.is_lost() {
            faults.push(Fault::ImpossibleLength);
        }
        let needed = match self.length {
            0..=125 => 0,
            126..=0xffff => 2,
            _ => 8,
        };
        if needed < self.length_bytes {
            faults.push(Fault::LongLength);
        }
        if self.is_control() && !self.fin {
            faults.push(Fault::FragmentedControl);
        }
        if self.is_control() && u64::from(CONTROL) < self.length && !self.is_lost() {
            faults.push(Fault::LongControl(self.length));
        }
        faults
    }
}
