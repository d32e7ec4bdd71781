//! One request and its response.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Uri, Version, header};
use http_body::Body as _;
use http_body_util::{Either, Full};
use hyper::{
    body::Incoming,
    ext::{self, ReasonPhrase},
    upgrade::{self, OnUpgrade},
};
use teeline_capture::{Ending, Recorder, RequestHead, ResponseHead, Tap};
use tokio_util::sync::CancellationToken;

use crate::{
    Config,
    admit::{self, Verdict},
    exchange::Exchange,
    failure::{Failure, Kind},
    head,
    line::Line,
    link::{Link, Links},
    page,
    spelling::spelled,
    tasks::Tasks,
    tee::{self, Framing, Tee},
    telemetry,
    tls::Tls,
    tunnel::Tunnel,
    upload::{Passage, Upload},
    upstreams::{Route, Upstream},
};

/// What goes to an app: an upstream's body, or one of our own.
pub(crate) type AppBody = Either<Tee, Full<Bytes>>;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) recorder: Recorder,
    pub(crate) tls: Tls,
    pub(crate) tasks: Tasks,
    /// The address the proxy listens on.
    pub(crate) own: SocketAddr,
}

/// One app's connection, as its requests see it.
pub(crate) struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) address: SocketAddr,
    pub(crate) line: Arc<Line>,
    pub(crate) links: Links,
    after: Mutex<After>,
}

/// What matters when hyper is done with the connection.
#[derive(Default)]
struct After {
    /// It goes on in another protocol.
    tunnel: Option<Tunnel>,
    /// How far the last request was read.
    read: Option<Passage>,
}

/// What is remembered of a request until its response comes.
struct Asked {
    head: HeaderMap,
    version: Version,
    upgrade: Option<OnUpgrade>,
}

impl Client {
    pub(crate) fn new(shared: Arc<Shared>, address: SocketAddr, line: Arc<Line>) -> Self {
        Self { shared, address, line, links: Links::default(), after: Mutex::default() }
    }

    /// What the connection is to be used for when hyper has given it up.
    pub(crate) fn take_tunnel(&self) -> Option<Tunnel> {
        self.after().tunnel.take()
    }

    /// Whether the last request's body was read to its end.
    pub(crate) fn has_read_all(&self) -> bool {
        self.after().read.as_ref().is_none_or(Passage::is_whole)
    }

