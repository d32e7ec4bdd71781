//! Which upstreams there are, and which one a request is for.

use std::{fmt, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Uri};

use crate::{Config, TlsSettings, head};

/// An API that requests are passed on to.
///
/// ```
/// use teeline_proxy::Upstream;
///
/// let upstream = Upstream::new("openrouter", "https://openrouter.ai/api/")?;
/// assert_eq!(upstream.url(), "https://openrouter.ai/api");
/// assert!(Upstream::new("files", "ftp://example.com").is_err());
/// # Ok::<(), teeline_proxy::UpstreamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    name: String,
    tls: bool,
    /// Without brackets, as it is resolved.
    host: String,
    port: u16,
    /// The value of `Host`: the authority, without the scheme's own port.
    authority: HeaderValue,
    /// What stands before the request's path; no slash at its end.
    path: String,
    tls_settings: TlsSettings,
    connect_timeout: Option<Duration>,
    headers: HeaderMap,
}

/// An upstream cannot be used as it was given.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum UpstreamError {
    /// The name would not be found in a path.
    #[error("the upstream name `{0}` must consist of letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// The URL is not one that requests can be sent to.
    #[error("the URL of upstream `{name}` {fault}")]
    Url {
        /// The upstream.
        name: String,
        /// What is wrong, as the end of a sentence.
        fault: &'static str,
    },
    /// A header is not one that can be sent with every request.
    #[error("the header `{header}` of upstream `{name}` {fault}")]
    Header {
        /// The upstream.
        name: String,
        /// The header's name.
        header: String,
        /// What is wrong, as the end of a sentence.
        fault: &'static str,
    },
}

impl Upstream {
    /// Checks a name and a URL. The URL's path is put before each request's path.
    ///
    /// # Errors
    ///
    /// The name has other characters than letters, digits, `-`, `_`, `.`; the URL is not absolute,
    /// is neither `http` nor `https`, or has credentials or a query in it.
    pub fn new(name: &str, url: &str) -> Result<Self, UpstreamError> {
        let fault = |fault| UpstreamError::Url { name: name.to_owned(), fault };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) || matches!(name, "." | "..") {
            return Err(UpstreamError::Name(name.to_owned()));
        }
        let uri: Uri = url.parse().map_err(|_| fault("cannot be read"))?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err(fault("must begin with http:// or https://")),
            None => return Err(fault("must be whole, like https://api.example.com/v1")),
        };
        let authority = uri.authority().ok_or_else(|| fault("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(fault("has credentials in it: let the app send them in a header"));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(fault("must end with its path, without ? or #"));
        }
        let host = authority.host();
        let standard = if tls { 443 } else { 80 };
        let port = authority.port_u16().unwrap_or(standard);
        let shown = if port == standard { host.to_owned() } else { format!("{host}:{port}") };
        Ok(Self {
            name: name.to_owned(),
            tls,
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            authority: shown.parse().map_err(|_| fault("has a host that cannot be used"))?,
            path: uri.path().trim_end_matches('/').to_owned(),
            tls_settings: TlsSettings::default(),
            connect_timeout: None,
            headers: HeaderMap::new(),
        })
    }

    /// With TLS of its own kind.
    #[must_use]
    pub fn with_tls(self, settings: TlsSettings) -> Self {
        Self { tls_settings: settings, ..self }
    }

    /// With a time limit of its own for connecting to it.
    #[must_use]
    pub fn with_connect_timeout(self, limit: Duration) -> Self {
        Self { connect_timeout: Some(limit), ..self }
    }

    /// With headers that are sent with every request, in place of those of that name which the app sends. Nothing
    /// shows their values: whoever wires the proxy has the capture redact these names.
    ///
    /// # Errors
    ///
    /// A name or a value is none (RFC 9110, section 5), or the header is about the connection or the body's
    /// length, which are the proxy's own affair.
    pub fn with_headers<'a>(
        mut self,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, UpstreamError> {
        for (header, value) in headers {
            let fault = |fault| UpstreamError::Header {
                name: self.name.clone(),
                header: header.to_owned(),
                fault,
            };
            let name: HeaderName = header.parse().map_err(|_| fault("has a name that is none"))?;
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| fault("has a value that no header can have"))?;
            value.set_sensitive(true);
            if head::is_of_connection(&name) {
                return Err(fault("is about the connection and cannot be given"));
            }
            self.headers.insert(name, value);
        }
        Ok(self)
    }

    /// The headers that are sent with every request.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Whether its certificate is not checked.
    pub fn is_insecure(&self) -> bool {
        self.tls && self.tls_settings.insecure
    }

    pub(crate) fn tls_settings(&self) -> &TlsSettings {
        &self.tls_settings
    }

    pub(crate) fn connect_timeout(&self, config: &Config) -> Duration {
        self.connect_timeout.unwrap_or(config.connect_timeout)
    }

    /// The first path segment that leads to it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is, without a slash at the end.
    pub fn url(&self) -> String {
        format!("{}{}", self.origin(), self.path)
    }

    /// Scheme and authority.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        // It was made from a string.
        format!("{scheme}://{}", self.authority.to_str().unwrap_or_default())
    }

    pub(crate) fn uses_tls(&self) -> bool {
        self.tls
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn authority(&self) -> &HeaderValue {
        &self.authority
    }
}

