//! Ctrl-C, SIGTERM and SIGHUP: the first drains, the second gives up what is in
//! flight.

use finqa_agents::models::Stop;

/// Listens until the runtime ends. `notice` is called with what to tell the user.
pub(crate) fn listen(stop: Stop, notice: impl Fn(&str) + Send + 'static) {
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
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        // Listening would undo `nohup`.
        if !ignores_hangup() {
            kinds.push(SignalKind::hangup());
        }
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

/// Whether this process was started with SIGHUP ignored.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    use std::io::IsTerminal;

    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        // `nohup` redirects what would go to the terminal.
        return !std::io::stderr().is_terminal();
    };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 1)
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
