//! What is known of real predictions on the published records.

use finqa_score::dataset::Dataset;
use finqa_score::score::files::{read_predictions, rescore};
use finqa_score::score::{Row, Rule, Scorecard};

use crate::support::published::{file, records};

fn scored(name: &str, dataset: Option<&Dataset>) -> Vec<Row> {
    let rows = read_predictions(&file(&format!("predictions/{name}"))).unwrap();
    rescore(rows, dataset).unwrap()
}

fn hits(card: &Scorecard, rule: Rule) -> (usize, usize) {
    let rate = card.rates.get(rule).unwrap();
    (rate.hits, rate.n)
}

#[test]
#[ignore = "needs the published files"]
fn the_langgraph_baselines_result() {
    let rows = scored("gpt4o_reflection_train100.csv", None);
    let card = Scorecard::of(&rows);
    assert_eq!(hits(&card, Rule::NumericalMatch), (94, 124));
    assert_eq!(hits(&card, Rule::FinancialEquivalence), (96, 124));
    assert!((card.rates.floor().unwrap().rate - 0.056).abs() < 5e-4);
    let latency = card.latency.unwrap();
    let figures = [
        (latency.mean, 20.18),
        (latency.min, 1.53),
        (latency.max, 65.49),
        (latency.p25, 11.14),
        (latency.p50, 17.62),
        (latency.p75, 27.30),
        (latency.p95, 46.11),
        (latency.p99, 58.93),
    ];
    for (is, should) in figures {
        assert!((is - should).abs() < 0.005, "{is} {should}");
    }
    assert!(rows.iter().all(|row| row.key.part.starts_with("qa")));
}

#[test]
#[ignore = "needs the published files"]
fn the_langgraph_baselines_result_with_the_records() {
    let data = records("train_first100.json");
    let card = Scorecard::of(&scored("gpt4o_reflection_train100.csv", Some(&data)));
    assert_eq!(hits(&card, Rule::NumericalMatch), (94, 124));
    assert_eq!(hits(&card, Rule::FinancialEquivalence), (96, 124));
    assert_eq!(hits(&card, Rule::ExecutionAccuracy), (12, 92));
    let suspects = card.without_suspects.unwrap();
    // 11 of the list, and 3 that contradict themselves.
    assert_eq!(suspects.suspects, 14);
    let rate = |rule| suspects.rates.get(rule).map(|rate| (rate.hits, rate.n));
    assert_eq!(rate(Rule::NumericalMatch), Some((91, 110)));
    assert_eq!(rate(Rule::FinancialEquivalence), Some((93, 110)));
}

#[test]
#[ignore = "needs the published files"]
fn claude_on_dev_and_its_authors_verdicts() {
    let data = records("dev_work.json");
    let name = "claude_sonnet_dev.jsonl";
    let rows = scored(name, Some(&data));
    assert_eq!(rows.len(), 1_042);
    let text = std::fs::read_to_string(file(&format!("predictions/{name}"))).unwrap();
    let verdicts = text.lines().zip(&rows).map(|(line, row)| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["correct"].as_bool() == row.accepted()
    });
    assert_eq!(verdicts.filter(|agree| !agree).count(), 9);
    let card = Scorecard::of(&rows);
    assert_eq!(hits(&card, Rule::FinancialEquivalence), (866, 1_042));
    assert_eq!(hits(&card, Rule::NumericalMatch), (705, 1_042));
    assert_eq!(hits(&card, Rule::ExactMatch), (568, 1_042));
    assert_eq!(hits(&card, Rule::ExecutionAccuracy), (606, 1_042));
    let suspects = card.without_suspects.unwrap();
    assert_eq!(suspects.suspects, 7);
    assert_eq!(card.rates.floor().unwrap().n, 1_042);
}

#[test]
#[ignore = "needs the published files"]
fn a_gpt4o_class_model_printed_and_executed() {
    let data = records("train_first100.json");
    let card = Scorecard::of(&scored("gpt4o_class_programs_train100.jsonl", Some(&data)));
    assert_eq!(hits(&card, Rule::ExecutionAccuracy), (221, 355));
    assert_eq!(hits(&card, Rule::ProgramExecution), (268, 355));
    assert_eq!(hits(&card, Rule::ExactMatch), (220, 355));
    assert_eq!(hits(&card, Rule::NumericalMatch), (276, 355));
    assert_eq!(hits(&card, Rule::FinancialEquivalence), (297, 355));
}
