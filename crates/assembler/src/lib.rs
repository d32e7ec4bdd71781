//! Frames to readings: what a client should have built from a stream, and what is wrong with it.
//!
//! An [`Assembly`] takes the bytes of a body as they come and gives a [`Reading`] at any time. It does no
//! input or output and knows no clock: times come in with the chunks. The same bytes give the same reading,
//! however they are cut.
//!
//! ```
//! use teeline_assembler::{Assembly, End, Options};
//!
//! let mut assembly = Assembly::new(Options::default());
//! let chunk = r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#;
//! assembly.push(format!("data: {chunk}\n\n").into(), Some(1_500));
//! assert_eq!(assembly.preview(), "Hi");
//!
//! assembly.finish(End::Clean);
//! let reading = assembly.reading();
//! assert_eq!((reading.format, reading.verdict.as_str()), ("openai-chat", "did-not-finish"));
//! assert_eq!(reading.findings[0].kind.message(), "The stream ended without `data: [DONE]`.");
//! ```
//!
//! # How it works
//!
//! ```text
//! bytes ─► Decoder ─► frames ─► contest ─┬─► a format's Assembler ─► Draft ─► view ─► Reading
//!                               (votes)  └─► another's
//! ```
//!
//! - Every frame is parsed once ([`Event`]) and votes for a format. Each format that got a vote reads along;
//!   the one with most votes is the reading.
//! - An [`Assembler`] translates its vendor's JSON into the verbs of a [`Draft`]. Whether their order makes
//!   sense is judged by the draft, once for all formats; so are errors, `[DONE]`, what comes after the end,
//!   and everything that only the end of the body can tell.
//! - Texts are the draft's *parts*. Every [`append`](Draft::append) is logged: provenance, the snippets of
//!   the frame rows, the first text's time and the sparkline come from there.
//! - The equivalent response is written by the format from its own tree ([`Map`], [`Node`]) with the parts'
//!   texts put in ([`Writer`]).
//!
//! # Adding a format
//!
//! A format is one file, `src/NAME.rs` (with parts in `src/NAME/` when it grows beyond 400 lines), one line
//! in [`FORMATS`], one `mod` line here, and a test file `tests/it/NAME.rs` with fixtures in
//! `tests/fixtures/NAME/`. Detection needs nothing: `detect.rs` has the rows of all formats, and the path
//! hints.
//!
//! 1. **The table line.** A `pub(crate) const FORMAT: Format`: the contract's name, a title, [`Rules`],
//!    the meanings of finish reasons and of the format's own errors, and a function that makes the reader.
//!    The rules are the format's column of `FORMATS.md` J: what it calls an output, what ends and what begins
//!    it, what `[DONE]` means, whether calls need ids and names, whether reasons and usage are due.
//! 2. **The reader.** A struct with the state that is the format's own, and [`Assembler`] for it:
//!    - [`frame`](Assembler::frame) gets every frame whose JSON names this format, or none. Frames that are
//!      nothing but an error (`{"error":…}`, `event: error`), `[DONE]`, comments, frames of other formats
//!      and frames after the end never get there. What it does not know it gives to [`Draft::unknown`] (a
//!      frame), [`Draft::not_assembled`] (a field or delta, once each) or [`Draft::bad_field`] (another
//!      shape than the schema's).
//!      The frame's type is given by [`Event::kind`], which judges the `event:` line.
//!    - [`text`](Assembler::text), [`bare`](Assembler::bare) and [`passes_end`](Assembler::passes_end) are
//!      for data that is not JSON, for events without data and for trailers; most formats have none.
//!    - [`document`](Assembler::document) reads the plain, non-streamed body. It should go through the same
//!      code as the stream: open, append, close, stop, usage, end. Its response is the body itself.
//!    - [`finish`](Assembler::finish) says what only the end can tell and the core cannot know.
//!    - [`response`](Assembler::response) writes the equivalent response, or nothing.
//! 3. **The verbs.** On the [`Draft`]:
//!
//!    | what came | verb |
//!    |---|---|
//!    | the start event | [`start`](Draft::start) |
//!    | id, model | [`id`](Draft::id), [`model`](Draft::model) |
//!    | an answer, who speaks, why it stopped | [`output`](Draft::output), [`role`](Draft::role), [`stop`](Draft::stop), [`stop_detail`](Draft::stop_detail) |
//!    | a block opens, gets text, closes (judged) | [`open`](Draft::open), [`opened`](Draft::opened) + [`append`](Draft::append), [`close`](Draft::close) |
//!    | the same without text of its own | [`open_bare`](Draft::open_bare), [`close`](Draft::close) |
//!    | a block's key is free for another; a closed block goes on | [`release`](Draft::release); [`go_on`](Draft::go_on) |
//!    | a block that nothing opens | [`ensure`](Draft::ensure), or [`part`](Draft::part) and a handle of one's own |
//!    | a whole text so far (CUM) | [`snapshot`](Draft::snapshot) |
//!    | a delta or the text so far, nobody knows yet | [`undecided`](Draft::undecided), [`hinted`](Draft::hinted) with a [`Hint`] |
//!    | a final text (REPLACE, `done-mismatch`) | [`settle`](Draft::settle) |
//!    | a text replaced without a word | [`replace`](Draft::replace) |
//!    | a tool call's id and name | [`call_id`](Draft::call_id), [`call_name`](Draft::call_name) on a part of [`PartKind::Call`] |
//!    | its arguments as text, as an object | [`append`](Draft::append), [`call_object`](Draft::call_object); first one, then the other: [`settle_call`](Draft::settle_call) |
//!    | everything of it came | [`close_call`](Draft::close_call) |
//!    | the whole answer begins anew; a part is no longer of it | [`start_over`](Draft::start_over), [`discard`](Draft::discard) |
//!    | pieces come in another order than the answer's | a part's `order` |
//!    | token counts; in pieces | [`usage`](Draft::usage) with [`Tokens`] and the format's own object; [`merge_usage`](Draft::merge_usage) |
//!    | the end marker; an end that can come again; none | [`end`](Draft::end); [`set_ended`](Draft::set_ended); [`ends_with_body`](Draft::ends_with_body) |
//!    | an error of the format's own shape | [`fail`](Draft::fail), [`fail_and_go_on`](Draft::fail_and_go_on) with a [`Fault`] |
//!    | a final object that holds everything | [`rest_on_final`](Draft::rest_on_final) |
//!    | anything else that is wrong | [`report`](Draft::report), [`report_once`](Draft::report_once) with a [`teeline_finding::Kind`] |
//!    | a part's other fields | [`extra`](Draft::extra), [`extra_set`](Draft::extra_set), [`extra_push`](Draft::extra_push), [`extra_append`](Draft::extra_append) |
//!    | the vendor's fields for the response | [`carry`](Draft::carry), [`extend`](Draft::extend) on a [`Map`] of one's own |
//!
//!    A [`Key`] names a block as its findings will (`Key::Index("block", 3)`); a part's `extra` fields are
//!    shown in the reading's `parts`; a call that the provider runs itself is a part of
//!    [`PartKind::Other`], not a call.
//! 4. **The response.** Keep the skeleton as a [`Map`] with [`Node::Part`] or [`Node::PartJson`] where a
//!    part's text belongs, and write it with [`Writer::node`]; or write it member by member with
//!    [`Writer::object`]. Values that were only carried keep their source text.
//! 5. **JSON** is [`Json`] and [`Object`], never `serde_json::Value`: see there why. Text that is appended
//!    is taken by [`Json::text`] (lone surrogate halves survive), names and ids by [`Json::str`].
//!
//! The tests of a format: the stream and json blocks of `FORMATS.md` as fixtures (`support::example`), a fixture for
//! every finding that can fire and the smallest edit that does not fire it, plain bodies, and the laws of
//! `tests/it/laws.rs`, which run over every `tests/fixtures/NAME/*.sse` by themselves. The cases of
//! `tests/fixtures/cases` in the format are judged as soon as it is in the table.

