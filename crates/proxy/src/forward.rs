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
    ext,
    upgrade::{self, OnUpgrade},
};
use teeline_capture::{Ending, Recorder, RequestHead, Tap};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::{
    Config,
    admit::{self, Verdict},
    connector::Connector,
    exchange::Exchange,
    failure::{Failure, Kind},
    head,
    link::Links,
    outlet::Outlet,
    page,
    received::Received,
    send::{Abandoned, Lost, closed},
    spelling::spelled,
    tasks::Tasks,
    tee::{Framing, Tee},
    telemetry,
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
    /// The way to upstreams.
    pub(crate) connector: Connector,
    /// For apps that speak TLS, if there is a certificate.
    pub(crate) acceptor: Option<TlsAcceptor>,
    pub(crate) tasks: Tasks,
    /// The address the proxy listens on.
    pub(crate) own: SocketAddr,
}

/// One app's connection, as its requests see it.
pub(crate) struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) address: SocketAddr,
    /// Whether it is encrypted.
    secure: bool,
    pub(crate) links: Arc<Links>,
    after: Mutex<After>,
}

/// What matters when hyper is done with an HTTP/1 connection.
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
    pub(crate) fn new(shared: Arc<Shared>, address: SocketAddr, secure: bool) -> Self {
        Self { shared, address, secure, links: Arc::default(), after: Mutex::default() }
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
    pub(crate) async fn answer(
        &self,
        request: Request<Received>,
        outlet: Outlet,
    ) -> Response<AppBody> {
        let Shared { config, own, .. } = &*self.shared;
        let body = !request.body().is_end_stream();
        let raw = outlet.asked(body);
        self.after().read = body.then(Passage::default);
        let proxy_url = admit::proxy_url(&request, *own, self.secure);
        let response = match admit::judge(&request, config, &proxy_url) {
            Verdict::Forward(route) => Box::pin(self.forward(route, request, raw, &outlet)).await,
            Verdict::Page => page::page(config, &proxy_url).map(Full::new).map(Either::Right),
            Verdict::Refuse(failure) => {
                telemetry::refused(self.address, &failure);
                self.list(&failure, &request, raw.as_deref());
                refusal(&failure, request.headers())
            }
        };
        outlet.informed().await;
        let own = matches!(response.body(), Either::Right(_));
        outlet.answered(own, body && self.has_read_all());
        response
    }

    async fn forward(
        &self,
        route: Route,
        request: Request<Received>,
        raw: Option<Vec<u8>>,
        outlet: &Outlet,
    ) -> Response<AppBody> {
        let tap = self.begin(&route, &request, raw.as_deref());
        let exchange = Exchange::new(tap, self.shared.tasks.clone(), outlet.clone());
        self.after().read = Some(exchange.passage().clone());
        let (request, asked) = prepare(&route, request, &exchange, outlet);
        let result = match request {
            Ok(request) => self.send(&route.upstream, request, &exchange, outlet).await,
            Err(failure) => Err(Lost::Failed(failure)),
        };
        match result {
            Ok(response) => self.pass_on(response, asked, &route.upstream, exchange, outlet),
            Err(Lost::AppLeft) => gone(),
            Err(Lost::Refused(reason, failure)) => {
                let mut response = fail(&failure, &route.upstream, &exchange, &asked.head);
                response.extensions_mut().insert(Abandoned(reason));
                response
            }
            Err(Lost::Failed(failure)) => fail(&failure, &route.upstream, &exchange, &asked.head),
        }
    }

    /// Lists a request that goes nowhere, so that a wrong base URL is seen where one looks for its streams. What a
    /// web page may have sent under a name of its own, or a browser of its own accord, is not listed.
    fn list(&self, failure: &Failure, request: &Request<Received>, raw: Option<&[u8]>) {
        if failure.kind == Kind::ForbiddenHost || request.uri().path() == "/favicon.ico" {
            return;
        }
        let tap = self.record(None, String::new(), request, raw);
        tap.request_end(request.body().is_end_stream());
        tap.end(Ending::Failed {
            kind: failure.kind.as_str().to_owned(),
            message: failure.message.clone(),
        });
    }

    fn begin(&self, route: &Route, request: &Request<Received>, raw: Option<&[u8]>) -> Tap {
        self.record(Some(&route.upstream), route.url(), request, raw)
    }

    fn record(
        &self,
        upstream: Option<&Upstream>,
        url: String,
        request: &Request<Received>,
        raw: Option<&[u8]>,
    ) -> Tap {
        let mut headers = spelled(raw, request.headers());
        if let Some(own) = upstream.map(Upstream::headers) {
            // What the upstream gets is recorded: that is what somebody needs who asks its provider.
            headers.retain(|(name, _)| !own.contains_key(name));
            headers.extend(head::recorded(own));
        }
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        self.shared.recorder.begin(RequestHead {
            upstream: upstream.map(|upstream| upstream.name().to_owned()).unwrap_or_default(),
            method: request.method().as_str().to_owned(),
            target: target.to_owned(),
            url,
            version: head::version(request.version()),
            headers,
            client: Some(self.address),
        })
    }

    /// Makes the app's response of the upstream's.
    fn pass_on(
        &self,
        mut response: Response<Received>,
        asked: Asked,
        upstream: &Upstream,
        exchange: Exchange,
        outlet: &Outlet,
    ) -> Response<AppBody> {
        let mut headers = head::for_app(response.headers(), response.status());
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let (Some(app), Outlet::Http1(line)) = (asked.upgrade, outlet) else {
                let failure = closed(upstream, "switched protocols without being asked");
                return fail(&failure, upstream, &exchange, &asked.head);
            };
            let tunnel = Tunnel::new(app, upgrade::on(&mut response), exchange);
            self.after().tunnel = Some(tunnel);
            line.tunnel();
            *response.headers_mut() = headers;
            return response.map(|_| Either::Right(Full::default()));
        }
        let framing = framing(&response, asked.version);
        if outlet.is_http2() {
            headers = head::in_http2(&headers);
            *response.version_mut() = Version::HTTP_2;
        } else if response.version() == Version::HTTP_2 {
            *response.version_mut() = Version::HTTP_11;
        }
        *response.headers_mut() = headers;
        let outlet = outlet.clone();
        response.map(|body| Either::Left(Tee::new(body, framing, exchange, outlet)))
    }

    fn after(&self) -> MutexGuard<'_, After> {
        self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The request as it goes upstream, and what has to be remembered of it.
