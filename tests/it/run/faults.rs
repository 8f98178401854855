//! 30 % of the requests fail in every way that the fault server knows.

use convfinqa::run::Journal;

use crate::support::agents::{answer_to, is_sent_back, scripted};
use crate::support::cli::{Ran, Workplace, words};
use crate::support::fault_server::{FaultServer, Faults};

/// Runs the sample against a faulty server and checks what every run must keep.
fn a_run_survives(azure: bool) {
    let place = Workplace::new();
    let server = FaultServer::with_faults(Faults::every_kind(0.3, 11), scripted);
    let mut command = place.command();
    command.args(words(
        "--model scripted --data-path sample -j 16 --timeout 2 --json",
    ));
    if azure {
        command
            .env("AZURE_OPENAI_ENDPOINT", server.azure_endpoint())
            .env("AZURE_OPENAI_API_KEY", "k")
            .env("OPENAI_API_VERSION", "2024-10-21");
    } else {
        command
            .env("OPENAI_BASE_URL", server.base_url())
            .env("OPENAI_API_KEY", "k");
    }
    let ran = Ran::of(&mut command);
    // Content filters leave questions without an answer: exit code 4.
    ran.ends(4);
    let summary = ran.json();
    let rows = place.rows("output/output.csv");
    assert_eq!(rows.len(), 58);

    let mut filtered = 0;
    for row in &rows {
        match row["outcome"].as_str() {
            "answered" => {
                let own = answer_to(&row["question"]);
                // Its own answer, or its own first draft where the critic could not be heard.
                let stated: u32 = row["prediction"].parse().unwrap();
                assert!(
                    stated == own || (is_sent_back(&row["question"]) && stated == own + 1),
                    "{row:?}"
                );
            }
            "content_filter" => filtered += 1,
            "parse_failure" => assert!(row["error"].contains("JSON"), "{row:?}"),
            other => panic!("{other}: {row:?}"),
        }
    }
    assert!(filtered > 0, "the seed is chosen so that some are");

    // What the server counted is what the journal holds, and each call was paid for once.
    let journal = Journal::open(&place.run_folder().join("journal.sqlite")).unwrap();
    let (mut requests, mut calls) = (0, 0);
    journal
        .for_each_row(|row| {
            calls += row.solution.calls.len();
            requests += row
                .solution
                .calls
                .iter()
                .map(|call| call.attempts as usize)
                .sum::<usize>();
        })
        .unwrap();
    assert_eq!(requests, server.count());
    assert_eq!(summary["spent"]["requests"].as_u64(), Some(requests as u64));
    assert!(
        requests <= 6 * calls,
        "{requests} requests for {calls} calls"
    );
    assert!(requests > calls, "the faults were met");
    let paths: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.path.clone())
        .collect();
    let expected = if azure {
        "/openai/deployments/scripted/chat/completions"
    } else {
        "/v1/chat/completions"
    };
    assert!(paths.iter().all(|path| path == expected), "{paths:?}");
}

#[test]
fn every_question_has_its_own_outcome_behind_a_faulty_openai_server() {
    a_run_survives(false);
}

#[test]
fn every_question_has_its_own_outcome_behind_a_faulty_azure_server() {
    a_run_survives(true);
}
