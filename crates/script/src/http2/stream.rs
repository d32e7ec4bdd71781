//! One request and its script.

use std::{
    future::{Future, poll_fn},
    task::Poll,
};

use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream, server::SendResponse};
use http::{HeaderMap, HeaderName, HeaderValue, Response, request::Parts};
use tokio::time::sleep;

use super::{Connection, Frame, Order, cork::Count};
use crate::{Request, Script, Step};

/// The stream is over: the client reset it (with this code) or its connection is gone, or the
/// script has ended it.
struct Over(Option<Reason>);

struct Exchange {
    connection: Connection,
    /// The request's number in the journal.
    number: u64,
    id: u32,
    body: RecvStream,
    respond: SendResponse<Bytes>,
    sending: Option<SendStream<Bytes>>,
    /// What was handed to h2.
    handed: Count,
}

pub(super) async fn exchange(
    connection: Connection,
    request: http::Request<RecvStream>,
    respond: SendResponse<Bytes>,
) {
    let (parts, body) = request.into_parts();
    let mut request = received(&parts, connection.number);
    connection.shared.journal.begin(&mut request);
    let (number, id) = (request.number, respond.stream_id().as_u32());
    let mut exchange =
        Exchange { connection, number, id, body, respond, sending: None, handed: Count::default() };
    if let Err(Over(reset)) = exchange.run(request).await {
        let code = reset.map_or(u32::MAX, u32::from);
        exchange.connection.shared.journal.reset(number, code);
    }
}

fn received(parts: &Parts, connection: u64) -> Request {
    let mut headers = Vec::new();
    if let Some(scheme) = parts.uri.scheme_str() {
        headers.push((":scheme".to_owned(), scheme.to_owned()));
    }
    if let Some(authority) = parts.uri.authority() {
        headers.push((":authority".to_owned(), authority.as_str().to_owned()));
    }
    headers.extend(pairs(&parts.headers));
    Request {
        connection,
        method: parts.method.as_str().to_owned(),
        target: parts.uri.path_and_query().map_or("", |target| target.as_str()).to_owned(),
        version: "HTTP/2".to_owned(),
        headers,
        ..Request::default()
    }
}

