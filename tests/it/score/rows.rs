//! Rows of files of predictions that were scored as something else than they say.

use finqa_score::score::ScoreError;
use finqa_score::score::files::{PredictionRow, read_predictions, rescore};
use rstest::rstest;
use serde_json::{Value as Json, json};

use crate::support::cli::Workplace;

fn read(text: &str) -> Result<Vec<PredictionRow>, ScoreError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("predictions");
    std::fs::write(&path, text).unwrap();
    read_predictions(&path)
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// A conversation of three turns about sales of 31 and 25.
fn conversation(place: &Workplace) {
    let questions = [
        "what were sales in 2001?", "and in 2000?", "what is the sum?",
    ];
    let programs = ["31", "25", "add(31, 25)"];
    let record = json!({
        "id": "Single_ZED/2001/page_1.pdf-1", "filename": "ZED/2001/page_1.pdf",
        "pre_text": ["zed ."], "post_text": [],
        "table": [["", "2001", "2000"], ["sales", "31", "25"]],
        "qa": {"question": "what is the sum of sales?", "answer": "56",
               "program": "add(31, 25)", "exe_ans": 56.0},
        "annotation": {"dialogue_break": questions, "turn_program": programs,
                       "exe_ans_list": [31.0, 25.0, 56.0]}
    });
    place.write("own.json", &json!([record]).to_string());
}

/// The answers were compared with the golds of the turns before.
#[test]
fn a_row_with_the_question_of_another_turn_is_an_error() {
    let place = Workplace::new();
    conversation(&place);
    let row = |turn: u32, question: &str, answer: &str| {
        let id = "Single_ZED/2001/page_1.pdf-1";
        json!({"id": id, "turn": turn, "question": question, "prediction": answer}).to_string()
    };
    let file = |rows: &[String]| place.write("a.jsonl", &rows.join("\n"));
    let score = || place.run("score a.jsonl --data-path own.json");
    file(&[
        row(1, "What were sales in 2001?", "31"),
        row(2, "and in 2000?", "25"),
    ]);
    score().fails(
        3,
        &[
            "line 1: the text for", "(1) is that of 0 in own.json", "number turns from 0",
        ],
    );
    // A text that was edited, or none, is no other turn's.
    file(&[
        row(0, "sales in 2001", "31"),
        row(1, "", "25"),
        row(2, "what is the sum ?", "56"),
    ]);
    score().succeeds().prints("100.0");
}

#[rstest]
#[case("turn_ind")]
#[case("turn_index")]
#[case("Turn_ID")]
fn a_turn_is_read_by_its_usual_names(#[case] name: &str) {
    let rows = read(&format!("id,{name},prediction\nr,2,5\n")).unwrap();
    assert_eq!(rows[0].part.as_deref(), Some("2"));
    let rows = read(&json!({"id": "r", name: 2, "prediction": "5"}).to_string()).unwrap();
    assert_eq!(rows[0].part.as_deref(), Some("2"));
}

#[test]
fn a_column_that_numbers_turns_by_another_name_is_not_passed_over() {
    for name in ["turn_number", "turnNo", "dialog_turn", "Turn #"] {
        let told = refused(&format!("id,{name},prediction\nr,2,5\n"));
        assert!(
            told.contains("has no column `part|turn|turn_idx|"),
            "{told}"
        );
        assert!(
            told.contains(&format!("it has: id, {}", name.to_lowercase())),
            "{told}"
        );
    }
    for names in [
        "turn,turn_number", "turn_program,part", "turns,filename", "return,filename",
    ] {
        let read = read(&format!("id,{names},prediction\nr,2,3,5\n"));
        assert_eq!(read.is_ok(), names != "return,filename", "{names}");
    }
}

/// Words around a number, or its sign of percent, made a right answer wrong.
#[rstest]
#[case("14.136%", json!(0.14136))]
#[case("about 5", json!(5.0))]
#[case("$ 1,234.5", json!(1234.5))]
#[case("5 (approx)", json!(5.0))]
#[case("-5", json!(-5.0))]
#[case("Yes", json!("yes"))]
fn a_value_is_read_as_any_answer(#[case] value: &str, #[case] gold: Json) {
    let row = json!({"id": "r", "part": "0", "prediction": "x", "exe_ans": gold, "value": value});
    let scored = rescore(read(&row.to_string()).unwrap(), None).unwrap();
    assert_eq!(scored[0].accepted(), Some(true), "{value}");
    assert_eq!(scored[0].scores.execution_accuracy, Some(true), "{value}");
}