fn prepare(
    route: &Route,
    mut request: Request<Received>,
    exchange: &Exchange,
    outlet: &Outlet,
) -> (Result<Request<Upload>, Failure>, Asked) {
    let upgrade = head::asks_for_upgrade(request.headers()).then(|| upgrade::on(&mut request));
    let (version, host) = (request.version(), route.upstream.authority());
    let mut headers = head::for_upstream(request.headers(), version, host);
    head::put(route.upstream.headers(), &mut headers);
    let head = std::mem::replace(request.headers_mut(), headers);
    let asked = Asked { head, version, upgrade };
    let wanted = CancellationToken::new();
    let (informed, go_on, forward) = (exchange.tap().clone(), wanted.clone(), outlet.clone());
    let wire = exchange.wire().clone();
    // An app that waits for a 100 gets hyper's; one that speaks HTTP/1.0 knows no 1xx.
    let waits = !outlet.is_http2() && head::expects_continue(&asked.head);
    let knows = version != Version::HTTP_10;
    ext::on_informational(&mut request, move |response| {
        informed.informational(response.status().as_u16());
        let mut interim = Response::new(());
        *interim.status_mut() = response.status();
        interim.headers_mut().clone_from(response.headers());
        let raw = wire.take_interim();
        if knows && !(waits && response.status() == StatusCode::CONTINUE) {
            forward.informational(interim, raw.as_deref());
        }
        if response.status() == StatusCode::CONTINUE {
            go_on.cancel();
        }
    });
    let mut request = request.map(|body| Upload::new(body, exchange));
    if waits {
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

/// How hyper will end the body on the app's connection.
fn framing(response: &Response<Received>, asked: Version) -> Framing {
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
