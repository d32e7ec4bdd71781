//! A scripted upstream, exact to the byte and the moment.
//!
//! An [`Upstream`] is a server on a real socket, of HTTP/1.1 and if so wished of HTTP/2, that answers each request with a
//! [`Script`]: these bytes in these writes, pauses, waits for a named gate, the end of the
//! connection in one of the ways a connection can end. What it received is in its journal, raw.
//! Nothing in it interprets what it sends, so it can send what no HTTP library would: a body cut
//! in a chunk, two heads, a reset right after the last byte.
//!
//! One server for the tests (order is proved by gates, not by milliseconds), for `teeline demo`
//! and for replaying a capture.
//!
//! ```
//! use teeline_script::{Script, Upstream};
//! use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//!
//! # #[tokio::main] async fn main() -> std::io::Result<()> {
//! let upstream = Upstream::start(|request| {
//!     assert_eq!(request.target, "/v1/chat/completions");
//!     Script::sse_head().chunk("data: one\n\n").gate("two").chunk("data: two\n\n").rst()
//! })
//! .await?;
//!
//! let mut client = tokio::net::TcpStream::connect(upstream.addr()).await?;
//! client.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").await?;
//! upstream.reached("two").await;          // everything before the gate has been written …
//! upstream.open_gate("two");              // … and nothing after it until now
//!
//! let mut answer = Vec::new();
//! let broken = client.read_to_end(&mut answer).await.unwrap_err();
//! assert_eq!(broken.kind(), std::io::ErrorKind::ConnectionReset);
//! assert!(answer.ends_with(b"b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n"));
//! assert_eq!(upstream.requests()[0].body, "{}");
//! # Ok(()) }
//! ```
//!
//! # Order of events
//!
//! [`Upstream::start`] reads a request whole before its handler is asked (answering
//! `Expect: 100-continue` with `100 Continue`, as servers do). [`Builder::early`] asks the handler
//! as soon as the head is there; the script then reads the body itself, by [`Script::read`] and
//! [`Script::read_rest`], slowly or never. A script that does not end the connection leaves it open
//! for the next request.
//!
//! # Bounds
//!
//! A head may have 1 MiB. Of each body the first [`Builder::keep_body`] bytes are kept (16 MiB
//! unless told otherwise; the rest is counted), and of the requests the last
//! [`Builder::keep_requests`] (1,000).

mod authority;
mod body;
mod connection;
mod http2;
mod journal;
mod request;
mod script;
mod stream;
mod upstream;

pub use authority::{Authority, AuthorityError};
pub use http2::Frame;
pub use journal::Gone;
pub use request::Request;
pub use script::{Script, Step};
pub use upstream::{Builder, Upstream};
