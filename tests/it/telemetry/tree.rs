//! What a trace holds: question, rounds, agents, calls.

use serde_json::json;

use crate::support::agents::{is_critic, is_sent_back, question_of, scripted};
use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::traces::{Span, collector, questions, received, written};

fn ask(place: &Workplace, model: &FaultServer, collector: &FaultServer, more: &str) -> Ran {
    let url = model.base_url();
    let line = format!("--model scripted --data-path sample --base-url {url} {more}");
    let collector = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url());
    place.run_with(&line, &[collector])
}

#[test]
fn a_question_is_one_trace_of_rounds_agents_and_calls() {
    let (place, model, collector) = (Workplace::new(), FaultServer::start(scripted), collector());
    let more = "--mode conversations --n 2 --temperature 0.3 --max-tokens 900 --seed 5";
    ask(&place, &model, &collector, more).succeeds();
    let spans = received(&collector);
    let rows = place.rows("output/output.csv");
    let roots = questions(&spans);
    assert_eq!(roots.len(), rows.len());
    let folder = place.run_folder();
    let run = folder.file_name().unwrap().to_str().unwrap();

    for row in &rows {
        let of_row = |root: &&&Span| {
            root.text("convfinqa.question.id") == row["id"]
                && root.text("convfinqa.question.part") == row["part"]
        };
        let root = roots.iter().find(of_row).unwrap();
        assert_eq!(root.name, "invoke_workflow analyst_critic");
        assert_eq!(root.get("gen_ai.operation.name"), "invoke_workflow");
        assert_eq!(root.get("convfinqa.run.id"), run);
        let id = format!("{run}/{}", row["id"]);
        assert_eq!(root.get("gen_ai.conversation.id"), &id);
        assert_eq!(root.get("convfinqa.outcome"), "answered");
        assert_eq!(root.service["service.name"], "convfinqa");
        assert!(!root.failed);

        let rounds = root.children(&spans);
        let sent_back = is_sent_back(&row["question"]);
        assert_eq!(row["rounds"], rounds.len().to_string(), "{row:?}");
        assert_eq!(root.get("convfinqa.rounds"), rounds.len());
        assert_eq!(root.get("convfinqa.calls"), 2 * rounds.len());
        for (number, round) in (1..).zip(&rounds) {
            assert_eq!(round.name, format!("round {number}"));
            assert_eq!(round.get("convfinqa.round"), number);
            let last = usize::try_from(number).unwrap() == rounds.len();
            // The checks may send back what the critic accepts.
            let verdict = if sent_back && number == 1 {
                "revise"
            } else {
                "ok"
            };
            assert_eq!(round.get("convfinqa.verdict"), verdict);
            check_agents(round, last, &spans);
        }
    }
    let of_questions: usize = roots.iter().map(|root| count(root, &spans)).sum();
    assert_eq!(of_questions, spans.len(), "nothing but these");

    let lines = written(&place);
    let mut in_file: Vec<_> = lines.iter().flatten().map(|span| &span.id).collect();
    let mut sent: Vec<_> = spans.iter().map(|span| &span.id).collect();
    in_file.sort();
    sent.sort();
    assert_eq!(in_file, sent, "the file holds what the collector was sent");
    for line in &lines {
        let roots = line.iter().filter(|span| span.parent.is_empty()).count();
        assert_eq!(roots, 1, "a line is one whole trace");
    }
}

fn count(span: &Span, spans: &[Span]) -> usize {
    let below = span.children(spans);
    1 + below.iter().map(|child| count(child, spans)).sum::<usize>()
}

fn check_agents(round: &Span, last: bool, spans: &[Span]) {
    let agents = round.children(spans);
    let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["invoke_agent analyst", "invoke_agent critic"]);
    let routes = agents.iter().map(|agent| agent.text("convfinqa.route"));
    let expected = ["submit", if last { "accept" } else { "revise" }];
    assert!(routes.eq(expected), "{agents:?}");
    for agent in agents {
        assert_eq!(agent.get("gen_ai.operation.name"), "invoke_agent");
        let name = agent.text("gen_ai.agent.name");
        let [call] = agent.children(spans)[..] else {
            panic!("one call in {agent:?}");
        };
        assert_eq!(call.name, "chat scripted");
        assert_eq!(call.kind, 3, "a client's span");
        for (key, value) in [
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.provider.name", json!("openai")),
            ("gen_ai.request.model", json!("scripted")),
            ("gen_ai.request.temperature", json!(0.3)),
            ("gen_ai.request.max_tokens", json!(900)),
            ("gen_ai.request.seed", json!(5)),
            ("gen_ai.response.model", json!("served-model")),
            ("gen_ai.response.id", json!("chatcmpl-1")),
            ("gen_ai.response.finish_reasons", json!(["stop"])),
            ("gen_ai.usage.input_tokens", json!(100)),
            ("gen_ai.usage.cache_read.input_tokens", json!(40)),
            ("server.address", json!("127.0.0.1")),
            ("convfinqa.node", json!(name)),
            ("convfinqa.attempts", json!(1)),
        ] {
            assert_eq!(call.get(key), &value, "{key}");
        }
        assert!(call.get("gen_ai.usage.output_tokens").as_i64() > Some(0));
        assert_eq!(call.text("gen_ai.output.type"), "json");
    }
}

