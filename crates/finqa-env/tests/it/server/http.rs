//! The HTTP routes and their answers, as docs/finqa-wire.md lists them.

use serde_json::{Value, json};

use super::{JSON, get, options, post, request, start};
use crate::support::schema::Schema;

/// Every operation in `openapi.json` answers with a status and a body that the file describes.
#[tokio::test]
async fn the_api_is_as_its_description_says() {
    let server = start(options()).await;
    let (_, api) = get(&server, "/openapi.json").await;
    let (_, schema) = get(&server, "/schema").await;
    let schemas = &api["components"]["schemas"];
    assert_eq!(
        schemas["StepRequest"]["properties"]["action"],
        schema["action"]
    );
    let resolve = |found: &Value| match found["$ref"].as_str() {
        Some(path) => {
            let found = api.pointer(path.trim_start_matches('#'));
            found
                .unwrap_or_else(|| panic!("{path} leads nowhere"))
                .clone()
        }
        None => found.clone(),
    };
    let mut checked = 0;
    for (path, operations) in api["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let body = match path.as_str() {
                "/step" => {
                    r#"{"action": {"tool_name": "get_descriptions", "arguments": {"company_name": "acme"}}}"#
                }
                "/mcp" | "/mcp/stream" => r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#,
                "/reset" => "{}",
                _ => r#"{"split": "test", "index": 0}"#,
            };
            let url = path.replace("{env_name}", "finqa_env");
            let headers = [JSON[0], ("accept", "application/json, text/event-stream")];
            let body = if method == "get" { "" } else { body };
            let upper = method.to_uppercase();
            let (status, _, text) = request(&server, &upper, &url, &headers, body).await;
            let answer = resolve(&operation["responses"][status.to_string()]);
            assert!(answer.is_object(), "{method} {path}: {status} {text}");
            let mut wanted = answer["content"]["application/json"]["schema"].clone();
            if wanted.is_object() {
                wanted["components"] = api["components"].clone();
                let given: Value = serde_json::from_str(&text).expect("JSON");
                Schema::new(&wanted).accepts(&given);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 13);
    server.stop().await;
}

