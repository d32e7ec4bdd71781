//! Accepting connections, also when there is no file descriptor for one.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};

/// How long to wait when there is no file descriptor for another connection.
const BACKOFF: Duration = Duration::from_millis(100);

/// A listener that waits where it cannot accept, and says so once until it can again.
pub(crate) struct Patient {
    listener: TcpListener,
    failing: bool,
}

impl Patient {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, failing: false }
    }
}

impl Listener for Patient {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => {
                    if std::mem::take(&mut self.failing) {
                        tracing::info!("the dashboard accepts connections again");
                    }
                    return accepted;
                }
                Err(error) if is_the_clients(&error) => {}
                Err(error) => {
                    if !self.failing {
                        tracing::warn!(
                            %error,
                            "the dashboard cannot accept connections; trying again (a limit on open files? see `ulimit -n`)"
                        );
                    }
                    self.failing = true;
                    tokio::time::sleep(BACKOFF).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// The client went before it was accepted; the next may be well.
fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}
