//! WebSocket frames to messages (RFC 6455), one direction at a time.
//!
//! What both sides of an upgraded connection send is read beside its way, so nothing here closes a
//! connection: where the RFC tells an endpoint to fail it, the [`Fault`] is named and reading goes
//! on as far as the frames' lengths can be trusted. Compressed messages (RFC 7692) are counted and
//! not decoded.

mod fault;
mod head;
mod message;

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes};

pub use fault::Fault;
pub use message::{Message, Opcode};

use head::{Gathered, Head};
use message::Open;

/// Bytes of a message's payload that are kept unless told otherwise: 16 MiB.
pub const MESSAGE_BOUND: usize = 16 << 20;

/// Who sends what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The side that asked for the upgrade. It has to mask its frames (section 5.1).
    Client,
    /// The side that agreed to it. It must not.
    Server,
}

/// What the bytes amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A message or a control frame, in the order in which they were complete.
    Message(Message),
    /// Something is wrong that belongs to no message.
    Fault {
        /// Where, in bytes of this direction.
        offset: u64,
        /// What.
        fault: Fault,
    },
}

/// Reads one direction. Chunks go in as they come, items come out; any chunking gives the same ones.
///
/// ```
/// use teeline_decoder::websocket::{Item, Sender, WebSocket};
///
/// let mut socket = WebSocket::new(Sender::Server, false);
/// for chunk in [&b"\x81\x05he"[..], b"llo\x88\x02\x03\xe8"] {
///     socket.push(chunk.into(), None);
/// }
/// socket.finish();
/// let Some(Item::Message(hello)) = socket.next_item() else { panic!("a message") };
/// assert_eq!(hello.text.as_ref().map(|text| text.as_str()), Some("hello"));
/// let Some(Item::Message(close)) = socket.next_item() else { panic!("a close") };
/// assert_eq!(close.close, Some(1000));
/// assert_eq!(socket.next_item(), None);
/// ```
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct WebSocket {
    sender: Sender,
    deflate: bool,
    bound: usize,
    /// What was not read yet, with the time at which it came.
    input: VecDeque<(Bytes, Option<u64>)>,
    /// The next byte's place.
    offset: u64,
    /// The head that is coming.
    head: Gathered,
    /// The frame whose payload is coming.
    frame: Option<Frame>,
    /// The message that has begun and not ended. Control frames may come within it.
    message: Option<Open>,
    ready: VecDeque<Item>,
    /// A close frame came: nothing may follow (section 5.5.1).
    closed: bool,
    ended: bool,
    over: bool,
}

/// A frame whose head has come.
#[derive(Debug)]
struct Frame {
    head: Head,
    /// Bytes of its payload that came.
    have: u64,
    /// A control frame is a message of its own.
    control: Option<Open>,
}

impl WebSocket {
    /// `deflate`: the two sides have agreed on `permessage-deflate`, whose messages set RSV1.
    pub fn new(sender: Sender, deflate: bool) -> Self {
        Self {
            sender,
            deflate,
            bound: MESSAGE_BOUND,
            input: VecDeque::new(),
            offset: 0,
            head: Gathered::default(),
            frame: None,
            message: None,
            ready: VecDeque::new(),
            closed: false,
            ended: false,
            over: false,
        }
    }

    /// Keeps at most so many bytes of a message; of a longer one only the size is given.
    #[must_use]
    pub fn with_bound(mut self, bytes: usize) -> Self {
        self.bound = bytes;
        self
    }

    /// Adds what came, at a time that is given back with the messages that begin in it. Items should
    /// be taken before the next is added: what was not read waits here.
    pub fn push(&mut self, chunk: Bytes, at_us: Option<u64>) {
        if !chunk.is_empty() && !self.over {
            self.input.push_back((chunk, at_us));
        }
    }

    /// Nothing more comes.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// The next item; `None` until more comes.
    pub fn next_item(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if self.over {
                return None;
            }
            if self.frame.as_ref().is_some_and(|frame| frame.head.length <= frame.have) {
                self.end_frame();
            } else if !self.advance() {
                if !self.ended {
                    return None;
                }
                self.end();
            }
        }
    }

    /// Takes a piece of what came; false where there is none.
    fn advance(&mut self) -> bool {
        let Some((chunk, at_us)) = self.input.front_mut() else { return false };
        if let Some(frame) = &mut self.frame {
            let left = usize::try_from(frame.head.length - frame.have).unwrap_or(usize::MAX);
            let piece = chunk.split_to(left.min(chunk.len()));
            let open = frame.control.as_mut().or(self.message.as_mut());
            if let Some(open) = open {
                open.take(&piece, frame.head.mask, frame.have, self.bound);
            }
            frame.have += piece.len() as u64;
            self.offset += piece.len() as u64;
        } else {
            let at_us = *at_us;
            let byte = chunk.get_u8();
            let complete = self.head.add(byte, self.offset, at_us);
            self.offset += 1;
            if let Some(head) = complete {
                self.begin_frame(head);
            }
        }
        if self.input.front().is_some_and(|(chunk, _)| chunk.is_empty()) {
            self.input.pop_front();
        }
        true
    }

    fn begin_frame(&mut self, head: Head) {
        let mut faults = head.faults(self.sender, self.deflate);
        if self.closed {
            faults.push(Fault::AfterClose);
        }
        let lost = head.is_lost();
        let control = if head.is_control() {
            let mut open = Open::new(&head, false);
            open.faults(faults);
            Some(open)
        } else if head.opcode == 0 {
            if self.message.is_none() {
                faults.push(Fault::NothingToContinue);
            }
            let open = self.message.get_or_insert_with(|| Open::new(&head, false));
            open.frames += 1;
            open.faults(faults);
            None
        } else {
            let mut open = Open::new(&head, head.rsv1);
            open.frames = 1;
            open.faults(faults);
            if let Some(mut unfinished) = self.message.replace(open) {
                unfinished.faults([Fault::NotFinished]);
                self.ready.push_back(Item::Message(unfinished.message(false)));
            }
            None
        };
        self.frame = Some(Frame { head, have: 0, control });
        if lost {
            // Where the next frame begins cannot be known.
            self.end();
        }
    }

    fn end_frame(&mut self) {
        let Some(Frame { head, control, .. }) = self.frame.take() else { return };
        let ended = if let Some(mut open) = control {
            open.end = self.offset;
            self.closed |= head.opcode == Opcode::CLOSE;
            Some(open)
        } else {
            if let Some(open) = &mut self.message {
                open.end = self.offset;
            }
            if head.fin { self.message.take() } else { None }
        };
        self.ready.extend(ended.map(|open| Item::Message(open.message(true))));
    }

    /// Gives what has begun and will not be ended.
    fn end(&mut self) {
        self.over = true;
        self.input.clear();
        let frame = self.frame.take();
        let cut = frame.as_ref().is_some_and(|frame| !frame.head.is_lost());
        let control = frame.and_then(|frame| frame.control);
        let within_message = cut && control.is_none();
        let fault = [Fault::Cut];
        if let Some(mut open) = control {
            open.end = self.offset;
            if cut {
                open.faults(fault.clone());
            }
            self.ready.push_back(Item::Message(open.message(false)));
        }
        if let Some(mut open) = self.message.take() {
            open.end = open.end.max(if within_message { self.offset } else { 0 });
            open.faults(if within_message { fault } else { [Fault::NotFinished] });
            self.ready.push_back(Item::Message(open.message(false)));
        }
        if let Some(offset) = self.head.begun() {
            self.ready.push_back(Item::Fault { offset, fault: Fault::Cut });
        }
    }
}

#[cfg(test)]
mod tests;
