//! MCP over streamable HTTP (`FORMATS.md` H10): JSON-RPC messages, of which a response is the answer.

use std::collections::HashSet;

use teeline_decoder::Frame;
use teeline_finding::{Kind, excerpt};

use crate::{
    candidate::name_of,
    draft::{Draft, PartKind},
    failure::Fault,
    format::{Assembler, Event, Format, Rules},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

pub(crate) const FORMAT: Format = Format {
    name: "mcp",
    title: "MCP",
    rules: RULES,
    reasons: &[],
    errors: ERRORS,
    start: || Box::<Stream>::default(),
};

const RULES: Rules = Rules { unit: "response", end: "a response", ..Rules::NONE };

/// Codes of JSON-RPC 2.0, and those that the protocol adds.
const ERRORS: &[(&str, &str)] = &[
    ("-32700", "The server could not read the request as JSON."),
    ("-32600", "The request is no valid JSON-RPC request."),
    ("-32601", "The server does not know this method."),
    ("-32602", "The method's parameters are wrong, or name a tool or prompt that does not exist."),
    ("-32603", "The server failed."),
    ("-32002", "The resource does not exist."),
    ("-32001", "The request took too long or was cancelled."),
    ("-32000", "The connection was closed, or the server has an error of its own."),
];

/// What a kept response costs of the text limit beyond its bytes.
const RESPONSE: usize = 128;

/// A stream of messages.
#[derive(Default)]
struct Stream {
    /// The responses: one, or one for each request of a batch.
    responses: Vec<Node>,
    /// Their ids.
    ids: HashSet<Box<str>>,
    /// The transport of 2024-11-05: one stream for all requests of a session.
    is_session: bool,
}

impl Assembler for Stream {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        // Older versions put several messages into an array.
        match event.json.items() {
            Some(batch) if !batch.is_empty() => {
                for message in batch {
                    self.message(message, event, draft);
                }
            }
            _ => self.message(event.json, event, draft),
        }
    }

    /// The frame that a stream can be resumed from, and the one that names the session's address.
    fn text(&mut self, data: &str, frame: &Frame, draft: &mut Draft) -> bool {
        if frame.event.as_deref() == Some("endpoint") {
            self.is_session = true;
            draft.ends_with_body();
            draft.note("endpoint");
            return true;
        }
        let primes = data.trim_ascii().is_empty();
        if primes && frame.id.is_some() {
            draft.set_rules(Rules {
                end: "a response; the client may go on with `Last-Event-ID`",
                ..RULES
            });
        }
        if primes {
            draft.note("priming");
        }
        primes
    }

    /// Requests in a batch are answered one by one.
    fn passes_end(&self, event: &Event<'_>) -> bool {
        let id = event.object.as_ref().filter(|message| is_response(message)).and_then(id);
        id.is_some_and(|id| !self.ids.contains(id))
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let messages = document.items().unwrap_or_else(|| vec![document]);
        for message in messages.iter().filter_map(|json| json.object()) {
            if is_response(&message) {
                self.response_came(&message, draft);
            }
        }
        draft.end();
    }

    fn response(&self, out: &mut Writer<'_>) {
        match self.responses.as_slice() {
            [] => {}
            [response] => out.node(response),
            responses => {
                out.array(|items| responses.iter().for_each(|response| items.node(response)));
            }
        }
    }
}

impl Stream {
    fn message(&mut self, json: Json<'_>, event: &Event<'_>, draft: &mut Draft) {
        let Some(message) = json.object() else {
            draft.unknown(&name_of(event));
            return;
        };
        match message.get("method").map(|method| (method, method.str())) {
            Some((_, Some(method))) => {
                let kind = if message.has("id") { "request" } else { "notification" };
                draft.note(&format!("{kind} {}", excerpt(&method)));
            }
            Some((method, None)) => draft.bad_field("method", "a string", method),
            None if is_response(&message) => {
                if draft.admit(json.raw().len() + RESPONSE) {
                    self.responses.push(json.into());
                }
                self.response_came(&message, draft);
                if message.some("error").is_some() {
                    draft.fail(Fault::of_frame(json));
                } else if !self.is_session {
                    draft.end();
                }
            }
            None => draft.unknown(&name_of(event)),
        }
    }

    fn response_came(&mut self, message: &Object<'_>, draft: &mut Draft) {
        match id(message) {
            Some(raw) => {
                if self.ids.is_empty() {
                    let text = message.str("id");
                    draft.id("the response", text.as_deref().unwrap_or(raw));
                }
                if draft.admit(raw.len() + RESPONSE) {
                    self.ids.insert(raw.into());
                }
            }
            // An error about a request that could not be read has none.
            None if message.has("error") && message.some("id").is_none() => {}
            None => draft.bad_field("id", "a string or a number", message.get("id")),
        }
        let Some(result) = message.some("result") else { return };
        draft.output(0);
        let Some(result) = result.object() else {
            return draft.bad_field("result", "an object", result);
        };
        let items = result.get("content").and_then(Json::items).unwrap_or_default();
        for item in items {
            content(item, draft);
        }
        if let Some(structured) = result.some("structuredContent") {
            let part = draft.part(0, PartKind::Other("structured-content"));
            draft.extra(part, "structuredContent", structured, Map::set_json);
        }
        if result.get("isError").and_then(Json::bool) == Some(true) && !draft.is_document() {
            // Which tool it is stands in the request.
            let tool = format!("of request {}", excerpt(id(message).unwrap_or("null")));
            let said = result.get("content").and_then(Json::items).unwrap_or_default();
            let said = said.iter().find_map(|item| item.get("text")?.str());
            let message = said.map_or_else(|| "it does not say why".to_owned(), |it| excerpt(&it));
            draft.report(Kind::ToolFailed { tool, message });
        }
    }
}

/// An item of a tool's result.
fn content(item: Json<'_>, draft: &mut Draft) {
    let Some(fields) = item.object() else {
        return draft.bad_field("result.content[]", "an object", item);
    };
    let (kind, member) = match &*fields.str("type").unwrap_or_default() {
        "text" => (PartKind::Text, "text"),
        "image" => (PartKind::Other("image"), ""),
        "audio" => (PartKind::Other("audio"), ""),
        "resource" | "resource_link" => (PartKind::Other("resource"), ""),
        _ => (PartKind::Other("content"), ""),
    };
    let part = draft.part(0, kind);
    for (key, value) in fields.iter().filter(|(key, _)| *key != "type") {
        match value.text() {
            Some(text) if key == member => draft.append(part, &text),
            _ => draft.extra(part, key, value, Map::set_json),
        }
    }
}

fn is_response(message: &Object<'_>) -> bool {
    !message.has("method") && (message.has("result") || message.has("error"))
}

/// A message's id as it is written.
fn id<'a>(message: &Object<'a>) -> Option<&'a str> {
    let id = message.get("id")?;
    (id.is_string() || id.is_number()).then(|| id.raw())
}
