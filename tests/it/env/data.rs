//! Data directories that are built from ConvFinQA records.

use convfinqa::dataset::sample;
use convfinqa::env_build::{BuildOptions, build, question_key};
use finqa_env::data::Catalog;
use finqa_env::reward::{RewardMode, compute_reward};
use finqa_env::tools::{ToolLimits, Tools};

#[test]
fn the_builtin_data_are_sound_and_playable() {
    let catalog = convfinqa::env_build::builtin().unwrap();
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
    let direct = convfinqa::env_build::catalog(&dataset, BuildOptions::default()).unwrap();
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
    let catalog = convfinqa::env_build::builtin().unwrap();
    for question in catalog.questions() {
        let truth = &question.answer;
        let inside = truth.trim_start_matches("\\boxed{").trim_end_matches('}');
        let reward = compute_reward(inside, truth, 0.01, 1.0, RewardMode::Strict);
        assert_eq!(reward, Ok(1.0), "{question:?}");
    }
}

#[test]
fn tables_only_keeps_a_part() {
    let dataset = sample().unwrap();
    let all = convfinqa::env_build::catalog(&dataset, BuildOptions::default()).unwrap();
    let some = convfinqa::env_build::catalog(&dataset, BuildOptions { tables_only: true }).unwrap();
    assert!(some.questions().len() < all.questions().len());
    assert!(
        some.questions()
            .iter()
            .all(|q| all.questions().iter().any(|a| a.id == q.id))
    );
}
