//! `convfinqa env download`, against a hub on this machine.

use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::Reply;
use crate::support::file_server::serve;
use crate::support::hub::{METADATA, TABLE, bytes, cut_off, hub};

fn run(place: &Workplace, hub: &str, options: &str) -> Ran {
    place.run_with(&format!("env download {options}"), &[("HF_ENDPOINT", hub)])
}

#[test]
fn the_command_says_licence_and_purpose_and_what_is_there() {
    let served = hub(vec![], &[(TABLE, cut_off(TABLE))]);
    let place = Workplace::new();
    let ran = run(&place, &served.url(), "");
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
    let again = run(&place, &served.url(), "--output data/finqa");
    again.succeeds();
    again.prints("problems; run `convfinqa env check");
}

/// A hub keeps large files at other hosts, and sends the reader there.
#[test]
fn a_file_that_is_kept_elsewhere_is_fetched_there() {
    let elsewhere = serve(vec![("/large".to_owned(), bytes(METADATA))], []);
    let moved = Reply::plain(302, "").header("location", &format!("{}/large", elsewhere.url()));
    let (served, place) = (hub(vec![], &[(METADATA, moved)]), Workplace::new());
    run(&place, &served.url(), "").succeeds();
    assert_eq!(elsewhere.count(), 1);
    assert!(place.path("data/finqa").join(METADATA).exists());
}

#[test]
fn what_goes_wrong_is_one_line_and_its_exit_code() {
    let place = Workplace::new();
    let other = Reply::plain(200, &"x".repeat(bytes(TABLE).len()));
    let lying = hub(vec![], &[(TABLE, other)]);
    let ran = run(&place, &lying.url(), "");
    ran.fails(
        3,
        &["us_gaap_IncomeStatement.json is not the published file"],
    );
    assert!(!place.path("data/finqa").join(TABLE).exists());

    let refusing = hub(vec![], &[(TABLE, Reply::plain(403, ""))]);
    let refused = |options: &str| run(&place, &refusing.url(), options);
    refused("").fails(5, &["status 403"]);
    refused("--revision nope").fails(5, &["revision/nope", "status 404"]);
    run(&place, "nonsense", "").fails(5, &["nonsense/api"]);

    place
        .run("env build --data-path sample --output built")
        .succeeds();
    let ran = run(&place, &lying.url(), "--output built");
    ran.fails(2, &["built holds other files, such as convfinqa-env.json"]);
    place.write("file", "");
    refused("--output file").fails(3, &["file"]);
}

/// What a hub or an earlier download named a file is others' text.
#[test]
fn names_of_files_are_shown_and_not_obeyed() {
    let (served, place) = (hub(vec![], &[]), Workplace::new());
    let folder = place.path("data/finqa/input_companies/acme");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("\u{1b}[31m\u{202e}.json"), "{}").unwrap();
    run(&place, &served.url(), "").succeeds();
    let ran = place.run("env check --data-path data/finqa");
    ran.ends(3).prints("␛[31m<U+202E>.json");
    assert!(
        !ran.stdout.contains(['\u{1b}', '\u{202e}']),
        "{}",
        ran.stdout
    );
}
