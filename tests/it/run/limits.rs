//! A run whose provider refuses requests: what it shows, and what of it reaches the rows.

use std::time::Duration;

use convfinqa::run::{Event, Finish};
use convfinqa::{Run, RunContext};
use finqa_agents::llm::{LimitStatus, Stop};

use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::asking;

fn too_many() -> Reply {
    Reply::error(429, "rate_limit_exceeded", "Rate limit reached")
}

#[tokio::test]
async fn a_run_in_which_everything_waits_says_so_and_stops_at_once() {
    let place = Workplace::new();
    let server = FaultServer::start(|_| too_many().header("retry-after", "89"));
    let settings = place.settings(&asking(&server, "concurrency = 4"));
    let stop = Stop::default();
    let context = RunContext {
        stop: stop.clone(),
        ..RunContext::default()
    };
    let mut run = Run::start(&settings, context).await.unwrap();
    let mut seen = LimitStatus::default();
    let mut finish = None;
    while let Some(event) = run.next().await {
        match event {
            Event::Limits(status) => {
                let waits = status.pause.is_some_and(|it| it > Duration::from_secs(60));
                if waits && status.rate_limited == 4 {
                    seen = status;
                    stop.drain.cancel();
                }
            }
            Event::Finished { finish: end, .. } => finish = Some(end),
            _ => {}
        }
    }
    assert_eq!((seen.in_flight, seen.rate_limited), (0, 4));
    assert!(seen.limit < 4, "{seen:?}");
    assert_eq!(finish, Some(Finish::Interrupted));
    assert_eq!(server.count(), 4);
}
