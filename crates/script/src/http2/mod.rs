//! One client's connection on which HTTP/2 is spoken: requests in, scripts performed, each on its
//! stream.
//!
//! By the `h2` crate, so that frames, windows and header compression are what they should be. What
//! goes out is still exact: the frames of one step leave in one write (see [`cork`]), and a reset
//! comes only when everything before it was written.

mod cork;
mod stream;

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use h2::{Reason, server};
use tokio::{
    sync::mpsc::{Sender, channel},
    task::JoinSet,
};

use self::cork::{Cork, Corked};
use crate::{Gone, connection::Shared, stream::Stream};

/// How a connection begins on which HTTP/2 is spoken (RFC 9113, section 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// So many orders of its streams wait for a connection at most.
const ORDERS: usize = 64;

/// A part of a response on an HTTP/2 stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// HEADERS: the status and the headers, in order.
    Head(u16, Vec<(String, String)>),
    /// The same, with the end of the stream.
    HeadEnd(u16, Vec<(String, String)>),
    /// DATA.
    Data(Bytes),
    /// DATA with the end of the stream.
    DataEnd(Bytes),
    /// HEADERS at the end of the stream.
    Trailers(Vec<(String, String)>),
    /// `RST_STREAM` with this code.
    Reset(u32),
    /// GOAWAY without an error: no further request is taken, those under way go on. The last of its
    /// step.
    Leave,
    /// GOAWAY with this code, and the end of the connection. The last of its step.
    Abort(u32),
}

/// What a stream wants of its connection.
enum Order {
    Leave,
    Abort(Reason),
    /// The cork was pulled.
    Wake,
    End,
}

/// What a stream knows of its connection.
#[derive(Clone)]
struct Connection {
    number: u64,
    cork: Arc<Cork>,
    orders: Sender<Order>,
    shared: Arc<Shared>,
}

impl Connection {
    async fn order(&self, order: Order) {
        // A connection that is gone needs no orders.
        let _ = self.orders.send(order).await;
    }
}

/// Serves until either side ends it.
pub(crate) async fn serve(number: u64, stream: Stream, shared: Arc<Shared>) {
    let cork = Arc::new(Cork::default());
    let handshake = server::Builder::new()
        .max_concurrent_streams(shared.max_streams)
        .max_header_list_size(1 << 20)
        .handshake::<_, Bytes>(Corked::new(stream, Arc::clone(&cork)));
    let Ok(mut client) = handshake.await else {
        return shared.journal.gone(number, Gone::Reset);
    };
    let (orders, mut inbox) = channel(ORDERS);
    let connection = Connection { number, cork, orders, shared };
    let mut streams = JoinSet::new();
    let how = loop {
        tokio::select! {
            // An order stands before the frames of the steps after it.
            biased;
            Some(order) = inbox.recv() => match order {
                Order::Leave => client.graceful_shutdown(),
                Order::Abort(reason) => client.abrupt_shutdown(reason),
                Order::Wake => {}
                Order::End => break Gone::Ended,
            },
            accepted = client.accept() => match accepted {
                Some(Ok((request, respond))) => {
                    streams.spawn(stream::exchange(connection.clone(), request, respond));
                }
                Some(Err(_)) => break Gone::Reset,
                None => break Gone::Closed,
            },
        }
    };
    connection.shared.journal.gone(number, how);
}

impl Connection {
    /// Ends the connection, by a reset if so wished.
    async fn end(&self, reset: bool) {
        self.cork.reset.store(reset, Ordering::Release);
        self.order(Order::End).await;
    }
}
