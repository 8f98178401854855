//! The formats that others build on: what is written follows the schemas in `docs`, and the pages
//! that describe it are complete.

use serde_json::{Value, json};

use crate::support::agents::scripted;
use crate::support::cli::{Workplace, csv_rows};
use crate::support::fault_server::FaultServer;
use crate::support::schema::Schema;

fn schema(text: &str) -> Schema {
    Schema::new(&serde_json::from_str(text).unwrap())
}

/// The schema of what one command prints.
fn printed(command: &str) -> Schema {
    let mut all: Value = serde_json::from_str(include_str!("../../docs/json.schema.json")).unwrap();
    let fields = all.as_object_mut().unwrap();
    fields.retain(|name, _| name == "$defs" || name == "$schema");
    fields.insert("$ref".to_owned(), json!(format!("#/$defs/{command}")));
    Schema::new(&all)
}

/// Runs of three kinds: by the embedded analyst, by a chat model, and episodes.
fn three_runs(place: &Workplace) {
    place.run("--data-path sample --n 5 -q").succeeds();
    let server = FaultServer::start(scripted);
    let model = "-q -n 4 --mode conversations --critic llm";
    place.chat(&server, model).succeeds();
    let played = place.run("env play --n 3 -q");
    assert!(matches!(played.code, Some(0 | 4)), "{}", played.stderr);
}

#[test]
fn rows_and_transcripts_of_runs_follow_their_schemas() {
    let place = Workplace::new();
    three_runs(&place);
    let rows = schema(include_str!("../../docs/output-csv.schema.json"));
    let lines = schema(include_str!("../../docs/transcripts.schema.json"));
    let summary = schema(include_str!("../../docs/summary.schema.json"));
    let folders = std::fs::read_dir(place.path("output/runs")).unwrap();
    let folders: Vec<_> = folders.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 3);
    for folder in &folders {
        let found = csv_rows(&folder.join("output.csv"));
        assert!(!found.is_empty());
        for row in found {
            rows.accepts(&json!(row));
        }
        let transcripts = std::fs::read_to_string(folder.join("transcripts.jsonl")).unwrap();
        for line in transcripts.lines() {
            lines.accepts(&serde_json::from_str(line).unwrap());
        }
        let text = std::fs::read(folder.join("summary.json")).unwrap();
        summary.accepts(&serde_json::from_slice(&text).unwrap());
    }
    let mut wrong = json!(csv_rows(&folders[0].join("output.csv"))[0]);
    wrong["exact_match"] = "maybe".into();
    assert!(!rows.is_valid(&wrong), "the schema can refuse");
    assert!(!lines.is_valid(&json!({"format": 3})));
    assert!(!lines.is_valid(&json!({"shared": []})));
}

#[test]
fn what_commands_print_as_json_follows_its_schema() {
    let place = Workplace::new();
    three_runs(&place);
    let question = "what was net cash from operating activities in 2019?";
    place.write(
        "page.md",
        "| | 2019 | 2018 |\n|---|---|---|\n| revenue | 120 | 100 |\n",
    );
    for (line, name) in [
        ("score last --json", "score"),
        ("analyze output --json", "analyze"),
        ("compare output output --json", "compare"),
        ("compare output output output --json", "compare_several"),
        ("runs --json", "runs"),
    ] {
        printed(name).accepts(&place.run(line).json());
    }
    // The answer to several figures is a list.
    for question in [question, "what was revenue in 2019 and 2018?"] {
        let mut ask = place.command();
        ask.args(["ask", "page.md", question, "--json"]);
        let answered = ask.output().unwrap().stdout;
        printed("ask").accepts(&serde_json::from_slice(&answered).unwrap());
        let explained = ask.arg("--explain").output().unwrap().stdout;
        let mut explained: Value = serde_json::from_slice(&explained).unwrap();
        printed("ask").accepts(&explained);
        explained["explanation"]["sure"] = "maybe".into();
        assert!(!printed("ask").is_valid(&explained));
    }
    assert!(!printed("score").is_valid(&json!({"complete": true})));
}

