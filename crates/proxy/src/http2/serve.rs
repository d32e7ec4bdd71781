//! An app's connection on which HTTP/2 is spoken.

use std::{
    error::Error,
    future::poll_fn,
    sync::{Arc, PoisonError},
};

use bytes::Bytes;
use h2::{Reason, RecvStream, server};
use http::{Request, Response};
use http_body::Body as _;
use tokio_util::sync::CancellationToken;

use super::{
    CONNECTION_WINDOW, MAX_HEAD, MAX_STREAMS, SEND_BUFFER, STREAM_WINDOW, Watch,
    io::Watched,
    pass::{Stopped, pass},
};
use crate::{
    app_stream::AppStream,
    forward::{AppBody, Client},
    line::Left,
    outlet::{Outlet, Stream},
    received::{Broken, Received},
    send::Abandoned,
    tasks::Phase,
};

/// Serves the app until one of both ends the connection. When this returns, all that was under way
/// on it is dropped.
pub(crate) async fn serve(client: &Arc<Client>, stream: AppStream) -> Result<(), h2::Error> {
    let tasks = &client.shared.tasks;
    let watch = Arc::new(Watch::server());
    let handshake = server::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(MAX_STREAMS)
        .max_send_buffer_size(SEND_BUFFER)
        .max_header_list_size(MAX_HEAD)
        .handshake(Watched::new(stream, Arc::clone(&watch)));
    let mut connection = tokio::select! {
        connection = handshake => connection?,
        () = tasks.reached(Phase::Draining) => return Ok(()),
    };
    let over = CancellationToken::new();
    let _over = over.clone().drop_guard();
    let mut draining = false;
    loop {
        tokio::select! {
            accepted = connection.accept() => {
                let Some(accepted) = accepted else { return Ok(()) };
                let (request, respond) = accepted.inspect_err(|err| {
                    if let Some(reason) = err.reason().filter(|_| err.is_remote() && err.is_go_away()) {
                        watch.leave(Left::WentAway(reason));
                    }
                })?;
                let stream = Stream::new(Arc::clone(&watch), respond);
                let (client, over) = (Arc::clone(client), over.clone());
                tasks.spawn(async move {
                    tokio::select! {
                        () = exchange(&client, request, Arc::new(stream)) => {}
                        () = over.cancelled() => {}
                    }
                });
            }
            () = tasks.reached(Phase::Draining), if !draining => {
                draining = true;
                connection.graceful_shutdown();
            }
            () = tasks.reached(Phase::Closing), if draining => return Ok(()),
        }
    }
}

/// One request and its response.
async fn exchange(client: &Client, request: Request<RecvStream>, stream: Arc<Stream>) {
    stream.watch.expect(stream.id);
    let request = request.map(|body| Received::Http2(body, None));
    let outlet = Outlet::Http2(Arc::clone(&stream));
    let response = tokio::select! {
        response = Box::pin(client.answer(request, outlet)) => Some(response),
        // The app wants no answer any more.
        () = reset(&stream) => None,
    };
    match response {
        Some(response) => send(response, &stream).await,
        None => stream.watch.forget(stream.id),
    }
}

async fn send(response: Response<AppBody>, stream: &Stream) {
    let (parts, body) = response.into_parts();
    let stopped = if let Some(Abandoned(reason)) = parts.extensions.get() {
        with(stream, |respond| respond.send_reset(*reason));
        true
    } else {
        let end = body.is_end_stream();
        let head = Response::from_parts(parts, ());
        match with(stream, |respond| respond.send_response(head, end)) {
            Ok(_) if end => false,
            Ok(mut sending) => {
                match pass(body, &mut sending, |reason| stream.leave(reason)).await {
                    Ok(()) => false,
                    Err(Stopped::Unwanted) => true,
                    Err(Stopped::Broke(err)) => {
                        sending.send_reset(code(&*err));
                        true
                    }
                }
            }
            Err(_) => true,
        }
    };
    if stopped {
        stream.watch.forget(stream.id);
    } else {
        stream.watch.end(stream.id);
    }
}

/// Waits until the app has reset the stream, before an answer is sent.
async fn reset(stream: &Stream) {
    // Its connection being over is a reset as well.
    let reason = poll_fn(|cx| with(stream, |respond| respond.poll_reset(cx))).await;
    stream.leave(reason.ok());
}

fn with<T>(stream: &Stream, use_it: impl FnOnce(&mut server::SendResponse<Bytes>) -> T) -> T {
    use_it(&mut stream.respond.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The code that tells the app of an error in a response's body.
fn code(err: &(dyn Error + 'static)) -> Reason {
    err.downcast_ref().map_or(Reason::INTERNAL_ERROR, Broken::code)
}
