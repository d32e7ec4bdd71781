//! The catalogue: every finding with its id, severity and words, in one table.
//!
//! A kind's fields are its facts. They are named in its sentence and are its `args` in JSON, from
//! which another language's sentence can be made.

use std::fmt;

use crate::Severity;

/// What the catalogue says of a finding, apart from the facts of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id, as in JSON, queries and `teeline explain`.
    pub id: &'static str,
    /// Its severity; a single case may be milder ([`Kind::severity`]).
    pub severity: Severity,
    meaning: &'static str,
    /// Why it breaks clients, or does not.
    pub why: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

impl Entry {
    /// What the finding means.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim()
    }
}

/// The entry with this id.
pub fn entry(id: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.id == id)
}

/// A fact of a finding.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum Arg {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

impl From<&u64> for Arg {
    fn from(value: &u64) -> Self {
        Self::Number(*value)
    }
}

impl From<&String> for Arg {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<&bool> for Arg {
    fn from(value: &bool) -> Self {
        Self::Flag(*value)
    }
}

macro_rules! catalogue {
    ($(
        $(#[doc = $doc:literal])*
        $variant:ident $({ $($(#[doc = $field_doc:literal])* $field:ident: $type:ty),+ $(,)? })?
            = $id:literal, $severity:ident, $message:literal;
        why $why:literal;
        advice $advice:literal;
    )+) => {
        /// What is wrong, with the facts of the case.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[doc = $doc])* $variant $({ $($(#[doc = $field_doc])* $field: $type),+ })?,)+
        }

        /// Every finding there is, in the order of the contract.
        pub const ENTRIES: &[Entry] = &[$(Entry {
            id: $id,
            severity: Severity::$severity,
            meaning: concat!($($doc),*),
            why: $why,
            advice: $advice,
        }),+];

        impl Kind {
            /// The id, as in the contract.
            pub const fn id(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $id,)+ }
            }

            /// The severity in the table, before a milder case is considered.
            const fn listed_severity(&self) -> Severity {
                match self { $(Self::$variant { .. } => Severity::$severity,)+ }
            }

            /// The facts, by name.
            pub fn args(&self) -> Vec<(&'static str, Arg)> {
                match self {
                    $(Self::$variant $({ $($field),+ })? => vec![$($((stringify!($field), Arg::from($field))),+)?],)+
                }
            }

            #[expect(unused_variables, reason = "not every fact is part of the plain sentence")]
            fn plain_sentence(&self) -> String {
                match self { $(Self::$variant $({ $($field),+ })? => format!($message),)+ }
            }
        }
    };
}

catalogue! {
    /// No frame was found: no `data:` line followed by a blank line, no JSON value, no message.
    Empty = "empty", Error, "No frame with data was found.";
    why "A client that waits for the first event waits for ever or reports an empty answer.";
    advice "Check that the body of the response was captured, not its headers, and that the request asked for a stream.";

    /// The text starts with a byte-order mark, which an editor, a proxy or a template adds.
    Bom = "bom", Note, "The stream starts with a byte-order mark (U+FEFF); it was taken off.";
    why "A reader that does not take it off sees a field named `\\u{feff}data` and loses the first frame: Anthropic's Python client does, and its stream helper throws.";
    advice "Write the body without a byte-order mark; EventSource forgives exactly one at the very start.";

    /// A line the decoder reads as nothing: its field is none that SSE has, or a frame names an event and has no data line.
    IgnoredLine {
        /// The line, shortened.
        text: String,
        /// The frame names an event and has no data line.
        event_only: bool,
    } = "ignored-line", Note, "The line `{text}` is not part of the stream's format and was ignored.";
    why "Field names are case-sensitive: `Data:` is not `data:`. Whatever the line held does not reach the client: an `error:` line or a web page in the stream is an empty or a short answer to OpenAI's Python client.";
    advice "If the line matters, its sender must put it in a `data:` line; a frame with `event:` needs one as well.";

    /// A frame's data is neither JSON nor the sentinel `[DONE]`. It is listed and not read.
    NotJson {
        /// The data, shortened.
        text: String,
        /// What the JSON parser said.
        error: String,
        /// Each data line is JSON by itself: a blank line is missing between frames.
        glued: bool,
    } = "not-json", Error, "The frame's data is not JSON ({error}): `{text}`.";
    why "Most SDKs parse every frame's data and throw at this one, in the middle of the answer: OpenAI's for Python and Node do; the AI SDK reports it and reads on.";
    advice "Look at the raw lines: a missing blank line glues two frames together, and plain text is often an error of a gateway.";

    /// The last frame has no end and its data does not parse: the stream stopped in the middle of a frame.
    Cut {
        /// Bytes of the part that was cut.
        bytes: u64,
    } = "cut", Error, "The stream was cut in the middle of a frame, after {bytes} bytes of it.";
    why "What the frame would have carried is lost, and most clients show an answer that looks whole.";
    advice "See how the connection ended; a time limit or a buffer limit between client and server is the usual cause.";

    /// The last frame has no blank line after it but its data parses. A copy out of a terminal often drops that line.
    Unterminated {
        /// What lacks its end is a JSON array, not a frame.
        array: bool,
    } = "unterminated", Warning, "The last frame has no blank line after it; it reads as whole and was used.";
    why "An EventSource and the official SDKs throw such a frame away, so its content is lost there: OpenAI's Python helper then throws for want of `response.completed`.";
    advice "The server must send a blank line after its last frame.";

    /// One frame is larger than the bound up to which frames are held.
    TooLarge {
        /// The bound, in UTF-16 units; of a whole document in bytes.
        limit: u64,
        /// What is too large is a plain JSON document.
        document: bool,
    } = "too-large", Error, "A frame holds more than {limit} characters before its blank line; nothing after it was read.";
    why "Readers hold a frame in memory until its blank line comes; those with a bound stop the stream here.";
    advice "Send large content in several frames, or by reference.";

    /// Every line of the stream ends in CR LF. The standard allows it.
    Crlf = "crlf", Note, "Every line ends in CR LF.";
    why "A reader that looks for `\\n\\n` only finds no frame in it, as hand-written clients do.";
    advice "Use a line reader that knows all three line ends, or have the server send LF.";

    /// A frame that is not part of the format that is being read: an event it does not have, or a frame of another stream.
    UnknownEvent {
        /// The event or type as the frame names it.
        name: String,
    } = "unknown-event", Note, "`{name}` is no event of this format; the frame is listed and not read.";
    why "Vendors add events; a client with a closed list of them throws.";
    advice "Skip what you do not know, and look whether this one carries something you need.";

    /// The frames name two or more formats. The one that most frames name is read.
    Mixed {
        /// The formats named, with how many frames name each.
        formats: String,
        /// The one that was read.
        read_as: String,
    } = "mixed", Warning, "The frames name more than one format ({formats}); read as {read_as}.";
    why "A client of one format ignores or trips over the frames of the other.";
    advice "Look where the other format's frames come from: a gateway's own error frame is usual. `--as` reads it as another.";

    /// The stream stops without the frame that ends a finished answer.
    NoEnd {
        /// What ends the format.
        expected: String,
        /// Every choice has a finish reason.
        finished: bool,
    } = "no-end", Error, "The stream ended without {expected}.";
    why "A client cannot tell a finished answer from a broken one; what arrived may be partial. Anthropic's Node helper throws without `message_stop`; its Python helper and OpenAI's clients say nothing.";
    advice "See how the connection ended and what the last frames are; some servers never send the end marker.";

    /// The stream lacks the event it begins with, so it is not the whole stream.
    NoStart {
        /// What starts the format.
        expected: String,
    } = "no-start", Warning, "The stream does not begin with {expected}.";
    why "The id, the model and the first usage counters come with that event, and SDKs throw without it.";
    advice "Capture from the first byte; if it was, the server leaves the event out.";

    /// Something was opened and never closed; what is shown of it may be partial.
    BlockOpen {
        /// What was opened.
        what: String,
    } = "block-open", Error, "{what} was opened and never closed.";
    why "Tool arguments of an open block may lack their end. Anthropic's clients keep the block as if it were whole; code that waits for its stop event waits in vain.";
    advice "Look at the frames after the last one that added to it.";

    /// The provider blocked the prompt, and there is no candidate.
    PromptBlocked {
        /// The reason as the provider names it.
        reason: String,
        /// What the provider's documentation says of it, or "".
        meaning: String,
    } = "prompt-blocked", Note, "The prompt was blocked: {reason}. {meaning}";
    why "The response is finished and holds no answer; code that reads the first candidate fails.";
    advice "Rephrase the prompt; check for the block reason before reading candidates.";

    /// An event for something that was never started. Part of the stream is missing.
    BlockUnstarted {
        /// What the event is for.
        what: String,
    } = "block-unstarted", Error, "An event came for {what}, which was never opened; it is not part of the answer.";
    why "SDKs look for an entry that they do not have: OpenAI's stream helpers for Python and Node throw, the AI SDK reports an error for each delta.";
    advice "Look whether frames were lost before this one.";

    /// Something was opened a second time; the later one replaces the earlier.
    BlockRestarted {
        /// What was opened twice.
        what: String,
        /// Bytes of text that the later one replaced.
        replaced: u64,
    } = "block-restarted", Warning, "{what} was opened again; the later one replaced {replaced} bytes.";
    why "What came before is gone in some clients and doubled in others.";
    advice "A gateway that retries in mid-stream does this; it should pass the retry as a new stream.";

    /// A field does not have the shape that its schema gives it. Its value is dropped.
    BadField {
        /// The field's path.
        field: String,
        /// What it has to be.
        expected: String,
        /// What came, shortened.
        value: String,
    } = "bad-field", Warning, "`{field}` is {value}, not {expected}; it was not read.";
    why "Typed clients fail to parse the whole frame, others carry the wrong type on.";
    advice "The server must send the type its schema names.";

    /// Frames came after the one that ended the stream.
    AfterEnd {
        /// What came, shortened.
        text: String,
    } = "after-end", Warning, "A frame came after the end of the stream: `{text}`.";
    why "Clients stop reading at the end, so nothing of this reaches them.";
    advice "Usage and errors have to be sent before the end marker.";

    /// The stream ended in an error after the response had already started with status 200.
    ErrorEvent {
        /// The message.
        message: String,
        /// Its type or code, or "".
        error_type: String,
    } = "error-event", Error, "The stream ended in an error: {message}";
    why "What arrived before is partial. OpenAI's, Anthropic's and Google's clients throw in the middle of the stream, but OpenAI's not at the `error` event of Responses; clients that only look at the status take what came for an answer.";
    advice "Handle errors inside the stream like a failed request. See the error's meaning.";

    /// An event's sequence number is not one more than the one before: an event is missing or out of order.
    SequenceGap {
        /// The number that was due.
        expected: u64,
        /// The number that came.
        got: u64,
    } = "sequence-gap", Warning, "Sequence number {got} came where {expected} was due.";
    why "Text or arguments assembled from the deltas may lack a piece.";
    advice "Compare with the final object, if there is one; look for a proxy that drops or reorders events.";

    /// The event line and the type inside the data disagree.
    EventMismatch {
        /// The value of the `event:` line.
        event: String,
        /// The type in the data.
        data_type: String,
    } = "event-mismatch", Warning, "The frame's `event:` says `{event}` and its data says `{data_type}`.";
    why "Clients that read one and clients that read the other see different streams.";
    advice "The sender must write the same name in both places.";

    /// A tool call never received an id or a name. It cannot be answered, so it is left out of the answer.
    ToolCallIncomplete {
        /// The call's position.
        call: u64,
        /// What never came: `id`, `name` or `id and name`.
        missing: String,
        /// The arguments that came.
        arguments: String,
    } = "tool-call-incomplete", Error, "Tool call {call} never received its {missing} and was left out; its arguments are `{arguments}`.";
    why "A client cannot call a tool without a name, nor answer a call without an id: OpenAI's helpers give out such a call, the AI SDK throws.";
    advice "Look at the call's fragments: a lost first fragment, or a server that never sends the field.";

    /// A tool-call fragment has no index, which is how fragments of parallel calls are told apart.
    ToolCallNoIndex {
        /// The choice.
        choice: u64,
    } = "tool-call-no-index", Warning, "A tool-call fragment of choice {choice} has no index.";
    why "Clients join by index: without it OpenAI's Python helper throws, its Node helper throws or loses the call; the AI SDK keeps the calls apart.";
    advice "The server must send `index` in every fragment.";

    /// A tool call's assembled arguments do not parse as JSON. They are shown as they are.
    ArgumentsNotJson {
        /// The tool's name.
        tool: String,
        /// What the JSON parser said.
        error: String,
        /// There were no arguments at all.
        empty: bool,
    } = "arguments-not-json", Error, "The arguments of `{tool}` are not JSON: {error}.";
    why "The client's parse throws, or the tool is called with nothing: OpenAI's Python helper throws at a call that the token limit cut, the AI SDK marks the call as invalid.";
    advice "Models produce this, more often when they run into a token limit; if fragments are missing the stream is at fault.";

    /// A final value disagrees with what its deltas assembled. The final value is kept.
    DoneMismatch {
        /// What disagrees.
        what: String,
        /// The final value, shortened.
        kept: String,
        /// What the deltas gave, shortened.
        assembled: String,
    } = "done-mismatch", Warning, "The final value of {what} is `{kept}`, but its deltas gave `{assembled}`.";
    why "Clients that show deltas and clients that show the final value show different answers: OpenAI's helpers keep the final text, the AI SDK keeps the deltas.";
    advice "Find the first frame in which they part.";

    /// The frames carry something that the assembly does not read. It is named here and listed in the frames.
    NotAssembled {
        /// What is not read.
        what: String,
    } = "not-assembled", Note, "`{what}` is carried by the stream and not part of the assembled answer.";
    why "Clients differ in what they make of it.";
    advice "Nothing, unless you need it.";

    /// The end marker came, and a choice never received a finish reason.
    NoFinishReason {
        /// The choice, candidate or message.
        what: String,
    } = "no-finish-reason", Warning, "The stream ended and {what} has no finish reason.";
    why "A client cannot tell a whole answer from a shortened one: OpenAI's Node helper throws, the AI SDK reports an error, OpenAI's Python helper says nothing.";
    advice "The server must send the reason in the choice's last chunk.";

    /// The stream ended by saying that the answer is incomplete: it is real, and partial.
    Incomplete {
        /// The provider's reason, or "".
        reason: String,
    } = "incomplete", Warning, "The answer is incomplete: {reason}.";
    why "The answer stops in the middle, tool arguments too. OpenAI's Python helper throws for want of `response.completed`.";
    advice "Raise the token limit or go on from where it stopped.";

    /// A tool that the provider runs failed. The answer goes on: the model is told.
    ToolFailed {
        /// The tool.
        tool: String,
        /// The error.
        message: String,
    } = "tool-failed", Note, "The tool `{tool}` failed: {message}.";
    why "The answer may rest on less than was asked for.";
    advice "See the tool's error.";

    /// A server numbers several tool calls with the same index, each with its own id.
    IndexReused {
        /// The index.
        index: u64,
        /// The id of the call that took it.
        id: String,
    } = "index-reused", Warning, "Index {index} was used again, for the call `{id}`; the calls were kept apart.";
    why "Clients that join by index, as OpenAI's helpers for Python and Node do, glue the calls' arguments together; the AI SDK keeps them apart.";
    advice "The server must number the calls.";

    /// Each value holds the whole text so far and not what is new.
    Cumulative {
        /// What was seen.
        evidence: String,
    } = "cumulative", Note, "The values are cumulative, each holds the text so far ({evidence}).";
    why "A client that appends them repeats the text over and over: OpenAI's clients and the AI SDK do.";
    advice "Replace the text instead of appending, or ask the API for increments.";

    /// A cumulative value does not begin with the one before: earlier text was changed.
    Rewritten {
        /// What was rewritten.
        what: String,
        /// From which character on.
        at: u64,
    } = "rewritten", Warning, "{what} was rewritten from character {at} on.";
    why "A client that shows only what was added leaves the old text on the screen.";
    advice "Replace the text from the first character that differs.";

    /// The stream ended without token counts.
    UsageMissing = "usage-missing", Note, "No usage was sent.";
    why "Cost and limits cannot be counted from it.";
    advice "Chat Completions: ask with `stream_options: {\"include_usage\": true}`.";

    /// The body is framed in another way than its content type says.
    ContentType {
        /// The declared content type.
        declared: String,
        /// The framing found.
        found: String,
    } = "content-type", Warning, "The content type is `{declared}`, the body is {found}.";
    why "Clients choose their decoder by the content type and read nothing.";
    advice "The server or the gateway must send the content type that fits.";

    /// An id that should stay the same changed in the stream.
    IdChanged {
        /// What has the id.
        what: String,
        /// The first id.
        first: String,
        /// Another that came later.
        second: String,
    } = "id-changed", Note, "The id of {what} changed from `{first}` to `{second}`; the first was kept.";
    why "Clients that group by id split one answer in two. Of a tool call's ids OpenAI's Python helper joins the texts, its Node helper keeps the last, the AI SDK the first.";
    advice "Group by index or position.";

    /// The format names its events in `event:` lines, and this stream has none.
    EventLineMissing {
        /// The type in the data.
        data_type: String,
    } = "event-line-missing", Note, "The frame of type `{data_type}` has no `event:` line.";
    why "Anthropic's clients for Python and Node dispatch on that line and see nothing of the frame; the AI SDK reads the type in the data.";
    advice "The server must send `event:` with the type in it.";

    /// The stream holds bytes that are not UTF-8.
    BadUtf8 {
        /// The bytes, in hexadecimal.
        bytes: String,
        /// The first of them in the decoded body.
        at: u64,
    } = "bad-utf8", Warning, "Bytes that are not UTF-8 ({bytes}) are shown as U+FFFD.";
    why "The client shows a replacement character, or its decoder throws.";
    advice "Something on the way cut a character in two or sends another encoding; compare with the upstream directly.";

    /// A binary message's checksum does not fit its bytes. The message is dropped; after a bad prelude nothing can be read.
    CrcMismatch {
        /// `prelude` or `message`.
        what: String,
        /// The checksum in the message.
        expected: String,
        /// The checksum of what came.
        got: String,
    } = "crc-mismatch", Error, "The {what} checksum is {expected}, the bytes give {got}.";
    why "SDKs throw at it.";
    advice "The bytes were changed on their way, often by something that treats them as text.";

    /// The request's path lacks `/v1`, has it twice, or names another API.
    BaseUrl {
        /// The base URL that was probably meant.
        suggested: String,
    } = "base-url", Warning, "The path does not exist upstream; the base URL was probably meant to be {suggested}.";
    why "The upstream answers 404 to everything.";
    advice "Set the client's base URL to the one named.";

    /// The upstream ended the connection before the end of the body.
    ConnectionBroke {
        /// How it ended.
        how: String,
        /// Frames read until then.
        frames: u64,
        /// Bytes of the body that came.
        bytes: u64,
        /// Milliseconds since the request was sent.
        after_ms: u64,
    } = "connection-broke", Error, "The upstream broke the connection ({how}) after {frames} frames and {bytes} bytes, {after_ms} ms in.";
    why "The app got the same bytes and then the same broken end.";
    advice "Look at the upstream and at what stands between; a limit on time or size shows as the same number each time.";

    /// The app closed its connection before the end; the upstream request was stopped at once.
    ClientLeft {
        /// Frames read until then.
        frames: u64,
        /// Bytes of the body that were passed on.
        bytes: u64,
        /// Milliseconds since the request was sent.
        after_ms: u64,
    } = "client-left", Warning, "The app closed its connection after {frames} frames and {bytes} bytes, {after_ms} ms in.";
    why "Aborting on purpose is normal. A client's time limit looks the same.";
    advice "If it was not meant, look at the client's time limits.";

    /// The recorder could not keep up or could not write. The app's stream was not touched.
    CaptureIncomplete {
        /// The first byte that is missing, of the encoded body.
        from: u64,
        /// The byte after the last that is missing.
        to: u64,
        /// Why.
        reason: String,
    } = "capture-incomplete", Error, "The capture lacks bytes {from} to {to}; the app got them ({reason}).";
    why "What is shown lacks a piece of the stream; findings near it may be the capture's fault.";
    advice "Look at the disk and the load of this machine.";

    /// Nothing came for 20 seconds or more.
    Stalled {
        /// The gap, in milliseconds.
        ms: u64,
    } = "stalled", Note, "Nothing came for {ms} ms before this frame.";
    why "Time limits on idle connections, often 30 or 60 seconds, end such streams.";
    advice "Send keep-alive comments, or raise the idle limits on the way.";

    /// Many frames came at once.
    Coalesced {
        /// Frames that came in one read.
        frames: u64,
    } = "coalesced", Note, "{frames} frames arrived in one read.";
    why "Text appears in bursts: something on the way holds the stream back.";
    advice "Switch off response buffering in gateways and proxies.";

    /// One side of a WebSocket sent what RFC 6455 forbids, or its bytes end within a message.
    WebsocketFault {
        /// Who sent it: `app` or `upstream`.
        sender: String,
        /// What is wrong.
        fault: String,
    } = "websocket-fault", Error, "From the {sender}: {fault}.";
    why "An endpoint that keeps to RFC 6455 fails the connection at it, mostly with the close code 1002 or 1007.";
    advice "Look at the library or the gateway that wrote the frame; what is cut off was lost with the connection.";

    /// The two sides of a WebSocket have agreed on `permessage-deflate`, and messages are compressed.
    WebsocketCompressed {
        /// How many messages.
        messages: u64,
    } = "websocket-compressed", Note, "{messages} messages are compressed (permessage-deflate); they are counted and not decoded.";
    why "The app reads them as ever; only here their text cannot be shown.";
    advice "To see them, let the client ask for no compression: leave `permessage-deflate` out of `Sec-WebSocket-Extensions`.";
}

impl Kind {
    /// How much this case matters.
    pub fn severity(&self) -> Severity {
        match self {
            // A call without arguments is common, and clients that parse leniently read `{}`.
            Self::ArgumentsNotJson { empty: true, .. } => Severity::Note,
            _ => self.listed_severity(),
        }
    }

    /// One sentence with the actual values.
    pub fn message(&self) -> String {
        match self {
            Self::IgnoredLine { text, event_only: true } => {
                format!(
                    "The frame names the event `{text}` and has no data line, so nothing is dispatched for it."
                )
            }
            Self::NotJson { glued: true, text, .. } => {
                format!(
                    "A blank line is missing between frames: each data line is JSON by itself, together they are not: `{text}`."
                )
            }
            Self::Unterminated { array: true } => {
                "The array has no closing bracket; every element is whole and was used.".to_owned()
            }
            Self::TooLarge { limit, document: true } => {
                format!("The document holds more than {limit} bytes; it was not read.")
            }
            Self::NoEnd { expected, finished: true } => {
                format!(
                    "The stream ended without {expected}, though every choice has its finish reason."
                )
            }
            Self::ArgumentsNotJson { tool, empty: true, .. } => {
                format!("The arguments of `{tool}` are empty, which is not JSON.")
            }
            Self::Incomplete { reason } if reason.is_empty() => {
                "The answer is incomplete.".to_owned()
            }
            _ => self.plain_sentence().trim_end().to_owned(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of the contract, section 3.2, in its order.
    const CONTRACT: &str = "empty bom ignored-line not-json cut unterminated too-large crlf unknown-event mixed no-end no-start block-open \
        prompt-blocked block-unstarted block-restarted bad-field after-end error-event sequence-gap event-mismatch \
        tool-call-incomplete tool-call-no-index arguments-not-json done-mismatch not-assembled no-finish-reason incomplete \
        tool-failed index-reused cumulative rewritten usage-missing content-type id-changed event-line-missing bad-utf8 \
        crc-mismatch base-url connection-broke client-left capture-incomplete stalled coalesced \
        websocket-fault websocket-compressed";

    #[test]
    fn ids_are_those_of_the_contract() {
        let ids: Vec<&str> = ENTRIES.iter().map(|entry| entry.id).collect();
        assert_eq!(ids, CONTRACT.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn every_entry_has_words() {
        for entry in ENTRIES {
            for words in [entry.meaning(), entry.why, entry.advice] {
                assert!(words.ends_with('.') && words.len() > 6, "{}: {words:?}", entry.id);
            }
        }
    }

    #[test]
    fn a_milder_case_is_milder_than_its_entry() {
        let empty = Kind::ArgumentsNotJson { tool: "f".into(), error: "empty".into(), empty: true };
        assert_eq!(empty.severity(), Severity::Note);
        assert_eq!(entry(empty.id()).map(|entry| entry.severity), Some(Severity::Error));
    }
}
