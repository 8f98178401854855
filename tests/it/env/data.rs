//! Loading, checking and building data directories.

use std::path::Path;

use convfinqa::dataset::sample;
use convfinqa::env_data::{BuildOptions, build, question_key};
use finqa_env::data::{Catalog, EnvError};
use finqa_env::reward::{Mode, compute_reward};
use finqa_env::tools::{ToolLimits, Tools};

use super::tools::fixture;

use crate::support::published::published;

#[test]
fn the_fixture_is_read_and_its_gaps_are_named() {
    let report = fixture().check();
    assert_eq!(
        (report.companies, report.tables, report.questions),
        (2, 7, 12)
    );
    assert_eq!(report.problems.len(), 2, "{:?}", report.problems);
    assert!(report.problems[0].contains("orphan_file.json: not described"));
    assert!(report.problems[1].ends_with("ghost_table: there is no such table"));
}

#[test]
fn the_builtin_data_are_sound_and_playable() {
    let catalog = convfinqa::env_data::builtin().unwrap();
    let report = catalog.check();
    assert_eq!(report.problems, Vec::<String>::new());
    assert!(catalog.invented() && report.questions > 0);
    let tools = Tools::new(std::sync::Arc::new(catalog), ToolLimits::default());
    for (company, found) in tools.catalog().companies() {
        for (name, table) in &found.tables {
            let first = &table.columns.as_ref().unwrap()[0].name;
            let query = format!("select count(\"{first}\") from {name} where 1");
            let answer = tools.sql_query(company, name, &query);
            assert!(answer.starts_with("[{"), "{company}/{name}: {answer}");
        }
    }
}

#[test]
fn what_is_built_is_what_is_loaded() {
    let out = tempfile::tempdir().unwrap();
    let dataset = sample().unwrap();
    let report = build(&dataset, out.path(), BuildOptions::default()).unwrap();
    let loaded = Catalog::load(out.path()).unwrap();
    let direct = convfinqa::env_data::catalog(&dataset, BuildOptions::default()).unwrap();
    assert_eq!(loaded.questions(), direct.questions());
    let check = loaded.check();
    assert_eq!(check.problems, Vec::<String>::new());
    assert_eq!(
        (check.companies, check.tables, check.questions),
        (report.companies, report.tables, report.questions)
    );
    for question in loaded.questions() {
        let key = question_key(&question.id).unwrap();
        let record = dataset.record(&key.id).unwrap();
        assert!(
            record.questions.iter().any(|c| c.question.key == key),
            "{key}"
        );
    }
}

/// Every truth must score against itself, and must not be empty.
#[test]
fn every_built_truth_can_be_met() {
    let catalog = convfinqa::env_data::builtin().unwrap();
    for question in catalog.questions() {
        let truth = &question.answer;
        let inside = truth.trim_start_matches("\\boxed{").trim_end_matches('}');
        let reward = compute_reward(inside, truth, 0.01, 1.0, Mode::Strict);
        assert_eq!(reward, Ok(1.0), "{question:?}");
    }
}

#[test]
fn tables_only_keeps_a_part() {
    let dataset = sample().unwrap();
    let all = convfinqa::env_data::catalog(&dataset, BuildOptions::default()).unwrap();
    let some = convfinqa::env_data::catalog(&dataset, BuildOptions { tables_only: true }).unwrap();
    assert!(some.questions().len() < all.questions().len());
    assert!(
        some.questions()
            .iter()
            .all(|q| all.questions().iter().any(|a| a.id == q.id))
    );
}

#[test]
fn real_records_build() {
    let Some(dataset) = published("train_first100.json") else {
        return;
    };
    let catalog = convfinqa::env_data::catalog(&dataset, BuildOptions::default()).unwrap();
    assert_eq!(catalog.questions().len(), 124);
    assert_eq!(catalog.check().problems, Vec::<String>::new());
}

#[test]
fn bad_directories_say_what_and_where() {
    let missing = Catalog::load(Path::new("no/such/folder")).unwrap_err();
    assert!(matches!(missing, EnvError::Io { .. }));
    assert!(missing.to_string().contains("finqa.csv"), "{missing}");

    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "benchmark_questions/finqa.csv",
        "id,user_query,answer\n1,q,a\n",
    );
    write("input_companies/tables_cleaned_all_companies.json", "{}");
    let text = Catalog::load(dir.path()).unwrap_err().to_string();
    assert!(text.ends_with("there is no column `company`"), "{text}");

    write(
        "benchmark_questions/finqa.csv",
        "id,user_query,company,answer\n1,q,c,\n",
    );
    assert!(matches!(
        Catalog::load(dir.path()),
        Err(EnvError::NoQuestions { .. })
    ));

    let rows = "id,user_query,company,answer\n007,q,c,None\n2,q,c,a,too many\n3,q,nobody,5\n";
    write("benchmark_questions/finqa.csv", rows);
    write("input_companies/c/bad.json", "{\"a\": ");
    write("input_companies/c/t.json", "{\"a\": [1]}");
    let catalog = Catalog::load(dir.path()).unwrap();
    let first = &catalog.questions()[0];
    assert_eq!((first.id.as_str(), first.answer.as_str()), ("007", "None"));
    let problems = catalog.check().problems.join("\n");
    for part in [
        "line 3: 5 fields",
        "bad.json: EOF",
        "no company `nobody`",
        "t.json: not described",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }

    write("input_companies/tables_cleaned_all_companies.json", "[1]");
    assert!(matches!(
        Catalog::load(dir.path()),
        Err(EnvError::Metadata { .. })
    ));
}
