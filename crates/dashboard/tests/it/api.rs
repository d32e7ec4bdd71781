//! The JSON API, contract 4.

use crate::support::{ADDRESS, Answer, Bench, WHOLE, bench, request};
use axum::body::Body;
use http::{Method, Request};
use serde_json::json;
use teeline_capture::Ending;

/// Contract 4: errors are `{"error":{"message":…}}` with a fitting status.
#[tokio::test]
async fn errors_have_one_shape() {
    let bench = bench();
    let id = bench.record(WHOLE, Ending::Clean).await;
    let unknown = "0190b6a5-2f4e-7c31-9d2a-5b8f0e6a1c77";
    let table = [
        (Method::GET, format!("/api/captures/{unknown}"), 404),
        (Method::GET, format!("/api/captures/{unknown}/frames"), 404),
        (Method::GET, format!("/api/captures/{unknown}/columns"), 404),
        (Method::GET, format!("/api/captures/{unknown}/matches?q=a"), 404),
        (Method::GET, format!("/api/captures/{unknown}/bytes"), 404),
        (Method::GET, format!("/api/captures/{unknown}/provenance"), 404),
        (Method::GET, format!("/api/captures/{unknown}/live"), 404),
        (Method::GET, format!("/api/captures/{unknown}/export?as=raw"), 404),
        (Method::GET, format!("/api/captures/{id}/export?as=nonsense"), 400),
        (Method::GET, format!("/api/captures/{id}/export"), 400),
        (Method::DELETE, format!("/api/captures/{unknown}"), 404),
        (Method::GET, "/api/captures/nonsense".to_owned(), 404),
        (Method::GET, "/api/captures?limit=many".to_owned(), 400),
        (Method::GET, "/api/captures?before=x".to_owned(), 400),
        (Method::GET, format!("/api/captures/{id}/frames?offset=-1"), 400),
        (Method::DELETE, "/api/captures".to_owned(), 400),
        (Method::POST, "/api/captures/undelete".to_owned(), 415),
        (Method::GET, "/api/nothing".to_owned(), 404),
        (Method::PUT, "/api/captures".to_owned(), 405),
        (Method::DELETE, "/api/store".to_owned(), 405),
        (Method::POST, "/api/findings".to_owned(), 405),
    ];
    for (method, path, status) in table {
        let answer = bench.send(request(method.clone(), &path, Body::empty())).await;
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(answer.header("content-type"), "application/json", "{method} {path}");
        let message = answer.json()["error"]["message"].as_str().map(str::len);
        assert!(message.is_some_and(|length| length > 5), "{method} {path}: {}", answer.text());
    }
}

#[tokio::test]
async fn the_stores_size_and_bounds_can_be_asked_for() {
    let bench = bench();
    assert_eq!(bench.get("/api/store").await.json()["oldest"], json!(null));
    let id = bench.record(WHOLE, Ending::Clean).await;
    let store = bench.get("/api/store").await.json();
    let summary = bench.get(&format!("/api/captures/{id}")).await.json()["summary"].take();
    assert_eq!(store["captures"], 1);
    assert_eq!(store["oldest"], summary["started_at"]);
    assert_eq!(store["keep_days"], 14);
    // In memory it keeps 256 MiB at most.
    assert_eq!(store["limit_bytes"], 256 << 20);
    assert!(store["bytes"].as_u64().unwrap() > WHOLE.len() as u64);
    // Nothing but asking.
    for method in [Method::PUT, Method::POST, Method::DELETE] {
        let answer = bench.send(request(method, "/api/store", Body::empty())).await;
        assert_eq!(answer.status, 405);
    }
}

