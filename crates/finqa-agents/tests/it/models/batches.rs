//! Tests the batch engine without the binary: how a process handles a batch, and how the next
//! process continues.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

use finqa_agents::llm::{BatchQueue, BatchRecord, BatchStage, Budget, RequestOrigin, RunBatches};
use futures::FutureExt;
use futures::future::join_all;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::support::batch_server::{BatchServer, Ending};

mod foreign;
mod results;
mod rows;

/// A run with one call per question. Its journal outlives its processes.
struct BatchRun {
    connection: ModelConnection,
    id: &'static str,
    budget: Arc<Budget>,
    stop: Stop,
    journal: Arc<Mutex<BTreeMap<u32, BatchRecord>>>,
    notices: Arc<Mutex<Vec<String>>>,
    /// The number of batches that the journal can still store.
    stores: usize,
    /// Cancelled when every call has ended.
    calls_ended: CancellationToken,
}

/// The end of a process of a run.
struct Ended {
    replies: Vec<Result<ChatReply, ModelError>>,
    driver: Result<(), ModelError>,
}

impl BatchRun {
    fn new(connection: ModelConnection) -> Self {
        Self {
            connection,
            id: "run",
            budget: Arc::default(),
            stop: Stop::default(),
            journal: Arc::default(),
            notices: Arc::default(),
            stores: usize::MAX,
            calls_ended: CancellationToken::new(),
        }
    }

    /// The same run, continued by another process.
    fn next_process(self) -> Self {
        Self {
            stop: Stop::default(),
            calls_ended: CancellationToken::new(),
            ..self
        }
    }

    /// Asks the questions, as one process of the run does.
    async fn ask(&self, questions: &[&str]) -> Ended {
        let notices = Arc::clone(&self.notices);
        let observer = move |event: &CallEvent| {
            if let CallEvent::Batch(notice) = event {
                notices.lock().unwrap().push(notice.clone());
            }
        };
        let queue = BatchQueue::new(Arc::clone(&self.budget), Arc::new(observer));
        let (journal, left) = (Arc::clone(&self.journal), AtomicUsize::new(self.stores));
        queue.begin(self.id);
        let run = RunBatches {
            id: self.id.to_owned(),
            earlier: self.batches(),
            amounts: HashMap::new(),
            recorder: Arc::new(move |record| {
                let fits = left.load(Ordering::SeqCst) > 0;
                left.fetch_sub(usize::from(fits), Ordering::SeqCst);
                if fits {
                    journal.lock().unwrap().insert(record.number, record);
                }
                async move { fits }.boxed()
            }),
        };
        let mut model = HttpModel::new(self.connection.clone()).unwrap();
        model.budget = Arc::clone(&self.budget);
        let model = model.with_batches(Some(&queue));
        // Questions with the same first word are calls of one conversation.
        let mut units = BTreeMap::new();
        let calls = questions.iter().map(|question| {
            let first = question.split(' ').next().unwrap();
            let unit = units.entry(first);
            let unit = unit.or_insert_with(|| Arc::new(queue.unit()));
            (question, first, Arc::clone(unit))
        });
        let calls: Vec<_> = calls.collect();
        drop(units);
        let (model, stop) = (&model, &self.stop);
        let calls = calls.into_iter().map(|(question, first, unit)| async move {
            let mut request = ask(question);
            request.origin = RequestOrigin {
                question: first.to_owned(),
                ..RequestOrigin::default()
            };
            let reply = model.chat(&request, stop).await;
            drop(unit);
            reply
        });
        let asked = async {
            let asking = async {
                let replies = join_all(calls).await;
                self.calls_ended.cancel();
                queue.close();
                replies
            };
            let (replies, driver) = tokio::join!(asking, queue.drive(run, &self.stop));
            Ended { replies, driver }
        };
        let limit = Duration::from_secs(60);
        tokio::time::timeout(limit, asked).await.expect("it hangs")
    }

    fn batches(&self) -> Vec<BatchRecord> {
        self.journal.lock().unwrap().values().cloned().collect()
    }

    #[track_caller]
    fn says(&self, words: &str) {
        let notices = self.notices.lock().unwrap();
        let said = notices.iter().any(|notice| notice.contains(words));
        assert!(said, "no {words:?} in {notices:#?}");
    }
}

impl Ended {
    /// Every call must have the reply to its own question.
    #[track_caller]
    fn answers(&self, questions: &[&str]) {
        self.driver.as_ref().unwrap();
        assert_eq!(self.replies.len(), questions.len());
        for (reply, question) in self.replies.iter().zip(questions) {
            assert_eq!(reply.as_ref().unwrap().content, *question);
        }
    }

    fn is_cancelled(&self) -> bool {
        let cancelled = |reply: &Result<ChatReply, ModelError>| {
            reply
                .as_ref()
                .is_err_and(|error| error.kind == ErrorKind::Cancelled)
        };
        self.replies.iter().all(cancelled)
    }
}

const QUESTIONS: [&str; 3] = ["one", "two", "three"];

