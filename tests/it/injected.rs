//! Whatever goes wrong with the recording, the app's stream does not notice, and the capture says what it lacks.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod disturbed;

use std::{net::SocketAddr, path::Path};

use serde_json::{Value, json};
use teeline_script::Script;
use teeline_tests::{Client, Dechunk, World, chat, eventually, text};

const PARTS: usize = 40;
/// Large enough that a few parts fill every queue and file limit below.
const PART: usize = 64 << 10;

fn part(number: usize) -> String {
    let word = format!("part {number} ").repeat(PART / 8);
    chat::delta(0, &json!({ "content": word }))
}

/// Each part only when the app has the one before.
fn answer() -> Script {
    let script = (0..PARTS).fold(Script::sse_head(), |script, number| {
        script.gate(&format!("part {number}")).chunk(part(number))
    });
    script.chunk(chat::finish(0, "stop")).chunk(chat::DONE).last_chunk()
}

/// The whole answer as a client gets it, acknowledged part by part: an app that is held up by anything stays here.
fn stream_by_causality(world: &World, before_part: impl Fn(usize)) {
    let mut client = world.ask();
    let head = client.read_head();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let (mut decoder, mut seen) = (Dechunk::default(), Vec::new());
    let mut due = 0;
    for number in 0..PARTS {
        before_part(number);
        world.upstream.open_gate(&format!("part {number}"));
        due += part(number).len();
        while seen.len() < due {
            let more = client.read_some().expect("the stream goes on");
            assert!(!more.is_empty(), "the stream ended within part {number}");
            decoder.push(&more, &mut seen);
        }
    }
    let whole: String =
        (0..PARTS).map(part).collect::<String>() + &chat::finish(0, "stop") + chat::DONE;
    while seen.len() < whole.len() {
        let more = client.read_some().expect("the end comes");
        assert!(!more.is_empty(), "the connection ended before the body");
        decoder.push(&more, &mut seen);
    }
    assert!(seen == whole.as_bytes(), "the bytes are not the upstream's");
}

/// The ranges of which the capture says that it lacks them.
fn lacking(capture: &Value) -> Vec<(u64, u64)> {
    let findings = capture["reading"]["findings"].as_array().expect("findings");
    findings
        .iter()
        .filter(|finding| finding["id"] == "capture-incomplete")
        .map(|finding| {
            let place = |name: &str| finding["args"][name].as_u64().expect("a place");
            (place("from"), place("to"))
        })
        .collect()
}

/// The program still does its work.
fn goes_on(world: &World) {
    let mut client = Client::connect(world.teeline.proxy);
    client.request("POST", "/test/again", &[], b"{}");
    let response = client.response();
    assert!(response.whole);
    assert!(String::from_utf8_lossy(&response.body).contains("part 39"));
}

#[test]
fn a_file_that_cannot_grow_costs_the_app_nothing() {
    // 512 bytes a block: the store's files end at 1 MiB.
    let world = World::start_under("ulimit -S -f 2048", |_| answer());
    stream_by_causality(&world, |_| {});
    // Its end is shown though it cannot be written; then there is room again, and what can still be written is.
    assert_eq!(world.ended()["summary"]["state"], "ended");
    world.teeline.lift_file_limit();
    let id = text(&world.newest()["id"]).to_owned();
    eventually("the end in the store", || {
        let list = world.api("/api/captures?q=state:ended");
        (list["captures"][0]["id"] == id.as_str()).then_some(())
    });
    let capture = world.ended();
    let total = capture["summary"]["bytes"].as_u64().expect("a number");
    assert!(total > 2 << 20, "{total}");
    let lacking = lacking(&capture);
    assert!(!lacking.is_empty(), "{}", capture["reading"]["findings"]);
    assert!(lacking.iter().all(|(from, to)| from < to && *to <= total), "{lacking:?} of {total}");
    goes_on(&world);
}

#[test]
fn a_store_that_another_program_holds_costs_the_app_nothing() {
    let world = World::start(|_| answer());
    let store = Path::new(&world.data_dir()).join("teeline.db");
    let other = rusqlite::Connection::open(store).expect("the store is there");
    stream_by_causality(&world, |number| {
        if number == 3 {
            other.execute_batch("BEGIN IMMEDIATE").expect("it can be held");
        }
        if number == PARTS - 3 {
            other.execute_batch("COMMIT").expect("it can be let go");
        }
    });
    let capture = world.ended();
    // 2.5 MiB are within the queue's bounds: nothing is lost.
    assert_eq!(lacking(&capture), []);
    assert_eq!(capture["summary"]["bytes_to_app"], capture["summary"]["bytes"]);
    goes_on(&world);
}

#[test]
fn a_store_that_is_gone_costs_the_app_nothing() {
    let world = World::start(|_| answer());
    stream_by_causality(&world, |number| {
        if number == 3 {
            let data = world.data_dir();
            for entry in std::fs::read_dir(&data).expect("the folder is there").flatten() {
                let name = entry.file_name();
                if name.to_string_lossy().starts_with("teeline.db") {
                    std::fs::write(entry.path(), vec![0x5a; 1 << 16]).expect("it can be spoilt");
                }
            }
        }
    });
    goes_on(&world);
}

/// Asks for live events and never reads them.
fn stuck(address: SocketAddr, path: &str) -> Client {
    let mut client = Client::connect(address);
    client.request("GET", path, &[("Accept", "text/event-stream")], b"");
    client
}

