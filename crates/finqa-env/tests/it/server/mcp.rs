//! JSON-RPC over `/mcp` and the official MCP transport at `/mcp/stream`.

use serde_json::{Value, json};

use super::{Socket, options, post, request, rpc, start};

#[tokio::test]
async fn bad_requests_are_answered_with_200_and_a_code() {
    let server = start(options()).await;
    for (body, code, said) in [
        ("{bad", -32700, "Parse error"),
        ("[]", -32700, "Parse error"),
        ("", -32700, "Parse error"),
        (
            r#"{"jsonrpc": "2.0", "method": "initialize", "id": null}"#,
            -32601,
            "Method not found: initialize",
        ),
        (
            r#"{"jsonrpc": "2.0", "method": "tools/call", "params": {}, "id": null}"#,
            -32602,
            "Missing 'name' in params",
        ),
    ] {
        let (status, answer) = post(&server, "/mcp", body).await;
        let wanted = json!({"code": code, "message": said, "data": null});
        assert_eq!(
            (status, &answer["id"], &answer["error"]),
            (200, &Value::Null, &wanted)
        );
    }
    let (_, answer) = post(&server, "/mcp", r#"{"method": "tools/list", "id": 7}"#).await;
    assert_eq!(answer["error"]["code"], -32600);
    let said = answer["error"]["message"].as_str().expect("a text");
    assert_eq!(said, "Invalid request: jsonrpc: Field required");
    server.stop().await;
}

/// JSON-RPC 2.0 forbids an answer to a notification, even an error.
#[tokio::test]
async fn a_notification_is_not_answered() {
    let server = start(options()).await;
    let notifications = [
        r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#,
        r#"{"jsonrpc": "2.0", "method": "tools/list", "params": {}}"#,
        r#"{"jsonrpc": "2.0", "method": "tools/call", "params": []}"#,
    ];
    let mut socket = Socket::open(&server, "/mcp").await;
    for text in notifications {
        let (status, _, body) = request(&server, "POST", "/mcp", super::JSON, text).await;
        assert_eq!((status, &*body), (202, ""), "{text}");
        socket.send(text).await;
    }
    // The next answer belongs to the next request, so the notifications got no answers.
    let listed = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"});
    assert_eq!(socket.ask(listed).await["id"], 9);
    // An object that is not a valid request is not a notification either, so it gets an error.
    let (status, answer) = post(&server, "/mcp", r#"{"method": "tools/list"}"#).await;
    assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32600)));
    server.stop().await;
}

#[tokio::test]
async fn the_tools_are_listed_and_called() {
    let server = start(options()).await;
    let listed = rpc(&server, "tools/list", json!({})).await;
    let first = &listed["result"]["tools"][0];
    let keys: Vec<_> = first.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "name", "title", "description", "inputSchema", "outputSchema", "icons", "annotations",
            "meta", "execution"
        ]
    );
    assert_eq!(first["inputSchema"]["additionalProperties"], false);
    assert_eq!(
        first["inputSchema"]["properties"]["company_name"]["description"],
        "The name of the company"
    );
    let called = rpc(
        &server,
        "tools/call",
        json!({"name": "submit_answer", "arguments": {"answer": "x"}}),
    )
    .await;
    assert_eq!(called["result"]["data"], "Answer submitted: x");
    assert_eq!(called["result"]["is_error"], false);
    let unknown = rpc(&server, "tools/call", json!({"name": "dance"})).await;
    assert_eq!(
        unknown["error"],
        json!({"code": -32603, "message": "Unknown tool: 'dance'", "data": null})
    );
    server.stop().await;
}

#[tokio::test]
async fn the_mcp_socket_names_the_place_of_a_fault_and_continues() {
    let server = start(options()).await;
    let mut socket = Socket::open(&server, "/mcp").await;
    let answer = socket.raw("{bad").await;
    assert_eq!(answer["error"]["code"], -32700);
    let said = answer["error"]["message"].as_str().expect("a text");
    assert_eq!(said, "Parse error: key must be a string at line 1 column 2");
    assert_eq!(socket.raw("[1]").await["error"]["code"], -32700);
    let listed = socket
        .ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
        .await;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(4));
    server.stop().await;
}

#[tokio::test]
async fn the_official_transport_initialises_lists_and_calls() {
    let server = start(options()).await;
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let ask = async |method: &str, params: Value| {
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let (status, _, text) = request(&server, "POST", "/mcp/stream", &headers, &body).await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let hello = ask(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}),
    )
    .await;
    assert_eq!(hello["result"]["serverInfo"]["name"], "convfinqa-finqa-env");
    assert!(hello["result"]["capabilities"]["tools"].is_object());
    let listed = ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().expect("a list");
    assert_eq!(tools.len(), 4);
    let called = ask(
        "tools/call",
        json!({"name": "submit_answer", "arguments": {"answer": "x"}}),
    )
    .await;
    assert_eq!(
        called["result"]["content"][0]["text"],
        "Answer submitted: x"
    );
    assert_eq!(
        called["result"]["structuredContent"]["result"],
        "Answer submitted: x"
    );
    let wrong = ask(
        "tools/call",
        json!({"name": "get_descriptions", "arguments": {}}),
    )
    .await;
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    server.stop().await;
}
