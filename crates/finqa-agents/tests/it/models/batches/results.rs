//! Results in every order and shape, and of every size.

use super::*;

/// An edit of the lines of results.
type Edit = fn(&mut Vec<String>);

/// A line of the results of a request that was not sent.
fn of_another(lines: &mut [String]) {
    let mut line: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
    line["custom_id"] = "of-another".into();
    lines[1] = line.to_string();
}

/// The run says the words after the results of its first batch were edited, and every call
/// has its own reply in the end.
#[tokio::test(flavor = "multi_thread")]
async fn results_in_every_order_and_shape_reach_their_own_calls() {
    const ONE_LACKS: &str =
        "results: 2, errors: 0, requests without a result: 1, lines that are not used: 1";
    let edits: [(Edit, &str); 6] = [
        (|lines| lines.sort(), "ended, results: 3"),
        (|lines| lines.rotate_left(1), "ended, results: 3"),
        // Of two results of one request the first is taken.
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
