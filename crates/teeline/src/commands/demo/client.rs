//! The demo's app: asks through the proxy as an SDK would, and reads to the end.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Asks once. How the stream ends is the scene's affair: a broken one is part of the demo.
pub(super) async fn ask(proxy: SocketAddr, path: &str, request: &Value) {
    if let Err(error) = stream(proxy, path, &request.to_string()).await {
        tracing::debug!(%error, path, "the demo's stream broke");
    }
}

async fn stream(proxy: SocketAddr, path: &str, body: &str) -> std::io::Result<()> {
    let mut connection = TcpStream::connect(proxy).await?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {proxy}\r\nAuthorization: Bearer demo-key-that-is-not-stored\r\n\
         Content-Type: application/json\r\nUser-Agent: teeline-demo\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(body.as_bytes()).await?;
    let mut piece = vec![0; 1 << 14];
    while 0 < connection.read(&mut piece).await? {}
    Ok(())
}
