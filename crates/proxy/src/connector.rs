//! The way to an upstream: directly or through a proxy, and with whose certificates.

use std::{collections::HashMap, net::SocketAddr};

use crate::{
    Config, Upstream,
    failure::Failure,
    outbound::{Outbound, OutboundError},
    tls::{Tls, TlsSettings},
    upstream_io::Stream,
};

/// Makes connections to upstreams.
pub(crate) struct Connector {
    tls: Tls,
    /// For upstreams with settings of their own, by name.
    particular: HashMap<String, Tls>,
    outbound: Outbound,
    /// The address the proxy listens on.
    own: SocketAddr,
}

impl Connector {
    /// Reads what the configuration says of the way out.
    pub(crate) fn new(config: &Config, own: SocketAddr) -> Result<Self, OutboundError> {
        let particular = config.upstreams.iter().filter_map(|upstream| {
            let settings = upstream.tls_settings();
            let tls = Tls::new(&config.extra_ca, settings);
            (*settings != TlsSettings::default()).then(|| (upstream.name().to_owned(), tls))
        });
        Ok(Self {
            particular: particular.collect(),
            tls: Tls::new(&config.extra_ca, &TlsSettings::default()),
            outbound: config.outbound.resolve()?,
            own,
        })
    }

    /// Why TLS connections cannot be made.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.tls.fault()
    }

    /// Connects. With TLS, `http2` says whether that is offered.
    pub(crate) async fn open(&self, upstream: &Upstream, http2: bool) -> Result<Stream, Failure> {
        let (host, port, tls) = (upstream.host(), upstream.port(), upstream.uses_tls());
        let stream = self.outbound.connect(tls, host, port, self.own).await?;
        if !tls {
            return Ok(Stream::Plain(stream));
        }
        let tls = self.particular.get(upstream.name()).unwrap_or(&self.tls);
        Ok(Stream::Tls(Box::new(tls.connect(host, stream, http2).await?)))
    }
}
