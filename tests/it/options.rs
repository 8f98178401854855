//! Options that several commands share: each is read from flags, environment and
//! settings file, whatever the command.

use crate::support::cli::Workplace;

/// They looked in `output`, whatever the settings said.
#[test]
fn commands_that_read_runs_find_the_folder_that_environment_or_settings_file_names() {
    let place = Workplace::new();
    let environment = [("CONVFINQA_OUTPUT", "results")];
    place.run_with("--n 1 --quiet", &environment).succeeds();
    let mut runs = std::fs::read_dir(place.path("results/runs")).unwrap();
    let id = runs.next().unwrap().unwrap().file_name();
    let id = id.into_string().unwrap();
    let one = "\"questions\": 1,";
    let all = [
        ("runs", &id[..13]),
        ("runs --json", "\"status\": \"finished\""),
        ("report", &id),
        ("score last --json", one),
        ("analyze --json", one),
        ("compare last last --json", one),
    ];
    for (line, shown) in all {
        place.run_with(line, &environment).succeeds().prints(shown);
    }
    place.write("convfinqa.toml", "output = 'results'");
    place.run("runs").succeeds().prints(&id[..13]);
    place.write("mine.toml", "output = 'others'");
    let listed = place.run("runs --config mine.toml");
    assert_eq!(listed.succeeds().stdout, "no runs in others/runs\n");
    let listed = place.run("runs --config mine.toml -o none");
    assert_eq!(listed.succeeds().stdout, "no runs in none/runs\n");
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

/// They reported on the built-in sample.
#[test]
fn the_data_are_taken_from_environment_and_settings_file() {
    let place = Workplace::new();
    let variable = [("CONVFINQA_DATA_PATH", "nope.json")];
    place.write("convfinqa.toml", "data_path = 'other.json'");
    for command in ["data stats", "data check", "data show NOVX"] {
        let named = place.run_with(command, &variable);
        named.fails(3, &["nope.json"]);
        place.run(command).fails(3, &["other.json"]);
        let flag = place.run(&format!("{command} --data-path sample"));
        assert!(!flag.stderr.contains(".json"), "{}", flag.stderr);
    }
}

/// It said only how many records have the text, and then "such as" before a complete list too.
#[test]
fn a_part_of_an_id_that_several_records_have_lists_them() {
    let place = Workplace::new();
    let both = "2 records with NOVX in the id; name one of Single_NOVX/2019/page_41.pdf-1, \
                Double_NOVX/2019/page_41.pdf";
    place.run("data show NOVX").fails(2, &[both]);
    let some =
        "30 records with Single in the id; name one, such as Single_NOVX/2019/page_41.pdf-1,";
    place.run("data show Single").fails(2, &[some]);
    let none = "0 records with XVON in the id; name a record's id or a part of it";
    place.run("data show XVON").fails(2, &[none]);
}
