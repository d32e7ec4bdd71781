//! What is costly to derive again, bounded in bytes.

use std::collections::HashMap;
use std::sync::Mutex;

use teeline_assembler::Reading;

use crate::CaptureId;
use crate::stream::lock;

struct Entry<T> {
    value: T,
    bytes: usize,
    used: u64,
}

struct Entries<T> {
    map: HashMap<CaptureId, Entry<T>>,
    bytes: usize,
    clock: u64,
}

/// Values by capture. When they take more than the bound, the one that was not asked for longest goes first.
pub(crate) struct Cache<T> {
    entries: Mutex<Entries<T>>,
    most: usize,
}

impl<T: Clone> Cache<T> {
    pub(crate) fn new(most: usize) -> Self {
        let entries = Entries { map: HashMap::new(), bytes: 0, clock: 0 };
        Self { entries: Mutex::new(entries), most }
    }

    pub(crate) fn get(&self, id: CaptureId) -> Option<T> {
        let mut entries = lock(&self.entries);
        entries.clock += 1;
        let now = entries.clock;
        let entry = entries.map.get_mut(&id)?;
        entry.used = now;
        Some(entry.value.clone())
    }

    /// Keeps a value that takes so many bytes, in place of the one before. One that is larger than the
    /// bound is not kept.
    pub(crate) fn put(&self, id: CaptureId, value: T, bytes: usize) {
        let mut entries = lock(&self.entries);
        entries.remove(id);
        if self.most < bytes {
            return;
        }
        while self.most < entries.bytes + bytes {
            let oldest = entries.map.iter().min_by_key(|(_, entry)| entry.used).map(|(id, _)| *id);
            match oldest {
                Some(oldest) => entries.remove(oldest),
                None => break,
            }
        }
        entries.clock += 1;
        let used = entries.clock;
        entries.bytes += bytes;
        entries.map.insert(id, Entry { value, bytes, used });
    }

    pub(crate) fn remove(&self, id: CaptureId) {
        lock(&self.entries).remove(id);
    }
}

impl<T> Entries<T> {
    fn remove(&mut self, id: CaptureId) {
        if let Some(entry) = self.map.remove(&id) {
            self.bytes -= entry.bytes;
        }
    }
}

/// About how many bytes a reading takes.
pub(crate) fn weight(reading: &Reading) -> usize {
    let outputs: usize = reading
        .outputs
        .iter()
        .map(|output| {
            let calls = output.tool_calls.iter().map(|call| call.arguments.len() + 256);
            let parts = output.parts.iter().map(|part| part.get().len() + 32);
            let texts = output.text.len() + output.reasoning.len() + output.refusal.len() + 256;
            texts + calls.sum::<usize>() + parts.sum::<usize>()
        })
        .sum();
    let response = reading.response.as_ref().map_or(0, |response| response.get().len());
    1024 + outputs + response + reading.findings.len() * 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_used_goes_first_and_the_bound_holds() {
        let cache = Cache::new(100);
        let ids: Vec<_> = (0..4).map(|_| CaptureId::new()).collect();
        cache.put(ids[0], 0, 40);
        cache.put(ids[1], 1, 40);
        assert_eq!(cache.get(ids[0]), Some(0));
        cache.put(ids[2], 2, 40);
        assert_eq!(
            (cache.get(ids[0]), cache.get(ids[1]), cache.get(ids[2])),
            (Some(0), None, Some(2))
        );
        cache.put(ids[3], 3, 101);
        assert_eq!(cache.get(ids[3]), None);
        cache.put(ids[0], 9, 10);
        assert_eq!((cache.get(ids[0]), cache.get(ids[2])), (Some(9), Some(2)));
        cache.remove(ids[0]);
        cache.remove(ids[2]);
        assert_eq!(lock(&cache.entries).bytes, 0);
    }
}
