//! A run whose provider refuses requests: what it shows, and what of it reaches the rows.

use std::sync::Arc;
use std::time::Duration;

use convfinqa::dataset::{self, Source};
use convfinqa::run::{
    Event, Finish, HistoryMode, Journal, Mode, Plan, RunMeta, RunModels, Scheduler, Workload,
};
use convfinqa::{Run, RunContext};
use finqa_agents::llm::{
    ChatModel, HttpModel, LimitOptions, LimitStatus, Limits, ModelConnection, ModelSettings, Stop,
};
use finqa_agents::pair::{Backend, Pair, PairOptions};
use tokio::sync::mpsc;

use crate::support::agents::scripted;
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::asking;

fn too_many() -> Reply {
    Reply::error(429, "rate_limit_exceeded", "Rate limit reached")
}

#[test]
fn rows_do_not_depend_on_how_often_requests_were_refused() {
    let answers = |refused: usize| {
        let place = Workplace::new();
        let server = FaultServer::start(move |request| match request.index < refused {
            true => too_many().header("retry-after-ms", "2"),
            false => scripted(request),
        });
        place.answer(&asking(&server, "concurrency = 32"));
        assert!(server.most_in_flight() <= 32);
        place.unmeasured_rows()
    };
    assert_eq!(answers(60), answers(0));
}

/// The provider refuses the first requests for longer than a test lasts, and answers all
/// others.
#[tokio::test]
async fn long_hints_for_every_conversation_do_not_freeze_the_run() {
    let server = FaultServer::start(|request| match request.index < 2 {
        true => too_many().header("retry-after", "3600"),
        false => scripted(request),
    });
    let flags = ModelSettings {
        name: "m".to_owned(),
        base_url: Some(server.base_url()),
        ..ModelSettings::default()
    };
    let connection = ModelConnection::resolve(&|_| None, &flags).unwrap();
    let limits = Limits::default();
    let options = LimitOptions {
        start: 2,
        ..LimitOptions::fixed(16)
    };
    let limiter = limits.limiter(&connection, options);
    let model = Arc::new(HttpModel::new(connection).unwrap().with_limiter(limiter));
    let analyst: Arc<dyn ChatModel> = model;
    let sample = dataset::load(&Source::Sample).unwrap();
    let plan = Plan::new(&sample, Mode::Questions, HistoryMode::Own, 1).unwrap();
    let total = plan.total();
    assert!(total > 4);
    let folder = tempfile::tempdir().unwrap();
    let meta = RunMeta {
        id: "r".into(),
        total: Some(total),
        ..RunMeta::default()
    };
    let journal = Journal::create(&folder.path().join("journal.sqlite"), &meta, None).unwrap();
    let (sender, mut events) = mpsc::channel(4096);
    let stop = Stop::default();
    let pair = Pair::new(&PairOptions::new(Backend::Llm {
        critic: Arc::clone(&analyst),
        analyst,
    }));
    let scheduler = Scheduler {
        workload: Workload {
            concurrency: 16,
            ..Workload::new(plan, Arc::new(pair.unwrap()))
        },
        models: RunModels {
            limits,
            ..RunModels::default()
        },
        stop: stop.clone(),
    };
    let running = tokio::spawn(scheduler.run(journal, sender));
    let mut answered = Vec::new();
    while let Some(event) = events.recv().await {
        if let Event::Answered { row, .. } = event {
            answered.push(row.index);
            if answered.len() == total - 2 {
                stop.drain.cancel();
            }
        }
    }
    assert_eq!(running.await.unwrap().unwrap(), Finish::Interrupted);
    answered.sort_unstable();
    assert_eq!(answered, (2..total).collect::<Vec<_>>());
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
