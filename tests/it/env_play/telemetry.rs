//! Traces of a play: what they tell, and what they never do.

use std::collections::BTreeSet;

use serde_json::json;

use super::{FIXTURE, asked, call, list_tables, results, submit};
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::traces::written_in;

const KEY: &str = "sesame-open-the-door";

/// Three questions by a model that first makes a call without its argument,
/// then the call, and answers wrong; an error on the way repeats the key.
fn play(place: &Workplace, more: &str, variables: &[(&str, &str)]) {
    let model = FaultServer::start(|request| {
        let (_, company) = asked(request);
        if request.repeat == 0 && request.index == 0 {
            let key = request.key().unwrap();
            return Reply::error(503, "x", &format!("{key} is busy")).header("retry-after-ms", "1");
        }
        match results(request).len() {
            0 => Reply::tool_calls(&[call("get_descriptions", json!({}))]),
            1 => Reply::tool_calls(&[list_tables(&company)]),
            _ => submit("77777"),
        }
    });
    let line = format!(
        "env play --model scripted --data-path {FIXTURE} -n 3 -j 1 --export-episodes a.jsonl"
    );
    let model = [
        ("OPENAI_API_KEY", KEY),
        ("CONVFINQA_BASE_URL", &model.base_url()),
    ];
    let variables = [&model, variables].concat();
    let ran = place.run_with(&format!("{line} {more}"), &variables);
    ran.succeeds();
    assert!(!ran.stderr.contains(KEY), "the key is redacted");
}

#[test]
fn an_episode_is_a_trace_and_holds_content_only_on_request() {
    for content in [false, true] {
        let place = Workplace::new();
        let (more, variables) = if content {
            (
                "",
                &[("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")][..],
            )
        } else {
            ("--traces on", &[][..])
        };
        play(&place, more, variables);
        let path = place.run_folder().join("traces.jsonl");
        let traces = written_in(&path);
        assert_eq!(traces.len(), 3, "a line for each episode");
        for spans in &traces {
            let root = spans.iter().find(|span| span.parent.is_empty()).unwrap();
            assert_eq!(root.name, "invoke_agent player");
            assert_eq!(root.text("convfinqa.outcome"), "submitted");
            assert_eq!(root.get("convfinqa.steps"), 3);
            let below: Vec<&str> = root
                .children(spans)
                .iter()
                .map(|span| span.name.as_str())
                .collect();
            let names = [
                "chat scripted", "execute_tool get_descriptions", "execute_tool submit_answer",
            ];
            assert_eq!(below.len(), 6, "{below:?}");
            let known: BTreeSet<&str> = below.into_iter().collect();
            assert_eq!(known, names.into());
            let failed: Vec<_> = spans.iter().filter(|span| span.failed).collect();
            assert_eq!(failed.len(), 1);
            assert_eq!(failed[0].text("error.type"), "invalid_args");
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("boxed"), "the truth is never recorded");
        assert!(!text.contains(KEY));
        let questions: Vec<String> = super::episodes(&place.path("a.jsonl"))
            .iter()
            .map(|line| line["question"].as_str().unwrap().to_owned())
            .collect();
        for question in &questions {
            // JSON within JSON: a line of it, which has nothing to escape.
            let inside = question.lines().last().unwrap();
            assert_eq!(text.contains(inside), content, "{inside}");
        }
        for name in ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"] {
            assert_eq!(text.contains(name), content, "{name}");
        }
        assert_eq!(text.contains("missing required"), content);
    }
}
