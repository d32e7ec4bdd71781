//! What is asked of the operating system.

use std::process::{Command, Stdio};

use crate::output::say;

/// Raises the soft limit of open files to the hard one: every stream takes two descriptors.
pub(crate) fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        if limit.current != limit.maximum {
            let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
            // The lower limit serves as well, for fewer streams.
            if let Err(error) = setrlimit(Resource::Nofile, raised) {
                tracing::debug!(%error, "the limit of open files stays as it is");
            }
        }
    }
}

/// A write beyond a limit on file sizes is to fail, like one to a full disk, and not to end the process: the app's
/// streams go on. Has to be called on the runtime.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Once it was listened for, the signal's own effect is gone for good.
        let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        if let Err(error) = signal(kind) {
            tracing::warn!(%error, "a limit on file sizes would end this process");
        }
    }
}

/// Opens a page in the user's browser, and says so where that does not work.
pub(crate) fn open_in_browser(url: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let opened = Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if opened.is_err() {
        say(&format!("no browser could be opened; the dashboard is at {url}"));
    }
}
