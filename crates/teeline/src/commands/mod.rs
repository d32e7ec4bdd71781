//! One file a command.

pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod frames;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod serve;
pub(crate) mod show;
