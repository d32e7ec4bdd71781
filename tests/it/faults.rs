//! What can go wrong around the program: each a clear message, the right exit code, nothing lost.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output},
};

use teeline_script::{Script, Upstream};
use teeline_tests::{Binary, Teeline, World, block_on, chat, request, run};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_second_serve_names_the_first_ones_dashboard() {
    let world = World::start(|_| Script::new());
    let data = world.data_dir();
    let second = run([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--dashboard",
        "127.0.0.1:0",
        "--data-dir",
        &data,
    ]);
    assert_eq!(second.status.code(), Some(2));
    let dashboard = format!("http://{}", world.teeline.dashboard);
    assert!(said(&second).contains(&dashboard), "{dashboard} is not in {}", said(&second));

    // Also where the ports are the same, as with two plain starts.
    let (proxy, page) = (world.teeline.proxy.to_string(), world.teeline.dashboard.to_string());
    let third = run(["serve", "--listen", &proxy, "--dashboard", &page, "--data-dir", &data]);
    assert_eq!(third.status.code(), Some(2));
    assert!(said(&third).contains(&dashboard), "{}", said(&third));
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    for flags in [
        ["--listen", &address, "--dashboard", "127.0.0.1:0"],
        ["--listen", "127.0.0.1:0", "--dashboard", &address],
    ] {
        let output = run(["serve", "--data-dir", &data].iter().chain(&flags));
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(&address), "{}", said(&output));
        assert!(
            said(&output).contains(flags[usize::from(flags[1] != address) * 2]),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "").unwrap();
    let data = file.join("data").display().to_string();
    let output = run([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--dashboard",
        "127.0.0.1:0",
        "--data-dir",
        &data,
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains(&data) && said(&output).contains("--data-dir"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let world = World::start(|_| Script::sse(chat::answer(&["kept"])));
    world.ask().response();
    world.ended();
    let data = world.data_dir();
    let World { teeline, .. } = &world;
    teeline.interrupt();
    let database = fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3")))
        .expect("the store is an SQLite file");
    teeline_tests::eventually("the first one's end", || {
        let output = run(["serve", "--listen", "256.0.0.1:0", "--data-dir", &data]);
        (output.status.code() == Some(2)).then_some(())?;
        rusqlite::Connection::open(&database).ok()?.pragma_update(None, "user_version", 9_999).ok()
    });
    for args in [
        &["serve", "--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--data-dir", &data][..],
        &["list", "--data-dir", &data],
    ] {
        let output = teeline_tests::eventually("the lock's release", || {
            let output = run(args);
            (!said(&output).contains("another teeline")).then_some(output)
        });
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("newer"), "{}", said(&output));
    }
    let connection = rusqlite::Connection::open(&database).unwrap();
    let kept: (i64, i64) = connection
        .query_row(
            "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM capture)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(kept, (9_999, 1));
}

#[test]
fn the_store_is_for_its_owner_only() {
    let world = World::start(|_| Script::sse(chat::answer(&["mine"])));
    world.ask().response();
    world.ended();
    let data = world.data_dir();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(std::path::Path::new(&data)), 0o700);
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn without_a_store_nothing_is_left_behind() {
    let world = World::start_with(&["--no-store"], |_| Script::sse(chat::answer(&["forgotten"])));
    world.ask().response();
    assert_eq!(world.ended()["reading"]["outputs"][0]["text"], "forgotten");
    let left: Vec<_> = fs::read_dir(world.data_dir())
        .map(|entries| entries.flatten().collect())
        .unwrap_or_default();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_apps_own_faults_and_dead_upstreams_are_told_apart() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let dead = format!("dead=http://{closed}");
    let world = World::start_with(&["--upstream", &dead], |_| Script::new());
    for (target, status, kind, word) in [
        ("/dead/v1/chat/completions", 502, "connect-failed", closed.port().to_string()),
        ("/nowhere/v1/chat/completions", 404, "no-upstream", "/test".to_owned()),
        ("http://api.openai.com/v1/models", 400, "not-a-proxy", "base URL".to_owned()),
    ] {
        let response = request(world.teeline.proxy, "POST", target, &[], b"{}");
        assert_eq!(response.status(), status, "{target}");
        assert_eq!(response.header("x-teeline-error"), Some(kind), "{target}");
        let error = &response.json()["error"];
        assert_eq!(error["kind"], kind);
        assert!(
            error.to_string().contains(&word) || response.json().to_string().contains(&word),
            "{error}"
        );
    }
    let capture = world.newest();
    assert_eq!(capture["state"], "failed");
}

#[test]
fn tls_is_checked_and_a_configured_authority_is_trusted() {
    let authority = teeline_script::Authority::new().unwrap();
    let upstream = block_on(
        Upstream::builder().tls(&authority).start(|_| Script::sse(chat::answer(&["over", " TLS"]))),
    )
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let named = format!("secure=https://localhost:{}", upstream.addr().port());
    let ca = folder.path().join("ca.pem");
    fs::write(&ca, authority.pem()).unwrap();
    let config = folder.path().join("teeline.toml");
    fs::write(&config, format!("[tls]\nca_files = [{:?}]\n", ca.display().to_string())).unwrap();

    let untrusting = Teeline::start(&folder.path().join("one"), &["--upstream", &named]);
    let refused = request(untrusting.proxy, "POST", "/secure/v1/chat/completions", &[], b"{}");
    assert_eq!((refused.status(), refused.header("x-teeline-error")), (502, Some("tls-failed")));

    let config = config.display().to_string();
    let trusting =
        Teeline::start(&folder.path().join("two"), &["--upstream", &named, "--config", &config]);
    let passed = request(trusting.proxy, "POST", "/secure/v1/chat/completions", &[], b"{}");
    assert_eq!(passed.status(), 200, "{}", String::from_utf8_lossy(&passed.body));
    assert_eq!(passed.body, chat::answer(&["over", " TLS"]).concat().as_bytes());
}

#[test]
fn it_stops_on_the_first_signal_and_open_streams_are_interrupted() {
    let mut world = World::start(|_| {
        Script::sse_head()
            .chunk(chat::delta(0, &serde_json::json!({ "content": "open" })))
            .gate("never")
    });
    let config_grace = world.teeline.data_dir().with_file_name("grace.toml");
    fs::write(&config_grace, "[timeouts]\nshutdown_seconds = 1\n").unwrap();
    let named = format!("test={}", world.upstream.url());
    let config = config_grace.display().to_string();
    let folder = tempfile::tempdir().unwrap();
    world.teeline = Teeline::start(folder.path(), &["--upstream", &named, "--config", &config]);
    let mut client = world.ask();
    client.read_head();
    assert_eq!(world.newest()["state"], "open");
    let data = folder.path().display().to_string();
    let stopped =
        std::mem::replace(&mut world.teeline, Teeline::start(&folder.path().join("other"), &[]));
    assert_eq!(stopped.stop(), Some(0));
    let list = run(["list", "--json", "--data-dir", &data]);
    let row: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(row["state"], "interrupted");
    assert_eq!(row["preview"], "open");
}

#[test]
fn the_demo_needs_no_key_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let mut command: Command = Binary::command(["demo"]);
    command.env("TMPDIR", temporary.path());
    let demo = Teeline::spawn(command, temporary.path());
    let list = teeline_tests::eventually("the demo's streams", || {
        let list = teeline_tests::get_json(demo.dashboard, "/api/captures");
        // The scene that is asked for last.
        let is_over =
            list["captures"].get(0).is_some_and(|newest| newest["model"] == "demo-answer");
        (is_over && list["counts"]["open"] == 0).then_some(list)
    });
    let find = |model: &str| {
        list["captures"]
            .as_array()
            .unwrap()
            .iter()
            .find(|capture| capture["model"] == model)
            .unwrap_or_else(|| panic!("{model}"))
    };
    assert_eq!(find("demo-answer")["verdict"], "finished");
    assert_eq!(find("demo-tools")["tool_names"], serde_json::json!(["get_weather", "get_time"]));
    assert_eq!(find("demo-choices")["choices"], 2);
    assert_eq!(find("demo-broken")["state"], "upstream-broke");
    assert_eq!(demo.stop(), Some(0));
    let left: Vec<_> =
        fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
