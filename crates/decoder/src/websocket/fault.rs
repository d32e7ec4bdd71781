//! What is wrong with frames.

use std::fmt;

/// What one side of a WebSocket did that RFC 6455 forbids, or how its bytes ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A reserved bit is set that no extension which was agreed on explains (section 5.2).
    ReservedBits(u8),
    /// An opcode that is reserved (section 5.2).
    ReservedOpcode(u8),
    /// A client's frame is not masked (section 5.1).
    NotMasked,
    /// A server's frame is masked (section 5.1).
    Masked,
    /// A length is written in more bytes than it needs (section 5.2).
    LongLength,
    /// A length of 2^63 or more (section 5.2). Nothing behind it can be read.
    ImpossibleLength,
    /// A control frame without FIN (section 5.5).
    FragmentedControl,
    /// A control frame of more than 125 bytes (section 5.5).
    LongControl(u64),
    /// A continuation frame, and no message to continue (section 5.4).
    NothingToContinue,
    /// A message has no last frame: another began, or the connection ended (section 5.4).
    NotFinished,
    /// A text, or the reason of a close, is no UTF-8 (section 8.1).
    BadUtf8,
    /// The body of a close frame is one byte long (section 5.5.1).
    HalfCloseCode,
    /// A close code that must not be sent (section 7.4).
    CloseCode(u16),
    /// A frame after the close frame (section 5.5.1).
    AfterClose,
    /// The connection ended within a frame.
    Cut,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReservedBits(bits) => {
                write!(f, "reserved bits are set that no extension explains (0b{bits:03b})")
            }
            Self::ReservedOpcode(opcode) => write!(f, "the opcode 0x{opcode:x} is reserved"),
            Self::NotMasked => f.write_str("a frame is not masked, as a client's has to be"),
            Self::Masked => f.write_str("a frame is masked, as a server's must not be"),
            Self::LongLength => f.write_str("a length is written in more bytes than it needs"),
            Self::ImpossibleLength => {
                f.write_str("a length of 2^63 or more; nothing behind it can be read")
            }
            Self::FragmentedControl => f.write_str("a control frame is fragmented"),
            Self::LongControl(length) => {
                write!(f, "a control frame of {length} bytes; 125 are allowed")
            }
            Self::NothingToContinue => f.write_str("a continuation, and nothing to continue"),
            Self::NotFinished => f.write_str("a message without its last frame"),
            Self::BadUtf8 => f.write_str("text that is no UTF-8"),
            Self::HalfCloseCode => f.write_str("a close code of one byte"),
            Self::CloseCode(code) => write!(f, "the close code {code} must not be sent"),
            Self::AfterClose => f.write_str("a frame after the close frame"),
            Self::Cut => f.write_str("the connection ended within a frame"),
        }
    }
}