fn pairs(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

impl Exchange {
    async fn run(&mut self, mut request: Request) -> Result<(), Over> {
        let shared = self.connection.shared.clone();
        if !shared.early {
            self.read(u64::MAX).await?;
            request = shared.journal.request(self.number).unwrap_or(request);
        }
        let script: Script = (shared.handler)(&request);
        for step in script.steps() {
            self.perform(step).await?;
        }
        self.read(u64::MAX).await?;
        // The stream stays open until the client ends it.
        self.wait(std::future::pending()).await
    }

    async fn perform(&mut self, step: &Step) -> Result<(), Over> {
        match step {
            Step::Frames(frames) => self.frames(frames).await?,
            Step::Flow(bytes, times) => {
                for _ in 0..*times {
                    self.flow(bytes.clone()).await?;
                }
            }
            Step::Pause(duration) => self.wait(sleep(*duration)).await?,
            Step::Mark(name) => self.connection.shared.journal.reach(name),
            Step::Gate(name) => {
                let shared = self.connection.shared.clone();
                shared.journal.reach(name);
                self.wait(shared.journal.until_open(name)).await?;
            }
            Step::Read(bytes) => self.read(*bytes).await?,
            Step::ReadRest => self.read(u64::MAX).await?,
            Step::Fin | Step::Close => self.connection.end(false).await,
            Step::Reset => self.connection.end(true).await,
            // Bytes of HTTP/1 have no place here.
            Step::Write(_) | Step::Repeat(..) => {}
        }
        Ok(())
    }

    /// Frames that leave in one write.
    async fn frames(&mut self, frames: &[Frame]) -> Result<(), Over> {
        self.connection.cork.hold();
        let mut result = Ok(());
        for frame in frames {
            result = self.frame(frame).await;
            if result.is_err() {
                break;
            }
        }
        if result.is_ok() {
            self.left().await;
        }
        self.connection.cork.release();
        let order = match frames.last() {
            Some(Frame::Abort(code)) => Order::Abort((*code).into()),
            Some(Frame::Leave) => Order::Leave,
            _ => Order::Wake,
        };
        self.connection.order(order).await;
        result
    }

    async fn frame(&mut self, frame: &Frame) -> Result<(), Over> {
        let sent = match frame {
            Frame::Head(status, headers) => Some(self.head(*status, headers, false)),
            Frame::HeadEnd(status, headers) => Some(self.head(*status, headers, true)),
            Frame::Data(data) => self.data(data.clone(), false),
            Frame::DataEnd(data) => self.data(data.clone(), true),
            Frame::Trailers(trailers) => {
                self.handed.heads += 1;
                self.sending.as_mut().map(|sending| sending.send_trailers(map(trailers)))
            }
            Frame::Reset(code) => {
                // h2 throws away what was not written of a stream that is reset.
                self.left().await;
                match &mut self.sending {
                    Some(sending) => sending.send_reset((*code).into()),
                    None => self.respond.send_reset((*code).into()),
                }
                self.handed.resets += 1;
                Some(Ok(()))
            }
            // When the cork is pulled.
            Frame::Leave | Frame::Abort(_) => Some(Ok(())),
        };
        sent.unwrap_or(Ok(())).map_err(|err| Over(err.reason()))
    }

    fn head(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        end: bool,
    ) -> Result<(), h2::Error> {
        let mut response = Response::new(());
        *response.status_mut() = status.try_into().unwrap_or_default();
        *response.headers_mut() = map(headers);
        self.handed.heads += 1;
        if response.status().is_informational() {
            return self.respond.send_informational(response);
        }
        self.respond.send_response(response, end).map(|sending| self.sending = Some(sending))
    }

    fn data(&mut self, data: Bytes, end: bool) -> Option<Result<(), h2::Error>> {
        self.handed.data += data.len() as u64;
        self.sending.as_mut().map(|sending| sending.send_data(data, end))
    }

    /// DATA as the client's windows allow.
    async fn flow(&mut self, mut data: Bytes) -> Result<(), Over> {
        while !data.is_empty() {
            let Some(sending) = &mut self.sending else { return Ok(()) };
            sending.reserve_capacity(data.len());
            let room = poll_fn(|cx| {
                if let Poll::Ready(reset) = sending.poll_reset(cx) {
                    return Poll::Ready(Err(Over(reset.ok())));
                }
                match sending.capacity() {
                    0 => sending.poll_capacity(cx).map(|_| Ok(0)),
                    room => Poll::Ready(Ok(room)),
                }
            });
            let room = room.await?;
            let piece = data.split_to(room.min(data.len()));
            self.data(piece, false).unwrap_or(Ok(())).map_err(|err| Over(err.reason()))?;
        }
        let (cork, handed) = (self.connection.cork.clone(), self.handed);
        self.wait(cork.left(self.id, handed)).await
    }

    /// Waits until everything has left h2.
    async fn left(&self) {
        self.connection.cork.left(self.id, self.handed).await;
    }

    /// Reads at most `limit` bytes of the body.
    async fn read(&mut self, mut limit: u64) -> Result<(), Over> {
        let journal = &self.connection.shared.journal;
        while 0 < limit {
            match self.body.data().await {
                Some(Ok(piece)) => {
                    limit = limit.saturating_sub(piece.len() as u64);
                    journal.body(self.number, &piece);
                    let length = piece.len();
                    self.body.flow_control().release_capacity(length).map_err(|_| Over(None))?;
                }
                Some(Err(err)) => return Err(Over(err.reason())),
                None => {
                    let trailers = self.body.trailers().await.map_err(|err| Over(err.reason()))?;
                    journal.body_end(self.number, pairs(&trailers.unwrap_or_default()));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Waits for `event`, or for the client to reset the stream.
    async fn wait(&mut self, event: impl Future<Output = ()>) -> Result<(), Over> {
        let reset = poll_fn(|cx| match &mut self.sending {
            Some(sending) => sending.poll_reset(cx),
            None => self.respond.poll_reset(cx),
        });
        tokio::select! {
            biased;
            () = event => Ok(()),
            reset = reset => Err(Over(reset.ok())),
        }
    }
}

fn map(headers: &[(String, String)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value.as_bytes()))
        {
            map.append(name, value);
        }
    }
    map
}
