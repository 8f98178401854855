//! `/metrics` counts correctly, and no client can choose the value of a label.

use serde_json::json;

use super::{
    JSON, Socket, create_session, options, post, request, rpc, start_changed, start_with, stop,
};
use crate::support::running::RunningServer;
use finqa_env::episode::EpisodeRules;

async fn metrics(server: &RunningServer, sent: &[(&str, &str)]) -> String {
    let (status, headers, text) = request(server, "GET", "/metrics", sent, "").await;
    assert_eq!(status, 200);
    assert_eq!(
        headers["content-type"],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(text.ends_with("# EOF\n"), "{text}");
    text
}

/// The value of a series. `series` is its name as in the text, with labels.
fn value(text: &str, series: &str) -> f64 {
    let found = text
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let found = found.unwrap_or_else(|| panic!("no {series} in\n{text}"));
    found.parse().expect("a number")
}

#[tokio::test]
async fn metrics_count_what_was_done() {
    let rules = EpisodeRules {
        max_steps: 3,
        ..EpisodeRules::default()
    };
    let server = start_with(options(), rules).await;
    let mut socket = Socket::open(&server, "/ws").await;
    let company = socket.reset(json!({})).await["data"]["metadata"]["company"].clone();
    for (tool, arguments) in [
        ("get_descriptions", json!({"company_name": company})),
        ("nonsense", json!({})),
        ("get_table_info", json!({})),
    ] {
        socket.step(tool, arguments).await;
    }
    // A submission after the end counts neither as an ending nor as a reward.
    socket
        .step("submit_answer", json!({"answer": "late"}))
        .await;
    let mut truth = json!("wrong");
    for reward in [0.0, 1.0] {
        socket.reset(json!({"seed": 5})).await;
        let ended = socket.step("submit_answer", json!({"answer": truth})).await;
        assert_eq!(ended["reward"], reward);
        truth = ended["metadata"]["ground_truth"].clone();
    }
    socket.ask(json!({"type": "no such message"})).await;
    socket.raw("not JSON").await;
    let id = create_session(&server).await;
    let call = json!({"name": "get_descriptions", "arguments": {"company_name": company}, "session_id": id});
    rpc(&server, "tools/call", call).await;
    rpc(
        &server,
        "tools/call",
        json!({"name": "x", "session_id": "zzz"}),
    )
    .await;
    assert_eq!(post(&server, "/step", "{}").await.0, 422);

    let text = metrics(&server, &[]).await;
    let is = |series: &str, wanted: f64| {
        assert_eq!(value(&text, series), wanted, "{series} in\n{text}");
    };
    for (series, wanted) in [
        ("finqa_sessions", 2.0),
        ("finqa_sessions_opened_total", 2.0),
        ("finqa_episodes_started_total", 3.0),
        (r#"finqa_episodes_ended_total{ending="submitted"}"#, 2.0),
        (r#"finqa_episodes_ended_total{ending="step_limit"}"#, 1.0),
        ("finqa_rewards_total", 1.0),
        (r#"finqa_rejections_total{reason="invalid"}"#, 3.0),
        (r#"finqa_rejections_total{reason="unknown_session"}"#, 1.0),
        (r#"finqa_rejections_total{reason="memory"}"#, 0.0),
    ] {
        is(series, wanted);
    }
    for (kind, tool, wanted) in [
        ("step", "get_descriptions", 1.0),
        ("step", "get_table_info", 1.0),
        ("step", "submit_answer", 3.0),
        ("step", "unknown", 1.0),
        ("call", "get_descriptions", 1.0),
    ] {
        let labels = format!(r#"{{kind="{kind}",tool="{tool}"}}"#);
        is(&format!("finqa_tool_seconds_count{labels}"), wanted);
    }
    for error in ["tool_not_found", "invalid_args"] {
        let labels = format!(r#"{{kind="step",error="{error}"}}"#);
        is(&format!("finqa_tool_errors_total{labels}"), 1.0);
    }
    stop(server, socket).await;
}

#[tokio::test]
async fn rejections_are_counted_by_reason() {
    let server = start_changed(|it| {
        it.max_sessions = 1;
        it.bearer_token = Some("s3cret".to_owned().into());
    })
    .await;
    let token = ("authorization", "Bearer s3cret");
    let with_token = "/ws?access_token=s3cret";
    let mut held = Socket::open(&server, with_token).await;
    held.ask(json!({"type": "state"})).await;
    let mut refused = Socket::open(&server, with_token).await;
    refused.next().await;
    let large = "x".repeat(130 * 1024);
    held.send(&large).await;
    assert_eq!(held.close_code().await, Some(1009));
    assert_eq!(
        request(&server, "POST", "/reset", &[JSON[0], token], &large)
            .await
            .0,
        413
    );
    let evil = [("host", "evil.example"), token];
    assert_eq!(request(&server, "GET", "/metrics", &evil, "").await.0, 403);
    let (status, headers, _) = request(&server, "GET", "/metrics", &[], "").await;
    let asked = headers["www-authenticate"].as_bytes();
    assert_eq!((status, asked), (401, b"Bearer".as_slice()));
    let text = metrics(&server, &[token]).await;
    for (reason, wanted) in [
        ("sessions", 1.0),
        ("too_large", 2.0),
        ("host", 1.0),
        ("token", 1.0),
    ] {
        let series = format!(r#"finqa_rejections_total{{reason="{reason}"}}"#);
        assert_eq!(value(&text, &series), wanted, "{reason} in\n{text}");
    }
    server.stop().await;
}
