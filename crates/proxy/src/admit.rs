//! Whether a request is passed on, and where to; else what it is told.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderValue, Method, Request, Version, header, uri::Authority};

use crate::{
    Config,
    failure::{Failure, Kind},
    page,
    upstreams::{Route, first_segment},
};

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Verdict {
    Forward(Route),
    /// A person has opened the proxy's address.
    Page,
    Refuse(Failure),
}

/// Judges a request by its head. `proxy_url` is where the proxy thinks it is.
pub(crate) fn judge<B>(request: &Request<B>, config: &Config, proxy_url: &str) -> Verdict {
    let uri = request.uri();
    // HTTP/2 says there what HTTP/1 says in Host.
    let absolute = uri.authority().is_some() && request.version() != Version::HTTP_2;
    if request.method() == Method::CONNECT || absolute {
        return Verdict::Refuse(Failure::new(
            Kind::NotAProxy,
            format!(
                "this is not a proxy for HTTP_PROXY or HTTPS_PROXY; set the app's base URL to \
                 {proxy_url}/NAME instead, where NAME is an upstream such as openai"
            ),
        ));
    }
    if let Some(host) = forbidden_host(request, &config.allowed_hosts) {
        return Verdict::Refuse(Failure::new(
            Kind::ForbiddenHost,
            format!(
                "a browser may use the proxy under an IP address or localhost only, not under `{host}`; \
                 allow the name with --allowed-host if it is yours"
            ),
        ));
    }
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    if let Some(route) = config.upstreams.route(target) {
        return Verdict::Forward(route);
    }
    if target == "/" && request.method() == Method::GET && page::wants_page(request.headers()) {
        return Verdict::Page;
    }
    Verdict::Refuse(page::no_upstream(config, proxy_url, first_segment(target)))
}

/// The URL under which the client reaches us, as far as it says so. One that takes us for a forward
/// proxy names another host.
pub(crate) fn proxy_url<B>(request: &Request<B>, own: SocketAddr, secure: bool) -> String {
    let absolute = request.uri().authority().is_some() && request.version() != Version::HTTP_2;
    let scheme = if secure { "https" } else { "http" };
    match Authority::try_from(host(request)) {
        Ok(host) if !absolute => format!("{scheme}://{host}"),
        _ => format!("{scheme}://{own}"),
    }
}

/// Under which host the client reaches us, as it says.
fn host<B>(request: &Request<B>) -> &[u8] {
    match request.uri().authority() {
        Some(authority) if request.version() == Version::HTTP_2 => authority.as_str().as_bytes(),
        _ => request.headers().get(header::HOST).map(HeaderValue::as_bytes).unwrap_or_default(),
    }
}

/// The Host of a browser's request that must not be served: a page of another site may have had its
/// own name point to this machine (DNS rebinding).
fn forbidden_host<B>(request: &Request<B>, allowed: &[String]) -> Option<String> {
    let head = request.headers();
    if !head.contains_key(header::ORIGIN) && !head.contains_key("sec-fetch-site") {
        return None;
    }
    let host = host(request);
    let name = Authority::try_from(host)
        .map(|authority| authority.host().trim_end_matches('.').to_ascii_lowercase());
    let Ok(name) = name else { return Some(String::from_utf8_lossy(host).into_owned()) };
    let is_ip = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let is_loopback = name == "localhost" || name.ends_with(".localhost");
    let is_allowed = allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(&name));
    (!is_ip && !is_loopback && !is_allowed).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(request: &Request<()>) -> &'static str {
        let config = Config { allowed_hosts: vec!["box.lan".to_owned()], ..Config::default() };
        match judge(request, &config, "http://127.0.0.1:4780") {
            Verdict::Forward(_) => "forward",
            Verdict::Page => "page",
            Verdict::Refuse(failure) => failure.kind.as_str(),
        }
    }

    fn get(target: &str, head: &[(&str, &str)]) -> Request<()> {
        let request = head
            .iter()
            .fold(Request::get(target), |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap()
    }

    #[test]
    fn a_browser_must_come_by_an_address_or_an_allowed_name() {
        let evil = ("origin", "https://evil.example");
        let table: &[(&[(&str, &str)], &str)] = &[
            (&[("host", "evil.example")], "forward"),
            (&[("host", "evil.example"), evil], "forbidden-host"),
            (&[("host", "evil.example"), ("sec-fetch-site", "same-origin")], "forbidden-host"),
            (&[("host", "127.0.0.1.evil.example"), evil], "forbidden-host"),
            (&[("host", "notlocalhost"), evil], "forbidden-host"),
            (&[("host", ""), evil], "forbidden-host"),
            (&[evil], "forbidden-host"),
            (&[("host", "127.0.0.1:4780"), evil], "forward"),
            (&[("host", "[::1]:4780"), evil], "forward"),
            (&[("host", "LocalHost.:4780"), evil], "forward"),
            (&[("host", "app.localhost"), evil], "forward"),
            (&[("host", "Box.lan:1"), evil], "forward"),
        ];
        for (head, expected) in table {
            assert_eq!(kind(&get("/openai/v1", head)), *expected, "{head:?}");
        }
    }

    #[test]
    fn forms_of_a_forward_proxy_are_refused() {
        assert_eq!(kind(&get("http://api.openai.com/v1", &[])), "not-a-proxy");
        let connect = Request::connect("api.openai.com:443").body(()).unwrap();
        assert_eq!(kind(&connect), "not-a-proxy");
    }

    #[test]
    fn a_person_gets_a_page_and_a_program_the_list() {
        assert_eq!(kind(&get("/", &[("accept", "text/html,*/*")])), "page");
        assert_eq!(kind(&get("/", &[("accept", "*/*")])), "no-upstream");
        assert_eq!(kind(&get("/v1/models", &[("accept", "text/html")])), "no-upstream");
    }
}
