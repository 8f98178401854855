//! The scheduler over a model inside this process that does what a test says.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use finqa_agents::llm::{
    Budget, ChatModel, ChatReply, ChatRequest, Cost, ErrorKind, ModelError, Stop, Usage,
};
use finqa_agents::pair::{
    AgentSettings, Backend, CriticMode, PairOptions, Sampling, TwoAgentSolver,
};
use finqa_journal::run::{Event, Finish, Journal, Plan, RunMeta, Summary, summarise};
use finqa_run::engine::{RunModels, Scheduler};
use finqa_score::dataset::{self, HistoryMode, Mode, Source};
use rust_decimal::Decimal;
use tokio::sync::mpsc;

type Script = dyn Fn(usize, &Stop) -> Result<ChatReply, Box<ModelError>> + Send + Sync;

/// Answers its nth call, from 0, as the script says.
struct Scripted {
    script: Box<Script>,
    calls: Mutex<Vec<ChatRequest>>,
    /// Calls in flight, and the most of them at a time.
    in_flight: Mutex<(usize, usize)>,
}

#[async_trait]
impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn cost(&self, _: &ChatReply) -> Option<Decimal> {
        Some(Decimal::ONE)
    }

    async fn chat(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let at = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(request.clone());
            calls.len() - 1
        };
        {
            let mut calls = self.in_flight.lock().unwrap();
            *calls = (calls.0 + 1, calls.1.max(calls.0 + 1));
        }
        // The last that is begun is answered first.
        for _ in at..10 {
            tokio::task::yield_now().await;
        }
        self.in_flight.lock().unwrap().0 -= 1;
        (self.script)(at, stop).map_err(|error| *error)
    }
}

