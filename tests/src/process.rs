//! The built program, run as a user runs it.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex, OnceLock, mpsc},
    thread,
    time::Duration,
};

/// The program under test.
pub struct Binary;

impl Binary {
    /// Its path. Built at the first call, with the profile of the running tests.
    pub fn path() -> &'static Path {
        static PATH: OnceLock<PathBuf> = OnceLock::new();
        PATH.get_or_init(|| {
            // target/<profile>/deps/it-… → target/<profile>
            let test = std::env::current_exe().expect("the test has a path");
            let profile_dir =
                test.parent().and_then(Path::parent).expect("it stands in target/<profile>/deps");
            let profile = match profile_dir.file_name().and_then(OsStr::to_str) {
                Some("debug") | None => "dev",
                Some(name) => name,
            };
            let built = Command::new(env!("CARGO"))
                .args([
                    "build",
                    "--quiet",
                    "--package",
                    "teeline",
                    "--bin",
                    "teeline",
                    "--profile",
                    profile,
                ])
                .arg("--target-dir")
                .arg(
                    profile_dir.parent().expect("the profile's folder stands in the target folder"),
                )
                .current_dir(crate::root())
                .status()
                .expect("cargo runs");
            assert!(built.success(), "teeline does not build");
            profile_dir.join("teeline")
        })
    }

    /// A command of it, with a clean environment as far as teeline reads it.
    pub fn command<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(Self::path());
        for name in [
            "TEELINE_LISTEN",
            "TEELINE_DASHBOARD",
            "TEELINE_DATA_DIR",
            "TEELINE_CONFIG",
            "RUST_LOG",
        ] {
            command.env_remove(name);
        }
        command.args(args);
        command
    }
}

/// Runs a command to its end.
pub fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    Binary::command(args).stdin(Stdio::null()).output().expect("teeline runs")
}

/// Runs a command to its end with `input` on its standard input.
pub fn run_with_input<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, input: &[u8]) -> Output {
    let mut child = Binary::command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("teeline runs");
    let mut stdin = child.stdin.take().expect("it has a standard input");
    thread::scope(|scope| {
        // From a thread of its own: the program may answer before it has read everything.
        scope.spawn(move || {
            // A program that stops reading early closes the pipe; its exit code tells.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("teeline ends")
    })
}

/// A running `teeline serve`.
pub struct Teeline {
    child: Child,
    /// The proxy's address.
    pub proxy: SocketAddr,
    /// The dashboard's address.
    pub dashboard: SocketAddr,
    data_dir: PathBuf,
    log: Arc<Mutex<Vec<String>>>,
}

impl Teeline {
    /// Starts it on free ports with its store in `data_dir`, and waits for the ready line.
    pub fn start(data_dir: &Path, more: &[&str]) -> Self {
        let mut args =
            vec!["serve", "--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--data-dir"];
        args.push(data_dir.to_str().expect("the path is UTF-8"));
        args.extend_from_slice(more);
        Self::spawn(Binary::command(args), data_dir)
    }

    /// As [`Teeline::start`], in a shell that runs `prelude` first: limits of the process.
    pub fn start_under(prelude: &str, data_dir: &Path, more: &[&str]) -> Self {
        let mut args =
            vec!["serve", "--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--data-dir"];
        args.push(data_dir.to_str().expect("the path is UTF-8"));
        args.extend_from_slice(more);
        let plain = Binary::command(&args);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("{prelude}; exec \"$0\" \"$@\"")])
            .arg(Binary::path())
            .args(&args);
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        Self::spawn(shell, data_dir)
    }

    /// Starts `command`, which has to print the ready line.
    pub fn spawn(mut command: Command, data_dir: &Path) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("teeline runs");
        let stderr = BufReader::new(child.stderr.take().expect("it has a standard error"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let (ready, became_ready) = mpsc::sync_channel(1);
        let lines = Arc::clone(&log);
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if let Some(addresses) = ready_line(&line) {
                    // Only the first one is waited for.
                    let _ = ready.try_send(addresses);
                }
                lines.lock().expect("no thread panicked").push(line);
            }
        });
        let Ok((proxy, dashboard)) = became_ready.recv_timeout(Duration::from_mins(1)) else {
            let status = child.try_wait();
            panic!(
                "teeline did not become ready ({status:?}); it said {:?}",
                log.lock().expect("no thread panicked")
            );
        };
        Self { child, proxy, dashboard, data_dir: data_dir.to_owned(), log }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where its store is.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// What it has said so far.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().expect("no thread panicked").clone()
    }

    /// Ends it at once, as `kill -9` does.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Asks it to stop, as Ctrl-C does, and waits. Gives its exit code.
    pub fn stop(mut self) -> Option<i32> {
        self.interrupt();
        self.child.wait().expect("it ends").code()
    }

    /// Asks it to stop and does not wait.
    pub fn interrupt(&self) {
        let pid = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .expect("a process id");
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    }

    /// Takes a soft limit on the size of its files away.
    pub fn lift_file_limit(&self) {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let none = Rlimit { current: None, maximum: None };
        prlimit(pid, Resource::Fsize, none).expect("its hard limit was left as it is");
    }

    /// A number of `/proc/PID/status` in KiB, such as `VmRSS` and `VmHWM`.
    pub fn memory_kib(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()))
            .expect("it runs on Linux");
        let line = status.lines().find(|line| line.starts_with(field)).expect("the field is there");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
    }
}

impl Drop for Teeline {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ready_line(line: &str) -> Option<(SocketAddr, SocketAddr)> {
    let rest = line.strip_prefix("teeline ready proxy=http://")?;
    let (proxy, dashboard) = rest.split_once(" dashboard=http://")?;
    Some((proxy.parse().ok()?, dashboard.parse().ok()?))
}
