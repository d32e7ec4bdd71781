//! One client's connection: requests in, scripts performed.

use std::{future::Future, io, sync::Arc, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{sleep, timeout},
};

use crate::{
    Gone, Request, Script, Step,
    body::Framing,
    journal::Journal,
    request::{HEAD_LIMIT, find_head},
    stream::Stream,
};

/// While a script waits, what the client sends is taken off the socket up to here, to see whether
/// it closes. More stays in the socket.
const AHEAD_LIMIT: usize = 64 << 10;

/// How long a connection that was ended in an orderly way waits for the client's own end.
const LINGER: Duration = Duration::from_secs(10);

pub(crate) type Handler = dyn Fn(&Request) -> Script + Send + Sync;

/// What is the same for all connections of an upstream.
pub(crate) struct Shared {
    pub(crate) handler: Box<Handler>,
    pub(crate) journal: Journal,
    /// Whether the handler is asked before the body is read.
    pub(crate) early: bool,
    /// Whether HTTP/2 is spoken with clients that do.
    pub(crate) http2: bool,
    /// HTTP/2: so many streams a client may have open at once.
    pub(crate) max_streams: u32,
}

pub(crate) struct Connection {
    number: u64,
    stream: Stream,
    shared: Arc<Shared>,
    /// Read, not yet used.
    buffer: BytesMut,
    /// The end of the client's side was read.
    finished: bool,
}

/// The connection is over.
#[derive(Debug)]
enum Over {
    Client(Gone),
    Script,
}

impl From<io::Error> for Over {
    fn from(_: io::Error) -> Self {
        Self::Client(Gone::Reset)
    }
}

impl Connection {
    /// `buffer`: what was read already.
    pub(crate) fn new(number: u64, stream: Stream, buffer: BytesMut, shared: Arc<Shared>) -> Self {
        Self { number, stream, shared, buffer, finished: false }
    }

    /// Serves until either side ends it.
    pub(crate) async fn serve(mut self) {
        let how = loop {
            match self.exchange().await {
                Ok(()) => {}
                Err(Over::Script) => break Gone::Ended,
                Err(Over::Client(how)) => break how,
            }
        };
        let Self { number, stream, shared, .. } = self;
        drop(stream);
        shared.journal.gone(number, how);
    }

    /// One request and its script.
    async fn exchange(&mut self) -> Result<(), Over> {
        let mut request = self.read_head().await?;
        let mut framing = request.framing();
        self.shared.journal.begin(&mut request);
        let number = request.number;
        if framing.is_done() {
            self.shared.journal.body_end(number, Vec::new());
        }
        if !self.shared.early {
            if request.expects_continue() && !framing.is_done() {
                self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            self.read_body(number, &mut framing, u64::MAX).await?;
            request = self.shared.journal.request(number).unwrap_or(request);
        }
        let script = (self.shared.handler)(&request);
        for step in script.steps() {
            self.perform(step, number, &mut framing).await?;
        }
        // The next head stands after this body.
        self.read_body(number, &mut framing, u64::MAX).await
    }

    async fn read_head(&mut self) -> Result<Request, Over> {
        loop {
            if let Some(head) = find_head(&self.buffer) {
                let mut bytes = self.buffer.split_to(head.end);
                let head = bytes.split_off(head.start).freeze();
                return Ok(Request { connection: self.number, ..Request::parse(head) });
            }
            if HEAD_LIMIT < self.buffer.len() {
                return Err(Over::Script);
            }
            self.fill().await?;
        }
    }

    /// Reads at most `limit` bytes of the body.
    async fn read_body(
        &mut self,
        number: u64,
        framing: &mut Framing,
        mut limit: u64,
    ) -> Result<(), Over> {
        while 0 < limit && !framing.is_done() {
            match framing.take(&mut self.buffer, limit) {
                Ok(Some(piece)) => {
                    limit -= piece.len() as u64;
                    self.shared.journal.body(number, &piece);
                }
                // The last chunk may just have been used up.
                Ok(None) if framing.is_done() => {}
                Ok(None) => self.fill().await?,
                Err(_) => return Err(Over::Script),
            }
            if framing.is_done() {
                let trailers = std::mem::replace(framing, Framing::Length(0)).into_trailers();
                self.shared.journal.body_end(number, trailers);
            }
        }
        Ok(())
    }

    /// Reads something; the client's end is an error here.
    async fn fill(&mut self) -> Result<(), Over> {
        if self.finished || self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Err(Over::Client(Gone::Closed));
        }
        Ok(())
    }

    async fn perform(
        &mut self,
        step: &Step,
        number: u64,
        framing: &mut Framing,
    ) -> Result<(), Over> {
        match step {
            Step::Write(bytes) => self.write(bytes).await?,
            Step::Repeat(bytes, times) => {
                for _ in 0..*times {
                    self.write(bytes).await?;
                }
            }
            Step::Pause(duration) => self.wait(sleep(*duration), framing.is_done()).await?,
            Step::Mark(name) => self.shared.journal.reach(name),
            Step::Gate(name) => {
                let shared = Arc::clone(&self.shared);
                shared.journal.reach(name);
                self.wait(shared.journal.until_open(name), framing.is_done()).await?;
            }
            Step::Read(bytes) => self.read_body(number, framing, *bytes).await?,
            // HTTP/1 has no frames.
            Step::Frames(_) | Step::Flow(..) => {}
            Step::ReadRest => self.read_body(number, framing, u64::MAX).await?,
            Step::Fin => return Err(self.finish().await),
            Step::Close => return Err(Over::Script),
            Step::Reset => {
                self.stream.reset_on_close()?;
                return Err(Over::Script);
            }
        }
        Ok(())
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Waits for `event`. Where the request was read whole, reads on meanwhile, so that the
    /// client's end is noted when it comes. An orderly end does not end the script: a client may
    /// close its sending side only.
    async fn wait(&mut self, event: impl Future<Output = ()>, watch: bool) -> Result<(), Over> {
        tokio::pin!(event);
        loop {
            let watching = watch && !self.finished && self.buffer.len() < AHEAD_LIMIT;
            tokio::select! {
                biased;
                () = &mut event => return Ok(()),
                read = self.stream.read_buf(&mut self.buffer), if watching => if read? == 0 {
                    self.finished = true;
                    self.shared.journal.gone(self.number, Gone::Closed);
                },
            }
        }
    }

    /// Ends the writing side and waits for the client to end its own.
    async fn finish(&mut self) -> Over {
        if self.stream.shutdown().await.is_ok() {
            let drain = async {
                self.buffer.clear();
                while let Ok(1..) = self.stream.read_buf(&mut self.buffer).await {
                    self.buffer.clear();
                }
            };
            // Whether it ends or not, this side has done its part.
            let _ = timeout(LINGER, drain).await;
        }
        Over::Script
    }
}
