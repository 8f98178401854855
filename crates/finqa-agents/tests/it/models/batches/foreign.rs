//! Lost submissions at a provider whose batches have no metadata, next to batches of others.

use finqa_agents::llm::BudgetLimits;

use super::*;

const FOREIGN: &str = "batch foreign_0 is not used for wave 1: its results are of other requests";

/// Anthropic's form, with the submission lost before or after it arrives, in a run that finds
/// another's batch of the same size.
async fn with_a_foreign_batch(arrives: bool) -> (BatchServer, BatchRun, Ended) {
    let server = server(|_| Ending::Complete);
    server.add_foreign("sk-ant-test-key", QUESTIONS.len(), Ending::After(1));
    match arrives {
        true => server.lose_replies(1),
        false => {
            let mut lost = false;
            server.intercept(move |request| {
                let is_first = is_submission(request) && !std::mem::replace(&mut lost, true);
                is_first.then(Reply::reset)
            });
        }
    }
    let run = BatchRun::new(anthropic(&server.http));
    let ended = run.ask(&QUESTIONS).await;
    (server, run, ended)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_batch_of_equal_size_is_rejected_and_the_lost_wave_submitted_again() {
    let (server, run, ended) = with_a_foreign_batch(false).await;
    ended.answers(&QUESTIONS);
    run.says("batch foreign_0 is of its time and size");
    run.says(FOREIGN);
    run.says("wave 1 may be at the provider twice");
    for reply in &ended.replies {
        let reply = reply.as_ref().unwrap();
        assert!(reply.batch_repeated);
        assert_eq!((reply.attempts, reply.lost), (2, 1));
    }
    assert_eq!(server.batches().len(), 2, "the foreign one and ours");
    let [lost, again] = run.batches().try_into().unwrap();
    assert!(lost.repeated && lost.batch.is_none() && !again.guessed);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_foreign_batch_the_own_one_is_found_and_submitted_once() {
    let (server, run, ended) = with_a_foreign_batch(true).await;
    ended.answers(&QUESTIONS);
    run.says(FOREIGN);
    run.says("batch batch_1 is of its time and size");
    assert_eq!(server.batches().len(), 2, "the foreign one and ours");
    assert!(!ended.replies[0].as_ref().unwrap().batch_repeated);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_batch_that_does_not_end_is_given_up_and_never_cancelled() {
    let server = server(|_| Ending::Complete);
    server.add_foreign("sk-ant-test-key", QUESTIONS.len(), Ending::Never(0));
    server.lose_replies(1);
    let mut run = BatchRun::new(anthropic(&server.http));
    run.options.timeout = Duration::from_millis(1);
    run.ask(&QUESTIONS).await.answers(&QUESTIONS);
    run.says("batch foreign_0 is not used for wave 1: it has not ended in time");
    assert_eq!(count(&server, "POST", "/cancel"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_run_of_the_same_questions_is_foreign_too() {
    let server = server(|_| Ending::Complete);
    let first = BatchRun::new(anthropic(&server.http));
    first.ask(&QUESTIONS).await.answers(&QUESTIONS);
    let mut lost = false;
    server.intercept(move |request| {
        let is_first = is_submission(request) && !std::mem::replace(&mut lost, true);
        is_first.then(Reply::reset)
    });
    let second = BatchRun {
        id: "another",
        ..BatchRun::new(anthropic(&server.http))
    };
    second.ask(&QUESTIONS).await.answers(&QUESTIONS);
    second.says("batch batch_0 is not used for wave 1: its results are of other requests");
    assert_eq!(server.batches().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guess_is_checked_by_the_next_process_as_well() {
    let server = server(|_| Ending::Complete);
    server.add_foreign("sk-ant-test-key", QUESTIONS.len(), Ending::Never(0));
    server.lose_replies(1);
    let mut run = BatchRun::new(anthropic(&server.http));
    run.options.waits = false;
    let ended = run.ask(&QUESTIONS).await;
    assert_eq!(ended.driver.unwrap(), Some(QUESTIONS.len()));
    assert!(run.batches()[0].guessed);
    server.end_as(Ending::Complete);
    let next = run.next_process();
    next.ask(&QUESTIONS).await.answers(&QUESTIONS);
    next.says(FOREIGN);
    assert_eq!(server.batches().len(), 2, "the foreign one and ours");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_request_goes_live_once_no_batch_holds_what_the_run_may_spend() {
    let server = server(|number| match number {
        2 => Ending::Expired(0),
        _ => Ending::Complete,
    });
    server.add_foreign("sk-ant-test-key", 2, Ending::After(1));
    server.lose_replies(1);
    let mut run = BatchRun::new(anthropic(&server.http));
    run.options.waits = false;
    assert_eq!(run.ask(&QUESTIONS[..2]).await.driver.unwrap(), Some(2));
    let run = run.next_process();
    assert_eq!(run.ask(&QUESTIONS).await.driver.unwrap(), Some(3));
    assert_eq!(server.batches()[2].requests.len(), 1);

    // Enough for one request, not for two.
    let limits = BudgetLimits {
        tokens: Some(9_000),
        ..BudgetLimits::default()
    };
    let mut run = BatchRun {
        budget: Arc::new(Budget::new(limits)),
        ..run.next_process()
    };
    (run.options.waits, run.options.sends_late_live) = (true, true);
    run.ask(&QUESTIONS).await.answers(&QUESTIONS);
    run.says(FOREIGN);
    assert_eq!(count(&server, "POST", "/messages"), 1);
    assert_eq!(server.batches().len(), 3);
}
