//! Proxies on the way out, and upstreams with certificates of their own kind.

use std::{net::SocketAddr, sync::Arc};

use rustls::{
    RootCertStore, ServerConfig, crypto::aws_lc_rs, pki_types::PrivateKeyDer,
    pki_types::pem::PemObject as _, server::WebPkiClientVerifier,
};
use teeline_proxy::{Certificate, Config, OutboundProxies, TlsSettings, Upstream, certificates};
use teeline_script::{Authority, Script, Upstream as Scripted};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
};

use crate::support::{Rig, get, within};

/// An HTTP proxy that leads every tunnel to `target`; what it was asked for comes out of the channel. With `refusal` it
/// answers that and closes.
async fn http_proxy(
    target: SocketAddr,
    refusal: Option<&'static str>,
) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, asked) = channel(16);
    tokio::spawn(async move {
        while let Ok((mut app, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(app.read_u8().await.unwrap());
                }
                sender.send(String::from_utf8(head).unwrap()).await.unwrap();
                if let Some(refusal) = refusal {
                    app.write_all(refusal.as_bytes()).await.unwrap();
                    return;
                }
                let mut upstream = TcpStream::connect(target).await.unwrap();
                app.write_all(b"HTTP/1.1 200 Connection established\r\nX-Proxy: a\r\n\r\n")
                    .await
                    .unwrap();
                // It ends when one of them has left.
                let _ = copy_bidirectional(&mut app, &mut upstream).await;
            });
        }
    });
    (address, asked)
}

/// A SOCKS5 proxy (RFC 1928, without credentials) that leads every tunnel to `target`.
async fn socks_proxy(target: SocketAddr) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, asked) = channel(16);
    tokio::spawn(async move {
        while let Ok((mut app, _)) = listener.accept().await {
            let methods = {
                assert_eq!(app.read_u8().await.unwrap(), 5);
                let mut methods = vec![0; usize::from(app.read_u8().await.unwrap())];
                app.read_exact(&mut methods).await.unwrap();
                methods
            };
            assert!(methods.contains(&0));
            app.write_all(&[5, 0]).await.unwrap();
            let mut request = [0; 5];
            app.read_exact(&mut request).await.unwrap();
            // CONNECT to a name.
            assert_eq!(request[..4], [5, 1, 0, 3]);
            let mut name = vec![0; usize::from(request[4])];
            app.read_exact(&mut name).await.unwrap();
            let port = app.read_u16().await.unwrap();
            sender.send(format!("{}:{port}", String::from_utf8(name).unwrap())).await.unwrap();
            let mut upstream = TcpStream::connect(target).await.unwrap();
            app.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            tokio::spawn(async move {
                let _ = copy_bidirectional(&mut app, &mut upstream).await;
            });
        }
    });
    (address, asked)
}

fn all(url: &str) -> OutboundProxies {
    OutboundProxies { all: Some(url.to_owned()), ..OutboundProxies::default() }
}

/// A rig whose upstream `far` has a name that only a proxy can make something of.
async fn far(scheme: &str, upstream: Scripted, outbound: OutboundProxies, tls: TlsSettings) -> Rig {
    let mut config = Config { outbound, ..Config::default() };
    let far = Upstream::new("far", &format!("{scheme}://api.test.invalid:1234")).unwrap();
    config.upstreams.insert(far.with_tls(tls));
    Rig::with(upstream, config).await
}

