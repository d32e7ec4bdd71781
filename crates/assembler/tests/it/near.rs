//! Findings by pairs: a fixture that has one, and its smallest edit that has it not.

use crate::support::{SIZES, fixtures, ids, read, value};

/// A fixture of a format: a finding in it, and an edit that takes the finding away.
pub(crate) struct Pair {
    /// The file's name, without `.sse`.
    pub(crate) file: &'static str,
    /// The finding's id.
    pub(crate) id: &'static str,
    /// What the edit takes out of the file, once.
    pub(crate) from: &'static str,
    /// What it puts there.
    pub(crate) to: &'static str,
}

/// Every pair has the finding before the edit and not after it, and the edit brings no new one.
pub(crate) fn check(format: &str, pairs: &[Pair]) {
    for Pair { file, id, from, to } in pairs {
        let path = fixtures().join(format).join(format!("{file}.sse"));
        let body =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let before = read(body.as_bytes(), 0);
        assert_eq!(before.format, format, "{file}");
        assert!(ids(&before).contains(id), "{file} has no {id}: {:?}", ids(&before));
        for size in SIZES {
            assert_eq!(
                value(&read(body.as_bytes(), size)),
                value(&before),
                "{file} in pieces of {size}"
            );
        }
        assert!(body.contains(from), "{file} has no {from}");
        let edited = body.replacen(from, to, 1);
        let after = ids(&read(edited.as_bytes(), 0));
        assert!(!after.contains(id), "{file} still has {id}: {after:?}");
        let new: Vec<_> = after.iter().filter(|id| !ids(&before).contains(id)).collect();
        assert!(new.is_empty(), "the edit of {file} for {id} brings {new:?}");
    }
}
