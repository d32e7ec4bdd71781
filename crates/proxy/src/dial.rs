//! TCP connections to upstreams.

use std::{io, net::SocketAddr, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{
    net::{TcpStream, lookup_host},
    time::sleep,
};

use crate::failure::{Failure, Kind};

/// How long an address has before the next one is tried beside it (RFC 8305, section 5).
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to `host`, trying its addresses one beside the other where one is slow. `own` is the
/// address this proxy listens on: it would talk to itself without end.
pub(crate) async fn connect(host: &str, port: u16, own: SocketAddr) -> Result<TcpStream, Failure> {
    let addresses = lookup_host((host, port)).await.map_err(|err| {
        Failure::new(
            Kind::ConnectFailed,
            format!("the name {host} cannot be resolved ({err}); check the upstream's URL and the network"),
        )
    })?;
    let stream = first(alternate(addresses.collect())).await.map_err(|err| {
        Failure::new(
            Kind::ConnectFailed,
            format!(
                "no connection to {host} port {port} ({err}); is it running, and is its URL right?"
            ),
        )
    })?;
    let to_itself = |stream: &TcpStream| {
        let peer = stream.peer_addr()?;
        io::Result::Ok(peer == own || peer == stream.local_addr()?)
    };
    if to_itself(&stream).unwrap_or(false) {
        return Err(Failure::new(
            Kind::ConnectFailed,
            format!(
                "{host} port {port} is this proxy itself; give the upstream the URL of the API"
            ),
        ));
    }
    // Each piece of a request leaves at once; without it only latency is lost.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// The first address that connects, or the first one's error.
async fn first(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut attempts = FuturesUnordered::new();
    let mut waiting = addresses.into_iter();
    let mut error = None;
    loop {
        if attempts.is_empty() {
            match waiting.next() {
                Some(address) => attempts.push(TcpStream::connect(address)),
                None => return Err(error.unwrap_or_else(|| io::ErrorKind::NotFound.into())),
            }
        }
        tokio::select! {
            Some(result) = attempts.next() => match result {
                Ok(stream) => return Ok(stream),
                Err(err) => error = error.or(Some(err)),
            },
            () = sleep(HEAD_START), if waiting.len() != 0 => {
                attempts.extend(waiting.next().map(TcpStream::connect));
            }
        }
    }
}

/// The families in turn, beginning with the one the resolver prefers.
fn alternate(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let six = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (a, b): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|addr| addr.is_ipv6() == six);
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut all = Vec::with_capacity(a.len() + b.len());
    while a.len() + b.len() != 0 {
        all.extend(a.next());
        all.extend(b.next());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let list = |addresses: &[&str]| -> Vec<SocketAddr> {
            addresses.iter().map(|address| address.parse().unwrap()).collect()
        };
        assert_eq!(
            alternate(list(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"])),
            list(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"])
        );
        assert_eq!(alternate(list(&["1.1.1.1:1", "[::1]:1"])), list(&["1.1.1.1:1", "[::1]:1"]));
        assert_eq!(alternate(Vec::new()), []);
    }

    #[tokio::test]
    async fn a_dead_address_is_passed_over() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let live = listener.local_addr().unwrap();
        let dead = {
            let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            closed.local_addr().unwrap()
        };
        assert_eq!(first(vec![dead, live]).await.unwrap().peer_addr().unwrap(), live);
        let error = first(vec![dead]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
