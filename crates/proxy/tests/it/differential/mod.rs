//! The differential suite: each script runs directly and through the proxy, and what the app and
//! the upstream see must be equal, but for the differences that UNCHANGED.md lists.
//!
//! Arrival is compared by causality: the upstream stands at a gate until the app has what came
//! before, so a part that were held back would leave both waiting.

mod cases;
mod differences;
mod http2;
mod page;
mod seen;

use std::time::Duration;

use teeline_proxy::Config;
use teeline_script::{Script, Upstream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use self::seen::{Asked, Seen};
use crate::support::{App, Rig, within};

/// What the app does. `{up}` stands for the path before the upstream's own, `{host}` for the
/// upstream's authority.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends.
    Send(String),
    /// Sends bytes that stand for nothing else.
    Bytes(Vec<u8>),
    /// Reads until this has come since the last time.
    Until(&'static str),
    /// Lets the upstream go on.
    Open(&'static str),
    /// Waits until the upstream has come so far.
    Reached(&'static str),
    /// Waits until the upstream has so many bytes of the body of request 0.
    Received(u64),
    /// Waits until the upstream's first connection is over.
    Gone,
    /// Ends its sending side.
    HalfClose,
    /// Reads to the end of the connection.
    End,
}

/// A script for both sides.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// The folder of `tests/fixtures/cases` that asks for it.
    scenario: Option<&'static str>,
    /// What the upstream does after its requests; the last again for all that follow.
    scripts: Vec<Script>,
    /// The upstream performs before the body is there.
    early: bool,
    acts: Vec<Act>,
}

impl Case {
    pub(crate) fn new(name: &str, script: Script) -> Self {
        Self {
            name: name.to_owned(),
            scenario: None,
            scripts: vec![script],
            early: false,
            acts: Vec::new(),
        }
    }

    /// The upstream writes this in one write.
    pub(crate) fn bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(name, Script::new().bytes(bytes.into()))
    }

    /// A request that asks for the end of the connection; the answer is read to that.
    pub(crate) fn get(self) -> Self {
        self.send("GET {up}/x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").act(Act::End)
    }

    pub(crate) fn send(self, text: &str) -> Self {
        self.act(Act::Send(text.to_owned()))
    }

    pub(crate) fn act(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }

    pub(crate) fn until(self, text: &'static str) -> Self {
        self.act(Act::Until(text))
    }

    pub(crate) fn fin(self) -> Self {
        self.step(Script::fin)
    }

    pub(crate) fn rst(self) -> Self {
        self.step(Script::rst)
    }

    fn step(mut self, step: impl Fn(Script) -> Script) -> Self {
        self.scripts = self.scripts.into_iter().map(step).collect();
        self
    }

    /// What the upstream does after the next request.
    pub(crate) fn and(mut self, script: Script) -> Self {
        self.scripts.push(script);
        self
    }

    pub(crate) fn early(mut self) -> Self {
        self.early = true;
        self
    }

    pub(crate) fn scenario(mut self, folder: &'static str) -> Self {
        self.scenario = Some(folder);
        self
    }

    async fn upstream(&self) -> Upstream {
        let scripts = self.scripts.clone();
        let builder = Upstream::builder().keep_body(1 << 20);
        let builder = if self.early { builder.early() } else { builder };
        let handler = move |request: &teeline_script::Request| {
            let number = usize::try_from(request.number).unwrap().min(scripts.len() - 1);
            scripts[number].clone()
        };
        builder.start(handler).await.unwrap()
    }

    /// What is seen without the proxy.
    pub(crate) async fn directly(&self) -> Seen {
        let upstream = self.upstream().await;
        let app = App::connect(upstream.addr()).await;
        self.perform(app, &upstream, "").await
    }

    /// What is seen through the proxy.
    pub(crate) async fn through(&self) -> Seen {
        let rig = Rig::with(self.upstream().await, Config::default()).await;
        let app = rig.app().await;
        self.perform(app, &rig.upstream, "/up").await
    }

    async fn perform(&self, mut app: App, upstream: &Upstream, up: &str) -> Seen {
        let (mut sent, mut read) = (String::new(), Vec::new());
        let mut error = None;
        for act in &self.acts {
            match act {
                Act::Send(text) => {
                    let host = upstream.addr().to_string();
                    let text = text.replace("{up}", up).replace("{host}", &host);
                    sent.push_str(&text);
                    app.send(text).await;
                }
                Act::Bytes(bytes) => app.send(bytes).await,
                Act::Until(text) => read.extend(app.read_through(text).await),
                Act::Open(gate) => upstream.open_gate(gate),
                Act::Reached(mark) => within(mark, upstream.reached(mark)).await,
                Act::Received(bytes) => {
                    within("the body", upstream.received_body(0, *bytes)).await;
                }
                Act::Gone => _ = within("it ends", upstream.client_gone(0)).await,
                Act::HalfClose => app.stream.shutdown().await.unwrap(),
                Act::End => {
                    let end = within(&self.name, app.stream.read_to_end(&mut app.buffer)).await;
                    error = end.err().map(|err| err.kind());
                    read.append(&mut app.buffer);
                }
            }
        }
        drop(app);
        let asked = settled(upstream).await;
        Seen::parse(&sent, &read, error, asked)
    }
}

/// What the upstream was asked: a body that broke off takes a moment to be known as such.
async fn settled(upstream: &Upstream) -> Vec<Asked> {
    for request in upstream.requests() {
        let _ =
            timeout(Duration::from_millis(50), upstream.received_body(request.number, u64::MAX))
                .await;
    }
    let host = upstream.addr().to_string();
    upstream.requests().into_iter().map(|request| Asked::of(request, &host)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_seen_is_equal() {
    let mut unequal = Vec::new();
    for case in cases::all() {
        let (direct, through) = (case.directly().await, case.through().await);
        if direct != through {
            unequal.push(format!("{}\ndirect:  {direct:#?}\nthrough: {through:#?}", case.name));
        }
    }
    assert!(unequal.is_empty(), "{} cases:\n{}", unequal.len(), unequal.join("\n\n"));
}

/// Each listed difference is there, and is as it is described.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_listed_differs_as_listed() {
    let mut wrong = Vec::new();
    for row in differences::ROWS {
        let differences::Proof::Case(case, change) = row.proof else { continue };
        let case = case();
        let (direct, through) = (case.directly().await, case.through().await);
        let mut expected = direct.clone();
        change(&mut expected);
        if expected != through || direct == through {
            let what = row.what;
            wrong.push(format!(
                "{what}\ndirect:   {direct:#?}\nexpected: {expected:#?}\nthrough:  {through:#?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Nothing that the fixtures ask for is left out.
#[test]
fn every_transport_scenario_is_a_case() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/cases");
    let cases = cases::all();
    let covered: Vec<_> = cases.iter().filter_map(|case| case.scenario).collect();
    let folders = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut scenarios = 0;
    for folder in folders.filter(|folder| folder.path().join("scenario.md").exists()) {
        let name = folder.file_name().into_string().unwrap();
        assert!(covered.contains(&name.as_str()), "{name} is no case of the suite");
        scenarios += 1;
    }
    assert_eq!(scenarios, 11);
}
