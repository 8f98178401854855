//! `convfinqa env download`, against a hub on this machine.

use crate::support::cli::{CommandExt, Ran, Workplace};
use crate::support::file_server::{Act, FileServer};
use crate::support::hub::{METADATA, TABLE, bytes, hub};

/// Runs the binary against a hub while this task's runtime serves it.
async fn run(place: &Workplace, address: &str, arguments: &[&str]) -> Ran {
    let mut command = place.command();
    command
        .args(["env", "download"])
        .args(arguments)
        .env("HF_ENDPOINT", address);
    tokio::task::spawn_blocking(move || command.ran())
        .await
        .unwrap()
}

#[tokio::test]
async fn the_command_says_licence_and_purpose_and_what_is_there() {
    let (served, place) = (
        hub(vec![], &[(TABLE, Act::Cut(20))]).await,
        Workplace::new(),
    );
    let ran = run(&place, &served.url, &[]).await;
    ran.succeeds().tells("Apache-2.0");
    ran.tells("evaluation only");
    ran.tells("commit c0ffee: 3 files");
    ran.tells("IncomeStatement.json: error reading");
    ran.tells("; retrying in 1 s");
    let first = ran.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        "data/finqa: 12 questions about 1 company, 1 table; commit c0ffee, every file verified"
    );
    // A table of an earlier commit is reported because it would be served too.
    let stale = "data/finqa/input_companies/acme/old.json";
    place.write(stale, "{}");
    let again = run(&place, &served.url, &["--output", "data/finqa"]).await;
    again.succeeds();
    again.prints("problems; run `convfinqa env check");
}

/// A hub keeps large files at other hosts, and sends the reader there.
#[tokio::test]
async fn a_file_that_is_kept_elsewhere_is_fetched_there() {
    let elsewhere = FileServer::start(vec![("/large".to_owned(), bytes(METADATA))], []).await;
    let moved: &'static str = format!("302 Found\r\nLocation: {}/large", elsewhere.url).leak();
    let (served, place) = (
        hub(vec![], &[(METADATA, Act::Status(moved))]).await,
        Workplace::new(),
    );
    run(&place, &served.url, &[]).await.succeeds();
    assert_eq!(elsewhere.requests(), 1);
    assert!(place.path("data/finqa").join(METADATA).exists());
}

#[tokio::test]
async fn what_goes_wrong_is_one_line_and_its_exit_code() {
    let place = Workplace::new();
    let lying = hub(vec![], &[(TABLE, Act::Lie)]).await;
    let ran = run(&place, &lying.url, &[]).await;
    ran.fails(
        3,
        &["us_gaap_IncomeStatement.json is not the published file"],
    );
    assert!(!place.path("data/finqa").join(TABLE).exists());

    let refusing = hub(vec![], &[(TABLE, Act::Status("403 Forbidden"))]).await;
    run(&place, &refusing.url, &[])
        .await
        .fails(5, &["status 403"]);
    run(&place, &refusing.url, &["--revision", "nope"])
        .await
        .fails(5, &["revision/nope", "status 404"]);
    run(&place, "nonsense", &[])
        .await
        .fails(5, &["nonsense/api"]);

    place
        .run("env build --data-path sample --output built")
        .succeeds();
    let ran = run(&place, &lying.url, &["--output", "built"]).await;
    ran.fails(2, &["built holds other files, such as convfinqa-env.json"]);
    place.write("file", "");
    run(&place, &refusing.url, &["--output", "file"])
        .await
        .fails(3, &["file"]);
}

/// What a hub or an earlier download named a file is others' text.
#[tokio::test]
async fn names_of_files_are_shown_and_not_obeyed() {
    let (served, place) = (hub(vec![], &[]).await, Workplace::new());
    let folder = place.path("data/finqa/input_companies/acme");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("\u{1b}[31m\u{202e}.json"), "{}").unwrap();
    run(&place, &served.url, &[]).await.succeeds();
    let ran = place.run("env check --data-path data/finqa");
    ran.ends(3).prints("␛[31m<U+202E>.json");
    assert!(
        !ran.stdout.contains(['\u{1b}', '\u{202e}']),
        "{}",
        ran.stdout
    );
}
