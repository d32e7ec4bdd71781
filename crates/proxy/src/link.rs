//! Connections to upstreams. Each belongs to one connection of an app and closes with it, as it
//! would be without us: nothing is shared between apps, so nothing of one can hold up another.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use teeline_capture::Tap;
use tokio::time::timeout;

use crate::{
    Config, dial,
    failure::{Failure, Kind},
    tasks::{Owned, Tasks},
    tls::Tls,
    upload::{Passage, Upload},
    upstream_io::{Stream, UpstreamIo, Wire},
    upstreams::Upstream,
};

/// More headers than hyper's 100, in requests and responses alike: heads are passed on, not judged.
pub(crate) const MAX_HEADERS: usize = 512;

/// So many idle upstream connections are kept for an app's connection; an app seldom uses one
/// connection for two upstreams, and a hostile one shall not make us keep any number.
const LINKS_KEPT: usize = 4;

/// A connection to an upstream. Dropped, it is closed at once.
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
    pub(crate) async fn open(
        upstream: &Arc<Upstream>,
        config: &Config,
        tls: &Tls,
        tasks: &Tasks,
        own: SocketAddr,
    ) -> Result<Self, Failure> {
        let stream = timeout(config.connect_timeout, open(upstream, tls, own)).await;
        let stream = stream.map_err(|_| late(upstream, config))??;
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

    /// The head of the response that came, as the upstream spelled it.
    pub(crate) fn take_head(&self) -> Option<Vec<u8>> {
        self.wire.take_head()
    }
}

/// The upstream connections of one app connection.
#[derive(Default)]
pub(crate) struct Links(Mutex<Vec<Link>>);

impl Links {
    /// The connection to `upstream`, if one is open and its last request is out of the way.
    pub(crate) fn take(&self, upstream: &Arc<Upstream>) -> Option<Link> {
        let mut links = self.lock();
        let index = links.iter().position(|link| Arc::ptr_eq(&link.upstream, upstream))?;
        let link = links.swap_remove(index);
        (link.passage.is_whole() && !link.sender.is_closed()).then_some(link)
    }

    /// Keeps a connection: for its response, which may still be coming, and for the next request.
    pub(crate) fn keep(&self, link: Link) {
        let mut links = self.lock();
        if LINKS_KEPT <= links.len() {
            links.remove(0);
        }
        links.push(link);
    }

    /// Closes all.
    pub(crate) fn close(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Link>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn open(upstream: &Upstream, tls: &Tls, own: SocketAddr) -> Result<Stream, Failure> {
    let stream = dial::connect(upstream.host(), upstream.port(), own).await?;
    if upstream.uses_tls() {
        Ok(Stream::Tls(Box::new(tls.connect(upstream.host(), stream).await?)))
    } else {
        Ok(Stream::Plain(stream))
    }
}

fn late(upstream: &Upstream, config: &Config) -> Failure {
    let (host, port, limit) = (upstream.host(), upstream.port(), config.connect_timeout);
    Failure::new(
        Kind::UpstreamTimeout,
        format!(
            "no connection to {host} port {port} within {limit:?}; is the network, a VPN or a firewall in the way?"
        ),
    )
}
