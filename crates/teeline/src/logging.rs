//! What the program says of its own work, on standard error: warnings and errors, or what `RUST_LOG` asks for.

use std::io;

use tracing_subscriber::EnvFilter;

/// Starts logging. A second call changes nothing.
pub(crate) fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    // Fails only where logging was started before.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_target(false)
        .try_init();
}
