//! What a person sees who opens the proxy in a browser.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, header};
use serde_json::{Map, Value};

use crate::{
    Config, Upstreams,
    failure::{Failure, Kind},
};

/// Whether the client would rather show a page than read JSON.
pub(crate) fn wants_page(head: &HeaderMap) -> bool {
    let html = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains("text/html"));
    head.get_all(header::ACCEPT).iter().any(html)
}

/// The page: where the dashboard is, and the base URLs.
pub(crate) fn page(config: &Config, proxy_url: &str) -> Response<Bytes> {
    let mut html = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>teeline</title>\n\
         <h1>teeline</h1>\n<p>This is the proxy. Apps use it by their base URL.</p>\n",
    );
    if let Some(url) = &config.dashboard_url {
        let url = escaped(url);
        html.extend(["<p><a href=\"", &url, "\">What was captured is in the dashboard</a></p>\n"]);
    }
    html.push_str("<table><tr><th>base URL<th>goes to\n");
    for upstream in config.upstreams.iter() {
        let base = escaped(&Upstreams::base_url(proxy_url, upstream));
        html.extend(["<tr><td><code>", &base, "</code><td>", &escaped(&upstream.url()), "\n"]);
    }
    html.push_str("</table></html>\n");
    let mut response = Response::new(Bytes::from(html));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    );
    response
}

/// No upstream is meant: says which there are.
pub(crate) fn no_upstream(config: &Config, proxy_url: &str, segment: Option<&str>) -> Failure {
    let mut base_urls = Map::new();
    for upstream in config.upstreams.iter() {
        let base = Upstreams::base_url(proxy_url, upstream);
        base_urls.insert(upstream.name().to_owned(), Value::String(base));
    }
    let what = match segment {
        None | Some("") => "the path names no upstream".to_owned(),
        Some(segment) => format!("no upstream is named `{segment}`"),
    };
    let list: Vec<&str> = base_urls.values().filter_map(Value::as_str).collect();
    let list = list.join(", ");
    let message = format!(
        "{what}; the app's base URL must be one of {list} (followed by what the API wants, like /v1), \
         or add an upstream with --upstream NAME=URL"
    );
    let failure = Failure::new(Kind::NoUpstream, message).with("base_urls", base_urls.into());
    match &config.dashboard_url {
        Some(url) => failure.with("dashboard", url.as_str().into()),
        None => failure,
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}