fn answering() -> impl Fn(&teeline_script::Request) -> Script + Send + Sync + 'static {
    |_| Script::answer("200 OK", &[], "through")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http_proxy_is_asked_for_a_tunnel() {
    let upstream = Scripted::start(answering()).await.unwrap();
    let (proxy, mut asked) = http_proxy(upstream.addr(), None).await;
    let outbound = all(&format!("http://me:pass%20word@{proxy}"));
    let rig = far("http", upstream, outbound, TlsSettings::default()).await;
    assert!(rig.fetch(get("/far/v1/x")).await.text().ends_with("through"));
    let head = within("the proxy is asked", asked.recv()).await.unwrap();
    assert_eq!(
        head,
        // RFC 9110, section 9.3.6, and RFC 7617: `me:pass word`.
        "CONNECT api.test.invalid:1234 HTTP/1.1\r\nHost: api.test.invalid:1234\r\n\
         Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk\r\n\r\n"
    );
    assert_eq!(rig.upstream.requests()[0].target, "/v1/x");
    // What the proxy is told is not told to the upstream, and loopback needs no proxy.
    assert_eq!(rig.upstream.requests()[0].header("proxy-authorization"), None);
    assert!(rig.fetch(get("/up/v1/y")).await.text().ends_with("through"));
    assert!(asked.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socks_proxy_resolves_the_name() {
    let upstream = Scripted::start(answering()).await.unwrap();
    let (proxy, mut asked) = socks_proxy(upstream.addr()).await;
    let outbound = all(&format!("socks5h://{proxy}"));
    let rig = far("http", upstream, outbound, TlsSettings::default()).await;
    assert!(rig.fetch(get("/far/v1/x")).await.text().ends_with("through"));
    assert_eq!(within("it is asked", asked.recv()).await.unwrap(), "api.test.invalid:1234");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_refuses_is_named() {
    for (refusal, word) in [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            "user:password@",
        ),
        ("HTTP/1.1 403 Not that one\r\n\r\n", "403 Not that one"),
        ("", "broke the connection off"),
    ] {
        let upstream = Scripted::start(answering()).await.unwrap();
        let (proxy, _asked) = http_proxy(upstream.addr(), Some(refusal)).await;
        let outbound = all(&format!("http://{proxy}"));
        let rig = far("http", upstream, outbound, TlsSettings::default()).await;
        let answer = rig.fetch(get("/far/v1/x")).await;
        assert_eq!(
            (answer.status(), answer.header("x-teeline-error")),
            ("502", Some("connect-failed"))
        );
        assert!(answer.text().contains(word), "{}", answer.text());
        assert!(answer.text().contains(&proxy.to_string()), "{}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_may_be_trusted_alone_or_not_checked_at_all() {
    let authority = Authority::new().unwrap();
    let own = TlsSettings {
        extra_ca: certificates(authority.pem().as_bytes()).unwrap(),
        ..TlsSettings::default()
    };
    let insecure = TlsSettings { insecure: true, ..TlsSettings::default() };
    for (settings, fits) in [(TlsSettings::default(), false), (own, true), (insecure, true)] {
        let upstream = Scripted::builder().tls(&authority).start(answering()).await.unwrap();
        let mut config = Config::default();
        let url = upstream.url();
        config.upstreams.insert(Upstream::new("special", &url).unwrap().with_tls(settings));
        let rig = Rig::with(upstream, config).await;
        let answer = rig.fetch(get("/special/x")).await;
        assert_eq!(answer.status(), if fits { "200" } else { "502" });
        // What one upstream is granted, another is not.
        assert_eq!(rig.fetch(get("/up/x")).await.status(), "502");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_is_told_by_a_certificate_who_asks() {
    let authority = Authority::new().unwrap();
    let (chain, key) = authority.certificate(&["127.0.0.1"]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority.der()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .unwrap();
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            certificates(chain.as_bytes()).unwrap(),
            PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        )
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(server));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Who has no certificate gets no further than this.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = [0; 4096];
            let Ok(1..) = stream.read(&mut request).await else { continue };
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nknown").await.unwrap();
        }
    });
    let mut config = Config::default();
    let tls = TlsSettings {
        extra_ca: certificates(authority.pem().as_bytes()).unwrap(),
        certificate: Some(Certificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap()),
        insecure: false,
    };
    let anonymous = TlsSettings { certificate: None, ..tls.clone() };
    config.upstreams.insert(Upstream::new("known", &url).unwrap().with_tls(tls));
    config.upstreams.insert(Upstream::new("anonymous", &url).unwrap().with_tls(anonymous));
    let rig = Rig::with(Scripted::start(answering()).await.unwrap(), config).await;
    assert!(rig.fetch(get("/known/x")).await.text().ends_with("known"));
    assert_eq!(rig.fetch(get("/anonymous/x")).await.status(), "502");
}
