//! The messages of `/ws` and the answers to bad ones.

use futures::SinkExt;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use finqa_env::episode::EpisodeRules;

use super::{Socket, connect, options, request, start, start_with, step_message, stop};
use crate::support::json::has;

#[tokio::test]
async fn an_episode_from_reset_to_reward() {
    let (server, mut socket) = connect().await;
    let before = socket.ask(json!({"type": "state"})).await;
    assert_eq!(
        before,
        json!({"type": "state", "data": {"episode_id": null, "step_count": 0, "current_question": "",
               "current_company": "", "ground_truth": "", "question_id": ""}})
    );
    let reset = socket.reset(json!({"seed": 1, "episode_id": "mine"})).await;
    assert_eq!(reset["type"], "observation");
    let metadata = &reset["data"]["observation"]["metadata"];
    assert_eq!(&reset["data"]["metadata"], metadata);
    let company = metadata["company"].clone();

    let listed = socket.list_tables(company).await;
    let result = &listed["observation"]["result"];
    assert_eq!(result["data"], result["content"][0]["text"]);
    assert_eq!(result["data"], result["structured_content"]["result"]);
    assert_eq!(
        listed.get("metadata"),
        None,
        "no sibling when there is nothing to say"
    );

    let unknown = socket.step("no_such_tool", json!({})).await;
    let kind = &unknown["observation"]["error"]["error_type"];
    assert_eq!(kind, "tool_not_found");
    has(&unknown, json!({"reward": null, "done": false}));

    let state = socket.state().await;
    assert_eq!(state["episode_id"], "mine");
    assert_eq!(state["step_count"], 2);
    assert_eq!(
        state["ground_truth"], "",
        "the truth stays hidden while the episode is open"
    );

    let end = socket
        .step("submit_answer", json!({"answer": "no such answer"}))
        .await;
    assert_eq!((&end["reward"], &end["done"]), (&json!(0.0), &json!(true)));
    let truth = end["metadata"]["ground_truth"].clone();
    assert_ne!(truth, "");
    let state = socket.state().await;
    assert_eq!(state["ground_truth"], truth);

    let after = socket.step("submit_answer", json!({"answer": truth})).await;
    // A second submission is not graded.
    has(&after, json!({"reward": 0.0, "done": true}));
    assert!(after["metadata"]["error"].is_string());
    stop(server, socket).await;
}

#[tokio::test]
async fn list_tools_by_a_step_works_and_counts_nothing() {
    let (server, mut socket) = connect().await;
    let answer = socket
        .ask(json!({"type": "step", "data": {"type": "list_tools"}}))
        .await;
    let tools = answer["data"]["observation"]["tools"].as_array();
    let tools = tools.expect("a list").iter().map(|tool| {
        let name = tool["name"].as_str().expect("a name");
        (name, tool["input_schema"]["type"] == "object")
    });
    let names = [
        "get_descriptions", "get_table_info", "sql_query", "submit_answer",
    ];
    assert_eq!(tools.collect::<Vec<_>>(), names.map(|name| (name, true)));
    assert_eq!(socket.state().await["step_count"], 0);
    stop(server, socket).await;
}

/// Ten failed submissions once left an episode of three steps open.
#[tokio::test]
async fn a_failed_submission_at_the_limit_ends_the_episode() {
    let rules = EpisodeRules {
        max_steps: 3,
        ..EpisodeRules::default()
    };
    let server = start_with(options(), rules).await;
    let mut socket = Socket::open(&server, "/ws").await;
    socket.reset(json!({})).await;
    let step = || step_message("submit_answer", json!({"answer": [5]}));
    for _ in 0..2 {
        assert_eq!(socket.ask(step()).await["data"]["code"], "EXECUTION_ERROR");
    }
    let last = socket.ask(step()).await["data"].clone();
    assert_eq!(
        (&last["reward"], &last["done"]),
        (&json!(0.0), &json!(true))
    );
    let error = &last["observation"]["error"];
    assert_eq!(error["error_type"], "invalid_args", "{last}");
    assert_ne!(socket.state().await["ground_truth"], "");
    let (_, _, text) = request(&server, "GET", "/metrics", &[], "").await;
    let ended = r#"finqa_episodes_ended_total{ending="step_limit"} 1"#;
    assert!(text.contains(ended), "{text}");
    stop(server, socket).await;
}

