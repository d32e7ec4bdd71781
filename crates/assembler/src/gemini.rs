//! Gemini `streamGenerateContent`, as SSE and as one JSON array (`FORMATS.md` D).
//!
//! Every frame is a whole `GenerateContentResponse`. There is no end marker: whether the answer is whole
//! can only be told when the body ends.

mod args;
mod call;
mod candidate;
mod parts;
mod path;
mod words;

use std::{borrow::Cow, collections::BTreeMap};

use teeline_finding::Kind;

use crate::{
    draft::{Draft, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use candidate::Candidate;

pub(crate) use words::ERRORS;

pub(crate) const FORMAT: Format = Format {
    name: "gemini",
    title: "Gemini streamGenerateContent",
    rules: Rules {
        unit: "candidate",
        end: "a `finishReason` for every candidate",
        start: None,
        sentinel: Sentinel::Unknown,
        deltas: true,
        calls_need_name: true,
        calls_need_id: false,
        judge_calls_at_end: false,
        empty_arguments: false,
        reasons: false,
        usage: false,
    },
    reasons: words::REASONS,
    errors: ERRORS,
    start: || Box::<Gemini>::default(),
};

/// Any of these makes an object a frame.
const KEYS: &[&str] = &[
    "candidates",
    "promptFeedback",
    "usageMetadata",
    "modelVersion",
    "responseId",
    "createTime",
    "error",
];

/// What a candidate costs of the text limit beyond its bytes.
const CANDIDATE: usize = 1_024;

/// A stream of responses.
#[derive(Default)]
struct Gemini {
    /// The top-level fields; `candidates` and `usageMetadata` hold a place only.
    head: Map,
    candidates: BTreeMap<u64, Candidate>,
    /// Why the prompt was blocked.
    block_reason: Option<String>,
}

impl Assembler for Gemini {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some((json, frame)) = unwrapped(event.json, draft) else {
            draft.unknown(&crate::candidate::name_of(event));
            return;
        };
        self.read(&frame, draft);
        if frame.get("error").is_some_and(Json::is_truthy) {
            draft.fail(Fault::of_frame(json));
        }
    }

    /// A frame after a `finishReason` is nothing special: usage, grounding and signatures come there.
    fn passes_end(&self, _event: &Event<'_>) -> bool {
        true
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        if let Some((_, body)) = unwrapped(document, draft) {
            self.read(&body, draft);
        }
        self.blocked(draft);
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        for candidate in self.candidates.values_mut() {
            candidate.finish(draft);
        }
        let finished = !self.candidates.is_empty()
            && self.candidates.keys().all(|index| draft.reason(*index).is_some());
        let blocked = self.blocked(draft);
        draft.set_ended(blocked || finished);
    }

    fn response(&self, out: &mut Writer<'_>) {
        if self.head.is_empty() {
            return;
        }
        let usage = out.draft().usage.as_ref().map(|(_, raw)| raw);
        out.object(|fields| {
            for (key, node) in self.head.iter() {
                match &*camel(key) {
                    "candidates" => fields.field(key, |value| {
                        value.array(|items| {
                            for candidate in self.candidates.values() {
                                items.item(|value| candidate.write(value));
                            }
                        });
                    }),
                    "usageMetadata" => fields.node(key, usage.unwrap_or(node)),
                    _ => fields.node(key, node),
                }
            }
        });
    }
}

impl Gemini {
    fn read(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        for (key, value) in frame.iter() {
            match &*camel(key) {
                "candidates" => {
                    self.head.last(key, Json::NULL);
                    self.candidates(value, draft);
                }
                "usageMetadata" => {
                    self.head.last(key, Json::NULL);
                    usage(value, draft);
                }
                "promptFeedback" => self.feedback(key, value, draft),
                "modelVersion" => match value.str() {
                    Some(model) => {
                        draft.model(&model);
                        self.head.last_filled(key, value);
                    }
                    None if value.is_null() => self.head.last_filled(key, value),
                    None => draft.bad_field(key, "a string", value),
                },
                "responseId" => match value.str() {
                    Some(id) => {
                        draft.id("the response", &id);
                        self.head.first_filled(key, value);
                    }
                    None if value.is_null() => self.head.first_filled(key, value),
                    None => draft.bad_field(key, "a string", value),
                },
                "createTime" => draft.carry(&mut self.head, key, value, Map::first_filled),
                "nonce" | "error" => {}
                _ => draft.carry(&mut self.head, key, value, Map::last),
            }
        }
    }

    fn candidates(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(candidates) = value.items() else {
            if !value.is_null() {
                draft.bad_field("candidates", "an array", value);
            }
            return;
        };
        for json in candidates {
            let Some(fields) = json.object() else {
                draft.bad_field("candidates[]", "an object", json);
                continue;
            };
            let Some(index) = candidate_index(&fields, draft) else { continue };
            if !self.candidates.contains_key(&index) && !draft.admit(CANDIDATE) {
                continue;
            }
            draft.output(index);
            self.candidates.entry(index).or_default().read(index, &fields, draft);
        }
    }

    /// FIRST that is not empty, but a block reason is never lost.
    fn feedback(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let reason = value.object().and_then(|feedback| {
            let reason = either(&feedback, "blockReason")?.str().filter(|reason| is_set(reason))?;
            Some(reason.into_owned())
        });
        let news = self.block_reason.is_none() && reason.is_some();
        if !value.is_object() && !value.is_null() {
            draft.bad_field(key, "an object", value);
        } else if news || self.head.get(key).is_none_or(is_blank) {
            draft.carry(&mut self.head, key, value, Map::set_json);
        }
        self.block_reason = self.block_reason.take().or(reason);
    }

    /// Whether the prompt was blocked and nothing was answered: `prompt-blocked`.
    fn blocked(&self, draft: &mut Draft) -> bool {
        let Some(reason) = self.block_reason.as_ref().filter(|_| self.candidates.is_empty()) else {
            return false;
        };
        let meaning = words::block_meaning(reason).to_owned();
        draft.report(Kind::PromptBlocked { reason: reason.clone(), meaning });
        true
    }
}

/// A candidate's index; missing means 0. A bad one is reported, and its candidate not read.
fn candidate_index(fields: &Object<'_>, draft: &mut Draft) -> Option<u64> {
    let Some(index) = fields.some("index") else { return Some(0) };
    if index.index().is_none() {
        draft.bad_field("candidates[].index", "an integer from 0 to 2147483647", index);
    }
    index.index()
}

/// Cumulative, key by key: frames in the middle of a stream may hold `trafficType` only.
fn usage(value: Json<'_>, draft: &mut Draft) {
    let Some(counts) = value.object() else {
        if !value.is_null() {
            draft.bad_field("usageMetadata", "an object", value);
        }
        return;
    };
    draft.merge_usage(&counts, tokens);
}

fn tokens(usage: &Map) -> Tokens {
    let count = |name: &str| {
        usage.iter().find(|(key, _)| camel(key) == name).and_then(|(_, node)| node.u64())
    };
    Tokens {
        input: count("promptTokenCount"),
        output: count("candidatesTokenCount"),
        total: count("totalTokenCount"),
        cached: count("cachedContentTokenCount"),
        reasoning: count("thoughtsTokenCount"),
    }
}

/// The response in a frame, if there is any: Cloud Code's endpoints wrap each one in a `response`.
fn unwrapped<'a>(frame: Json<'a>, draft: &mut Draft) -> Option<(Json<'a>, Object<'a>)> {
    let is_known = |object: &Object<'_>| object.iter().any(|(key, _)| KEYS.contains(&&*camel(key)));
    let object = frame.object()?;
    if is_known(&object) {
        return Some((frame, object));
    }
    let inner = object.get("response")?;
    let response = inner.object().filter(is_known)?;
    for (key, value) in object.iter() {
        if key != "response" && !value.is_null() {
            draft.not_assembled(&format!("{key} beside response"));
        }
    }
    Some((inner, response))
}

/// A key as the API spells it: proxies that write `snake_case` are read all the same.
fn camel(key: &str) -> Cow<'_, str> {
    if !key.contains('_') {
        return Cow::Borrowed(key);
    }
    let mut words = key.split('_');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut chars = word.chars();
        name.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(chars.as_str());
    }
    Cow::Owned(name)
}

/// A member in either spelling that is not `null`.
fn either<'a>(object: &Object<'a>, name: &str) -> Option<Json<'a>> {
    let found = object.iter().find(|(key, value)| !value.is_null() && camel(key) == name);
    found.map(|(_, value)| value)
}

/// An enum value that is not the default, which the protos call unused.
fn is_set(value: &str) -> bool {
    !value.is_empty() && !value.ends_with("_UNSPECIFIED")
}

fn is_blank(node: &Node) -> bool {
    node.json().is_some_and(Json::is_blank)
}
