//! The messages of a WebSocket as frames: they stand in two bodies.

use std::sync::Arc;

use bytes::Bytes;
use teeline_assembler::FrameRow;
use teeline_decoder::websocket::{Item, Sender, WebSocket};

use super::{Content, Follower, rows::Entry};
use crate::conversation::{Conversation, Direction, data_of, event_of, segments};
use crate::database::{Database, Detail, Part};
use crate::{Ending, Piece, StoreError};

impl Follower {
    /// Reads what both sides said and was not read.
    pub(super) fn listen(
        &mut self,
        database: &Arc<Database>,
        detail: &Detail,
        ended: bool,
    ) -> Result<(), StoreError> {
        let record = &detail.record;
        let conversation = self.conversation.get_or_insert_with(|| {
            Box::new(Conversation::new(record, detail.summary.started_at, true))
        });
        while !conversation.advance(database, self.seq, record, 1)? {
            self.rows.add(conversation.take_rows());
        }
        if ended {
            conversation.finish(record, record.ending.as_ref().unwrap_or(&Ending::Interrupted));
        }
        self.rows.add(conversation.take_rows());
        if ended {
            self.finished = true;
            self.conversation = None;
        }
        Ok(())
    }

    /// The same of a WebSocket, whose messages are in two bodies.
    pub(super) fn messages(
        &self,
        database: &Arc<Database>,
        detail: &Detail,
        offset: u64,
        limit: usize,
    ) -> Result<Vec<FrameRow>, StoreError> {
        let entries = self.rows.fitting(offset, limit);
        let mut bodies = [Direction::FromApp, Direction::FromUpstream].map(|direction| {
            let own = entries.iter().filter(|entry| entry.direction() == Some(direction));
            let range = own.fold(None, |range: Option<(u64, u64)>, entry| {
                let (from, to) = range.unwrap_or((u64::MAX, 0));
                Some((from.min(entry.offset), to.max(entry.end())))
            });
            (direction, range.unwrap_or_default(), Bytes::new())
        });
        for (direction, range, body) in &mut bodies {
            *body = wire_range(database, detail, direction.part(), *range)?;
        }
        let rows = entries.iter().zip(offset..).map(|(entry, index)| {
            let own = bodies.iter().find(|(direction, ..)| entry.direction() == Some(*direction));
            let bytes = own.map(|(_, (from, _), body)| {
                let at = |place: u64| {
                    usize::try_from(place - from).unwrap_or(usize::MAX).min(body.len())
                };
                body.slice(at(entry.offset)..at(entry.end()))
            });
            let deflate = detail.record.agreed_on_deflate();
            self.rows.row(entry, index, &said(entry, bytes.unwrap_or_default(), deflate))
        });
        Ok(rows.collect())
    }
}

/// What a message says, read again from its own bytes.
fn said(entry: &Entry, bytes: Bytes, deflate: bool) -> Content {
    let sender = match entry.direction() {
        Some(Direction::FromApp) => Sender::Client,
        _ => Sender::Server,
    };
    let mut socket = WebSocket::new(sender, deflate);
    socket.push(bytes, None);
    socket.finish();
    // Control frames within it end before it.
    let own = std::iter::from_fn(|| socket.next_item()).find_map(|item| match item {
        Item::Message(message) if message.offset == 0 => Some(message),
        _ => None,
    });
    let data = own.as_ref().and_then(data_of);
    let event = data.as_deref().and_then(event_of);
    Content { event, data, ..Content::default() }
}

/// Bytes of one direction as they came.
fn wire_range(
    database: &Arc<Database>,
    detail: &Detail,
    part: Part,
    (from, to): (u64, u64),
) -> Result<Bytes, StoreError> {
    let mut range = Vec::new();
    let mut segments = segments(part, database, detail.seq, &detail.record).from(from);
    let mut pieces = Vec::new();
    while segments.position() < to && segments.next(&mut pieces)? {
        for piece in pieces.drain(..) {
            let Piece::Chunk(chunk) = piece else { continue };
            let end = chunk.offset + chunk.bytes.len() as u64;
            let at = |place: u64| {
                usize::try_from(place.clamp(chunk.offset, end) - chunk.offset).unwrap_or(0)
            };
            range.extend_from_slice(chunk.bytes.get(at(from)..at(to)).unwrap_or_default());
        }
    }
    Ok(Bytes::from(range))
}