/// A reply of 10 tokens that was asked for with one request.
fn answer() -> ChatReply {
    ChatReply {
        usage: Some(Usage {
            input_tokens: 9,
            output_tokens: 1,
            ..Usage::default()
        }),
        attempts: 1,
        ..ChatReply::text(r#"{"answer": "42", "unit": "number"}"#)
    }
}

fn failure(kind: ErrorKind, lost: u32) -> Box<ModelError> {
    Box::new(ModelError {
        attempts: 1,
        lost,
        after_success: true,
        ..ModelError::new(kind, "as the script says")
    })
}

struct Ran {
    finish: Finish,
    events: Vec<Event>,
    journal: Journal,
    requests: Vec<ChatRequest>,
    most_in_flight: usize,
    _folder: tempfile::TempDir,
}

impl Ran {
    fn summary(&self) -> Summary {
        summarise(&self.journal).unwrap()
    }
}

/// Asks the sample's first `n` records, each question by one call that costs a dollar.
async fn ran(
    n: usize,
    script: impl Fn(usize, &Stop) -> Result<ChatReply, Box<ModelError>> + Send + Sync + 'static,
) -> Ran {
    ran_as(n, (1, 1), Arc::default(), script).await
}

/// The same in so many passes, by so many samples and under a budget.
async fn ran_as(
    n: usize,
    (epochs, samples): (u32, u32),
    budget: Arc<Budget>,
    script: impl Fn(usize, &Stop) -> Result<ChatReply, Box<ModelError>> + Send + Sync + 'static,
) -> Ran {
    let sample = dataset::load(&Source::Sample).unwrap();
    let dataset = sample.pick(&(0..n).collect::<Vec<_>>());
    let plan = Plan::new(&dataset, Mode::Questions, HistoryMode::Own, epochs).unwrap();
    let model = Arc::new(Scripted {
        script: Box::new(script),
        calls: Mutex::default(),
        in_flight: Mutex::default(),
    });
    let analyst: Arc<dyn ChatModel> = model.clone();
    let options = PairOptions {
        settings: AgentSettings {
            critic: Some(CriticMode::Off),
            samples,
            ..AgentSettings::default()
        },
        sampling: Sampling {
            seed: Some(7),
            ..Sampling::default()
        },
        ..PairOptions::new(Backend::Llm {
            critic: Arc::clone(&analyst),
            analyst,
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.sqlite");
    let meta = RunMeta {
        id: "r".into(),
        total: plan.total(),
        ..RunMeta::default()
    };
    let journal = Journal::create(&path, &meta, None).unwrap();
    let (sender, mut received) = mpsc::channel(4096);
    let scheduler = Scheduler {
        plan,
        solver: Arc::new(TwoAgentSolver::new(&options).unwrap()),
        concurrency: 1,
        models: RunModels {
            budget,
            ..RunModels::default()
        },
        stop: Stop::default(),
    };
    let finish = scheduler.run(journal, sender).await.unwrap();
    let mut events = Vec::new();
    while let Ok(event) = received.try_recv() {
        events.push(event);
    }
    Ran {
        finish,
        events,
        journal: Journal::open(&path).unwrap(),
        requests: model.calls.lock().unwrap().clone(),
        most_in_flight: model.in_flight.lock().unwrap().1,
        _folder: folder,
    }
}

#[tokio::test]
async fn a_panic_is_reported_as_a_bug_and_loses_nothing() {
    let ran = ran(6, |at, _| {
        assert!(at != 3, "the fourth call is unlucky");
        Ok(answer())
    })
    .await;
    let Finish::Bug(message) = &ran.finish else {
        panic!("{:?}", ran.finish);
    };
    assert!(message.contains("the fourth call is unlucky"), "{message}");
    assert_eq!(ran.journal.answered().unwrap(), 3);
    assert!(!ran.journal.is_complete().unwrap());
    assert!(matches!(
        ran.events.last(),
        Some(Event::Finished {
            finish: Finish::Bug(_),
            ..
        })
    ));
}

/// What ends a run, the strongest first: each wins over all that follow.
#[tokio::test]
async fn of_several_causes_that_end_a_run_the_first_in_this_order_is_named() {
    const CAUSES: [&str; 5] = ["bug", "fatal", "time", "stop", "failures"];
    for first in 0..CAUSES.len() {
        let budget = Arc::new(Budget::default());
        let shared = Arc::clone(&budget);
        let ran = ran_as(6, (1, 1), budget, move |at, stop| match at {
            0 => Ok(answer()),
            // Everything from the first cause on, the weakest earliest.
            1 => Err(failure(ErrorKind::ServerError, 0)),
            _ => {
                let causes = &CAUSES[first..];
                if causes.contains(&"time") {
                    shared.end_time(stop);
                }
                if causes.contains(&"stop") {
                    stop.drain.cancel();
                }
                assert!(!causes.contains(&"bug"), "a bug");
                Err(if causes.contains(&"fatal") {
                    failure(ErrorKind::QuotaExceeded, 0)
                } else {
                    failure(ErrorKind::ServerError, 0)
                })
            }
        });
        let finish = ran.await.finish;
        let named = match &finish {
            Finish::Bug(_) => "bug",
            Finish::Fatal(_) => "fatal",
            Finish::BudgetReached { .. } => "time",
            Finish::Interrupted => "stop",
            Finish::Partial { .. } => "failures",
            Finish::Complete => "complete",
        };
        assert_eq!(named, CAUSES[first], "{finish:?}");
    }
}

#[tokio::test]
async fn a_run_that_is_stopped_at_its_last_question_is_complete() {
    let all = ran(3, |_, _| Ok(answer())).await;
    let last = all.requests.len() - 1;
    for (at_call, finish) in [(last, Finish::Complete), (last - 1, Finish::Interrupted)] {
        let stopped = ran(3, move |at, stop| {
            if at == at_call {
                stop.drain.cancel();
            }
            Ok(answer())
        });
        assert_eq!(stopped.await.finish, finish);
    }
}

#[tokio::test]
async fn a_stop_begins_no_further_request() {
    let stopped = ran_as(1, (1, 3), Arc::default(), |_, stop| {
        stop.drain.cancel();
        Ok(answer())
    })
    .await;
    assert_eq!(stopped.finish, Finish::Interrupted);
    assert_eq!(stopped.requests.len(), 1);
    let kept = stopped.journal.open_calls().unwrap();
    assert_eq!(kept.values().flatten().count(), 1, "what was paid is kept");
}

/// The first one alone, so that the others find the page in the provider's prompt cache.
#[tokio::test]
async fn samples_after_the_first_are_asked_together_and_kept_in_their_order() {
    let ran = ran_as(1, (1, 4), Arc::default(), |_, _| Ok(answer())).await;
    assert_eq!(ran.most_in_flight, 3);
    let nodes = ["analyst", "analyst#2", "analyst#3", "analyst#4"];
    let mut rows = 0;
    ran.journal
        .for_each_row(|row| {
            let made: Vec<_> = row.solution.calls.iter().map(|call| &call.node).collect();
            assert_eq!(made, nodes);
            rows += 1;
        })
        .unwrap();
    assert_eq!(rows * nodes.len(), ran.requests.len());
}

#[tokio::test]
async fn each_pass_sends_a_seed_of_its_own() {
    let ran = ran_as(2, (3, 1), Arc::default(), |_, _| Ok(answer())).await;
    let pass = ran.requests.len() / 3;
    let seeds: Vec<_> = ran.requests.iter().map(|request| request.seed).collect();
    let expected = [7, 8, 9].map(|seed| vec![Some(seed); pass]).concat();
    assert_eq!(seeds, expected);
}

#[tokio::test]
async fn what_failed_and_may_have_been_billed_makes_the_cost_at_least() {
    let refused = ran(2, |at, _| match at {
        1 => Err(failure(ErrorKind::RateLimited, 0)),
        _ => Ok(answer()),
    })
    .await;
    assert_eq!(refused.finish, Finish::Complete);
    let dollars = Decimal::from(refused.requests.len() - 1);
    assert_eq!(refused.summary().spent.cost_usd, Some(dollars));

    let lost = ran(2, |at, _| match at {
        1 => Err(failure(ErrorKind::CutOff, 2)),
        2 => Ok(ChatReply {
            attempts: 2,
            lost: 1,
            ..answer()
        }),
        _ => Ok(answer()),
    })
    .await;
    assert_eq!(lost.finish, Finish::Complete);
    let spent = lost.summary().spent;
    let priced = lost.requests.len() as u64 - 1;
    let expected = Cost {
        known: Decimal::from(priced),
        priced,
        unpriced: 3,
    };
    assert_eq!((spent.cost, spent.cost_usd), (expected, None));
    let (node, analyst) = spent.nodes.iter().next().unwrap();
    assert_eq!((&**node, analyst.failed, analyst.lost), ("analyst", 1, 3));
    let mut unknown = 0;
    lost.journal
        .for_each_row(|row| unknown += usize::from(row.cost.is_none()))
        .unwrap();
    assert_eq!(unknown, 2, "the rows say so too");
}

#[tokio::test]
async fn a_call_that_was_given_up_is_in_the_sum_although_its_question_has_no_row() {
    let ran = ran(3, |at, stop| match at {
        1 => {
            stop.drain.cancel();
            Err(failure(ErrorKind::Cancelled, 1))
        }
        _ => Ok(answer()),
    })
    .await;
    assert_eq!(ran.finish, Finish::Interrupted);
    let spent = ran.summary().spent;
    let expected = Cost {
        known: Decimal::ONE,
        priced: 1,
        unpriced: 1,
    };
    assert_eq!((spent.calls, spent.cost), (2, expected));
}

#[tokio::test]
async fn a_provider_that_answers_nothing_is_not_asked_twice() {
    let ran = ran(3, |_, _| Err(failure(ErrorKind::ServerError, 0))).await;
    assert!(matches!(ran.finish, Finish::Fatal(_)), "{:?}", ran.finish);
    assert_eq!(ran.journal.answered().unwrap(), 0);
    let total = ran.journal.meta().unwrap().total;
    assert_eq!(ran.requests.len(), total, "each question once");
}
