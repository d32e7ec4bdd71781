//! Connections to upstreams. Each belongs to one connection of an app and closes with it, as it
//! would be without us: nothing is shared between apps, so nothing of one can hold up another.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use teeline_capture::Tap;
use tokio::time::timeout;

use crate::{
    failure::{Failure, Kind},
    forward::Shared,
    http2::{self, Opened},
    tasks::{Owned, Tasks},
    tls,
    upload::{Passage, Upload},
    upstream_io::{Stream, UpstreamIo, Wire},
    upstreams::Upstream,
};

/// More headers than hyper's 100, in requests and responses alike: heads are passed on, not judged.
pub(crate) const MAX_HEADERS: usize = 512;

/// So many idle upstream connections are kept for an app's connection; an app seldom uses one
/// connection for two upstreams, and a hostile one shall not make us keep any number.
const LINKS_KEPT: usize = 4;

/// A connection to an upstream on which HTTP/1.1 is spoken. Dropped, it is closed at once.
pub(crate) struct Link {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) sender: SendRequest<Upload>,
    /// How far the last request sent on it has passed.
    pub(crate) passage: Passage,
    wire: Arc<Wire>,
    _task: Owned,
}

impl Link {
    /// Connects to `upstream` within the configured time.
    pub(crate) async fn open(upstream: &Arc<Upstream>, shared: &Shared) -> Result<Self, Failure> {
        let Shared { config, connector, tasks, .. } = shared;
        let opening = async {
            let stream = connector.open(upstream, false).await?;
            Self::over(upstream, stream, tasks).await
        };
        let limit = upstream.connect_timeout(config);
        timeout(limit, opening).await.map_err(|_| late(upstream, limit))?
    }

    async fn over(
        upstream: &Arc<Upstream>,
        stream: Stream,
        tasks: &Tasks,
    ) -> Result<Self, Failure> {
        let wire = Arc::new(Wire::default());
        let io = UpstreamIo::new(stream, Arc::clone(&wire));
        let (sender, connection) = http1::Builder::new()
            .preserve_header_case(true)
            .max_headers(MAX_HEADERS)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .handshake(TokioIo::new(io))
            .await
            .map_err(|err| Failure::new(Kind::UpstreamClosed, err.to_string()))?;
        let task = tasks.spawn_owned(async move {
            // Its errors are those of the request and the response that are under way.
            let _ = connection.with_upgrades().await;
        });
        Ok(Self {
            upstream: Arc::clone(upstream),
            sender,
            passage: Passage::default(),
            wire,
            _task: task,
        })
    }

    /// Tells `tap` when the next bytes are written.
    pub(crate) fn announce(&self, tap: Tap) {
        self.wire.announce(tap);
    }

    /// What its IO sees.
    pub(crate) fn wire(&self) -> Arc<Wire> {
        Arc::clone(&self.wire)
    }

    /// The head of the response that came, as the upstream spelled it.
    pub(crate) fn take_head(&self) -> Option<Vec<u8>> {
        self.wire.take_head()
    }
}

/// The upstream connections of one app connection.
#[derive(Default)]
pub(crate) struct Links {
    /// HTTP/1.1, one request at a time.
    idle: Mutex<Vec<Link>>,
    /// HTTP/2, one connection an upstream; no more than there are upstreams.
    common: Mutex<Vec<(Arc<Upstream>, Arc<Slot>)>>,
}

/// The place of an HTTP/2 connection to one upstream.
#[derive(Default)]
struct Slot {
    common: tokio::sync::Mutex<Option<Common>>,
    /// How often opening has failed, and how the last time.
    failures: AtomicU64,
    failure: Mutex<Option<Failure>>,
}

/// What an upstream speaks with an app that speaks HTTP/2.
#[derive(Clone)]
enum Common {
    Http1,
    Http2(Arc<http2::Link>),
}

/// A connection for a request of an app that speaks HTTP/2.
pub(crate) enum ForHttp2 {
    Http2(Arc<http2::Link>),
    /// The upstream does not; perhaps with the connection on which that showed.
    Http1(Option<Link>),
}

impl Links {
    /// The connection to `upstream`, if one is open and its last request is out of the way.
    pub(crate) fn take(&self, upstream: &Arc<Upstream>) -> Option<Link> {
        let mut links = lock(&self.idle);
        let index = links.iter().position(|link| Arc::ptr_eq(&link.upstream, upstream))?;
        let link = links.swap_remove(index);
        (link.passage.is_whole() && !link.sender.is_closed()).then_some(link)
    }

