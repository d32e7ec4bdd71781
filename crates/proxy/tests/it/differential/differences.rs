//! Every difference between a direct connection and one through teeline. What is not here is equal.

use teeline_script::Script;

use super::{
    Act, Case,
    seen::{Answer, End, Seen},
};

/// A line of UNCHANGED.md.
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) through: &'static str,
    pub(crate) why: &'static str,
    pub(crate) proof: Proof,
}

/// What shows that it is so.
#[derive(Clone, Copy)]
pub(crate) enum Proof {
    /// A script, and how what is seen through teeline differs from what is seen directly.
    Case(fn() -> Case, fn(&mut Seen)),
    /// The test of this name, beside this suite.
    Test(&'static str),
}
use Proof::{Case as Shown, Test};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn ok(request: &str) -> Case {
    Case::bytes("ok", OK).send(request).until("\r\n\r\nok")
}

/// For what teeline answers itself, and closes after.
fn refused(request: &str) -> Case {
    Case::bytes("refused", OK).fin().send(request).act(Act::End)
}

fn own(seen: &mut Seen, status: &str, kind: &str) {
    seen.answers = vec![Answer::own(status, kind)];
}

fn bad_request(seen: &mut Seen) {
    own(seen, "400 Bad Request", "bad-request");
    seen.asked.clear();
}

fn drop_header(headers: &mut Vec<(String, String)>, name: &str) {
    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
}

const GET: &str = "GET {up}/x HTTP/1.1\r\nHost: {host}\r\n\r\n";
const GET_CLOSE: &str = "GET {up}/x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n";

#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    Row {
        what: "The upstream closes or resets before an answer",
        through: "502 with `x-teeline-error: upstream-closed`",
        why: "there is no head to pass on, and an error that says what happened is worth more than a closed connection",
        proof: Shown(
            || Case::new("before the head", Script::new().rst()).send(GET_CLOSE).act(Act::End),
            |seen| own(seen, "502 Bad Gateway", "upstream-closed"),
        ),
    },
    Row {
        what: "The upstream closes or resets within an answer's head",
        through: "the same",
        why: "a part of a head cannot be passed on",
        proof: Shown(
            || Case::bytes("in the head", "HTTP/1.1 200 OK\r\nX-").fin().send(GET_CLOSE).act(Act::End),
            |seen| own(seen, "502 Bad Gateway", "upstream-closed"),
        ),
    },
    Row {
        what: "An HTTP/1.1 answer that ends with its connection",
        through: "chunked; a broken end is one without the last chunk",
        why: "so the app's connection can stay, and a reset is told from an end",
        proof: Shown(
            || Case::bytes("by close", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc").fin().get(),
            |seen| {
                let answer = &mut seen.answers[0];
                answer.headers.push(("transfer-encoding".to_owned(), "chunked".to_owned()));
                answer.end = End::Whole;
            },
        ),
    },
    Row {
        what: "What follows the end of an answer that nobody asked for",
        through: "dropped, and the upstream connection with it",
        why: "it would be taken for the next answer",
        proof: Shown(
            || Case::bytes("too long", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok and more").fin().get(),
            |seen| seen.answers.truncate(1),
        ),
    },
    Row {
        what: "Extensions of chunks",
        through: "dropped; where a body is cut into chunks is no promise either",
        why: "they are between neighbours (RFC 9112, section 7.1.1)",
        proof: Shown(
            || Case::bytes("extensions", "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"b\"\r\nok\r\n0\r\n\r\n").fin().get(),
            |seen| seen.answers[0].extensions.clear(),
        ),
    },
    Row {
        what: "Trailers of an answer",
        through: "pass if the answer declares them in `Trailer` and the app sent `TE: trailers`; their names are in lower case. The capture has them in any case",
        why: "so hyper does it",
        proof: Shown(
            || Case::bytes("trailers", "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Undeclared: 8\r\n\r\n")
                .fin()
                .send("GET {up}/x HTTP/1.1\r\nHost: {host}\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n")
                .act(Act::End),
            |seen| seen.answers[0].trailers = vec![("x-sum".to_owned(), "7".to_owned())],
        ),
    },
    Row {
        what: "Trailers of an upload",
        through: "pass if they are declared; their names are in lower case",
        why: "so hyper does it",
        proof: Shown(
            || Case::bytes("trailers", OK)
                .send("POST {up}/x HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n")
                .until("\r\n\r\nok"),
            |seen| seen.asked[0].trailers = vec![("x-sum".to_owned(), "7".to_owned())],
        ),
    },
    Row {
        what: "Headers of equal name with others between them",
        through: "stand together, where the first was; their order among each other and their letter case stay. The capture has them as they came",
        why: "they mean the same so (RFC 9110, section 5.3)",
        proof: Shown(
            || Case::bytes("equal names", "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\nx-a: 2\r\n\r\nok").send(GET).until("\r\n\r\nok"),
            |seen| seen.answers[0].headers.swap(1, 2),
        ),
    },
    Row {
        what: "A `100 Continue` that the app waits for",
        through: "is hyper's own: when the upstream's comes, or after a second without it",
        why: "so hyper does it; other 1xx answers pass as they are",
        proof: Shown(
            || Case::new("100", Script::new().bytes("HTTP/1.1 100 Go On\r\nX-A: 1\r\n\r\n").read_rest().bytes(OK))
                .early()
                .send("POST {up}/x HTTP/1.1\r\nHost: {host}\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
                .until("\r\n\r\n")
                .act(Act::Bytes(b"abc".to_vec()))
                .until("\r\n\r\nok"),
            |seen| {
                "HTTP/1.1 100 Continue".clone_into(&mut seen.answers[0].status);
                seen.answers[0].headers.clear();
            },
        ),
    },
    Row {
        what: "`Keep-Alive` and `Proxy-Connection`, and what `Connection` names",
        through: "dropped, in both directions",
        why: "they are between neighbours (RFC 9110, section 7.6.1)",
        proof: Shown(
            || Case::bytes("hop by hop", "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok").send(GET).until("\r\n\r\nok"),
            |seen| drop_header(&mut seen.answers[0].headers, "keep-alive"),
        ),
    },
    Row {
        what: "An app asks for `Connection: close` and the answer does not say so",
        through: "it does",
        why: "so hyper does it; the connection closes in both cases",
        proof: Shown(
            || Case::bytes("close", OK).fin().get(),
            |seen| seen.answers[0].headers.push(("connection".to_owned(), "close".to_owned())),
        ),
    },
    Row {
        what: "A space, `<`, `>` or a backtick in the path; a space, `\"`, `<` or `>` in the query",
        through: "400 `bad-request`",
        why: "they must be percent-encoded (RFC 3986), and hyper does not read them",
        proof: Shown(|| refused("GET {up}/<x> HTTP/1.1\r\nHost: {host}\r\n\r\n"), bad_request),
    },
    Row {
        what: "`#` and what follows it in a path",
        through: "cut off",
        why: "a fragment is never sent (RFC 9110, section 4.2.5)",
        proof: Shown(
            || ok("GET {up}/x#part HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            |seen| seen.asked[0].head = seen.asked[0].head.replacen("#part", "", 1),
        ),
    },
    Row {
        what: "A path and query of more than 65,534 bytes",
        through: "414 `bad-request`",
        why: "no more is read; no API has such a path",
        proof: Shown(
            || refused(&format!("GET {{up}}/{} HTTP/1.1\r\nHost: {{host}}\r\n\r\n", "x".repeat(65_600))),
            |seen| {
                own(seen, "414 URI Too Long", "bad-request");
                seen.asked.clear();
            },
        ),
    },
    Row {
        what: "A head of more than 512 headers, or of more than about 400 KB",
        through: "431 `bad-request`, in an answer 502 `upstream-closed`",
        why: "every buffer has a bound",
        proof: Shown(
            || {
                let many: Vec<String> = (0..600).map(|n| format!("X-{n}: 1\r\n")).collect();
                let many = many.concat();
                refused(&format!("GET {{up}}/x HTTP/1.1\r\nHost: {{host}}\r\n{many}\r\n"))
            },
            |seen| {
                own(seen, "431 Request Header Fields Too Large", "bad-request");
                seen.asked.clear();
            },
        ),
    },
    Row {
        what: "An app that ends its sending side and goes on reading",
        through: "counts as gone: its request is cancelled",
        why: "that is how an app that has left looks, and tokens cost money",
        proof: Shown(
            || Case::new("half-close", Script::new().gate("closed").then(Script::answer("200 OK", &[("Connection", "close")], "ok")))
                .fin()
                .send(GET)
                .act(Act::Reached("closed"))
                .act(Act::HalfClose)
                .act(Act::Open("closed"))
                .act(Act::End),
            |seen| seen.answers.clear(),
        ),
    },
    Row {
        what: "The upstream closes a connection that is idle",
        through: "the app's stays open, and its next request goes on a new one",
        why: "nothing is lost by it",
        proof: Shown(
            || Case::bytes("idle", OK)
                .fin()
                .and(Script::answer("200 OK", &[("Connection", "close")], "ok").fin())
                .send(GET)
                .until("\r\n\r\nok")
                .act(Act::Gone)
                .send(GET_CLOSE)
                .act(Act::End),
            |seen| {
                let mut second = seen.answers[0].clone();
                second.headers.insert(0, ("Connection".to_owned(), "close".to_owned()));
                seen.answers.push(second);
                let mut asked = seen.asked[0].clone();
                asked.head = GET_CLOSE.replace("{up}", "");
                seen.asked.push(asked);
            },
        ),
    },
    Row {
        what: "A TLS connection that ends without `close_notify` where it marks the end of a body",
        through: "a broken end",
        why: "it may have been cut (RFC 8446, section 6.1)",
        proof: Test("tls::ends_are_passed_on"),
    },
    Row {
        what: "An HTTP/2 stream that the upstream resets without an error in mid-body",
        through: "reset with `INTERNAL_ERROR`; every other code stays",
        why: "many libraries take `NO_ERROR` for an orderly end",
        proof: Test("http2::a_reset_stream_is_broken"),
    },
    Row {
        what: "An HTTP/2 connection of an upstream that breaks",
        through: "its streams are reset with `INTERNAL_ERROR`; the app's connection stays",
        why: "the app's connection may carry streams of other upstreams",
        proof: Test("http2::an_upstream_that_goes_away_breaks_what_it_had"),
    },
    Row {
        what: "An HTTP/2 stream that is reset before its answer",
        through: "502 `upstream-closed`; `REFUSED_STREAM` and `HTTP_1_1_REQUIRED` stay",
        why: "as over HTTP/1.1; the two tell the app's library to try again",
        proof: Test("http2::a_stream_that_is_reset_before_its_answer"),
    },
    Row {
        what: "An upstream without HTTP/2",
        through: "can be used by an app that speaks HTTP/2 only",
        why: "the streams get connections of HTTP/1.1, each its own while it lasts",
        proof: Test("http2::an_upstream_without_http2_is_spoken_to_in_http1"),
    },
];
