//! Tests batch results in every order and form.

use super::*;

/// An edit of the lines of results.
type Edit = fn(&mut Vec<String>);

/// Makes a line the result of a request that was never sent.
fn of_another(lines: &mut [String]) {
    let mut line: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
    line["custom_id"] = "of-another".into();
    lines[1] = line.to_string();
}

/// Edits the results of the first batch of a run. The run must print these words, and in the end
/// every call must have its own reply.
#[tokio::test(flavor = "multi_thread")]
async fn results_in_every_order_and_shape_reach_their_own_calls() {
    const ONE_LACKS: &str =
        "results: 2, errors: 0, requests without a result: 1, lines that are not used: 1";
    let edits: [(Edit, &str); 6] = [
        (|lines| lines.sort(), "ended, results: 3"),
        (|lines| lines.rotate_left(1), "ended, results: 3"),
        // The first of two results of one request is used.
        (
            |lines| lines.push(lines[0].replace("three", "another")),
            "results: 3, errors: 0, requests without a result: 0, lines that are not used: 1",
        ),
        (
            |lines| lines[1] = lines[1].replace("custom_id", "id"),
            ONE_LACKS,
        ),
        (|lines| of_another(lines), ONE_LACKS),
        (
            |lines| drop(lines.remove(1)),
            "results: 2, errors: 0, requests without a result: 1",
        ),
    ];
    for (edit, words) in edits {
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
            let failed = lines.iter_mut().filter(|it| it.contains("server_error"));
            failed.for_each(|line| *line = line.replace("custom_id", "id"));
        }
    });
    let mut run = BatchRun::new(openai(&server.http));
    run.connection.retry.max_attempts = 3;
    let ended = run.ask(&QUESTIONS).await;
    let sizes = server.batches().into_iter().map(|it| it.requests.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [3, 1, 1]);
    assert_eq!(ended.replies[1].as_ref().unwrap_err().attempts, 3);
}

/// A batch in the server's description, with one change.
pub(super) fn described(edit: impl Fn(&mut serde_json::Value)) -> Reply {
    let mut batch = json!({
        "id": "batch_0", "object": "batch", "endpoint": "/v1/chat/completions", "errors": null,
        "input_file_id": "file-0", "completion_window": "24h", "status": "completed",
        "output_file_id": null, "error_file_id": null, "created_at": 1,
        "request_counts": {"total": 3, "completed": 3, "failed": 0}, "metadata": null,
    });
    edit(&mut batch);
    Reply::json(200, &batch)
}

/// All requests of such a batch were once submitted and paid for a second time.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_is_over_before_its_results_are_named_or_there_is_asked_about_again() {
    type State = fn(&mut serde_json::Value);
    let states: [(&str, State); 5] = [
        ("no file", |_| {}),
        ("empty ids", |batch| {
            batch["output_file_id"] = "".into();
            batch["error_file_id"] = "".into();
        }),
        ("the file of errors alone", |batch| {
            batch["request_counts"] = json!({"total": 3, "completed": 2, "failed": 1});
            batch["error_file_id"] = "file-e".into();
        }),
        ("no counts", |batch| batch["request_counts"] = json!(null)),
        ("expired", |batch| {
            batch["status"] = "expired".into();
            batch["request_counts"] = json!({"total": 3, "completed": 1, "failed": 0});
        }),
    ];
    for (what, state) in states {
        let server = server(|_| Ending::Complete);
        let mut polls = 0;
        server.intercept(move |request| {
            polls += usize::from(request.path == "/v1/batches/batch_0");
            (request.path == "/v1/batches/batch_0" && polls < 3).then(|| described(state))
        });
        let run = BatchRun::new(openai(&server.http));
        run.ask(&QUESTIONS).await.answers(&QUESTIONS);
        assert_eq!(server.batches().len(), 1, "{what}");
    }
    for early in [
        Reply::error(404, "not_found", "No such File object"),
        Reply::plain(200, "\n"),
    ] {
        for connection in [openai, anthropic] {
            let server = server(|_| Ending::Complete);
            let early = early.clone();
            let mut looks = 0;
            server.intercept(move |request| {
                let is_file =
                    request.path.ends_with("/content") || request.path.ends_with("/results");
                looks += usize::from(is_file);
                (is_file && looks < 3).then(|| early.clone())
            });
            let run = BatchRun::new(connection(&server.http));
            run.ask(&QUESTIONS).await.answers(&QUESTIONS);
            assert_eq!(server.batches().len(), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_do_not_come_end_the_run_and_the_next_process_fetches_them() {
    for (path, words) in [
        (
            "/v1/batches/batch_0",
            "the results that it announces do not come",
        ),
        (
            "/v1/files/file-batch_0-output_file_id/content",
            "the results that it announces do not come",
        ),
    ] {
        let server = server(|_| Ending::Complete);
        server.intercept(move |request| {
            let is_asked = request.path == path;
            is_asked.then(|| {
                if path.contains("files") {
                    Reply::error(404, "not_found", "No such File object")
                } else {
                    described(|_| {})
                }
            })
        });
        let mut connection = openai(&server.http);
        connection.retry.give_up_after = Duration::ZERO;
        let run = BatchRun::new(connection);
        let error = run.ask(&QUESTIONS).await.driver.unwrap_err();
        assert!(error.message.contains(words), "{error}");
        assert_eq!(run.batches()[0].stage, BatchStage::Submitted);
        server.intercept(|_| None);
        let next = run.next_process();
        next.ask(&QUESTIONS).await.answers(&QUESTIONS);
        assert_eq!(server.batches().len(), 1);
    }
}

/// No request was answered, so none is paid for twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_errors_alone_has_ended() {
    let server = BatchServer::start(
        |request| Reply::chat(request.user().trim()),
        |number| match number {
            0 => Ending::Expired(0),
            _ => Ending::Complete,
        },
    );
    let run = BatchRun::new(openai(&server.http));
    run.ask(&QUESTIONS).await.answers(&QUESTIONS);
    assert_eq!(server.batches().len(), 2);
}
