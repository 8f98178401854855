//! What a person reads in a terminal: widths, colours, silence.

use std::path::Path;

use crate::support::cli::{Ran, Workplace};

/// Characters, for the tables hold none that is wider than a column.
fn widest(text: &str) -> usize {
    let widths = text.lines().map(|line| line.chars().count());
    widths.max().unwrap_or(0)
}

/// Lines but those that hold a path, which nobody may break.
fn laid_out(text: &str, place: &Workplace) -> String {
    let folder = place.folder.path().to_string_lossy().into_owned();
    let lines = text.lines().filter(|line| {
        !line.contains(&folder) && !line.starts_with("Run: ") && !line.starts_with("Rows: ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_table_fits_into_80_columns() {
    let place = Workplace::new();
    let turns = ["run", "--data-path", "sample", "--mode", "conversations"];
    let ran = place.run(&turns);
    assert!(ran.succeeds().stdout.contains("turn 0"));
    let run = place.run_folder();
    let run = run.to_str().unwrap();
    let mut texts = vec![laid_out(&ran.stdout, &place)];
    for arguments in [
        vec!["score", "output/output.csv", "--data-path", "sample"],
        vec!["analyze", "output/output.csv", "--examples", "2"],
        vec!["compare", run, "output/output.csv"],
    ] {
        texts.push(laid_out(&place.run(&arguments).succeeds().stdout, &place));
    }
    for text in texts {
        assert!(widest(&text) <= 80, "{}:\n{text}", widest(&text));
        assert!(!text.contains('\u{1b}'), "no colour in a pipe");
    }
}

#[test]
fn colours_are_for_terminals_unless_somebody_says_otherwise() {
    let place = Workplace::new();
    place
        .run(&["run", "--data-path", "sample", "-n", "3"])
        .succeeds();
    let score = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = place.command();
        command
            .args(["score", "output/output.csv", "--data-path", "sample"])
            .args(arguments)
            .envs(variables.iter().copied());
        Ran::of(&mut command).succeeds().stdout.contains("\u{1b}[")
    };
    assert!(!score(&[], &[]));
    assert!(score(&["--color", "always"], &[]));
    assert!(score(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(score(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!score(&[], &[("CLICOLOR_FORCE", "0")]));
    assert!(!score(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!score(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    let failed = Ran::of(
        place
            .command()
            .args(["score", "nowhere.csv"])
            .env("CLICOLOR_FORCE", "1"),
    );
    assert!(failed.stderr.contains("\u{1b}[31m"), "{:?}", failed.stderr);
    place
        .run(&["score", "nowhere.csv", "--color", "sometimes"])
        .fails(2, &["sometimes"]);
}

#[test]
fn quiet_says_nothing_but_errors() {
    let place = Workplace::new();
    let quiet = ["run", "--data-path", "sample", "-n", "3", "--quiet"];
    let ran = place.run(&quiet);
    ran.succeeds();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert!(Path::new(&place.path("output/output.csv")).is_file());
    let failed = place.run(&["run", "--data-path", "nowhere.json", "--quiet"]);
    failed.fails(3, &["nowhere.json"]);
    assert_eq!(
        (failed.stdout.as_str(), failed.stderr.lines().count()),
        ("", 1)
    );
}
