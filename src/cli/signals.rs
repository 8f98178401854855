//! Ctrl-C, SIGTERM and SIGHUP: the first drains, the second gives up what is in
//! flight.

use crate::models::Stop;

/// Listens until the runtime ends. `notice` is called with what to tell the user.
pub fn listen(stop: Stop, notice: impl Fn(&str) + Send + 'static) {
    let mut signals = Signals::new();
    tokio::spawn(async move {
        if signals.next().await {
            notice("stopping: finishing the requests in flight (again to give them up)");
            stop.drain.cancel();
        }
        if signals.next().await {
            notice("giving up what is in flight");
            stop.abort.cancel();
        }
    });
}

/// The signals that ask for an end. None that comes after it was made is missed.
#[cfg(unix)]
pub(super) struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    /// Begins to listen. A signal that cannot be listened to ends the process, as
    /// it would have without us.
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        Self(
            kinds
                .into_iter()
                .filter_map(|kind| signal(kind).ok())
                .collect(),
        )
    }

    /// Waits for the next one; false where none can be heard.
    pub(super) async fn next(&mut self) -> bool {
        let heard = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        let heard: Vec<_> = heard.collect();
        if heard.is_empty() {
            return false;
        }
        futures::future::select_all(heard).await.0.is_some()
    }
}

/// The signals that ask for an end.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}