/// All upstreams: the built-in ones, those configured, and the one for everything else.
///
/// ```
/// use teeline_proxy::Upstreams;
///
/// let mut upstreams = Upstreams::default();
/// assert_eq!(upstreams.iter().count(), 13);
/// upstreams.add("ollama", "http://192.168.1.7:11434")?;          // replaces the built-in one
/// assert_eq!(upstreams.iter().count(), 13);
/// upstreams.add("default", "https://example.openai.azure.com")?; // switches the built-in ones off
/// let names: Vec<_> = upstreams.iter().map(|upstream| upstream.name()).collect();
/// assert_eq!(names, ["ollama", "default"]);
/// # Ok::<(), teeline_proxy::UpstreamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Upstreams {
    built_in: Vec<Arc<Upstream>>,
    configured: Vec<Arc<Upstream>>,
    default: Option<Arc<Upstream>>,
}

/// Built in (contract, section 2).
const BUILT_IN: [(&str, &str); 13] = [
    ("openai", "https://api.openai.com"),
    ("anthropic", "https://api.anthropic.com"),
    ("gemini", "https://generativelanguage.googleapis.com"),
    ("xai", "https://api.x.ai"),
    ("deepseek", "https://api.deepseek.com"),
    ("openrouter", "https://openrouter.ai/api"),
    ("groq", "https://api.groq.com/openai"),
    ("mistral", "https://api.mistral.ai"),
    ("together", "https://api.together.xyz"),
    ("cohere", "https://api.cohere.com"),
    ("ollama", "http://127.0.0.1:11434"),
    ("vllm", "http://127.0.0.1:8000"),
    ("lmstudio", "http://127.0.0.1:1234"),
];

/// The name of the upstream that takes what no other takes.
const DEFAULT: &str = "default";

impl Default for Upstreams {
    /// The built-in ones.
    fn default() -> Self {
        let parsed = BUILT_IN.iter().filter_map(|(name, url)| Upstream::new(name, url).ok());
        Self { built_in: parsed.map(Arc::new).collect(), configured: Vec::new(), default: None }
    }
}

impl Upstreams {
    /// Adds an upstream or replaces the one of that name. `default` takes every request whose first
    /// segment names no configured upstream, with its whole path; the built-in names are off then.
    ///
    /// # Errors
    ///
    /// As [`Upstream::new`].
    pub fn add(&mut self, name: &str, url: &str) -> Result<(), UpstreamError> {
        self.insert(Upstream::new(name, url)?);
        Ok(())
    }

    /// As [`Upstreams::add`].
    pub fn insert(&mut self, upstream: Upstream) {
        let upstream = Arc::new(upstream);
        if upstream.name == DEFAULT {
            self.default = Some(upstream);
            return;
        }
        self.built_in.retain(|known| known.name != upstream.name);
        self.configured.retain(|known| known.name != upstream.name);
        self.configured.push(upstream);
    }

    /// Those that can be reached: the configured ones first, in the order they were added, then
    /// `default` or else the built-in ones.
    pub fn iter(&self) -> impl Iterator<Item = &Upstream> {
        self.named().chain(&self.default).map(|upstream| &**upstream)
    }

    /// The base URL an app has to use for `upstream`, where the proxy is at `proxy_url`.
    pub fn base_url(proxy_url: &str, upstream: &Upstream) -> String {
        if upstream.name == DEFAULT {
            proxy_url.to_owned()
        } else {
            format!("{proxy_url}/{}", upstream.name)
        }
    }

    fn named(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        let built_in = if self.default.is_some() { &[][..] } else { &self.built_in[..] };
        self.configured.iter().chain(built_in)
    }

    /// Which upstream `target` (path and query) is for, and what is to be asked of it. Nothing in
    /// the target is decoded or changed.
    pub(crate) fn route(&self, target: &str) -> Option<Route> {
        let segment = first_segment(target)?;
        if let Some(upstream) = self.named().find(|upstream| upstream.name == segment) {
            let rest = target.get(1 + segment.len()..).unwrap_or_default();
            return Some(Route::new(upstream, rest));
        }
        self.default.as_ref().map(|upstream| Route::new(upstream, target))
    }
}

/// `None` for what is no path, such as the `*` of OPTIONS.
pub(crate) fn first_segment(target: &str) -> Option<&str> {
    target.strip_prefix('/')?.split(['/', '?']).next()
}

/// Where a request goes.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) upstream: Arc<Upstream>,
    /// Path and query, in origin form.
    pub(crate) target: String,
}

impl Route {
    fn new(upstream: &Arc<Upstream>, rest: &str) -> Self {
        let slash = if upstream.path.is_empty() && !rest.starts_with('/') { "/" } else { "" };
        let target = format!("{}{slash}{rest}", upstream.path);
        Self { upstream: Arc::clone(upstream), target }
    }

    /// The whole URL.
    pub(crate) fn url(&self) -> String {
        format!("{}{}", self.upstream.origin(), self.target)
    }
}

