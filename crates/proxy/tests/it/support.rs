//! A proxy between a scripted upstream and an app that speaks in raw bytes.

use std::{future::Future, io, net::SocketAddr, time::Duration};

use teeline_capture::{Exchange, Query, State, Store, StoreOptions, Summary};
use teeline_proxy::{Config, Proxy};
use teeline_script::{Request, Script, Upstream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// Nothing here takes so long; what does is stuck.
const STUCK: Duration = Duration::from_secs(30);

/// Fails the test if `event` does not happen.
pub(crate) async fn within<T>(what: &str, event: impl Future<Output = T>) -> T {
    timeout(STUCK, event).await.unwrap_or_else(|_| panic!("stuck: {what}"))
}

/// A running proxy with one upstream, `up`.
pub(crate) struct Rig {
    pub(crate) upstream: Upstream,
    pub(crate) store: Store,
    pub(crate) addr: SocketAddr,
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
}

impl Rig {
    pub(crate) async fn new(handler: impl Fn(&Request) -> Script + Send + Sync + 'static) -> Self {
        Self::with(Upstream::start(handler).await.unwrap(), Config::default()).await
    }

    pub(crate) async fn with(upstream: Upstream, mut config: Config) -> Self {
        config.upstreams.add("up", &upstream.url()).unwrap();
        let store = Store::in_memory(StoreOptions::default()).unwrap();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let proxy = Proxy::bind(any, config, store.recorder()).await.unwrap();
        let addr = proxy.local_addr();
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(proxy.serve(shutdown.clone()));
        Self { upstream, store, addr, shutdown, serving }
    }

    /// Connects an app to the proxy.
    pub(crate) async fn app(&self) -> App {
        App::connect(self.addr).await
    }

    /// One request on its own connection, which is then read to its end.
    pub(crate) async fn fetch(&self, request: impl AsRef<[u8]>) -> Answer {
        let mut app = self.app().await;
        app.send(request).await;
        app.answer().await
    }

    /// The same, without the proxy. The target's first segment is the proxy's and is left out.
    pub(crate) async fn fetch_directly(&self, request: &str) -> Answer {
        let mut app = App::connect(self.upstream.addr()).await;
        app.send(request.replacen(" /up/", " /", 1)).await;
        app.answer().await
    }

    /// Waits until a change makes `found` give something.
    pub(crate) async fn until<T>(&self, what: &str, found: impl Fn(&Self) -> Option<T>) -> T {
        let mut feed = self.store.feed();
        let look = async {
            loop {
                if let Some(found) = found(self) {
                    return found;
                }
                // A change may be told before it is seen, and is not told for each chunk.
                let _ = timeout(Duration::from_millis(20), feed.recv()).await;
            }
        };
        within(what, look).await
    }

    /// The captures, oldest first.
    pub(crate) fn captures(&self) -> Vec<Summary> {
        let page = self.store.list(&Query::default(), None, 100).unwrap();
        page.captures.into_iter().rev().collect()
    }

    /// The capture of this number (from 0, oldest first), once it has ended and all that was
    /// written to the app is counted.
    pub(crate) async fn ended(&self, number: usize) -> Summary {
        self.until("the capture ends", |rig| {
            rig.captures().into_iter().nth(number).filter(|summary| summary.state != State::Open)
        })
        .await
    }

    /// The capture of this number once `fits` says so.
    pub(crate) async fn capture(&self, number: usize, fits: impl Fn(&Summary) -> bool) -> Summary {
        self.until("the capture fits", |rig| {
            rig.captures().into_iter().nth(number).filter(|summary| fits(summary))
        })
        .await
    }

    /// Heads and request of an ended capture.
    pub(crate) async fn exchange(&self, number: usize) -> Exchange {
        let id = self.ended(number).await.id;
        self.store.exchange(id).unwrap()
    }

    /// Waits until it is known that a request was not sent whole, which may be after its end.
    pub(crate) async fn truncated_request(&self, number: usize) {
        let id = self.ended(number).await.id;
        self.until("the request is known to be truncated", |rig| {
            rig.store.exchange(id).unwrap().request.body_truncated.then_some(())
        })
        .await;
    }

    /// Asks the proxy to stop.
    pub(crate) fn begin_shutdown(&self) {
        self.shutdown.cancel();
    }

    /// Waits until the proxy has stopped.
    pub(crate) async fn stopped(self) -> Store {
        within("the proxy stops", self.serving).await.unwrap();
        let store = self.store;
        tokio::task::spawn_blocking(move || {
            store.shutdown();
            store
        })
        .await
        .unwrap()
    }
}

/// An app's connection.
pub(crate) struct App {
    pub(crate) stream: TcpStream,
    /// What was read and not taken yet.
    pub(crate) buffer: Vec<u8>,
}

impl App {
    pub(crate) async fn connect(addr: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(addr).await.unwrap(), buffer: Vec::new() }
    }

    /// An app with as little room for unread bytes as the system grants.
    pub(crate) async fn with_small_window(addr: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(2048).unwrap();
        Self { stream: socket.connect(addr).await.unwrap(), buffer: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        within("the app sends", self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Reads until `needle` has come; gives everything up to it, and it.
    pub(crate) async fn read_through(&mut self, needle: impl AsRef<[u8]>) -> Vec<u8> {
        let needle = needle.as_ref();
        loop {
            let found = self.buffer.windows(needle.len()).position(|window| window == needle);
            if let Some(at) = found {
                let rest = self.buffer.split_off(at + needle.len());
                return std::mem::replace(&mut self.buffer, rest);
            }
            let read = within("the app reads", self.stream.read_buf(&mut self.buffer)).await;
            let so_far = String::from_utf8_lossy(&self.buffer);
            assert_ne!(read.unwrap(), 0, "the connection ended after {so_far:?}");
        }
    }

    /// Reads to the end of the connection.
    pub(crate) async fn answer(mut self) -> Answer {
        let end = within("the answer ends", self.stream.read_to_end(&mut self.buffer)).await;
        Answer::parse(&self.buffer, end.err().map(|err| err.kind()))
    }
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Its last chunk came, or the length that was announced.
    Whole,
    /// It had no mark of its end; the connection was closed.
    Close,
    /// The connection was closed before the end.
    Cut,
    /// The connection was reset.
    Reset,
}

/// An answer as the app got it: framing undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Status line and headers, with the blank line.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// What stands behind the last chunk, and behind the end of the body.
    pub(crate) rest: String,
    pub(crate) end: End,
}

impl Answer {
    pub(crate) fn parse(bytes: &[u8], error: Option<io::ErrorKind>) -> Self {
        let at = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, rest) = bytes.split_at(at.map_or(bytes.len(), |at| at + 4));
        let head: String = head.iter().copied().map(char::from).collect();
        let lower = head.to_ascii_lowercase();
        let length = lower
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .and_then(|value| value.trim().parse::<usize>().ok());
        let (body, rest, mut end) = if lower.contains("\r\ntransfer-encoding: chunked\r\n") {
            unchunk(rest)
        } else if let Some(length) = length {
            let whole = length <= rest.len();
            let (body, rest) = rest.split_at(length.min(rest.len()));
            (body.to_vec(), rest, if whole { End::Whole } else { End::Cut })
        } else {
            (rest.to_vec(), &[][..], if at.is_some() { End::Close } else { End::Cut })
        };
        if error.is_some() && end != End::Whole {
            end = End::Reset;
        }
        Self { head, body, rest: String::from_utf8_lossy(rest).into_owned(), end }
    }

    pub(crate) fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

fn unchunk(mut bytes: &[u8]) -> (Vec<u8>, &[u8], End) {
    let mut body = Vec::new();
    while let Some(at) = bytes.windows(2).position(|window| window == b"\r\n") {
        let digits = std::str::from_utf8(&bytes[..at]).unwrap();
        let length = usize::from_str_radix(digits.trim(), 16).unwrap();
        bytes = &bytes[at + 2..];
        if length == 0 {
            let whole =
                bytes.starts_with(b"\r\n") || bytes.windows(4).any(|end| end == b"\r\n\r\n");
            return (body, bytes, if whole { End::Whole } else { End::Cut });
        }
        let here = length.min(bytes.len());
        body.extend_from_slice(&bytes[..here]);
        bytes = &bytes[here..];
        bytes = bytes.strip_prefix(b"\r\n").unwrap_or(&[]);
    }
    (body, &[], End::Cut)
}

/// `GET target` for a connection that ends with the answer.
pub(crate) fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: proxy\r\nConnection: close\r\n\r\n")
}

/// `POST target` with a body, for a connection that stays.
pub(crate) fn post(target: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {target} HTTP/1.1\r\nHost: proxy\r\nContent-Length: {length}\r\n\r\n{body}")
}
