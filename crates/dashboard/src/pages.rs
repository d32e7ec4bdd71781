//! The pages: a frame around what the scripts fill in. Everything in it is escaped by the templates.

use askama::Template;
use axum::extract::Path;
use axum::response::{Html, IntoResponse, Response};
use http::{StatusCode, Uri};

use crate::State;
use crate::api::blocking;
use crate::error::ApiError;

/// What every page has.
struct Shell {
    assets: String,
    page: &'static str,
    proxy_url: String,
    proxy_host: String,
    proxy_port: String,
    upstreams_json: String,
    /// Scripts that the page's own one needs, to be asked for at once.
    modules: Vec<String>,
}

impl Shell {
    fn new(state: &State, page: &'static str) -> Self {
        let proxy_url = state.dashboard.proxy_url.clone();
        let authority = proxy_url.split_once("://").map_or(proxy_url.as_str(), |(_, rest)| rest);
        let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "80"));
        Self {
            assets: state.assets.base.clone(),
            page,
            proxy_host: host.to_owned(),
            proxy_port: port.trim_end_matches('/').to_owned(),
            upstreams_json: serde_json::to_string(&state.dashboard.upstreams).unwrap_or_default(),
            proxy_url,
            modules: state.assets.modules(&format!("{page}.js")),
        }
    }
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage {
    shell: Shell,
}

#[derive(Template)]
#[template(path = "capture.html")]
struct CapturePage {
    shell: Shell,
    title: String,
    id: String,
    short_id: String,
}

#[derive(Template)]
#[template(path = "read.html")]
struct ReadPage {
    shell: Shell,
    formats: Vec<&'static str>,
}

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    shell: Shell,
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    shell: Shell,
    /// The title's key in the catalogue of words.
    key: &'static str,
    title: &'static str,
    message: String,
}

fn render(page: &impl Template) -> Result<Html<String>, ApiError> {
    page.render().map(Html).map_err(|error| {
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("the page could not be made: {error}"),
        )
    })
}

/// `GET /`
pub(crate) async fn list(state: State) -> Result<Html<String>, ApiError> {
    render(&ListPage { shell: Shell::new(&state, "list") })
}

/// `GET /captures/{id}`; a unique beginning of an id will do.
pub(crate) async fn capture(state: State, Path(id): Path<String>) -> Result<Response, ApiError> {
    let found = blocking(&state, move |store| Ok(store.summary(store.find(&id)?)?)).await;
    let summary = match found {
        Ok(summary) => summary,
        Err(error) => return problem(&state, error.status, &NO_CAPTURE, error.message),
    };
    let id = summary.id.to_string();
    let model = summary.model.unwrap_or_else(|| summary.path.clone());
    let page = CapturePage {
        shell: Shell::new(&state, "capture"),
        title: format!("{} {model}", summary.upstream),
        // The end of an id is its random part; the beginning is shared by all captures of the same minute.
        short_id: id.rsplit_once('-').map_or(id.clone(), |(_, end)| end.to_owned()),
        id,
    };
    Ok(render(&page)?.into_response())
}

/// `GET /read`
pub(crate) async fn read(state: State) -> Result<Html<String>, ApiError> {
    let formats = crate::read::format_names();
    render(&ReadPage { shell: Shell::new(&state, "read"), formats })
}

/// `GET /compare?a=&b=`
pub(crate) async fn compare(state: State) -> Result<Html<String>, ApiError> {
    render(&ComparePage { shell: Shell::new(&state, "compare") })
}

/// Any other path.
pub(crate) async fn not_found(state: State, uri: Uri) -> Result<Response, ApiError> {
    problem(&state, StatusCode::NOT_FOUND, &NO_PAGE, format!("There is nothing at {}.", uri.path()))
}

/// Titles: their keys in the catalogue of words, and the words.
type Title = (&'static str, &'static str);
const NO_CAPTURE: Title = ("problem.no-capture", "No such capture");
const NO_PAGE: Title = ("problem.no-page", "No such page");

fn problem(
    state: &State,
    status: StatusCode,
    &(key, title): &Title,
    message: String,
) -> Result<Response, ApiError> {
    let page = ProblemPage { shell: Shell::new(state, "problem"), key, title, message };
    Ok((status, render(&page)?).into_response())
}
