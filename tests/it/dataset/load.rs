//! Loading: arrays and lines of records, and bad input.

use std::fs;

use finqa_core::number::Value;
use finqa_score::dataset::{RecordKind, Source, from_str, load, sample};
use rstest::rstest;
use serde_json::{Value as Json, json};

use super::{complaint, parse, record};
use crate::support::cli::Workplace;

#[test]
fn a_record_loads_with_its_gold_kept_apart() {
    let dataset = parse(&json!([record("Single_ZED/2001/page_1.pdf-1")])).unwrap();
    let only = &dataset.records[0];
    assert_eq!(only.kind, RecordKind::Single);
    let case = &only.questions[0];
    assert_eq!(case.question.text, "what were sales?");
    assert_eq!(case.question.key.part, "qa");
    assert_eq!(case.gold.exe_ans, Some(Value::Number(10.0)));
    assert_eq!(only.turns[1].question.key.part, "1");
    assert_eq!(only.turns[1].gold.exe_ans, Some(Value::Number(20.0)));
    assert_eq!(only.turns[1].gold.split, Some(0));
    assert!(only.turns[1].question.history.is_empty());
    assert!(!dataset.invented);
}

#[test]
fn evidence_ids_name_cells_and_sentences() {
    let mut two = record("Single_A");
    two["post_text"] = json!(["a second sentence ."]);
    let dataset = parse(&json!([two])).unwrap();
    let document = &dataset.records[0].document;
    assert_eq!(document.evidence("r0c1"), Some("2001"));
    assert_eq!(document.evidence("r1c0"), Some("sales"));
    assert_eq!(
        document.evidence("t1"),
        Some("zed is an invented company .")
    );
    assert_eq!(document.evidence(" t2 "), Some("a second sentence ."));
    for id in ["t0", "t3", "t", "t+1", "r2c0", "r0c2", "h1", "sales", ""] {
        assert_eq!(document.evidence(id), None, "{id}");
    }
}

#[test]
fn types_may_vary_and_unknown_fields_and_nulls_are_ignored() {
    let mut odd = record("Double_ZED/2001/page_1.pdf");
    let fields = odd.as_object_mut().unwrap();
    fields.remove("qa");
    fields.remove("filename");
    fields.insert("_provenance".into(), json!({"any": ["thing"]}));
    fields.insert("post_text".into(), Json::Null);
    fields.insert("table".into(), json!([["", 2001], ["sales", null]]));
    fields.insert(
        "qa_0".into(),
        json!({"question": "is it?", "answer": "", "program": null, "exe_ans": "yes"}),
    );
    fields.insert(
        "qa_1".into(),
        json!({"question": "how much?", "answer": 14.5, "program": "", "exe_ans": ""}),
    );
    let dataset = parse(&json!([odd])).unwrap();
    let only = &dataset.records[0];
    assert_eq!(only.kind, RecordKind::Double);
    assert_eq!(only.document.filename, "ZED/2001/page_1.pdf");
    assert_eq!(only.document.table, [["", "2001"], ["sales", ""]]);
    let [first, second] = &only.questions[..] else {
        panic!("two questions")
    };
    assert_eq!(first.gold.answer, None);
    assert_eq!(first.gold.exe_ans, Some(Value::Text("yes".into())));
    assert_eq!(second.gold.answer.as_deref(), Some("14.5"));
    assert_eq!(second.gold.program, None);
    assert_eq!(second.gold.exe_ans, None);
}

#[test]
fn a_file_without_gold_loads() {
    let mut bare = record("Single_ZED/2001/page_1.pdf-1");
    bare.as_object_mut().unwrap().remove("qa");
    bare["annotation"] = json!({"dialogue_break": ["what were sales?"]});
    let dataset = parse(&json!([bare])).unwrap();
    assert!(dataset.records[0].turns[0].gold.is_empty());
    assert_eq!((dataset.question_count(), dataset.turn_count()), (0, 1));
}

