//! A machine that misbehaves: a disk that does not answer, a clock that is set. `disturb.c` is preloaded for it, so these
//! tests need Linux with glibc.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::FileExt as _,
    path::PathBuf,
    process::Command,
    sync::OnceLock,
    time::Instant,
};

use serde_json::Value;
use teeline_script::{Request, Script};
use teeline_tests::{Turn, World, eventually, request, text};

use super::{PARTS, answer, goes_on, lacking, stream_by_causality};

/// The numbers of `disturb.c`.
#[derive(Clone, Copy)]
enum Number {
    ClockSeconds,
    HoldSyncs,
    HoldWrites,
    SyncUs,
    WriteUs,
    Syncs,
    Writes,
    Allocations,
    Counting,
}

struct Control {
    page: File,
}

impl Control {
    fn set(&self, number: Number, value: i64) {
        let place = number as u64 * 8;
        self.page.write_all_at(&value.to_ne_bytes(), place).expect("the page is there");
    }

    fn get(&self, number: Number) -> i64 {
        let mut value = [0; 8];
        self.page.read_exact_at(&mut value, number as u64 * 8).expect("the page is there");
        i64::from_ne_bytes(value)
    }
}

/// `disturb.c`, compiled.
fn library() -> PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let built = LIBRARY.get_or_init(|| {
        let source = teeline_tests::root().join("tests/it/injected/disturb.c");
        let folder = std::env::current_exe().expect("the test has a path");
        let library = folder.with_file_name(format!("disturb-{}.so", std::process::id()));
        let built = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status()
            .expect("there is a C compiler, as for SQLite");
        assert!(built.success());
        library
    });
    built.clone()
}

fn disturbed(answer: impl Fn(&Request) -> Script + Send + Sync + 'static) -> (World, Control) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("control");
    fs::write(&path, [0; 4096]).expect("it can be written");
    let prelude = format!(
        "export LD_PRELOAD='{}' TEELINE_TEST_CONTROL='{}'",
        library().display(),
        path.display()
    );
    let world = World::start_under(&prelude, answer);
    let page = OpenOptions::new().read(true).write(true).open(path).expect("it is there");
    (world, Control { page })
}

#[test]
fn a_sync_that_hangs_costs_the_app_nothing() {
    let (world, control) = disturbed(|_| answer());
    control.set(Number::HoldSyncs, 1);
    // So much that the log is to be moved into the file.
    stream_by_causality(&world, |_| {});
    stream_by_causality(&world, |_| {});
    eventually("a sync", || (0 < control.get(Number::Syncs)).then_some(()));
    stream_by_causality(&world, |_| {});
    // Nor does it keep anything from being recorded.
    let capture = world.ended();
    assert_eq!(lacking(&capture), []);
    assert_eq!(capture["reading"]["verdict"], "finished");
    assert_eq!(capture["summary"]["bytes_to_app"], capture["summary"]["bytes"]);
    control.set(Number::HoldSyncs, 0);
    goes_on(&world);
}

#[test]
fn a_write_that_hangs_costs_the_app_nothing() {
    let (world, control) = disturbed(|_| answer());
    stream_by_causality(&world, |number| match number {
        3 => control.set(Number::HoldWrites, 1),
        5 => eventually("a write", || (0 < control.get(Number::Writes)).then_some(())),
        _ => {}
    });
    let written = control.get(Number::Writes);
    assert_eq!(written, 1, "the one thread that writes hung from the fifth part to the end");
    control.set(Number::HoldWrites, 0);
    let capture = world.ended();
    // 2.5 MiB are within the queue's bounds: nothing is lost.
    assert_eq!(lacking(&capture), []);
    assert_eq!(capture["reading"]["verdict"], "finished");
    goes_on(&world);
}

#[test]
fn a_slow_disk_costs_the_app_nothing() {
    let (world, control) = disturbed(|_| answer());
    control.set(Number::WriteUs, 2_000);
    control.set(Number::SyncUs, 300_000);
    stream_by_causality(&world, |_| {});
    let capture = world.ended();
    assert_eq!(lacking(&capture), []);
    assert_eq!(capture["reading"]["verdict"], "finished");
    assert!(100 < control.get(Number::Writes));
    goes_on(&world);
}

const HOUR: i64 = 3600;

fn numbers<'a>(rows: &'a [Value], name: &str) -> Vec<&'a Value> {
    rows.iter().map(|row| &row[name]).collect()
}

