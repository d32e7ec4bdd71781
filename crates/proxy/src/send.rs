//! A request on its way to the upstream, until the response's head comes.

use std::sync::Arc;

use h2::Reason;
use http::{Request, Response, Uri, Version, uri::PathAndQuery};
use http_body::Body as _;
use hyper::body::Incoming;
use teeline_capture::ResponseHead;

use crate::{
    exchange::Exchange,
    failure::{Failure, Kind},
    forward::Client,
    head,
    http2::{self, Unanswered, is_unprocessed},
    link::{ForHttp2, Keeper, Link},
    outlet::Outlet,
    received::{self, Broken, Received},
    spelling::spelled,
    telemetry,
    upload::Upload,
    upstreams::Upstream,
};

/// Why a request got no answer.
pub(crate) enum Lost {
    /// The app left before it had sent it whole.
    AppLeft,
    /// The upstream says by this code that the app's library may or should try again.
    Refused(Reason, Failure),
    Failed(Failure),
}

impl From<Failure> for Lost {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// In a response's extensions: the stream is to be reset with this code instead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abandoned(pub(crate) Reason);

/// Why a request got no answer on a connection.
enum Unsent {
    /// Nothing of it was sent; here it is.
    Again(Box<Request<Upload>>),
    Lost(Lost),
}

impl Client {
    /// Sends a request as the app would: an HTTP/2 app's in HTTP/2, if the upstream speaks it.
    pub(crate) async fn send(
        &self,
        upstream: &Arc<Upstream>,
        request: Request<Upload>,
        exchange: &Exchange,
        outlet: &Outlet,
    ) -> Result<Response<Received>, Lost> {
        if outlet.is_http2() {
            self.send_mirrored(upstream, request, exchange, outlet).await
        } else {
            self.send_http1(upstream, request, exchange, None).await
        }
    }

    /// Sends a request on the connection that is open, or on a new one, such as `fresh`. A request
    /// that the upstream may have seen is never sent again.
    async fn send_http1(
        &self,
        upstream: &Arc<Upstream>,
        mut request: Request<Upload>,
        exchange: &Exchange,
        fresh: Option<Link>,
    ) -> Result<Response<Received>, Lost> {
        if fresh.is_none()
            && let Some(mut link) = self.links.take(upstream)
            && link.sender.ready().await.is_ok()
        {
            match self.send_on(link, request, exchange).await {
                Ok(response) => return Ok(response),
                Err(Unsent::Again(unsent)) => request = *unsent,
                Err(Unsent::Lost(lost)) => return Err(lost),
            }
            telemetry::reopened(upstream);
        }
        let link = match fresh {
            Some(link) => link,
            None => Box::pin(Link::open(upstream, &self.shared)).await?,
        };
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
    ) -> Result<Response<Received>, Unsent> {
        link.announce(exchange.tap().clone());
        exchange.wire().set(link.wire());
        link.passage = exchange.passage().clone();
        let mirrored = request.version() != Version::HTTP_2;
        match link.sender.try_send_request(request).await {
            Ok(response) => {
                exchange.tap().response(recorded(&response, link.take_head().as_deref()));
                Ok(self.hold(link, response, mirrored))
            }
            Err(mut err) => Err(match err.take_message() {
                Some(request) => Unsent::Again(Box::new(request)),
                None if link.passage.is_broken_off() => Unsent::Lost(Lost::AppLeft),
                None => Unsent::Lost(no_answer(&link.upstream, &err.into_error()).into()),
            }),
        }
    }

    /// Keeps the connection for the response. An HTTP/1.1 app sends nothing else meanwhile; the
    /// streams of an HTTP/2 app would wait for one another, so each has its own until it is done.
    fn hold(&self, link: Link, response: Response<Incoming>, mirrored: bool) -> Response<Received> {
        if mirrored {
            self.links.keep(link);
            return response.map(|body| Received::Http1(body, None));
        }
        let mut keeper = Keeper::new(&self.links, link);
        response.map(|body| {
            if body.is_end_stream() {
                keeper.settle();
            }
            Received::Http1(body, Some(keeper))
        })
    }

