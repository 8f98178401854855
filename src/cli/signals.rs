//! Handles Ctrl-C and SIGTERM. The first signal stops new questions and lets the requests in flight
//! finish. The second signal cancels these requests, and the third ends the process.

use std::time::Duration;

use futures::stream::{self, Stream, StreamExt};

use finqa_agents::llm::Stop;

use super::Exit;

/// Time for which a stopped shard waits for its requests in flight. Engines kill a process 30
/// seconds after they ask it to end (Slurm's `KillWait`, Kubernetes' grace period), and the shard
/// must still write its files in that time. Ten seconds for that are set by hand.
pub(super) const SHARD_DRAIN: Duration = Duration::from_secs(20);

/// Listens for signals until the runtime ends. If there is a `timeout`, the requests in flight are
/// cancelled when it has passed since the first signal. `notice` is called with lines for the user.
pub(crate) fn listen(
    stop: Stop,
    timeout: Option<Duration>,
    notice: impl Fn(&str) + Send + 'static,
) {
    let signals = stream::unfold(Signals::new(), async |mut signals| {
        signals.next().await.then_some(((), signals))
    });
    tokio::spawn(async move {
        let mut signals = std::pin::pin!(signals);
        handle_signals(signals.as_mut(), stop, timeout, notice).await;
        if signals.next().await.is_some() {
            // The journal keeps its entries, as after a kill.
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}

/// Waits for two signals. Cancels the token `drain` at the first one, and `abort` at the second one
/// or after `timeout`.
async fn handle_signals(
    mut signals: impl Stream + Unpin,
    stop: Stop,
    timeout: Option<Duration>,
    notice: impl Fn(&str),
) {
    if signals.next().await.is_none() {
        return;
    }
    match timeout {
        None => notice("stopping: finishing the requests in flight (a second signal drops them)"),
        Some(timeout) => notice(&format!(
            "stopping: finishing the requests in flight, for at most {} s",
            timeout.as_secs()
        )),
    }
    stop.drain.cancel();
    tokio::select! {
        received = signals.next() => if received.is_none() { return },
        // Without a timeout, this never ends.
        () = tokio::time::sleep(timeout.unwrap_or(Duration::MAX)) => {}
    }
    notice("dropping the requests in flight");
    stop.abort.cancel();
}

/// The signals that ask the process to end. Signals are caught from [`Signals::new`] on, so that
/// one which arrives before [`Signals::next`] is called is not lost.
#[cfg(unix)]
pub(super) struct Signals([Option<tokio::signal::unix::Signal>; 2]);

#[cfg(unix)]
impl Signals {
    /// Starts to listen. If no handler can be installed for a signal, it ends the process, as by
    /// default.
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self([SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok()))
    }

    /// Waits for the next signal. Returns false if no signal can be received.
    pub(super) async fn next(&mut self) -> bool {
        let received = self.0.iter_mut().flatten();
        let received: Vec<_> = received.map(|signal| Box::pin(signal.recv())).collect();
        if received.is_empty() {
            return false;
        }
        futures::future::select_all(received).await.0.is_some()
    }
}

/// The signals that ask the process to end.
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    /// The tokens after one signal, and whether the handler ended without a second one.
    async fn after_one_signal(timeout: Option<Duration>) -> (Stop, bool) {
        let stop = Stop::default();
        let signals = Box::pin(stream::iter([()]).chain(stream::pending()));
        let obeyed = handle_signals(signals, stop.clone(), timeout, |_| {});
        let ended = match timeout {
            Some(_) => {
                obeyed.await;
                Some(())
            }
            None => obeyed.now_or_never(),
        };
        (stop, ended.is_some())
    }

    #[tokio::test]
    async fn a_shard_gives_up_its_requests_and_a_person_is_waited_for() {
        // The shard must stop waiting before an engine kills the process.
        assert!(SHARD_DRAIN < Duration::from_secs(30));
        let (stop, ended) = after_one_signal(Some(Duration::ZERO)).await;
        assert!(ended && stop.drain.is_cancelled() && stop.abort.is_cancelled());
        let (stop, ended) = after_one_signal(None).await;
        assert!(!ended && stop.drain.is_cancelled() && !stop.abort.is_cancelled());
    }
}
