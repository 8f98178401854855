//! The forms in which files hold answers, golds and programs: lists, objects, missing values, and
//! the official prediction file.

use finqa_score::score::ScoreError;
use finqa_score::score::files::{PredictionRow, read_predictions, rescore};
use rstest::rstest;
use serde_json::{Value as Json, json};

use crate::support::cli::{Ran, Workplace, sample_records};

fn read(text: &str) -> Result<Vec<PredictionRow>, ScoreError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("predictions");
    std::fs::write(&path, text).unwrap();
    read_predictions(&path)
}

const PROGRAM: &str = "subtract(10, 8), divide(#0, 8)";

fn tokens() -> Json {
    json!([
        "subtract(", "10", "8", ")", "divide(", "#0", "8", ")", "EOF"
    ])
}

#[rstest]
#[case::list_of_one(json!(["5"]), "5")]
#[case::list_of_a_number(json!([5.0]), "5")]
#[case::object(json!({"answer": "5%"}), "5%")]
#[case::object_with_more(json!({"answer": "5%", "reasoning": "10 / 200", "steps": ["a"]}), "5%")]
#[case::list_in_object(json!({"text": ["5"], "answer_start": [3]}), "5")]
#[case::truth(json!(true), "yes")]
fn one_answer_is_read_in_whatever_it_is_wrapped(#[case] wrapped: Json, #[case] expected: &str) {
    let line = |key: &str| json!({"id": "r", "program": "5", key: wrapped}).to_string();
    for key in ["prediction", "predicted_answer", "answer"] {
        assert_eq!(read(&line(key)).unwrap()[0].prediction, expected, "{key}");
    }
    for key in ["ground_truth", "gold", "expected_answer"] {
        let row = read(&line(key)).unwrap().remove(0);
        assert_eq!(row.ground_truth.as_deref(), Some(expected), "{key}");
    }
}

/// Data frames write lists to a CSV as Python prints them. A reply that is no answer stays as it is.
#[rstest]
#[case("['14.1%']", "14.1%")]
#[case("[5.0]", "5")]
#[case(r#"["5"]"#, "5")]
#[case("{'answer': '5', 'unit': 'usd'}", "5")]
#[case("['5', '6']", "['5', '6']")]
#[case("[see note]", "[see note]")]
#[case("{'error': 'timeout'}", "{'error': 'timeout'}")]
fn a_cell_of_a_csv_may_be_a_list_or_an_object(#[case] cell: &str, #[case] expected: &str) {
    let quoted = format!("\"{}\"", cell.replace('"', "\"\""));
    let rows = read(&format!("id,prediction,gold\nr,{quoted},{quoted}\n")).unwrap();
    assert_eq!(rows[0].prediction, expected);
    assert_eq!(rows[0].ground_truth.as_deref(), Some(expected));
}

#[rstest]
#[case::two("prediction", json!(["5", "6"]), "a list of 2 values, expected text, a number or a list of one")]
#[case::none("prediction", json!([]), "a list of 0 values, expected text, a number or a list of one")]
#[case::gold("ground_truth", json!(["5", "6"]), "a list of 2 values")]
#[case::alias("expected_answer", json!(["5", "6"]), "a list of 2 values")]
#[case::two_answers("answer", json!({"answer": "5", "value": 6}), "an object (answer, value)")]
#[case::no_answer("prediction", json!({"error": "timeout"}), "an object (error)")]
#[case::inside("prediction", json!([["5", "6"]]), "a list of 2 values")]
#[case::steps("program", json!([["subtract", "10", "8"]]), "a list of 1 value, expected text or a list of tokens")]
#[case::program("predicted", json!({"op": "add"}), "an object (op)")]
#[case::question("question", json!({"text": "why?"}), "an object (text)")]
#[case::latency("latency", json!([1, 2]), "a list of 2 values")]
fn what_is_not_read_is_named_with_its_line_and_field(
    #[case] field: &str,
    #[case] value: Json,
    #[case] expected: &str,
) {
    let good = json!({"id": "a", "prediction": "5"});
    let mut bad = json!({"id": "b"});
    bad[if field == "program" {
        "part"
    } else {
        "program"
    }] = json!("1");
    bad[field] = value;
    for text in [
        format!("{good}\n\n{bad}\n"),
        format!("[\n{good},\n{bad}\n]\n"),
    ] {
        let told = read(&text).unwrap_err().to_string();
        let named = format!("predictions, line 3: field `{field}`: {expected}");
        assert!(told.contains(&named), "{told}");
    }
}

