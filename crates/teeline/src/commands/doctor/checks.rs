//! What can be seen without a network.

use std::net::TcpListener;

use teeline_capture::{Query, Store, StoreError};

use super::{Found, Level};
use crate::{base_urls::VARIABLES, config::Config, dashboard_client::is_healthy};

/// With less room than this on the disk, captures will soon be incomplete.
#[cfg(unix)]
const LITTLE_ROOM: u64 = 512 << 20;

/// Whether both ports are free, or already teeline's.
pub(super) async fn ports(config: &Config) -> Vec<Found> {
    let runs = is_healthy(config.dashboard).await;
    [("proxy", config.listen), ("dashboard", config.dashboard)]
        .into_iter()
        .map(|(check, address)| match TcpListener::bind(address) {
            Ok(_) => Found::new(check, Level::Ok, format!("{address} is free")),
            Err(_) if runs => {
                Found::new(check, Level::Ok, format!("teeline is running at {address}"))
            }
            Err(error) => Found::new(
                check,
                Level::Error,
                format!("{address} cannot be listened on ({error}); another program has it: choose another with --{}", if check == "proxy" { "listen" } else { check }),
            ),
        })
        .collect()
}

/// Whether captures can be written, and whether there is room for them.
pub(super) fn folder(config: &Config) -> Vec<Found> {
    const CHECK: &str = "data folder";
    let dir = &config.data_dir;
    if !config.store {
        return vec![Found::new(CHECK, Level::Note, "captures are kept in memory only")];
    }
    // The folder itself is made at the first start; what counts now is the nearest one that is there.
    let there = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(dir);
    if let Err(error) = tempfile::tempfile_in(there) {
        let message = format!(
            "{} cannot be written ({error}); choose another with --data-dir",
            dir.display()
        );
        return vec![Found::new(CHECK, Level::Error, message)];
    }
    let mut found = vec![Found::new(CHECK, Level::Ok, dir.display().to_string())];
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if there == dir.as_path()
            && dir.metadata().is_ok_and(|data| data.permissions().mode() & 0o077 != 0)
        {
            let message = format!("other users can read {}; run chmod 700 on it", dir.display());
            found.push(Found::new(CHECK, Level::Warning, message));
        }
        if let Ok(disk) = rustix::fs::statvfs(there) {
            let room = disk.f_bavail.saturating_mul(disk.f_frsize);
            if room < LITTLE_ROOM {
                let message = format!(
                    "only {} MiB are free on its disk; captures may become incomplete",
                    room >> 20
                );
                found.push(Found::new(CHECK, Level::Warning, message));
            }
        }
    }
    found
}

/// Whether what is there can be read.
pub(super) fn store(config: &Config) -> Vec<Found> {
    const CHECK: &str = "store";
    if !config.store || !config.data_dir.join("teeline.db").exists() {
        return Vec::new();
    }
    let opened = Store::open_read_only(&config.data_dir)
        .and_then(|store| store.list(&Query::default(), None, 1));
    vec![match opened {
        Ok(page) => Found::new(CHECK, Level::Ok, format!("{} captures", page.counts.all)),
        Err(error @ StoreError::NewerVersion { .. }) => {
            Found::new(CHECK, Level::Error, error.to_string())
        }
        Err(error) => Found::new(CHECK, Level::Error, format!("it cannot be read: {error}")),
    }]
}

/// Where the SDKs' variables lead now.
pub(super) fn variables(config: &Config) -> Vec<Found> {
    let proxy = config.listen.to_string();
    let port = format!("localhost:{}", config.listen.port());
    VARIABLES
        .iter()
        .map(|variable| {
            let through = variable.through(config.listen);
            let (level, message) = match std::env::var(variable.name) {
                Err(_) => (
                    Level::Note,
                    format!("not set; {} go through teeline with {through}", variable.readers),
                ),
                Ok(value) if value.contains(&proxy) || value.contains(&port) => {
                    (Level::Ok, format!("{value}, through teeline"))
                }
                Ok(value) => (
                    Level::Warning,
                    format!(
                        "{value}, past teeline; {} would go through it with {through}",
                        variable.readers
                    ),
                ),
            };
            Found::new(variable.name, level, message)
        })
        .collect()
}
