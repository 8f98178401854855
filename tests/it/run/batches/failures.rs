//! How batches fail, by name.

use finqa_journal::run::Finish;
use finqa_run::pipeline::{Run, RunContext};

use super::{BatchServer, Ending, Workplace, batched, later, live, server};
use crate::support::cli::CommandExt;
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::asking;

#[test]
fn what_a_batch_lacks_joins_the_next_wave() {
    let (rows_live, _) = live("--n 6");
    for (first, words) in [
        (
            Ending::WithoutOutput,
            "batch_0 ended, results: 0, errors: 0, requests without a result: 6",
        ),
        (
            Ending::PartlyFailed(2),
            "batch_0 ended, results: 6, errors: 2",
        ),
        (
            Ending::Expired(4),
            "batch_0 expired, results: 4, errors: 0, requests without a result: 2",
        ),
        (
            Ending::Cancelled(1),
            "batch_0 was canceled, results: 1, errors: 0, requests without a result: 5",
        ),
    ] {
        let (place, server) = (Workplace::new(), beginning_with(first));
        let ran = batched(&place, &server, "--n 6");
        ran.succeeds().tells(words);
        assert_eq!(place.unmeasured_rows(), rows_live, "{first:?}");
    }
}

/// A Batch API whose first batch ends like this, and the others well.
fn beginning_with(first: Ending) -> BatchServer {
    server(move |number| match number {
        0 => first,
        _ => Ending::Complete,
    })
}

#[test]
fn a_limit_of_enqueued_tokens_makes_the_batches_smaller_also_for_the_next_process() {
    let (place, server) = (Workplace::new(), server(|_| Ending::AtMost(2)));
    let ran = batched(&place, &server, "--n 6");
    ran.succeeds().tells("Enqueued token limit reached");
    assert_eq!(place.unmeasured_rows(), live("--n 6").0);
    let batches = server.batches();
    let sizes: Vec<_> = batches.iter().map(|it| it.requests.len()).collect();
    let too_large = sizes.iter().filter(|size| **size > 2).count();
    assert!(too_large <= 3, "{sizes:?}");
}

#[test]
fn a_file_that_the_provider_rejects_ends_the_run_and_loses_nothing() {
    let (place, server) = (Workplace::new(), server(|_| Ending::Complete));
    server.intercept(|request| {
        let words = "Invalid file format for Batch API.";
        let is_upload = request.path == "/v1/files";
        is_upload.then(|| Reply::error(400, "invalid_file_format", words))
    });
    let ran = batched(&place, &server, "--n 3");
    ran.fails(5, &["POST /files", "Invalid file format for Batch API."]);

    let (place, server) = (Workplace::new(), super::server(|_| Ending::Refused));
    let words = "batch batch_0 was rejected: The file is not what it should be.";
    batched(&place, &server, "--n 3").fails(5, &[words]);
    server.end_as(Ending::Complete);
    later(&place, "--resume").succeeds();
    assert_eq!(place.unmeasured_rows(), live("--n 3").0);
}

#[test]
fn results_that_are_there_when_the_provider_is_given_up_are_not_paid_again() {
    // Fewer conversations than have their results read at a time, and more.
    for epochs in [1, 3] {
        let (place, server) = (Workplace::new(), beginning_with(Ending::PartlyFailed(20)));
        server.edit_results(|_, lines| lines.sort_by_key(|line| !line.contains("server_error")));
        let given = format!("engine = 'batch'\nattempts = 1\ncritic = 'off'\nepochs = {epochs}");
        let settings = place.settings(&asking(&server.http, &given));
        finqa_agents::llm::install_crypto();
        // On one thread, all results are there before the first of them is read.
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let finish = runtime.block_on(async {
            let run = Run::start(&settings, RunContext::default()).await.unwrap();
            run.finish().await.unwrap().finish
        });
        let Finish::Fatal(reason) = finish else {
            panic!("{finish:?}");
        };
        let line = reason.to_string();
        assert!(line.contains("20 calls in a row failed"), "{line}");
        let resumed = place.resume("last", "").unwrap();
        assert_eq!(resumed.finish, Finish::Complete);
        let sizes = server.batches().into_iter().map(|it| it.requests.len());
        let sizes: Vec<_> = sizes.collect();
        assert_eq!(sizes[0] > 64, epochs == 3, "{sizes:?}");
        assert_eq!(sizes[1..], [20]);
    }
}

#[test]
fn a_server_without_a_batch_api_is_named() {
    for status in [404, 405] {
        let place = Workplace::new();
        let server = FaultServer::start(move |_| Reply::error(status, "", "Not Found"));
        let hint = "resume the run with --engine live";
        let no_api = format!("{} has no Batch API (POST /files", server.base_url());
        let ran = super::of(&place, &server, "--n 3 --engine batch").ran();
        ran.fails(5, &[&no_api, hint]);
        // Files exist, batches do not.
        let (place, server) = (Workplace::new(), super::server(|_| Ending::Complete));
        server.intercept(move |request| {
            let is_submission = request.path == "/v1/batches" && request.method == "POST";
            is_submission.then(|| Reply::error(status, "", "Not Found"))
        });
        let no_api = format!("{} has no Batch API (POST /batches", server.http.base_url());
        batched(&place, &server, "--n 3").fails(5, &[&no_api, hint]);
        later(&place, "--resume --engine live").succeeds();
    }
}
