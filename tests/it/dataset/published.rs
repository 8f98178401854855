//! What holds of published records: of ten of them always, of the whole files
//! where those are (`needs_data`).

use std::collections::HashSet;
use std::sync::Arc;

use finqa_agents::parse::analysis;
use finqa_core::page::CellKind;
use finqa_score::dataset::{Case, check, stats_text};
use finqa_score::score::floor;
use rstest::rstest;

use crate::support::published::{TEN, records};

#[rstest]
#[case::ten(TEN, 10, 15, 45)]
#[ignore = "needs the published files"]
#[case::needs_data_train("train_first100.json", 100, 124, 355)]
#[ignore = "needs the published files"]
#[case::needs_data_unabridged("train_first25_unabridged.json", 25, 33, 95)]
#[ignore = "needs the published files"]
#[case::needs_data_dev("dev_work.json", 300, 0, 1042)]
#[ignore = "needs the published files"]
#[case::needs_data_test("test_documents.json", 434, 0, 1521)]
fn published_records_load(
    #[case] name: &str,
    #[case] count: usize,
    #[case] questions: usize,
    #[case] turns: usize,
) {
    let dataset = records(name);
    assert_eq!(dataset.records.len(), count);
    assert_eq!(dataset.question_count(), questions);
    assert_eq!(dataset.turn_count(), turns);
    let gold = dataset
        .records
        .iter()
        .flat_map(|record| record.cases())
        .any(|case| !case.gold.is_empty());
    assert_eq!(gold, name != "test_documents.json");
}

#[rstest]
#[case::ten(TEN, 15 + 45)]
#[ignore = "needs the published files"]
#[case::needs_data_train("train_first100.json", 92 + 355)]
#[ignore = "needs the published files"]
#[case::needs_data_unabridged("train_first25_unabridged.json", 33 + 95)]
#[ignore = "needs the published files"]
#[case::needs_data_dev("dev_work.json", 1042)]
fn check_confirms_every_gold_program(#[case] name: &str, #[case] programs: usize) {
    assert_eq!(check(&records(name)).0, programs);
}

#[test]
fn stats_of_ten_records() {
    let text = stats_text(&records(TEN));
    for line in [
        "records    10 (5 Single, 5 Double) on 9 pages",
        "questions  15 stand-alone, 15 with program and value",
        "turns      45, 45 with program and value",
    ] {
        assert!(text.contains(&format!("\n{line}\n")), "{text}");
    }
}

// Of the 57, 55 lost their escape and 2 are hyphens.
#[rstest]
#[case::ten(TEN, 157, 4)]
#[ignore = "needs the published files"]
#[case::needs_data_train("train_first100.json", 1528, 57)]
fn tables_have_their_dashes(#[case] name: &str, #[case] cells: usize, #[case] dashes: usize) {
    let mut found = (0, 0);
    for record in &records(name).records {
        let table = &record.document.page().table;
        for cell in table.cells().iter().skip(1).flat_map(|row| &row[1..]) {
            found.0 += 1;
            found.1 += usize::from(cell.kind == CellKind::Dash);
        }
    }
    assert_eq!(found, (cells, dashes));
}

#[rstest]
#[case::ten(TEN)]
#[ignore = "needs the published files"]
#[case::needs_data_unabridged("train_first25_unabridged.json")]
#[ignore = "needs the published files"]
#[case::needs_data_dev("dev_work.json")]
#[ignore = "needs the published files"]
#[case::needs_data_test("test_documents.json")]
fn every_published_table_renders_with_distinct_labels(#[case] name: &str) {
    for record in &records(name).records {
        let page = &record.document;
        let table = &page.page().table;
        let labels: Vec<&str> = table.columns()[1..]
            .iter()
            .map(|column| column.label.as_str())
            .filter(|label| !label.is_empty())
            .collect();
        let distinct: HashSet<&&str> = labels.iter().collect();
        assert_eq!(labels.len(), distinct.len(), "{}", page.id);
        assert_eq!(table.rows().len(), page.table.len());
    }
}

/// Every gold program is in the language already: reading it from a reply must
/// not change a character.
#[rstest]
#[case::ten(TEN, 45)]
#[ignore = "needs the published files"]
#[case::needs_data_train("train_first100.json", 355)]
#[ignore = "needs the published files"]
#[case::needs_data_dev("dev_work.json", 1042)]
fn gold_programs_pass_untouched(#[case] name: &str, #[case] programs: usize) {
    let mut read = 0;
    for case in records(name)
        .records
        .iter()
        .flat_map(|record| &record.turns)
    {
        let program = case.gold.program.as_deref().unwrap();
        let reply = serde_json::json!({"steps": ["a"], "answer": "1", "program": program});
        let parsed = analysis(&reply.to_string()).unwrap();
        assert_eq!(parsed.program.as_deref(), Some(program));
        read += 1;
    }
    assert_eq!(read, programs);
}

/// What the best constant answer gets of last turns, and of all turns.
#[rstest]
#[case::ten(TEN, 0.8, 0.311)]
#[ignore = "needs the published files"]
#[case::needs_data_dev("dev_work.json", 0.533, 0.238)]
fn floors_of_numeric_match(#[case] name: &str, #[case] last: f64, #[case] all: f64) {
    let dataset = records(name);
    let rate = |cases: &mut dyn Iterator<Item = &Arc<Case>>| {
        let golds = cases.filter_map(|case| case.gold.exe_ans.as_ref());
        let golds: Vec<String> = golds.map(ToString::to_string).collect();
        floor(golds.iter().map(String::as_str)).unwrap().rate
    };
    let records = dataset.records.iter();
    let of_last = rate(&mut records.clone().filter_map(|r| r.turns.last()));
    let of_all = rate(&mut records.flat_map(|r| &r.turns));
    assert!((of_last - last).abs() < 5e-4, "{of_last}");
    assert!((of_all - all).abs() < 5e-4, "{of_all}");
}
