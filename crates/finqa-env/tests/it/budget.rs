//! Queries that a check of the clock between instructions does not stop. Each test ends one by a
//! limit that is independent of the machine's speed.

use std::time::Duration;

use finqa_env::tools::{ToolLimits, Tools};
use rstest::rstest;

use super::tools::fixture;

const INCOME: &str = "us_gaap_IncomeStatement";

fn answer(limits: ToolLimits, query: &str) -> String {
    Tools::new(fixture(), limits).sql_query("acme", INCOME, query)
}

/// These functions check the time limit themselves, because `SQLite` does not check it between
/// their calls without a loop.
#[rstest]
#[case("printf('%.*c', 30000, 'a') like '%a_b'")]
#[case("printf('%.*c', 30000, 'a') like '%a_b' escape '!'")]
#[case("printf('%.*c', 30000, 'a') glob '*a?b'")]
#[case("printf('%.*f', 30000, 1.5)")]
#[case("format('%d', 1)")]
#[case("strftime('%J', '2020-01-01', line_item)")]
#[case("replace(line_item, 'a', 'b')")]
fn one_call_checks_the_clock(#[case] call: &str) {
    let query = format!("select {call} as x from us_gaap_IncomeStatement where rowid = 1");
    let known = answer(ToolLimits::default(), &query);
    assert!(known.starts_with('['), "{known:.200}");
    let late = ToolLimits {
        query_time: Duration::ZERO,
        ..ToolLimits::default()
    };
    let said = answer(late, &query);
    assert!(
        said.ends_with("interrupted: the limit is 0 ms"),
        "{said:.200}"
    );
}

/// `SQLite`'s own LIKE takes time proportional to pattern times text within one instruction.
/// Without a loop, it is not interrupted between instructions either.
#[test]
fn nested_patterns_end_within_a_second() {
    let mut query = "select printf('%.*c', 30000, 'a') as a".to_owned();
    for _ in 0..9 {
        let like = format!("(a like '%{}b')", "a_".repeat(16));
        query = format!("select {like} || {like} || a as a from ({query})");
    }
    let began = std::time::Instant::now();
    let said = answer(ToolLimits::default(), &format!("{query} where 1"));
    assert!(said.starts_with("Error"), "{said:.200}");
    assert!(began.elapsed() < Duration::from_secs(1), "{said:.200}");
}

/// Each of these functions can take quadratic time, produce a text of any length, or load code.
#[rstest]
#[case("json_patch('{}', '{}')", "not authorized to use function: json_patch")]
#[case(
    "jsonb_patch('{}', '{}')",
    "not authorized to use function: jsonb_patch"
)]
#[case(
    "json_pretty('[1]', 'x')",
    "not authorized to use function: json_pretty"
)]
#[case("json_array_insert('[1]', '$[0]', 2)", "function: json_array_insert")]
#[case(
    "load_extension('x')",
    "not authorized to use function: load_extension"
)]
#[case("fts5_source_id()", "not authorized to use function: fts5_source_id")]
#[case("sqlite_log(1, 'x')", "not authorized to use function: sqlite_log")]
#[case("instr(x, y)", "string or blob too big")]
#[case("replace(x, y, 'z')", "string or blob too big")]
#[case("trim(x, y)", "string or blob too big")]
#[case(
    "x like replace(hex(zeroblob(60)), '0', 'a_')",
    "LIKE or GLOB pattern too complex"
)]
// A query can construct a format with thousands of conversions of any width.
#[case(
    "printf(replace(hex(zeroblob(1000)), '0', '%.9000f'))",
    "a format of 512 bytes and 64 arguments at most"
)]
fn a_call_without_a_bound_is_refused(#[case] call: &str, #[case] words: &str) {
    let texts = "select printf('%.*c', 30000, 'a') x, printf('%.*c', 15000, 'a') || 'b' y";
    let query = format!("select {call} as a from ({texts}) where 1");
    let said = answer(ToolLimits::default(), &query);
    assert!(said.ends_with(words), "{said:.200}");
}

/// Each level doubles the calls of the level below. The compiled statement exceeded the limit of
/// instructions, but was once reported as out of memory and ran again.
#[test]
fn a_statement_that_multiplies_its_calls_is_too_complex() {
    let mut query = "select line_item as a, 1 as b from data".to_owned();
    for _ in 0..12 {
        query = format!("select lower(a) || upper(a) as a, b from ({query})");
    }
    let tools = Tools::new(fixture(), ToolLimits::default());
    let said = tools.sql_query("acme", INCOME, &format!("{query} where b > 0"));
    assert!(
        said.ends_with("it is too complex: make it shorter"),
        "{said}"
    );
    let n = tools.sql_query("acme", INCOME, "select count(*) n from data where 1");
    assert_eq!(n, r#"[{"n":8}]"#);
}

/// A sort of any number of rows is one instruction, so the number of rows is limited.
#[test]
fn the_input_of_a_sort_is_bounded_by_steps() {
    let patient = ToolLimits {
        query_time: Duration::from_secs(600),
        query_steps: 200_000,
        ..ToolLimits::default()
    };
    let query = "select a.line_item from data a, data b, data c, data d, data e, data f, data g \
        where 1 order by random() limit 1";
    let said = answer(patient, query);
    assert!(
        said.ends_with("interrupted: the limit is 200000 steps of SQLite"),
        "{said}"
    );
}

/// A query that exceeds the brief budget but not the full one is answered.
#[test]
fn a_query_over_the_brief_budget_runs_to_its_end() {
    let query = "select count(*) n from data a, data b, data c, data d, data e where 1";
    let n = answer(
        ToolLimits {
            query_time: Duration::from_secs(600),
            ..ToolLimits::default()
        },
        query,
    );
    assert_eq!(n, r#"[{"n":32768}]"#);
    let wide = "with recursive t(x) as (select 1 union all select x + 1 from t limit 5000) \
        select x, 'a text of some length' as y from t where 1";
    let rows = answer(ToolLimits::default(), wide);
    assert!(rows.starts_with('[') && rows.len() > 65_536, "{rows:.200}");
}

/// Our NOCASE orders texts like `SQLite`'s own. It ignores only the case of ASCII letters, and puts
/// the shorter text first.
#[test]
fn nocase_orders_as_before() {
    let query = "with t(x) as (values ('b'), ('A'), ('a'), ('AB'), ('É'), ('é'), ('_'), ('Z')) \
        select group_concat(x, ' ') as x from (select x from t where 1 order by x collate nocase, x)";
    assert_eq!(
        answer(ToolLimits::default(), query),
        r#"[{"x":"_ A a AB b Z \u00c9 \u00e9"}]"#
    );
}