    /// Answers a request, by the upstream's answer if there is one.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<AppBody> {
        let Shared { config, own, .. } = &*self.shared;
        let body = !request.body().is_end_stream();
        let raw = self.line.asked(body);
        self.after().read = body.then(Passage::default);
        let proxy_url = admit::proxy_url(&request, *own);
        let response = match admit::judge(&request, config, &proxy_url) {
            Verdict::Forward(route) => Box::pin(self.forward(route, request, raw)).await,
            Verdict::Page => page::page(config, &proxy_url).map(Full::new).map(Either::Right),
            Verdict::Refuse(failure) => {
                telemetry::refused(self.address, &failure);
                refusal(&failure, request.headers())
            }
        };
        if body && self.has_read_all() {
            self.line.expect();
        }
        if matches!(response.body(), Either::Right(_)) {
            self.line.answered();
        }
        response
    }

    async fn forward(
        &self,
        route: Route,
        request: Request<Incoming>,
        raw: Option<Vec<u8>>,
    ) -> Response<AppBody> {
        let tap = self.begin(&route, &request, raw.as_deref());
        let exchange = Exchange::new(tap, self.shared.tasks.clone());
        self.after().read = Some(exchange.passage().clone());
        let (request, asked) = prepare(&route, request, &exchange);
        let result = match request {
            Ok(request) => self.send(&route.upstream, request, &exchange).await,
            Err(failure) => Err(Lost::Failed(failure)),
        };
        match result {
            Ok(response) => self.pass_on(response, asked, &route.upstream, exchange),
            Err(Lost::AppLeft) => gone(),
            Err(Lost::Failed(failure)) => fail(&failure, &route.upstream, &exchange, &asked.head),
        }
    }

    fn begin(&self, route: &Route, request: &Request<Incoming>, raw: Option<&[u8]>) -> Tap {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        self.shared.recorder.begin(RequestHead {
            upstream: route.upstream.name().to_owned(),
            method: request.method().as_str().to_owned(),
            target: target.to_owned(),
            url: route.url(),
            version: head::version(request.version()),
            headers: spelled(raw, request.headers()),
            client: Some(self.address),
        })
    }

    /// Sends a request on the connection that is open, or on a new one. A request that the upstream
    /// may have seen is never sent again.
    async fn send(
        &self,
        upstream: &Arc<Upstream>,
        mut request: Request<Upload>,
        exchange: &Exchange,
    ) -> Result<Response<Incoming>, Lost> {
        if let Some(mut link) = self.links.take(upstream)
            && link.sender.ready().await.is_ok()
        {
            match self.send_on(link, request, exchange).await {
                Ok(response) => return Ok(response),
                Err(Unsent::Again(unsent)) => request = *unsent,
                Err(Unsent::Lost(lost)) => return Err(lost),
            }
            telemetry::reopened(upstream);
        }
        let Shared { config, tls, tasks, own, .. } = &*self.shared;
        let link = Box::pin(Link::open(upstream, config, tls, tasks, *own)).await?;
        self.send_on(link, request, exchange).await.map_err(|unsent| match unsent {
            Unsent::Lost(lost) => lost,
            Unsent::Again(_) => closed(upstream, "closed the new connection at once").into(),
        })
    }

    async fn send_on(
        &self,
        mut link: Link,
        request: Request<Upload>,
        exchange: &Exchange,
    ) -> Result<Response<Incoming>, Unsent> {
        link.announce(exchange.tap().clone());
        link.passage = exchange.passage().clone();
        match link.sender.try_send_request(request).await {
            Ok(response) => {
                exchange.tap().response(recorded(&response, link.take_head().as_deref()));
                self.links.keep(link);
                Ok(response)
            }
            Err(mut err) => Err(match err.take_message() {
                Some(request) => Unsent::Again(Box::new(request)),
                None if link.passage.is_broken_off() => Unsent::Lost(Lost::AppLeft),
                None => Unsent::Lost(no_answer(&link.upstream, &err.into_error()).into()),
            }),
        }
    }

    /// Makes the app's response of the upstream's.
    fn pass_on(
        &self,
        mut response: Response<Incoming>,
        asked: Asked,
        upstream: &Upstream,
        exchange: Exchange,
    ) -> Response<AppBody> {
        let headers = head::for_app(response.headers(), response.status());
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let Some(app) = asked.upgrade else {
                let failure = closed(upstream, "switched protocols without being asked");
                return fail(&failure, upstream, &exchange, &asked.head);
            };
            let tunnel = Tunnel::new(app, upgrade::on(&mut response), exchange);
            self.after().tunnel = Some(tunnel);
            self.line.tunnel();
            *response.headers_mut() = headers;
            return response.map(|_| Either::Right(Full::default()));
        }
        let framing = framing(&response, asked.version);
        *response.headers_mut() = headers;
        let line = Arc::clone(&self.line);
        response.map(|body| Either::Left(Tee::new(body, framing, exchange, line)))
    }

    fn after(&self) -> MutexGuard<'_, After> {
        self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a request got no answer.
enum Lost {
    /// The app left before it had sent it whole.
    AppLeft,
    Failed(Failure),
}

