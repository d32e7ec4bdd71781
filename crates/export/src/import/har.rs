//! HAR 1.2 as browsers, mitmproxy and this crate write it. Unknown members are left alone; of those that
//! the specification asks for, only what an exchange cannot be without is required.

use base64::Engine as _;
use bytes::Bytes;
use serde::Deserialize;
use teeline_capture::{Ending, Import, Moments, RequestHead, ResponseHead, Timestamp};

use super::ImportError;

#[derive(Deserialize)]
struct Document {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    started_date_time: Option<String>,
    request: Request,
    response: Response,
    #[serde(default)]
    timings: Option<Timings>,
    #[serde(rename = "_teeline", default)]
    teeline: Option<Own>,
}

#[derive(Deserialize)]
struct NameValue {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    http_version: String,
    #[serde(default)]
    headers: Vec<NameValue>,
    #[serde(default)]
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct PostData {
    #[serde(default)]
    text: Option<String>,
    /// Base64, where a tool says so (mitmproxy does); the specification has no such member.
    #[serde(default)]
    encoding: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    /// 0 or -1 where none came.
    status: i32,
    #[serde(default)]
    status_text: String,
    #[serde(default)]
    http_version: String,
    #[serde(default)]
    headers: Vec<NameValue>,
    #[serde(default)]
    content: Content,
    /// Why none came, as Chromium writes it.
    #[serde(rename = "_error", default)]
    error: Option<String>,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    encoding: Option<String>,
}

/// In milliseconds; -1 where a phase did not happen. `ssl` is within `connect`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Timings {
    blocked: Option<f64>,
    dns: Option<f64>,
    connect: Option<f64>,
    send: Option<f64>,
    wait: Option<f64>,
    receive: Option<f64>,
}

/// What this crate writes beside it.
#[derive(Default, Deserialize)]
struct Own {
    #[serde(default)]
    upstream: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    ending: Option<Ending>,
    #[serde(default)]
    frames: Vec<FrameTime>,
}

#[derive(Deserialize)]
struct FrameTime {
    at_ms: Option<f64>,
    offset: u64,
}

/// Whether a file means to be a HAR: an object whose first member is `log`, as all tools write it.
pub(super) fn is_har(file: &[u8]) -> bool {
    let rest = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file).trim_ascii_start();
    rest.strip_prefix(b"{").is_some_and(|rest| {
        let rest = rest.trim_ascii_start().strip_prefix(b"\"log\"");
        rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
    })
}

/// Every exchange, in the order of the file.
pub(super) fn exchanges(file: &[u8]) -> Result<Vec<Import>, ImportError> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let document: Document = serde_json::from_slice(file)?;
    if document.log.entries.is_empty() {
        return Err(ImportError::NoEntries);
    }
    Ok(document.log.entries.into_iter().map(exchange).collect())
}

fn exchange(entry: Entry) -> Import {
    let Entry { started_date_time, request, response, timings, teeline, .. } = entry;
    let (host, target) = host_and_target(&request.url);
    let own = teeline.unwrap_or_default();
    let query = target.split_once('?').map(|(_, query)| query);
    let own_target = own.path.map(|path| match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    });
    let body = decoded(response.content.text, response.content.encoding.as_deref());
    let came = u16::try_from(response.status).ok().filter(|status| 0 < *status);
    let failed = || Ending::Failed {
        kind: "upstream-closed".to_owned(),
        message: response.error.clone().unwrap_or_else(|| "the HAR has no response".to_owned()),
    };
    let ending = own.ending.unwrap_or_else(|| came.map_or_else(failed, |_| Ending::Clean));
    Import {
        request_body: request
            .post_data
            .map(|data| decoded(data.text, data.encoding.as_deref()))
            .unwrap_or_default(),
        request: RequestHead {
            upstream: own.upstream.unwrap_or(host),
            method: request.method,
            target: own_target.unwrap_or(target),
            url: request.url,
            version: version(&request.http_version),
            headers: headers(request.headers),
            client: None,
        },
        response: came.map(|status| ResponseHead {
            status,
            reason: Some(response.status_text).filter(|text| !text.is_empty()),
            version: version(&response.http_version),
            headers: headers(response.headers),
        }),
        chunks: timed(body, &own.frames),
        // A HAR holds bodies with their content coding undone.
        decoded: true,
        moments: timings.map(|timings| moments(&timings)),
        started_at: started_date_time.and_then(|text| text.parse::<Timestamp>().ok()),
        ending,
        format: None,
        stamps: false,
    }
}

