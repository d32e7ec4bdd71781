use teeline_capture::{Import, Query, Timestamp};

use super::*;

/// What the captures of the table below are called.
fn fill(store: &Store) -> Vec<(CaptureId, &'static str)> {
    let tool = r#"data: {"id":"c","object":"chat.completion.chunk","model":"gpt-tool","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;
    let chat = chat("Hello 100% of_the world, naïve Ünïcode 天气 ok");
    let cut: String = chat.split_inclusive("\n\n").take(2).collect();
    let rows: [(&str, &str, u16, String, Ending); 6] = [
        ("hello", "/openai/v1/chat/completions", 200, chat, Ending::Clean),
        ("tool", "/groq/v1/chat/completions", 200, tool.to_owned(), Ending::Clean),
        (
            "cut",
            "/openai/v1/chat/completions",
            200,
            cut.clone(),
            Ending::UpstreamBroke { how: "reset".to_owned() },
        ),
        ("left", "/openai/v1/chat/completions", 200, cut, Ending::ClientLeft),
        (
            "missing",
            "/openai/chat/completions",
            404,
            r#"{"error":{"message":"no such path"}}"#.to_owned(),
            Ending::Clean,
        ),
        (
            "failed",
            "/vllm/v1/chat/completions",
            0,
            String::new(),
            Ending::Failed { kind: "connect-failed".to_owned(), message: String::new() },
        ),
    ];
    let mut ids = Vec::new();
    for (name, target, status, body, ending) in rows {
        let json = [("content-type", "application/json")];
        let headers = if status == 404 { &json } else { &SSE };
        let message = format!(
            r#"{{"model":"asked-{name}","messages":[{{"role":"user","content":"please {name}"}}]}}"#
        );
        let id = store
            .import(Import {
                request: request(target),
                request_body: Bytes::from(message),
                response: (0 < status).then(|| response(status, headers)),
                chunks: vec![(Bytes::from(body), Some(1000))],
                decoded: false,
                moments: None,
                started_at: Some("2026-01-02T12:00:00Z".parse::<Timestamp>().unwrap()),
                ending,
                format: None,
                stamps: false,
            })
            .unwrap();
        ids.push((id, name));
    }
    ids
}

const ALL: &[&str] = &["hello", "tool", "cut", "left", "missing", "failed"];

/// A query, and which captures it gives.
const TABLE: &[(&str, &[&str])] = &[
    ("", ALL),
    ("world", &["hello"]),
    ("WORLD", &["hello"]),
    ("\"of_the world\"", &["hello"]),
    ("world hello", &["hello"]),
    ("world nothing", &[]),
    ("orl", &["hello"]),
    ("100%", &["hello"]),
    ("of_the", &["hello"]),
    ("ofXthe", &[]),
    ("天气", &["hello"]),
    ("气", &["hello"]),
    ("ok", &["hello"]),
    ("%", &["hello"]),
    ("Paris", &["tool"]),
    ("get_weather", &["tool"]),
    ("gpt-tool", &["tool"]),
    ("\"please cut\"", &["cut"]),
    ("groq", &["tool"]),
    ("\"no such path\"", &["missing"]),
    ("it's \"quote", &[]),
    ("AND", &[]),
    ("model:GPT", &["tool"]),
    ("model:asked-fail", &["failed"]),
    ("-model:m-1", &["tool", "missing", "failed"]),
    ("upstream:openai", &["hello", "cut", "left", "missing"]),
    ("upstream:open -state:ended", &["cut", "left"]),
    ("format:openai-chat status:2xx", &["hello", "tool", "cut", "left"]),
    ("format:CHAT status:2xx", &["hello", "tool", "cut", "left"]),
    ("format:unknown status:2xx", &[]),
    ("path:/v1/", &["hello", "tool", "cut", "left", "failed"]),
    ("-path:/v1/", &["missing"]),
    ("tool:weather", &["tool"]),
    ("-tool:weather", &["hello", "cut", "left", "missing", "failed"]),
    ("finding:connection-broke", &["cut"]),
    ("finding:client-left", &["left"]),
    ("finding:base-url", &["missing"]),
    ("state:upstream-broke", &["cut"]),
    ("state:client-left", &["left"]),
    ("state:failed", &["failed"]),
    ("state:open", &[]),
    ("state:broken", &["cut", "missing", "failed"]),
    ("verdict:finished", &["hello", "tool"]),
    ("verdict:did-not-finish", &["cut", "left", "missing"]),
    ("verdict:empty", &["failed"]),
    ("status:404", &["missing"]),
    ("status:4xx", &["missing"]),
    ("status:2xx", &["hello", "tool", "cut", "left"]),
    ("-status:2xx", &["missing", "failed"]),
    ("streamed:yes", &["hello", "tool", "cut", "left"]),
    ("streamed:no", &["missing"]),
    ("since:2026-01-01", ALL),
    ("since:2026-01-04", &[]),
    ("until:2026-01-01", &[]),
    ("until:2026-01-03", ALL),
    ("since:2026-01-02T12:00:00Z", ALL),
    ("until:2026-01-02T12:00:00Z", &[]),
    ("since:2h", &[]),
    ("until:2h", ALL),
    ("STATE:Failed", &["failed"]),
    ("path:\"chat/comp\" status:404", &["missing"]),
];

