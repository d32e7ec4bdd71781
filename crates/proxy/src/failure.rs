//! What teeline itself answers when it cannot pass a request on.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

/// Why there is no answer from an upstream (contract, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    NoUpstream,
    ConnectFailed,
    TlsFailed,
    UpstreamTimeout,
    UpstreamClosed,
    BadRequest,
    ForbiddenHost,
    NotAProxy,
}

impl Kind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::NoUpstream => "no-upstream",
            Self::ConnectFailed => "connect-failed",
            Self::TlsFailed => "tls-failed",
            Self::UpstreamTimeout => "upstream-timeout",
            Self::UpstreamClosed => "upstream-closed",
            Self::BadRequest => "bad-request",
            Self::ForbiddenHost => "forbidden-host",
            Self::NotAProxy => "not-a-proxy",
        }
    }

    const fn status(self) -> StatusCode {
        match self {
            Self::NoUpstream => StatusCode::NOT_FOUND,
            Self::ConnectFailed | Self::TlsFailed | Self::UpstreamClosed => StatusCode::BAD_GATEWAY,
            Self::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
            Self::BadRequest | Self::NotAProxy => StatusCode::BAD_REQUEST,
            Self::ForbiddenHost => StatusCode::FORBIDDEN,
        }
    }
}

/// A [`Kind`] with the words for it: what happened and what to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    /// More members of the `error` object.
    more: Vec<(&'static str, Value)>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), more: Vec::new() }
    }

    /// Adds a member to the `error` object.
    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.more.push((name, value));
        self
    }

    /// The answer to a request with the header `Origin` as given: a browser only shows an answer
    /// to its page if that is allowed in so many words.
    pub(crate) fn response(&self, origin: Option<HeaderValue>) -> Response<Bytes> {
        let mut error = json!({
            "type": "teeline_error", "kind": self.kind.as_str(), "message": self.message,
        });
        for (name, value) in &self.more {
            if let Some(object) = error.as_object_mut() {
                object.insert((*name).to_owned(), value.clone());
            }
        }
        let mut body = json!({ "error": error }).to_string();
        body.push('\n');
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = self.kind.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-teeline-error", HeaderValue::from_static(self.kind.as_str()));
        if let Some(origin) = origin {
            allow(headers, origin);
        }
        response
    }
}

impl Failure {
    /// The same as bytes for a connection that ends with it, with a status of its own.
    pub(crate) fn last_words(&self, status: StatusCode) -> Vec<u8> {
        let (head, body) = self.response(None).into_parts();
        let mut bytes = format!("HTTP/1.1 {status}\r\nconnection: close\r\n").into_bytes();
        for (name, value) in &head.headers {
            bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).into_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers
        .insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("x-teeline-error"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_what_the_contract_says() {
        let failure = Failure::new(Kind::UpstreamTimeout, "no \"answer\"").with("more", json!([1]));
        let response = failure.response(Some(HeaderValue::from_static("https://app.example")));
        assert_eq!(response.status(), 504);
        assert_eq!(response.headers()["x-teeline-error"], "upstream-timeout");
        assert_eq!(response.headers()["access-control-allow-origin"], "https://app.example");
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(
            body,
            json!({"error": {"type": "teeline_error", "kind": "upstream-timeout",
                             "message": "no \"answer\"", "more": [1]}})
        );
        assert!(!failure.response(None).headers().contains_key("access-control-allow-origin"));
    }
}
