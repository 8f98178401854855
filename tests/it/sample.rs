//! Tests of `data/sample.json`, the built-in sample: its size and shape as a
//! file, what its records must contain, and that its gold holds when executed.

use std::collections::BTreeSet;

use convfinqa::dataset::{self, Case, Document, Record, RecordKind};
use finqa_core::number;
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

fn parts(record: &Value) -> Vec<&'static str> {
    ["qa", "qa_0", "qa_1"]
        .into_iter()
        .filter(|part| record.get(part).is_some())
        .collect()
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
fn it_is_large_enough_and_small_enough() {
    let records = records();
    let doubles = records.iter().filter(|r| r.get("qa_0").is_some()).count();
    assert!(records.len() >= 28, "{} records", records.len());
    assert!(doubles >= 6, "{doubles} Doubles");
    assert!(records.len() > doubles, "no Single");
    assert!(SAMPLE.len() < 250_000, "{} bytes", SAMPLE.len());
}

#[test]
fn ids_are_unique_and_agree_with_kind_and_page() {
    let records = records();
    let ids: BTreeSet<&str> = records.iter().map(id).collect();
    assert_eq!(ids.len(), records.len());
    for record in &records {
        let (kind, rest) = id(record).split_once('_').unwrap();
        let page = record["filename"].as_str().unwrap();
        match kind {
            "Single" => {
                let number = rest.strip_prefix(page).and_then(|r| r.strip_prefix('-'));
                assert!(number.is_some_and(|n| n.parse::<u8>().is_ok()), "{rest}");
                assert_eq!(parts(record), ["qa"], "{rest}");
            }
            "Double" => {
                assert_eq!(rest, page);
                assert_eq!(parts(record), ["qa_0", "qa_1"], "{rest}");
            }
            other => panic!("kind {other}"),
        }
    }
}

#[test]
fn every_record_says_that_it_is_invented() {
    for record in &records() {
        let first = sentences(record)[0];
        assert!(first.contains("invented"), "{}: {first}", id(record));
    }
}

#[test]
fn conversations_have_as_many_programs_and_answers_as_questions() {
    for record in &records() {
        let notes = &record["annotation"];
        let turns = strings(&notes["dialogue_break"]).len();
        assert!((1..=9).contains(&turns), "{}: {turns} turns", id(record));
        for list in ["turn_program", "exe_ans_list", "qa_split"] {
            assert_eq!(
                notes[list].as_array().unwrap().len(),
                turns,
                "{}: {list}",
                id(record)
            );
        }
    }
}

#[test]
fn the_two_halves_of_a_double_follow_each_other() {
    for record in &records() {
        let split: Vec<u64> = record["annotation"]["qa_split"]
            .as_array()
            .unwrap()
            .iter()
            .map(|half| half.as_u64().unwrap())
            .collect();
        assert!(split.is_sorted(), "{}: {split:?}", id(record));
        let halves: BTreeSet<u64> = split.into_iter().collect();
        let expected = if record.get("qa").is_some() { 1 } else { 2 };
        assert_eq!(halves.len(), expected, "{}", id(record));
        assert!(halves.iter().all(|half| *half < expected as u64));
    }
}

#[test]
fn a_conversation_ends_at_its_question() {
    for record in &records() {
        let notes = &record["annotation"];
        let answers = notes["exe_ans_list"].as_array().unwrap();
        let split = notes["qa_split"].as_array().unwrap();
        for (half, part) in parts(record).into_iter().enumerate() {
            let last = split
                .iter()
                .rposition(|h| h.as_u64() == Some(half as u64))
                .unwrap();
            assert_eq!(
                answers[last],
                record[part]["exe_ans"],
                "{} {part}",
                id(record)
            );
        }
    }
}

#[test]
fn tables_are_rectangular() {
    for record in &records() {
        let rows = record["table"].as_array().unwrap();
        let width = rows[0].as_array().unwrap().len();
        assert!(rows.len() > 1 && width > 1, "{}", id(record));
        for row in rows {
            assert_eq!(strings(row).len(), width, "{}: {row}", id(record));
        }
    }
}

#[test]
fn records_of_one_page_hold_the_same_page() {
    let records = records();
    for (i, record) in records.iter().enumerate() {
        let twins = records[..i]
            .iter()
            .filter(|r| r["filename"] == record["filename"]);
        for twin in twins {
            for field in ["pre_text", "post_text", "table"] {
                assert_eq!(twin[field], record[field], "{} {field}", id(record));
            }
        }
    }
}

#[test]
fn gold_evidence_names_rows_and_sentences_that_exist() {
    for record in &records() {
        let rows = record["table"].as_array().unwrap();
        for part in parts(record) {
            let evidence = record[part]["gold_inds"].as_object().unwrap();
            assert!(!evidence.is_empty(), "{} {part}", id(record));
            for (key, text) in evidence {
                let text = text.as_str().unwrap();
                let (kind, index) = key.split_once('_').unwrap();
                let index: usize = index.parse().unwrap();
                match kind {
                    "table" => {
                        for cell in &strings(&rows[index])[1..] {
                            let said = format!("is {cell} ;");
                            assert!(text.contains(&said), "{} {key}: {said}", id(record));
                        }
                    }
                    "text" => assert_eq!(text, sentences(record)[index], "{}", id(record)),
                    other => panic!("evidence in {other}"),
                }
            }
        }
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
fn the_loader_takes_every_record_and_question() {
    let raw = records();
    let records = loaded();
    assert_eq!(records.len(), raw.len());
    let doubles = records
        .iter()
        .filter(|r| r.kind == RecordKind::Double)
        .count();
    assert!(doubles >= 6, "{doubles} Doubles");
    for (record, raw) in records.iter().zip(&raw) {
        assert_eq!(record.document.id, id(raw));
        let asked = record
            .questions
            .iter()
            .map(|c| c.question.key.part.as_str());
        assert_eq!(asked.collect::<Vec<_>>(), parts(raw));
        let turns = strings(&raw["annotation"]["dialogue_break"]);
        assert_eq!(record.turns.len(), turns.len(), "{}", id(raw));
        for case in record.cases() {
            let gold = &case.gold;
            assert!(gold.program.is_some() && gold.exe_ans.is_some());
        }
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

/// Unlike about one in twenty of the published answers.
#[test]
fn every_typed_in_answer_is_what_its_program_yields() {
    for case in loaded().iter().flat_map(|r| &r.questions) {
        let Case { question, gold } = &**case;
        let answer = gold.answer.as_deref().unwrap();
        let value = gold.exe_ans.as_ref().unwrap();
        let Some(value) = value.number() else {
            assert_eq!(answer, value.to_string(), "{}", question.key);
            continue;
        };
        let program = Program::parse(gold.program.as_deref().unwrap()).unwrap();
        let read = number::read(answer).unwrap();
        // The value was rounded to 5 decimals, which ×100 makes 3.
        let (as_printed, blur) = if read.percent && !program.ends_with_times_100() {
            (value * 100.0, 5.1e-4)
        } else {
            (value, 5.1e-6)
        };
        let half_a_unit = 0.5 * 10f64.powi(-i32::try_from(read.decimals).unwrap());
        assert!(
            (as_printed - read.value).abs() <= half_a_unit + blur,
            "{}: {answer} for {as_printed}",
            question.key
        );
    }
}