#[test]
fn a_list_of_tokens_is_a_program() {
    let row = json!({"id": "r", "predicted_program": tokens(), "gold_program": tokens()});
    let row = read(&row.to_string()).unwrap().remove(0);
    assert_eq!(row.program.as_deref(), Some(PROGRAM));
    assert_eq!(row.gold_program.as_deref(), Some(PROGRAM));
    // As a data frame writes it to a CSV, and as JSON there.
    let python = tokens().to_string().replace('"', "'");
    let quoted = tokens().to_string().replace('"', "\"\"");
    for cell in [python, quoted] {
        let rows = read(&format!("id,program\nr,\"{cell}\"\n")).unwrap();
        assert_eq!(rows[0].program.as_deref(), Some(PROGRAM));
    }
    let told = read("id,program\nr,\"[add(, {1}]\"\n")
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("line 2: `program` holds `[add(, {1}]`, not a program"),
        "{told}"
    );
    // Numbers of the list keep their form, and `EOF` alone is no program.
    let rows =
        read(r#"{"id": "r", "program": ["add(", 5.0, 10, ")"]} {"id": "s", "program": ["EOF"]}"#);
    let rows = rows.unwrap();
    assert_eq!(rows[0].program.as_deref(), Some("add(5.0, 10)"));
    assert_eq!(rows[1].program, None);
}

/// A program alone was scored as an answer that is empty.
#[test]
fn the_answer_of_a_row_with_only_a_program_is_its_value() {
    let row = json!({"id": "r", "part": "0", "program": tokens(), "gold": 0.25});
    let scored = rescore(read(&row.to_string()).unwrap(), None)
        .unwrap()
        .remove(0);
    assert_eq!(scored.accepted(), Some(true));
    assert_eq!(scored.scores.execution_accuracy, Some(true));
    assert_eq!(scored.scores.program_execution, Some(true));
    assert_eq!(scored.scores.exact_match, Some(true));
    // Nothing is printed of a stand-alone question, so EM and NM compare nothing.
    let row = json!({"id": "r", "program": tokens(), "gold": "25%"});
    let scored = rescore(read(&row.to_string()).unwrap(), None)
        .unwrap()
        .remove(0);
    assert_eq!(scored.accepted(), Some(true));
    assert_eq!(
        (scored.scores.exact_match, scored.scores.numerical_match),
        (None, None)
    );
    assert_eq!(scored.printed(), "0.25");
    let wrong = json!({"id": "r", "part": "0", "program": "divide(1, 0)", "exe_ans": 0.25});
    let scored = rescore(read(&wrong.to_string()).unwrap(), None)
        .unwrap()
        .remove(0);
    assert_eq!(scored.accepted(), Some(false));
}

/// `nan` was a gold, which the answer `nan` met; `NaN` as Python writes it was not read.
#[test]
fn a_missing_value_is_none_whatever_python_calls_it() {
    let rows = read(
        "{\"id\": \"a\", \"prediction\": NaN, \"gold\": \"nan\", \"value\": -Infinity, \"latency\": NaN}\n\
         {\"id\": \"b\", \"prediction\": \"NaN \\\" NaN\", \"gold\": null}\n",
    );
    let rows = rows.unwrap();
    assert_eq!(
        (rows[0].prediction.as_str(), &rows[0].ground_truth),
        ("", &None)
    );
    assert_eq!((&rows[0].value, rows[0].latency), (&None, None));
    assert_eq!(rows[1].prediction, "NaN \" NaN");
    for text in ["nan", "NaN", "None", "null", "<NA>", " "] {
        let csv = format!(
            "id,prediction,ground_truth,latency,rounds,value\nr,5,{text},{text},{text},{text}\n"
        );
        let row = read(&csv).unwrap().remove(0);
        assert_eq!((&row.ground_truth, &row.value), (&None, &None), "{text}");
        assert_eq!(row.latency, None);
        let scored = rescore(vec![row], None).unwrap();
        assert_eq!(scored[0].accepted(), None, "{text} is a gold");
    }
    // Words are golds as before.
    let rows = read("id,prediction,ground_truth\nr,none,none\n").unwrap();
    assert_eq!(rows[0].ground_truth.as_deref(), Some("none"));
}

