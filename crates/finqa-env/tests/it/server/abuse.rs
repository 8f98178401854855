//! Clients that mean no good, or think they do: each gets one clear error, its
//! session continues, and no other session notices.

use serde_json::{Value, json};

use super::{Socket, connect, options, post, start, start_changed, stop, tools};

const ENDLESS: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT MAX(x) AS m FROM c WHERE x > 0";

/// A company and one of its tables.
fn place() -> (String, String) {
    let tools = tools();
    let companies = tools.catalog().companies();
    let (company, found) = companies
        .iter()
        .find(|(_, company)| !company.is_empty())
        .expect("a company with tables");
    let table = found.keys().next().expect("a table");
    (company.clone(), table.clone())
}

/// OpenEnv's `finqa_env` has forty threads, and an endless query keeps one forever.
#[tokio::test]
async fn endless_queries_of_many_sessions_delay_nobody() {
    let server = start(options()).await;
    let (company, table) = place();
    let asked = |query: &str| json!({"company_name": company, "table_name": table, "query": query});
    let mut endless = Vec::new();
    for _ in 0..64 {
        let mut socket = Socket::open(&server, "/ws").await;
        let action = json!({"tool_name": "sql_query", "arguments": asked(ENDLESS)});
        socket
            .send(&json!({"type": "step", "data": action}).to_string())
            .await;
        endless.push(socket);
    }
    let mut other = Socket::open(&server, "/ws").await;
    for _ in 0..5 {
        let seen = other
            .step("sql_query", asked("SELECT 1 AS a WHERE 1 IN (1)"))
            .await;
        assert_eq!(seen["observation"]["result"]["data"], r#"[{"a":1}]"#);
    }
    for mut socket in endless {
        let answer = socket.answer().await.to_string();
        assert!(answer.contains("interrupted: the limit is"), "{answer}");
    }
    stop(server, other).await;
}

#[tokio::test]
async fn clients_that_vanish_in_a_step_free_their_slots() {
    let server = start_changed(|it| it.max_sessions = 8).await;
    let (company, table) = place();
    let asked = json!({"company_name": company, "table_name": table, "query": ENDLESS});
    let step = json!({"type": "step", "data": {"tool_name": "sql_query", "arguments": asked}});
    for _ in 0..4 {
        let mut opened = Vec::new();
        while opened.len() < 8 {
            let mut socket = Socket::open(&server, "/ws").await;
            // Refused as long as those that vanished are not known to be gone.
            let answer = socket.ask(json!({"type": "reset"})).await;
            if answer["type"] == "observation" {
                opened.push(socket);
            }
        }
        for socket in &mut opened {
            socket.send(&step.to_string()).await;
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_call_over_its_time_says_so() {
    let server = start(options()).await;
    let (company, table) = place();
    let asked = json!({"company_name": company, "table_name": table, "query": ENDLESS});
    let body = json!({"action": {"tool_name": "sql_query", "arguments": asked}, "timeout_s": 0.01});
    let (status, answer) = post(&server, "/step", &body.to_string()).await;
    assert_eq!(status, 200);
    assert_eq!(
        answer["observation"]["error"],
        json!({"error_type": "timeout", "message": "Tool 'sql_query' timed out after 0.01 seconds"})
    );
    server.stop().await;
}

#[tokio::test]
async fn a_deeply_nested_message_is_one_error() {
    let (server, mut socket) = connect().await;
    let deep = format!(
        "{{\"type\": {}1{}}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let answer = socket.raw(&deep).await;
    assert_eq!(answer["data"]["code"], "INVALID_JSON");
    assert!(answer.to_string().len() < 1000, "the answer is no flood");
    socket.state().await;
    stop(server, socket).await;
}

#[tokio::test]
async fn a_long_wrong_value_is_not_sent_back_whole() {
    let server = start(options()).await;
    let mut socket = Socket::open(&server, "/ws").await;
    let long = "x".repeat(50_000);
    let mut many: Value = (0..5_000).map(|n| (format!("key{n}"), json!(n))).collect();
    many["type"] = json!("state");
    for message in [
        json!({"type": long}),
        json!({"type": "step", "data": {"tool_name": "x", "arguments": long}}),
        json!({"type": "step", "data": {"tool_name": [long, long]}}),
        json!({"type": "step", "data": {"tool_name": long}}),
        json!({"type": "step", "data": {"tool_name": "x", "wrong": {"deep": long}}}),
        json!({"type": "state", &long: 1}),
        many,
    ] {
        let answer = socket.ask(message).await;
        assert!(
            answer.to_string().len() < 10_000,
            "{} bytes",
            answer.to_string().len()
        );
    }
    stop(server, socket).await;
}