mod ag_ui;
mod anthropic_messages;
mod assembly;
mod base64_text;
mod bedrock_converse;
mod bedrock_invoke;
mod candidate;
mod clock;
mod cohere;
mod compact;
mod contest;
mod cumulative;
mod dashscope;
mod detect;
mod draft;
mod equal;
mod failure;
mod format;
mod frame_log;
mod gemini;
mod gemini_interactions;
mod json;
mod json_patch;
mod judge;
mod langserve;
mod llama_cpp;
mod mcp;
mod mistral_conversations;
mod node;
mod ollama;
mod openai_assistants;
mod openai_chat;
mod openai_completions;
mod openai_responses;
mod part;
mod provenance;
mod reading;
mod response;
mod salyro_behavior;
mod tally;
mod text;
mod tgi;
mod values;
mod vercel_data;
mod vercel_ui;
mod view;

pub use assembly::{Assembly, End, Options, STALLED_US, TEXT_LIMIT, read_all};
pub use clock::Spark;
pub use detect::path_hint;
pub use draft::{Call, Draft, Hint, Key, Part, PartId, PartKind, Tokens, difference};
pub use failure::Fault;
pub use format::{Assembler, Event, EventLine, FORMATS, Format, Reason, Rules, Sentinel, format};
pub use json::{Json, Object};
pub use node::{Map, Node};
pub use provenance::Added;
pub use reading::{
    CloseFacts, Counts, Effect, Failure, Finish, FrameRow, MessageFacts, Output, Reading, SCHEMA,
    SideFacts, Timing, ToolCall, Usage, Verdict, WebSocketFacts,
};
pub use response::{Fields, Items, Writer};
pub use text::{Str, Text};
pub use view::PREVIEW;
