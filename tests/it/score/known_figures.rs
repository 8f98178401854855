//! What is known of real predictions. Skipped where they are not at hand.

use convfinqa::dataset::Dataset;
use convfinqa::score::files::{read_predictions, rescore};
use convfinqa::score::{Rule, Scorecard, ScoredRow, floor};
use finqa_core::program::official::{Dialect, evaluate};

use crate::support::published::{beside, published};

fn scored(name: &str, dataset: Option<&Dataset>) -> Option<Vec<ScoredRow>> {
    let rows = read_predictions(&beside(&format!("predictions/{name}"))?).unwrap();
    Some(rescore(rows, dataset).unwrap())
}

fn hits(card: &Scorecard, rule: Rule) -> (usize, usize) {
    let rate = card.rates.get(rule).unwrap();
    (rate.hits, rate.n)
}

#[test]
fn the_reference_result() {
    let Some(rows) = scored("gpt4o_reflection_train100.csv", None) else {
        return;
    };
    let card = Scorecard::of(&rows);
    assert_eq!(hits(&card, Rule::NumericalMatch), (94, 124));
    assert_eq!(hits(&card, Rule::FinancialEquivalence), (96, 124));
    let layers: Vec<usize> = card.layers.iter().map(|layer| layer.hits).collect();
    assert_eq!(layers, [96, 101, 102]);
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
    assert!(rows.iter().all(|row| row.item.key.part.starts_with("qa")));
}

#[test]
fn the_reference_result_with_the_records() {
    let Some(data) = published("train_first100.json") else {
        return;
    };
    let rows = scored("gpt4o_reflection_train100.csv", Some(&data)).unwrap();
    let card = Scorecard::of(&rows);
    assert_eq!(hits(&card, Rule::NumericalMatch), (94, 124));
    println!(
        "FE with gold programs: {:?}",
        hits(&card, Rule::FinancialEquivalence)
    );
    assert_eq!(hits(&card, Rule::ExecutionAccuracy).1, 92);
    let suspects = card.without_suspects.unwrap();
    assert_eq!(suspects.suspects, 11);
    println!("{}", serde_json::to_string_pretty(&suspects.rates).unwrap());
}

#[test]
fn claude_on_dev_and_its_authors_verdicts() {
    let Some(data) = published("dev_work.json") else {
        return;
    };
    let name = "claude_sonnet_dev.jsonl";
    let rows = scored(name, Some(&data)).unwrap();
    let text = std::fs::read_to_string(beside(&format!("predictions/{name}")).unwrap()).unwrap();
    let mut disagreements = Vec::new();
    for (line, row) in text.lines().zip(&rows) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["correct"].as_bool() != row.accepted() {
            disagreements.push(row.item.key.to_string());
        }
    }
    assert_eq!(rows.len(), 1_042);
    println!("{disagreements:#?}");
    assert!(disagreements.len() <= 9);
    let card = Scorecard::of(&rows);
    println!("{}", serde_json::to_string_pretty(&card).unwrap());
    assert_eq!(card.rates.floor().unwrap().n, 1_042);
}

#[test]
fn a_gpt4o_class_model_printed_and_executed() {
    let Some(data) = published("train_first100.json") else {
        return;
    };
    let rows = scored("gpt4o_class_programs_train100.jsonl", Some(&data)).unwrap();
    let card = Scorecard::of(&rows);
    assert_eq!(hits(&card, Rule::ExecutionAccuracy), (221, 355));
    assert_eq!(hits(&card, Rule::ProgramExecution), (268, 355));
    println!("{}", serde_json::to_string_pretty(&card).unwrap());
}

#[test]
fn floors_of_dev() {
    let Some(data) = published("dev_work.json") else {
        return;
    };
    let gold =
        |case: &convfinqa::dataset::Case| case.gold.exe_ans.as_ref().map(ToString::to_string);
    let all: Vec<String> = data
        .records
        .iter()
        .flat_map(|r| &r.turns)
        .filter_map(gold)
        .collect();
    let last: Vec<String> = data
        .records
        .iter()
        .filter_map(|r| r.turns.last())
        .filter_map(gold)
        .collect();
    let rate = |golds: &[String]| floor(golds.iter().map(String::as_str)).unwrap().rate;
    assert!((rate(&last) - 0.533).abs() < 5e-4, "{}", rate(&last));
    assert!((rate(&all) - 0.238).abs() < 5e-4, "{}", rate(&all));
}

#[test]
fn every_gold_program_executes_to_its_answer() {
    let mut executed = Vec::new();
    for name in ["train_first100.json", "dev_work.json"] {
        let Some(data) = published(name) else {
            return;
        };
        for record in &data.records {
            let turns = record.turns.iter().map(|case| (case, Dialect::ConvFinQa));
            let questions = record.questions.iter().map(|case| (case, Dialect::FinQa));
            for (case, dialect) in turns.chain(questions) {
                let (Some(program), Some(gold)) = (&case.gold.program, &case.gold.exe_ans) else {
                    continue;
                };
                let (valid, result) = evaluate(program, &record.document.table, dialect);
                assert!(valid, "{}: {program}", case.question.key);
                assert_eq!(
                    result.as_ref(),
                    Some(gold),
                    "{}: {program}",
                    case.question.key
                );
                let typed = finqa_core::program::Program::parse(program).unwrap();
                assert_eq!(typed.to_string(), *program);
                assert_eq!(typed.execute(&record.document.table).as_ref(), Ok(gold));
                executed.push(dialect);
            }
        }
    }
    let turns = executed
        .iter()
        .filter(|d| **d == Dialect::ConvFinQa)
        .count();
    assert_eq!((turns, executed.len() - turns), (1_397, 92));
}
