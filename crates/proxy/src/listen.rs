//! The proxy: its socket and its life.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use teeline_capture::Recorder;
use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Config, OutboundError, connector::Connector, forward::Shared, serve::serve, tasks::Tasks,
    telemetry, tls,
};

/// How long to wait when there is no file descriptor for another connection.
const BACKOFF: Duration = Duration::from_millis(100);

/// A proxy that has its address and does not serve yet.
pub struct Proxy {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// The proxy cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The address cannot be had.
    #[error(
        "cannot listen on {addr} for apps; is something else there? Choose another address with --listen"
    )]
    Address {
        /// The address asked for.
        addr: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The certificate for apps cannot be used.
    #[error("the certificate and its key cannot be used; do they belong together?")]
    Certificate(#[source] rustls::Error),
    /// A proxy on the way out cannot be used.
    #[error(transparent)]
    Outbound(OutboundError),
}

impl Proxy {
    /// Takes `addr` (port 0: any free one). Connections wait from now on.
    ///
    /// # Errors
    ///
    /// The address is taken, is not this machine's, or may not be used; the certificate and its key
    /// do not belong together; a proxy on the way out cannot be used.
    pub async fn bind(
        addr: SocketAddr,
        config: Config,
        recorder: Recorder,
    ) -> Result<Self, BindError> {
        let acceptor = config.certificate.as_ref().map(tls::acceptor).transpose();
        let acceptor = acceptor.map_err(BindError::Certificate)?;
        let error = |source| BindError::Address { addr, source };
        let listener = TcpListener::bind(addr).await.map_err(error)?;
        let own = listener.local_addr().map_err(error)?;
        let connector = Connector::new(&config, own).map_err(BindError::Outbound)?;
        if let Some(fault) = connector.fault() {
            telemetry::no_roots(fault);
        }
        let shared = Shared { config, recorder, connector, acceptor, tasks: Tasks::new(), own };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// The address it listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.own
    }

    /// Serves apps until `shutdown` is cancelled. Then nothing new is accepted; what is under way
    /// goes on for the configured grace and is closed after that, recorded as interrupted. When
    /// this returns, no task of the proxy runs any more.
    pub async fn serve(self, shutdown: CancellationToken) {
        let Self { listener, shared } = self;
        tokio::select! {
            () = accept(&listener, &shared) => {}
            () = shutdown.cancelled() => {}
        }
        drop(listener);
        let closed = shared.tasks.end(shared.config.grace).await;
        if 0 < closed {
            telemetry::grace_over(closed);
        }
    }
}

async fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut failures = 0;
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                if 0 < failures {
                    telemetry::accepting_again(failures);
                    failures = 0;
                }
                start(shared, stream, address);
            }
            Err(err) if is_the_clients(&err) => {}
            Err(err) => {
                if failures == 0 {
                    telemetry::accept_failed(&err);
                }
                failures += 1;
                sleep(BACKOFF).await;
            }
        }
    }
}

fn start(shared: &Arc<Shared>, stream: TcpStream, address: SocketAddr) {
    shared.tasks.spawn(serve(Arc::clone(shared), stream, address));
}

/// The client went before it was accepted; the next may be well.
fn is_the_clients(err: &io::Error) -> bool {
    matches!(
        err.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