#[test]
fn an_array_and_jsonl_give_the_same_records() {
    let records = [record("Single_A"), record("Single_B")];
    let array = parse(&json!(records)).unwrap();
    let lines = format!("\u{feff}{}\n\n{}\n", records[0], records[1]);
    let lines = from_str("test.jsonl", &lines).unwrap();
    assert_eq!(array.records, lines.records);
    // That of the whole file.
    let text = format!("{}\n  \n", json!(records));
    let expected = blake3::hash(text.as_bytes()).to_hex().to_string();
    assert_eq!(from_str("test.json", &text).unwrap().hash, expected);
    assert_ne!(array.hash, lines.hash);
}

#[rstest]
#[case("", "has no records")]
#[case("[]", "has no records")]
#[case("  \n", "has no records")]
#[case("id,question\n", "starts with 'i'")]
#[case("\"text\"", "starts with '\"'")]
#[case("[{\"id\": \"a\" \"b\": 1}]", "line 1, column 13")]
#[case("[{\"id\": \"a\", \"qa\": {\"question", "cut off at line 1")]
#[case(
    "[1, 2]",
    "test.json, record 1: is 1 where a record (a JSON object) is expected"
)]
#[case("[]]", "trailing characters")]
#[case("PK\u{3}\u{4}", "unpack it")]
fn what_is_not_a_data_file_is_said_in_a_line(#[case] text: &str, #[case] expected: &str) {
    let line = complaint(from_str("test.json", text));
    assert!(line.starts_with("test.json"), "{line}");
    assert!(line.contains(expected), "{line}");
}

#[rstest]
#[case("/id", json!(""), "`id`: is missing")]
#[case("/table", json!([]), "`table`: is missing or empty")]
#[case("/table", Json::Null, "`table`: is missing or empty")]
#[case("/table", json!([[], []]), "`table[0]`: is blank")]
#[case("/table", json!([["", "2001"], ["sales"]]), "`table[1]`: has 1 cell where the header has 2; fill the row up")]
#[case("/table", json!([["", "2001"], ["sales", "1", "2", "3"]]), "has 4 cells where the header has 2; remove 2")]
#[case("/table", json!([["", "2001"], ["sales", {"a": 1}]]), "`table[1][1]`: is an object where a text, a number or null is expected")]
#[case("/table", json!("a | b"), "`table`: is the text \"a | b\" where a list is expected")]
#[case("/qa", json!("a"), "`qa`: is the text \"a\" where a stand-alone question (a JSON object) is expected")]
#[case("/qa", json!([]), "`qa`: is a list where a stand-alone question")]
#[case("/table/1", json!(true), "`table[1]`: is true where a list is expected")]
#[case("/pre_text", json!("one text"), "`pre_text`: is the text \"one text\" where a list is expected")]
#[case("/qa/question", json!("  \\n"), "`qa.question`: is missing or blank")]
#[case("/qa/exe_ans", json!([1]), "`qa.exe_ans`: is a list where a text, a number or null is expected")]
#[case("/annotation/dialogue_break/1", json!(2), "`annotation.dialogue_break[1]`: is 2 where a text is expected")]
#[case("/annotation/dialogue_break/1", json!(""), "`annotation.dialogue_break[1]`: is blank")]
#[case("/annotation/exe_ans_list", json!([1]), "`annotation.exe_ans_list`: has 1 entry where dialogue_break has 2")]
#[case("/annotation/turn_program", json!(["1", "2", "3"]), "`annotation.turn_program`: has 3 entries")]
#[case("/annotation/turn_ind", json!(1), "`annotation.turn_ind`: this is a file of single turns")]
fn a_wrong_field_is_named_with_file_record_and_path(
    #[case] field: &str,
    #[case] value: Json,
    #[case] expected: &str,
) {
    let mut bad = record("Single_BAD");
    if field == "/annotation/turn_ind" {
        bad["annotation"]["turn_ind"] = value;
    } else {
        *bad.pointer_mut(field).unwrap() = value;
    }
    let line = complaint(parse(&json!([record("Single_GOOD"), bad])));
    let name = if field == "/id" { "" } else { " (Single_BAD)" };
    let start = format!("test.json, record 2{name}, field ");
    assert!(line.starts_with(&start), "{line}");
    assert!(line.contains(expected), "{line}");
}

