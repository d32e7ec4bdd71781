//! The main job: a stream passes unchanged and at once, and is on disk with its times.

use std::{fs, path::Path, process::Command};

use teeline_script::Script;
use teeline_tests::{Client, World, block_on, chat, run, sha256, text};

/// Reads on until `needle` has come.
fn read_until(client: &mut Client, seen: &mut Vec<u8>, needle: &str) {
    while !String::from_utf8_lossy(seen).contains(needle) {
        let more = client.read_some().expect("the stream goes on");
        assert!(
            !more.is_empty(),
            "the stream ended before {needle:?}: {:?}",
            String::from_utf8_lossy(seen)
        );
        seen.extend(more);
    }
}

#[test]
fn each_part_reaches_the_app_before_the_next_is_sent() {
    let parts = chat::answer(&["Each ", "part ", "at once."]);
    let gates: Vec<String> = (0..parts.len()).map(|number| format!("part {number}")).collect();
    let script = parts
        .iter()
        .zip(&gates)
        .fold(Script::sse_head(), |script, (part, gate)| script.gate(gate).chunk(part));
    let world = World::start(move |_| script.clone().last_chunk());

    let mut client = world.ask();
    let mut seen = Vec::new();
    for (part, gate) in parts.iter().zip(&gates) {
        block_on(world.upstream.reached(gate));
        // The upstream sends this part only now, and the one after it only when the app has this one.
        world.upstream.open_gate(gate);
        read_until(&mut client, &mut seen, part.trim_end());
    }
    assert_eq!(world.ended()["summary"]["state"], "ended");
}

#[test]
fn the_capture_is_what_the_app_got() {
    let frames = chat::answer(&["Grüße, ", "мир", " 🙂"]);
    let body = frames.concat();
    let served = frames.clone();
    let world = World::start(move |_| Script::sse(served.clone()));

    let response = world.ask().response();
    assert!(response.whole);
    assert_eq!(response.body, body.as_bytes());

    let capture = world.ended();
    let id = text(&capture["summary"]["id"]).to_owned();
    assert_eq!(world.export(&id, "raw"), body.as_bytes());
    assert_eq!(capture["reading"]["outputs"][0]["text"], "Grüße, мир 🙂");
    assert_eq!(capture["reading"]["verdict"], "finished");
    assert_eq!(capture["reading"]["findings"], serde_json::json!([]));
    assert_eq!(capture["reading"]["usage"]["total_tokens"], 16);
    assert_eq!(capture["summary"]["sha256"], sha256(body.as_bytes()));
    assert_eq!(capture["summary"]["bytes"], body.len());
    assert_eq!(capture["summary"]["bytes_to_app"], body.len());

    // What is stamped reads back as the same thing, with times.
    let stamped = world.export(&id, "stamped");
    let output = teeline_tests::run_with_input(["read", "--json"], &stamped);
    let back: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in ["format", "verdict", "outputs", "usage", "response", "findings"] {
        assert_eq!(back[key], capture["reading"][key], "{key}");
    }
    assert!(back["timing"]["last_byte_ms"].is_number());

    // The command line sees the same store while the proxy runs.
    let data = world.data_dir();
    let list = run(["list", "--json", "--data-dir", &data]);
    let row: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(row["id"], id.as_str());
    let raw = run(["export", &id[..13], "--as", "raw", "--data-dir", &data]);
    assert_eq!(raw.stdout, body.as_bytes());
    let shown = run(["show", &id, "--data-dir", &data]);
    assert_eq!(shown.status.code(), Some(0), "{}", String::from_utf8_lossy(&shown.stderr));
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Grüße, мир 🙂"));
}

#[test]
fn a_capture_leaves_as_har_and_as_a_command() {
    let body = chat::answer(&["it's ", "$HOME"]).concat();
    let served = chat::answer(&["it's ", "$HOME"]);
    let world = World::start(move |_| Script::sse(served.clone()));
    world.ask().response();
    let capture = world.ended();
    let id = text(&capture["summary"]["id"]).to_owned();

    let har: serde_json::Value = serde_json::from_slice(&world.export(&id, "har")).unwrap();
    let entry = &har["log"]["entries"][0];
    assert_eq!(har["log"]["version"], "1.2");
    assert_eq!(entry["request"]["method"], "POST");
    assert_eq!(entry["request"]["url"], format!("{}/v1/chat/completions", world.upstream.url()));
    assert_eq!(entry["request"]["postData"]["text"], chat::request().to_string());
    assert_eq!(entry["response"]["status"], 200);
    assert_eq!(entry["response"]["content"]["text"], body.as_str());
    assert_eq!(entry["_teeline"]["frames"].as_array().map(Vec::len), Some(6));
    let timings = &entry["timings"];
    let parts = ["send", "wait", "receive"].map(|part| timings[part].as_f64().unwrap());
    assert!(
        parts.iter().all(|part| 0.0 <= *part)
            && (entry["time"].as_f64().unwrap() - parts.iter().sum::<f64>()).abs() < 0.01
    );

    // The command, with a shell that shows the words it would call curl with.
    let command = String::from_utf8(world.export(&id, "curl")).unwrap();
    let shown = Command::new("sh")
        .arg("-c")
        .arg(format!("curl() {{ printf '%s\\n' \"$@\"; }}\n{command}"))
        .env("TEST_API_KEY", "the-key")
        .output()
        .unwrap();
    let words = String::from_utf8(shown.stdout).unwrap();
    for word in [
        "-N",
        &format!("{}/v1/chat/completions", world.upstream.url()),
        "Authorization: Bearer the-key",
        &chat::request().to_string(),
    ] {
        assert!(words.lines().any(|line| line == word), "{word} is not among {words}");
    }
}

