//! Ctrl-C and SIGTERM: the first drains, the second gives up what is in flight.

use crate::run::Stop;

/// Listens until the runtime ends. `notice` is called with what to tell the user.
pub fn listen(stop: Stop, notice: impl Fn(&str) + Send + 'static) {
    tokio::spawn(async move {
        if wait().await {
            notice("stopping: questions in flight are finished (again to give them up)");
            stop.drain.cancel();
        }
        if wait().await {
            notice("giving up what is in flight");
            stop.abort.cancel();
        }
    });
}

/// Waits for Ctrl-C or SIGTERM; false where signals cannot be heard.
#[cfg(unix)]
pub(super) async fn wait() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
        _ = terminate.recv() => true,
    }
}

#[cfg(not(unix))]
pub(super) async fn wait() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
