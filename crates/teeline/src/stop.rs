//! The signals that ask a serving process to stop.

/// Waits for Ctrl-C or, on Unix, SIGTERM.
pub(crate) async fn requested() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = tokio::signal::ctrl_c() => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(_) => interrupt().await,
        }
    }
    #[cfg(not(unix))]
    interrupt().await;
}

async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        // No signal can be waited for; the process ends in another way.
        std::future::pending::<()>().await;
    }
}