    /// An HTTP/2 app's request.
    async fn send_mirrored(
        &self,
        upstream: &Arc<Upstream>,
        mut request: Request<Upload>,
        exchange: &Exchange,
        outlet: &Outlet,
    ) -> Result<Response<Received>, Lost> {
        // A connection may have been closed while nothing was under way, but a new one was not.
        for _ in 0..2 {
            let link = match Box::pin(self.links.common(upstream, &self.shared)).await? {
                ForHttp2::Http2(link) => link,
                ForHttp2::Http1(fresh) => {
                    *request.headers_mut() =
                        head::in_http1(request.headers(), upstream.authority());
                    return self.send_http1(upstream, request, exchange, fresh).await;
                }
            };
            let whole = absolute(upstream, request)?;
            match self.send_on_http2(&link, whole, exchange, outlet).await {
                Ok(response) => return Ok(response),
                Err(Unanswered::Unseen(unseen)) => {
                    request = *unseen;
                    self.links.retire(upstream, &link).await;
                    telemetry::reopened(upstream);
                }
                Err(Unanswered::Broken(_)) if exchange.passage().is_broken_off() => {
                    return Err(Lost::AppLeft);
                }
                Err(Unanswered::Broken(broken)) => return Err(no_answer_http2(upstream, &broken)),
            }
        }
        Err(closed(upstream, "closed the new connection at once").into())
    }

    async fn send_on_http2(
        &self,
        link: &Arc<http2::Link>,
        request: Request<Upload>,
        exchange: &Exchange,
        outlet: &Outlet,
    ) -> Result<Response<Received>, Unanswered> {
        let tap = exchange.tap();
        let informational = |response: Response<()>| {
            tap.informational(response.status().as_u16());
            outlet.informational(response, None);
        };
        let response =
            Box::pin(link.send(request, tap.clone(), &self.shared.tasks, informational)).await?;
        tap.response(recorded(&response, None));
        Ok(response)
    }
}

/// The request with its whole URI, from which HTTP/2 takes scheme and authority.
fn absolute(upstream: &Upstream, mut request: Request<Upload>) -> Result<Request<Upload>, Failure> {
    let scheme = if upstream.uses_tls() { "https" } else { "http" };
    let target = request.uri().path_and_query().cloned();
    let uri = Uri::builder()
        .scheme(scheme)
        .authority(upstream.authority().as_bytes())
        .path_and_query(target.unwrap_or_else(|| PathAndQuery::from_static("/")))
        .build();
    let uri = uri.map_err(|err| {
        Failure::new(Kind::BadRequest, format!("the request's path cannot be used: {err}"))
    })?;
    *request.uri_mut() = uri;
    Ok(request)
}

fn recorded<B>(response: &Response<B>, raw: Option<&[u8]>) -> ResponseHead {
    let reason = response.extensions().get::<hyper::ext::ReasonPhrase>();
    ResponseHead {
        status: response.status().as_u16(),
        reason: reason.map(|reason| String::from_utf8_lossy(reason.as_bytes()).into_owned()),
        version: head::version(response.version()),
        headers: spelled(raw, response.headers()),
    }
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
    closed(upstream, &what(&received::how(err)))
}

fn no_answer_http2(upstream: &Upstream, broken: &Broken) -> Lost {
    let failure = closed(upstream, &what(&broken.how()));
    let Broken::Http2(err) = broken else { return failure.into() };
    if is_unprocessed(err) {
        return Lost::Refused(Reason::REFUSED_STREAM, failure);
    }
    match err.reason() {
        Some(Reason::HTTP_1_1_REQUIRED) if err.is_remote() => {
            Lost::Refused(Reason::HTTP_1_1_REQUIRED, failure)
        }
        _ => failure.into(),
    }
}

fn what(how: &str) -> String {
    match how {
        "closed early" => "closed the connection without an answer".to_owned(),
        "reset" => "reset the connection without an answer".to_owned(),
        other => format!("gave no answer ({other})"),
    }
}

pub(crate) fn closed(upstream: &Upstream, what: &str) -> Failure {
    Failure::new(
        Kind::UpstreamClosed,
        format!(
            "{} {what}; look at its log, and at proxies in between. The request is not repeated, \
             since it may have been carried out",
            upstream.url()
        ),
    )
}
