//! Results in every order and shape, and of every size.

use finqa_agents::llm::BudgetLimits;

use super::*;

/// The run says `words` after `edit` changed the results of its first batch, and every call
/// has its own reply in the end.
async fn survives(edit: impl Fn(&mut Vec<String>) + Send + Sync + 'static, words: &str) {
    let server = server(|_| Ending::Complete);
    server.edit_results(move |batch, lines| {
        if batch == "batch_0" {
            edit(lines);
        }
    });
    let run = BatchRun::new(openai(&server.http));
    run.ask(&QUESTIONS).await.answers(&QUESTIONS);
    run.says(words);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_in_any_order_reach_their_own_calls() {
    survives(|lines| lines.sort(), "ended, results: 3").await;
    survives(|lines| lines.rotate_left(1), "ended, results: 3").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_results_of_one_request_the_first_is_taken() {
    let edit = |lines: &mut Vec<String>| {
        let again = lines[0].replace("three", "another");
        assert_ne!(again, lines[0]);
        lines.push(again);
    };
    survives(edit, "results: 3, further results of the same request: 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_without_an_id_is_not_taken_and_its_request_is_sent_again() {
    let edit = |lines: &mut Vec<String>| lines[1] = lines[1].replace("custom_id", "id");
    let words = "results: 2, requests without a result: 1, unreadable lines: 1";
    survives(edit, words).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_an_unknown_request_is_not_taken() {
    let edit = |lines: &mut Vec<String>| {
        let mut line: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
        line["custom_id"] = "of-another".into();
        lines[1] = line.to_string();
    };
    let words = "results: 2, requests without a result: 1, results of unknown requests: 1";
    survives(edit, words).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_the_results_leave_out_is_sent_again() {
    let edit = |lines: &mut Vec<String>| drop(lines.remove(1));
    survives(edit, "results: 2, requests without a result: 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_no_batch_answers_is_submitted_once_for_each_attempt() {
    let server = server(|_| Ending::Complete);
    server.edit_results(|_, lines| lines.retain(|line| !line.contains("two")));
    let mut run = BatchRun::new(openai(&server.http));
    run.connection.retry.max_attempts = 2;
    let ended = run.ask(&QUESTIONS).await;
    let sizes = server.batches().into_iter().map(|it| it.requests.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [3, 1]);
    let error = ended.replies[1].as_ref().unwrap_err();
    assert_eq!((&error.kind, error.attempts), (&ErrorKind::ServerError, 2));
    assert!(error.message.contains("no result in 2 batches"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_fails_and_is_left_out_by_turns_is_submitted_once_for_each_attempt() {
    let server = BatchServer::start(
        |request| match request.user().trim() {
            "two" => Reply::error(500, "server_error", "The server had an error"),
            other => Reply::chat(other),
        },
        |_| Ending::Complete,
    );
    server.edit_results(|batch, lines| {
        if ["batch_0", "batch_2"].contains(&batch) {
            lines.retain(|line| !line.contains("server_error"));
        }
    });
    let mut run = BatchRun::new(openai(&server.http));
    run.connection.retry.max_attempts = 3;
    let ended = run.ask(&QUESTIONS).await;
    let sizes = server.batches().into_iter().map(|it| it.requests.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [3, 1, 1]);
    assert_eq!(ended.replies[1].as_ref().unwrap_err().attempts, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_batches_of_a_request_are_counted_over_all_processes() {
    let server = server(|_| Ending::Complete);
    server.edit_results(|_, lines| lines.retain(|line| !line.contains("two")));
    let mut run = BatchRun::new(openai(&server.http));
    run.connection.retry.max_attempts = 3;
    run.options.waits = false;
    let mut processes = 1;
    // Those who are answered are not asked again.
    let mut left = &QUESTIONS[..];
    while run.ask(left).await.driver.unwrap().is_some() {
        left = &QUESTIONS[if processes > 1 { 1..2 } else { 0..3 }];
        run = run.next_process();
        processes += 1;
        assert!(processes < 9);
    }
    let sizes = server.batches().into_iter().map(|it| it.requests.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [3, 1, 1]);
}

/// More requests go live than results are read at a time, and none of them fits into the limit
/// until the results behind them are read.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_go_live_wait_for_what_is_reserved_for_the_other_results() {
    let server = server(|_| Ending::Expired(30));
    let questions: Vec<String> = (0..100).map(|at| format!("q{at}")).collect();
    let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
    let mut run = BatchRun::new(anthropic(&server.http));
    (run.options.waits, run.options.sends_late_live) = (false, true);
    assert_eq!(run.ask(&questions).await.driver.unwrap(), Some(100));
    let limits = BudgetLimits {
        tokens: Some(60_000),
        ..BudgetLimits::default()
    };
    let next = BatchRun {
        budget: Arc::new(Budget::new(limits)),
        ..run.next_process()
    };
    next.ask(&questions).await.answers(&questions);
    assert_eq!(server.batches().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_may_be_larger_than_a_reply_but_a_line_may_not() {
    let server = server(|_| Ending::Complete);
    server.edit_results(|batch, lines| {
        if batch == "batch_0" {
            lines[0].insert_str(1, &format!("{:4000}", ""));
        }
        lines.splice(1..1, (0..100).map(|_| format!("{:1000}", "")));
    });
    let mut run = BatchRun::new(openai(&server.http));
    run.connection.max_body = 4000;
    run.ask(&QUESTIONS).await.answers(&QUESTIONS);
    run.says("results: 2, requests without a result: 1, unreadable lines: 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_breaks_off_begins_again() {
    let server = server(|_| Ending::Complete);
    let mut broken = 0;
    server.intercept(move |request| {
        broken += usize::from(request.path.ends_with("/content"));
        let half = "{\"custom_id\": \"x\"}\n".repeat(100);
        let is_broken = request.path.ends_with("/content") && broken < 3;
        is_broken.then(|| Reply::plain(200, &half).cut_off())
    });
    let run = BatchRun::new(openai(&server.http));
    run.ask(&QUESTIONS).await.answers(&QUESTIONS);
    let notices = run.notices.lock().unwrap().clone();
    assert_eq!(notices[1], "batch batch_0 ended, results: 3", "{notices:?}");
    assert_eq!(count(&server, "GET", "/content"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_cannot_be_stored_end_the_run_and_not_the_batch() {
    let server = server(|_| Ending::Complete);
    let run = BatchRun {
        folder: "/nowhere/to/be/found".into(),
        ..BatchRun::new(openai(&server.http))
    };
    let error = run.ask(&QUESTIONS).await.driver.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unstored);
    assert_eq!(run.batches()[0].stage, BatchStage::Submitted);
    let next = BatchRun {
        folder: std::env::temp_dir(),
        ..run.next_process()
    };
    next.ask(&QUESTIONS).await.answers(&QUESTIONS);
    assert_eq!(server.batches().len(), 1);
}