#[tokio::test]
async fn reset_shows_the_question_inside_and_outside_the_observation() {
    let server = start(options()).await;
    let (status, body) = post(&server, "/reset", r#"{"seed": "7", "anything": 1}"#).await;
    assert_eq!(status, 200);
    assert_eq!(body["reward"], 0.0);
    assert_eq!(body["done"], false);
    assert_eq!(body["metadata"], body["observation"]["metadata"]);
    let keys: Vec<_> = body["metadata"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(
        keys,
        [
            "question", "company", "tool_result", "history", "step_count", "available_tools"
        ]
    );
    let (_, again) = post(&server, "/reset", r#"{"seed": 7}"#).await;
    assert_eq!(again["metadata"]["question"], body["metadata"]["question"]);
    let (status, headers, text) = request(&server, "POST", "/reset", &[], "").await;
    assert_eq!(status, 200, "an absent body is an empty one: {text}");
    let warning = headers["warning"].to_str().expect("a text");
    assert!(
        warning.ends_with("episodes need the WebSocket at /ws\""),
        "{warning}"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_bad_step_is_answered_with_its_first_fault() {
    let server = start(options()).await;
    for timeout in [json!(true), json!(" 5.5 "), json!(9)] {
        let body = json!({"action": {"tool_name": "x"}, "timeout_s": timeout}).to_string();
        assert_eq!(post(&server, "/step", &body).await.0, 200, "{body}");
    }
    for (body, kind, loc) in [
        ("{bad", "json_invalid", json!(["body"])),
        ("[]", "dict_type", json!(["body"])),
        ("{}", "missing", json!(["body", "action"])),
        (r#"{"action": 5}"#, "dict_type", json!(["body", "action"])),
        (
            r#"{"action": {"tool_name": "x"}, "timeout_s": 0}"#,
            "greater_than",
            json!(["body", "timeout_s"]),
        ),
        (
            r#"{"action": {"tool_name": "x"}, "timeout_s": "soon"}"#,
            "float_parsing",
            json!(["body", "timeout_s"]),
        ),
        (
            r#"{"action": {"tool_name": "x", "foo": 1}}"#,
            "extra_forbidden",
            json!(["foo"]),
        ),
        (
            r#"{"action": {"tool_name": "x", "type": "dance"}}"#,
            "literal_error",
            json!(["type"]),
        ),
        (
            r#"{"action": {"tool_name": "x", "arguments": "not json"}}"#,
            "json_invalid",
            json!(["arguments"]),
        ),
    ] {
        let (status, answer) = post(&server, "/step", body).await;
        let issue = &answer["detail"][0];
        assert_eq!(
            (status, &issue["type"], &issue["loc"]),
            (422, &json!(kind), &loc),
            "{answer}"
        );
        if kind == "extra_forbidden" {
            let said = "Extra inputs are not permitted";
            assert_eq!(*issue, json!({"type": kind, "loc": loc, "msg": said}));
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_body_without_a_json_content_type_is_refused() {
    let server = start(options()).await;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let (status, _, text) = request(&server, "POST", "/reset", &form, "{}").await;
    assert_eq!(status, 422);
    assert!(text.contains("dict_type"), "{text}");
    let (status, _, _) = request(&server, "POST", "/mcp", &form, "{}").await;
    assert_eq!(status, 200, "/mcp reads any content type");
    let vendor = [("content-type", "Application/Vnd.x+JSON; charset=utf-8")];
    let (status, _, _) = request(&server, "POST", "/reset", &vendor, "{}").await;
    assert_eq!(status, 200);
    server.stop().await;
}

#[tokio::test]
async fn other_methods_and_paths_are_refused_as_finqa_env_does() {
    let server = start(options()).await;
    for (method, path) in [
        ("GET", "/mcp"),
        ("POST", "/health"),
        ("GET", "/reset"),
        ("DELETE", "/step"),
    ] {
        let (status, headers, text) = request(&server, method, path, &[], "").await;
        assert_eq!(
            (status, text.as_str()),
            (405, r#"{"detail":"Method Not Allowed"}"#),
            "{method} {path}"
        );
        assert!(headers.contains_key("allow"), "{method} {path}");
    }
    assert_eq!(
        get(&server, "/nowhere").await,
        (404, json!({"detail": "Not Found"}))
    );
    server.stop().await;
}

#[tokio::test]
async fn the_pages_hold_everything_they_need() {
    let server = start(options()).await;
    for path in ["/", "/web", "/docs"] {
        let (status, headers, text) = request(&server, "GET", path, &[], "").await;
        assert_eq!(status, 200, "{path}");
        assert!(
            headers["content-type"]
                .to_str()
                .expect("text")
                .starts_with("text/html")
        );
        let policy = headers["content-security-policy"].to_str().expect("text");
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe-inline"), "{policy}");
        let nonce = policy.split("script-src 'nonce-").nth(1).expect("a nonce");
        let nonce = nonce.split('\'').next().expect("a nonce");
        assert!(
            text.contains(&format!("<script nonce=\"{nonce}\">")),
            "{path}"
        );
        assert!(
            text.contains(&format!("<style nonce=\"{nonce}\">")),
            "{path}"
        );
        assert!(
            !text.contains("style=\"") && !text.contains("{nonce}"),
            "{path}"
        );
        // The page may connect only to its own host.
        let own = server.address();
        let speaks = format!("connect-src 'self' ws://{own} wss://{own};");
        assert!(policy.contains(&speaks), "{policy}");
        let (_, again, _) = request(&server, "GET", path, &[], "").await;
        assert_ne!(
            again["content-security-policy"], policy,
            "a nonce of its own"
        );
        for outside in ["src=\"http", "href=\"http", "@import", "innerHTML"] {
            assert!(!text.contains(outside), "{path} contains {outside}");
        }
    }
    server.stop().await;
}
