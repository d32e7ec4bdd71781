//! The scripted upstream does what its script says, byte for byte, and sees what clients do.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::io::{self, ErrorKind};

use teeline_script::{Gone, Script, Upstream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

async fn connect(upstream: &Upstream) -> TcpStream {
    TcpStream::connect(upstream.addr()).await.unwrap()
}

async fn exchange(upstream: &Upstream, request: &str) -> (Vec<u8>, io::Result<usize>) {
    let mut client = connect(upstream).await;
    client.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let end = client.read_to_end(&mut answer).await;
    (answer, end)
}

const GET: &str = "GET / HTTP/1.1\r\n\r\n";

#[tokio::test]
async fn connections_end_as_the_script_says() {
    let upstream = Upstream::start(|request| {
        let script = Script::new().bytes("abc");
        match request.target.as_str() {
            "/fin" => script.fin(),
            "/close" => script.close(),
            _ => script.rst(),
        }
    })
    .await
    .unwrap();
    for (target, expected) in
        [("/fin", None), ("/close", None), ("/rst", Some(ErrorKind::ConnectionReset))]
    {
        let (answer, end) = exchange(&upstream, &format!("GET {target} HTTP/1.1\r\n\r\n")).await;
        assert_eq!(answer, b"abc", "{target}");
        assert_eq!(end.err().map(|err| err.kind()), expected, "{target}");
    }
    for connection in 0..3 {
        assert_eq!(upstream.client_gone(connection).await, Gone::Ended);
    }
}

#[tokio::test]
async fn a_gate_holds_back_everything_behind_it() {
    let upstream =
        Upstream::start(|_| Script::new().bytes("a").gate("go").bytes("b").fin()).await.unwrap();
    let mut client = connect(&upstream).await;
    client.write_all(GET.as_bytes()).await.unwrap();
    upstream.reached("go").await;
    let mut first = [0; 8];
    assert_eq!(client.read(&mut first).await.unwrap(), 1);
    assert_eq!(client.try_read(&mut first).unwrap_err().kind(), ErrorKind::WouldBlock);
    upstream.open_gate("go");
    assert_eq!(client.read(&mut first).await.unwrap(), 1);
    assert_eq!(first[0], b'b');
}

#[tokio::test]
async fn requests_share_a_connection_and_are_kept_raw() {
    let upstream = Upstream::start(|request| {
        Script::answer("200 OK", &[], format!("{}:{}", request.number, request.body.len()))
    })
    .await
    .unwrap();
    let mut client = connect(&upstream).await;
    let first = "POST /a?b HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n";
    let second = "PUT /c HTTP/1.1\r\nCONTENT-length: 2\r\n\r\nde";
    client.write_all([first, second].concat().as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert_eq!(
        answer,
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n0:3HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n1:2"
    );
    let [a, b] = &upstream.requests()[..] else { panic!("two requests") };
    assert_eq!((&a.body[..], a.body_whole, a.connection), (&b"abc"[..], true, 0));
    assert_eq!(a.trailers, [("X-T".to_owned(), "1".to_owned())]);
    assert_eq!(b.head, "PUT /c HTTP/1.1\r\nCONTENT-length: 2\r\n\r\n");
    assert_eq!((&b.body[..], b.connection), (&b"de"[..], 0));
}

#[tokio::test]
async fn a_client_that_leaves_during_a_silence_is_noticed() {
    let upstream = Upstream::start(|_| Script::new().gate("never")).await.unwrap();
    let mut client = connect(&upstream).await;
    client.write_all(GET.as_bytes()).await.unwrap();
    upstream.reached("never").await;
    drop(client);
    assert_eq!(upstream.client_gone(0).await, Gone::Closed);
}

#[tokio::test]
async fn an_early_answer_reads_of_the_body_what_it_likes() {
    let upstream = Upstream::builder()
        .early()
        .start(|request| {
            assert!(request.body.is_empty());
            Script::new().read(2).mark("two").gate("rest").read_rest().bytes("done").fin()
        })
        .await
        .unwrap();
    let mut client = connect(&upstream).await;
    client.write_all(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab").await.unwrap();
    upstream.reached("two").await;
    assert_eq!(upstream.requests()[0].body, "ab");
    client.write_all(b"cde").await.unwrap();
    upstream.open_gate("rest");
    upstream.received_body(0, 5).await;
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert_eq!(
        (answer.as_slice(), &upstream.requests()[0].body[..]),
        (&b"done"[..], &b"abcde"[..])
    );
}

#[tokio::test]
async fn an_expecting_client_is_told_to_go_on() {
    let upstream = Upstream::start(|_| Script::answer("200 OK", &[], "").fin()).await.unwrap();
    let mut client = connect(&upstream).await;
    client
        .write_all(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        .await
        .unwrap();
    let mut interim = [0; 25];
    client.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.write_all(b"ok").await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"));
}

mod tls {
    use std::sync::Arc;

    use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs, pki_types::ServerName};
    use teeline_script::Authority;
    use tokio_rustls::{TlsConnector, client::TlsStream};

    use super::*;

    async fn client(upstream: &Upstream, authority: &Authority) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(authority.der()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, connect(upstream).await).await.unwrap()
    }

    #[tokio::test]
    async fn ends_are_told_apart() {
        let authority = Authority::new().unwrap();
        let upstream = Upstream::builder()
            .tls(&authority)
            .start(|request| {
                let script = Script::new().bytes("abc");
                if request.target == "/fin" { script.fin() } else { script.close() }
            })
            .await
            .unwrap();
        assert!(upstream.url().starts_with("https://127.0.0.1:"));
        for (target, expected) in [("/fin", None), ("/close", Some(ErrorKind::UnexpectedEof))] {
            let mut client = client(&upstream, &authority).await;
            client.write_all(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            let end = client.read_to_end(&mut answer).await;
            assert_eq!(answer, b"abc");
            assert_eq!(end.err().map(|err| err.kind()), expected, "{target}");
        }
    }
}