#[tokio::test]
async fn the_list_is_newest_first_in_pages() {
    let bench = bench();
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(bench.record(WHOLE, Ending::Clean).await.to_string());
    }
    let mut seen = Vec::new();
    let mut path = "/api/captures?limit=2".to_owned();
    loop {
        let page = bench.get(&path).await.json();
        assert_eq!(page["counts"]["all"], 5);
        for capture in page["captures"].as_array().unwrap() {
            seen.push(capture["id"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["next"].as_u64() else { break };
        path = format!("/api/captures?limit=2&before={next}");
    }
    assert_eq!(seen, ids.into_iter().rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_capture_has_its_parts() {
    let bench = bench();
    let id = bench.record(WHOLE, Ending::Clean).await;
    let capture = bench.get(&format!("/api/captures/{id}")).await.json();
    assert_eq!(capture["summary"]["id"], id.to_string());
    assert_eq!(capture["request"]["method"], "POST");
    assert_eq!(capture["request"]["headers"], json!([["Content-Type", "application/json"]]));
    assert_eq!(capture["request"]["body"], r#"{"model":"m-1","messages":[]}"#);
    assert_eq!(capture["request"]["body_truncated"], false);
    assert_eq!(capture["response"]["status"], 200);
    assert_eq!(capture["response"]["trailers"], json!([]));
    assert_eq!(capture["reading"]["schema"], "teeline.reading/1");
    // A unique beginning of the id will do.
    assert_eq!(bench.get(&format!("/api/captures/{}", &id.to_string()[..20])).await.status, 200);
}

#[tokio::test]
async fn bytes_are_those_of_the_body() {
    let bench = bench();
    let id = bench.record(WHOLE, Ending::Clean).await;
    let table: [(String, &[u8]); 5] = [
        (String::new(), WHOLE),
        ("?offset=6&length=10".to_owned(), &WHOLE[6..16]),
        ("?offset=3".to_owned(), &WHOLE[3..]),
        (format!("?offset={}&length=100", WHOLE.len() - 4), &WHOLE[WHOLE.len() - 4..]),
        (format!("?offset={}", u64::MAX), b""),
    ];
    for (query, expected) in table {
        let answer = bench.get(&format!("/api/captures/{id}/bytes{query}")).await;
        assert_eq!(answer.body, expected, "{query}");
    }
}

/// Pages put together are the whole, whatever their size; `data=no` only leaves the data out.
#[tokio::test]
async fn frames_come_in_pages() {
    let bench = bench();
    let body: Vec<u8> = (0..450).flat_map(|n| format!(": {n}\n\n").into_bytes()).collect();
    let id = bench.record(Vec::leak(body), Ending::Clean).await;
    let frames = async |query: &str| {
        let answer = bench.get(&format!("/api/captures/{id}/frames{query}")).await.json();
        assert_eq!(answer["total"], 450, "{query}");
        let indexes = answer["frames"].as_array().unwrap().iter();
        indexes.map(|frame| frame["index"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(frames("").await, (0..450).collect::<Vec<_>>());
    assert_eq!(frames("?limit=3").await, [0, 1, 2]);
    assert_eq!(frames("?offset=199&limit=203").await, (199..402).collect::<Vec<_>>());
    assert_eq!(frames("?offset=448&limit=10&data=no").await, [448, 449]);
    assert_eq!(frames("?offset=450").await, [0; 0]);
    assert_eq!(frames("?limit=0").await, [0; 0]);
}

#[tokio::test]
async fn columns_say_the_same_as_frames() {
    let bench = bench();
    let id = bench.record(WHOLE, Ending::Clean).await;
    let frames = bench.get(&format!("/api/captures/{id}/frames")).await.json();
    let columns = bench.get(&format!("/api/captures/{id}/columns?from=1")).await.body;
    let u32_at = |at: usize| u32::from_le_bytes(columns[at..at + 4].try_into().unwrap());
    assert_eq!((u32_at(0), u32_at(4), u32_at(8)), (2, 1, 0));
    for (n, frame) in frames["frames"].as_array().unwrap()[1..].iter().enumerate() {
        let at = f64::from_le_bytes(columns[16 + n * 8..24 + n * 8].try_into().unwrap());
        assert_eq!(frame["at_ms"].as_f64(), Some(at));
        assert_eq!(frame["length"], u32_at(16 + 16 + n * 4));
    }
    assert_eq!(u32_at(16 + 16 + 8), 2, "bytes of `lo`");
}

#[tokio::test]
async fn frames_are_found_by_what_they_hold() {
    let bench = bench();
    let id = bench.record(WHOLE, Ending::Clean).await;
    let table = [
        ("HEL", vec![0]),
        ("m-1", vec![0, 1]),
        ("[done]", vec![2]),
        ("finish stop", vec![1]),
        ("nowhere", vec![]),
    ];
    for (q, expected) in table {
        let q = q.replace(' ', "%20");
        let found = bench.get(&format!("/api/captures/{id}/matches?q={q}")).await.json();
        assert_eq!(found, json!({ "frames": expected, "more": false }), "{q}");
    }
}

#[tokio::test]
async fn an_export_is_a_file() {
    let bench = bench();
    let id = bench.record(WHOLE, Ending::Clean).await;
    let answer = bench.get(&format!("/api/captures/{id}/export?as=raw")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, WHOLE);
    let disposition = answer.header("content-disposition");
    assert!(disposition.starts_with("attachment; filename=\""), "{disposition}");
    assert!(disposition.contains(&id.to_string()), "{disposition}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn the_catalogue_is_given_whole() {
    let answer = bench().get("/api/findings").await.json();
    let findings = answer["findings"].as_array().unwrap();
    assert_eq!(findings.len(), teeline_finding::catalogue::ENTRIES.len());
    for finding in findings {
        for key in ["id", "severity", "meaning", "why", "advice"] {
            assert!(finding[key].as_str().is_some_and(|text| !text.is_empty()), "{finding} {key}");
        }
    }
}

#[tokio::test]
async fn what_was_deleted_is_gone() {
    let bench = bench();
    let first = bench.record(WHOLE, Ending::Clean).await;
    let second = bench.record(WHOLE, Ending::Clean).await;
    assert_eq!(bench.delete(&format!("/api/captures/{first}")).await.status, 204);
    assert_eq!(bench.get(&format!("/api/captures/{first}")).await.status, 404);
    assert_eq!(bench.get(&format!("/api/captures/{second}")).await.status, 200);
    let answer = bench.delete("/api/captures?q=").await;
    assert_eq!(answer.status, 204);
    assert!(answer.body.is_empty());
    assert_eq!(bench.get("/api/captures").await.json()["captures"], json!([]));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let bench = bench();
    let body = Body::from(vec![b' '; 5 << 20]);
    let answer = bench
        .send(
            Request::post("/api/captures/undelete")
                .header("host", ADDRESS)
                .header("content-type", "application/json")
                .body(body)
                .unwrap(),
        )
        .await;
    assert_eq!(answer.status, 413);
    assert!(answer.json()["error"]["message"].is_string());
}

async fn read(bench: &Bench, query: &str, body: impl Into<Body>) -> Answer {
    let request = Request::post(format!("/api/read{query}")).header("host", ADDRESS);
    bench.send(request.body(body.into()).unwrap()).await
}

#[tokio::test]
async fn a_pasted_stream_is_read_with_frames_and_provenance() {
    let bench = bench();
    let answer = read(&bench, "", WHOLE).await;
    assert_eq!(answer.status, 200);
    let reading = answer.json();
    assert_eq!(reading["format"], "openai-chat");
    assert_eq!(reading["verdict"], "finished");
    assert_eq!(reading["id"], "c-1");
    assert_eq!(reading["outputs"][0]["text"], "Hello");
    assert_eq!(reading["frames"].as_array().unwrap().len(), 3);
    assert_eq!(reading["frames"][1]["carried"], "text +2, finish stop");
    assert_eq!(reading["provenance"], json!([[0, 0, 0, 3], [1, 0, 0, 2]]));
    // Nothing was stored.
    assert_eq!(bench.get("/api/captures").await.json()["counts"]["all"], 0);
}

/// Contract 5: stamped lines read back give the same Reading, with times.
#[tokio::test]
async fn stamps_on_pasted_lines_are_times() {
    let lines = std::str::from_utf8(WHOLE).unwrap().lines().enumerate();
    let stamp = |(n, line)| format!("2026-01-02T03:04:0{}.000000Z {line}\n", n / 2);
    let stamped: Vec<String> = lines.map(stamp).collect();
    let stamped = stamped.concat();
    let reading = read(&bench(), "", stamped).await.json();
    assert_eq!(reading["outputs"][0]["text"], "Hello");
    assert_eq!(reading["frames"][1]["at_ms"], 1000.0);
    assert_eq!(reading["frames"][1]["at"], "2026-01-02T03:04:01.000000Z");
    assert_eq!(reading["timing"]["first_text_ms"], 0.0);
}

#[tokio::test]
async fn a_pasted_stream_can_be_read_as_another_format_and_saved() {
    let bench = bench();
    assert_eq!(read(&bench, "?as=openai-chat", WHOLE).await.json()["format"], "openai-chat");
    let unknown = read(&bench, "?as=nonsense", WHOLE).await;
    assert_eq!(unknown.status, 400);
    assert!(unknown.text().contains("openai-chat"), "{}", unknown.text());
    let saved = read(&bench, "?save=1", WHOLE).await.json();
    let id = saved["id"].as_str().unwrap();
    assert_eq!(saved["capture_id"], id);
    assert_eq!(bench.get(&format!("/api/captures/{id}")).await.status, 200);
}

/// Contract 4: up to 64 MiB.
#[tokio::test]
async fn a_pasted_stream_may_have_64_mib() {
    let bench = bench();
    let limit = teeline_dashboard::READ_LIMIT;
    assert_eq!(limit, 64 << 20);
    let most = read(&bench, "", vec![b'x'; limit]).await;
    assert_eq!(most.status, 200);
    assert_eq!(most.json()["findings"][0]["id"], "too-large");
    let more = read(&bench, "", vec![b'x'; limit + 1]).await;
    assert_eq!(more.status, 413);
    assert!(more.json()["error"]["message"].is_string());
}
