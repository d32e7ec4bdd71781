//! HAR 1.2: the exchange as browsers' network panels read it, with the frames' times beside it.

use std::io::Write;

use bytes::BytesMut;
use serde::Serialize;
use teeline_assembler::FrameRow;
use teeline_capture::{CaptureId, Ending, Exchange, Piece, Store};

use crate::{ExportError, all_rows};

/// The document has one entry.
#[derive(Serialize)]
struct Document {
    log: Log,
}

#[derive(Serialize)]
struct Log {
    version: &'static str,
    creator: Creator,
    entries: [Entry; 1],
}

#[derive(Serialize)]
struct Creator {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: String,
    time: f64,
    request: Request,
    response: Response,
    cache: Empty,
    timings: Timings,
    /// As browsers write it.
    #[serde(rename = "_webSocketMessages", skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<SocketMessage>>,
    /// Fields of one's own begin with an underscore.
    #[serde(rename = "_teeline")]
    teeline: Own,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct NameValue {
    name: String,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    http_version: String,
    cookies: [(); 0],
    headers: Vec<NameValue>,
    query_string: Vec<NameValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_data: Option<PostData>,
    headers_size: i64,
    body_size: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    mime_type: String,
    params: [(); 0],
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: u16,
    status_text: String,
    http_version: String,
    cookies: [(); 0],
    headers: Vec<NameValue>,
    content: Content,
    #[serde(rename = "redirectURL")]
    redirect_url: String,
    headers_size: i64,
    body_size: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    size: u64,
    mime_type: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
}

#[derive(Serialize)]
struct Timings {
    send: f64,
    wait: f64,
    receive: f64,
}

/// What HAR has no place for.
#[derive(Serialize)]
struct Own {
    id: String,
    upstream: String,
    /// The path as the app sent it, the upstream's segment included.
    path: String,
    state: &'static str,
    ending: Option<Ending>,
    end_reason: Option<String>,
    frames: Vec<FrameTime>,
}

/// A WebSocket message, in the field that browsers have for them.
#[derive(Serialize)]
struct SocketMessage {
    #[serde(rename = "type")]
    direction: &'static str,
    /// Seconds since 1970.
    time: f64,
    opcode: u8,
    data: String,
}

#[derive(Serialize)]
struct FrameTime {
    index: u64,
    at_ms: Option<f64>,
    offset: u64,
    length: u64,
    event: Option<String>,
}

pub(crate) fn write(store: &Store, id: CaptureId, out: &mut dyn Write) -> Result<(), ExportError> {
    let exchange = store.exchange(id)?;
    let mut body = BytesMut::new();
    for piece in store.body(id)? {
        if let Piece::Chunk(chunk) = piece? {
            body.extend_from_slice(&chunk.bytes);
        }
    }
    let rows = all_rows(store, id)?;
    let messages = exchange.is_websocket().then(|| socket_messages(&exchange, &rows));
    let frames = rows.into_iter().map(frame_time).collect();
    let creator = Creator { name: "teeline", version: env!("CARGO_PKG_VERSION") };
    let log = Log { version: "1.2", creator, entries: [entry(&exchange, &body, frames, messages)] };
    serde_json::to_writer(&mut *out, &Document { log }).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

fn frame_time(row: FrameRow) -> FrameTime {
    FrameTime {
        index: row.index,
        at_ms: row.at_ms,
        offset: row.offset,
        length: row.length,
        event: row.event,
    }
}

/// Texts and what is binary; browsers list no control frames.
fn socket_messages(exchange: &Exchange, rows: &[FrameRow]) -> Vec<SocketMessage> {
    #[expect(clippy::cast_precision_loss, reason = "microseconds of this century are below 2^53")]
    let start = exchange.summary.started_at.as_micros() as f64 / 1_000_000.0;
    let message = |row: &FrameRow| {
        let facts = row.message.as_ref()?;
        let opcode = match facts.opcode {
            "text" => 1,
            "binary" => 2,
            _ => return None,
        };
        Some(SocketMessage {
            direction: if facts.direction == "from-app" { "send" } else { "receive" },
            time: start + row.at_ms.unwrap_or_default() / 1000.0,
            opcode,
            data: row.data.clone().unwrap_or_default(),
        })
    };
    rows.iter().filter_map(message).collect()
}

fn entry(
    exchange: &Exchange,
    body: &[u8],
    frames: Vec<FrameTime>,
    messages: Option<Vec<SocketMessage>>,
) -> Entry {
    let summary = &exchange.summary;
    let timings = timings(exchange);
    Entry {
        started_date_time: summary.started_at.to_string(),
        time: timings.send + timings.wait + timings.receive,
        request: request(exchange),
        response: response(exchange, body),
        cache: Empty {},
        timings,
        messages,
        teeline: Own {
            id: summary.id.to_string(),
            upstream: summary.upstream.clone(),
            path: summary.path.clone(),
            ending: exchange.ending.clone(),
            state: summary.state.as_str(),
            end_reason: summary.end_reason.clone(),
            frames,
        },
    }
}

/// From the moments that are known; one that is not counts as nothing after the one before.
fn timings(exchange: &Exchange) -> Timings {
    let ms = |us: u64| {
        #[expect(
            clippy::cast_precision_loss,
            reason = "microseconds of an exchange are far below 2^52"
        )]
        let ms = us as f64 / 1000.0;
        ms
    };
    let moments = &exchange.moments;
    let sent = moments.request_end_us.or(moments.sent_us).unwrap_or_default();
    let answered = moments.response_us.unwrap_or(sent).max(sent);
    let ended = moments.end_us.unwrap_or(answered).max(answered);
    Timings { send: ms(sent), wait: ms(answered - sent), receive: ms(ended - answered) }
}

fn request(exchange: &Exchange) -> Request {
    let request = &exchange.request;
    let query = request.url.split_once('?').map_or("", |(_, query)| query);
    Request {
        method: request.method.clone(),
        url: request.url.clone(),
        http_version: request.version.clone(),
        cookies: [],
        headers: pairs(&request.headers),
        query_string: query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                NameValue { name: name.to_owned(), value: value.to_owned() }
            })
            .collect(),
        post_data: (!request.body.is_empty() && !exchange.is_websocket()).then(|| PostData {
            mime_type: header(&request.headers, "content-type"),
            params: [],
            text: request.body.clone(),
        }),
        headers_size: -1,
        body_size: request.body.len() as u64,
    }
}

/// Where no response came, the status is 0, as browsers write it.
fn response(exchange: &Exchange, body: &[u8]) -> Response {
    let view = exchange.response.clone().unwrap_or_default();
    let (text, encoding) = match std::str::from_utf8(body) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (base64(body), Some("base64")),
    };
    Response {
        status: view.status,
        status_text: view.reason.unwrap_or_default(),
        http_version: view.version,
        cookies: [],
        headers: pairs(&view.headers),
        content: Content {
            size: body.len() as u64,
            mime_type: header(&view.headers, "content-type"),
            text,
            encoding,
        },
        redirect_url: header(&view.headers, "location"),
        headers_size: -1,
        body_size: exchange.summary.bytes,
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn pairs(headers: &[(String, String)]) -> Vec<NameValue> {
    headers
        .iter()
        .map(|(name, value)| NameValue { name: name.clone(), value: value.clone() })
        .collect()
}

fn header(headers: &[(String, String)], name: &str) -> String {
    headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.clone())
        .unwrap_or_default()
}