impl fmt::Display for Upstream {
    /// `name (URL)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.url())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(rules: &[(&str, &str)]) -> Upstreams {
        let mut upstreams = Upstreams::default();
        for (name, url) in rules {
            upstreams.add(name, url).unwrap();
        }
        upstreams
    }

    #[test]
    fn every_built_in_upstream_can_be_read() {
        let built_in: Vec<_> = Upstreams::default()
            .iter()
            .map(|upstream| (upstream.name.clone(), upstream.url()))
            .collect();
        let expected: Vec<_> =
            BUILT_IN.iter().map(|&(name, url)| (name.to_owned(), url.to_owned())).collect();
        assert_eq!(built_in, expected);
    }

    #[test]
    fn the_first_segment_leads_and_the_rest_is_kept_byte_for_byte() {
        let upstreams = configured(&[("local", "http://127.0.0.1:9/base/")]);
        let table = [
            ("/openai/v1/chat/completions", Some("https://api.openai.com/v1/chat/completions")),
            ("/openrouter/v1/models?a=b", Some("https://openrouter.ai/api/v1/models?a=b")),
            ("/openai", Some("https://api.openai.com/")),
            ("/openai/", Some("https://api.openai.com/")),
            ("/openai?key=1", Some("https://api.openai.com/?key=1")),
            (
                "/openai//a/../b%2Fc/%2e%2e?q=%20//",
                Some("https://api.openai.com//a/../b%2Fc/%2e%2e?q=%20//"),
            ),
            ("/local", Some("http://127.0.0.1:9/base")),
            ("/local?x", Some("http://127.0.0.1:9/base?x")),
            ("/local/y", Some("http://127.0.0.1:9/base/y")),
            ("/OpenAI/v1", None),
            ("/open%61i/v1", None),
            ("//openai/v1", None),
            ("/openai2/v1", None),
            ("/", None),
            ("*", None),
        ];
        for (target, expected) in table {
            let url = upstreams.route(target).map(|route| route.url());
            assert_eq!(url.as_deref(), expected, "{target}");
        }
    }

    #[test]
    fn default_takes_whole_paths_and_hides_the_built_in_names() {
        let upstreams =
            configured(&[("mine", "http://10.0.0.1"), ("default", "https://x.openai.azure.com/a")]);
        let table = [
            (
                "/openai/deployments/d?api-version=1",
                "https://x.openai.azure.com/a/openai/deployments/d?api-version=1",
            ),
            ("/", "https://x.openai.azure.com/a/"),
            ("//x", "https://x.openai.azure.com/a//x"),
            ("/mine/v1", "http://10.0.0.1/v1"),
        ];
        for (target, expected) in table {
            assert_eq!(upstreams.route(target).unwrap().url(), expected, "{target}");
        }
    }

    #[test]
    fn headers_of_its_own_are_checked_and_not_shown() {
        let upstream = || Upstream::new("gateway", "http://h").unwrap();
        let whole = upstream().with_headers([("X-Pass", "planted-pass")]).unwrap();
        assert_eq!(whole.headers()["x-pass"], "planted-pass");
        assert!(!format!("{whole:?}").contains("planted-pass"));
        for (name, value, word) in [
            ("Host", "h", "about the connection"),
            ("content-length", "3", "about the connection"),
            ("Transfer-Encoding", "chunked", "about the connection"),
            ("a b", "c", "a name that is none"),
            ("a", "b\r\nc: d", "no header can have"),
        ] {
            let fault = upstream().with_headers([(name, value)]).unwrap_err().to_string();
            assert!(fault.contains(word) && fault.contains("gateway"), "{name}: {fault}");
        }
    }

    #[test]
    fn hosts_and_ports_are_told_apart() {
        let table = [
            ("https://h:443/x", "h", "h", 443, true),
            ("https://h:80", "h:80", "h", 80, true),
            ("http://h", "h", "h", 80, false),
            ("http://[::1]:8000", "[::1]:8000", "::1", 8000, false),
        ];
        for (url, authority, host, port, tls) in table {
            let upstream = Upstream::new("u", url).unwrap();
            assert_eq!(upstream.authority, authority, "{url}");
            assert_eq!(
                (upstream.host(), upstream.port(), upstream.uses_tls()),
                (host, port, tls),
                "{url}"
            );
        }
    }

    #[test]
    fn what_cannot_work_is_refused_with_the_reason() {
        let table = [
            ("a b", "http://h", "the upstream name `a b` must"),
            ("", "http://h", "the upstream name `` must"),
            ("..", "http://h", "the upstream name `..` must"),
            ("u", "api.example.com", "must be whole"),
            ("u", "ftp://h", "must begin with"),
            ("u", "https://user:pass@h", "has credentials in it"),
            ("u", "https://h/?a=b", "must end with its path"),
            ("u", "https://h/#a", "must end with its path"),
            ("u", "http://", "cannot be read"),
        ];
        for (name, url, expected) in table {
            let message = Upstream::new(name, url).unwrap_err().to_string();
            assert!(message.contains(expected), "{name} {url}: {message}");
            assert!(!message.contains("pass"), "{message}");
        }
    }
}
