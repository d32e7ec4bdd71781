//! The record of an exchange.
//!
//! The proxy tells a [`Tap`] what passes, the [`Store`] keeps it and gives it back.
//!
//! ```
//! use bytes::Bytes;
//! use teeline_capture::{Ending, Query, RequestHead, ResponseHead, Store, StoreOptions};
//!
//! let store = Store::in_memory(StoreOptions::default())?;
//! let tap = store.recorder().begin(RequestHead {
//!     upstream: "openai".into(),
//!     method: "POST".into(),
//!     target: "/openai/v1/chat/completions".into(),
//!     url: "https://api.openai.com/v1/chat/completions".into(),
//!     version: "HTTP/1.1",
//!     headers: vec![("Authorization".into(), Bytes::from_static(b"Bearer sk-1234567890"))],
//!     client: None,
//! });
//! tap.response(ResponseHead { status: 200, reason: None, version: "HTTP/1.1", headers: vec![] });
//! tap.chunk(&Bytes::from_static(b"data: [DONE]\n\n"));
//! tap.end(Ending::Clean);
//! drop(tap);
//! store.shutdown();
//! assert_eq!(store.list(&Query::default(), None, 10)?.captures[0].bytes, 14);
//! # Ok::<(), teeline_capture::StoreError>(())
//! ```

mod base_url;
mod batch;
mod cache;
mod checkpoint;
mod coding;
mod conversation;
mod database;
mod error;
mod exchange;
mod folder;
mod frames;
mod hex;
mod id;
mod inner;
mod intake;
mod live;
mod lock;
mod lost;
mod pieces;
mod query;
mod queue;
mod reading;
mod record;
mod recovery;
mod redact;
mod request;
mod retention;
mod retries;
mod scrub;
mod segment;
mod session;
mod store;
mod stream;
mod summarise;
mod summary;
mod tap;
mod time;
mod workers;
mod writer;

pub use error::StoreError;
pub use exchange::{
    End, Ending, Exchange, Import, Moments, Piece, RequestHead, RequestView, ResponseHead,
    ResponseView, StoredChunk,
};
pub use frames::FrameMark;
pub use id::{CaptureId, IdError};
pub use live::{Change, LiveReading, Recording};
pub use lock::serving;
pub use pieces::Pieces;
pub use query::{Query, QueryError, QueryKey};
pub use redact::Redaction;
pub use retention::StoreSize;
pub use store::{Store, StoreOptions};
pub use summary::{
    EndedBy, FindingCounts, Finish, Page, SegmentCounts, Spark, State, Summary, Usage,
};
pub use tap::{Recorder, Tap};
pub use time::Timestamp;
