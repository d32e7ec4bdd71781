//! One file a command.

pub(crate) mod completions;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod frames;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod recording;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod tail;
