//! The secret values of one request.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use memchr::memmem;

use super::urls;

/// Shorter values are not searched for: they would be found in every text.
const SHORTEST: usize = 4;

/// Cookies are often plain words (`theme=dark`); only longer values are searched for.
const SHORTEST_COOKIE: usize = 12;

/// At most so many values of one request are searched for.
const MOST: usize = 64;

/// The exact secret values of a request, to be masked wherever they come back. In memory only.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    /// Longest first, so that one which holds another is masked whole.
    values: Vec<Box<[u8]>>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds a value and the spellings in which it is quoted: in JSON and in URLs.
    pub(super) fn add(&mut self, value: &str) {
        if value.len() < SHORTEST {
            return;
        }
        self.insert(value.as_bytes());
        let encoded = urls::encode(value);
        self.insert(encoded.as_bytes());
        self.insert(encoded.to_ascii_lowercase().as_bytes());
        if let Ok(quoted) = serde_json::to_string(value) {
            self.insert(quoted.trim_matches('"').as_bytes());
        }
    }

    /// Adds a value from a URL, as it is spelled there and decoded; of `user:password` the password, too.
    pub(super) fn add_encoded(&mut self, value: &str) {
        self.add(value);
        self.add(&urls::decode(value));
        if let Some((_, password)) = value.split_once(':') {
            self.add(password);
            self.add(&urls::decode(password));
        }
    }

    /// Adds what `Basic` credentials hold.
    pub(super) fn add_basic(&mut self, credentials: &str) {
        let decoded = STANDARD
            .decode(credentials)
            .or_else(|_| URL_SAFE_NO_PAD.decode(credentials.trim_end_matches('=')));
        if let Ok(text) = decoded.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) {
            self.add(&text);
            if let Some((_, password)) = text.split_once(':') {
                self.add(password);
            }
        }
    }

    /// Adds a cookie header and its values.
    pub(super) fn add_cookies(&mut self, header: &str) {
        self.add(header);
        for cookie in header.split(';') {
            let value = cookie.split_once('=').map_or(cookie, |(_, value)| value).trim();
            if SHORTEST_COOKIE <= value.len() {
                self.add(value.trim_matches('"'));
            }
        }
    }

    fn insert(&mut self, value: &[u8]) {
        let fits = SHORTEST <= value.len() && self.values.len() < MOST;
        if fits && !self.values.iter().any(|known| **known == *value) {
            let place = self.values.partition_point(|known| value.len() <= known.len());
            self.values.insert(place, value.into());
        }
    }

    /// Overwrites every occurrence with `*`, length kept.
    pub(crate) fn mask(&self, data: &mut [u8]) {
        for value in &self.values {
            let finder = memmem::Finder::new(value);
            let mut from = 0;
            while let Some(at) = data.get(from..).and_then(|rest| finder.find(rest)) {
                let end = from + at + value.len();
                if let Some(found) = data.get_mut(from + at..end) {
                    found.fill(b'*');
                }
                from = end;
            }
        }
    }

    /// [`Secrets::mask`] for text.
    pub(crate) fn mask_text(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.mask(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// How many bytes at the end of `data` may be the beginning of a value whose rest is still to come.
    pub(crate) fn held(&self, data: &[u8]) -> usize {
        let begins = |tail: &&[u8]| {
            self.values.iter().any(|value| tail.len() < value.len() && value.starts_with(tail))
        };
        let longest = self.values.first().map_or(0, |value| value.len().saturating_sub(1));
        let from = data.len().saturating_sub(longest);
        (from..data.len()).filter_map(|start| data.get(start..)).find(begins).map_or(0, <[u8]>::len)
    }
}
