//! A server on OpenEnv's own framework, of both generations.

use std::path::Path;
use std::sync::Arc;

use finqa_env::tools::{ToolLimits, Tools};
use rstest::rstest;
use serde_json::{Value, json};

use super::{FIXTURE, episodes, fixture, knowing, play, truths};
use crate::support::cli::Workplace;
use crate::support::python::ScriptServer;

#[rstest]
#[case("openenv-0.2.3")]
#[case("openenv-0.10.0")]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
fn a_server_on_openenvs_own_framework_is_played(#[case] venv: &str) {
    let server = ScriptServer::framework(venv, Path::new(FIXTURE), 2);
    let place = Workplace::new();
    let model = knowing(truths(&fixture()));
    let base = model.base_url();
    let url = &server.url;
    let line = format!(
        "--model scripted --base-url {base} --url {url} -n 12 -j 2 --export-episodes a.jsonl"
    );
    let (ran, summary) = play(&place, &line);
    ran.succeeds();
    assert_eq!(summary["played"], 12);
    assert_eq!(summary["reward"]["mean"], 1.0, "{}", ran.stdout);
    // Its `state` holds the truth all the time; no model hears of it.
    for request in model.requests() {
        assert!(!String::from_utf8_lossy(&request.raw).contains("boxed"));
    }
    let lines = episodes(&place.path("a.jsonl"));
    assert!(lines.iter().all(|line| line["ground_truth"].is_string()));
    let (ran, summary) = play(
        &place,
        &format!("--url {url} -n 12 -j 2 --export-episodes b.jsonl"),
    );
    ran.succeeds();
    assert_eq!(summary["outcomes"], json!({"submitted": 12}));
    assert_eq!(summary["invalid_calls"], 0);
    let asked = compare_rows(&server);
    assert_eq!(tokio::runtime::Runtime::new().unwrap().block_on(asked), 48);
    // Sessions were ended in order: it has nothing to complain of.
    assert_eq!(server.end(), "");
}

/// What is asked of a table, by all its columns, the first and the last.
const QUERIES: [&str; 8] = [
    "SELECT {all} FROM {table} WHERE 1 = 1",
    "SELECT {all} FROM {table} WHERE {first} LIKE '%e%' ORDER BY {last} DESC LIMIT 3",
    "SELECT {first} AS a, COUNT(*) AS n, MAX({last}) AS m FROM {table} \
     WHERE {first} IS NOT NULL GROUP BY 1 ORDER BY 1",
    "SELECT {last} * 1.5 AS x, {last} / 3 AS y, ROUND({last}, 4) || '/é' AS z FROM {table} \
     WHERE {last} IS NOT NULL",
    "SELECT CAST(REPLACE({last}, ',', '') AS REAL) / 7 AS x, ROUND({last}, 1) AS r FROM {table} \
     WHERE 1 = 1",
    "SELECT AVG({last}) AS a, SUM({last}) AS s, MIN({last}) AS m, NULL AS n FROM {table} \
     WHERE 1 = 1",
    "SELECT {first} FROM {table} WHERE {first} IN ('no such value')",
    "SELECT CASE WHEN {last} > 0 THEN 1 ELSE 0.5 END AS c, LENGTH({first}) AS l FROM {table}",
];

/// It stands for OpenEnv's finqa_env where the load generator compares speeds: its queries have
/// the rows of ours, as pandas writes them. Gives their number.
async fn compare_rows(theirs: &ScriptServer) -> usize {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (client, mut compared) = (reqwest::Client::new(), 0);
    let tools = Tools::new(Arc::new(fixture()), ToolLimits::default());
    for (company, tables) in tools.catalog().companies() {
        for table in tables.keys() {
            let info = tools.get_table_info(company, table);
            let Ok(info) = serde_json::from_str::<Value>(&info) else {
                continue;
            };
            let columns = info["column_dtypes"].as_object().unwrap().keys();
            let columns: Vec<String> = columns.map(|name| format!("\"{name}\"")).collect();
            let (first, last) = (&columns[0], &columns[columns.len() - 1]);
            for query in QUERIES {
                let query = query.replace("{all}", &columns.join(", "));
                let query = query.replace("{first}", first).replace("{last}", last);
                let query = query.replace("{table}", &format!("\"{table}\""));
                let asked = json!({"company_name": company, "table_name": table, "query": query});
                let action =
                    json!({"type": "call_tool", "tool_name": "sql_query", "arguments": asked});
                let request = client.post(format!("{}/step", theirs.url));
                let answer = request.json(&json!({ "action": action })).send().await;
                let answer: Value = answer.unwrap().json().await.unwrap();
                let rows = tools.sql_query(company, table, &query);
                let seen = &answer["observation"]["result"]["data"];
                assert_eq!(*seen, rows, "{company}/{table}: {query}: {answer}");
                compared += 1;
            }
        }
    }
    compared
}
