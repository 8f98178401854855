//! `convfinqa env build`: what it makes, what it leaves out, what it refuses.

use std::path::Path;
use std::sync::Arc;

use finqa_core::number::Value as Executed;
use finqa_env::data::Catalog;
use finqa_env::reward::{RewardMode, compute_reward};
use finqa_env::tools::{ToolLimits, Tools};
use finqa_run::env_build::{build, builtin, question_key};
use finqa_score::dataset::{Dataset, from_str, sample};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::cli::Workplace;
use crate::support::published::{self, TEN};

const PAGE: &str = "ZED/2001/page_1.pdf";

/// A record of an invented company; `qa` is its stand-alone question.
fn record(page: &str, n: &str, qa: Value) -> Value {
    json!({
        "id": format!("Single_{page}-{n}"),
        "filename": page,
        "pre_text": ["zed is an invented company .", "it sold 40 units ."],
        "post_text": ["that is all ."],
        "table": [["", "2001", "2001"], ["sales", "$ 10.5", "12"], ["costs", "4", ""]],
        "qa": qa,
        "annotation": {
            "dialogue_break": ["what were sales?"],
            "turn_program": ["10.5"],
            "exe_ans_list": [10.5],
            "qa_split": [0]
        }
    })
}

fn in_cells() -> Value {
    json!({"question": "what is left?", "answer": "6.5", "program": "subtract(10.5, 4)", "exe_ans": 6.5})
}

fn in_text() -> Value {
    json!({"question": "sales of a unit?", "answer": "0.26", "program": "divide(10.5, 40)", "exe_ans": 0.2625})
}

fn records() -> Value {
    let without_gold = json!({"question": "nobody knows?"});
    json!([
        record(PAGE, "1", in_cells()),
        record(PAGE, "2", in_text()),
        record("YAK/2001/page_9.pdf", "1", without_gold),
    ])
}

fn dataset(records: &Value) -> Dataset {
    from_str("test.json", &records.to_string()).unwrap()
}

fn files_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_in(&path));
        } else {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}

#[test]
fn build_says_what_it_made_and_what_it_left_out() {
    let place = Workplace::new();
    place.write("records.json", &records().to_string());
    let built = place.run("env build --data-path records.json --output made");
    built.succeeds();
    assert_eq!(
        built.stdout,
        "made: 2 questions about 1 company, 2 tables: 1 page with their sentences\n\
         left out: 1 stand-alone question without gold\n\
         left out: 3 turns of conversations, which cannot be asked alone\n\
         serve it: convfinqa env serve --data-path made\n"
    );
    let checked = place.run("env check --data-path made");
    checked.succeeds();
    assert_eq!(checked.stdout, "made: 1 company, 2 tables, 2 questions\n");
}

#[test]
fn a_page_becomes_a_table_and_its_sentences() {
    let folder = tempfile::tempdir().unwrap();
    build(&dataset(&records()), folder.path()).unwrap();
    let catalog = Catalog::load(folder.path()).unwrap();
    let tools = Tools::new(Arc::new(catalog), ToolLimits::default());
    assert_eq!(
        tools.get_descriptions("ZED"),
        r#"["ZED_2001_page_1", "ZED_2001_page_1_text"]"#
    );
    let info = tools.get_table_info("ZED", "ZED_2001_page_1");
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["column_names"], json!(["item", "2001", "2001_2"]));
    assert_eq!(
        info["unique_vals_per_col"]["item"],
        json!(["sales", "costs"])
    );
    for (table, query, rows) in [
        (
            "ZED_2001_page_1",
            "select \"2001\" a, \"2001_2\" b from data where item = 'sales'",
            r#"[{"a":"$ 10.5","b":"12"}]"#,
        ),
        (
            "ZED_2001_page_1_text",
            "select row, sentence from data where sentence like '%40 units%'",
            r#"[{"row":2,"sentence":"it sold 40 units ."}]"#,
        ),
    ] {
        assert_eq!(tools.sql_query("ZED", table, query), rows);
    }
    let keys: Vec<_> = tools
        .catalog()
        .questions()
        .iter()
        .map(|question| question_key(&question.id).unwrap().to_string())
        .collect();
    assert_eq!(
        keys,
        [
            "Single_ZED/2001/page_1.pdf-1 (qa)", "Single_ZED/2001/page_1.pdf-2 (qa)"
        ]
    );
    assert!(
        tools.catalog().questions()[0]
            .question
            .contains("`ZED_2001_page_1`")
    );
}

