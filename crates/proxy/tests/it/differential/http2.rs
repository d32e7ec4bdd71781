//! The same for HTTP/2.

use bytes::Bytes;
use h2::client;
use http::Request;
use teeline_proxy::Config;
use teeline_script::{Frame, Script, Upstream};
use tokio::net::TcpStream;

use crate::{
    http2::{App, Seen, data, head, read},
    support::{Rig, within},
};

struct Case {
    name: &'static str,
    method: &'static str,
    /// So many bytes are sent as a body that does not end.
    upload: usize,
    script: Script,
    /// The answer is read when the upstream has come to this mark.
    read_at: Option<&'static str>,
    /// How what is seen through teeline differs.
    change: fn(&mut Seen),
}

impl Case {
    fn new(name: &'static str, script: Script) -> Self {
        Self { name, method: "GET", upload: 0, script, read_at: None, change: |_| () }
    }

    async fn upstream(&self) -> Upstream {
        let script = self.script.clone();
        let builder = Upstream::builder().http2().early();
        builder.start(move |_| script.clone()).await.unwrap()
    }

    async fn ask(&self, app: &App, upstream: &Upstream, up: &str) -> Seen {
        let request = Request::builder().method(self.method).uri(format!("http://proxy{up}/x?y"));
        let request = request.header("x-a", "1").header("te", "trailers").body(()).unwrap();
        let (response, _sending) = app.begin(request, self.upload).await;
        if let Some(mark) = self.read_at {
            within(mark, upstream.reached(mark)).await;
        }
        read(within(self.name, response).await.unwrap()).await.unwrap()
    }

    /// What app and upstream see, without the proxy and through it.
    async fn both(&self) -> [(Seen, Vec<(String, String)>); 2] {
        let upstream = self.upstream().await;
        let stream = TcpStream::connect(upstream.addr()).await.unwrap();
        let app = App::over(stream, &client::Builder::new()).await;
        let direct = self.ask(&app, &upstream, "").await;
        let rig = Rig::with(self.upstream().await, Config::default()).await;
        let app = App::connect(&rig).await;
        let through = self.ask(&app, &rig.upstream, "/up").await;
        [(direct, asked(&upstream)), (through, asked(&rig.upstream))]
    }
}

fn asked(upstream: &Upstream) -> Vec<(String, String)> {
    let request = upstream.requests().remove(0);
    let mut headers = request.headers;
    // The app was given another address.
    headers.retain(|(name, _)| name != ":authority");
    headers.push((request.method, request.target));
    headers
}

fn cases() -> Vec<Case> {
    let three = || {
        vec![head(200, &[("x-b", "1"), ("x-a", ""), ("x-b", "2")]), data("a"), data("b"), data("c")]
    };
    let with = |last: Frame| Script::new().frames([three(), vec![last]].concat());
    let trailers = Frame::Trailers(vec![("x-sum".to_owned(), "7".to_owned())]);
    let mut cases = vec![
        Case::new("a body", with(Frame::DataEnd("d".into()))),
        Case::new("an empty last frame", with(Frame::DataEnd(Bytes::new()))),
        Case::new("trailers, undeclared", with(trailers)),
        Case::new("no body", Script::new().frames([Frame::HeadEnd(204, vec![])])),
        Case {
            method: "HEAD",
            ..Case::new(
                "a head",
                Script::new()
                    .frames([Frame::HeadEnd(200, vec![("content-length".into(), "99".into())])]),
            )
        },
        Case::new(
            "it leaves in mid-stream",
            Script::new()
                .frames([three(), vec![Frame::Leave]].concat())
                .frames([Frame::DataEnd("d".into())]),
        ),
        Case {
            read_at: Some("sent"),
            ..Case::new(
                "4 MiB to a slow reader",
                Script::new()
                    .frames([head(200, &[])])
                    .flow(vec![b'x'; 16 << 10], 3)
                    .mark("sent")
                    .flow(vec![b'x'; 16 << 10], 253)
                    .frames([Frame::DataEnd(Bytes::new())]),
            )
        },
        Case {
            method: "POST",
            upload: 20_000,
            // (t-early-response-then-reset, HTTP/2)
            ..Case::new(
                "an answer before the request is read",
                Script::new().frames([
                    head(413, &[("content-type", "application/json")]),
                    Frame::DataEnd("{\"error\":1}".into()),
                    Frame::Reset(0),
                ]),
            )
        },
        Case {
            change: |seen| seen.reset = Some(2),
            ..Case::new("NO_ERROR", with(Frame::Reset(0)))
        },
    ];
    for (name, code) in [("INTERNAL_ERROR", 2), ("CANCEL", 8), ("a code that has no name", 99)] {
        cases.push(Case::new(name, with(Frame::Reset(code))));
        let late = with(Frame::Reset(code)).mark("sent");
        cases.push(Case { read_at: Some("sent"), ..Case::new(name, late) });
        cases.push(Case::new(name, Script::new().frames([head(200, &[]), Frame::Reset(code)])));
    }
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_seen_over_http2_is_equal() {
    let mut unequal = Vec::new();
    for case in cases() {
        let [(mut direct, asked), (through, asked_through)] = case.both().await;
        (case.change)(&mut direct);
        if direct != through || asked != asked_through {
            unequal.push(format!(
                "{}\ndirect:  {direct:?} {asked:?}\nthrough: {through:?} {asked_through:?}",
                case.name
            ));
        }
    }
    assert!(unequal.is_empty(), "{} cases:\n{}", unequal.len(), unequal.join("\n\n"));
}
