//! What the machine may lack. Each test has a process of its own: it changes what belongs to all of
//! a process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{env, fs::File, net::SocketAddr, process::Command, time::Duration};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use teeline_capture::{Store, StoreOptions};
use teeline_proxy::{Config, Proxy};
use teeline_script::{Script, Upstream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

const REQUEST: &[u8] = b"GET /up/x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

/// Runs an ignored test of this file in a process of its own.
fn run(test: &str, variables: &[(&str, &str)]) {
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .status();
    assert!(status.unwrap().success(), "{test} failed");
}

async fn proxy(upstream: &str) -> SocketAddr {
    let mut config = Config::default();
    config.upstreams.add("up", upstream).unwrap();
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let proxy = Proxy::bind(any, config, store.recorder()).await.unwrap();
    let addr = proxy.local_addr();
    tokio::spawn(proxy.serve(CancellationToken::new()));
    addr
}

async fn answer(mut app: TcpStream) -> String {
    let mut answer = String::new();
    app.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn without_descriptors_the_proxy_waits() {
    run("descriptors_run_out", &[]);
}

#[tokio::test]
#[ignore = "changes the process's limits: run by `without_descriptors_the_proxy_waits`"]
async fn descriptors_run_out() {
    let upstream = Upstream::start(|_| Script::answer("200 OK", &[], "ok")).await.unwrap();
    let addr = proxy(&upstream.url()).await;
    // The app's socket exists before there are none left.
    let socket = TcpSocket::new_v4().unwrap();
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), maximum: hard }).unwrap();
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    let mut app = socket.connect(addr).await.unwrap();
    app.write_all(REQUEST).await.unwrap();
    // It cannot be accepted; that it stays so for a while is not proved by this, only made likely.
    assert!(timeout(Duration::from_millis(300), app.readable()).await.is_err());
    drop(files);
    let answer = timeout(Duration::from_secs(20), answer(app)).await.unwrap();
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
}

#[test]
#[cfg(target_os = "linux")]
fn without_roots_the_proxy_says_so() {
    let nowhere = "/nonexistent";
    run("roots_are_missing", &[("SSL_CERT_FILE", nowhere), ("SSL_CERT_DIR", nowhere)]);
}

#[tokio::test]
#[ignore = "needs another environment: run by `without_roots_the_proxy_says_so`"]
async fn roots_are_missing() {
    let upstream = Upstream::start(|_| Script::answer("200 OK", &[], "ok")).await.unwrap();
    let secure = proxy(&upstream.url().replace("http:", "https:")).await;
    let mut app = TcpStream::connect(secure).await.unwrap();
    app.write_all(REQUEST).await.unwrap();
    let refusal = answer(app).await;
    assert!(refusal.contains("x-teeline-error: tls-failed\r\n"), "{refusal}");
    assert!(refusal.contains("ca-certificates"), "{refusal}");

    let plain = proxy(&upstream.url()).await;
    let mut app = TcpStream::connect(plain).await.unwrap();
    app.write_all(REQUEST).await.unwrap();
    assert!(answer(app).await.ends_with("\r\n\r\nok"), "others work all the same");
}