#[test]
fn a_failed_question_is_a_failed_trace_with_its_retries() {
    let (place, collector) = (Workplace::new(), collector());
    let model = FaultServer::start(|request| {
        if request.repeat == 0 {
            Reply::error(503, "overloaded", "come back later").header("retry-after-ms", "1")
        } else {
            Reply::content_filter()
        }
    });
    ask(&place, &model, &collector, "--n 1").ends(4);
    let spans = received(&collector);
    let roots = questions(&spans);
    assert!(roots[0].failed);
    assert_eq!(roots[0].get("error.type"), "content_filter");
    let mut calls = spans.iter().filter(|span| span.name.starts_with("chat"));
    let call = calls.next().unwrap();
    assert!(call.failed);
    assert_eq!(call.get("error.type"), "content_filter");
    assert_eq!(call.get("convfinqa.attempts"), 2);
    assert_eq!(call.events, ["retry", "call failed"]);
}

/// A run stops between analyst and critic; the reply that was paid for is not
/// asked for again, and is seen in the trace of the question when it is.
#[test]
fn a_resumed_run_traces_what_it_asks_anew_and_marks_what_it_recalls() {
    let (place, collector) = (Workplace::new(), collector());
    let refusing = FaultServer::start(|request| {
        if is_critic(request) && question_of(request).contains("percentage change") {
            Reply::error(401, "invalid_api_key", "no")
        } else {
            scripted(request)
        }
    });
    // The same address for both processes: it is part of the run's identity.
    let address = refusing.address();
    let ran = ask(&place, &refusing, &collector, "--n 6 -j 1");
    ran.ends(5);
    let before = received(&collector);
    let mut roots = questions(&before).into_iter();
    let broken = roots.find(|root| root.failed).unwrap();
    assert_eq!(broken.get("error.type"), "fatal");
    drop(refusing);
    let healthy = FaultServer::at(address, scripted);
    ask(&place, &healthy, &collector, "--n 6 -j 1 --resume").succeeds();
    let after = received(&collector).split_off(before.len());
    let key = |root: &Span| {
        let part = root.text("convfinqa.question.part");
        format!("{} {part}", root.text("convfinqa.question.id"))
    };
    let answered = questions(&before).into_iter().filter(|root| !root.failed);
    let answered: Vec<_> = answered.map(key).collect();
    let anew: Vec<_> = questions(&after).into_iter().map(key).collect();
    assert!(anew.contains(&key(broken)));
    let again = anew.iter().any(|key| answered.contains(key));
    assert!(!again, "{anew:?} {answered:?}");
    let rows = place.rows("output/output.csv").len();
    assert_eq!(anew.len() + answered.len(), rows);
    let is_recalled = |span: &&Span| span.attributes.contains_key("convfinqa.recalled");
    let recalled: Vec<_> = after.iter().filter(is_recalled).collect();
    assert_eq!(recalled.len(), 1);
    assert_eq!(recalled[0].get("gen_ai.response.model"), "served-model");
    assert_eq!(recalled[0].get("convfinqa.node"), "analyst");
}

/// The agent's span had the type `provider_error`, although no provider was asked.
#[test]
fn a_template_that_cannot_be_rendered_is_not_an_error_of_the_provider() {
    let (place, collector) = (Workplace::new(), collector());
    let model = FaultServer::start(scripted);
    std::fs::create_dir(place.path("mine")).unwrap();
    // Templates are tested with the question `q` when they are loaded.
    let template = "{% if question != 'q' %}{{ gone }}{% endif %}";
    place.write("mine/analyst_user.j2", template);
    ask(&place, &model, &collector, "--n 1 -j 1 --prompts mine").ends(2);
    let spans = received(&collector);
    let agent = spans
        .iter()
        .find(|span| span.name == "invoke_agent analyst");
    assert_eq!(agent.unwrap().get("error.type"), "fatal");
}
