//! One connection of an app, from its acceptance to its end.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

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
    failure::{Failure, Kind},
    forward::{AppBody, Client, Shared},
    line::{Close, Line},
    link::MAX_HEADERS,
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
    let line = Arc::new(Line::new());
    let client = Arc::new(Client::new(Arc::clone(&shared), address, Arc::clone(&line)));
    let service = {
        let client = Arc::clone(&client);
        service_fn(move |request: Request<Incoming>| {
            let client = Arc::clone(&client);
            async move { Ok::<_, Infallible>(client.answer(request).await) }
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
///
/// Here an HTTP/2 app would be told apart by its preface.
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
            let _ = stream.set_zero_linger();
            return;
        }
    }
    let mut buffer = vec![0; 4096];
    let unread = unread || stream.try_read(&mut buffer).is_ok_and(|length| 0 < length);
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
