//! The agent, by models that behave and models that do not.

use rstest::rstest;
use serde_json::{Value, json};

use super::{
    FIXTURE, Serving, asked, call, episodes, fixture, knowing, knows, list_tables, play, played,
    results, truths,
};
use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request};
use crate::support::json::has;
use finqa_env::server::ServerOptions;

/// Plays some questions of the fixture by a model on this server.
fn play_by(place: &Workplace, model: &FaultServer, more: &str) -> (Ran, Value) {
    let url = model.base_url();
    let line = format!(
        "--model scripted --base-url {url} --data-path {FIXTURE} --export-episodes a.jsonl"
    );
    play(place, &format!("{line} {more}"))
}

/// The same of a play that succeeds.
#[track_caller]
fn played_by(place: &Workplace, model: &FaultServer, more: &str) -> Value {
    let (ran, summary) = play_by(place, model, more);
    ran.succeeds();
    summary
}

/// The only episode of a play of one question by `script`.
fn one(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (Value, FaultServer) {
    let place = Workplace::new();
    let model = FaultServer::start(script);
    played_by(&place, &model, "--n 1");
    let mut lines = episodes(&place.path("a.jsonl"));
    assert_eq!(lines.len(), 1);
    (lines.remove(0), model)
}

#[rstest]
#[case::in_this_process(false)]
#[case::on_a_server(true)]
fn a_model_that_answers_right_is_rewarded_and_never_sees_the_truth(#[case] remote: bool) {
    let place = Workplace::new();
    let server = Serving::start(fixture(), ServerOptions::default());
    let environment = if remote {
        format!("--url {}", server.url)
    } else {
        format!("--data-path {FIXTURE}")
    };
    let model = knowing(truths(&fixture()));
    let url = model.base_url();
    let line = format!("--model scripted --base-url {url} --export-episodes a.jsonl -j 3");
    let summary = played(&place, &format!("{line} {environment}"));
    let spent = json!({
        "calls": 24, "requests": 24, "nodes": {"player": {"input_tokens": 2400}},
        // No price is listed.
        "cost_usd": null,
    });
    has(
        &summary,
        json!({"reward": {"mean": 1.0}, "played": 12, "mean_steps": 2.0, "spent": spent}),
    );
    let four = "get_descriptions get_table_info sql_query submit_answer";
    for request in model.requests() {
        let text = String::from_utf8(request.raw.clone()).unwrap();
        assert!(
            !text.contains("boxed") && !text.contains("ground_truth"),
            "{text}"
        );
        let tools = request.body["tools"].as_array().unwrap();
        let tools = tools.iter().map(|tool| &tool["function"]);
        assert!(
            tools
                .clone()
                .all(|tool| tool["parameters"]["required"].is_array())
        );
        let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(" "), four);
    }
    for line in episodes(&place.path("a.jsonl")) {
        assert!(line["ground_truth"].as_str().unwrap().contains("boxed"));
        let messages = Value::Array(line["messages"].as_array().unwrap()[..4].to_vec());
        assert!(!messages.to_string().contains("boxed"));
    }
}

#[test]
fn calls_that_reach_no_tool_are_counted_and_told_to_the_model() {
    let (line, model) = one(|request| {
        let (_, company) = asked(request);
        match results(request).len() {
            0 => Reply::tool_calls(&[
                ("get_descriptions", "[1, 2]".into()),
                ("get_descriptions", "{\"company_name\": ".into()),
                call("delete_everything", json!({})),
                call("get_table_info", json!({"company_name": company})),
                list_tables(&company),
                call("submit_answer", json!({"answer": [5]})),
            ]),
            _ => Reply::tool_calls(&[call("submit_answer", json!({"answer": 42.5}))]),
        }
    });
    has(
        &line,
        json!({"invalid_calls": 5, "step_count": 7, "outcome": "submitted", "answer": "42.5"}),
    );
    let request = &model.requests()[1];
    let told = results(request);
    let expected = [
        "not a JSON object", "not JSON:", "Unknown tool: 'delete_everything'",
        "missing required argument", "[", "`answer`",
    ];
    assert_eq!(told.len(), expected.len());
    for (told, words) in told.iter().zip(expected) {
        let is_so = told.contains(words) && (words != "[" || told.starts_with('['));
        assert!(is_so, "no {words:?} in {told}");
    }
    // Each result quotes its call, in the order of the calls.
    let messages = request.body["messages"].as_array().unwrap().iter();
    let ids = messages.filter(|message| message["role"] == "tool");
    let ids: Vec<&Value> = ids.map(|message| &message["tool_call_id"]).collect();
    let calls = [0, 1, 2, 3, 4, 5].map(|number| format!("call_{number}"));
    assert_eq!(ids, calls.each_ref());
}

