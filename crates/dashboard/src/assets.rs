//! The scripts and styles, embedded in the program.

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rust_embed::RustEmbed;

use crate::State;
use crate::error::ApiError;

#[derive(RustEmbed)]
#[folder = "assets"]
struct Embedded;

/// The embedded files under a path that changes with them, so that browsers may keep them for ever.
pub(crate) struct Assets {
    /// `/assets/…`, the folder in which the files are.
    pub(crate) base: String,
    files: HashMap<String, File>,
}

struct File {
    content_type: &'static str,
    plain: Bytes,
    /// The same packed; `None` if that failed.
    gzip: Option<Bytes>,
}

impl Assets {
    /// Unpacks the files, packs each of them, and names their folder by what is in it.
    pub(crate) fn load() -> Self {
        // FNV-1a: any hash does, an old file only must not keep its path.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut files = HashMap::new();
        for name in Embedded::iter() {
            let Some(file) = Embedded::get(&name) else { continue };
            for byte in name.bytes().chain(file.metadata.sha256_hash()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            let content_type = content_type(&name);
            let plain = match std::str::from_utf8(&file.data) {
                Ok(source) if name.ends_with(".js") || name.ends_with(".css") => {
                    lean(source).into()
                }
                _ => Bytes::from(file.data.into_owned()),
            };
            let gzip = gzip(&plain);
            files.insert(name.into_owned(), File { content_type, plain, gzip });
        }
        Self { base: format!("/assets/{hash:016x}"), files }
    }

    /// The scripts that a script imports, directly or not, by name: a page asks for all of them at once, not for
    /// one after another as they turn up.
    pub(crate) fn modules(&self, script: &str) -> Vec<String> {
        let mut needed = BTreeSet::new();
        let mut unread = vec![script];
        while let Some(file) = unread.pop().and_then(|name| self.files.get(name)) {
            let source = std::str::from_utf8(&file.plain).unwrap_or_default();
            let imported =
                source.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next());
            unread.extend(imported.filter(|name| needed.insert(*name)));
        }
        needed.into_iter().map(str::to_owned).collect()
    }
}

/// A script or a style sheet without its indentation and without the comments that have lines of their own, which are
/// a quarter of what would be sent. Lines keep their numbers. A test holds the sources to what this may do: no text
/// in them goes over several lines.
fn lean(source: &str) -> String {
    let mut lean = String::with_capacity(source.len());
    let mut in_comment = false;
    for line in source.lines().map(str::trim_start) {
        let ends = line.ends_with("*/");
        if in_comment || (line.starts_with("/*") && (ends || !line.contains("*/"))) {
            in_comment = !ends;
        } else if !line.starts_with("//") {
            lean.push_str(line);
        }
        lean.push('\n');
    }
    lean
}

fn gzip(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

fn content_type(file: &str) -> &'static str {
    match file.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// A file. A path of an older build is answered with the file as it is now, not to be kept.
pub(crate) async fn asset(
    state: State,
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Some(file) = state.assets.files.get(&name) else {
        return Err(ApiError::new(StatusCode::NOT_FOUND, format!("there is no asset {name}")));
    };
    let current = state.assets.base.strip_prefix("/assets/") == Some(version.as_str());
    let caching = if current { "public, max-age=31536000, immutable" } else { "no-store" };
    let packed = file.gzip.clone().filter(|_| takes_gzip(&headers));
    let is_packed = packed.is_some();
    let body = packed.unwrap_or_else(|| file.plain.clone());
    let always = [
        (header::CONTENT_TYPE, file.content_type),
        (header::CACHE_CONTROL, caching),
        (header::VARY, "accept-encoding"),
    ];
    let mut response = (always, body).into_response();
    if is_packed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

/// Whether the client takes gzip. `gzip;q=0` is so rare that a client that says it gets the plain file.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted =
        headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .any(|coding| coding.trim().eq_ignore_ascii_case("gzip"))
}

/// Browsers ask for it whatever the page says.
pub(crate) async fn favicon(state: State) -> Redirect {
    Redirect::temporary(&format!("{}/favicon.svg", state.assets.base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lean_scripts_lack_comments_and_indentation_only() {
        let source = concat!(
            "// What it is.\n/** @type {A} */\nlet a;\n/**\n * More.\n */\n  f(/** @type {B} */ (b)); // why\n",
            "  /** @type {C} */ (c).d();\n/* one */\n",
        );
        assert_eq!(
            lean(source),
            "\n\nlet a;\n\n\n\nf(/** @type {B} */ (b)); // why\n/** @type {C} */ (c).d();\n\n"
        );
    }

    /// What goes over several lines would lose its indentation.
    #[test]
    fn no_text_of_a_script_goes_over_several_lines() {
        for name in Embedded::iter().filter(|name| name.ends_with(".js")) {
            let file = Embedded::get(&name).unwrap();
            let source = std::str::from_utf8(&file.data).unwrap();
            let code = lean(source);
            for (number, line) in (1..).zip(code.lines()) {
                let ticks = line.replace(r"\\", "").replace(r"\`", "").matches('`').count();
                assert!(ticks % 2 == 0, "{name}:{number}: {line}");
                assert!(!line.contains("*/") || line.contains("/*"), "{name}:{number}: {line}");
            }
        }
    }
}