/// Two pages of one name, and a page whose own name is the other's second.
#[test]
fn no_two_pages_share_a_name() {
    let mut all = records();
    let other = |page: &str, cell: &str| {
        let mut other = record(page, cell, in_cells());
        other["table"][1][1] = cell.into();
        other
    };
    let mut text = record(PAGE, "5", in_cells());
    text["post_text"] = json!(["another edition ."]);
    let list = all.as_array_mut().unwrap();
    list.extend([
        other(PAGE, "77"),
        other("ZED/2001/page_1_2.pdf", "88"),
        text,
    ]);
    let folder = tempfile::tempdir().unwrap();
    build(&dataset(&all), folder.path()).unwrap();
    let catalog = Catalog::load(folder.path()).unwrap();
    let report = catalog.check();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!((report.tables, report.questions), (8, 5));
    let tools = Tools::new(Arc::new(catalog), ToolLimits::default());
    for question in tools.catalog().questions() {
        let page = question.question.split('`').nth(3).unwrap();
        let query = "select \"2001\" a from data where item = 'sales'";
        let cell = tools.sql_query("ZED", page, query);
        let id = &question.id;
        let expected = match id.rsplit_once('-').unwrap().1 {
            "77#qa" => "77",
            "88#qa" => "88",
            _ => "$ 10.5",
        };
        assert!(cell.contains(expected), "{id}: {page}: {cell}");
    }
}

#[test]
fn a_build_replaces_an_earlier_one_whole_and_nothing_else() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/thesis.txt", "years of work");
    let refused = place.run("env build --data-path sample --output mine");
    refused.fails(
        2,
        &["mine holds other files, such as thesis.txt", "an empty one"],
    );
    assert_eq!(files_in(&place.path("mine")).len(), 1);

    let made = place.path("made");
    let make = |from: &Dataset| build(from, &made).unwrap();
    make(&dataset(&records()));
    assert!(place.path("made/input_companies/ZED").exists());
    make(&sample().unwrap());
    assert!(!place.path("made/input_companies/ZED").exists());
    let catalog = Catalog::load(&made).unwrap();
    assert_eq!(catalog.check().problems, Vec::<String>::new());
    assert!(catalog.invented(), "the sample stays the invented one");
    // As after a crash before the last file.
    let before = files_in(&made);
    std::fs::remove_file(made.join("benchmark_questions/finqa.csv")).unwrap();
    let error = Catalog::load(&made).unwrap_err().to_string();
    assert!(error.contains("finqa.csv"), "{error}");
    make(&sample().unwrap());
    assert_eq!(files_in(&made), before);
}

/// A note of another format was read as one of this program.
#[test]
fn a_note_of_another_format_or_version_is_refused_with_what_to_do() {
    let place = Workplace::new();
    build(&sample().unwrap(), &place.path("made")).unwrap();
    let note = place.read("made/convfinqa-env.json");
    for (note, said) in [
        (
            note.replace("convfinqa environment", "another"),
            "its format is \"another\"",
        ),
        (
            note.replace("\"version\":1", "\"version\":2"),
            "version 2, not 1",
        ),
        (
            note.replace("\"version\":1", "\"version\":2")
                .replace("\"source\":", "\"from\":"),
            "version 2, not 1",
        ),
        ("{".to_owned(), "not a note of this version: EOF"),
    ] {
        place.write("made/convfinqa-env.json", &note);
        for command in [
            "check --data-path made", "build --data-path sample --output made",
        ] {
            let ran = place.run(&format!("env {command}"));
            ran.fails(3, &["convfinqa-env.json: ", said, "again in a new folder"]);
        }
    }
}

