//! Keeps other web pages out, and what was captured inert.
//!
//! A page of another site can make a browser send requests to loopback addresses, and can rebind its own
//! name to one. So a request must name this dashboard in `Host`, an `Origin` must be this dashboard's, and
//! what a browser says is cross-site is refused unless somebody followed a link to it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};

use crate::error::ApiError;

/// The headers of every response.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Who may ask.
pub(crate) struct Guard {
    bound: IpAddr,
    allowed: Vec<String>,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, allowed_hosts: &[String]) -> Self {
        let allowed = allowed_hosts.iter().map(|host| name(host).to_ascii_lowercase()).collect();
        Self { bound: address.ip(), allowed }
    }

    /// Why the request is refused.
    fn refusal(&self, request: &Request) -> Option<String> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next().map(text), hosts.next()) else {
            return Some("a request needs exactly one Host".to_owned());
        };
        // A target in absolute form overrides Host, so it has to pass as well.
        let target = request.uri().authority().map_or(host, |authority| authority.as_str());
        if let Some(unknown) = [host, target].into_iter().find(|host| !self.knows(host)) {
            return Some(format!(
                "`{unknown}` is no name of this dashboard; use its address, or add the name with --allowed-host"
            ));
        }
        if let Some(origin) = headers.get(header::ORIGIN).map(text)
            && !self.is_own_origin(origin, host)
        {
            return Some(format!("requests from `{origin}` are not answered"));
        }
        (!is_same_site(request.method(), headers))
            .then(|| "requests from other sites are not answered".to_owned())
    }

    /// Whether a host, its port ignored, is this dashboard.
    fn knows(&self, host: &str) -> bool {
        let name = name(host);
        if let Ok(ip) = name.parse::<IpAddr>() {
            // An address cannot be rebound, so bound to all of them every one is as good as another.
            return is_loopback(ip)
                || ip == self.bound
                || self.bound.is_unspecified()
                || self.allows(name);
        }
        name.eq_ignore_ascii_case("localhost") || self.allows(name)
    }

    fn allows(&self, name: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
    }

    /// `Origin` is `http://` and the very host that was asked. A name that was allowed may stand behind a
    /// reverse proxy that speaks TLS.
    fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        let same = |scheme: &str| {
            origin.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
                && origin.get(scheme.len()..).is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        };
        same("http://") || (same("https://") && self.allows(name(host)))
    }
}

/// The name or address of a host, without port and brackets; what is no host stays as it is, and is unknown.
fn name(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return match rest.split_once(']') {
            Some((name, port)) if port.is_empty() || port.starts_with(':') => name,
            _ => host,
        };
    }
    match host.split_once(':') {
        // A bare IPv6 address has more colons than a port has.
        Some((name, port)) if !port.contains(':') => name,
        _ => host,
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => {
            ip == Ipv6Addr::LOCALHOST || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback())
        }
    }
}

/// A header's value; one that is no text names nothing.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("")
}

/// What a browser says of where the request comes from (Fetch Metadata). Following a link is fine,
/// embedding, fetching or changing something is not. What is no browser says nothing.
fn is_same_site(method: &Method, headers: &HeaderMap) -> bool {
    let value = |name: &str| headers.get(name).map(text);
    match value("sec-fetch-site") {
        None | Some("same-origin" | "none") => true,
        Some(_) => {
            let reads = method == Method::GET || method == Method::HEAD;
            reads
                && value("sec-fetch-mode") == Some("navigate")
                && value("sec-fetch-dest") == Some("document")
        }
    }
}

/// Refuses what is not for this dashboard; puts the headers on every answer, refusals too.
pub(crate) async fn check(guard: Arc<Guard>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(&request) {
        Some(message) => ApiError::new(StatusCode::FORBIDDEN, message).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What was captured does not belong in the browser's cache.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
