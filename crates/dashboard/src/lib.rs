//! The dashboard: pages, a JSON API and live events over the captures.
//!
//! Everything is served from one address, from memory and from the [`Store`]; nothing is fetched from
//! elsewhere, and nothing that was captured is ever rendered as HTML. Requests from other web pages are
//! refused: see the checks on `Host`, `Origin` and `Sec-Fetch-Site`.
//!
//! ```
//! use axum::body::Body;
//! use http::Request;
//! use teeline_capture::{Store, StoreOptions};
//! use teeline_dashboard::{Dashboard, router};
//! use tower::ServiceExt as _;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let router = router(Dashboard {
//!     store: Store::in_memory(StoreOptions::default())?,
//!     proxy_url: "http://127.0.0.1:4780".into(),
//!     upstreams: vec![("openai".into(), "https://api.openai.com".into())],
//!     allowed_hosts: vec![],
//!     address: "127.0.0.1:4781".parse()?,
//!     shutdown: tokio_util::sync::CancellationToken::new(),
//! });
//! let request = Request::get("/healthz").header("host", "127.0.0.1:4781").body(Body::empty())?;
//! assert_eq!(router.oneshot(request).await?.status(), 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accept;
mod api;
mod assets;
mod columns;
mod delete;
mod error;
mod export;
mod frames;
mod live;
mod pages;
mod read;
mod recording;
mod security;
mod undo;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{any, get, post};
use teeline_capture::Store;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::accept::Patient;
use crate::assets::Assets;
use crate::security::Guard;
use crate::undo::Undo;

/// What the dashboard shows, and where it is.
#[derive(Clone)]
pub struct Dashboard {
    /// The captures.
    pub store: Store,
    /// The proxy's URL, for the lines that point an SDK at it.
    pub proxy_url: String,
    /// The upstreams: name and URL.
    pub upstreams: Vec<(String, String)>,
    /// Host names that may be used besides loopback and the bound address.
    pub allowed_hosts: Vec<String>,
    /// The address that the dashboard is bound to.
    pub address: SocketAddr,
    /// Ends the live events, and [`serve`].
    pub shutdown: CancellationToken,
}

/// What the handlers share.
pub(crate) struct Shared {
    pub(crate) dashboard: Dashboard,
    pub(crate) assets: Assets,
    pub(crate) undo: Undo,
    /// Turns for reading pasted streams.
    pub(crate) reads: Semaphore,
}

pub(crate) type State = axum::extract::State<Arc<Shared>>;

/// The largest pasted stream, in bytes. A larger one is answered with 413.
pub const READ_LIMIT: usize = 64 << 20;

/// The largest body of any other request, in bytes: a list of ids.
const BODY_LIMIT: usize = 4 << 20;

/// How long [`serve`] waits for answers under way when it is told to end.
const GRACE: Duration = Duration::from_secs(2);

/// The routes of the contract, section 4, behind the checks that keep other web pages out.
pub fn router(dashboard: Dashboard) -> Router {
    let guard = Arc::new(Guard::new(dashboard.address, &dashboard.allowed_hosts));
    let shared = Arc::new(Shared {
        dashboard,
        assets: Assets::load(),
        undo: Undo::default(),
        reads: Semaphore::new(read::AT_ONCE),
    });
    Router::new()
        .route("/", get(pages::list))
        .route("/captures/{id}", get(pages::capture))
        .route("/read", get(pages::read))
        .route("/compare", get(pages::compare))
        .route("/assets/{version}/{*file}", get(assets::asset))
        .route("/favicon.ico", get(assets::favicon))
        .route("/healthz", get(async || "ok"))
        .route("/api/captures", get(api::list).delete(delete::matching))
        .route("/api/captures/undelete", post(delete::undelete))
        .route("/api/captures/{id}", get(api::capture).delete(delete::one))
        .route("/api/captures/{id}/frames", get(frames::page))
        .route("/api/captures/{id}/columns", get(columns::columns))
        .route("/api/captures/{id}/matches", get(frames::matches))
        .route("/api/captures/{id}/bytes", get(frames::bytes))
        .route("/api/captures/{id}/export", get(export::export))
        .route("/api/captures/{id}/provenance", get(api::provenance))
        .route("/api/captures/{id}/live", get(live::capture))
        .route("/api/recording", get(recording::show).put(recording::set))
        .route("/api/store", get(api::store))
        .route("/api/live", get(live::feed))
        .route("/api/findings", get(api::findings))
        .route("/api/read", post(read::read).layer(DefaultBodyLimit::max(READ_LIMIT)))
        .route("/api/{*rest}", any(error::no_route))
        .fallback(pages::not_found)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(axum::middleware::from_fn(move |request, next| {
            security::check(Arc::clone(&guard), request, next)
        }))
        .with_state(shared)
}

/// Serves the dashboard until `dashboard.shutdown` is cancelled and the answers under way are done, or
/// two seconds later.
///
/// # Errors
///
/// The listener failed.
pub async fn serve(listener: TcpListener, dashboard: Dashboard) -> std::io::Result<()> {
    let shutdown = dashboard.shutdown.clone();
    let stopped = shutdown.clone();
    let serving = axum::serve(Patient::new(listener), router(dashboard))
        .with_graceful_shutdown(async move { shutdown.cancelled().await });
    tokio::select! {
        ended = serving => ended,
        () = async { stopped.cancelled().await; tokio::time::sleep(GRACE).await } => Ok(()),
    }
}