#[test]
fn a_column_that_is_probably_the_gold_is_not_passed_over() {
    for text in [
        "id,prediction,grond_truth\na,1,2\n",
        "{\"id\": \"a\", \"prediction\": 1, \"grond_truth\": 2}\n",
    ] {
        let told = read(text).unwrap_err().to_string();
        assert!(
            told.contains("has no column `ground_truth|gold|expected_answer`"),
            "{told}"
        );
        assert!(
            told.contains("it has: id, prediction, grond_truth"),
            "{told}"
        );
    }
    assert!(read("id,prediction,grond_truth,gold\na,1,2,3\n").is_ok());
    // Keys may be written in any case, as columns may.
    let rows = read("{\"ID\": \"a\", \"Prediction\": 1, \"Gold\": 2}\n").unwrap();
    assert_eq!(rows[0].ground_truth.as_deref(), Some("2"));
    // A key that is there twice was read as its last value.
    let told = read(r#"{"id": "a", "gold": 1, "gold": 2, "answer": 1}"#).unwrap_err();
    assert!(
        told.to_string().contains("duplicate field `ground_truth`"),
        "{told}"
    );
}

/// The ways in which Python and spreadsheets end and begin files.
#[test]
fn arrays_and_objects_over_several_lines_are_read() {
    let rows = json!([{"id": "a", "prediction": "5"}, {"id": "b", "prediction": ["6"]}]);
    let pretty = serde_json::to_string_pretty(&rows).unwrap();
    let lines = |text: &str| {
        let rows = read(text).unwrap();
        rows.iter().map(|row| row.line).collect::<Vec<_>>()
    };
    assert_eq!(lines(&pretty), [2, 6]);
    assert_eq!(
        lines(&format!("\u{feff}{}", pretty.replace('\n', "\r\n"))),
        [2, 6]
    );
    assert_eq!(lines(&rows.to_string()), [1, 1]);
    let told = |text: &str| read(text).unwrap_err().to_string();
    assert!(told("[]").contains("holds no predictions"));
    assert!(told("[{\"id\": 1, \"answer\": 2},\n 5]").contains("line 2: not a JSON object"));
    assert!(told("[{\"id\": 1, \"answer\": 2},\n {\"id\"").contains("line 2: not a JSON object"));
}

/// A row for each question of the sample that is asked, in the official file's form.
fn official(mode: &str) -> Json {
    let mut rows = Vec::new();
    let tokens = |program: &Json| {
        let program = program.as_str().unwrap();
        finqa_core::program::tokens::tokenise(program)
    };
    for record in sample_records() {
        let id = record["id"].as_str().unwrap();
        if mode == "questions" {
            for (part, suffix) in [("qa", ""), ("qa_0", "_qa_0"), ("qa_1", "_qa_1")] {
                if let Some(program) = record[part].get("program") {
                    rows.push(json!({"id": format!("{id}{suffix}"), "predicted": tokens(program)}));
                }
            }
        } else {
            let programs = record["annotation"]["turn_program"].as_array().unwrap();
            for (turn, program) in programs.iter().enumerate() {
                rows.push(json!({"id": format!("{id}_{turn}"), "predicted": tokens(program)}));
            }
        }
    }
    json!(rows)
}

/// It was refused, and its tokens as JSONL scored 0.0 % with exit code 0.
#[rstest]
#[case::questions("questions", "qa")]
#[case::turns("conversations", "0")]
fn the_official_prediction_file_is_read_and_written_again(#[case] mode: &str, #[case] part: &str) {
    let place = Workplace::new();
    let rows = official(mode);
    let count = rows.as_array().unwrap().len();
    let written: Vec<String> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(Json::to_string)
        .collect();
    place.write("official.json", &rows.to_string());
    place.write("lines.jsonl", &written.join("\n"));
    let all_right = |ran: &Ran| {
        let card = ran.succeeds().json();
        for rule in [
            "financial_equivalence", "program_execution", "program_accuracy",
        ] {
            assert_eq!(card[rule], 1.0, "{rule}");
            assert_eq!(card[format!("{rule}_n")], count, "{rule}");
        }
    };
    for file in ["official.json", "lines.jsonl"] {
        let line = format!(
            "score {file} --data-path sample --json --export-predictions again-{mode}.json"
        );
        all_right(&place.run(&line));
        let again: Json = serde_json::from_str(&place.read(&format!("again-{mode}.json"))).unwrap();
        let ids = |rows: &Json| {
            rows.as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&again), ids(&rows));
        if mode == "conversations" {
            assert_eq!(again, rows);
        }
        std::fs::remove_file(place.path(&format!("again-{mode}.json"))).unwrap();
    }
    let first = read(&rows.to_string()).unwrap();
    let data = finqa_score::dataset::sample().unwrap();
    assert_eq!(rescore(first, Some(&data)).unwrap()[0].key.part, part);
    // It has no golds of its own.
    let told = "no gold to score its";
    place
        .run("score official.json")
        .fails(3, &["official.json", told, "--data-path"]);
    // What is not in the data is named as the file names it.
    place.write(
        "other.json",
        r#"[{"id": "Single_NONE/1/page_1.pdf-1_0", "predicted": ["EOF"]}]"#,
    );
    let line = "score other.json --data-path sample";
    place
        .run(line)
        .fails(3, &["line 1", "Single_NONE/1/page_1.pdf-1_0"]);
}