#[test]
fn what_is_called_after_the_submission_is_not_run() {
    let (line, _) = one(|request| {
        let (_, company) = asked(request);
        Reply::tool_calls(&[
            call("submit_answer", json!({"answer": "42"})),
            list_tables(&company),
            call("submit_answer", json!({"answer": "43"})),
        ])
    });
    has(&line, json!({"step_count": 1, "answer": "42"}));
    let messages = line["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 6, "every call has a result");
    assert!(messages[5]["content"].as_str().unwrap().contains("Not run"));
}

#[test]
fn an_episode_ends_at_the_step_limit_with_nothing() {
    let place = Workplace::new();
    let model = FaultServer::start(|request| {
        let (_, company) = asked(request);
        Reply::tool_calls(&[list_tables(&company)])
    });
    let summary = played_by(&place, &model, "--n 2 --max-steps 3");
    assert_eq!(summary["outcomes"], json!({"step_limit": 2}));
    has(
        &summary,
        json!({"without_submission": 2, "reward": {"mean": 0.0}}),
    );
    assert_eq!(model.count(), 6);
    let line = &episodes(&place.path("a.jsonl"))[0];
    assert_eq!(line["step_count"], 3);
    assert_eq!(line["steps"][2]["done"], true);
}

#[test]
fn a_model_without_tools_is_one_clear_line() {
    let place = Workplace::new();
    let model = FaultServer::start(|_| {
        Reply::error(
            400, "invalid_request_error", "registry/tiny does not support tools",
        )
    });
    let (ran, _) = play_by(&place, &model, "");
    ran.fails(
        2,
        &[
            "scripted: the model does not support tool calls",
            "does not support tools",
            "--model offline",
        ],
    );
}

#[test]
fn a_filter_counts_as_wrong_and_a_provider_that_fails_leaves_its_question_for_resume() {
    let truths = truths(&fixture());
    let place = Workplace::new();
    let model = FaultServer::start(move |request| {
        let (question, _) = asked(request);
        if question.contains("gross margin ratio") {
            Reply::content_filter()
        } else if question.contains("operating margin") {
            Reply::error(500, "server_error", "no luck today")
        } else {
            knows(&truths, request)
        }
    });
    let (ran, summary) = play_by(&place, &model, "--attempts 1");
    ran.ends(4).tells("no luck today");
    let count = |name: &str| summary["outcomes"][name].as_u64().unwrap_or_default();
    assert!(count("content_filter") >= 1, "{summary}");
    assert_eq!(count("failed"), 0);
    let n = summary["reward"]["n"].as_u64().unwrap();
    assert!(n < 12, "{summary}");
    assert_eq!(
        summary["played"], n,
        "what the provider failed has no outcome"
    );
    assert_eq!(summary["complete"], false);
    assert_eq!(episodes(&place.path("a.jsonl")).len() as u64, n);
}

#[test]
fn a_model_that_may_cost_money_plays_the_sample_only_on_request() {
    let place = Workplace::new();
    let ran = place.run_with("env play --model gpt-4o", &[("OPENAI_API_KEY", "sk-x")]);
    ran.fails(3, &["no data", "--data", "--url"]);
}