impl From<Failure> for Lost {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Why a request got no answer on a connection.
enum Unsent {
    /// Nothing of it was sent; here it is.
    Again(Box<Request<Upload>>),
    Lost(Lost),
}

/// The request as it goes upstream, and what has to be remembered of it.
fn prepare(
    route: &Route,
    mut request: Request<Incoming>,
    exchange: &Exchange,
) -> (Result<Request<Upload>, Failure>, Asked) {
    let upgrade = head::asks_for_upgrade(request.headers()).then(|| upgrade::on(&mut request));
    let headers = head::for_upstream(request.headers(), route.upstream.authority());
    let head = std::mem::replace(request.headers_mut(), headers);
    let asked = Asked { version: request.version(), upgrade, head };
    let wanted = CancellationToken::new();
    let (informed, go_on) = (exchange.tap().clone(), wanted.clone());
    ext::on_informational(&mut request, move |response| {
        informed.informational(response.status().as_u16());
        if response.status() == StatusCode::CONTINUE {
            go_on.cancel();
        }
    });
    let mut request = request.map(|body| Upload::new(body, exchange));
    if head::expects_continue(&asked.head) {
        request.body_mut().hold(wanted);
    }
    // The target is the app's own behind a prefix, so only its length can be too much.
    let target = Uri::from_maybe_shared(Bytes::from(route.target.clone()));
    let request = match target {
        Ok(target) => {
            *request.uri_mut() = target;
            Ok(request)
        }
        Err(err) => {
            Err(Failure::new(Kind::BadRequest, format!("the request's path cannot be used: {err}")))
        }
    };
    (request, asked)
}

fn recorded(response: &Response<Incoming>, raw: Option<&[u8]>) -> ResponseHead {
    let reason = response.extensions().get::<ReasonPhrase>();
    ResponseHead {
        status: response.status().as_u16(),
        reason: reason.map(|reason| String::from_utf8_lossy(reason.as_bytes()).into_owned()),
        version: head::version(response.version()),
        headers: spelled(raw, response.headers()),
    }
}

/// How hyper will end the body on the app's connection.
fn framing(response: &Response<Incoming>, asked: Version) -> Framing {
    let old = asked == Version::HTTP_10 || response.version() == Version::HTTP_10;
    let chunked = response.headers().contains_key(header::TRANSFER_ENCODING);
    if response.body().is_end_stream() {
        Framing::Empty
    } else if !chunked && response.headers().contains_key(header::CONTENT_LENGTH) {
        Framing::Marked { chunked: false }
    } else if old {
        Framing::Close
    } else {
        Framing::Marked { chunked: true }
    }
}

/// Ends an exchange with an answer of our own.
fn fail(
    failure: &Failure,
    upstream: &Upstream,
    exchange: &Exchange,
    head: &HeaderMap,
) -> Response<AppBody> {
    telemetry::failed(upstream, failure);
    exchange.end(Ending::Failed {
        kind: failure.kind.as_str().to_owned(),
        message: failure.message.clone(),
    });
    refusal(failure, head)
}

fn refusal(failure: &Failure, head: &HeaderMap) -> Response<AppBody> {
    // Under a forbidden name nothing is for the page's eyes.
    let origin = head.get(header::ORIGIN).filter(|_| failure.kind != Kind::ForbiddenHost);
    failure.response(origin.cloned()).map(Full::new).map(Either::Right)
}

/// For nobody: the app has gone.
fn gone() -> Response<AppBody> {
    let mut response = Response::new(Either::Right(Full::default()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

/// The request was sent, and no response came.
fn no_answer(upstream: &Upstream, err: &hyper::Error) -> Failure {
    if err.is_user() {
        return Failure::new(
            Kind::BadRequest,
            "the request's body has no proper chunks (RFC 9112, section 7.1); look at the app's HTTP library",
        );
    }
    if err.is_parse() {
        return closed(upstream, &format!("did not answer in HTTP/1.1 ({err})"));
    }
    let what = match tee::how(err).as_str() {
        "closed early" => "closed the connection without an answer".to_owned(),
        "reset" => "reset the connection without an answer".to_owned(),
        other => format!("gave no answer ({other})"),
    };
    closed(upstream, &what)
}

fn closed(upstream: &Upstream, what: &str) -> Failure {
    Failure::new(
        Kind::UpstreamClosed,
        format!(
            "{} {what}; look at its log, and at proxies in between. The request is not repeated, \
             since it may have been carried out",
            upstream.url()
        ),
    )
}
