//! `teeline replay`: a server that answers as the upstream of a capture did, faults added on request.

mod faults;
mod player;
mod recording;

use std::{path::Path, process::ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use teeline_capture::{CaptureId, Store, StoreOptions};
use teeline_script::Upstream;

pub(crate) use self::player::{Fail, Speed};
use self::{faults::Faults, player::Player, recording::Recording};
use super::serve;
use crate::{args::ReplayArgs, config, output::say, stop};

/// Serves the recordings until it is told to stop.
///
/// # Errors
///
/// A source is neither a capture nor a readable file, a fault names a frame that a recording lacks, or the
/// address is taken.
pub(crate) fn run(args: &ReplayArgs) -> Result<ExitCode> {
    ensure!(
        args.allow_remote || args.listen.ip().is_loopback(),
        "{} can be reached from other machines; pass --allow-remote if that is what you want",
        args.listen
    );
    let faults = Faults::of(&args.faults);
    let mut recordings = Vec::new();
    for source in &args.sources {
        load(source, args, &faults, &mut recordings).with_context(|| source.clone())?;
    }
    let list: Vec<String> = recordings.iter().map(Recording::in_words).collect();
    let player = Player::new(recordings, args.speed, args.repeat, args.faults.fail);
    serve::prepare();
    serve::runtime()?.block_on(async {
        let server = Upstream::builder()
            .addr(args.listen)
            .keep_body(0)
            .keep_requests(0)
            .start(move |request| player.answer(request))
            .await
            .with_context(|| format!("cannot listen on {}; choose another address with --listen, port 0 takes a free one", args.listen))?;
        say("Replaying (each once, in this order where several fit; --loop begins again):");
        for line in &list {
            say(&format!("  {line}"));
        }
        say(&format!("teeline ready replay={}", server.url()));
        stop::requested().await;
        Ok(ExitCode::SUCCESS)
    })
}

/// The recordings of one source: a file, or the id of a capture in the store.
fn load(source: &str, args: &ReplayArgs, faults: &Faults, into: &mut Vec<Recording>) -> Result<()> {
    let path = Path::new(source);
    if path.is_file() {
        let store = Store::in_memory(StoreOptions::default())?;
        for import in teeline_export::import(std::fs::read(path)?.into(), None)? {
            into.push(Recording::load(&store, store.import(import)?, faults)?);
        }
        return Ok(());
    }
    if source.contains(['/', '.']) {
        bail!("there is no such file");
    }
    let store = Store::open_read_only(&config::store_dir(&args.store)?)?;
    let id: CaptureId = store.find(source)?;
    into.push(Recording::load(&store, id, faults)?);
    Ok(())
}
