//! Weak points of OpenEnv's `finqa_env`. Each has a test that it does not exist here: (a) names
//! that lead out of the data, (b) writing and memory, (c) time, (g) rewards without a question.
//! docs/finqa-wire.md lists all of them.

use std::time::Duration;

use finqa_env::episode::{Environment, EpisodeRules};
use finqa_env::tools::{ToolLimits, Tools, limit_process_memory};
use serde_json::json;

use super::episode::step;
use super::tools::{fixture, tools};

const INCOME: &str = "us_gaap_IncomeStatement";

fn sql(query: &str) -> String {
    tools().sql_query("acme", INCOME, query)
}

/// (a) `finqa_env` joins names to a path, so `..` and absolute names can read files of the host.
#[test]
fn a_names_never_reach_the_file_system() {
    let tools = tools();
    let root = env!("CARGO_MANIFEST_DIR");
    let fixture = format!("{root}/tests/fixtures/finqa-env/data/input_companies/acme");
    for name in [
        "..", ".", "", "/", "/etc", "../acme", "acme/", "acme/../acme",
        "../../data/input_companies/acme", &fixture, "acme\0",
    ] {
        let text = tools.get_descriptions(name);
        assert!(text.starts_with("Error: "), "{name}: {text}");
        for table in [INCOME, "../acme/us_gaap_IncomeStatement", "/etc/passwd"] {
            let info = tools.get_table_info(name, table);
            assert!(info.starts_with("Error: "), "{name} {table}: {info}");
            let rows = tools.sql_query(name, table, "select 1 where 1");
            assert!(
                rows.starts_with("Error: Table file not found"),
                "{name} {table}: {rows}"
            );
        }
    }
    for table in [
        "../globex/us_gaap_BalanceSheet", "../acme/us_gaap_IncomeStatement",
        "./us_gaap_IncomeStatement",
    ] {
        let rows = tools.sql_query("acme", table, "select 1 where 1");
        assert!(rows.starts_with("Error: Table file not found"), "{rows}");
    }
    // No reply reveals where the data are.
    for text in [
        tools.get_descriptions("x"),
        tools.sql_query("x", "y", "select 1 where 1"),
        tools.get_table_info("x", "y"),
    ] {
        assert!(!text.contains(root), "{text}");
    }
}

/// (b) `finqa_env` allows every statement, so a query can write files and attach databases.
#[test]
fn b_nothing_can_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.db").display().to_string();
    for query in [
        format!("vacuum into '{file}' -- where\n where"),
        format!("attach '{file}' as x where 1"),
        format!("attach '{file}' as \"case\" /* */ ; case"),
        "insert into us_gaap_IncomeStatement(line_item) select 'x' where 1".to_owned(),
        "update us_gaap_IncomeStatement set line_item = 'x' where 1".to_owned(),
        "delete from us_gaap_IncomeStatement where 1".to_owned(),
        "drop table us_gaap_IncomeStatement where".to_owned(),
        "create table x as select 1 where 1".to_owned(),
        "create temp table x as select 1 where 1".to_owned(),
        "create view v as select 1 where 1".to_owned(),
        "create virtual table v using fts5(a) where".to_owned(),
        "create trigger r after insert on data begin select 1 where 1; end".to_owned(),
        "with x as (select 1 where 1) delete from us_gaap_IncomeStatement".to_owned(),
        "select load_extension('x') where 1".to_owned(),
        "select readfile('/etc/passwd') where 1".to_owned(),
        format!("select writefile('{file}', 'x') where 1"),
        "select name from pragma_database_list where 1".to_owned(),
        "select fts3_tokenizer('simple') where 1".to_owned(),
        "begin; select 1 where 1".to_owned(),
        "explain delete from us_gaap_IncomeStatement where 1".to_owned(),
        "select line_item from us_gaap_IncomeStatement where 1; drop table us_gaap_IncomeStatement"
            .to_owned(),
    ] {
        let answer = sql(&query);
        assert!(
            answer.starts_with("Error executing query: "),
            "{query}: {answer}"
        );
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    for pragma in [
        "pragma writable_schema = 1", "pragma query_only = 0 -- where",
    ] {
        assert!(sql(pragma).starts_with("Error: Query must include filters"));
        assert!(sql(&format!("{pragma}\n; where")).starts_with("Error"));
    }
    let shared = tools();
    let _ = shared.sql_query("acme", INCOME, "update data set line_item = 'x' where 1");
    assert_eq!(
        shared.sql_query(
            "acme",
            INCOME,
            "select count(*) n from data where line_item = 'x'"
        ),
        r#"[{"n":0}]"#
    );
}

