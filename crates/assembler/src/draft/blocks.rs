//! Blocks: what has to be opened, added to and closed in this order.

use teeline_finding::Kind;

use crate::{frame_log::Deed, text::Str};

use super::{Block, Draft, Key, OVERHEAD, Part, PartId, PartKind, SINK};

/// Blocks: what is opened, added to and closed under a key.
impl Draft {
    /// Opens a block with a part. An open or closed one under the same key is replaced: `block-restarted`.
    pub fn open(&mut self, key: Key, output: u64, kind: PartKind) -> PartId {
        // What came before is not known any more, once the bound was reached.
        if self.full && !self.blocks.contains_key(&key) {
            return SINK;
        }
        if let Some(part) = self.blocks.get(&key).and_then(|block| block.part) {
            let replaced = self.get(part).text.len() as u64;
            self.restarted(&key, replaced);
            self.replace(part, &Str::default());
            let known = self.get_mut(part);
            let (output, place, index) = (known.output, known.place, known.call.index);
            *known = Part::new(kind, output, place);
            known.call.index = index;
            self.reopen(&key);
            return part;
        }
        let part = self.part(output, kind);
        self.insert(key, Some(part));
        part
    }

    /// Opens a block that has no text of its own. `true` if it was there already: `block-restarted`.
    pub fn open_bare(&mut self, key: Key) -> bool {
        if self.full {
            return false;
        }
        let known = self.blocks.contains_key(&key);
        if known {
            self.restarted(&key, 0);
            self.reopen(&key);
        } else {
            self.insert(key, None);
        }
        known
    }

    /// The part of a block, for formats whose blocks need no opening: made where it is not there.
    pub fn ensure(&mut self, key: Key, output: u64, kind: PartKind) -> PartId {
        if let Some(part) = self.blocks.get(&key).and_then(|block| block.part) {
            return part;
        }
        let part = self.part(output, kind);
        self.insert(key, Some(part));
        part
    }

    /// The part of an open block. Not open: `block-unstarted`, and what came for it is dropped.
    pub fn opened(&mut self, key: &Key) -> Option<PartId> {
        match self.blocks.get(key) {
            Some(block) if block.open => block.part,
            _ => {
                self.unstarted(key);
                None
            }
        }
    }

    /// Closes a block. Not open: `block-unstarted`.
    pub fn close(&mut self, key: &Key) -> Option<PartId> {
        match self.blocks.get_mut(key) {
            Some(block) if block.open => {
                block.open = false;
                let part = block.part;
                self.log.deed(Deed::Control, || format!("{key} closed"));
                part
            }
            _ => {
                self.unstarted(key);
                None
            }
        }
    }

    /// Opens a closed block again, for formats in which that is no fault: what comes is added to its text.
    pub fn go_on(&mut self, key: &Key) {
        self.log.deed(Deed::Control, || format!("{key} opened"));
        self.reopen(key);
        if let Some(part) = self.part_of(key) {
            let call = &mut self.get_mut(part).call;
            (call.complete, call.judged) = (false, false);
        }
    }

    /// Forgets a block, so that its key may name another one: for formats whose ids count only while
    /// something is open under them. Its part stays.
    pub fn release(&mut self, key: &Key) {
        self.blocks.remove(key);
    }

    /// Whether a block was opened, be it closed since.
    pub fn is_known(&self, key: &Key) -> bool {
        self.blocks.contains_key(key)
    }

    /// Whether a block is open.
    pub fn is_open(&self, key: &Key) -> bool {
        self.blocks.get(key).is_some_and(|block| block.open)
    }

    /// The part of a block, open or closed.
    pub fn part_of(&self, key: &Key) -> Option<PartId> {
        self.blocks.get(key)?.part
    }

    /// An event came for something that was never opened: `block-unstarted`.
    pub fn unstarted(&mut self, key: &Key) {
        if self.full {
            return;
        }
        self.broken = true;
        self.report(Kind::BlockUnstarted { what: key.to_string() });
    }

    /// Something was opened a second time: `block-restarted`.
    pub fn restarted(&mut self, key: &Key, replaced: u64) {
        self.broken = true;
        self.report(Kind::BlockRestarted { what: key.to_string(), replaced });
    }

    /// A block whose text is not the draft's is opened a second time: `block-restarted`, with the bytes of
    /// text that it replaces.
    pub fn reopen_bare(&mut self, key: &Key, replaced: u64) {
        self.restarted(key, replaced);
        self.reopen(key);
    }

    /// Takes a part out of the answer: its text is gone, it counts nowhere, and the reading does not show it.
    pub fn discard(&mut self, part: PartId) {
        self.replace(part, &Str::default());
        let part = self.get_mut(part);
        part.kind = PartKind::Other("replaced");
        part.discarded = true;
    }

    /// The whole answer begins anew: what came before is replaced, `block-restarted` with `key` for a name.
    pub fn start_over(&mut self, key: &Key) {
        let replaced = self.parts.iter().map(|part| part.text.len() as u64).sum();
        self.restarted(key, replaced);
        for at in 1..self.parts.len() {
            self.discard(PartId(at));
        }
        self.blocks.clear();
        for output in &mut self.outputs {
            output.finish = None;
        }
        (self.id, self.model, self.usage) = (None, None, None);
    }

    /// The blocks that are open, in the order in which they were opened.
    pub(crate) fn open_blocks(&self) -> Vec<Key> {
        let mut open: Vec<_> = self.blocks.iter().filter(|(_, block)| block.open).collect();
        open.sort_by_key(|(_, block)| block.order);
        open.into_iter().map(|(key, _)| key.clone()).collect()
    }

    fn insert(&mut self, key: Key, part: Option<PartId>) {
        self.log.deed(Deed::Control, || format!("{key} opened"));
        self.admit(OVERHEAD);
        let order = self.blocks_made;
        self.blocks_made += 1;
        self.blocks.insert(key, Block { part, open: true, order });
    }

    fn reopen(&mut self, key: &Key) {
        if let Some(block) = self.blocks.get_mut(key) {
            block.open = true;
        }
    }
}
