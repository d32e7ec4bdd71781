//! Who has the machine. Tests that count milliseconds or memory, or need a recorder that keeps up, have it for themselves;
//! those that keep it busy with browsers and other programs share it among each other. The rest waits for nobody.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

/// The machine, or a share of it, until it is dropped.
#[must_use]
#[derive(Debug)]
pub enum Turn {
    /// See [`Turn::shared`].
    Shared {
        /// What holds it.
        _held: RwLockReadGuard<'static, ()>,
    },
    /// See [`Turn::alone`].
    Alone {
        /// What holds it.
        _held: RwLockWriteGuard<'static, ()>,
    },
}

impl Turn {
    /// For a test that keeps the machine busy. Take one a test: a second waits for a test that waits for the first.
    pub fn shared() -> Self {
        // A test that failed while it had the machine left nothing behind that is of use to the next.
        Self::Shared { _held: MACHINE.read().unwrap_or_else(PoisonError::into_inner) }
    }

    /// For a test that a busy machine would make fail. Take it before anything else of the test.
    pub fn alone() -> Self {
        Self::Alone { _held: MACHINE.write().unwrap_or_else(PoisonError::into_inner) }
    }
}
