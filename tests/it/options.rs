//! Options that several commands share: each is read from flags, environment and
//! settings file, whatever the command.

use rstest::rstest;

use crate::support::cli::{CommandExt, Workplace};

/// What the commands that read runs say about one that was written to `results`.
fn all_find_the_run(place: &Workplace, environment: &[(&str, &str)]) {
    let ran = place.run_with("--n 1 --quiet", environment);
    ran.succeeds();
    assert!(place.path("results/output.csv").is_file());
    let mut runs = std::fs::read_dir(place.path("results/runs")).unwrap();
    let id = runs.next().unwrap().unwrap().file_name();
    let id = id.into_string().unwrap();
    let one = "\"questions\": 1,";
    let finds = |line: &str, shown: &str| {
        let ran = place.run_with(line, environment);
        ran.succeeds().prints(shown);
    };
    finds("runs", &id[..13]);
    finds("report", &id);
    finds("score last --json", one);
    finds("analyze --json", one);
    finds("analyze last --json", one);
    finds(&format!("compare last {} --json", &id[..8]), one);
    // Nothing is to be sent anywhere.
    std::fs::rename(place.path("results/runs"), place.path("results/gone")).unwrap();
    finds(
        "track sync",
        "every run in results/runs is complete on the server",
    );
}

/// They looked in `output`, whatever the settings said.
#[test]
fn commands_that_read_runs_find_the_folder_that_the_environment_names() {
    all_find_the_run(&Workplace::new(), &[("CONVFINQA_OUTPUT", "results")]);
}

#[test]
fn commands_that_read_runs_find_the_folder_that_the_settings_file_names() {
    let place = Workplace::new();
    place.write("convfinqa.toml", "output = 'results'");
    all_find_the_run(&place, &[]);
}

#[test]
fn a_named_settings_file_says_where_the_runs_are_and_the_flag_wins() {
    let place = Workplace::new();
    place.write("mine.toml", "output = 'results'");
    let listed = place.run("runs --config mine.toml");
    assert_eq!(listed.succeeds().stdout, "no runs in results/runs\n");
    let listed = place.run("runs --config mine.toml -o other");
    assert_eq!(listed.succeeds().stdout, "no runs in other/runs\n");
}

/// `env play` played them all.
#[test]
fn the_number_of_episodes_is_taken_from_environment_and_settings_file() {
    let place = Workplace::new();
    let play = |environment: &[(&str, &str)], more: &str| {
        let ran = place.run_with(&format!("env play --json {more}"), environment);
        ran.succeeds().json()["questions"].as_u64().unwrap()
    };
    assert_eq!(play(&[("CONVFINQA_N", "2")], ""), 2);
    assert_eq!(play(&[("CONVFINQA_N", "2")], "--n 1"), 1);
    place.write("convfinqa.toml", "n = 3\ndata_path = 'data/train.json'");
    assert_eq!(play(&[], ""), 3, "data_path is of records and not read");
}

/// It reported on the built-in sample.
#[rstest]
#[case::stats("stats")]
#[case::check("check")]
#[case::shown("show NOVX")]
fn the_data_are_taken_from_environment_and_settings_file(#[case] command: &str) {
    let place = Workplace::new();
    let variable = [("CONVFINQA_DATA_PATH", "nope.json")];
    let run = |more: &str, variables: &[(&str, &str)]| {
        place.run_with(&format!("data {command} {more}"), variables)
    };
    run("", &variable).fails(3, &["nope.json"]);
    place.write("convfinqa.toml", "data_path = 'other.json'");
    run("", &[]).fails(3, &["other.json"]);
    run("", &variable).fails(3, &["nope.json"]);
    let flag = run("--data-path sample", &variable);
    assert!(!flag.stderr.contains(".json"), "{}", flag.stderr);
}

#[test]
fn every_command_of_the_environment_reads_sample_as_the_built_in_data() {
    let place = Workplace::new();
    let checked = place.run("env check --data-path sample");
    assert_eq!(checked.succeeds().stdout, place.run("env check").stdout);
    let served = place.run("env serve --stdio --data-path sample");
    served.fails(2, &["MCP session"]);
}

#[rstest]
#[case::ids("--ids ''", "", "--ids contains an empty id")]
#[case::some_ids("--ids a,,b", "", "--ids contains an empty id")]
#[case::data_path("--data-path ''", "", "--data-path is empty")]
#[case::in_a_file("", "data_path = ''", "convfinqa.toml: data_path is empty")]
#[case::ids_in_a_file("", "ids = ['']", "convfinqa.toml: ids contains an empty id")]
#[case::output("", "output = ''", "convfinqa.toml: output is empty")]
#[case::prompts("", "prompts = ' '", "convfinqa.toml: prompts is empty")]
#[case::critic("--critic-model ''", "", "--critic-model is empty")]
fn an_empty_value_is_refused_by_name(
    #[case] arguments: &str,
    #[case] file: &str,
    #[case] line: &str,
) {
    let place = Workplace::new();
    place.write("convfinqa.toml", file);
    place.run(arguments).fails(2, &[line]);
}

/// It was `path contains invalid UTF-8 characters` with exit code 1.
#[cfg(unix)]
#[rstest]
#[case("", "output")]
#[case("env play", "output")]
#[case("ask page.md why?", "prompts")]
fn a_path_that_is_not_utf8_is_refused_by_its_option(#[case] command: &str, #[case] option: &str) {
    use std::os::unix::ffi::OsStrExt;

    let place = Workplace::new();
    let value = std::ffi::OsStr::from_bytes(b"a\xff");
    let option = format!("--{option}");
    let ran = place.command().given(command).arg(&option).arg(value).ran();
    ran.fails(2, &[&format!("{option} is not valid UTF-8")]);
}
