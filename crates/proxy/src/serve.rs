//! One connection of an app, from its acceptance to its end.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http::Request;
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{HttpService, service_fn},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    app_io::AppIo,
    app_stream::AppStream,
    failure::{Failure, Kind},
    forward::{AppBody, Client, Shared},
    http2,
    line::{Close, Line},
    link::MAX_HEADERS,
    outlet::Outlet,
    received::Received,
    tasks::{Phase, Tasks},
    telemetry,
};

/// How long an app that is still sending is listened to after the end: between two reads, and in
/// all. Closing with something unread resets the connection, and the app might lose what was sent.
const LINGER: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// Serves the app at the other end of `stream` until one of both ends it.
pub(crate) async fn serve(shared: Arc<Shared>, stream: TcpStream, address: SocketAddr) {
    // Each piece leaves at once; without it only latency is lost.
    let _ = stream.set_nodelay(true);
    let opened = tokio::select! {
        // Boxed, since it is over soon and the rest of this may go on for long.
        opened = Box::pin(open(&shared, stream)) => opened,
        () = shared.tasks.reached(Phase::Draining) => return,
    };
    match opened {
        Ok((stream, true)) => {
            let client = Arc::new(Client::new(shared, address, stream.is_secure()));
            let result = Box::pin(http2::serve(&client, stream)).await;
            telemetry::http2_connection_ended(address, &result);
            client.links.close();
        }
        Ok((stream, false)) => serve_http1(shared, stream, address).await,
        Err(err) => telemetry::not_opened(address, &err),
    }
}

/// Shakes hands where TLS is spoken, and sees whether it is HTTP/2.
async fn open(shared: &Shared, stream: TcpStream) -> io::Result<(AppStream, bool)> {
    let mut stream = AppStream::open(stream, shared.acceptor.as_ref()).await?;
    let http2 = stream.speaks_http2().await?;
    Ok((stream, http2))
}

async fn serve_http1(shared: Arc<Shared>, stream: AppStream, address: SocketAddr) {
    let line = Arc::new(Line::new());
    let client = Arc::new(Client::new(Arc::clone(&shared), address, stream.is_secure()));
    let service = {
        let (client, line) = (Arc::clone(&client), Arc::clone(&line));
        service_fn(move |request: Request<Incoming>| {
            let (client, outlet) = (Arc::clone(&client), Outlet::Http1(Arc::clone(&line)));
            let request = request.map(|body| Received::Http1(body, None));
            async move { Ok::<_, Infallible>(client.answer(request, outlet).await) }
        })
    };
    let io = AppIo::new(stream, Arc::clone(&line));
    let result = Box::pin(drive(io, service, &shared.tasks)).await;
    telemetry::connection_ended(address, &result);
    if let Some(tunnel) = client.take_tunnel() {
        tunnel.run(&shared.tasks).await;
    }
    client.links.close();
    let unread = result.is_err() || !client.has_read_all();
    close(&line, unread, last_words(&line, &result), &shared.tasks).await;
}

/// Lets hyper have the connection. When this returns, all that was under way on it is dropped.
async fn drive<S>(io: AppIo, service: S, tasks: &Tasks) -> hyper::Result<()>
where
    S: HttpService<Incoming, ResBody = AppBody, Error = Infallible>,
    S::Future: Send,
{
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(io), service)
        .with_upgrades();
    tokio::pin!(connection);
    let mut draining = false;
    loop {
        tokio::select! {
            result = &mut connection => return result,
            () = tasks.reached(Phase::Draining), if !draining => {
                draining = true;
                connection.as_mut().graceful_shutdown();
            }
            () = tasks.reached(Phase::Closing), if draining => return Ok(()),
        }
    }
}

/// What an app is told whose request could not be read.
fn last_words(line: &Line, result: &hyper::Result<()>) -> Vec<u8> {
    let (Some(status), Err(err)) = (line.unreadable(), result) else { return Vec::new() };
    let message = format!("the request cannot be read ({err}); look at its head and its length");
    Failure::new(Kind::BadRequest, message).last_words(status)
}

/// Closes the socket in the way that lets the app read everything that was sent.
async fn close(line: &Line, unread: bool, words: Vec<u8>, tasks: &Tasks) {
    let Some((mut stream, close)) = line.take_socket() else { return };
    match close {
        Close::Fin => {}
        Close::Gone => return,
        Close::Reset => {
            // If it fails, the end looks orderly; nothing else can be done.
            let _ = stream.tcp().set_zero_linger();
            return;
        }
    }
    let mut buffer = vec![0; 4096];
    let unread = unread || stream.tcp().try_read(&mut buffer).is_ok_and(|length| 0 < length);
    if !unread {
        return;
    }
    let (pause, all) = LINGER;
    let drain = async {
        if stream.write_all(&words).await.is_ok() && stream.shutdown().await.is_ok() {
            while let Ok(Ok(1..)) = timeout(pause, stream.read(&mut buffer)).await {}
        }
    };
    tokio::select! {
        _ = timeout(all, drain) => {}
        () = tasks.reached(Phase::Closing) => {}
    }
}
