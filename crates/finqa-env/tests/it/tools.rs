//! The tools' answers, compared with those of pandas and `SQLite` called as in OpenEnv's
//! `finqa_env`.

use std::path::Path;
use std::sync::Arc;

use finqa_env::data::{Catalog, FrameCell};
use finqa_env::tools::{FailureKind, ToolLimits, Tools};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(super) fn fixture() -> Arc<Catalog> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/finqa-env/data");
    Arc::new(Catalog::load(&path).unwrap())
}

pub(super) fn tools() -> Tools {
    Tools::new(fixture(), ToolLimits::default())
}

const INCOME: &str = "us_gaap_IncomeStatement";

#[test]
fn queries_answer_as_finqa_env_does() {
    let vectors: Value = serde_json::from_str(include_str!("../vectors/env_queries.json")).unwrap();
    let tools = tools();
    let mut wrong = Vec::new();
    for v in vectors["queries"].as_array().unwrap() {
        let text = |key: &str| v[key].as_str().unwrap();
        let got = tools.sql_query(text("company"), text("table"), text("query"));
        if got != text("result") {
            wrong.push(format!(
                "{}\n  got      {got}\n  expected {}",
                text("query"),
                text("result")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn table_of(json: &str) -> Tools {
    let dir = tempfile::tempdir().unwrap();
    let company = dir.path().join("input_companies/c");
    std::fs::create_dir_all(&company).unwrap();
    std::fs::create_dir_all(dir.path().join("benchmark_questions")).unwrap();
    std::fs::write(company.join("t.json"), json).unwrap();
    let questions = "id,user_query,company,answer\n1,q,c,a\n";
    std::fs::write(dir.path().join("benchmark_questions/finqa.csv"), questions).unwrap();
    let entry = json!({"c/t": {"table": json, "description": "d"}}).to_string();
    let metadata = dir
        .path()
        .join("input_companies/tables_cleaned_all_companies.json");
    std::fs::write(metadata, entry).unwrap();
    Tools::new(
        Arc::new(Catalog::load(dir.path()).unwrap()),
        ToolLimits::default(),
    )
}

#[test]
fn tables_are_typed_as_pandas_types_them() {
    let vectors: Value = serde_json::from_str(include_str!("../vectors/env_tables.json")).unwrap();
    for v in vectors.as_array().unwrap() {
        let tools = table_of(v["json"].as_str().unwrap());
        let columns = &tools.catalog().table("c", "t").unwrap().columns;
        let Ok(columns) = columns else {
            assert!(v.get("error").is_some(), "{v}: {columns:?}");
            continue;
        };
        assert!(v.get("error").is_none(), "{v}: {columns:?}");
        // Names are not compared: they are those of the file, but pandas may convert them to dates
        // or numbers.
        let typed: Vec<&str> = columns.iter().map(|c| c.kind.sql()).collect();
        let wanted = v["columns"].as_array().unwrap().iter();
        let wanted: Vec<&str> = wanted.map(|c| c[1].as_str().unwrap()).collect();
        assert_eq!(typed, wanted, "{v}");
        for (i, row) in v["rows"].as_array().unwrap().iter().enumerate() {
            for (column, expected) in columns.iter().zip(row.as_array().unwrap()) {
                let same = match (&column.cells[i], expected) {
                    (FrameCell::Null, Value::Null) => true,
                    (FrameCell::Integer(a), Value::Number(b)) => Some(*a) == b.as_i64(),
                    (FrameCell::Real(a), Value::String(b)) => b.parse() == Ok(*a),
                    // SQLite stores a number in a column of texts as text.
                    (FrameCell::Integer(a), Value::String(b)) => a.to_string() == *b,
                    (FrameCell::Text(a), Value::String(b)) => a == b,
                    // SQLite stores a bool in a column of texts as the text 0 or 1.
                    (FrameCell::Bool(a), Value::String(b)) => i64::from(*a).to_string() == *b,
                    _ => false,
                };
                assert!(same, "{v}: row {i}: {:?} for {expected}", column.cells[i]);
            }
        }
    }
}

#[test]
fn floats_are_printed_as_pandas_prints_them() {
    let vectors: Value = serde_json::from_str(include_str!("../vectors/env_queries.json")).unwrap();
    let floats: Vec<f64> = vectors["floats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_str().unwrap().parse().unwrap())
        .collect();
    let rows: Vec<Value> = floats
        .iter()
        .map(|x| json!({"x": format!("{x:e}")}))
        .collect();
    let tools = table_of(&Value::from(rows).to_string());
    let got = tools.sql_query("c", "t", "select x from t where 1");
    assert_eq!(got, vectors["printed"].as_str().unwrap());
}

#[test]
fn descriptions_are_a_sorted_list() {
    let tools = tools();
    assert_eq!(
        tools.get_descriptions("acme"),
        r#"["us_gaap_DebtInstruments", "us_gaap_IncomeStatement", "us_gaap_RevenueBySegment"]"#
    );
    assert_eq!(
        tools.get_descriptions("Acme"),
        "Error: 'Acme' not found. Available companies: ['acme', 'globex']"
    );
}

#[test]
fn table_info_is_the_measured_text() {
    let tools = tools();
    assert_eq!(
        tools.get_table_info("globex", "us_gaap_Shares-Outstanding.json"),
        r#"{"description": "shares_outstanding","column_names": ["class","shares","par"],"unique_vals_per_col": {"class": ["class_a","class_b"]},"company": "globex","column_dtypes": {"class": "str","shares": "str","par": "str"}}"#
    );
    assert_eq!(
        tools.get_table_info("initech", INCOME),
        "Error: 'initech' not found. Available companies: ['acme', 'globex']"
    );
    assert_eq!(
        tools.get_table_info("acme", "nope.json"),
        "Error: Table 'nope.json' not found for company 'acme'"
    );
}

/// In OpenEnv's `finqa_env`, `get_table_info` fails on native numbers and writes a missing value as
/// `NaN`.
#[test]
fn table_info_is_json_for_every_table() {
    let tools = tools();
    for (company, found) in tools.catalog().companies() {
        for table in found.keys() {
            let text = tools.get_table_info(company, table);
            if !text.starts_with("Error") {
                serde_json::from_str::<Value>(&text).unwrap();
            }
        }
    }
    let info = table_of(r#"{"a": ["x", null, "y"], "n": [1, 2, null], "b": [true, false, true]}"#);
    let info: Value = serde_json::from_str(&info.get_table_info("c", "t")).unwrap();
    assert_eq!(
        info["column_dtypes"],
        json!({"a": "str", "n": "float64", "b": "bool"})
    );
    assert_eq!(info["unique_vals_per_col"]["a"], json!(["x", null, "y"]));
    assert_eq!(info["unique_vals_per_col"]["n"], json!([1.0, 2.0, null]));
}

#[test]
fn a_column_is_found_under_the_heading_of_the_file() {
    let tools = table_of(r#"{"": ["a", "b"], "2024": ["1", "2"], "2023": ["3", "4"]}"#);
    let got = tools.sql_query("c", "t", r#"select "2024" from t where "" = 'b'"#);
    assert_eq!(got, r#"[{"2024":2}]"#);
    let got = table_of(r#"{"": ["a"], "total": ["1"]}"#)
        .sql_query("c", "t", r#"select total from t where "" = 'a'"#);
    assert_eq!(got, r#"[{"total":1}]"#);
}

#[test]
fn arguments_are_checked_before_a_call() {
    let tools = tools();
    let missing = "get_descriptions: missing required argument company_name";
    let extra = "get_descriptions: unexpected keyword argument extra";
    let typed = "get_descriptions: company_name should be a valid string";
    let company = json!({"company_name": "acme", "extra": 1});
    for (tool, arguments, kind, words) in [
        (
            "get_descriptions",
            json!({}),
            FailureKind::InvalidArgs,
            missing,
        ),
        ("get_descriptions", company, FailureKind::InvalidArgs, extra),
        (
            "get_descriptions",
            json!({"company_name": 5}),
            FailureKind::Execution,
            typed,
        ),
        (
            "x",
            json!({}),
            FailureKind::ToolNotFound,
            "Unknown tool: 'x'",
        ),
    ] {
        let failure = tools
            .call(tool, arguments.as_object().unwrap())
            .unwrap_err();
        assert_eq!(failure.kind, kind, "{failure}");
        assert_eq!(failure.message, words);
    }
    let ok = tools.call(
        "submit_answer",
        &Map::from_iter([("answer".to_owned(), json!("5"))]),
    );
    assert_eq!(ok.unwrap(), "Answer submitted: 5");
}

proptest! {
    /// Any text as a query, also with a `where` that satisfies the filter rule.
    #[test]
    fn any_query_is_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let tools = tools();
        for query in [text.to_string(), format!("select {text} where 1"), format!("select 1 where {text}")] {
            let answer = tools.sql_query("acme", INCOME, &query);
            prop_assert!(answer.starts_with('[') || answer.starts_with("Error"), "{answer}");
        }
    }

    /// Statements made of SQL's words, which are valid far more often.
    #[test]
    fn any_statement_is_answered(words in prop::collection::vec(prop::sample::select(vec![
        "select", "from", "where", "data", "line_item", "\"2024\"", "*", ",", "(", ")", "1", "'a'", "=",
        "union", "all", "in", "case", "when", "end", "count", "group", "by", "order", "limit", "with",
        "recursive", "x", "as", "join", "null", "is", "||", "-", "printf", "zeroblob", "like", ";",
    ]), 0..30)) {
        let answer = tools().sql_query("acme", INCOME, &words.join(" "));
        prop_assert!(answer.starts_with('[') || answer.starts_with("Error"), "{answer}");
    }
}
