//! `teeline delete`: captures gone for good.

use std::process::ExitCode;

use anyhow::Result;
use teeline_capture::{CaptureId, Query, State, Store, StoreOptions};

use crate::{args::DeleteArgs, config, output::Output};

/// Deletes what was named; streams that are open stay.
///
/// # Errors
///
/// There is no store, no such capture, or the query is wrong. Nothing is deleted then.
pub(crate) fn run(args: &DeleteArgs) -> Result<ExitCode> {
    let store = Store::open_beside(&config::store_dir(&args.store)?, StoreOptions::default())?;
    let ids = match (&args.which.query, args.which.all) {
        (Some(query), _) => matching(&store, &Query::parse(query)?)?,
        (None, true) => matching(&store, &Query::default())?,
        (None, false) => {
            args.which.ids.iter().map(|id| store.find(id)).collect::<Result<Vec<_>, _>>()?
        }
    };
    let deleted = store.delete_now(&ids)?;
    store.shutdown();
    let mut output = Output::new();
    output.line(&format!(
        "deleted {} capture{}",
        deleted.len(),
        if deleted.len() == 1 { "" } else { "s" }
    ))?;
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn matching(store: &Store, query: &Query) -> Result<Vec<CaptureId>> {
    let mut ids = Vec::new();
    let mut before = None;
    loop {
        let page = store.list(query, before, 1000)?;
        ids.extend(
            page.captures
                .iter()
                .filter(|summary| summary.state != State::Open)
                .map(|summary| summary.id),
        );
        before = page.next;
        if before.is_none() {
            return Ok(ids);
        }
    }
}