#[test]
fn a_value_that_is_words_is_an_error_unless_it_is_the_answer() {
    let row = |value: &str, answer: &str| {
        json!({"id": "r", "prediction": answer, "value": value, "gold": "5"}).to_string()
    };
    let told = refused(&row("rose a lot", "5"));
    let named = "predictions, line 1: `value` holds `rose a lot`, not a number, yes or no";
    assert!(told.ends_with(named), "{told}");
    assert!(read(&row("the north", "the north")).is_ok());
    assert!(read("id,prediction,value,outcome\nr,5,the north,answered\n").is_ok());
    // A scale is not left out.
    let rows = read(&row("$5 million", "5000000")).unwrap();
    let value = rows[0].value.as_ref().map(ToString::to_string);
    assert_eq!(value.as_deref(), Some("$5 million"));
}

/// The rows between two quotes were read as the content of one cell.
#[rstest]
#[case::to_the_end("id,prediction,gold\na,5,5\nb,\"6,6\nc,7,7\n", 3)]
#[case::at_the_end("id,prediction,gold\na,5,\"5\n", 2)]
#[case::to_the_next("id,gold,question,prediction\na,5,\"why,5\nb,6,\"what, 7\",6\n", 2)]
#[case::in_the_header("id,\"prediction,gold\na,5,5\n", 1)]
#[case::windows("id,prediction,gold\r\na,5,5\r\nb,\"6,6\r\n", 3)]
fn a_quote_that_is_not_closed_is_named(#[case] csv: &str, #[case] line: usize) {
    let told = refused(csv);
    assert!(
        told.contains(&format!(
            "line {line}: a quote that begins here is not closed"
        )),
        "{told}"
    );
}

#[rstest]
#[case("id,question,prediction\na,\"why, \"\"so\"\"?\nsay\",5\nb,x,6\n", 2)]
#[case("id,question,prediction\na,\"\",5\nb,\"\"\"\",6\n", 2)]
#[case("id,question,prediction\na,5\" pipe,5\nb,\"12\" wide,6\n", 2)]
#[case("id,question,prediction\na,\"b\" ,\"5\"", 1)]
fn quotes_that_are_closed_are_no_error(#[case] csv: &str, #[case] rows: usize) {
    assert_eq!(read(csv).unwrap().len(), rows);
}

/// An object of a file is named by its line.
#[test]
fn an_object_without_an_answer_is_named_by_its_line() {
    let told =
        refused("{\"id\": \"a\", \"prediction\": \"5\"}\n{\"id\": \"b\", \"text\": \"6\"}\n");
    assert!(told.ends_with("it has: id, text (line 2)"), "{told}");
}

/// Of two files, the error of a row did not say which one has it.
#[test]
fn an_error_of_a_row_names_its_file() {
    let place = Workplace::new();
    conversation(&place);
    let row = |id: &str| format!("id,part,prediction,gold\n{id},qa,56,56\n");
    place.write("a.csv", &row("Single_ZED/2001/page_1.pdf-1"));
    place.write("b.csv", &row("other"));
    let compared = place.run("compare a.csv b.csv --data-path own.json");
    compared.fails(3, &["b.csv, line 2: own.json has no record other"]);
}

/// A gold that contradicts itself was scored in silence.
#[test]
fn score_names_golds_that_contradict_themselves() {
    let place = Workplace::new();
    conversation(&place);
    place.write(
        "a.csv",
        "id,part,prediction\nSingle_ZED/2001/page_1.pdf-1,qa,56\n",
    );
    let score = || place.run("score a.csv --data-path own.json");
    assert!(!score().succeeds().stderr.contains("`exe_ans`"));
    let text = place
        .read("own.json")
        .replace("\"exe_ans\":56.0", "\"exe_ans\":57.5");
    place.write("own.json", &text);
    score()
        .succeeds()
        .tells("`exe_ans` contradicts: 1, such as Single_ZED/2001/page_1.pdf-1 (qa): answer `56`, `exe_ans` 57.5, program 56");
}