#[test]
fn the_page_of_columns_has_every_column_in_order() {
    let place = Workplace::new();
    place.run("--data-path sample --n 1 -q").succeeds();
    let csv = place.read("output/output.csv");
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let page = include_str!("../../docs/output-csv.md");
    let lines = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let described: Vec<&str> = lines.filter_map(|line| line.split('`').next()).collect();
    assert_eq!(described, header);
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/output-csv.schema.json")).unwrap();
    assert_eq!(schema["required"], json!(header));
}

/// The format of records was described nowhere, and no file was said to serve every command.
#[test]
fn the_example_of_an_evaluation_set_works_for_every_command() {
    let page = include_str!("../../docs/evaluation-set.md");
    let example = page.split("```json\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    assert!(example.lines().count() <= 10);
    let place = Workplace::new();
    place.write("own.json", example);
    let checked = place.run("data check own.json");
    checked
        .succeeds()
        .prints("records    2 (2 Single, 0 Double) on 2 pages");
    checked
        .prints("missing    1 of 2 records without `pre_text` and `post_text`: the agents see")
        .prints("missing    1 of 2 records without a stand-alone question: asked by");
    place.run("--data-path own.json -q").succeeds();
    let asked = place.run("--data-path own.json");
    asked
        .succeeds()
        .tells("1 of 2 records without a stand-alone question, so not asked");
    let turns = place.run("--data-path own.json --mode conversations");
    turns
        .succeeds()
        .tells("1 of 2 records without a conversation, so not asked");
    let rows = "id,part,prediction\nACME/2033/page_12.pdf-1,qa,16%\n\
                ACME/2033/page_13.pdf-1,0,310\nACME/2033/page_13.pdf-1,1,30\n";
    place.write("answers.csv", rows);
    let scored = place.run("score answers.csv --data-path own.json --json");
    let scored = scored.succeeds().json();
    assert_eq!(
        (&scored["financial_equivalence"], &scored["complete"]),
        (&json!(1.0), &json!(true))
    );
    for line in [
        "--data-path own.json -o questions",
        "--data-path own.json --mode conversations -o conversations",
    ] {
        assert!(page.contains(&format!("\nconvfinqa {line}\n")), "{line}");
        place.run(line).succeeds();
    }
    let turns = place.read("conversations/output.csv");
    let (_, turns) = turns.split_once('\n').unwrap();
    place.write("both.csv", &(place.read("questions/output.csv") + turns));
    let scored = place.run("score both.csv --data-path own.json --json");
    let scored = scored.succeeds().json();
    assert_eq!(
        (&scored["questions"], &scored["complete"]),
        (&json!(3), &json!(true))
    );
    place
        .run("env build --data-path own.json -o environment")
        .succeeds();
    assert!(
        place
            .read("environment/benchmark_questions/finqa.csv")
            .contains("16")
    );
}

#[test]
fn data_check_says_what_records_lack() {
    let place = Workplace::new();
    let table = json!([["", "2001"], ["sales", "40"]]);
    let records = json!([
        {"id": "a", "table": table, "qa": {"question": "what were sales?"}},
        {"id": "b", "filename": "p", "pre_text": ["text ."], "table": table,
         "qa": {"question": "what were sales?", "answer": "40"}},
        {"id": "c", "filename": "p", "pre_text": ["text ."], "table": table,
         "annotation": {"dialogue_break": ["what were sales?"], "turn_program": ["40"]}},
    ]);
    place.write("own.json", &records.to_string());
    let checked = place.run("data check own.json");
    for words in [
        "1 of 3 records whose `filename` is missing or is the `id`: each counts as a page",
        "1 of 3 records without `pre_text` and `post_text`",
        "1 of 2 stand-alone questions without a gold: asked, but not scored",
        "1 of 2 stand-alone questions with a gold but no program",
        "1 of 2 stand-alone questions with a gold but no value (`exe_ans`)",
        "2 of 3 records without a conversation",
    ] {
        checked.prints(&format!("missing    {words}"));
    }
    place
        .run("data check own.json --data-path own.json")
        .ends(2);
}
