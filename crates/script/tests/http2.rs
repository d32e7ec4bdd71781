//! The scripted upstream in HTTP/2, seen by a client of the `h2` crate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use bytes::Bytes;
use h2::client;
use http::Request;
use teeline_script::{Frame, Script, Upstream};
use tokio::net::TcpStream;

type Sender = client::SendRequest<Bytes>;

async fn connect(upstream: &Upstream) -> Sender {
    let stream = TcpStream::connect(upstream.addr()).await.unwrap();
    let (sender, connection) = client::handshake(stream).await.unwrap();
    tokio::spawn(async move {
        let _ = connection.await;
    });
    sender
}

async fn ask(sender: &Sender, target: &str) -> client::ResponseFuture {
    let request = Request::get(format!("http://up{target}")).body(()).unwrap();
    sender.clone().ready().await.unwrap().send_request(request, true).unwrap().0
}

fn data(bytes: &'static str) -> Frame {
    Frame::Data(bytes.into())
}

#[tokio::test]
async fn everything_before_a_reset_arrives() {
    let upstream = Upstream::builder().http2().start(|request| {
        assert_eq!((request.version.as_str(), request.target.as_str()), ("HTTP/2", "/x?y"));
        Script::new().frames([Frame::Head(200, vec![]), data("a"), data("b"), Frame::Reset(8)])
    });
    let upstream = upstream.await.unwrap();
    for _ in 0..20 {
        let sender = connect(&upstream).await;
        let mut body = ask(&sender, "/x?y").await.await.unwrap().into_body();
        assert_eq!(body.data().await.unwrap().unwrap(), "a");
        assert_eq!(body.data().await.unwrap().unwrap(), "b");
        let reset = body.data().await.unwrap().unwrap_err();
        assert_eq!(reset.reason(), Some(h2::Reason::CANCEL));
    }
}

#[tokio::test]
async fn a_server_that_leaves_finishes_what_it_has() {
    let upstream = Upstream::builder().http2().start(|_| {
        Script::new()
            .frames([Frame::Head(200, vec![]), data("a"), Frame::Leave])
            .gate("go")
            .frames([Frame::DataEnd("b".into())])
    });
    let upstream = upstream.await.unwrap();
    let sender = connect(&upstream).await;
    let mut body = ask(&sender, "/").await.await.unwrap().into_body();
    assert_eq!(body.data().await.unwrap().unwrap(), "a");
    // No further request is taken.
    while sender.clone().ready().await.is_ok() {
        tokio::task::yield_now().await;
    }
    upstream.open_gate("go");
    assert_eq!(body.data().await.unwrap().unwrap(), "b");
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn a_reset_by_the_client_is_noted() {
    let upstream = Upstream::builder().http2().start(|_| Script::new().gate("never"));
    let upstream = upstream.await.unwrap();
    let sender = connect(&upstream).await;
    let response = ask(&sender, "/").await;
    upstream.reached("never").await;
    drop(response);
    assert_eq!(upstream.stream_reset(0).await, 8);
}