/// A server that answers each question with the question itself.
fn server(endings: impl Fn(usize) -> Ending + Send + Sync + 'static) -> BatchServer {
    BatchServer::start(|request| Reply::chat(request.user().trim()), endings)
}

fn is_submission(request: &crate::support::fault_server::Request) -> bool {
    request.method == "POST" && request.path.ends_with("/batches")
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_arrive_while_a_run_stops_are_fetched_again_and_not_paid_again() {
    let server = server(|_| Ending::Complete);
    let run = BatchRun::new(openai(&server.http));
    let (stop, calls_ended) = (run.stop.clone(), run.calls_ended.clone());
    server.intercept(move |request| {
        if request.path.ends_with("/content") {
            stop.drain.cancel();
            // Wait until the calls have ended, and only then send the results.
            while !calls_ended.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        None
    });
    let ended = run.ask(&QUESTIONS).await;
    assert!(ended.is_cancelled());
    assert_eq!(run.batches()[0].stage, BatchStage::Submitted);

    server.intercept(|_| None);
    let next = run.next_process();
    next.ask(&QUESTIONS).await.answers(&QUESTIONS);
    assert_eq!(server.batches().len(), 1);
    assert_eq!(next.batches()[0].stage, BatchStage::Ended);
}

/// The id would become part of the path of the next request.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_id_that_is_not_a_part_of_a_path_is_refused() {
    for id in ["../files", "a?limit=1", "a b"] {
        let server = server(|_| Ending::Complete);
        server.intercept(move |request| {
            is_submission(request).then(|| Reply::json(200, &json!({"id": id})))
        });
        let run = BatchRun::new(openai(&server.http));
        let error = run.ask(&QUESTIONS).await.driver.unwrap_err();
        assert!(error.message.contains("is not an id"), "{id}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submission_that_was_lost_before_another_error_is_looked_for_by_the_next_process() {
    let server = server(|_| Ending::Complete);
    server.lose_replies(1);
    server.intercept(|request| {
        let is_list = request.method == "GET" && request.path.ends_with("/batches");
        is_list.then(|| Reply::error(401, "invalid_api_key", "Incorrect API key"))
    });
    let run = BatchRun::new(openai(&server.http));
    let error = run.ask(&QUESTIONS).await.driver.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unauthorized);
    assert_eq!(run.batches()[0].stage, BatchStage::Sending);

    server.intercept(|_| None);
    let next = run.next_process();
    next.ask(&QUESTIONS).await.answers(&QUESTIONS);
    assert_eq!(server.batches().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_cannot_be_written_ends_the_wave_at_each_of_its_entries() {
    let mut stores = 0;
    loop {
        let server = server(|_| Ending::Complete);
        let run = BatchRun {
            stores,
            ..BatchRun::new(openai(&server.http))
        };
        let ended = run.ask(&QUESTIONS).await;
        // All entries but the last are needed to answer. The last one records that the results
        // are stored.
        if ended.replies[0].is_ok() {
            ended.answers(&QUESTIONS);
            break;
        }
        assert!(ended.is_cancelled());
        assert!(run.stop.drain.is_cancelled());
        stores += 1;
    }
    assert_eq!(stores, 2, "sending, submitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_refused_ends_the_run_and_not_the_batch() {
    for (reply, kind) in [
        (Reply::error(400, "x", "no"), ErrorKind::Unknown),
        (Reply::error(401, "x", "no"), ErrorKind::Unauthorized),
    ] {
        let server = server(|_| Ending::Complete);
        server.intercept(move |request| {
            let is_batch = request.path == "/v1/batches/batch_0";
            is_batch.then(|| reply.clone())
        });
        let run = BatchRun::new(openai(&server.http));
        let error = run.ask(&QUESTIONS).await.driver.unwrap_err();
        assert_eq!(error.kind, kind);
        assert_eq!(run.batches()[0].stage, BatchStage::Submitted);
        server.intercept(|_| None);
        let next = run.next_process();
        next.ask(&QUESTIONS).await.answers(&QUESTIONS);
        assert_eq!(server.batches().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_requests_of_one_conversation_each_get_a_reply() {
    let server = server(|_| Ending::Complete);
    let run = BatchRun::new(openai(&server.http));
    let questions = ["one", "one", "two"];
    run.ask(&questions).await.answers(&questions);
    let sizes = server.batches().into_iter().map(|it| it.requests.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [2, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_stays_at_the_provider_when_the_run_stops_and_ends_when_nobody_waits() {
    let server = server(|_| Ending::After(99));
    let run = BatchRun::new(openai(&server.http));
    let stop = run.stop.clone();
    server.intercept(move |request| {
        if request.path.ends_with("batch_0") {
            stop.drain.cancel();
        }
        None
    });
    assert!(run.ask(&QUESTIONS).await.is_cancelled());
    run.says("batch batch_0 stays at the provider, requests: 3; --resume fetches its results");
    assert_eq!(run.batches()[0].stage, BatchStage::Submitted);
    let next = run.next_process();
    next.ask(&[]).await;
    assert_eq!(next.batches()[0].stage, BatchStage::Ended);
}