#[test]
fn the_builtin_data_are_sound_and_playable() {
    let catalog = builtin().unwrap();
    let report = catalog.check();
    assert_eq!(report.problems, Vec::<String>::new());
    assert!(catalog.invented() && report.questions > 0);
    for question in catalog.questions() {
        let truth = &question.answer;
        let inside = truth.trim_start_matches("\\boxed{").trim_end_matches('}');
        let reward = compute_reward(inside, truth, 0.01, 1.0, RewardMode::Strict);
        assert_eq!(reward, Ok(1.0), "{question:?}");
    }
    let tools = Tools::new(Arc::new(catalog), ToolLimits::default());
    for (company, found) in tools.catalog().companies() {
        for (name, table) in found {
            let first = &table.columns.as_ref().unwrap()[0].name;
            let query = format!("select count(\"{first}\") from {name} where 1");
            let answer = tools.sql_query(company, name, &query);
            assert!(answer.starts_with("[{"), "{company}/{name}: {answer}");
        }
    }
}

#[test]
fn what_is_built_is_what_is_loaded() {
    let out = tempfile::tempdir().unwrap();
    let dataset = sample().unwrap();
    let report = build(&dataset, out.path()).unwrap();
    let loaded = Catalog::load(out.path()).unwrap();
    let direct = builtin().unwrap();
    assert_eq!(loaded.questions(), direct.questions());
    assert_eq!(loaded.hash(), direct.hash());
    let check = loaded.check();
    assert_eq!(
        (check.companies, check.tables, check.questions),
        (report.companies, report.tables, report.questions)
    );
}

/// Every truth can be earned: by itself, and by what the gold program yields or,
/// where the typed answer disagrees with that, by what was typed.
#[rstest]
#[case::ten(TEN, [15, 12, 14])]
#[ignore = "needs the published files"]
#[case::needs_data_train("train_first100.json", [124, 107, 88])]
#[ignore = "needs the published files"]
#[case::needs_data_unabridged("train_first25_unabridged.json", [33, 26, 32])]
fn gold_answers_of_real_records_earn_one(#[case] name: &str, #[case] figures: [usize; 3]) {
    let [asked, by_typed, by_executed] = figures;
    let records = published::records(name);
    let catalog = finqa_run::env_build::catalog(&records).unwrap();
    assert_eq!(catalog.check().problems, Vec::<String>::new());
    assert_eq!(catalog.questions().len(), asked);
    let (mut typed, mut executed) = (0, 0);
    for question in catalog.questions() {
        let key = question_key(&question.id).unwrap();
        let record = records.record(&key.id).unwrap();
        let case = record
            .questions
            .iter()
            .find(|c| c.question.key == key)
            .unwrap();
        let earns = |answer: &str| {
            [RewardMode::Strict, RewardMode::OpenEnv]
                .into_iter()
                .all(|mode| compute_reward(answer, &question.answer, 0.01, 1.0, mode) == Ok(1.0))
        };
        assert!(earns(&question.answer), "{key}: {}", question.answer);
        let as_typed = earns(case.gold.answer.as_deref().unwrap_or_default());
        let as_executed = match &case.gold.exe_ans {
            // A program may yield a percentage or its hundredth.
            Some(Executed::Number(x)) => earns(&x.to_string()) || earns(&format!("{x}%")),
            Some(Executed::Text(word)) => earns(word),
            None => false,
        };
        typed += usize::from(as_typed);
        executed += usize::from(as_executed);
        let (answer, value) = (&case.gold.answer, &case.gold.exe_ans);
        assert!(
            as_typed || as_executed,
            "{key}: neither {answer:?} nor {value:?} earns {}",
            question.answer
        );
    }
    assert_eq!((typed, executed), (by_typed, by_executed));
}
