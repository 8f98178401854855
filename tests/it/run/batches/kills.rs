//! Processes that are killed at each request to the Batch API.

use super::{Blow, Ending, Ran, Workplace};
use super::{cost, live, nothing_twice, resume, rows, server, spawn, start};

/// Runs conversations to the end, each process being killed one request later than the one
/// before; says how many were killed.
fn run_killed(more: &[&str], blow: Blow) -> usize {
    let (rows_live, cost_live) = live(more);
    let (place, server) = (Workplace::new(), server(|_| Ending::After(1)));
    let mut killed = 0;
    loop {
        let runs = place.path("output/runs");
        let begun = std::fs::read_dir(runs).is_ok_and(|mut runs| runs.next().is_some());
        let command = match begun {
            false => start(&place, &server, more),
            true => resume(&place, &["--resume"]),
        };
        match server.kill_at(spawn(command), killed + 1, blow) {
            None => killed += 1,
            Some(0) => break,
            Some(code) => {
                let again = Ran::of(&mut resume(&place, &["--resume"]));
                panic!("ended with {code}: {}", again.stderr);
            }
        }
    }
    assert_eq!(rows(&place), rows_live);
    assert!((cost(&place) * 2.0 - cost_live).abs() < 1e-9);
    nothing_twice(&server);
    killed
}

#[test]
fn a_run_killed_at_each_request_finds_its_batches_again_and_submits_nothing_twice() {
    for blow in [Blow::Before, Blow::After] {
        let killed = run_killed(&["--n", "6"], blow);
        assert!(killed > 5, "{killed}");
    }
}

#[test]
#[ignore = "needs minutes"]
fn needs_time_300_conversations_killed_at_each_request_end_as_a_live_run() {
    for blow in [Blow::Before, Blow::After] {
        let killed = run_killed(&["--n", "30", "--epochs", "10"], blow);
        println!("{blow:?}: {killed} processes killed");
    }
}

#[test]
fn a_submission_whose_reply_is_lost_is_found_by_its_metadata() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    server.lose_replies(1);
    Ran::of(&mut start(&place, &server, &["--n", "3"])).succeeds();
    nothing_twice(&server);
}

#[test]
fn anthropics_batch_whose_reply_is_lost_is_found_by_its_time_and_size() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    server.lose_replies(1);
    let mut command = place.command();
    command
        .env("ANTHROPIC_API_KEY", "k")
        .args(["--model", "m", "--data-path", "sample", "--n", "3"])
        .args(["--engine", "batch", "--provider", "anthropic", "--base-url"])
        .arg(server.http.azure_endpoint());
    Ran::of(&mut command).succeeds();
    nothing_twice(&server);
}