/// The body in the pieces whose times are known: each from its frame's first byte to the next one's.
fn timed(mut body: Bytes, frames: &[FrameTime]) -> Vec<(Bytes, Option<u64>)> {
    let mut chunks = Vec::new();
    let mut offset = 0;
    let mut at = frames.first().and_then(|frame| frame.at_ms);
    for next in frames.iter().skip(1) {
        let length = usize::try_from(next.offset.saturating_sub(offset)).unwrap_or(usize::MAX);
        if length != 0 && length <= body.len() {
            chunks.push((body.split_to(length), at.map(micros)));
            offset = next.offset;
        }
        at = next.at_ms;
    }
    if !body.is_empty() {
        chunks.push((body, at.map(micros)));
    }
    chunks
}

fn moments(timings: &Timings) -> Moments {
    let took = |phase: Option<f64>| phase.filter(|ms| 0.0 < *ms).unwrap_or(0.0);
    let sent = took(timings.blocked) + took(timings.dns) + took(timings.connect);
    let request_end = sent + took(timings.send);
    let response = request_end + took(timings.wait);
    let end = response + took(timings.receive);
    let [sent, request_end, response, end] = [sent, request_end, response, end].map(micros);
    Moments {
        sent_us: Some(sent),
        request_end_us: Some(request_end),
        response_us: Some(response),
        end_us: Some(end),
    }
}

/// Whole microseconds; what is no sensible time (negative, not a number) is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and negative values are taken out before"
)]
fn micros(ms: f64) -> u64 {
    (ms.max(0.0) * 1000.0).round() as u64
}

fn decoded(text: Option<String>, encoding: Option<&str>) -> Bytes {
    let text = text.unwrap_or_default();
    if encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"))
        && let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(text.as_bytes())
    {
        return bytes.into();
    }
    text.into()
}

/// The URL's host (with its port), and what is asked of it.
fn host_and_target(url: &str) -> (String, String) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let target = target.split('#').next().unwrap_or_default();
    let slash = if target.starts_with('/') { "" } else { "/" };
    (host.to_owned(), format!("{slash}{target}"))
}

/// The spelling of this project; tools write `http/2.0`, `h2`, `HTTP/1.1`.
fn version(name: &str) -> &'static str {
    match name.to_ascii_lowercase().as_str() {
        "http/1.0" => "HTTP/1.0",
        "http/1.1" => "HTTP/1.1",
        "h2" | "http/2" | "http/2.0" => "HTTP/2",
        "h3" | "http/3" | "http/3.0" => "HTTP/3",
        _ => "",
    }
}

fn headers(list: Vec<NameValue>) -> Vec<(String, Bytes)> {
    list.into_iter().map(|header| (header.name, Bytes::from(header.value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_har_is_told_from_other_json() {
        for (text, har) in [
            (r#"{"log":{"entries":[]}}"#, true),
            ("\u{feff} {\n  \"log\" : {}}", true),
            (r#"{"id":"x","log":{}}"#, false),
            (r#"{"logs":{}}"#, false),
            ("data: {\"log\":{}}\n\n", false),
        ] {
            assert_eq!(is_har(text.as_bytes()), har, "{text}");
        }
    }

    #[test]
    fn a_url_gives_host_and_target() {
        for (url, host, target) in [
            ("https://api.x.ai/v1/a?b=c#d", "api.x.ai", "/v1/a?b=c"),
            ("http://user:word@127.0.0.1:80", "127.0.0.1:80", "/"),
            ("https://h?q", "h", "/?q"),
        ] {
            assert_eq!(host_and_target(url), (host.to_owned(), target.to_owned()), "{url}");
        }
    }

    #[test]
    fn a_body_is_cut_where_its_frames_begin() {
        let frame = |offset, at_ms| FrameTime { at_ms, offset };
        let body = Bytes::from_static(b"\xef\xbb\xbfone|two|three");
        let frames = [frame(3, Some(1.5)), frame(7, Some(2.0)), frame(11, Some(2.001))];
        assert_eq!(
            timed(body.clone(), &frames),
            [
                (Bytes::from_static(b"\xef\xbb\xbfone|"), Some(1500)),
                (Bytes::from_static(b"two|"), Some(2000)),
                (Bytes::from_static(b"three"), Some(2001)),
            ]
        );
        // Places that the body does not have change nothing about its bytes.
        for frames in [vec![], vec![frame(90, None), frame(80, Some(1.0)), frame(70, Some(2.0))]] {
            let joined: Vec<u8> =
                timed(body.clone(), &frames).iter().flat_map(|(bytes, _)| bytes.to_vec()).collect();
            assert_eq!(joined, body);
        }
    }

    #[test]
    fn what_did_not_happen_took_no_time() {
        let timings: Timings = serde_json::from_str(
            r#"{"blocked":-1,"dns":-1,"connect":10.5,"ssl":8,"send":1,"wait":100,"receive":-1}"#,
        )
        .unwrap();
        let moments = moments(&timings);
        assert_eq!(moments.sent_us, Some(10_500));
        assert_eq!((moments.response_us, moments.end_us), (Some(111_500), Some(111_500)));
    }
}
