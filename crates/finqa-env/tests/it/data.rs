//! Loading and checking data directories.

use std::path::Path;
use std::sync::Arc;

use finqa_env::data::{Catalog, EnvError, FrameCell};
use finqa_env::tools::{ToolLimits, Tools};

use super::tools::fixture;

/// A data directory with these questions and tables. Its metadata describe none of the tables.
fn directory(questions: &str, tables: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(&dir, "benchmark_questions/finqa.csv", questions);
    let metadata = "input_companies/tables_cleaned_all_companies.json";
    write(&dir, metadata, "{}");
    for (name, text) in tables {
        write(&dir, &format!("input_companies/{name}"), text);
    }
    dir
}

/// Writes a file of a data directory and creates its folders.
fn write(directory: &tempfile::TempDir, name: &str, text: &str) {
    let path = directory.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_fixture_is_read_and_its_gaps_are_named() {
    let report = fixture().check();
    assert_eq!(
        (report.companies, report.tables, report.questions),
        (2, 7, 12)
    );
    assert_eq!(report.problems.len(), 2, "{:?}", report.problems);
    assert!(report.problems[0].contains("orphan_file.json: not described"));
    assert!(report.problems[1].ends_with("ghost_table: there is no such table"));
}

#[test]
fn bad_directories_say_what_and_where() {
    let missing = Catalog::load(Path::new("no/such/folder")).unwrap_err();
    assert!(matches!(missing, EnvError::Io { .. }));
    assert!(missing.to_string().contains("finqa.csv"), "{missing}");

    let dir = directory("id,user_query,answer\n1,q,a\n", &[]);
    let text = Catalog::load(dir.path()).unwrap_err().to_string();
    assert!(text.ends_with("there is no column `company`"), "{text}");

    let dir = directory("id,user_query,company,answer\n1,q,c,\n", &[]);
    let text = Catalog::load(dir.path()).unwrap_err().to_string();
    assert!(text.contains("no questions in"), "{text}");

    let rows = "id,user_query,company,answer\n007,q,c,None\n2,q,c,a,too many\n3,q,nobody,5\n";
    let tables = [("c/bad.json", "{\"a\": "), ("c/t.json", "{\"a\": [1]}")];
    let dir = directory(rows, &tables);
    let catalog = Catalog::load(dir.path()).unwrap();
    let first = &catalog.questions()[0];
    assert_eq!((first.id.as_str(), first.answer.as_str()), ("007", "None"));
    let problems = catalog.check().problems.join("\n");
    for part in [
        "line 3: 5 fields", "bad.json: EOF", "no company `nobody`", "t.json: not described",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }

    let metadata = "input_companies/tables_cleaned_all_companies.json";
    write(&dir, metadata, "[1]");
    let text = Catalog::load(dir.path()).unwrap_err().to_string();
    assert!(text.contains("not the expected table metadata"), "{text}");
}

/// Python's `json` writes a missing number as `NaN`.
#[test]
fn a_nan_in_a_table_is_null_and_an_infinity_is_named() {
    let questions = "\u{feff}id,company,user_query,question,answer,answer\n1,a,q,q,1,2\n";
    let nan = r#"[{"x":NaN,"y":"NaN \" NaN"},{"x":1.5,"y":"\\"},{"x": NaN,"y":NaN}]"#;
    let tables = [
        ("a/marked.json", "\u{feff}[{\"x\":1}]"),
        ("a/nan.json", nan),
        ("a/lists.json", r#"[["item", 2019], ["sales", 5]]"#),
        ("a/inf.json", r#"[{"x":Infinity}]"#),
        ("a/word.json", r#"[{"x":NaNo}]"#),
    ];
    let dir = directory(questions, &tables);
    let metadata = r#"{"a/nan": {"table": "{\"x\": {\"0\": NaN}}", "company": NaN}}"#;
    write(
        &dir,
        "input_companies/tables_cleaned_all_companies.json",
        metadata,
    );
    let catalog = Catalog::load(dir.path()).unwrap();
    let problems = catalog.check().problems;
    for wanted in [
        "input_companies/a/inf.json: expected value at line 1 column 7",
        "input_companies/a/word.json: expected value at line 1 column 7",
    ] {
        assert!(problems.iter().any(|line| line == wanted), "{problems:?}");
    }
    let folder = dir.path().join("input_companies/a");
    std::fs::write(folder.join("latin.json"), b"[{\"x\":\"\xe9\"}]").unwrap();
    let latin = Catalog::load(dir.path()).unwrap().check().problems;
    assert!(
        latin
            .iter()
            .any(|line| line.contains("latin.json: invalid unicode")),
        "{latin:?}"
    );
    let cells = |table: &str, at: usize| {
        let columns = catalog.table("a", table).unwrap().columns.as_ref().unwrap();
        columns[at].cells.clone()
    };
    let text = |text: &str| FrameCell::Text(text.to_owned());
    let real = FrameCell::Real(1.5);
    assert_eq!(cells("nan", 0), [FrameCell::Null, real, FrameCell::Null]);
    let words = [text("NaN \" NaN"), text("\\"), FrameCell::Null];
    assert_eq!(cells("nan", 1), words);
    assert_eq!(cells("marked", 0), [FrameCell::Integer(1)]);
    assert_eq!(cells("lists", 0), [text("item"), text("sales")]);
    assert_eq!(catalog.check().tables, 3);
}

/// The last of such files was used without a word, and no tool found `x.txt`.
#[test]
fn files_with_the_same_table_name_are_a_problem_and_the_first_is_used() {
    let questions = "id,user_query,company,answer\n1,q,c,5\n";
    let tables = [
        ("c/a.json", "[{\"v\": 1}]"),
        ("c/a.json.json", "[{\"v\": 2}]"),
        ("c/a.txt.json", "[{\"v\": 3}]"),
        ("c/x.txt.json", "[{\"v\": 4}]"),
    ];
    let dir = directory(questions, &tables);
    let catalog = Catalog::load(dir.path()).unwrap();
    let problems = catalog.check().problems;
    let same = problems
        .iter()
        .filter(|line| line.contains("several files"));
    let same: Vec<_> = same.collect();
    let problem = "input_companies/c: several files have the table name `a`, and only the first is \
        used; rename the others";
    assert_eq!(same, [problem, problem]);
    let tools = Tools::new(Arc::new(catalog), ToolLimits::default());
    assert_eq!(tools.get_descriptions("c"), r#"["a", "x"]"#);
    for (table, value) in [("a", 1), ("a.json", 1), ("x", 4), ("x.txt", 4)] {
        let found = tools.sql_query("c", table, "select v from data where v > 0");
        assert_eq!(found, format!("[{{\"v\":{value}}}]"), "{table}");
    }
}

/// The lines named `x.json` and `y.json`, which do not exist.
#[test]
fn problems_of_a_table_name_its_file_with_every_ending() {
    let questions = "id,user_query,company,answer\n1,q,c,5\n";
    let tables = [("c/x.txt.json", "[{\"v\": 4}]"), ("c/y.txt.json", "[")];
    let dir = directory(questions, &tables);
    let problems = Catalog::load(dir.path()).unwrap().check().problems;
    for wanted in [
        "input_companies/c/x.txt.json: not described in the metadata",
        "input_companies/c/y.txt.json: EOF",
        "input_companies/c/y.txt.json: not described in the metadata",
    ] {
        let named = problems.iter().any(|line| line.starts_with(wanted));
        assert!(named, "no {wanted:?} in {problems:?}");
    }
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[test]
fn a_difficulty_that_is_not_a_number_is_named() {
    let rows = "id,user_query,company,answer,difficulty\n1,q,c,5,2\n2,q,c,5,easy\n3,q,c,5,\n";
    let dir = directory(rows, &[("c/t.json", "{\"a\": [1]}")]);
    let problems = Catalog::load(dir.path()).unwrap().check().problems;
    let named = problems.iter().filter(|line| line.contains("difficulty"));
    let named: Vec<_> = named.collect();
    assert_eq!(
        named,
        ["benchmark_questions/finqa.csv: line 3: the `difficulty` `easy` is not a number"]
    );
}

#[test]
fn the_hash_tells_tables_with_other_cells_apart() {
    let hash = |cell: &str| {
        let questions = "id,company,user_query,question,answer\n1,a,q,q,1\n";
        let table = format!(r#"[{{"item":"sales","2019":{cell}}}]"#);
        let dir = directory(questions, &[("a/t.json", &table)]);
        Catalog::load(dir.path()).unwrap().hash()
    };
    assert_eq!(hash("1"), hash("1"));
    assert_ne!(hash("1"), hash("2"));
}
