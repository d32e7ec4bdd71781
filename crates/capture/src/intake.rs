//! From what waits in a stream to rows: hashing, masking, cutting into segments.

use sha2::{Digest as _, Sha256};

use crate::batch::Chunk;
use crate::coding::Decoding;
use crate::database::{NewSegment, Part};
use crate::hex::hex;
use crate::record::Record;
use crate::redact::Secrets;
use crate::segment::{Builder, SEGMENT_BYTES};
use crate::stream::Pending;

/// What the writer does with the bytes of one exchange before they are rows.
pub(crate) struct Intake {
    hash: Sha256,
    hashed: u64,
    mask: Option<Mask>,
    judged: bool,
}

impl Intake {
    pub(crate) fn new() -> Self {
        Self { hash: Sha256::new(), hashed: 0, mask: None, judged: false }
    }

    /// Brings the record up to what waits; true if it changed.
    pub(crate) fn update(record: &mut Record, pending: &mut Pending) -> bool {
        record.bytes = pending.bytes;
        if !std::mem::take(&mut pending.changed) {
            return false;
        }
        record.moments = pending.moments;
        record.request_truncated =
            pending.request_truncated || pending.request_whole.is_some_and(|whole| !whole);
        for range in std::mem::take(&mut pending.lost).ranges() {
            record.lost.add(range.from, range.to, &range.reason);
        }
        if let Some(mut response) = pending.response.take() {
            // The 1xx before it may have been brought over on their own.
            if let Some(before) = record.response.take() {
                response.informational = before.informational;
            }
            record.response = Some(response);
        }
        if !pending.informational.is_empty() {
            let response = record.response.get_or_insert_default();
            response.informational.append(&mut pending.informational);
        }
        if let Some(trailers) = pending.trailers.take() {
            record.response.get_or_insert_default().trailers = trailers;
        }
        record.ending.clone_from(&pending.ending);
        record.left.clone_from(&pending.left);
        true
    }

    /// The response's body as segments; the record learns what cannot be kept.
    pub(crate) fn response<'a>(
        &mut self,
        chunks: impl Iterator<Item = Chunk<'a>>,
        secrets: &Secrets,
        record: &mut Record,
    ) -> Vec<NewSegment> {
        let mut cutter = Cutter::new(Part::Response);
        for chunk in chunks {
            #[cfg(test)]
            crate::store::fail_in_the_recorder(chunk.bytes);
            self.hash.update(chunk.bytes);
            self.hashed += chunk.bytes.len() as u64;
            if !self.judged {
                self.judged = true;
                self.mask = Mask::new(secrets, record);
            }
            match &mut self.mask {
                Some(mask) => mask.push(chunk, &mut cutter, record),
                None => cutter.push(chunk),
            }
        }
        if let Some(mask) = &mut self.mask {
            mask.flush(&mut cutter, record.ending.is_some());
        }
        cutter.finish()
    }

    /// The body's hash, if there was a response and all of its body was seen.
    pub(crate) fn hash(&self, record: &Record) -> Option<String> {
        let whole = record.status().is_some() && self.hashed == record.bytes;
        whole.then(|| hex(&self.hash.clone().finalize()))
    }
}

/// A request's body as segments.
pub(crate) fn request<'a>(chunks: impl Iterator<Item = Chunk<'a>>) -> Vec<NewSegment> {
    let mut cutter = Cutter::new(Part::Request);
    chunks.filter(|chunk| !chunk.bytes.is_empty()).for_each(|chunk| cutter.push(chunk));
    cutter.finish()
}

/// Cuts chunks into segments: at 64 KiB, and where bytes are missing.
struct Cutter {
    part: Part,
    builder: Builder,
    done: Vec<NewSegment>,
}

impl Cutter {
    fn new(part: Part) -> Self {
        Self { part, builder: Builder::default(), done: Vec::new() }
    }

    fn push(&mut self, chunk: Chunk<'_>) {
        let full = SEGMENT_BYTES < self.builder.data.len() + chunk.bytes.len();
        if full || self.builder.end() != chunk.offset {
            self.cut();
            self.builder = Builder::at(chunk.offset);
        }
        self.builder.push(chunk.at_us, chunk.bytes);
    }

