//! A scripted upstream with teeline in front of it.

use std::{future::Future, sync::OnceLock, time::Duration};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use teeline_script::{Request, Script, Upstream};
use tempfile::TempDir;

use crate::{Client, Teeline, get, get_json};

/// Runs something asynchronous to its end on the tests' own runtime, which stays for the tasks it starts.
pub fn block_on<F: Future>(future: F) -> F::Output {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime can be built")
        })
        .block_on(future)
}

/// Waits for something that has to come, and fails after a minute.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..6000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} did not come within a minute");
}

/// The scripted upstream under the name `test`, and teeline.
pub struct World {
    /// The upstream.
    pub upstream: Upstream,
    /// The proxy.
    pub teeline: Teeline,
    folder: TempDir,
}

impl World {
    /// Starts both; every request is answered by `answer`.
    pub fn start(answer: impl Fn(&Request) -> Script + Send + Sync + 'static) -> Self {
        Self::start_with(&[], answer)
    }

    /// As [`World::start`], with more flags for teeline.
    pub fn start_with(
        flags: &[&str],
        answer: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> Self {
        let upstream = block_on(Upstream::start(answer)).expect("a port is free");
        let folder = tempfile::tempdir().expect("a folder can be made");
        let teeline = start(&folder, &upstream, flags);
        Self { upstream, teeline, folder }
    }

    /// As [`World::start`], with what `config` makes of the upstream's URL as teeline's configuration file.
    pub fn start_configured(
        config: impl Fn(&str) -> String,
        answer: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> Self {
        let upstream = block_on(Upstream::start(answer)).expect("a port is free");
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("teeline.toml");
        std::fs::write(&file, config(&upstream.url())).expect("it can be written");
        let flags = ["--config", &file.display().to_string()];
        let teeline = Teeline::start(&folder.path().join("data"), &flags);
        Self { upstream, teeline, folder }
    }

    /// As [`World::start`], with teeline in a shell that runs `prelude` first.
    pub fn start_under(
        prelude: &str,
        answer: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> Self {
        let upstream = block_on(Upstream::start(answer)).expect("a port is free");
        let folder = tempfile::tempdir().expect("a folder can be made");
        let named = format!("test={}", upstream.url());
        let data = folder.path().join("data");
        let teeline = Teeline::start_under(prelude, &data, &["--upstream", &named]);
        Self { upstream, teeline, folder }
    }

    /// Kills teeline as `kill -9` does and starts it again on the same folder.
    pub fn kill_and_restart(&mut self) {
        self.teeline.kill();
        self.teeline = start(&self.folder, &self.upstream, &[]);
    }

    /// Where the store is.
    pub fn data_dir(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// Asks for a streamed chat completion; the response is still to be read.
    pub fn ask(&self) -> Client {
        let mut client = Client::connect(self.teeline.proxy);
        let headers = [
            ("Authorization", "Bearer sk-planted-secret-0123456789"),
            ("Content-Type", "application/json"),
        ];
        client.request(
            "POST",
            "/test/v1/chat/completions",
            &headers,
            crate::chat::request().to_string().as_bytes(),
        );
        client
    }

    /// JSON from the dashboard.
    pub fn api(&self, target: &str) -> Value {
        get_json(self.teeline.dashboard, target)
    }

    /// The newest capture's summary, once there is one.
    pub fn newest(&self) -> Value {
        eventually("a capture", || {
            let list = self.api("/api/captures?limit=1");
            list["captures"].get(0).cloned()
        })
    }

    /// The newest capture once it has ended: summary, request, response and reading.
    pub fn ended(&self) -> Value {
        eventually("the capture's end", || {
            let list = self.api("/api/captures?limit=1");
            let summary = list["captures"].get(0)?;
            (summary["state"] != "open")
                .then(|| self.api(&format!("/api/captures/{}", text(&summary["id"]))))
        })
    }

    /// An export over HTTP.
    pub fn export(&self, id: &str, kind: &str) -> Vec<u8> {
        let response = get(self.teeline.dashboard, &format!("/api/captures/{id}/export?as={kind}"));
        assert_eq!(response.status(), 200, "{}", String::from_utf8_lossy(&response.body));
        response.body
    }
}

fn start(folder: &TempDir, upstream: &Upstream, flags: &[&str]) -> Teeline {
    let named = format!("test={}", upstream.url());
    let mut args = vec!["--upstream", named.as_str()];
    args.extend_from_slice(flags);
    Teeline::start(&folder.path().join("data"), &args)
}

/// A JSON string's text.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// The SHA-256 of bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
