//! `teeline demo`: the whole product with a scripted LLM API behind it. No key, no network, nothing left behind.

mod client;
mod examples;
mod scenes;

use std::{net::SocketAddr, process::ExitCode};

use anyhow::{Context as _, Result};
use serde_json::Value;
use teeline_script::{Request, Script, Upstream};

use self::scenes::{Ending, Scene, scenes};
use super::serve::{self, Running};
use crate::{
    args::ServeArgs,
    config::{Config, NamedUpstream},
};

/// The name of the scripted API in the proxy's paths.
const UPSTREAM: &str = "demo";

/// Serves with a scripted API and a client that streams every scene from it once.
///
/// # Errors
///
/// As [`serve::run`], or no temporary folder can be made.
pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode> {
    // Held to the end: the folder and all in it go with it.
    let temporary = tempfile::Builder::new()
        .prefix("teeline-demo-")
        .tempdir()
        .context("no temporary folder can be made; pass --data-dir DIR")?;
    let mut config = Config::resolve(&with_own_places(args, &temporary)?)?;
    serve::prepare();
    serve::runtime()?.block_on(async {
        let api = Upstream::start(answer).await.context("the scripted API found no free port")?;
        config.upstreams.push(NamedUpstream::plain(UPSTREAM, &api.url()));
        let running = Running::start(&config).await?;
        running.announce(&config);
        let client = tokio::spawn(ask_for_everything(running.proxy()));
        let ended = running.until_stopped().await;
        client.abort();
        ended
    })
}

/// Free ports and the temporary folder, where nothing else was asked for.
fn with_own_places(args: &ServeArgs, temporary: &tempfile::TempDir) -> Result<ServeArgs> {
    let free: SocketAddr = "127.0.0.1:0".parse()?;
    let mut args = args.clone();
    args.listen.get_or_insert(free);
    args.dashboard.get_or_insert(free);
    args.data_dir.get_or_insert_with(|| temporary.path().join("data"));
    Ok(args)
}

async fn ask_for_everything(proxy: SocketAddr) {
    for scene in scenes() {
        client::ask(proxy, &format!("/{UPSTREAM}{}", scene.path), &scene.request).await;
    }
}

/// The scripted API: the scene of the path and the model that was asked for.
fn answer(request: &Request) -> Script {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let scenes = scenes();
    let Some(scene) = scenes
        .iter()
        .find(|scene| scene.path == request.target && body["model"] == scene.request["model"])
    else {
        let error = r#"{"error":{"message":"The scripted API has no such model.","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#;
        return Script::answer("404 Not Found", &[("Content-Type", "application/json")], error);
    };
    perform(scene)
}

fn perform(scene: &Scene) -> Script {
    let headers = [("Content-Type", scene.content_type), ("Transfer-Encoding", "chunked")];
    let head = Script::head("200 OK", &headers);
    let script =
        scene.pieces.iter().fold(head, |script, (pause, piece)| script.pause(*pause).chunk(piece));
    match scene.ending {
        Ending::Clean => script.last_chunk(),
        Ending::Reset => script.rst(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_takes_free_ports_and_its_own_folder_unless_told_otherwise() {
        let temporary = tempfile::tempdir().unwrap();
        let own = with_own_places(&ServeArgs::default(), &temporary).unwrap();
        assert_eq!((own.listen.unwrap().port(), own.dashboard.unwrap().port()), (0, 0));
        assert!(own.data_dir.unwrap().starts_with(temporary.path()));
        let told =
            ServeArgs { listen: Some("127.0.0.1:4780".parse().unwrap()), ..ServeArgs::default() };
        assert_eq!(with_own_places(&told, &temporary).unwrap().listen, told.listen);
    }
}