    fn cut(&mut self) {
        let builder = std::mem::take(&mut self.builder);
        if !builder.is_empty() {
            let Builder { offset: start, times, data, .. } = builder;
            self.done.push(NewSegment { part: self.part, start, times, data });
        }
    }

    fn finish(mut self) -> Vec<NewSegment> {
        self.cut();
        self.done
    }
}

/// Masks the request's secrets in the body of an error. A coded body is kept decoded, since a secret in
/// coded bytes can be neither found nor masked.
struct Mask {
    secrets: Secrets,
    decoding: Option<Decoding>,
    broken: Option<String>,
    /// Not cut yet: the last bytes may be the beginning of a secret.
    held: Vec<(u64, Vec<u8>)>,
    /// Where the held bytes begin.
    offset: u64,
}

impl Mask {
    fn new(secrets: &Secrets, record: &mut Record) -> Option<Self> {
        if secrets.is_empty() || !record.is_error() {
            return None;
        }
        let coding = record.response_header("content-encoding").unwrap_or_default();
        let coded = !record.kept_decoded;
        let decoding = Decoding::new(&coding).ok().flatten().filter(|_| coded);
        record.kept_decoded |= decoding.is_some();
        Some(Self { secrets: secrets.clone(), decoding, broken: None, held: Vec::new(), offset: 0 })
    }

    fn push(&mut self, chunk: Chunk<'_>, cutter: &mut Cutter, record: &mut Record) {
        let end = chunk.offset + chunk.bytes.len() as u64;
        let Some(decoding) = &mut self.decoding else {
            let held: usize = self.held.iter().map(|(_, bytes)| bytes.len()).sum();
            if self.offset + held as u64 != chunk.offset {
                self.flush(cutter, true);
                self.offset = chunk.offset;
            }
            self.held.push((chunk.at_us, chunk.bytes.to_vec()));
            return;
        };
        if let Some(why) = &self.broken {
            record.lost.add(chunk.offset, end, why);
            return;
        }
        // A coding cannot be undone behind a gap.
        let behind_gap = record.lost.ranges().iter().any(|range| range.from < chunk.offset);
        let held = &mut self.held;
        let result = if behind_gap {
            Err("its content coding cannot be undone behind a gap".to_owned())
        } else {
            decoding.push(chunk.bytes, &mut |bytes| held.push((chunk.at_us, bytes.to_vec())))
        };
        if let Err(why) = result {
            record.lost.add(chunk.offset, end, &why);
            self.broken = Some(why);
        }
    }

    /// Cuts what is held, but for an end that may be the beginning of a secret (unless `all`).
    fn flush(&mut self, cutter: &mut Cutter, all: bool) {
        let mut joined: Vec<u8> = self.held.iter().flat_map(|(_, bytes)| bytes).copied().collect();
        self.secrets.mask(&mut joined);
        let keep = if all { 0 } else { self.secrets.held(&joined) };
        let mut ready = joined.len() - keep;
        let (mut rest, mut kept) = (joined.as_slice(), Vec::new());
        for (at_us, bytes) in self.held.drain(..) {
            let (bytes, after) = rest.split_at_checked(bytes.len()).unwrap_or((rest, &[]));
            rest = after;
            let (now, later) = bytes.split_at_checked(ready).unwrap_or((bytes, &[]));
            ready -= now.len();
            if !now.is_empty() {
                cutter.push(Chunk { offset: self.offset, at_us, bytes: now });
                self.offset += now.len() as u64;
            }
            if !later.is_empty() {
                kept.push((at_us, later.to_vec()));
            }
        }
        self.held = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResponseView;

    #[test]
    fn informational_responses_are_kept_whenever_the_head_comes() {
        let (mut record, mut pending) = (Record::default(), Pending::default());
        pending.informational.push(103);
        pending.changed = true;
        assert!(Intake::update(&mut record, &mut pending));
        pending.informational.push(102);
        pending.response = Some(ResponseView { status: 200, ..ResponseView::default() });
        pending.changed = true;
        assert!(Intake::update(&mut record, &mut pending));
        let response = record.response.unwrap();
        assert_eq!((response.status, response.informational), (200, vec![103, 102]));
    }
}