/// The command's own export, of both modes, has the scores of the run that it was made from.
#[test]
fn an_own_export_is_scored_as_the_run_that_it_was_made_from() {
    for mode in ["questions", "conversations"] {
        let place = Workplace::new();
        place
            .run(&format!("--data-path sample --quiet --mode {mode}"))
            .succeeds();
        let run = place.run("score last --json --export-predictions export.json");
        let export =
            place.run("score export.json --data-path sample --json --export-predictions two.json");
        let (run, export) = (run.succeeds().json(), export.succeeds().json());
        for rule in [
            "financial_equivalence", "execution_accuracy", "program_execution",
        ] {
            assert_eq!(
                run[format!("{rule}_n")],
                export[format!("{rule}_n")],
                "{mode} {rule}"
            );
        }
        assert_eq!(
            run["execution_accuracy"], export["execution_accuracy"],
            "{mode}"
        );
        assert_eq!(place.json("export.json"), place.json("two.json"), "{mode}");
    }
}

/// The dataset's own name of the gold, beside a prediction, was scored as the answer: FE 100 %.
#[test]
fn two_answers_of_a_row_are_refused_unless_they_are_the_same() {
    let row = |answer: &str| {
        read(&json!({"id": "r", "prediction": "12345", "answer": answer}).to_string())
    };
    let error = row("14.1%").unwrap_err().to_string();
    assert!(error.contains("line 1: two answers"), "{error}");
    assert!(error.contains("`ground_truth`"), "{error}");
    assert_eq!(row(" 12345 ").unwrap()[0].prediction, "12345");
    let own = "id,prediction,answer,outcome\nr,0.14136,14.1%,answered\n";
    assert_eq!(read(own).unwrap()[0].answer.as_deref(), Some("14.1%"));
}

/// Both were written as questions without an answer, or not at all.
#[test]
fn an_export_has_answers_without_programs_and_passes_that_begin_with_1() {
    let place = Workplace::new();
    let question = &sample_records()[0];
    let id = &question["id"];
    let row = |epoch: u32, answer: &str| {
        json!({"id": id, "part": "qa", "epoch": epoch, "prediction": answer}).to_string()
    };
    place.write("passes.jsonl", &[row(1, "14.1%"), row(2, "5")].join("\n"));
    let ran = place.run("score passes.jsonl --data-path sample --export-predictions out.json");
    ran.succeeds();
    let exported = place.json("out.json");
    assert_eq!(
        exported[0]["predicted"],
        json!(["add(", "0.141", "0", ")", "EOF"]),
        "{exported}"
    );
    assert_eq!(exported.as_array().map(Vec::len), Some(1));
}