#[test]
fn a_clock_that_is_set_changes_no_time_and_no_order() {
    let (world, control) = disturbed(|_| answer());
    let begun = Instant::now();
    stream_by_causality(&world, |number| match number {
        5 => control.set(Number::ClockSeconds, -HOUR),
        15 => control.set(Number::ClockSeconds, 24 * HOUR),
        25 => control.set(Number::ClockSeconds, 365 * 24 * HOUR),
        _ => {}
    });
    let passed = begun.elapsed().as_secs_f64() * 1000.0;
    let capture = world.ended();
    assert_eq!(lacking(&capture), []);
    assert_eq!(capture["reading"]["verdict"], "finished");
    let duration = capture["summary"]["duration_ms"].as_f64().unwrap();
    assert!((0.0..=passed).contains(&duration), "{duration} of {passed}");
    let first = text(&capture["summary"]["id"]).to_owned();
    let frames = world.api(&format!("/api/captures/{first}/frames?limit=100"));
    let frames = frames["frames"].as_array().unwrap();
    assert!(PARTS <= frames.len());
    let times: Vec<f64> = numbers(frames, "at_ms").iter().map(|at| at.as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times.iter().all(|at| (0.0..=passed).contains(at)), "{times:?}");
    let dates: Vec<&str> = numbers(frames, "at").into_iter().map(text).collect();
    assert!(dates.is_sorted(), "{dates:?}");
    // Begun a year from now, and an hour ago: the list is in the order in which they came.
    goes_on(&world);
    let second = text(&world.ended()["summary"]["id"]).to_owned();
    control.set(Number::ClockSeconds, -HOUR);
    goes_on(&world);
    let third = text(&world.ended()["summary"]["id"]).to_owned();
    let list = world.api("/api/captures");
    let ids: Vec<&str> =
        numbers(list["captures"].as_array().unwrap(), "id").into_iter().map(text).collect();
    assert_eq!(ids, [&third, &second, &first]);
    // What is deleted is removed for good, though its time to be brought back seems to lie in the future.
    let path = format!("/api/captures/{second}");
    assert_eq!(request(world.teeline.dashboard, "DELETE", &path, &[], b"").status(), 204);
    control.set(Number::ClockSeconds, -2 * HOUR);
    let store =
        rusqlite::Connection::open(std::path::Path::new(&world.data_dir()).join("teeline.db"));
    let store = store.expect("it is there");
    eventually("the row's end", || {
        let count = "SELECT COUNT(*) FROM capture";
        let left: i64 = store.query_row(count, [], |row| row.get(0)).ok()?;
        (left == 2).then_some(())
    });
}

const CHUNK: &str = "data: {\"n\":1}\n\n";
const WARM: usize = 1_000;
const COUNTED: usize = 10_000;

/// Allocations on the threads that move the app's bytes.
struct Allocations {
    /// Until the response's head came.
    before: i64,
    /// While `COUNTED` chunks pass, each sent when the app has the one before.
    chunks: i64,
}

fn allocations(world: &World, control: &Control, recording: bool) -> Allocations {
    let on = format!("{{\"on\":{recording}}}");
    let headers = [("Content-Type", "application/json")];
    let set = request(world.teeline.dashboard, "PUT", "/api/recording", &headers, on.as_bytes());
    assert_eq!(set.status(), 200);
    control.set(Number::Allocations, 0);
    control.set(Number::Counting, 1);
    let mut client = world.ask();
    client.read_head();
    let before = control.get(Number::Allocations);
    for number in 0..WARM + COUNTED {
        if number == WARM {
            control.set(Number::Allocations, 0);
        }
        world.upstream.open_gate(&format!("{recording} {number}"));
        let more = client.read_some().expect("the stream goes on");
        assert!(!more.is_empty(), "the stream ended at {number}");
    }
    control.set(Number::Counting, 0);
    Allocations { before, chunks: control.get(Number::Allocations) }
}

#[test]
fn recording_a_chunk_allocates_nothing_on_the_apps_path() {
    let _turn = Turn::alone();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let (world, control) = disturbed(move |_| {
        let recording = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1;
        (0..WARM + COUNTED).fold(Script::sse_head(), |script, number| {
            script.gate(&format!("{recording} {number}")).chunk(CHUNK)
        })
    });
    let without = allocations(&world, &control, false);
    let with = allocations(&world, &control, true);
    assert!(0 < without.before && 0 < with.before, "they are counted");
    let (without, with) = (without.chunks, with.chunks);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let more = (with - without) as f64 / COUNTED as f64;
    println!("{without} allocations without the recorder, {with} with it: {more} a chunk more");
    assert!(more <= 0.01, "{with} with the recorder, {without} without");
    eventually("all of it in the store", || {
        (world.newest()["bytes"] == (WARM + COUNTED) * CHUNK.len()).then_some(())
    });
}
