//! Proxies on the way out: a company's, as environment variables name them.

use std::net::{IpAddr, SocketAddr};

use http::Uri;
use hyper_util::{
    client::{
        legacy::connect::proxy::SocksV5,
        proxy::matcher::{Intercept, Matcher},
    },
    rt::TokioIo,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tower::{Service as _, service_fn};

use crate::{
    dial,
    failure::{Failure, Kind},
};

/// A proxy's answer to CONNECT may have so many bytes.
const HEAD: usize = 16 << 10;

/// Which upstreams are reached through a proxy: the values of `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
/// `NO_PROXY`, with curl's rules. Loopback is always reached directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboundProxies {
    /// For `https://` upstreams.
    pub https: Option<String>,
    /// For `http://` upstreams.
    pub http: Option<String>,
    /// For those of either kind that have none of their own.
    pub all: Option<String>,
    /// Hosts that are reached directly: names with their subdomains, addresses, networks, `*`.
    pub no: Option<String>,
}

/// A proxy's URL cannot be used: connections would silently go another way than was meant.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "the proxy `{url}` on the way out cannot be used: it must be like http://host:3128 or socks5://host:1080"
)]
pub struct OutboundError {
    /// The URL, without its user part.
    url: String,
}

/// The way to each upstream.
#[derive(Debug)]
pub(crate) struct Outbound(Matcher);

impl OutboundProxies {
    /// Reads the URLs.
    pub(crate) fn resolve(&self) -> Result<Outbound, OutboundError> {
        for url in [&self.https, &self.http, &self.all].into_iter().flatten() {
            check(url)?;
        }
        let value = |value: &Option<String>| value.clone().unwrap_or_default();
        let matcher = Matcher::builder()
            .all(value(&self.all))
            .http(value(&self.http))
            .https(value(&self.https))
            .no(value(&self.no))
            .build();
        Ok(Outbound(matcher))
    }
}

fn check(url: &str) -> Result<(), OutboundError> {
    let known = |uri: &Uri| {
        matches!(uri.scheme_str(), None | Some("http" | "socks5" | "socks5h"))
            && uri.authority().is_some_and(|authority| !authority.host().is_empty())
    };
    if url.is_empty() || url.parse::<Uri>().is_ok_and(|uri| known(&uri)) {
        return Ok(());
    }
    let shown = match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
        _ => url.to_owned(),
    };
    Err(OutboundError { url: shown })
}

impl Outbound {
    /// Connects to `host`, through a proxy where one is to be used.
    pub(crate) async fn connect(
        &self,
        tls: bool,
        host: &str,
        port: u16,
        own: SocketAddr,
    ) -> Result<TcpStream, Failure> {
        let Some(proxy) = self.proxy(tls, host, port) else {
            return dial::connect(host, port, own).await;
        };
        let (name, standard) = match proxy.uri().scheme_str() {
            Some("http") => ("HTTP", 80),
            _ => ("SOCKS", 1080),
        };
        let its_host = proxy.uri().host().unwrap_or_default().trim_matches(['[', ']']);
        let its_port = proxy.uri().port_u16().unwrap_or(standard);
        let stream = dial::connect(its_host, its_port, own).await.map_err(|failure| {
            let message = format!("the {name} proxy on the way out: {}", failure.message);
            Failure::new(failure.kind, message)
        })?;
        let through = format!("the {name} proxy {its_host}:{its_port}");
        if standard == 80 {
            connect(stream, &proxy, host, port, &through).await
        } else {
            socks(stream, &proxy, host, port, &through).await
        }
    }

    fn proxy(&self, tls: bool, host: &str, port: u16) -> Option<Intercept> {
        let address = host.parse::<IpAddr>();
        if host == "localhost" || address.is_ok_and(|address| address.is_loopback()) {
            return None;
        }
        let scheme = if tls { "https" } else { "http" };
        self.0.intercept(&uri(scheme, host, port)?)
    }
}

fn uri(scheme: &str, host: &str, port: u16) -> Option<Uri> {
    Uri::builder().scheme(scheme).authority(authority(host, port)).path_and_query("/").build().ok()
}

fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// A tunnel by CONNECT (RFC 9110, section 9.3.6).
async fn connect(
    mut stream: TcpStream,
    proxy: &Intercept,
    host: &str,
    port: u16,
    through: &str,
) -> Result<TcpStream, Failure> {
    let authority = authority(host, port);
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    if let Some(credentials) = proxy.basic_auth() {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(credentials.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    let failed = |why: String| Failure::new(Kind::ConnectFailed, format!("{through} {why}"));
    let broke = |err: std::io::Error| failed(format!("broke the connection off: {err}"));
    stream.write_all(&request).await.map_err(broke)?;
    let mut head = Vec::new();
    // Byte by byte: what follows the head is the upstream's.
    while !head.ends_with(b"\r\n\r\n") {
        if HEAD <= head.len() {
            return Err(failed("does not answer as an HTTP proxy does".to_owned()));
        }
        head.push(stream.read_u8().await.map_err(broke)?);
    }
    let head = String::from_utf8_lossy(&head);
    let status = head.lines().next().unwrap_or_default();
    let (_, status) = status.split_once(' ').unwrap_or_default();
    match status.split(' ').next() {
        Some(code) if code.starts_with('2') => Ok(stream),
        Some("407") => Err(failed(
            "asks for credentials: write them into its URL, as in http://user:password@host:port"
                .to_owned(),
        )),
        _ => Err(failed(format!("refuses a connection to {authority}: {status}"))),
    }
}

/// A tunnel by SOCKS5 (RFC 1928). Names are resolved by the proxy with `socks5h`, here with `socks5`.
async fn socks(
    stream: TcpStream,
    proxy: &Intercept,
    host: &str,
    port: u16,
    through: &str,
) -> Result<TcpStream, Failure> {
    let failed = |why: String| Failure::new(Kind::ConnectFailed, format!("{through} {why}"));
    let target = uri("http", host, port).ok_or_else(|| failed("cannot be asked".to_owned()))?;
    let mut stream = Some(TokioIo::new(stream));
    let connected = service_fn(move |_: Uri| {
        let stream = stream.take().ok_or(std::io::ErrorKind::NotConnected);
        async move { stream.map_err(std::io::Error::from) }
    });
    let mut socks = SocksV5::new(proxy.uri().clone(), connected)
        .local_dns(proxy.uri().scheme_str() == Some("socks5"));
    if let Some((user, password)) = proxy.raw_auth() {
        socks = socks.with_auth(user.to_owned(), password.to_owned());
    }
    let tunnel = socks.call(target).await;
    tunnel
        .map(TokioIo::into_inner)
        .map_err(|err| failed(format!("gives no connection to {host} port {port}: {err}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbound(https: &str, http: &str, all: &str, no: &str) -> Outbound {
        let value = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        let proxies = OutboundProxies {
            https: value(https),
            http: value(http),
            all: value(all),
            no: value(no),
        };
        proxies.resolve().unwrap()
    }

    #[test]
    fn the_rules_are_curls_and_loopback_is_direct() {
        let by_kind =
            outbound("http://s:1", "http://p:2", "socks5://a:3", "example.com,10.0.0.0/8");
        let all = outbound("", "", "socks5://a:3", "");
        let none = outbound("", "", "", "");
        for (outbound, tls, host, expected) in [
            (&by_kind, true, "api.openai.com", Some("s:1")),
            (&by_kind, false, "api.openai.com", Some("p:2")),
            (&by_kind, true, "example.com", None),
            (&by_kind, true, "api.example.com", None),
            (&by_kind, true, "notexample.com", Some("s:1")),
            (&by_kind, false, "10.1.2.3", None),
            (&by_kind, false, "127.0.0.1", None),
            (&by_kind, false, "::1", None),
            (&by_kind, false, "localhost", None),
            (&all, true, "api.openai.com", Some("a:3")),
            (&all, false, "api.openai.com", Some("a:3")),
            (&none, true, "api.openai.com", None),
        ] {
            let proxy = outbound.proxy(tls, host, 443);
            let authority = proxy.as_ref().and_then(|proxy| proxy.uri().authority());
            assert_eq!(authority.map(http::uri::Authority::as_str), expected, "{tls} {host}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_its_password() {
        for (url, shown) in [
            ("ftp://proxy:21", "ftp://proxy:21"),
            ("https://user:secret@proxy:443", "https://proxy:443"),
            ("http://", "http://"),
        ] {
            let error = OutboundProxies { all: Some(url.to_owned()), ..OutboundProxies::default() }
                .resolve()
                .unwrap_err();
            assert_eq!(error, OutboundError { url: shown.to_owned() });
        }
        for url in ["", "proxy:3128", "http://u:p@proxy:3128", "socks5h://proxy"] {
            assert!(check(url).is_ok(), "{url}");
        }
    }
}
