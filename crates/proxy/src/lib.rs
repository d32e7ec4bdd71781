//! The only crate that moves the app's bytes.
//!
//! A [`Proxy`] listens for apps, passes each request on to the [`Upstream`] that the first segment
//! of its path names, and passes the response back: every byte untouched, in order, as soon as it
//! came, and ending the way it ended. A [`Recorder`](teeline_capture::Recorder) is told of
//! everything and can hold up nothing.
//!
//! ```
//! use teeline_capture::{Query, Store, StoreOptions};
//! use teeline_proxy::{Config, Proxy};
//! use teeline_script::{Script, Upstream};
//! use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let upstream = Upstream::start(|_| Script::sse(["data: hello\n\n", "data: [DONE]\n\n"])).await?;
//! let store = Store::in_memory(StoreOptions::default())?;
//!
//! let mut config = Config::default();
//! config.upstreams.add("mine", &upstream.url())?;
//! let proxy = Proxy::bind("127.0.0.1:0".parse()?, config, store.recorder()).await?;
//! let addr = proxy.local_addr();
//! let shutdown = CancellationToken::new();
//! let serving = tokio::spawn(proxy.serve(shutdown.clone()));
//!
//! let mut app = tokio::net::TcpStream::connect(addr).await?;
//! app.write_all(b"GET /mine/v1/stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
//! let mut answer = String::new();
//! app.read_to_string(&mut answer).await?;
//! assert!(answer.contains("data: hello\n\n"));
//! assert_eq!(upstream.requests()[0].target, "/v1/stream");
//!
//! shutdown.cancel();
//! serving.await?;
//! store.shutdown();
//! assert_eq!(store.list(&Query::default(), None, 1)?.captures[0].bytes, 27);
//! # Ok(()) }
//! ```
//!
//! # The way of a request
//!
//! `listen` accepts, `serve` lets hyper have the connection, `admit` judges the head, `forward`
//! sends it on over a `link` to the upstream (`dial` and `tls` make one) and wraps the answer's
//! body in a `tee`. Both bodies pass frame by frame, so a slow reader slows its writer and nothing
//! is buffered here. `line` knows what was really written to the app, which is needed for one
//! thing above all: a broken end is passed on only when every byte before it is.
//!
//! Tasks are born in `tasks` only: one for each connection of an app, one for each connection to
//! an upstream. The latter belong to the former and end with it, so that an app that leaves
//! cancels its requests at once.
//!
//! What the app speaks is mirrored: HTTP/1.1 by hyper (`serve::drive`, `link::Link`), HTTP/2 by h2
//! itself (`http2`), since what has to be passed on is below what hyper shows of it. Where upstreams
//! do not speak HTTP/2, an HTTP/2 app's streams have HTTP/1.1 connections, each its own while it
//! lasts. `outlet` and `received` are what both versions have in common: where a response goes, and
//! a body as it comes.

mod admit;
mod app_io;
mod app_stream;
mod config;
mod connector;
mod delivery;
mod dial;
mod exchange;
mod failure;
mod forward;
mod head;
mod http2;
mod interim;
mod line;
mod link;
mod listen;
mod outbound;
mod outlet;
mod page;
mod probe;
mod received;
mod send;
mod serve;
mod spelling;
mod tasks;
mod tee;
mod telemetry;
mod tls;
mod tunnel;
mod upload;
mod upstream_io;
mod upstreams;

pub use config::{Certificate, Config, certificates};
pub use listen::{BindError, Proxy};
pub use outbound::{OutboundError, OutboundProxies};
pub use probe::{Answer, probe};
pub use tls::TlsSettings;
pub use upstreams::{Upstream, UpstreamError, Upstreams};
