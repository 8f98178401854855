//! Runs of which each process submits a wave and exits, at providers that fail.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use rstest::rstest;

use super::{Ending, Ran, Workplace, fetch_to_the_end, later, live_at, submit};
use crate::support::agents::{question_of, scripted};
use crate::support::batch_server::BatchServer;
use crate::support::fault_server::{Reply, Request};

/// Submits conversations of the sample to a server that answers like this, and fetches
/// until no batch is at the provider.
fn submitted(
    answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    more: &str,
) -> (Workplace, BatchServer, Ran) {
    let place = Workplace::new();
    let server = BatchServer::start(answer, |_| Ending::Complete);
    submit(&place, &server, more).succeeds();
    let fetched = fetch_to_the_end(&place);
    (place, server, fetched)
}

/// The first question of the sample.
const FIRST: &str = "how much net cash came from operating activities in 2019?";

#[test]
fn a_request_that_is_always_refused_is_the_outcome_of_its_question() {
    let answer = |request: &Request| match question_of(request) == FIRST {
        true => Reply::error(400, "invalid_request", "No."),
        false => scripted(request),
    };
    let (place, _, fetched) = submitted(answer, "--n 3");
    fetched.succeeds();
    let [mut batched, mut live] = [place.unmeasured_rows(), live_at(answer, "--n 3")];
    // A result in a batch names its request.
    for row in batched.iter_mut().chain(&mut live) {
        row.remove("error").unwrap();
    }
    assert_eq!(batched, live);
}

fn error() -> Reply {
    Reply::error(500, "server_error", "The server had an error")
}

fn without_choices() -> Reply {
    Reply::json(200, &json!({"id": "without_choices"}))
}

fn error_as_a_result() -> Reply {
    let error = json!({"error": {"message": "The server had an error"}});
    Reply::json(200, &error)
}

/// A result that cannot be used does not end the count of failures.
fn error_and_without_choices() -> Reply {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    match ASKED.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => error(),
        _ => without_choices(),
    }
}

/// One process for each wave.
#[rstest]
#[case::error(error)]
#[case::without_choices(without_choices)]
#[case::error_as_a_result(error_as_a_result)]
#[case::in_turn(error_and_without_choices)]
fn a_request_that_always_fails_is_in_as_many_batches_as_it_has_attempts(
    #[case] failure: fn() -> Reply,
) {
    let answer = move |request: &Request| match question_of(request) == FIRST {
        true => failure(),
        false => scripted(request),
    };
    let (place, server, fetched) = submitted(answer, "--n 3 --attempts 3 --critic off");
    fetched.ends(5);
    assert_eq!(server.submissions().into_values().max(), Some(3));
    let batches = server.batches().len();
    let again = later(&place, "batch fetch");
    again.fails(5, &["no answer in as many batches as --attempts allows"]);
    assert_eq!(server.batches().len(), batches);
}

#[test]
fn a_request_without_a_result_is_in_no_more_batches_in_the_second_pass() {
    for (attempts, most, ending) in [
        (1, 1, Ending::Expired(0)),
        (1, 1, Ending::WithoutOutput),
        (2, 2, Ending::Expired(0)),
    ] {
        let place = Workplace::new();
        let server = BatchServer::start(scripted, move |number| match number {
            0 => Ending::Complete,
            _ => ending,
        });
        let more = format!("--n 1 --critic off --attempts {attempts}");
        submit(&place, &server, &more).succeeds();
        let fetched = fetch_to_the_end(&place);
        assert_eq!(fetched.code, Some(5), "{}", fetched.stderr);
        assert_eq!(server.submissions().into_values().max(), Some(most));
        // Only `--resume` asks again, and the tables of such a run say so.
        let said = format!("{}{}", fetched.stdout, fetched.stderr);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("convfinqa --resume"), "{said}");
        assert!(!said.contains("batch fetch"), "{said}");
    }
}

#[test]
fn what_a_model_refuses_in_a_request_is_known_to_the_next_process() {
    let answer = |request: &Request| match request.body["response_format"].is_null() {
        true => scripted(request),
        false => Reply::unsupported("response_format", "No format."),
    };
    let (place, server, fetched) = submitted(answer, "--n 3");
    fetched.succeeds();
    let [mut batched, mut live] = [place.unmeasured_rows(), live_at(answer, "--n 3")];
    // A call whose request was refused once is ended and made again by the next process.
    for row in batched.iter_mut().chain(&mut live) {
        row.remove("calls").unwrap();
    }
    assert_eq!(batched, live);
    let refused = server.batches().into_iter().filter(|batch| {
        let mut bodies = batch.requests.iter();
        bodies.any(|(_, body)| !body["response_format"].is_null())
    });
    assert_eq!(refused.count(), 2, "a schema, and an object");
}
