//! The pages and what they are made of.

use axum::body::Body;
use http::Method;

use crate::support::{bench, request, request_head};

#[tokio::test]
async fn the_pages_are_there() {
    let bench = bench();
    let id = bench.record(crate::support::WHOLE, teeline_capture::Ending::Clean).await;
    for path in
        ["/".to_owned(), "/?q=state:open".to_owned(), "/read".to_owned(), format!("/captures/{id}")]
    {
        let answer = bench.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert!(answer.text().contains("127.0.0.1</span>:4780"), "{path}");
    }
    assert_eq!(bench.get("/healthz").await.text(), "ok");
}

#[tokio::test]
async fn what_is_not_there_is_said_on_a_page() {
    let bench = bench();
    for path in ["/nothing", "/captures/0190b6a5-2f4e-7c31-9d2a-5b8f0e6a1c77"] {
        let answer = bench.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{path}");
    }
}

/// Everything that a page names can be had, and may be kept for ever.
#[tokio::test]
async fn every_asset_that_a_page_names_is_served() {
    let bench = bench();
    let id = bench.record(crate::support::WHOLE, teeline_capture::Ending::Clean).await;
    for path in
        ["/".to_owned(), "/read".to_owned(), format!("/captures/{id}"), "/nothing".to_owned()]
    {
        let html = bench.get(&path).await.text();
        let mut named = 0;
        for asset in html.split('"').filter(|part| part.starts_with("/assets/")) {
            let answer = bench.get(asset).await;
            assert_eq!(answer.status, 200, "{path}: {asset}");
            assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
            named += 1;
        }
        assert!(named > 3, "{path}");
    }
}

/// A script that imports another finds it.
#[tokio::test]
async fn every_script_that_a_script_imports_is_served() {
    let bench = bench();
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_none_or(|extension| extension != "js") {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        for import in source.split("from \"./").skip(1) {
            let name = import.split('"').next().unwrap();
            let answer = bench.get(&format!("/assets/x/{name}")).await;
            assert_eq!(answer.status, 200, "{}: {name}", file.display());
            assert_eq!(answer.header("content-type"), "text/javascript; charset=utf-8");
        }
    }
}

/// A page names every script that its own one needs, so that they come at once and not one after another.
#[tokio::test]
async fn pages_name_all_the_scripts_they_need() {
    let bench = bench();
    let id = bench.record(crate::support::WHOLE, teeline_capture::Ending::Clean).await;
    let pages =
        [("/", "list.js"), ("/read", "read.js"), (&format!("/captures/{id}"), "capture.js")];
    for (path, script) in pages {
        let mut needed = std::collections::BTreeSet::new();
        let mut unread = vec![script.to_owned()];
        while let Some(name) = unread.pop() {
            let file = format!("{}/assets/{name}", env!("CARGO_MANIFEST_DIR"));
            let source = std::fs::read_to_string(file).unwrap();
            for import in source.split("from \"./").skip(1) {
                let import = import.split('"').next().unwrap().to_owned();
                if needed.insert(import.clone()) {
                    unread.push(import);
                }
            }
        }
        let html = bench.get(path).await.text();
        let preloads = html.split("rel=\"modulepreload\" href=\"").skip(1);
        let named =
            preloads.map(|link| link.split('"').next().unwrap().rsplit('/').next().unwrap());
        assert_eq!(named.collect::<Vec<_>>(), needed.iter().collect::<Vec<_>>(), "{path}");
    }
}

#[tokio::test]
async fn assets_do_not_lead_out_of_their_folder() {
    let bench = bench();
    for path in [
        "/assets/x/../Cargo.toml",
        "/assets/x/%2e%2e/Cargo.toml",
        "/assets/x/..%2fCargo.toml",
        "/assets/x//etc/passwd",
    ] {
        assert_eq!(bench.get(path).await.status, 404, "{path}");
    }
}

/// What was captured stands in a page as text.
#[tokio::test]
async fn hostile_names_are_escaped() {
    let bench = bench();
    let mut head = request_head("/openai/\"><script>alert(1)</script>");
    head.upstream = "<img src=x onerror=alert(1)>".to_owned();
    let tap = bench.begin(head).await;
    let html = bench.get(&format!("/captures/{}", tap.id())).await.text();
    assert!(!html.contains("<script>alert"), "{html}");
    assert!(!html.contains("<img"), "{html}");
    let missing = bench.get("/captures/%3Cscript%3Ealert(1)%3C%2Fscript%3E").await;
    assert_eq!(missing.status, 404);
    assert!(!missing.text().contains("<script>alert"));
}

/// The words that the templates hold are those of the catalogue, so that a language can replace them.
#[tokio::test]
async fn words_in_templates_are_those_of_the_catalogue() {
    let words = include_str!("../../assets/english.js");
    let bench = bench();
    let id = bench.record(crate::support::WHOLE, teeline_capture::Ending::Clean).await;
    for path in
        ["/".to_owned(), "/read".to_owned(), format!("/captures/{id}"), "/nothing".to_owned()]
    {
        let html = bench.get(&path).await.text();
        for part in html.split(" data-t=\"").skip(1) {
            let (key, rest) = part.split_once('"').unwrap();
            let text = rest.split_once('>').unwrap().1.split('<').next().unwrap();
            let text = text.replace("&#39;", "'");
            let quoted = format!("\"{key}\": \"{text}\"");
            let bare = format!("{key}: \"{text}\"");
            assert!(words.contains(&quoted) || words.contains(&bare), "{path}: {quoted}");
        }
        for part in html.split(" data-label=\"").skip(1) {
            let key = part.split('"').next().unwrap();
            assert!(
                words.contains(&format!("\"{key}\": \"")) || words.contains(&format!("{key}: \"")),
                "{path}: {key}"
            );
        }
    }
}

/// DASHBOARD.md: under 150 KB of assets, gzipped.
#[tokio::test]
async fn the_assets_are_small() {
    let bench = bench();
    let mut all = 0;
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).unwrap() {
        let path = format!("/assets/x/{}", file.unwrap().file_name().into_string().unwrap());
        let mut request = request(Method::GET, &path, Body::empty());
        request.headers_mut().insert("accept-encoding", "gzip, br".parse().unwrap());
        let answer = bench.send(request).await;
        assert_eq!(answer.header("content-encoding"), "gzip", "{path}");
        assert_eq!(answer.header("vary"), "accept-encoding", "{path}");
        assert_eq!(answer.body[..2], [0x1f, 0x8b], "{path}");
        all += answer.body.len();
    }
    assert!(all < 150_000, "{all} bytes");
}