#[test]
fn a_broken_stream_keeps_every_byte_and_stays_broken() {
    let frames = chat::answer(&["This ", "breaks."]);
    let kept: String = frames[..3].concat();
    let served = frames.clone();
    let world = World::start(move |_| {
        served[..3].iter().fold(Script::sse_head(), Script::chunk).bytes("40\r\ndata: {\"cut").rst()
    });
    let response = world.ask().response();
    assert!(!response.whole, "a broken body must not look whole");
    assert_eq!(String::from_utf8_lossy(&response.body), format!("{kept}data: {{\"cut"));

    let capture = world.ended();
    assert_eq!(capture["summary"]["state"], "upstream-broke");
    assert_eq!(capture["summary"]["ended_by"], "upstream");
    assert_eq!(capture["reading"]["verdict"], "did-not-finish");
    let ids: Vec<&str> = capture["reading"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| text(&finding["id"]))
        .collect();
    for id in ["connection-broke", "cut", "no-end"] {
        assert!(ids.contains(&id), "{id} is not in {ids:?}");
    }
    assert_eq!(world.export(text(&capture["summary"]["id"]), "raw"), response.body);
}

#[test]
fn an_app_that_leaves_stops_the_upstream_request() {
    let frames = chat::answer(&["Nobody ", "listens."]);
    let world = World::start(move |_| {
        frames[..2].iter().fold(Script::sse_head(), Script::chunk).gate("never").last_chunk()
    });
    let mut client = world.ask();
    let mut seen = Vec::new();
    read_until(&mut client, &mut seen, "Nobody");
    drop(client);
    block_on(world.upstream.client_gone(0));
    let capture = world.ended();
    assert_eq!(capture["summary"]["state"], "client-left");
    assert_eq!(capture["reading"]["outputs"][0]["text"], "Nobody ");
}

#[test]
fn secrets_are_nowhere_in_the_store() {
    let world = World::start(|_| {
        let quoting =
            r#"{"error":{"message":"Incorrect API key provided: sk-planted-secret-0123456789"}}"#;
        Script::answer(
            "401 Unauthorized",
            &[("Content-Type", "application/json"), ("Set-Cookie", "sid=planted-cookie-secret")],
            quoting,
        )
    });
    let mut client = Client::connect(world.teeline.proxy);
    let headers = [
        ("Authorization", "Bearer sk-planted-secret-0123456789"),
        ("X-Api-Key", "planted-header-secret"),
        ("My-Gateway-Token", "planted-token-secret"),
    ];
    client.request(
        "POST",
        "/test/v1/chat/completions?key=planted-query-secret&x=1",
        &headers,
        b"{}",
    );
    let response = client.response();
    // The app gets what the upstream said, to the byte.
    assert!(String::from_utf8_lossy(&response.body).contains("sk-planted-secret-0123456789"));
    assert!(response.head.contains("planted-cookie-secret"));
    let sent = world.upstream.requests();
    assert!(sent[0].target.contains("planted-query-secret"));
    assert_eq!(sent[0].header("x-api-key"), Some("planted-header-secret"));

    let capture = world.ended();
    assert_eq!(capture["summary"]["status"], 401);
    let shown = capture.to_string();
    let logged = world.teeline.log().join("\n");
    let data = world.data_dir();
    for secret in [
        "sk-planted-secret-0123456789",
        "planted-header-secret",
        "planted-token-secret",
        "planted-query-secret",
        "planted-cookie-secret",
    ] {
        assert!(!shown.contains(secret), "{secret} is in the API's answer");
        assert!(!logged.contains(secret), "{secret} is in the log");
        assert_not_in_folder(Path::new(&data), secret);
    }
}

#[test]
fn headers_given_to_an_upstream_are_sent_and_never_shown() {
    let quoting = r#"{"error":"wrong pass: planted-gateway-pass"}"#;
    let config = |url: &str| {
        format!(
            "[upstreams.gateway]\nurl = '{url}'\nheaders = {{ X-Pass = 'planted-gateway-pass', Team = 'blue' }}\n"
        )
    };
    let world = World::start_configured(config, move |_| {
        Script::answer("401 Unauthorized", &[("Content-Type", "application/json")], quoting)
    });
    let mut client = Client::connect(world.teeline.proxy);
    let own = [("x-pass", "the app's"), ("Accept", "*/*"), ("X-Pass", "and again")];
    client.request("POST", "/gateway/v1/chat/completions", &own, b"{}");
    assert_eq!(client.response().body, quoting.as_bytes());
    // In the place of the app's own, of which none is left.
    let sent = world.upstream.requests();
    let passes: Vec<_> =
        sent[0].headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-pass")).collect();
    assert_eq!(passes.len(), 1);
    assert_eq!(sent[0].header("x-pass"), Some("planted-gateway-pass"));
    assert_eq!((sent[0].header("team"), sent[0].header("accept")), (Some("blue"), Some("*/*")));

    let capture = world.ended();
    let headers = capture["request"]["headers"].as_array().expect("headers").clone();
    let shown = headers.iter().find(|header| header[0] == "x-pass").expect("it is listed");
    assert!(text(&shown[1]).starts_with("[redacted 20 bytes"), "{shown}");
    let shown = capture.to_string() + &world.teeline.log().join("\n");
    assert!(!shown.contains("planted-gateway-pass"), "{shown}");
    assert_not_in_folder(Path::new(&world.data_dir()), "planted-gateway-pass");
}

fn assert_not_in_folder(folder: &Path, secret: &str) {
    for entry in fs::read_dir(folder).expect("the store has a folder") {
        let path = entry.expect("it can be listed").path();
        let bytes = fs::read(&path).expect("it can be read");
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
            "{secret} is in {}",
            path.display()
        );
    }
}
