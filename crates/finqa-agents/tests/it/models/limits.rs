//! Tests the limits with a server that refuses requests and reports quotas.

use finqa_agents::llm::{LimitOptions, Limiter, Limits};
use tokio::sync::mpsc;

use super::*;

/// A model with limits, and the events of its retries.
fn limited(
    server: &FaultServer,
    options: LimitOptions,
) -> (Arc<HttpModel>, Limits, mpsc::UnboundedReceiver<CallEvent>) {
    let settings = ModelConnection {
        retry: RetryOptions::default(),
        ..openai(server)
    };
    let limits = Limits::default();
    let limiter: Limiter = limits.limiter(options);
    let (sender, events) = mpsc::unbounded_channel();
    let mut model = HttpModel::new(settings).unwrap();
    model.limiter = limiter;
    model.observer = Some(Arc::new(move |event| drop(sender.send(event.clone()))));
    (Arc::new(model), limits, events)
}

/// Makes a call in a separate task.
fn spawned(
    model: &Arc<HttpModel>,
    stop: &Stop,
) -> tokio::task::JoinHandle<Result<ChatReply, ModelError>> {
    let (model, stop) = (Arc::clone(model), stop.clone());
    tokio::spawn(async move { model.chat(&ask("How much?"), &stop).await })
}

#[tokio::test]
async fn a_storm_of_429s_is_outlived_and_the_limit_grows_again() {
    let server = FaultServer::start(|request| match request.index {
        0..30 => Reply::error(429, "rate_limit_exceeded", "slow").header("retry-after-ms", "1"),
        _ => Reply::chat("42"),
    });
    let (model, limits, _events) = limited(&server, LimitOptions::fixed(16));
    let stop = Stop::default();
    for call in futures::future::join_all((0..60).map(|_| spawned(&model, &stop))).await {
        assert_eq!(call.unwrap().unwrap().content, "42");
    }
    let status = limits.status().unwrap();
    assert_eq!((status.in_flight, status.rate_limited), (0, 30));
    assert_eq!(server.count(), 90);
    assert!((2..16).contains(&status.limit), "{status:?}");
}

#[tokio::test]
async fn a_hint_of_89_seconds_holds_up_one_call_and_no_other() {
    let server = FaultServer::start(|request| match request.index {
        0 => Reply::error(429, "rate_limit_exceeded", "slow").header("retry-after", "89"),
        _ => Reply::chat("42"),
    });
    let (model, limits, mut events) = limited(&server, LimitOptions::fixed(2));
    let stop = Stop::default();
    let unlucky = spawned(&model, &stop);
    let Some(CallEvent::Retry(notice)) = events.recv().await else {
        panic!("it is retried");
    };
    assert!(notice.delay >= Duration::from_secs(89));
    let status = limits.status().unwrap();
    assert_eq!((status.limit, status.rate_limited), (1, 1));
    for _ in 0..20 {
        let other = chat(&model, &ask("How much?")).await.unwrap();
        assert_eq!(other.attempts, 1);
    }
    assert!(!unlucky.is_finished());
    assert_eq!(limits.status().unwrap().limit, 2);
    stop.drain.cancel();
    let error = unlucky.await.unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(server.count(), 21);
}

#[tokio::test]
async fn after_a_reported_limit_that_reaches_zero_nothing_is_sent_and_a_drained_run_does_not_wait()
{
    let server = FaultServer::start(|_| {
        Reply::chat("42")
            .header("x-ratelimit-remaining-tokens", "12")
            .header("x-ratelimit-reset-tokens", "58.1s")
    });
    let (model, _limits, _events) = limited(&server, LimitOptions::fixed(8));
    assert!(chat(&model, &ask("How much?")).await.is_ok());
    let stop = Stop::default();
    let waiting = spawned(&model, &stop);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    stop.drain.cancel();
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!((error.kind, error.attempts), (ErrorKind::Cancelled, 0));
    assert_eq!(server.count(), 1);
}