    /// Keeps a connection: for its response, which may still be coming, and for the next request.
    pub(crate) fn keep(&self, link: Link) {
        let mut links = lock(&self.idle);
        if LINKS_KEPT <= links.len() {
            links.remove(0);
        }
        links.push(link);
    }

    /// The connection that all HTTP/2 streams share, opened by the first of them.
    pub(crate) async fn common(
        &self,
        upstream: &Arc<Upstream>,
        shared: &Shared,
    ) -> Result<ForHttp2, Failure> {
        let slot = self.slot(upstream);
        let failures = slot.failures.load(Ordering::Acquire);
        let mut common = slot.common.lock().await;
        match &*common {
            Some(Common::Http2(link)) => return Ok(ForHttp2::Http2(Arc::clone(link))),
            Some(Common::Http1) => return Ok(ForHttp2::Http1(None)),
            None => {}
        }
        if failures != slot.failures.load(Ordering::Acquire)
            && let Some(failure) = lock(&slot.failure).clone()
        {
            // It failed while this one waited for it.
            return Err(failure);
        }
        match open_http2(upstream, shared).await {
            Ok(link) => {
                *common = Some(match &link {
                    ForHttp2::Http2(link) => Common::Http2(Arc::clone(link)),
                    ForHttp2::Http1(_) => Common::Http1,
                });
                Ok(link)
            }
            Err(failure) => {
                *lock(&slot.failure) = Some(failure.clone());
                slot.failures.fetch_add(1, Ordering::AcqRel);
                Err(failure)
            }
        }
    }

    /// This connection takes no more requests; those on it go on.
    pub(crate) async fn retire(&self, upstream: &Arc<Upstream>, link: &Arc<http2::Link>) {
        let slot = self.slot(upstream);
        let mut common = slot.common.lock().await;
        if matches!(&*common, Some(Common::Http2(current)) if Arc::ptr_eq(current, link)) {
            *common = None;
        }
    }

    fn slot(&self, upstream: &Arc<Upstream>) -> Arc<Slot> {
        let mut slots = lock(&self.common);
        if let Some((_, slot)) = slots.iter().find(|(known, _)| Arc::ptr_eq(known, upstream)) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(Slot::default());
        slots.push((Arc::clone(upstream), Arc::clone(&slot)));
        slot
    }

    /// Closes all.
    pub(crate) fn close(&self) {
        lock(&self.idle).clear();
        lock(&self.common).clear();
    }
}

/// A connection that was opened for one response; it is kept when that has ended.
pub(crate) struct Keeper {
    links: Arc<Links>,
    link: Option<Link>,
}

impl Keeper {
    pub(crate) fn new(links: &Arc<Links>, link: Link) -> Self {
        Self { links: Arc::clone(links), link: Some(link) }
    }

    /// The response has ended.
    pub(crate) fn settle(&mut self) {
        if let Some(link) = self.link.take() {
            self.links.keep(link);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn open_http2(upstream: &Arc<Upstream>, shared: &Shared) -> Result<ForHttp2, Failure> {
    let Shared { config, connector, tasks, .. } = shared;
    let opening = async {
        let stream = connector.open(upstream, true).await?;
        let agreed = stream.agreed_on_http2();
        if agreed == Some(false) {
            return Ok(ForHttp2::Http1(Some(Link::over(upstream, stream, tasks).await?)));
        }
        let io = UpstreamIo::new(stream, Arc::default());
        let opened = http2::Link::open(io, agreed == Some(true), tasks).await;
        let closed = |broken: crate::received::Broken| {
            Failure::new(Kind::UpstreamClosed, broken.to_string())
        };
        Ok(match opened.map_err(closed)? {
            Opened::Link(link) => ForHttp2::Http2(link),
            Opened::Not => ForHttp2::Http1(None),
        })
    };
    let limit = upstream.connect_timeout(config);
    timeout(limit, opening).await.map_err(|_| late(upstream, limit))?
}

impl Stream {
    /// Whether HTTP/2 was agreed on; `None` where nothing was asked.
    fn agreed_on_http2(&self) -> Option<bool> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => Some(tls::agreed_on_http2(stream)),
        }
    }
}

fn late(upstream: &Upstream, limit: Duration) -> Failure {
    let (host, port) = (upstream.host(), upstream.port());
    Failure::new(
        Kind::UpstreamTimeout,
        format!(
            "no connection to {host} port {port} within {limit:?}; is the network, a VPN or a firewall in the way?"
        ),
    )
}