#[test]
fn a_record_that_asks_nothing_is_refused() {
    let mut bad = record("Single_BAD");
    bad.as_object_mut().unwrap().remove("qa");
    bad.as_object_mut().unwrap().remove("annotation");
    let line = complaint(parse(&json!([bad])));
    assert!(line.contains("has no question; add one"), "{line}");
}

#[test]
fn a_duplicate_id_is_refused() {
    let line = complaint(parse(&json!([
        record("Single_A"),
        record("Single_B"),
        record("Single_A")
    ])));
    assert!(
        line.contains("records 1 and 3 both have the id Single_A"),
        "{line}"
    );
}

/// Only the first error was printed, so correcting three records took four runs of the command.
#[test]
fn data_check_tells_the_errors_of_all_records() {
    let place = Workplace::new();
    let check = |records: &[Json]| {
        place.write("own.json", &json!(records).to_string());
        place.run("data check own.json")
    };
    let faulty = |id: usize| {
        let mut record = record(&format!("Single_{id}"));
        record["table"] = json!([["", "2001"], ["sales"]]);
        record
    };
    let mut other_type = record("Single_3");
    other_type["pre_text"] = json!("one text");
    let ran = check(&[
        record("Single_1"),
        faulty(2),
        other_type,
        record("Single_1"),
    ]);
    ran.fails(3, &["own.json has 3 errors (see above); correct or drop"]);
    ran.tells("own.json, record 2 (Single_2), field `table[1]`: has 1 cell")
        .tells("own.json, record 3 (Single_3), field `pre_text`: is the text")
        .tells("own.json: records 1 and 4 both have the id Single_1");
    let only = check(&[record("Single_1"), faulty(2)]);
    only.fails(3, &["own.json, record 2 (Single_2), field `table[1]`"]);
    let many: Vec<Json> = (0..12).map(faulty).collect();
    let ran = check(&many);
    ran.fails(3, &["own.json has 12 errors"]);
    ran.tells("record 10 (Single_9)").tells("… and 2 more\n");
    assert!(!ran.stderr.contains("record 11"), "{}", ran.stderr);
}

#[test]
fn a_path_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("train.json");
    let line = complaint(load(&Source::Path(missing.clone())));
    assert!(line.contains("no data file at"), "{line}");
    assert!(line.contains("convfinqa data download"), "{line}");
    let line = complaint(load(&Source::Path(folder.path().to_owned())));
    assert!(line.contains("it is a folder"), "{line}");
    fs::write(&missing, b"\xff\xfe[\0]\0").unwrap();
    let line = complaint(load(&Source::Path(missing.clone())));
    assert!(line.contains("UTF-16"), "{line}");
    fs::write(&missing, b"[{\"id\": \"caf\xe9\"}]").unwrap();
    let line = complaint(load(&Source::Path(missing.clone())));
    assert!(
        line.ends_with("it is not UTF-8 at line 1; save it as UTF-8"),
        "{line}"
    );
    fs::write(&missing, b"[\n{\"id\": \"caf\xe9\"}]").unwrap();
    let line = complaint(load(&Source::Path(missing.clone())));
    assert!(line.contains("not UTF-8 at line 2"), "{line}");
    // A character that is cut off.
    fs::write(&missing, b"[{\"id\": \"caf\xc3").unwrap();
    let line = complaint(load(&Source::Path(missing)));
    assert!(line.contains("cut off at line 1"), "{line}");
}

#[test]
fn the_sample_loads_and_says_that_it_is_invented() {
    let dataset = sample().unwrap();
    assert!(dataset.invented);
    assert_eq!(load(&Source::Sample).unwrap(), dataset);
    assert_eq!(dataset.source, "built-in sample");
    for record in &dataset.records {
        let first = record.document.sentences().next().unwrap();
        assert!(first.contains("invented"), "{}: {first}", record.id());
        for case in record.cases() {
            assert!(!case.gold.is_empty(), "{}", case.question.key);
        }
    }
}