#[test]
fn viewers_that_do_not_read_cost_the_app_nothing() {
    let world = World::start(|_| answer());
    let viewers = std::cell::RefCell::new(Vec::new());
    stream_by_causality(&world, |number| {
        if number == 2 {
            let id = eventually("the capture", || {
                let list = world.api("/api/captures?limit=1");
                list["captures"][0]["id"].as_str().map(str::to_owned)
            });
            let own = format!("/api/captures/{id}/live");
            let paths = ["/api/live", own.as_str()].repeat(8);
            let all = paths.into_iter().map(|path| stuck(world.teeline.dashboard, path));
            viewers.borrow_mut().extend(all);
        }
    });
    let capture = world.ended();
    assert_eq!(lacking(&capture), []);
    assert_eq!(capture["reading"]["verdict"], "finished");
    goes_on(&world);
}

#[test]
fn more_than_can_be_queued_is_said_to_be_missing() {
    // 48 MiB at once while nothing can be written: the queue of a stream holds 16 MiB.
    let frame = chat::delta(0, &json!({ "content": "word ".repeat(200) }));
    let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
    let times = (48 << 20) / frame.len() as u64;
    let world = World::start(move |request| {
        if request.target.contains("again") {
            return (0..PARTS)
                .fold(Script::sse_head(), |script, n| script.chunk(part(n)))
                .last_chunk();
        }
        Script::sse_head().repeat(chunk.clone(), times).last_chunk()
    });
    let store = Path::new(&world.data_dir()).join("teeline.db");
    let other = rusqlite::Connection::open(store).expect("the store is there");
    other.execute_batch("BEGIN IMMEDIATE").expect("it can be held");
    let response = world.ask().response();
    assert!(response.whole);
    assert_eq!(response.body.len() as u64, times * frame.len() as u64);
    other.execute_batch("COMMIT").expect("it can be let go");
    let capture = world.ended();
    let total = capture["summary"]["bytes"].as_u64().expect("a number");
    assert_eq!(total, response.body.len() as u64);
    let lacking = lacking(&capture);
    assert!(!lacking.is_empty());
    // What is there and what is missing are the whole.
    let id = text(&capture["summary"]["id"]);
    let kept = world.export(id, "raw").len() as u64;
    let missing: u64 = lacking.iter().map(|(from, to)| to - from).sum();
    let findings = capture["reading"]["findings"].as_array().expect("findings");
    if findings.iter().all(|finding| finding["count"] == 1) {
        assert_eq!(kept + missing, total, "{lacking:?}");
    } else {
        // Pieces that still fitted lie between what is missing: the first five ranges are named, the others counted.
        assert!(kept + missing < total, "{lacking:?}");
    }
    goes_on(&world);
}

/// How often the log says that no connection can be accepted: the proxy, and the dashboard.
fn refusals(world: &World) -> (usize, usize) {
    let log = world.teeline.log();
    assert!(log.iter().all(|line| !line.contains('\x1b')), "what is no terminal gets no colours");
    let said: Vec<_> =
        log.iter().filter(|line| line.contains("cannot accept connections")).collect();
    let dashboard = said.iter().filter(|line| line.contains("dashboard")).count();
    (said.len() - dashboard, dashboard)
}

/// Connections until neither port can accept one. The kernel takes those for which the program has no descriptor.
fn take_all_descriptors(world: &World) -> Vec<Client> {
    let connect = |port, count| [port].repeat(count).into_iter().map(Client::connect);
    let mut all: Vec<_> = connect(world.teeline.proxy, 100).collect();
    eventually("the proxy's word", || (refusals(world) == (1, 0)).then_some(()));
    all.extend(connect(world.teeline.dashboard, 3));
    eventually("the dashboard's word", || (refusals(world) == (1, 1)).then_some(()));
    all
}

#[test]
fn without_descriptors_both_ports_wait_and_streams_go_on() {
    let world = World::start_under("ulimit -n 64", |_| answer());
    let waiting = std::cell::RefCell::new(Vec::new());
    stream_by_causality(&world, |number| match number {
        3 => {
            waiting.borrow_mut().extend(take_all_descriptors(&world));
        }
        number if number == PARTS - 3 => {
            // It has tried again several times by now.
            std::thread::sleep(std::time::Duration::from_millis(500));
            assert_eq!(refusals(&world), (1, 1), "said once each");
            waiting.borrow_mut().clear();
        }
        _ => {}
    });
    let capture = world.ended();
    assert_eq!(lacking(&capture), []);
    assert_eq!(capture["reading"]["verdict"], "finished");
    goes_on(&world);
}

#[test]
fn without_descriptors_what_is_recorded_is_read_and_shown() {
    let world = World::start_under("ulimit -n 64", |_| answer());
    let (proxy, dashboard) = (world.teeline.proxy, world.teeline.dashboard);
    let (mut app, mut viewer) = (Client::connect(proxy), Client::connect(dashboard));
    // Both are accepted, and nothing has asked for the store's readers yet.
    for (client, target) in [(&mut app, "/"), (&mut viewer, "/healthz")] {
        client.request("GET", target, &[], b"");
        assert!(client.response().whole);
    }
    let _waiting = take_all_descriptors(&world);
    app.request("POST", "/test/v1/chat/completions", &[], b"{}");
    assert_eq!(app.response().status(), 502, "the upstream cannot be reached either");
    eventually("the failed capture, while nothing has changed", || {
        viewer.request("GET", "/api/captures", &[], b"");
        let list = viewer.response().json();
        (list["captures"][0]["state"] == "failed").then_some(())
    });
}
