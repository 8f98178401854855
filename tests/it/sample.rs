//! Tests of `data/sample.json`, the built-in sample: its gold holds when executed.

use convfinqa::dataset::{self, Case, Document, Record};
use finqa_core::program::Program;
use finqa_core::program::official::{Dialect, evaluate};

fn loaded() -> Vec<Record> {
    let sample = dataset::sample().expect("the sample loads");
    assert!(sample.invented);
    sample.records
}

/// Whether a program may take this literal from the page: it is there
/// with no digit on either side, `-` only where the page has it.
fn is_on(page: &Document, literal: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit();
    page.table
        .iter()
        .flatten()
        .map(String::as_str)
        .chain(page.sentences())
        .any(|text| {
            text.match_indices(literal).any(|(at, _)| {
                let after = &text[at + literal.len()..];
                let inside = after.starts_with(digits)
                    || after.starts_with('.') && after[1..].starts_with(digits);
                !inside && !text[..at].ends_with(|c| digits(c) || c == '.')
            })
        })
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

#[test]
fn every_number_of_a_program_is_on_its_page() {
    for record in &loaded() {
        for Case { question, gold } in record.cases() {
            let text = gold.program.as_deref().unwrap();
            let program = Program::parse(text).unwrap();
            let literals = program.literals().filter(|l| !l.starts_with("const_"));
            for literal in literals {
                assert!(
                    is_on(&record.document, literal),
                    "{}: {literal} of {text}",
                    question.key
                );
            }
        }
    }
}
