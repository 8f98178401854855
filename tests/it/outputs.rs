//! Files that options name for output: refused before anything is asked if they cannot be
//! written or are also read.

use rstest::rstest;

use crate::support::cli::Workplace;

/// A workplace whose `tr.json` is a copy of the sample, and `out.csv` a run's CSV over it.
fn with_data() -> (Workplace, String) {
    let place = Workplace::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sample.json");
    let text = std::fs::read_to_string(sample).unwrap();
    place.write("tr.json", &text);
    place.write("set.toml", "data_path = \"tr.json\"\n");
    place.run("--config set.toml -n 2 -q").succeeds();
    std::fs::copy(place.path("output/output.csv"), place.path("out.csv")).unwrap();
    (place, text)
}

fn count_of_runs(place: &Workplace) -> usize {
    let runs = std::fs::read_dir(place.path("output/runs")).unwrap();
    runs.count()
}

#[rstest]
#[case::predictions(
    "score out.csv --data-path tr.json --export-predictions tr.json",
    "--export-predictions FILE"
)]
#[case::other_spelling(
    "score out.csv --data-path tr.json --junit ./output/../tr.json",
    "--junit FILE"
)]
#[case::link("score out.csv --data-path tr.json --junit link.json", "--junit FILE")]
#[case::hard_link("score out.csv --data-path tr.json --junit hard.json", "--junit FILE")]
#[case::scored("score out.csv --data-path tr.json --junit out.csv", "--junit FILE")]
#[case::analysed("analyze out.csv --data-path tr.json --csv tr.json", "--csv FILE")]
#[case::answers("analyze out.csv --data-path tr.json --csv out.csv", "--csv FILE")]
#[case::compared(
    "compare out.csv out.csv --data-path tr.json --html tr.json",
    "--html FILE"
)]
#[case::page("report --to journal.html", "--to PATH")]
#[case::episodes(
    "env play -n 1 --config set.toml --export-episodes set.toml",
    "--export-episodes FILE"
)]
#[case::two_outputs(
    "score out.csv --junit x --export-predictions x",
    "--export-predictions FILE"
)]
fn an_output_that_is_also_read_is_refused(#[case] line: &str, #[case] option: &str) {
    let (place, text) = with_data();
    std::os::unix::fs::symlink("tr.json", place.path("link.json")).unwrap();
    std::fs::hard_link(place.path("tr.json"), place.path("hard.json")).unwrap();
    std::os::unix::fs::symlink(place.journal_path(), place.path("journal.html")).unwrap();
    let kept = ["out.csv", "set.toml"].map(|name| place.read(name));
    let ran = place.run(line);
    ran.fails(2, &[option]);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!(place.read("tr.json"), text);
    assert_eq!(["out.csv", "set.toml"].map(|name| place.read(name)), kept);
    assert_eq!(count_of_runs(&place), 1, "nothing is asked");
}

#[rstest]
#[case("score out.csv --junit none/x.xml", "none/x.xml")]
#[case("score out.csv --export-predictions output", "output")]
#[case("env play -n 1 --export-episodes none/x.jsonl", "none/x.jsonl")]
#[case("compare out.csv out.csv --html none/x.html", "none/x.html")]
fn an_output_that_cannot_be_written_is_found_before_the_run(
    #[case] line: &str,
    #[case] path: &str,
) {
    let (place, _) = with_data();
    let ran = place.run(line);
    ran.fails(2, &[path, "choose another path with --"]);
    assert!(!ran.stderr.contains(".writing-"), "{}", ran.stderr);
    assert_eq!(count_of_runs(&place), 1, "nothing is asked");
}
