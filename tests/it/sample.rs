//! Tests of `data/sample.json`, the built-in sample: its gold holds when executed.

use convfinqa::dataset::{self, Case, Record};
use finqa_core::program::official::{Dialect, evaluate};

fn loaded() -> Vec<Record> {
    let sample = dataset::sample().expect("the sample loads");
    assert!(sample.invented);
    sample.records
}

#[test]
fn every_record_says_that_it_is_invented() {
    for record in &loaded() {
        let first = record.document.sentences().next().unwrap();
        assert!(first.contains("invented"), "{}: {first}", record.id());
    }
}

#[test]
fn every_program_executes_to_its_gold() {
    for record in &loaded() {
        let dialects = [
            (&record.questions, Dialect::FinQa),
            (&record.turns, Dialect::ConvFinQa),
        ];
        for (cases, dialect) in dialects {
            for Case { question, gold } in cases.iter().map(AsRef::as_ref) {
                let program = gold.program.as_deref().unwrap();
                let result = evaluate(program, &record.document.table, dialect);
                let expected = (true, gold.exe_ans.clone());
                assert_eq!(result, expected, "{}: {program}", question.key);
            }
        }
    }
}