/// (b) In `finqa_env`, queries made strings of 300 MB and results of 8 MB.
#[test]
fn b_memory_is_bounded() {
    for query in [
        "select length(randomblob(1000000000)) where 1",
        "select zeroblob(1000000000) where 1",
        "select printf('%.*c', 1000000000, 'x') where 1",
        "select printf('%1000000000d', 1) where 1",
        "select replace(printf('%.*c', 30000, 'x'), 'x', printf('%.*c', 30000, 'y')) where 1",
        "with recursive t(x) as (select 1 union all select x + 1 from t limit 100000) select group_concat(x) from t where 1",
        "with recursive t(x) as (select 'x' union all select x || x from t) select max(length(x)) from t where 1",
        "with recursive t(x) as (select 1 union all select x + 1 from t) select x from t where 1",
        "select hex(hex(hex(hex(hex(hex(zeroblob(20000))))))) where 1",
    ] {
        let answer = sql(query);
        assert!(
            answer.starts_with("Error executing query: "),
            "{query}: {answer:.200}"
        );
        assert!(answer.len() < 1000, "{query}");
    }
    // These values are within the limit, but their escapes make the JSON six times as long.
    let escaped = "with recursive t(x) as (select 1 union all select x + 1 from t limit 12) \
        select x, replace(hex(zeroblob(16000)), '0', char(1)) as y from t where 1";
    // This result exceeds the limit of bytes before the limit of rows.
    let wide = "with recursive t(x) as (select 1 union all select x + 1 from t limit 30000) \
        select printf('%.*c', 30000, 'x') as x from t where 1";
    for query in [escaped, wide] {
        let said = sql(query);
        assert!(said.contains("is longer than 500000 bytes"), "{said:.200}");
    }
}

/// (b) The memory for sorting, grouping and recursion is limited for all queries together, and a
/// small query is answered while others use up that memory.
#[test]
fn b_other_queries_survive_one_that_takes_the_memory() {
    const HOG: &str = "with recursive t(x, y) as (select 1, printf('%.*c', 30000, 'x') union \
        select x + 1, y from t) select count(*) from t where 1";
    limit_process_memory(48 << 20).unwrap();
    let tools = Tools::new(
        fixture(),
        ToolLimits {
            query_time: Duration::from_secs(60),
            ..ToolLimits::default()
        },
    );
    std::thread::scope(|scope| {
        let hogs: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| tools.sql_query("acme", INCOME, HOG)))
            .collect();
        for _ in 0..50 {
            let n = tools.sql_query("acme", INCOME, "select count(*) n from data where 1");
            assert_eq!(n, r#"[{"n":8}]"#);
        }
        for hog in hogs {
            let answer = hog.join().unwrap();
            assert!(
                answer.ends_with("it needs more memory than a query may have"),
                "{answer}"
            );
        }
    });
}

/// (c) The time limit interrupts endless queries.
#[test]
fn c_endless_queries_are_interrupted() {
    let limits = ToolLimits {
        query_time: Duration::from_millis(30),
        query_steps: u64::MAX,
        ..ToolLimits::default()
    };
    let tools = Tools::new(fixture(), limits);
    for query in [
        "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t where 1",
        "with recursive t(x) as (select 1 union select x + 1 from t) select count(*) from t where 1",
        "select count(*) from data a, data b, data c, data d, data e, data f, data g, data h, data i, data j where 1",
    ] {
        let answer = tools.sql_query("acme", INCOME, query);
        assert!(
            answer.ends_with("interrupted: the limit is 30 ms"),
            "{query}: {answer}"
        );
    }
    // The table can still be queried.
    assert_eq!(
        tools.sql_query("acme", INCOME, "select count(*) n from data where 1"),
        r#"[{"n":8}]"#
    );
}

/// (g) In `finqa_env`, an empty answer before any reset equals the empty truth and earns 1.0.
#[test]
fn g_a_submission_without_a_question_is_worth_nothing() {
    for arguments in [
        json!({"answer": ""}),
        json!({}),
        json!({"answer": null}),
        json!({"answer": "x"}),
    ] {
        let mut environment = Environment::new(fixture(), EpisodeRules::default(), 1);
        let tools = tools();
        let outcome = step(&mut environment, &tools, "submit_answer", arguments);
        assert_eq!((outcome.reward, outcome.done), (Some(0.0), true));
        let error = outcome.metadata["error"].as_str().unwrap();
        assert!(error.contains("reset"), "{error}");
    }
}
