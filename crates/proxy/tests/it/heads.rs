//! Heads pass unchanged but for what concerns one connection only.

use teeline_script::Script;

use crate::support::{End, Rig, get};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_gets_the_apps_head() {
    // Name case, order, adjacent duplicates, odd values, odd targets.
    let table = [
        (
            "GET /up/v1/models?limit=1&after=%2F HTTP/1.1",
            "GET /v1/models?limit=1&after=%2F HTTP/1.1",
        ),
        (
            "GET /up//a/../b%2Fc/./%2e%2e//?q=%20//&&= HTTP/1.1",
            "GET //a/../b%2Fc/./%2e%2e//?q=%20//&&= HTTP/1.1",
        ),
        ("GET /up HTTP/1.1", "GET / HTTP/1.1"),
        ("GET /up/\"ž{}|^\\?x={}|^`\\[]'ž HTTP/1.1", "GET /\"ž{}|^\\?x={}|^`\\[]'ž HTTP/1.1"),
        ("PROPFIND /up/x HTTP/1.1", "PROPFIND /x HTTP/1.1"),
        ("OPTIONS /up/x HTTP/1.1", "OPTIONS /x HTTP/1.1"),
        ("GET /up/x HTTP/1.0", "GET /x HTTP/1.0"),
    ];
    let headers = "X-First: 1\r\nhOST: proxy.example:4780\r\naccept: */*\r\nAUTHORIZATION: Bearer k\r\n\
                   X-Dup: a\r\nx-dup: b\r\nX-DUP:\r\nCookie: a=b; c=\"d\"\r\nOrigin: http://localhost\r\n\
                   X-Bytes: \u{e9}\u{2028}\r\nUser-Agent: OpenAI/Python 1.0\r\nX-Stainless-Lang: python\r\n";
    let host = |authority: &str| headers.replace("proxy.example:4780", authority);
    let rig = Rig::new(|_| Script::answer("200 OK", &[], "ok").fin()).await;
    for (number, (sent, expected)) in table.iter().enumerate() {
        let request =
            format!("{sent}\r\n{headers}\r\n").replace("proxy.example:4780", "localhost:4780");
        let mut app = rig.app().await;
        app.send(request).await;
        app.read_through("\r\n\r\nok").await;
        let received = rig.upstream.requests().remove(number).head;
        let expected = format!("{expected}\r\n{}\r\n", host(&rig.upstream.addr().to_string()));
        assert_eq!(String::from_utf8_lossy(&received), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_gets_the_upstreams_head() {
    let table = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 Fine With Me\r\nX-B: 1\r\nX-A: 2\r\ncontent-LENGTH: 2\r\nx-last: \r\n\r\nok",
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nx-ratelimit-remaining-tokens: 0\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 599 \r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nSET-COOKIE: c=3\r\nContent-Length: 0\r\nX-After: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nServer: x\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Bytes: \u{e9}\r\nAccess-Control-Allow-Origin: *\r\nVary: Origin, Accept\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 301 Moved Permanently\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n",
    ];
    for answer in table {
        let rig = Rig::new(move |_| Script::new().bytes(answer).fin()).await;
        let request = "GET /up/x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        let direct = rig.fetch_directly(request).await;
        let mut through = rig.fetch(request).await;
        if !direct.head.contains("Connection: close") {
            // The app asked for it; the script does not say that it does so.
            through.head = through.head.replacen("connection: close\r\n", "", 1);
        }
        assert_eq!(through, direct);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hop_by_hop_headers_stay_on_their_hop() {
    let rig = Rig::new(|_| {
        let head = [
            ("Connection", "X-Hop, close"),
            ("X-Hop", "1"),
            ("Keep-Alive", "timeout=5"),
            ("X-End", "2"),
            ("Content-Length", "0"),
        ];
        Script::head("200 OK", &head).fin()
    })
    .await;
    let answer = rig
        .fetch("GET /up/x HTTP/1.1\r\nHost: h\r\nA: 1\r\nTE: trailers, gzip\r\nConnection: TE, x-mine\r\nX-Mine: 1\r\nProxy-Connection: keep-alive\r\nB: 2\r\n\r\n")
        .await;
    let received = String::from_utf8(rig.upstream.requests()[0].head.to_vec()).unwrap();
    let host = rig.upstream.addr();
    assert_eq!(
        received,
        format!(
            "GET /x HTTP/1.1\r\nHost: {host}\r\nA: 1\r\nTE: trailers\r\nConnection: TE\r\nB: 2\r\n\r\n"
        )
    );
    assert_eq!(
        answer.head,
        "HTTP/1.1 200 OK\r\nConnection: close\r\nX-End: 2\r\nContent-Length: 0\r\n\r\n"
    );
}

/// Answers without a body keep the length that they speak of.
#[tokio::test(flavor = "multi_thread")]
async fn answers_without_a_body_keep_their_heads() {
    let table = [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-A: 1\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\n"),
        ("HEAD", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nX-A: 1\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: \"x\"\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A: 1\r\n\r\n"),
        (
            "OPTIONS",
            "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: authorization\r\n\r\n",
        ),
    ];
    for (method, head) in table {
        let rig = Rig::new(move |_| Script::new().bytes(head)).await;
        let mut app = rig.app().await;
        // The second request shows that nothing was left over from the first answer.
        for _ in 0..2 {
            app.send(format!("{method} /up/x HTTP/1.1\r\nHost: h\r\n\r\n")).await;
            let got = app.read_through("\r\n\r\n").await;
            assert_eq!(String::from_utf8(got).unwrap(), head, "{method}");
        }
        let connections: Vec<_> =
            rig.upstream.requests().iter().map(|request| request.connection).collect();
        assert_eq!(connections, [0, 0]);
        assert_eq!(rig.ended(1).await.state, teeline_capture::State::Ended);
    }
}

/// hyper passes trailers that were declared, to an app that takes them (UNCHANGED.md).
#[tokio::test(flavor = "multi_thread")]
async fn declared_trailers_pass() {
    let rig = Rig::new(|_| {
        Script::head("200 OK", &[("Trailer", "x-sum, X-Cost"), ("Transfer-Encoding", "chunked")])
            .chunk("abc")
            .last_chunk_with(&[("x-sum", "7"), ("x-cost", "0.01")])
    })
    .await;
    let answer = rig
        .fetch("GET /up/x HTTP/1.1\r\nHost: h\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n")
        .await;
    assert_eq!(answer.header("trailer"), Some("x-sum, X-Cost"));
    assert_eq!((answer.text().as_str(), answer.end), ("abc", End::Whole));
    assert_eq!(answer.rest, "x-sum: 7\r\nx-cost: 0.01\r\n\r\n");
    let trailers = rig.exchange(0).await.response.unwrap().trailers;
    let expected = [("x-sum", "7"), ("x-cost", "0.01")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!(trailers, expected);

    // Without TE the body is whole all the same, and the capture has the trailers.
    let answer = rig.fetch(get("/up/x")).await;
    assert_eq!((answer.text().as_str(), answer.end), ("abc", End::Whole));
    assert_eq!(rig.exchange(1).await.response.unwrap().trailers, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn informational_answers_pass_and_are_recorded() {
    let interim = "HTTP/1.1 103 Early Hints\r\nLINK: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n";
    let rig = Rig::new(move |_| Script::new().bytes(interim).gate("answer").bytes(ANSWER)).await;
    let mut app = rig.app().await;
    app.send(get("/up/x")).await;
    // Before the answer is there.
    assert_eq!(app.read_through("Processing\r\n\r\n").await, interim.as_bytes());
    rig.upstream.open_gate("answer");
    let answer = app.answer().await;
    assert_eq!((answer.status(), answer.text().as_str()), ("200", "ok"));
    // An app that speaks HTTP/1.0 knows none (RFC 9110, section 15.2).
    let answer = rig.fetch("GET /up/x HTTP/1.0\r\n\r\n").await;
    assert_eq!((answer.status(), answer.text().as_str()), ("200", "ok"));
    assert_eq!(rig.exchange(0).await.response.unwrap().informational, [103, 102]);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_heads_pass() {
    let long = "k".repeat(60_000);
    let many: Vec<String> = (0..300).map(|n| format!("X-Header-{n}: {n}\r\n")).collect();
    let many = many.concat();
    let answer = format!("HTTP/1.1 200 OK\r\n{many}X-Long: {long}\r\nContent-Length: 2\r\n\r\nok");
    let sent = answer.clone();
    let rig = Rig::new(move |_| Script::new().bytes(sent.clone())).await;
    let mut app = rig.app().await;
    app.send(format!("GET /up/x?{long} HTTP/1.1\r\nHost: h\r\n{many}X-Long: {long}\r\n\r\n")).await;
    let got = app.read_through("\r\n\r\nok").await;
    assert_eq!(String::from_utf8(got).unwrap(), answer);
    let received = &rig.upstream.requests()[0];
    assert_eq!(received.target, format!("/x?{long}"));
    assert_eq!(received.headers.len(), 302);
    assert_eq!(received.header("x-long"), Some(long.as_str()));
}

/// The capture has what the app sent and what the upstream sent.
#[tokio::test(flavor = "multi_thread")]
async fn the_capture_has_both_heads() {
    let rig = Rig::new(|_| {
        Script::head("103 Early Hints", &[("Link", "x")])
            .then(Script::head(
                "201 Made",
                &[("X-Id", "7"), ("CONTENT-LENGTH", "2"), ("x-id", "8")],
            ))
            .bytes("ok")
    })
    .await;
    let head = "Host: proxy:1\r\nx-A: 1\r\nBetween:\r\nX-a: 2\r\nConnection: close\r\n";
    rig.fetch(format!("GET /up/v1/x?a=b HTTP/1.1\r\n{head}\r\n")).await;
    let exchange = rig.exchange(0).await;
    let pairs = |headers: &[(&str, &str)]| -> Vec<(String, String)> {
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    assert_eq!(exchange.request.method, "GET");
    assert_eq!(exchange.request.url, format!("{}/v1/x?a=b", rig.upstream.url()));
    assert_eq!(exchange.summary.path, "/up/v1/x");
    assert_eq!(exchange.request.version, "HTTP/1.1");
    let sent =
        [("Host", "proxy:1"), ("x-A", "1"), ("Between", ""), ("X-a", "2"), ("Connection", "close")];
    assert_eq!(exchange.request.headers, pairs(&sent));
    let response = exchange.response.unwrap();
    assert_eq!((response.status, response.reason.as_deref()), (201, Some("Made")));
    assert_eq!(response.informational, [103]);
    assert_eq!(response.headers, pairs(&[("X-Id", "7"), ("CONTENT-LENGTH", "2"), ("x-id", "8")]));
    assert!(exchange.moments.sent_us.is_some() && exchange.moments.request_end_us.is_some());
}

/// Also of the later requests on a connection.
#[tokio::test(flavor = "multi_thread")]
async fn every_head_is_recorded_as_it_was_spelled() {
    let rig = Rig::new(|_| Script::answer("200 OK", &[("X-UP", "1")], "ok")).await;
    let mut app = rig.app().await;
    let with_body = "POST /up/x HTTP/1.1\r\nHoSt: h\r\nContent-LENGTH: 2\r\n\r\n{}";
    let without = "GET /up/x HTTP/1.1\r\nHoSt: h\r\n\r\n";
    for request in [with_body, with_body, without, without, with_body] {
        app.send(request).await;
        app.read_through("\r\n\r\nok").await;
    }
    // Pipelined.
    app.send([without, without].concat()).await;
    app.read_through("\r\n\r\nok").await;
    app.read_through("\r\n\r\nok").await;
    for number in 0..7 {
        let exchange = rig.exchange(number).await;
        assert_eq!(exchange.request.headers[0].0, "HoSt", "{number}");
        assert_eq!(exchange.response.unwrap().headers[0].0, "X-UP", "{number}");
    }
}
