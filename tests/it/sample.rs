//! Tests of `data/sample.json`, the built-in sample: what its records must contain, and that
//! its gold holds when executed.

use std::collections::BTreeSet;

use convfinqa::dataset::{self, Case, Document, Record};
use finqa_core::program::Program;
use finqa_core::program::official::{Dialect, evaluate};
use serde_json::Value;

const SAMPLE: &str = include_str!("../../data/sample.json");

/// Questions written to be beyond word matching: id and part.
pub const HARD: &[(&str, &str)] = &[
    ("Double_NOVX/2019/page_41.pdf", "qa_1"),
    ("Double_QELM/2012/page_88.pdf", "qa_1"),
    ("Single_BRVL/2010/page_55.pdf-3", "qa"),
    ("Double_HSKD/2008/page_30.pdf", "qa_1"),
    ("Double_FENW/2013/page_40.pdf", "qa_1"),
    ("Single_STRO/2011/page_29.pdf-3", "qa"),
    ("Single_DUNR/2014/page_52.pdf-4", "qa"),
    ("Single_KPLD/2013/page_77.pdf-2", "qa"),
    ("Double_ARBQ/2011/page_93.pdf", "qa_1"),
    ("Single_TOLM/2006/page_35.pdf-1", "qa"),
    ("Double_VYND/2011/page_24.pdf", "qa_1"),
    ("Single_HALM/2013/page_90.pdf-1", "qa"),
    ("Double_PRWK/2012/page_49.pdf", "qa_1"),
    ("Single_NTLL/2016/page_18.pdf-2", "qa"),
    ("Single_SOLQ/2019/page_47.pdf-2", "qa"),
    ("Single_ZPHW/2008/page_31.pdf-2", "qa"),
];

fn records() -> Vec<Value> {
    serde_json::from_str(SAMPLE).expect("the sample is a JSON array")
}

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

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| item.as_str().expect("a string"))
        .collect()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

fn cells(record: &Value) -> Vec<&str> {
    let rows = record["table"].as_array().expect("a table");
    rows.iter().flat_map(strings).collect()
}

fn sentences(record: &Value) -> Vec<&str> {
    let mut all = strings(&record["pre_text"]);
    all.extend(strings(&record["post_text"]));
    all
}

#[test]
fn every_record_says_that_it_is_invented() {
    for record in &records() {
        let first = sentences(record)[0];
        assert!(first.contains("invented"), "{}: {first}", id(record));
    }
}

/// What makes the published files hard to read is in the sample too.
#[test]
fn the_defects_of_the_published_files_occur() {
    let records = records();
    let any = |what: &str, test: &dyn Fn(&Value) -> bool| {
        assert!(records.iter().any(test), "nowhere: {what}");
    };
    let cell = |what: &str, test: fn(&str) -> bool| {
        any(what, &|r| cells(r).into_iter().any(test));
    };
    let text = |needle: &str| {
        any(needle, &|r| sentences(r).iter().any(|s| s.contains(needle)));
    };
    cell("a negative written twice", |c| {
        c.starts_with('-') && c.contains(" ( ")
    });
    cell("a lost em dash", |c| c == "2014");
    cell("a lost en dash", |c| c == "2013");
    text("2019s");
    text("201c");
    text("<b>");
    text("{");
    text(" & ");
    text("\"");
    text(" , respectively");
    text("% )");
    cell("a percentage written twice", |c| c.ends_with("% )"));
    any("a question that ends in a newline", &|r| {
        r["qa"]["question"]
            .as_str()
            .is_some_and(|q| q.ends_with('\n'))
    });
    any("no table_ori", &|r| r.get("table_ori").is_none());
    any("a repeated column label", &|r| {
        let header = strings(&r["table"][0]);
        header.iter().collect::<BTreeSet<_>>().len() < header.len()
    });
    any("a yes/no question", &|r| {
        r["qa"]["exe_ans"] == "yes" || r["qa"]["exe_ans"] == "no"
    });
    any("a row that starts at 100", &|r| {
        cells(r).contains(&"$ 100.00")
    });
}

#[test]
fn the_hard_questions_exist() {
    let records = records();
    for (wanted, part) in HARD {
        let record = records.iter().find(|r| id(r) == *wanted);
        assert!(
            record.is_some_and(|r| r.get(part).is_some()),
            "{wanted} {part}"
        );
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
