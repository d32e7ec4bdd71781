//! The scripts and styles, embedded in the program.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::{StatusCode, header};
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
}

impl Assets {
    /// Names the folder by what is in it.
    pub(crate) fn load() -> Self {
        // FNV-1a: any hash does, an old file only must not keep its path.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for file in Embedded::iter() {
            let digest = Embedded::get(&file).map(|file| file.metadata.sha256_hash());
            for byte in file.bytes().chain(digest.into_iter().flatten()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        Self { base: format!("/assets/{hash:016x}") }
    }
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
    Path((version, file)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let Some(found) = Embedded::get(&file) else {
        return Err(ApiError::new(StatusCode::NOT_FOUND, format!("there is no asset {file}")));
    };
    let current = state.assets.base.strip_prefix("/assets/") == Some(version.as_str());
    let caching = if current { "public, max-age=31536000, immutable" } else { "no-store" };
    let headers = [(header::CONTENT_TYPE, content_type(&file)), (header::CACHE_CONTROL, caching)];
    Ok((headers, found.data.into_owned()).into_response())
}

/// Browsers ask for it whatever the page says.
pub(crate) async fn favicon(state: State) -> Redirect {
    Redirect::temporary(&format!("{}/favicon.svg", state.assets.base))
}
