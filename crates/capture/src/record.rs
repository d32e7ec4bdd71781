//! What is kept of an exchange beside its bodies and its reading.

use serde::{Deserialize, Serialize};

use crate::lost::Lost;
use crate::{Ending, Moments, ResponseView};

/// Heads, moments and ending, redacted: one JSON text in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(crate) struct Record {
    pub(crate) upstream: String,
    pub(crate) method: String,
    /// Path and query as the app sent them.
    pub(crate) target: String,
    pub(crate) url: String,
    pub(crate) version: String,
    pub(crate) client: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    /// The request's body is longer than what is kept, or did not come whole.
    pub(crate) request_truncated: bool,
    pub(crate) response: Option<ResponseView>,
    pub(crate) moments: Moments,
    /// Bytes of the response's body that came, kept or not.
    pub(crate) bytes: u64,
    pub(crate) bytes_to_app: u64,
    pub(crate) sha256: Option<String>,
    pub(crate) lost: Lost,
    pub(crate) ending: Option<Ending>,
    /// How the app left, where it did and that is known.
    pub(crate) left: Option<String>,
    /// The body has no times: it was imported without.
    pub(crate) untimed: bool,
    /// The body is kept with its content coding undone: of an error, so that secrets in it are masked, and of
    /// an import that came so.
    pub(crate) kept_decoded: bool,
    /// The format to read it as; `None`: detect.
    pub(crate) format: Option<String>,
    /// Time stamps are read off the lines.
    pub(crate) stamps: bool,
}

impl Record {
    /// The path as the app sent it, without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A response header's value; several are joined as HTTP has it.
    pub(crate) fn response_header(&self, name: &str) -> Option<String> {
        header(&self.response.as_ref()?.headers, name)
    }

    /// A request header's value; several are joined as HTTP has it.
    pub(crate) fn request_header(&self, name: &str) -> Option<String> {
        header(&self.headers, name)
    }

    /// Both sides have agreed to speak WebSocket (RFC 6455, section 4).
    pub(crate) fn is_websocket(&self) -> bool {
        self.response.as_ref().is_some_and(ResponseView::is_websocket)
    }

    /// Its messages may be compressed (RFC 7692).
    pub(crate) fn agreed_on_deflate(&self) -> bool {
        let extensions = self.response_header("sec-websocket-extensions").unwrap_or_default();
        extensions.split(',').any(|extension| {
            let name = extension.split(';').next().unwrap_or_default().trim();
            name.eq_ignore_ascii_case("permessage-deflate")
        })
    }

    pub(crate) fn status(&self) -> Option<u16> {
        // 0: only 1xx responses came so far.
        self.response.as_ref().map(|response| response.status).filter(|status| 0 < *status)
    }

    /// Whether this is an error response, in whose body secrets are masked.
    pub(crate) fn is_error(&self) -> bool {
        self.status().is_some_and(|status| 400 <= status)
    }
}

fn header(headers: &[(String, String)], name: &str) -> Option<String> {
    let values: Vec<&str> = headers
        .iter()
        .filter(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}
