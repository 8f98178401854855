//! Processes that are killed, or asked to end, at each request to the Batch API.

use rstest::rstest;

use super::{Blow, Ending, Form, Workplace};
use super::{batched, cost, in_form, later, live_in, nothing_twice, resume, server};
use crate::support::cli::CommandExt;

/// Runs conversations to the end, each process being struck one request later than the one
/// before; says how many were.
fn run_struck(form: Form, more: &str, blow: Blow) -> usize {
    let (rows_live, cost_live) = live_in(form, more);
    let (place, server) = (Workplace::new(), server(|_| Ending::After(1)));
    let mut struck = 0;
    loop {
        let runs = place.path("output/runs");
        let begun = std::fs::read_dir(runs).is_ok_and(|mut runs| runs.next().is_some());
        let mut command = if begun {
            resume(&place, "--resume")
        } else {
            in_form(
                form,
                &place,
                &server.http,
                &format!("--engine batch {more}"),
            )
        };
        match server.kill_at(command.begin(), struck + 1, blow) {
            None => struck += 1,
            Some(0) => break,
            Some(code) => {
                let again = later(&place, "--resume");
                panic!("ended with {code}: {}", again.stderr);
            }
        }
    }
    assert_eq!(place.unmeasured_rows(), rows_live);
    assert!((cost(&place) * 2.0 - cost_live).abs() < 1e-9);
    nothing_twice(&server);
    println!("{form:?}, {blow:?}: {struck} struck, 0 requests submitted twice, 0 rows differ");
    struck
}

#[rstest]
#[case(Form::Anthropic, Blow::Before)]
#[case(Form::OpenAi, Blow::After)]
fn a_run_killed_at_each_request_finds_its_batches_again_and_submits_nothing_twice(
    #[case] form: Form,
    #[case] blow: Blow,
) {
    let killed = run_struck(form, "--n 2", blow);
    assert!(killed > 5, "{killed}");
}

#[test]
fn a_run_that_is_asked_to_end_at_each_request_loses_no_result() {
    let struck = run_struck(Form::OpenAi, "--n 2", Blow::Terminate);
    assert!(struck > 5, "{struck}");
}

#[test]
fn a_submission_whose_reply_is_lost_is_found_by_its_metadata() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    server.lose_replies(1);
    batched(&place, &server, "--n 3").succeeds();
    nothing_twice(&server);
}
