//! Hostile and faulty clients. Each gets one clear error, its session continues, and other sessions
//! are not disturbed.

use std::sync::Arc;
use std::time::Duration;

use finqa_env::episode::EpisodeRules;
use finqa_env::tools::{ToolLimits, Tools};
use serde_json::{Value, json};

use super::{Socket, asking, options, post, start, start_changed, step_message, stop};
use crate::support::running::RunningServer;

const ENDLESS: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT MAX(x) AS m FROM c WHERE x > 0";

/// In OpenEnv's `finqa_env`, an endless query occupies one of forty threads forever.
#[tokio::test]
async fn endless_queries_of_many_sessions_delay_nobody() {
    let limits = ToolLimits {
        query_time: Duration::from_millis(50),
        ..ToolLimits::default()
    };
    let tools = Arc::new(Tools::new(crate::tools::fixture(), limits));
    let server = RunningServer::start(tools, EpisodeRules::default(), options()).await;
    let endless = step_message("sql_query", asking(ENDLESS)).to_string();
    let mut waiting = Vec::new();
    for _ in 0..64 {
        let mut socket = Socket::open(&server, "/ws").await;
        socket.send(&endless).await;
        waiting.push(socket);
    }
    let mut other = Socket::open(&server, "/ws").await;
    for _ in 0..5 {
        let seen = other
            .step("sql_query", asking("SELECT 1 AS a WHERE 1 IN (1)"))
            .await;
        assert_eq!(seen["observation"]["result"]["data"], r#"[{"a":1}]"#);
    }
    for socket in &mut waiting {
        let answer = socket.answer().await.to_string();
        assert!(answer.contains("interrupted: the limit is"), "{answer}");
    }
    stop(server, (other, waiting)).await;
}

#[tokio::test]
async fn clients_that_vanish_in_a_step_free_their_slots() {
    let server = start_changed(|it| it.max_sessions = 8).await;
    let step = step_message("sql_query", asking(ENDLESS)).to_string();
    for _ in 0..4 {
        let mut opened = Vec::new();
        while opened.len() < 8 {
            let mut socket = Socket::open(&server, "/ws").await;
            // Requests are refused until the server notices that the clients of the last round are
            // gone.
            let answer = socket.ask(json!({"type": "reset"})).await;
            if answer["type"] == "observation" {
                opened.push(socket);
            }
        }
        for socket in &mut opened {
            socket.send(&step).await;
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_call_over_its_time_says_so() {
    let server = start(options()).await;
    let action = json!({"tool_name": "sql_query", "arguments": asking(ENDLESS)});
    let body = json!({"action": action, "timeout_s": 0.01});
    let (status, answer) = post(&server, "/step", &body.to_string()).await;
    assert_eq!(status, 200);
    assert_eq!(
        answer["observation"]["error"],
        json!({"error_type": "timeout", "message": "Tool 'sql_query' timed out after 0.01 seconds"})
    );
    server.stop().await;
}

#[tokio::test]
async fn a_long_wrong_value_is_not_sent_back_whole() {
    let server = start(options()).await;
    let mut socket = Socket::open(&server, "/ws").await;
    let long = "x".repeat(50_000);
    let deep = ["[".repeat(50_000), "]".repeat(50_000)].concat();
    let mut many: Value = (0..5_000).map(|n| (format!("key{n}"), json!(n))).collect();
    many["type"] = json!("state");
    for message in [
        deep,
        json!({"type": long}).to_string(),
        json!({"type": "step", "data": {"tool_name": "x", "arguments": long}}).to_string(),
        json!({"type": "step", "data": {"tool_name": [long, long]}}).to_string(),
        json!({"type": "step", "data": {"tool_name": long}}).to_string(),
        json!({"type": "step", "data": {"tool_name": "x", "wrong": {"deep": long}}}).to_string(),
        json!({"type": "state", &long: 1}).to_string(),
        many.to_string(),
    ] {
        let answer = socket.raw(&message).await.to_string();
        assert!(answer.len() < 10_000, "{message:.60}: {answer:.200}");
    }
    socket.state().await;
    stop(server, socket).await;
}
