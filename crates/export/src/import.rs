//! What comes in: a saved stream, stamped lines, a HAR (contract, section 1: `teeline import`).

mod har;

use bytes::{Bytes, BytesMut};
use teeline_capture::{Ending, Import, RequestHead, Timestamp};
use teeline_decoder::Stamp;

/// What an import with no request of its own is listed under.
const FILE: &str = "file";

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It looks like a HAR, and is not one.
    #[error("this HAR cannot be read: {0}")]
    Har(#[from] serde_json::Error),
    /// A HAR without any exchange.
    #[error("this HAR has no entries")]
    NoEntries,
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
}

/// The exchanges in a file: those of a HAR, or the one stream that the whole file is. Time stamps at the
/// beginnings of its lines are read. `format` is the name of the format to read a stream as; `None`: detect.
///
/// ```
/// use teeline_export::import;
///
/// let stream = import("data: {\"choices\":[]}\n\n".into(), None)?;
/// assert_eq!((stream.len(), stream[0].request.method.as_str()), (1, ""));
///
/// let har = r#"{"log":{"version":"1.2","entries":[{
///   "startedDateTime":"2026-01-02T03:04:05Z",
///   "request":{"method":"POST","url":"https://api.openai.com/v1/responses","headers":[]},
///   "response":{"status":200,"headers":[],"content":{"text":"data: [DONE]\n\n"}}}]}}"#;
/// let exchanges = import(har.into(), None)?;
/// assert_eq!(exchanges[0].request.upstream, "api.openai.com");
/// assert_eq!(exchanges[0].request.target, "/v1/responses");
/// # Ok::<(), teeline_export::ImportError>(())
/// ```
///
/// # Errors
///
/// See [`ImportError`]. A file that is no HAR is never refused: what it is, its reading says.
pub fn import(file: Bytes, format: Option<&str>) -> Result<Vec<Import>, ImportError> {
    if file.iter().all(u8::is_ascii_whitespace) {
        return Err(ImportError::Empty);
    }
    if har::is_har(&file) {
        return har::exchanges(&file);
    }
    Ok(vec![stream(file, FILE, format)])
}

/// A bare stream as an exchange whose request is not known, listed under `source`. Where each of its lines has
/// a time stamp, it becomes the body that was stamped, with these times.
pub fn stream(body: Bytes, source: &str, format: Option<&str>) -> Import {
    let (chunks, started_at) = match teeline_decoder::unstamped(&body) {
        Some(lines) => timed(lines),
        None => (vec![(body, None)], None),
    };
    Import {
        request: RequestHead {
            upstream: source.to_owned(),
            method: String::new(),
            target: String::new(),
            url: String::new(),
            version: "",
            headers: Vec::new(),
            client: None,
        },
        request_body: Bytes::new(),
        response: None,
        stamps: chunks.iter().all(|(_, at)| at.is_none()),
        chunks,
        decoded: true,
        moments: None,
        started_at,
        ending: Ending::Clean,
        format: format.map(str::to_owned),
    }
}

/// Chunks as they came: lines of one moment are one. Times count from the first stamp.
fn timed(lines: Vec<(Bytes, Stamp)>) -> (Vec<(Bytes, Option<u64>)>, Option<Timestamp>) {
    let micros = |stamp: &Stamp| i64::try_from(stamp.ns / 1000).unwrap_or_default();
    let first = lines.first().map(|(_, stamp)| *stamp);
    let start = first.as_ref().map(micros).unwrap_or_default();
    let mut chunks: Vec<(BytesMut, u64)> = Vec::new();
    for (line, stamp) in lines {
        let at = u64::try_from(micros(&stamp).saturating_sub(start)).unwrap_or_default();
        match chunks.last_mut() {
            Some((chunk, last)) if at <= *last => chunk.extend_from_slice(&line),
            _ => chunks.push((BytesMut::from(&line[..]), at)),
        }
    }
    let chunks = chunks.into_iter().map(|(chunk, at)| (chunk.freeze(), Some(at))).collect();
    (chunks, first.filter(|stamp| stamp.dated).map(|_| Timestamp::from_micros(start)))
}
