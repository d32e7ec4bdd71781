//! Vercel AI SDK: the UI message stream of version 5 and later (`FORMATS.md` H8.1).
//!
//! Chunks build one message of parts. It has no plain twin on the wire: the response is the message as the
//! SDK's own reader leaves it to the application.
//!
//! It differs from that reader in three things. A text that is opened while it is open replaces what
//! came (`block-restarted`), where the SDK keeps both parts. `null` in metadata changes nothing. And a call whose
//! input never came whole shows the text of it, where the SDK shows what it could make of the beginning.

mod message;
mod piece;
mod plain;
mod tool;
mod words;

use std::borrow::Cow;

use crate::{
    candidate::name_of,
    draft::Draft,
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    response::Writer,
};

use message::Message;

pub(crate) use words::REASONS;

pub(crate) const FORMAT: Format = Format {
    name: "vercel-ui",
    title: "Vercel AI SDK UI message stream",
    rules: Rules {
        unit: "message",
        end: "`data: [DONE]`",
        start: Some("`start`"),
        sentinel: Sentinel::Ends,
        deltas: true,
        ..Rules::NONE
    },
    reasons: REASONS,
    errors: &[(
        words::ABORTED,
        "The server gave the answer up before it was finished, mostly because the application asked for it.",
    )],
    start: || Box::<Stream>::default(),
};

/// A stream of chunks.
#[derive(Default)]
struct Stream {
    message: Message,
    /// An error came, and no `finish` since.
    in_error: bool,
}

impl Assembler for Stream {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(chunk) = &event.object else {
            draft.unknown(&name_of(event));
            return;
        };
        let kind = event.data_type().unwrap_or_default();
        match &*kind {
            "error" => {
                self.in_error = true;
                draft.fail_and_go_on(Fault::of_object(event.json));
            }
            "abort" => draft.fail(aborted(chunk, event.json)),
            "finish" => {
                self.in_error = false;
                self.message.finished(chunk, draft);
            }
            _ => {
                if !self.message.chunk(&kind, chunk, draft) {
                    draft.unknown(&name_of(event));
                }
            }
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(message) = document.object() else { return };
        self.message.document(&message, draft);
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        // The stream may go on after an error, and ended in it unless it did.
        draft.failed |= self.in_error;
        self.message.judge(draft);
    }

    fn response(&self, out: &mut Writer<'_>) {
        self.message.write(out);
    }
}

/// The answer was given up: what there is of it is no whole answer.
fn aborted(chunk: &Object<'_>, raw: Json<'_>) -> Fault {
    let reason = chunk.filled("reason");
    Fault {
        message: reason.map_or_else(
            || "the answer was aborted".to_owned(),
            |reason| format!("the answer was aborted: {reason}"),
        ),
        error_type: Some(words::ABORTED.to_owned()),
        code: None,
        raw: raw.compact(),
    }
}

/// A member that has to be a string: missing or of another shape it is reported.
fn string<'a>(
    kind: &str,
    chunk: &Object<'a>,
    key: &str,
    draft: &mut Draft,
) -> Option<Cow<'a, str>> {
    let field = || format!("{kind} {key}");
    let Some(value) = chunk.get(key) else {
        draft.missing_field(&field(), "a string");
        return None;
    };
    let text = value.str();
    if text.is_none() {
        draft.bad_field(&field(), "a string", value);
    }
    text
}

/// Names the members of a chunk that are not read.
fn unread(kind: &str, chunk: &Object<'_>, known: &[&str], draft: &mut Draft) {
    for (key, value) in chunk.iter() {
        if key != "type" && !known.contains(&key) && !value.is_null() {
            draft.not_assembled(&format!("{kind} {key}"));
        }
    }
}
