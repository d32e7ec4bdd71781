//! Bedrock `InvokeModelWithResponseStream` (`FORMATS.md` H7), and the streams of Bedrock's agents.
//!
//! Every message holds, in base64, one object of the model vendor's own stream, which is read by that
//! vendor's format; for vendors without one there is [`Simple`]. What Bedrock adds begins with
//! `amazon-bedrock-`.

mod agent;
mod simple;
mod words;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use teeline_finding::{Kind, excerpt};

use crate::{
    bedrock_converse, detect,
    draft::{Draft, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel, format},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use agent::Agent;
use simple::Simple;

pub(crate) const FORMAT: Format = Format {
    name: "bedrock-invoke",
    title: "Bedrock InvokeModel",
    rules: Rules { end: "the end of the model's own stream", ..Rules::NONE },
    reasons: words::REASONS,
    errors: words::ERRORS,
    start: || Box::<Invoke>::default(),
};

/// What Bedrock adds to the model's own objects.
const ADDED: &str = "amazon-bedrock-";

/// The formats whose objects a chunk may hold, apart from Converse's.
const VENDORS: &[&str] = &["anthropic-messages", "openai-chat", "openai-completions", "cohere"];

/// A stream of a model behind Bedrock.
#[derive(Default)]
struct Invoke {
    inner: Option<Inner>,
    /// What Bedrock adds, in first-seen order.
    added: Map,
    /// The usage is Bedrock's own counts: the model's body has none.
    counts: bool,
    /// A guardrail stepped in: the stream may end without a word of the model's.
    guarded: bool,
}

/// Whose stream it is.
enum Inner {
    /// A vendor's that has a format of its own.
    Vendor(Vendor),
    Simple(Simple),
    Agent(Agent),
}

struct Vendor {
    name: &'static str,
    reader: Box<dyn Assembler>,
}

impl Assembler for Invoke {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let name = event.name().unwrap_or_default();
        let Some(payload) = &event.object else {
            return draft.bad_field(name, "an object", event.json);
        };
        if name != "chunk" {
            return match self.agent(draft) {
                Some(agent) => agent.event(name, payload, draft),
                None => draft.unknown(name),
            };
        }
        let Some(bytes) = decoded(payload, draft) else { return };
        let Ok(text) = String::from_utf8(bytes) else {
            let value = payload.get("bytes").unwrap_or(Json::NULL);
            return draft.bad_field("bytes", "UTF-8 in base64", value);
        };
        let is_agent = matches!(self.inner, Some(Inner::Agent(_)));
        match Json::parse(&text) {
            Ok(json) if json.is_object() && !is_agent => self.object(&event.with_json(json), draft),
            parsed => self.plain(&text, parsed.err(), payload, draft),
        }
    }

    fn passes_end(&self, event: &Event<'_>) -> bool {
        if event.name() != Some("chunk") {
            return matches!(self.inner, Some(Inner::Agent(_)));
        }
        let bytes = event.object.as_ref().and_then(|payload| payload.str("bytes"));
        let bytes = bytes.and_then(|bytes| STANDARD.decode(bytes.as_bytes()).ok());
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let Ok(json) = Json::parse(&text) else { return false };
        let object = json.object().unwrap_or_default();
        let is_added = !object.is_empty() && object.iter().all(|(key, _)| key.starts_with(ADDED));
        is_added
            || match &self.inner {
                Some(Inner::Vendor(vendor)) if vendor.name == "openai-chat" => {
                    object.get("choices").and_then(Json::items).is_some_and(|list| list.is_empty())
                }
                Some(Inner::Vendor(vendor)) => vendor.reader.passes_end(&event.with_json(json)),
                Some(Inner::Simple(simple)) => self.guarded && !simple.has_stopped(),
                _ => false,
            }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        if let Some(Inner::Simple(simple)) = self.inner(&body, draft) {
            simple.document(&body, draft);
        } else if let Some(Inner::Vendor(vendor)) = &mut self.inner {
            vendor.reader.document(document, draft);
        }
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        if let Some(Inner::Vendor(vendor)) = &mut self.inner {
            vendor.reader.finish(draft);
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        let mut body = Writer::new(out.draft());
        match &self.inner {
            Some(Inner::Vendor(vendor)) => vendor.reader.response(&mut body),
            Some(Inner::Simple(simple)) => simple.response(&mut body),
            Some(Inner::Agent(_)) | None => return,
        }
        let body = body.into_json();
        let Some(body) = Json::parse(&body).ok().and_then(Json::object) else { return };
        out.object(|fields| {
            for (key, value) in body.iter().filter(|(key, _)| !(self.counts && *key == "usage")) {
                fields.field(key, |writer| writer.json(value));
            }
            fields.map(&self.added);
        });
    }
}

impl Invoke {
    /// An object of the model's own stream.
    fn object(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(object) = &event.object else { return };
        let own = self.take_added(object, draft);
        let ours = draft.usage.take_if(|_| self.counts);
        if own.is_empty() {
            draft.note("metrics");
        } else {
            let mut out = Writer::new(draft);
            out.node(&Node::Object(own));
            let own = out.into_json();
            // What was taken apart is JSON again.
            if let Ok(json) = Json::parse(&own) {
                self.own(&event.with_json(json), draft);
            }
        }
        self.counts &= draft.usage.is_none();
        if self.counts {
            draft.usage = ours;
        }
        self.count(draft);
    }

    /// Takes apart what Bedrock adds; the rest is the model's own.
    fn take_added(&mut self, object: &Object<'_>, draft: &mut Draft) -> Map {
        let mut own = Map::default();
        for (key, value) in object.iter() {
            if key.starts_with(ADDED) {
                self.guarded |= value.str().as_deref() == Some("INTERVENED");
                draft.carry(&mut self.added, key, value, Map::last);
            } else {
                own.set(key, value);
            }
        }
        own
    }

    fn own(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(object) = &event.object else { return };
        let guarded = self.guarded;
        match self.inner(object, draft) {
            Some(Inner::Vendor(vendor)) => vendor.read(event, draft),
            Some(Inner::Simple(simple)) => {
                if object.get("error").is_some_and(Json::is_truthy) {
                    return draft.fail(Fault::of_frame(event.json));
                }
                simple.read(object, draft);
                draft.set_ended(simple.has_stopped() || guarded);
            }
            _ => draft.unknown(&event.json.shortened()),
        }
    }

    /// Whose stream it is, by its first object.
    fn inner(&mut self, object: &Object<'_>, draft: &mut Draft) -> Option<&mut Inner> {
        if self.inner.is_none() {
            let vendor = if bedrock_converse::is_wrapper(object) {
                Some(bedrock_converse::FORMAT.name)
            } else {
                detect::vote_inner(object).filter(|name| VENDORS.contains(name))
            };
            self.inner = match vendor.and_then(format) {
                Some(format) => {
                    draft.set_rules(rules(format));
                    let vendor = Vendor { name: format.name, reader: (format.start)() };
                    Some(Inner::Vendor(vendor))
                }
                None => Simple::of(object).map(|simple| {
                    draft.set_rules(simple.rules());
                    Inner::Simple(simple)
                }),
            };
        }
        self.inner.as_mut()
    }

    /// An agent's stream, if it is not a model's.
    fn agent(&mut self, draft: &mut Draft) -> Option<&mut Agent> {
        if self.inner.is_none() {
            draft.ends_with_body();
        }
        match self.inner.get_or_insert_with(|| Inner::Agent(Agent::default())) {
            Inner::Agent(agent) => Some(agent),
            _ => None,
        }
    }

    /// No object: what an agent says, or a fault.
    fn plain(
        &mut self,
        text: &str,
        error: Option<String>,
        payload: &Object<'_>,
        draft: &mut Draft,
    ) {
        match (self.agent(draft), error) {
            (Some(agent), _) => agent.chunk(text, payload, draft),
            (None, Some(error)) => {
                draft.report(Kind::NotJson { text: excerpt(text), error, glued: false });
            }
            (None, None) => draft.unknown(text),
        }
    }

    /// Bedrock's own counts, where the model's stream has none.
    fn count(&mut self, draft: &mut Draft) {
        let metrics = self.added.get("amazon-bedrock-invocationMetrics").and_then(Node::json);
        let Some(metrics) = metrics.filter(|_| draft.usage.is_none()) else { return };
        let counts = metrics.object().unwrap_or_default();
        let tokens = Tokens {
            input: counts.u64("inputTokenCount"),
            output: counts.u64("outputTokenCount"),
            cached: counts.u64("cacheReadInputTokenCount"),
            ..Tokens::default()
        };
        if tokens != Tokens::default() {
            draft.usage(tokens, metrics);
            self.counts = true;
        }
    }
}

impl Vendor {
    fn read(&mut self, event: &Event<'_>, draft: &mut Draft) {
        self.reader.frame(event, draft);
        // Bedrock leaves out the first event of Cohere's.
        if self.name == "cohere" && draft.rules().start.is_some() {
            draft.set_rules(Rules { start: None, ..*draft.rules() });
        }
        // Nor does it send `[DONE]`.
        if self.name.starts_with("openai-") && draft.has_outputs() {
            let indexes: Vec<u64> = draft.output_indexes().collect();
            let is_whole = indexes.iter().all(|index| draft.reason(*index).is_some());
            draft.set_ended(is_whole);
        }
    }
}

/// The rules of a vendor's stream inside Bedrock's.
fn rules(format: &Format) -> Rules {
    match format.name {
        "openai-chat" | "openai-completions" => Rules {
            end: "a `finish_reason`",
            sentinel: Sentinel::Unknown,
            reasons: false,
            ..format.rules
        },
        _ => Rules { sentinel: Sentinel::Unknown, ..format.rules },
    }
}

/// What a chunk holds.
fn decoded(payload: &Object<'_>, draft: &mut Draft) -> Option<Vec<u8>> {
    let Some(value) = payload.get("bytes") else {
        draft.missing_field("bytes", "base64");
        return None;
    };
    let bytes = value.str().and_then(|text| STANDARD.decode(text.as_bytes()).ok());
    if bytes.is_none() {
        draft.bad_field("bytes", "base64", value);
    }
    bytes
}
