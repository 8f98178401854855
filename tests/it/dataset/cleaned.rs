//! The cleaned ConvFinQA file, `{"train": […], "dev": […]}`: texts are whole, tables are objects of
//! columns, and numbers are numbers.

use std::collections::HashSet;

use finqa_core::page::Cell;
use finqa_score::dataset::{Dataset, RecordKind, from_str};
use rstest::rstest;
use serde_json::{Map, Value as Json, json};

use super::complaint;
use crate::support::cli::{Workplace, sample_records};
use crate::support::published::records_file;

/// A record as the cleaned file has it: dollar signs gone, negatives and numbers as numbers, a
/// repeated column with its number at its end.
pub fn cleaned(record: &Json) -> Json {
    let rows = record["table"].as_array().unwrap();
    let mut columns = Map::new();
    let names = rows[0].as_array().unwrap();
    for at in 1..names.len() {
        let name = names[at].as_str().unwrap();
        let times = names[1..].iter().filter(|other| *other == name).count();
        let before = names[1..at].iter().filter(|other| *other == name).count();
        let name = match times {
            1 => name.to_owned(),
            _ => format!("{name} ({})", before + 1),
        };
        let cells = rows[1..].iter().map(|row| {
            let text = row[at].as_str().unwrap();
            let number = Cell::read(text)
                .number
                .filter(|number| !number.percent && number.words().is_empty());
            let value = number.map_or(json!(text), |number| json!(number.value));
            (row[0].as_str().unwrap().to_owned(), value)
        });
        columns.insert(name, Json::Object(cells.collect()));
    }
    let text = |key: &str| {
        let sentences = record[key].as_array().unwrap().iter();
        sentences
            .map(|it| it.as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let annotation = &record["annotation"];
    let split: Vec<bool> = match annotation["qa_split"].as_array() {
        Some(split) => split.iter().map(|half| half == 1).collect(),
        None => Vec::new(),
    };
    json!({
        "id": record["id"],
        "doc": {"pre_text": text("pre_text"), "post_text": text("post_text"), "table": columns},
        "dialogue": {
            "conv_questions": annotation["dialogue_break"],
            "conv_answers": annotation["exe_ans_list"],
            "turn_program": annotation["turn_program"],
            "executed_answers": annotation["exe_ans_list"],
            "qa_split": split,
        },
        "features": {
            "num_dialogue_turns": 1, "has_type2_question": false,
            "has_duplicate_columns": false, "has_non_numeric_values": false,
        },
    })
}

fn parse(json: &Json) -> Dataset {
    from_str("test.json", &json.to_string()).unwrap()
}

#[rstest]
#[case::sample(None)]
#[ignore = "needs the published files"]
#[case::needs_data_unabridged(Some("train_first25_unabridged.json"))]
fn a_cleaned_record_is_read_like_the_original(#[case] file: Option<&str>) {
    let records = match file {
        None => sample_records(),
        Some(name) => {
            let text = std::fs::read_to_string(records_file(name)).unwrap();
            serde_json::from_str(&text).unwrap()
        }
    };
    let originals = parse(&json!(records));
    let file = json!({"train": records.iter().map(cleaned).collect::<Vec<_>>(), "dev": []});
    let read = parse(&file);
    assert_eq!(read.records.len(), originals.records.len());
    assert_eq!((&read.notes, read.question_count()), (&Vec::new(), 0));
    let mut numbers = 0;
    for (record, original) in read.records.iter().zip(&originals.records) {
        let id = original.id();
        assert_eq!((record.id(), record.kind), (id, original.kind));
        let (page, whole) = (&record.document, &original.document);
        assert_eq!(page.filename, whole.filename);
        let text = |sentences: &[String]| sentences.join(" ");
        assert_eq!(text(&page.pre_text), text(&whole.pre_text).trim(), "{id}");
        assert_eq!(text(&page.post_text), text(&whole.post_text).trim(), "{id}");
        assert_eq!(page.table.len(), whole.table.len(), "{id}");
        for (row, full) in page.table.iter().zip(&whole.table).skip(1) {
            assert_eq!((row.len(), &row[0]), (full.len(), &full[0]), "{id}");
        }
        let (cells, full) = (page.page(), whole.page());
        for (row, full) in cells.table.cells().iter().zip(full.table.cells()).skip(1) {
            for (cell, full) in row.iter().zip(full).skip(1) {
                assert_eq!(
                    cell.value(),
                    full.value(),
                    "{id}: {} {}",
                    cell.raw,
                    full.raw
                );
                assert_eq!(cell.kind, full.kind, "{id}: {} {}", cell.raw, full.raw);
                numbers += usize::from(cell.value().is_some());
            }
        }
        let turns = record.turns.iter().zip(&original.turns);
        assert_eq!(record.turns.len(), original.turns.len());
        for (turn, full) in turns {
            assert_eq!(turn.question.text, full.question.text);
            assert_eq!(
                (&turn.gold.program, &turn.gold.exe_ans),
                (&full.gold.program, &full.gold.exe_ans)
            );
            assert_eq!(turn.gold.split, full.gold.split);
        }
    }
    assert!(numbers > 200, "{numbers} cells with a value");
}

#[test]
fn sentences_end_where_the_original_ends_them() {
    let mut record = cleaned(&sample_records()[0]);
    record["doc"]["pre_text"] = json!("the u.s . unit sold $ 1.5 million . it was zed inc . .");
    record["doc"]["post_text"] = json!(["as a list .", "of two ."]);
    let page = parse(&json!({"dev": [record]})).records.remove(0).document;
    let expected = [
        "the u.s .", "unit sold $ 1.5 million .", "it was zed inc .", ".",
    ];
    assert_eq!(page.pre_text, expected);
    assert_eq!(page.post_text, ["as a list .", "of two ."]);
}

/// JSON of a table as it may be: a row that one column lacks, a label or a column twice, and null.
#[test]
fn a_ragged_table_keeps_every_cell() {
    let text = json!({"dev": [cleaned(&sample_records()[0])]}).to_string();
    let table = json!(cleaned(&sample_records()[0])["doc"]["table"]).to_string();
    let odd = r#"{"2001": {"sales": 10.0, "other": -2.5, "other": "n/a"}, "2000": {"costs": 7, "sales": null}, "2000": {"sales": "9 %"}}"#;
    let text = text.replace(&table, odd);
    let page = from_str("test.json", &text)
        .unwrap()
        .records
        .remove(0)
        .document;
    let expected = [
        ["", "2001", "2000", "2000"],
        ["sales", "10", "", "9 %"],
        ["other", "-2.5", "", ""],
        ["other", "n/a", "", ""],
        ["costs", "", "7", ""],
    ];
    assert_eq!(page.table, expected);
}

#[rstest]
#[case("/doc/table", json!([["", "2001"]]), "field `doc.table`: is a list where a JSON object is expected")]
#[case("/doc/table", json!({}), "field `doc.table`: is missing or empty")]
#[case("/doc/table", json!({"2001": {"sales": [1]}}), "field `doc.table.2001.sales`: is a list where")]
#[case("/doc/pre_text", json!(5), "field `doc.pre_text`: must be a text or a list of sentences")]
#[case("/dialogue/executed_answers", json!([1, 2, 3, 4, 5, 6, 7, 8, 9]), "field `dialogue.executed_answers`: has 9 entries where conv_questions has")]
#[case("/dialogue", json!({}), "`dialogue.conv_questions`: is missing")]
#[case("/dialogue/qa_split", json!(["first"]), "field `dialogue.qa_split[0]`: must be 0, 1, false or true")]
fn a_wrong_field_is_named_as_the_cleaned_file_names_it(
    #[case] field: &str,
    #[case] value: Json,
    #[case] expected: &str,
) {
    let mut bad = cleaned(&sample_records()[1]);
    *bad.pointer_mut(field).unwrap() = value;
    let file = json!({"train": [cleaned(&sample_records()[0])], "dev": [bad]});
    let line = complaint(from_str("test.json", &file.to_string()));
    assert!(line.starts_with("test.json, record 2"), "{line}");
    assert!(line.contains(expected), "{line}");
}

/// Twenty records of the sample in each of two splits.
fn place() -> (Workplace, usize) {
    let place = Workplace::new();
    let records: Vec<Json> = sample_records().iter().map(cleaned).collect();
    let file = json!({"train": records[..20], "dev": records[20..30]});
    place.write("cleaned.json", &file.to_string());
    place.write("lines.jsonl", &records[0].to_string());
    let turns = |record: &Json| {
        record["dialogue"]["conv_questions"]
            .as_array()
            .unwrap()
            .len()
    };
    (place, records[20..30].iter().map(turns).sum())
}

#[test]
fn every_command_takes_one_split_or_all() {
    let (place, turns) = place();
    place
        .run("data stats --data-path cleaned.json")
        .prints("records    30");
    place
        .run("data stats --data-path cleaned.json --split dev")
        .prints("records    10");
    let checked = place.run("data check --data-path cleaned.json --split dev");
    checked
        .succeeds()
        .prints(&format!("{turns} of {turns} gold programs execute"));
    let id = sample_records()[25]["id"].as_str().unwrap().to_owned();
    place
        .run(&format!("data show '{id}' --data-path cleaned.json --gold"))
        .succeeds()
        .prints("Conversation");
    place
        .run(&format!(
            "data show '{id}' --data-path cleaned.json --split train"
        ))
        .fails(2, &["0 records"]);

    let ran = place.run("--data-path cleaned.json --split dev --json");
    let summary = ran.succeeds().tells("asking its conversations").json();
    assert_eq!(summary["questions"], turns);
    let asked: HashSet<String> = place
        .rows("output/output.csv")
        .iter()
        .map(|row| row["id"].clone())
        .collect();
    assert_eq!(asked.len(), 10);
    let config = std::fs::read_to_string(place.run_folder().join("config.toml")).unwrap();
    assert!(config.contains("split = \"dev\""), "{config}");
    let run = place.run_folder();
    let id = run.file_name().unwrap().to_str().unwrap();
    let resumed = place.run(&format!("--resume {id} --split train"));
    resumed.fails(2, &["--split"]);

    let score = |more: &str| {
        place
            .run(&format!("score output/output.csv --json {more}"))
            .succeeds()
            .json()
    };
    let of_run = place.run("score last --json").succeeds().json();
    for more in [
        "--data-path cleaned.json", "--data-path cleaned.json --split dev",
    ] {
        let scored = score(more);
        for key in [
            "financial_equivalence", "financial_equivalence_n", "execution_accuracy",
        ] {
            assert_eq!(scored[key], of_run[key], "{more} {key}");
        }
        place.run(&format!("analyze last {more}")).succeeds();
        place
            .run(&format!("compare last output/output.csv {more}"))
            .succeeds();
    }
    place
        .run("score last --data-path cleaned.json --split train")
        .fails(3, &["cleaned.json"]);
    let built = place.run("env build --data-path cleaned.json --split dev -o env");
    built.fails(
        3,
        &[&format!(
            "{turns} turns of conversations cannot be asked alone"
        )],
    );
}

#[test]
fn a_split_that_is_not_there_is_named_with_those_that_are() {
    let (place, _) = place();
    for line in [
        "data stats", "--model offline", "score none.csv", "env build -o env",
    ] {
        let line = format!("{line} --data-path cleaned.json --split test");
        let words = ["cleaned.json has no split `test`: it has train, dev"];
        let line = if line.starts_with("score") {
            place.write("none.csv", "id,prediction\na,1\n");
            line
        } else {
            line
        };
        place.run(&line).fails(2, &words);
    }
    for data in ["lines.jsonl", "sample"] {
        let line = format!("data stats --data-path {data} --split dev");
        place.run(&line).fails(
            2,
            &["has no split `dev`: its records have no splits; leave out --split"],
        );
    }
    place
        .run("data stats --data-path lines.jsonl")
        .prints("records    1");
    let both = parse(&json!({"train": [cleaned(&sample_records()[0])], "dev": []}));
    assert_eq!(both.records[0].kind, RecordKind::Single);
    let twice =
        json!({"train": [cleaned(&sample_records()[0])], "dev": [cleaned(&sample_records()[0])]});
    let line = complaint(from_str("test.json", &twice.to_string()));
    assert!(line.contains("records 1 and 2 both have the id"), "{line}");
}
