//! What both sides of a WebSocket said, in the order in which it came.
//!
//! The two directions are stored as the request's body and the response's. They are read side by side,
//! always the piece that came first, so that messages have the same numbers whenever they are read: what
//! waits of both is written in one transaction, and no later piece is older.

mod reading;
mod row;

use std::collections::VecDeque;
use std::sync::Arc;

use teeline_assembler::{CloseFacts, FrameRow, PREVIEW, STALLED_US, WebSocketFacts};
use teeline_decoder::websocket::{Item, Message, Opcode, Sender, WebSocket};
use teeline_finding::{Findings, Kind, Place};

use crate::database::{Database, Part, read};
use crate::pieces::Segments;
use crate::record::Record;
use crate::{Ending, Piece, StoreError, StoredChunk, Timestamp, summarise};

pub(crate) use row::{Direction, data_of, event_of};

/// Bytes of each side's text that are searched for words.
const SEARCHED: usize = 40 << 10;

/// Reads both directions of one capture up to what is stored, and goes on from there when asked again.
pub(crate) struct Conversation {
    started_at: Timestamp,
    app: Side,
    upstream: Side,
    facts: WebSocketFacts,
    model: Option<String>,
    findings: Findings,
    frames: u64,
    /// Who sent the first close frame.
    closed_by: Option<Direction>,
    /// A message did not come whole.
    cut: bool,
    times: Times,
    preview: String,
    /// What each side said, for the search: the app, the upstream.
    said: (String, String),
    rows: Option<Vec<FrameRow>>,
    finished: Option<Ending>,
}

/// In microseconds since the request's start; the gap: between two messages.
#[derive(Default)]
struct Times {
    first: Option<u64>,
    first_text: Option<u64>,
    last: Option<u64>,
    gap: Option<u64>,
}

/// One direction.
struct Side {
    part: Part,
    socket: WebSocket,
    position: u64,
    waiting: VecDeque<StoredChunk>,
    /// Bytes are missing: where the next frame begins is not known.
    lost: bool,
}

impl Side {
    fn new(part: Part, sender: Sender, deflate: bool) -> Self {
        let socket = WebSocket::new(sender, deflate);
        Self { part, socket, position: 0, waiting: VecDeque::new(), lost: false }
    }

    /// Fetches the next segment, if what was fetched is read and something is stored below `end`. Gives
    /// what is missing before it.
    fn fill(
        &mut self,
        database: &Arc<Database>,
        seq: i64,
        record: &Arc<Record>,
        end: u64,
    ) -> Result<Option<Kind>, StoreError> {
        let mut missing = None;
        while self.waiting.is_empty() && self.position < end {
            let mut segments = segments(self.part, database, seq, record).from(self.position);
            let mut pieces = Vec::new();
            if !segments.next(&mut pieces)? {
                break;
            }
            self.position = segments.position();
            for piece in pieces {
                match piece {
                    Piece::Chunk(chunk) if !self.lost => self.waiting.push_back(chunk),
                    Piece::Chunk(_) => {}
                    Piece::Gap { from, to, reason } => {
                        self.lost = true;
                        missing = Some(Kind::CaptureIncomplete { from, to, reason });
                    }
                }
            }
        }
        Ok(missing)
    }
}

/// A direction's stored segments.
pub(crate) fn segments(
    part: Part,
    database: &Arc<Database>,
    seq: i64,
    record: &Arc<Record>,
) -> Segments {
    match part {
        Part::Request => Segments::request(Arc::clone(database), seq, Arc::clone(record)),
        Part::Response => Segments::response(Arc::clone(database), seq, Arc::clone(record)),
    }
}

impl Conversation {
    /// `rows`: rows are kept to be taken.
    pub(crate) fn new(record: &Record, started_at: Timestamp, rows: bool) -> Self {
        let deflate = record.agreed_on_deflate();
        Self {
            started_at,
            app: Side::new(Part::Request, Sender::Client, deflate),
            upstream: Side::new(Part::Response, Sender::Server, deflate),
            facts: WebSocketFacts {
                extensions: record.response_header("sec-websocket-extensions"),
                protocol: record.response_header("sec-websocket-protocol"),
                ..WebSocketFacts::default()
            },
            model: model_of_query(&record.target),
            findings: Findings::default(),
            frames: 0,
            closed_by: None,
            cut: false,
            times: Times::default(),
            preview: String::new(),
            said: (String::new(), String::new()),
            rows: rows.then(Vec::new),
            finished: None,
        }
    }

    /// Reads at most so many segments' worth of what is stored; true if that was all.
    pub(crate) fn advance(
        &mut self,
        database: &Arc<Database>,
        seq: i64,
        record: &Arc<Record>,
        most: usize,
    ) -> Result<bool, StoreError> {
        // Both ends in one read: what is stored of one side and not of the other came later.
        let (app_end, upstream_end) = database.read(|connection| {
            let end = |part| read::stored_end(connection, seq, part);
            Ok((end(Part::Request)?, end(Part::Response)?))
        })?;
        let ends = (app_end.unwrap_or(0), upstream_end.unwrap_or(0));
        let mut left = most;
        loop {
            let wanted = self.app.waiting.is_empty() && self.app.position < ends.0
                || self.upstream.waiting.is_empty() && self.upstream.position < ends.1;
            if wanted {
                if left == 0 {
                    return Ok(false);
                }
                left -= 1;
            }
            for (side, end) in [(&mut self.app, ends.0), (&mut self.upstream, ends.1)] {
                if let Some(kind) = side.fill(database, seq, record, end)? {
                    self.findings.report(Place::STREAM, kind);
                }
            }
            let time = |side: &Side| side.waiting.front().map(|chunk| chunk.at_us);
            let direction = match (time(&self.app), time(&self.upstream)) {
                (None, None) => return Ok(true),
                (Some(app), Some(upstream)) if upstream < app => Direction::FromUpstream,
                (Some(_), _) => Direction::FromApp,
                (None, Some(_)) => Direction::FromUpstream,
            };
            let side = self.side(direction);
            if let Some(chunk) = side.waiting.pop_front() {
                side.socket.push(chunk.bytes, chunk.at_us);
            }
            self.drain(direction);
        }
    }

    fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::FromApp => &mut self.app,
            Direction::FromUpstream => &mut self.upstream,
        }
    }

    fn drain(&mut self, direction: Direction) {
        while let Some(item) = self.side(direction).socket.next_item() {
            match item {
                Item::Message(message) => self.message(direction, &message),
                Item::Fault { offset, fault } => {
                    self.cut = true;
                    let place = Place { offset: Some(offset), ..Place::STREAM };
                    self.fault(direction, place, fault.to_string());
                }
            }
        }
    }

    fn fault(&mut self, direction: Direction, place: Place, fault: String) {
        let sender = direction.sender().to_owned();
        self.findings.report(place, Kind::WebsocketFault { sender, fault });
    }

    fn message(&mut self, direction: Direction, message: &Message) {
        let index = self.frames;
        self.frames += 1;
        let place = Place { frame: Some(index), line: None, offset: Some(message.offset) };
        for fault in &message.faults {
            self.fault(direction, place, fault.to_string());
        }
        self.cut |= !message.complete;
        if let (Some(at), Some(last)) = (message.at_us, self.times.last) {
            let gap = at.saturating_sub(last);
            if STALLED_US.unsigned_abs() <= gap {
                self.findings.report(place, Kind::Stalled { ms: gap / 1000 });
            }
            self.times.gap = self.times.gap.max(Some(gap));
        }
        if direction == Direction::FromUpstream {
            self.times.first = self.times.first.or(message.at_us);
        }
        self.times.last = self.times.last.max(message.at_us);
        let data = data_of(message);
        self.count(direction, message, data.as_deref());
        if let Some(rows) = &mut self.rows {
            rows.push(row::row(index, direction, message, data, self.started_at));
        }
    }

    fn count(&mut self, direction: Direction, message: &Message, data: Option<&str>) {
        let (facts, said) = match direction {
            Direction::FromApp => (&mut self.facts.from_app, &mut self.said.0),
            Direction::FromUpstream => (&mut self.facts.from_upstream, &mut self.said.1),
        };
        match message.opcode {
            Opcode::Close | Opcode::Ping | Opcode::Pong => facts.control += 1,
            _ => facts.messages += 1,
        }
        facts.compressed += u64::from(message.compressed);
        if message.opcode == Opcode::Close {
            self.closed_by.get_or_insert(direction);
            facts.close.get_or_insert_with(|| CloseFacts {
                code: message.close,
                reason: data.unwrap_or_default().to_owned(),
            });
            return;
        }
        let Some(data) = data else { return };
        summarise::add(said, data, SEARCHED);
        if direction == Direction::FromUpstream {
            self.times.first_text = self.times.first_text.or(message.at_us);
            if self.preview.is_empty() {
                self.preview = data.chars().take(PREVIEW).collect();
            }
        }
    }

    /// The connection ended. To be called once everything that is stored was read.
    pub(crate) fn finish(&mut self, record: &Record, ending: &Ending) {
        if self.finished.is_some() {
            return;
        }
        for direction in [Direction::FromApp, Direction::FromUpstream] {
            let side = self.side(direction);
            // Behind a gap nothing was read: what ends there is not the message.
            if !side.lost {
                side.socket.finish();
                self.drain(direction);
            }
        }
        let (bytes, frames) = (self.bytes(), self.frames);
        let after_ms = record.moments.end_us.unwrap_or(0) / 1000;
        match ending {
            _ if self.closed_by.is_some() => {}
            Ending::UpstreamBroke { how } => {
                let how = how.clone();
                let kind = Kind::ConnectionBroke { how, frames, bytes, after_ms };
                self.findings.report(Place::STREAM, kind);
            }
            Ending::ClientLeft => {
                self.findings.report(Place::STREAM, Kind::ClientLeft { frames, bytes, after_ms });
            }
            _ => {}
        }
        self.finished = Some(ending.clone());
    }

    /// Bytes of both directions that were fetched.
    pub(crate) fn bytes(&self) -> u64 {
        self.app.position + self.upstream.position
    }

    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    pub(crate) fn preview(&self) -> &str {
        &self.preview
    }

    /// What the app said, and what the upstream did.
    pub(crate) fn said(&self) -> (&str, &str) {
        (&self.said.0, &self.said.1)
    }

    pub(crate) fn take_rows(&mut self) -> Vec<FrameRow> {
        self.rows.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// The model, where the URL names it, as OpenAI's Realtime does.
fn model_of_query(target: &str) -> Option<String> {
    let (_, query) = target.split_once('?')?;
    let model = query.split('&').find_map(|pair| pair.strip_prefix("model="))?;
    (!model.is_empty()).then(|| model.to_owned())
}
