//! Tests lost submissions to a provider whose batches have no metadata, and that also has batches
//! of other runs.

use super::*;

const FOREIGN: &str = "batch foreign_0 is of another run";

/// The submission, in Anthropic's form, is lost before or after it reaches the provider.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_batch_of_equal_size_is_rejected_and_the_own_one_found_or_submitted_again() {
    for (arrives, words) in [
        (true, "found batch batch_1"),
        (false, "it is repeated, requests: 3"),
    ] {
        let server = server(|_| Ending::Complete);
        server.add_foreign("sk-ant-test-key", QUESTIONS.len(), Ending::After(1));
        if arrives {
            server.lose_replies(1);
        } else {
            let mut lost = false;
            server.intercept(move |request| {
                let is_first = is_submission(request) && !std::mem::replace(&mut lost, true);
                is_first.then(Reply::reset)
            });
        }
        let run = BatchRun::new(anthropic(&server.http));
        run.ask(&QUESTIONS).await.answers(&QUESTIONS);
        run.says(FOREIGN);
        run.says(words);
        assert_eq!(server.batches().len(), 2, "the foreign one and ours");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guess_is_checked_by_the_next_process_as_well() {
    let server = server(|_| Ending::Complete);
    server.add_foreign("sk-ant-test-key", QUESTIONS.len(), Ending::Never);
    server.lose_replies(1);
    let run = BatchRun::new(anthropic(&server.http));
    let stop = run.stop.clone();
    server.intercept(move |request| {
        if request.path.ends_with("foreign_0") {
            stop.drain.cancel();
        }
        None
    });
    assert!(run.ask(&QUESTIONS).await.is_cancelled());
    assert_eq!(run.batches()[0].batch.as_deref(), Some("foreign_0"));
    server.intercept(|_| None);
    server.end_as(Ending::Complete);
    let next = run.next_process();
    next.ask(&QUESTIONS).await.answers(&QUESTIONS);
    next.says(FOREIGN);
    assert_eq!(server.batches().len(), 2, "the foreign one and ours");
}