#[test]
fn every_key_narrows_and_excludes() {
    let store = memory();
    let ids = fill(&store);
    let names = |query: &str| {
        let query = Query::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let mut found: Vec<_> = store
            .list(&query, None, 100)
            .unwrap()
            .captures
            .iter()
            .map(|summary| ids.iter().find(|(id, _)| *id == summary.id).unwrap().1)
            .collect();
        found.reverse();
        found
    };
    for (query, expected) in TABLE {
        assert_eq!(names(query), *expected, "{query}");
    }
    assert_eq!(names("finding:error").first(), Some(&"cut"));
    // No response came, so nothing can be wrong with it: how it failed says all.
    assert!(!names("finding:any").contains(&"failed"));
}

#[test]
fn counts_are_those_of_the_query_without_its_segment() {
    let store = memory();
    fill(&store);
    let counts = |query: &str| store.list(&Query::parse(query).unwrap(), None, 1).unwrap().counts;
    let all = counts("");
    assert_eq!((all.all, all.open, all.broken), (6, 0, 3));
    assert_eq!(counts("state:open"), all);
    assert_eq!(counts("finding:any"), all);
    assert_eq!(counts("state:broken").all, 6);
    assert_eq!(counts("upstream:groq").all, 1);
    // What no segment writes narrows all of them.
    assert_eq!((counts("state:ended").all, counts("state:ended").broken), (3, 1));
    assert_eq!(counts("finding:error").all, counts("finding:error finding:any").all);
    assert_eq!(counts("-state:ended").all, 3);
    let tap = store.recorder().begin(request("/openai/v1/now"));
    let mut feed = store.feed();
    tap.response(response(200, &SSE));
    wait_for(&mut feed, |change| match change {
        Change::Capture(summary) if summary.id == tap.id() => Some(()),
        _ => None,
    });
    assert_eq!(counts("").open, 1);
    // An open one is found by what is known of it.
    assert_eq!(store.matching(&Query::parse("v1/now").unwrap()).unwrap(), [tap.id()]);
}

#[test]
fn what_does_not_exist_is_an_error_that_names_what_does() {
    for (query, words) in [
        ("colour:red", &["`colour:`", "model:", "finding:", "streamed:"][..]),
        ("-colour:red", &["`colour:`"]),
        ("state:finished", &["`finished`", "upstream-broke", "interrupted"]),
        ("verdict:broken", &["did-not-finish"]),
        ("finding:nothing", &["tool-call-no-index", "any", "error"]),
        ("format:nothing", &["openai-chat", "unknown"]),
        ("status:abc", &["404", "4xx"]),
        ("status:9xx", &["404"]),
        ("since:yesterday", &["2h", "2026-11-29"]),
        ("streamed:maybe", &["yes no"]),
        ("model:", &["needs a value", "model:gpt"]),
        ("http://x", &["`http:`", "quotes"]),
    ] {
        let error = Query::parse(query).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{query}: {error} lacks {word}");
        }
    }
    assert!(Query::parse("\"http://x\" a:\"b").is_err());
    assert!(Query::parse("\"http://x\" \"open quote").is_ok());
}
