//! Tests of `data/sample.json`, the built-in sample, as a file: its size, its
//! shape and what its records must contain. No executor and no loader here.

use std::collections::BTreeSet;

use serde_json::Value;

const SAMPLE: &str = include_str!("../../data/sample.json");

/// Questions written to be beyond word matching: id and part.
const HARD: &[(&str, &str)] = &[
    ("Double_NOVX/2019/page_41.pdf", "qa_1"),
    ("Double_QELM/2012/page_88.pdf", "qa_1"),
    ("Single_BRVL/2010/page_55.pdf-3", "qa"),
    ("Double_HSKD/2008/page_30.pdf", "qa_1"),
];

fn records() -> Vec<Value> {
    serde_json::from_str(SAMPLE).expect("the sample is a JSON array")
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
    assert!(records.len() >= 10, "{} records", records.len());
    assert!(doubles >= 4, "{doubles} Doubles");
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

/// What makes the published files hard to read stands in the sample too.
#[test]
fn the_artefacts_of_the_published_files_occur() {
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
    text(" , respectively");
    text("% )");
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