#[tokio::test]
async fn a_bad_message_gets_one_error_and_the_session_continues() {
    let (server, mut socket) = connect().await;
    socket.reset(json!({"episode_id": "kept"})).await;
    let place = "Invalid JSON: expected ident at line 1 column 2";
    let empty = "Invalid JSON: EOF while parsing a value at line 1 column 0";
    let invalid = "Invalid message";
    let answer_type = "expected string or bytes-like object, got 'bool'";
    let submission = r#"{"type": "step", "data": {"tool_name": "submit_answer", "arguments": {"answer": true}}}"#;
    let arguments = r#"{"type": "step", "data": {"tool_name": "x", "arguments": "nope"}}"#;
    for (text, code, said) in [
        ("nope", "INVALID_JSON", place),
        ("", "INVALID_JSON", empty),
        (
            "[1, 2]",
            "VALIDATION_ERROR",
            "A message must be a JSON object, not list",
        ),
        (
            r#"{"type": "bogus"}"#, "UNKNOWN_TYPE", "Unknown message type: bogus",
        ),
        ("{}", "UNKNOWN_TYPE", "Unknown message type: "),
        (
            r#"{"type": null}"#, "UNKNOWN_TYPE", "Unknown message type: None",
        ),
        (r#"{"type": "step"}"#, "VALIDATION_ERROR", invalid),
        (
            r#"{"type": "state", "data": {}}"#, "VALIDATION_ERROR", invalid,
        ),
        (
            r#"{"type": "reset", "extra": 1}"#, "VALIDATION_ERROR", invalid,
        ),
        (
            r#"{"type": "reset", "data": {"episode_id": 5}}"#,
            "VALIDATION_ERROR",
            invalid,
        ),
        (arguments, "VALIDATION_ERROR", invalid),
        (submission, "EXECUTION_ERROR", answer_type),
    ] {
        let answer = socket.raw(text).await;
        let data = &answer["data"];
        let given = (&answer["type"], &data["code"], &data["message"]);
        assert_eq!(
            given,
            (&json!("error"), &json!(code), &json!(said)),
            "{text}"
        );
        assert_eq!(socket.state().await["episode_id"], "kept", "{text}");
    }
    let binary = Message::binary(vec![0, 159, 146, 150]);
    socket.0.send(binary).await.expect("sent");
    assert_eq!(socket.answer().await["data"]["code"], "SESSION_ERROR");
    assert_eq!(socket.state().await["episode_id"], "kept");
    stop(server, socket).await;
}

#[tokio::test]
async fn a_frame_over_the_limit_closes_its_own_socket_only() {
    let server = start(options()).await;
    let mut other = Socket::open(&server, "/ws").await;
    let mut socket = Socket::open(&server, "/ws").await;
    socket.send(&"x".repeat(200_000)).await;
    let answer = socket.answer().await;
    assert_eq!(answer["data"]["code"], "SESSION_ERROR");
    assert_eq!(socket.close_code().await, Some(1009));
    other.state().await;
    stop(server, (other, socket)).await;
}

#[tokio::test]
async fn messages_sent_ahead_are_answered_in_order() {
    let (server, mut socket) = connect().await;
    for n in 0..50 {
        socket
            .send(&json!({"type": "reset", "data": {"episode_id": format!("e{n}")}}).to_string())
            .await;
        socket.send(r#"{"type": "state"}"#).await;
    }
    for n in 0..50 {
        assert_eq!(socket.answer().await["type"], "observation");
        let state = socket.answer().await;
        assert_eq!(state["data"]["episode_id"], format!("e{n}"));
    }
    stop(server, socket).await;
}

#[tokio::test]
async fn the_mcp_message_calls_tools_without_counting() {
    let (server, mut socket) = connect().await;
    let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call",
                      "params": {"name": "submit_answer", "arguments": {"answer": "5"}}});
    let answer = socket.ask(json!({"type": "mcp", "data": call})).await;
    assert_eq!(answer["type"], "mcp");
    assert_eq!(answer["data"]["id"], "a");
    assert_eq!(answer["data"]["result"]["data"], "Answer submitted: 5");
    let own = json!({"jsonrpc": "2.0", "method": "openenv/session/create"});
    let answer = socket.ask(json!({"type": "mcp", "data": own})).await;
    let id = answer["data"]["result"]["session_id"].clone();
    let close =
        json!({"jsonrpc": "2.0", "method": "openenv/session/close", "params": {"session_id": id}});
    let answer = socket.ask(json!({"type": "mcp", "data": close})).await;
    assert_eq!(
        answer["data"]["error"]["code"], -32600,
        "a socket cannot close itself so"
    );
    let state = socket.state().await;
    assert_eq!(state["step_count"], 0);
    stop(server, socket).await;
}
