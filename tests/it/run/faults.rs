//! 30 % of the requests fail in every way that the fault server knows.

use convfinqa::run::{Journal, Row};
use rstest::rstest;

use crate::support::agents::{answer_to, is_sent_back, scripted};
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Faults};

/// What every run must keep.
#[rstest]
#[case::openai(false)]
#[case::azure(true)]
fn every_question_has_its_own_outcome_behind_a_faulty_server(#[case] azure: bool) {
    let place = Workplace::new();
    let server = FaultServer::with_faults(Faults::every_kind(0.3, 11), scripted);
    let (endpoint, url) = (server.azure_endpoint(), server.base_url());
    let variables: &[(&str, &str)] = match azure {
        true => &[
            ("AZURE_OPENAI_ENDPOINT", &endpoint),
            ("AZURE_OPENAI_API_KEY", "k"),
            ("OPENAI_API_VERSION", "2024-10-21"),
        ],
        false => &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", "k")],
    };
    let line = "--model scripted --data-path sample -j 16 --timeout 5 --json";
    let ran = place.run_with(line, variables);
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
                let draft = is_sent_back(&row["question"]) && stated == own + 1;
                assert!(stated == own || draft, "{row:?}");
            }
            "content_filter" => filtered += 1,
            "parse_failure" => assert!(row["error"].contains("JSON"), "{row:?}"),
            other => panic!("{other}: {row:?}"),
        }
    }
    assert!(filtered > 0, "the seed is chosen so that some are");

    // What the server counted is what the journal holds, and each call was paid for once.
    let journal = Journal::open(&place.journal_path()).unwrap();
    let (mut requests, mut calls) = (0, 0);
    let count = |row: Row| {
        let attempts = row.solution.calls.iter().map(|call| call.attempts as usize);
        calls += attempts.len();
        requests += attempts.sum::<usize>();
    };
    journal.for_each_row(count).unwrap();
    assert_eq!(requests, server.count());
    assert_eq!(summary["spent"]["requests"], requests);
    let most = 6 * calls;
    assert!(requests <= most, "{requests} requests for {calls} calls");
    assert!(requests > calls, "the faults were met");
    let expected = match azure {
        true => "/openai/deployments/scripted/chat/completions",
        false => "/v1/chat/completions",
    };
    for request in server.requests() {
        assert_eq!(request.path, expected);
    }
}
