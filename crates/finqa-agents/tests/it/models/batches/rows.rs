//! Tests states and rows of other servers' batch APIs, including some that cannot be read.

use super::results::described;
use super::*;
use crate::support::fault_server::Request;

/// Replies that do not state the state of the batch.
fn unclear() -> [Reply; 6] {
    [
        described(|batch| {
            batch["request_counts"] = json!({"total": 0, "completed": 0, "failed": 0})
        }),
        described(|batch| batch["status"] = "post_processing".into()),
        described(|batch| batch["status"] = json!(null)),
        Reply::new(200, "text/html", "<html><title>Sign in</title></html>"),
        Reply::json(200, &json!([])),
        Reply::json(200, &json!({"id": "batch_0", "status": {"state": "done"}})),
    ]
}

fn is_look(request: &Request) -> bool {
    request.method == "GET"
        && request.path.contains("/batches/batch_")
        && !request.path.ends_with("/results")
}

/// Some of these states once ended the run. One of them caused all requests to be submitted and
/// paid for a second time.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_not_understood_is_asked_for_again_with_a_limit_and_a_clear_end() {
    for state in unclear() {
        for connection in [openai, anthropic] {
            let server = server(|_| Ending::Complete);
            let (mut looks, early) = (0, state.clone());
            server.intercept(move |request| {
                looks += usize::from(is_look(request));
                (is_look(request) && looks < 3).then(|| early.clone())
            });
            let run = BatchRun::new(connection(&server.http));
            run.ask(&QUESTIONS).await.answers(&QUESTIONS);
            assert_eq!(server.batches().len(), 1, "{state:?}");

            let mut connection = connection(&server.http);
            connection.retry.give_up_after = Duration::ZERO;
            let run = BatchRun::new(connection);
            let early = state.clone();
            server.intercept(move |request| is_look(request).then(|| early.clone()));
            let error = run.ask(&QUESTIONS).await.driver.unwrap_err();
            assert!(
                error.message.contains("--resume asks for it again"),
                "{error}"
            );
            server.intercept(|_| None);
            let next = run.next_process();
            next.ask(&QUESTIONS).await.answers(&QUESTIONS);
            assert_eq!(server.batches().len(), 2, "{state:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn states_are_compared_without_case() {
    for connection in [openai, anthropic] {
        let server = server(|_| Ending::Complete);
        let run = BatchRun::new(connection(&server.http));
        server.edit_states(|batch| {
            for name in ["status", "processing_status"] {
                if let Some(state) = batch[name].as_str().map(str::to_uppercase) {
                    batch[name] = state.into();
                }
            }
        });
        run.ask(&QUESTIONS).await.answers(&QUESTIONS);
        assert_eq!(server.batches().len(), 1);
    }
}

/// Such rows once counted as missing, and their requests were submitted again.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_read_however_its_status_and_body_are_written() {
    type Edit = fn(&mut serde_json::Value);
    let edits: [Edit; 3] = [
        |row| row["response"]["status_code"] = "200".into(),
        |row| {
            drop(
                row["response"]
                    .as_object_mut()
                    .unwrap()
                    .remove("status_code"),
            )
        },
        |row| row["response"]["body"] = row["response"]["body"].to_string().into(),
    ];
    for edit in edits {
        let server = server(|_| Ending::Complete);
        server.edit_results(move |_, lines| {
            for line in lines {
                let mut row = serde_json::from_str(line).unwrap();
                edit(&mut row);
                *line = row.to_string();
            }
        });
        let run = BatchRun::new(openai(&server.http));
        run.ask(&QUESTIONS).await.answers(&QUESTIONS);
        assert_eq!(server.batches().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_be_read_is_said_to_be_and_not_asked_for_a_third_time() {
    type Edit = fn(&str) -> String;
    let edits: [Edit; 3] = [
        |line| line[..line.len() - 20].to_owned(),
        |line| line.replace("\"response\"", "\"reply\""),
        |line| line.replace("\"status_code\":200", "\"status_code\":\"fine\""),
    ];
    for edit in edits {
        let server = server(|_| Ending::Complete);
        server.edit_results(move |_, lines| {
            for line in lines.iter_mut().filter(|line| line.contains("\"two\"")) {
                *line = edit(line);
            }
        });
        let run = BatchRun::new(openai(&server.http));
        let ended = run.ask(&QUESTIONS).await;
        let error = ended.replies[1].as_ref().unwrap_err();
        assert_eq!(
            (error.kind.clone(), error.attempts),
            (ErrorKind::Malformed, 2)
        );
        assert!(error.message.contains("custom_id"), "{error}");
        assert_eq!(server.batches().len(), 2);
        run.says("errors: 0, requests without a result: 0");
    }
}
