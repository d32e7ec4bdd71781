//! The commands around the store: what leaves comes back in, what happens is followed, what was recorded answers
//! again, and a command is run with its streams watched.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, ChildStdout, Output, Stdio},
};

use serde_json::{Value, json};
use teeline_script::Script;
use teeline_tests::{Binary, Client, World, chat, eventually, request, run, text};

fn string(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", string(&output.stderr));
    let lines = string(&output.stdout);
    lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// An answer in three pieces.
fn hello() -> Vec<String> {
    chat::answer(&["Hel", "lo ", "there"])
}

#[test]
fn what_was_exported_comes_back_in() {
    let world = World::start(|_| Script::sse(hello()));
    world.ask().response();
    let id = text(&world.ended()["summary"]["id"]).to_owned();
    let reading = |data: &str, id: &str| {
        let shown = run(["show", id, "--json", "--data-dir", data]);
        let mut reading: Value = serde_json::from_slice(&shown.stdout).expect("a reading");
        // A saved stream has no request whose start times could count from.
        for gone in ["timing", "findings"] {
            reading.as_object_mut().expect("an object").remove(gone);
        }
        reading
    };
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other").display().to_string();
    for kind in ["raw", "stamped", "har"] {
        let file = folder.path().join(kind).display().to_string();
        let data = world.data_dir();
        let exported = run(["export", &id, "--as", kind, "-o", &file, "--data-dir", &data]);
        assert!(exported.status.success(), "{}", string(&exported.stderr));
        let imported = lines(&run(["import", "--json", &file, "--data-dir", &other]));
        assert_eq!(imported.len(), 1, "{kind}");
        let new = text(&imported[0]["id"]);
        assert_eq!(reading(&other, new), reading(&data, &id), "{kind}");
        let path = if kind == "har" { "/test/v1/chat/completions" } else { "" };
        assert_eq!(imported[0]["path"], path);
        // Stamped lines and HARs bring the times along.
        assert_eq!(imported[0]["first_text_ms"].is_number(), kind != "raw", "{kind}");
    }
    let listed = lines(&run(["list", "--json", "--data-dir", &other]));
    assert_eq!(listed.len(), 3);
    // Beside a teeline that serves the store, too.
    let raw = folder.path().join("raw").display().to_string();
    assert_eq!(lines(&run(["import", "--json", &raw, "--data-dir", &world.data_dir()])).len(), 1);
    assert_eq!(world.api("/api/captures")["captures"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_cannot_be_imported_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    for (name, content, word) in
        [("empty", "", "nothing"), ("broken.har", "{\"log\":{\"entries\":[{}]}}", "HAR")]
    {
        let file = folder.path().join(name);
        fs::write(&file, content).unwrap();
        let output = run(["import", &file.display().to_string(), "--data-dir", &data]);
        let said = string(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(word) && said.contains(name), "{said}");
    }
}

/// A command whose output is read while it runs; ended with this value.
struct Following {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Following {
    fn start(args: &[&str]) -> Self {
        let mut child = Binary::command(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("teeline runs");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().expect("a line").expect("readable")
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn tail_tells_of_a_capture_while_it_is_open_and_at_its_end() {
    let world = World::start(|_| {
        let [first, rest @ ..] = &hello()[..] else { return Script::new() };
        let script = Script::sse_head().chunk(first).gate("end");
        rest.iter().fold(script, Script::chunk).last_chunk()
    });
    let mut tail = Following::start(&["tail", "--json", "--data-dir", &world.data_dir()]);
    // It follows from its connection on, which nothing tells: exchanges are made until one is told of.
    let mut clients = vec![world.ask()];
    let mut open = None;
    std::thread::scope(|scope| {
        let told = scope.spawn(|| serde_json::from_str::<Value>(&tail.next()).expect("JSON"));
        while !told.is_finished() {
            clients.push(world.ask());
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        open = told.join().ok();
    });
    let open = open.expect("a summary");
    assert_eq!((&open["state"], &open["upstream"]), (&json!("open"), &json!("test")));
    world.upstream.open_gate("end");
    let ended = loop {
        let summary: Value = serde_json::from_str(&tail.next()).expect("JSON");
        if summary["id"] == open["id"] && summary["state"] != "open" {
            break summary;
        }
    };
    assert_eq!((&ended["verdict"], &ended["preview"]), (&json!("finished"), &json!("Hello there")));
}

#[test]
fn tail_follows_an_answer_as_it_grows() {
    let world = World::start(|_| {
        let frames = hello();
        let (before, after) = frames.split_at(2);
        let script = before.iter().fold(Script::sse_head(), Script::chunk).gate("end");
        after.iter().fold(script, Script::chunk).last_chunk()
    });
    let mut client = world.ask();
    let id = text(&world.newest()["id"]).to_owned();
    let data = world.data_dir();
    let mut readings = Following::start(&["tail", "--follow", &id, "--json", "--data-dir", &data]);
    let answer = Following::start(&["tail", "--follow", &id, "--data-dir", &data]);
    // Before the upstream has sent the rest, what it did send is told.
    loop {
        let reading: Value = serde_json::from_str(&readings.next()).expect("JSON");
        if reading["outputs"][0]["text"].as_str().is_some_and(|text| !text.is_empty()) {
            assert_eq!(reading["verdict"], "did-not-finish");
            break;
        }
    }
    world.upstream.open_gate("end");
    client.response();
    let last = readings.lines.by_ref().map_while(Result::ok).last().expect("more readings");
    let last: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(last["outputs"][0]["text"], "Hello there");
    let shown: Vec<String> = answer.lines_left();
    assert_eq!(shown.first().map(String::as_str), Some("Hello there"), "{shown:?}");
    assert!(shown.iter().any(|line| line.starts_with("Finished")), "{shown:?}");
}

impl Following {
    fn lines_left(mut self) -> Vec<String> {
        self.lines.by_ref().map_while(Result::ok).collect()
    }
}

#[test]
fn tail_says_that_nothing_is_running() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let output = run(["tail", "--data-dir", &data]);
    assert_eq!(output.status.code(), Some(2));
    assert!(string(&output.stderr).contains("no teeline serves the store"));
}

#[test]
fn recording_is_paused_and_goes_on() {
    let world = World::start(|_| Script::sse(hello()));
    let data = world.data_dir();
    let told = |command: &str| {
        let output = run([command, "--data-dir", &data]);
        assert!(output.status.success(), "{}", string(&output.stderr));
        string(&output.stdout)
    };
    assert!(told("pause").starts_with("paused"));
    let passed = world.ask().response();
    assert_eq!(string(&passed.body), hello().concat());
    assert!(told("resume").contains("1 exchanges"));
    world.ask().response();
    world.ended();
    assert_eq!(world.api("/api/captures")["counts"]["all"], 1);
    assert_eq!(world.api("/api/recording"), json!({"on": true, "passed": 1}));
}

/// A `teeline replay` and its address.
struct Replaying {
    child: Child,
    address: SocketAddr,
}

impl Replaying {
    fn start(args: &[&str]) -> Self {
        let args = [&["replay", "--listen", "127.0.0.1:0"], args].concat();
        let mut child = Binary::command(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("teeline runs");
        let said = BufReader::new(child.stderr.take().expect("it is piped"));
        let address = said
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("teeline ready replay=http://")?.parse().ok());
        Self { child, address: address.expect("a ready line") }
    }
}

impl Drop for Replaying {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn post(address: SocketAddr, path: &str) -> teeline_tests::Response {
    request(address, "POST", path, &[("Content-Type", "application/json")], b"{}")
}

#[test]
fn a_replay_answers_as_the_upstream_did() {
    let broken = |request: &teeline_script::Request| {
        let model = String::from_utf8_lossy(&request.body).contains("broken");
        let frames = hello();
        if model {
            frames[..2].iter().fold(Script::sse_head(), Script::chunk).rst()
        } else {
            let headers = [
                ("Content-Type", "text/event-stream"),
                ("x-request-id", "req-7"),
                ("Transfer-Encoding", "chunked"),
            ];
            let script = Script::head("203 Fine", &headers);
            frames.iter().fold(script, Script::chunk).last_chunk()
        }
    };
    let world = World::start(broken);
    let whole = world.ask().response();
    let first = text(&world.ended()["summary"]["id"]).to_owned();
    let mut client = Client::connect(world.teeline.proxy);
    client.request("POST", "/test/v1/chat/completions", &[], b"{\"model\":\"broken\"}");
    let cut = client.response();
    assert!(!cut.whole);
    let second = eventually("the second capture", || {
        let list = world.api("/api/captures");
        let newest = &list["captures"][0];
        (newest["state"] == "upstream-broke").then(|| text(&newest["id"]).to_owned())
    });

    let data = world.data_dir();
    let replay = Replaying::start(&[&first, &second, "--speed", "max", "--data-dir", &data]);
    let again = post(replay.address, "/v1/chat/completions");
    assert_eq!((again.status(), &again.body), (203, &whole.body));
    assert_eq!(again.header("x-request-id"), Some("req-7"));
    assert!(again.head.starts_with("HTTP/1.1 203 Fine\r\n"), "{}", again.head);
    let again = post(replay.address, "/any/base/v1/chat/completions");
    assert_eq!(again.body, cut.body);
    assert_eq!(!again.whole, !cut.whole);
    let spent = post(replay.address, "/v1/chat/completions");
    assert_eq!(spent.status(), 503);
    assert!(text(&spent.json()["error"]["message"]).contains("--loop"));
    assert_eq!(post(replay.address, "/v1/models").status(), 404);
}

#[test]
fn a_replay_puts_faults_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hello.sse").display().to_string();
    let frames = hello();
    fs::write(&file, frames.concat()).unwrap();
    let without = |left_out: &[usize]| -> String {
        let kept = frames.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
        kept.map(|(_, frame)| frame.as_str()).collect()
    };
    for (flags, body, broken) in [
        (&[][..], frames.concat(), false),
        (&["--drop-frame", "1"], without(&[1]), false),
        (&["--repeat-frame", "0"], [&frames[..1], &frames[..]].concat().concat(), false),
        (&["--reset-after", "2"], frames[..2].concat(), true),
        (&["--close-after", "1"], frames[..1].concat(), true),
        (&["--chunk-size", "3"], frames.concat(), false),
    ] {
        let replay = Replaying::start(&[&["--loop", file.as_str()], flags].concat());
        for _ in 0..2 {
            let answer = post(replay.address, "/v1/anything");
            assert_eq!(string(&answer.body), body, "{flags:?}");
            assert_eq!(!answer.whole, broken, "{flags:?}");
            assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        }
    }
    let replay = Replaying::start(&["--fail", "429*2", &file]);
    let statuses: Vec<u16> = (0..3).map(|_| post(replay.address, "/").status()).collect();
    assert_eq!(statuses, [429, 429, 200]);
    let output = run(["replay", "--drop-frame", "99", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(string(&output.stderr).contains("no frame 99"), "{}", string(&output.stderr));
}

/// A shell command that asks once, at the base URL that its environment names.
fn asking(path: &str) -> String {
    format!(
        "{} -c \"import os,urllib.request as r; print(r.urlopen(r.Request(os.environ['OPENAI_BASE_URL']+'{path}',data=b'{{}}')).read().decode())\"",
        teeline_tests::python()
    )
}

#[test]
fn a_run_watches_the_streams_of_a_command() {
    if !teeline_tests::available("commands", &[teeline_tests::Need::Python]) {
        return;
    }
    let upstream = teeline_tests::block_on(teeline_script::Upstream::start(|request| {
        let frames = hello();
        match request.target.as_str() {
            "/v1/whole" => Script::sse(frames),
            // Well-formed on the wire, and no end in it.
            _ => Script::sse(&frames[..2]),
        }
    }))
    .expect("a port is free");
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.xml").display().to_string();
    let base = format!("{}/v1", upstream.url());
    let run = |path: &str, more: &[&str]| {
        let shell = asking(path);
        let mut args = vec!["run", "--junit", &report];
        args.extend_from_slice(more);
        args.extend_from_slice(&["--", "sh", "-c", &shell]);
        let output =
            Binary::command(&args).env("OPENAI_BASE_URL", &base).output().expect("teeline runs");
        (output.status.code(), string(&output.stdout), string(&output.stderr))
    };
    let (code, printed, said) = run("/whole", &["--fail-on", "warning"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(printed.trim_end(), hello().concat().trim_end());
    assert!(said.contains("1 exchange\n") && said.contains("Hello there"), "{said}");
    let xml = fs::read_to_string(&report).unwrap();
    assert!(xml.contains("tests=\"1\"") && xml.contains("failures=\"0\""), "{xml}");

    let (code, _, said) = run("/cut", &["--fail-on", "error"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no-end"), "{said}");
    let xml = fs::read_to_string(&report).unwrap();
    assert!(xml.contains("failures=\"1\"") && xml.contains("no-end"), "{xml}");
    // Without --fail-on the command's own code stands, and so it does where it failed by itself.
    assert_eq!(run("/cut", &[]).0, Some(0));
    let output = Binary::command(["run", "--", "sh", "-c", "exit 7"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let output = Binary::command(["run", "--", "/does/not/exist"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn shells_and_man_are_served() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = run(["completions", shell]);
        assert!(script.status.success() && string(&script.stdout).contains("export"), "{shell}");
    }
    let page = string(&run(["man"]).stdout);
    for word in [".TH teeline", "TEELINE SERVE", "TEELINE REPLAY", "\\-\\-fail\\-on"] {
        assert!(page.contains(word), "{word}");
    }
}

/// What the doctor finds, and its exit code.
fn doctor(args: &[&str], variable: Option<&str>) -> (Option<i32>, Vec<Value>) {
    let args = [&["doctor", "--json"], args].concat();
    let mut command = Binary::command(args);
    for name in ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OPENAI_API_BASE", "OLLAMA_HOST"] {
        command.env_remove(name);
    }
    command.envs(variable.map(|value| ("OPENAI_BASE_URL", value)));
    let output = command.output().unwrap();
    let text = string(&output.stdout);
    let found = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (output.status.code(), found)
}

/// The first thing found by a check: level and message.
fn of<'a>(found: &'a [Value], check: &str) -> (&'a str, &'a str) {
    let this = found.iter().find(|one| one["check"] == check);
    let this = this.unwrap_or_else(|| panic!("nothing about {check} in {found:?}"));
    (text(&this["level"]), text(&this["message"]))
}

#[test]
fn the_doctor_has_nothing_to_say_where_all_is_well() {
    let world = World::start(|_| Script::answer("404 Not Found", &[], ""));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    // Free ports, a folder that can be made, an upstream that answers, whatever it says.
    let upstream = format!("default={}", world.upstream.url());
    let free = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--data-dir", &data];
    let (code, found) = doctor(&[&free[..], &["--upstream", &upstream]].concat(), None);
    assert_eq!(code, Some(0), "{found:?}");
    assert_eq!(of(&found, "upstream").0, "ok");
    let quiet = |one: &Value| one["level"] == "ok" || one["level"] == "note";
    assert!(found.iter().all(quiet), "{found:?}");

    // A teeline that runs is no fault, and a variable that leads through it is what is wanted.
    let (proxy, dashboard) = (world.teeline.proxy.to_string(), world.teeline.dashboard.to_string());
    let through = format!("http://{proxy}/openai/v1");
    let data = world.data_dir();
    let running = ["--offline", "--listen", &proxy, "--dashboard", &dashboard, "--data-dir", &data];
    let (code, found) = doctor(&running, Some(&through));
    assert_eq!(code, Some(0), "{found:?}");
    assert!(of(&found, "proxy").1.contains("running"));
    assert_eq!(of(&found, "OPENAI_BASE_URL").0, "ok");
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let mut args = vec!["--listen", &taken, "--dashboard", "127.0.0.1:0", "--data-dir", &data];
    args.extend(["--upstream", "default=http://127.0.0.1:9"]);
    let (code, found) = doctor(&args, Some("https://api.openai.com/v1"));
    assert_eq!(code, Some(1));
    assert_eq!(of(&found, "proxy").0, "error");
    assert_eq!(of(&found, "upstream").0, "warning");
    assert!(of(&found, "OPENAI_BASE_URL").1.contains("past teeline"));

    let (code, found) = doctor(&["--config", "/does/not/exist.toml"], None);
    assert_eq!((code, of(&found, "configuration").0), (Some(1), "error"));
}
