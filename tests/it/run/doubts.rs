//! What a provider says that is not what it seems: failures inside replies, hidden tokens, prompts
//! that it cuts. None is scored, paid for or passed over in silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::support::agents::{is_critic, scripted};
use crate::support::cli::{CommandExt, Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request, completion, spoken};

/// A reply that its gateway gave up.
fn given_up(usage: Value) -> Reply {
    let mut body = completion("{\"steps\": [\"re", "error");
    body["usage"] = usage;
    body["choices"][0]["error"] = json!({"code": 502, "message": "upstream connection lost"});
    Reply::json(200, &body)
}

const PRICES: &str = r#"{"version": 1, "models": {"m": {"input": 3, "output": 15}}}"#;

fn asking(place: &Workplace, server: &FaultServer, more: &str) -> Ran {
    place.write("prices.json", PRICES);
    let settings = "-j 1 --second-opinion off --prices prices.json";
    place
        .chat_command(server, &format!("{settings} {more}"))
        .ran()
}

/// The scripted reply of the model that was asked for.
fn analysis(request: &Request) -> Reply {
    edited(request, |body| body["model"] = "m".into())
}

fn edited(request: &Request, edit: impl Fn(&mut Value)) -> Reply {
    let (status, mut body) = spoken(request, scripted(request));
    edit(&mut body);
    Reply::json(status, &body)
}

fn report(place: &Workplace) -> String {
    std::fs::read_to_string(place.run_folder().join("report.html")).unwrap()
}

/// Tokens of a reply, without cached ones.
fn usage(read: u64, written: u64, total: u64) -> Value {
    json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": total})
}

/// Both were scored: as `parse_failure`, and as an approval.
#[test]
fn a_reply_that_the_gateway_gave_up_is_asked_for_twice_a_run_and_again_on_resume() {
    for of_critic in [false, true] {
        let place = Workplace::new();
        let is_down = Arc::new(AtomicBool::new(true));
        let down = Arc::clone(&is_down);
        let server = FaultServer::start(move |request| {
            if is_critic(request) == of_critic && down.load(Ordering::SeqCst) {
                given_up(Value::Null)
            } else {
                analysis(request).with_usage(usage(1000, 100, 1100))
            }
        });
        let critic = if of_critic { "llm" } else { "off" };
        let ran = asking(&place, &server, &format!("--n 1 --critic {critic}"));
        // Nothing was answered, or nothing but the analyst.
        ran.ends(if of_critic { 4 } else { 5 });
        ran.tells("upstream connection lost (code 502)");
        let count = |wanted: bool| {
            let requests = server.requests();
            requests.iter().filter(|it| is_critic(it) == wanted).count()
        };
        let questions = usize::try_from(place.summary()["run"]["total"].as_u64().unwrap()).unwrap();
        assert_eq!(
            count(of_critic),
            2 * questions,
            "once, and once more at the end"
        );
        assert_eq!(count(!of_critic), if of_critic { questions } else { 0 });
        let summary = place.summary();
        assert_eq!(summary["questions"], 0, "none is scored");
        let cost = &summary["spent"]["cost"];
        assert_eq!(cost["unpriced"], 2 * questions, "{cost}");
        is_down.store(false, Ordering::SeqCst);
        let resumed = place.run("--resume");
        resumed.succeeds();
        // The critic reviews a revision too.
        let more = count(of_critic) - 2 * questions;
        assert!(more == questions || of_critic && more > questions, "{more}");
        assert_eq!(place.summary()["outcomes"][0]["name"], "answered");
    }
}

/// A single question had no outcome, because nothing else was answered before.
#[test]
fn a_failure_inside_a_reply_that_passes_costs_one_more_request() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| match request.repeat {
        0 => given_up(usage(1000, 10, 1010)),
        _ => analysis(request).with_usage(usage(1000, 100, 1100)),
    });
    asking(&place, &server, "--n 1 --critic off").succeeds();
    let summary = place.summary();
    let questions = summary["questions"].as_u64().unwrap();
    assert_eq!(server.count() as u64, 2 * questions);
    let spent = &summary["spent"];
    assert_eq!(
        spent["cost"]["unpriced"], 0,
        "the tokens of both replies are known: {spent}"
    );
    assert_eq!(
        spent["nodes"]["analyst"]["output_tokens"].as_u64().unwrap(),
        110 * questions
    );
}

/// $1.42 passed a limit of $0.20, and $0.0990 was reported.
#[test]
fn reasoning_that_is_reported_apart_is_paid_and_the_limit_holds() {
    for (stated, is_sure) in [
        (
            json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 5100,
            "completion_tokens_details": {"reasoning_tokens": 4000}}),
            true,
        ),
        (usage(1000, 100, 5100), true),
        (
            json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
            "completion_tokens_details": {"reasoning_tokens": 4000}}),
            false,
        ),
    ] {
        let place = Workplace::new();
        let told = stated.to_string();
        let server =
            FaultServer::start(move |request| analysis(request).with_usage(stated.clone()));
        asking(&place, &server, "--critic off --max-cost 0.20").ends(7);
        // 1,000 tokens read at 3, and 4,100 written at 15 dollars a million.
        let true_cost = server.count() as f64 * 0.0645;
        assert!(
            server.count() > 1 && true_cost <= 0.20,
            "{true_cost}: {told}"
        );
        let summary = place.summary();
        let known: f64 = summary["spent"]["cost"]["known"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!(
            (known - true_cost).abs() < 1e-9,
            "{known} {true_cost}: {told}"
        );
        assert_eq!(summary["spent"]["cost_usd"].is_null(), !is_sure, "{told}");
        assert_eq!(summary["notes"].is_null(), is_sure, "{told}");
    }
}

/// A reply may take more than its limit allows, which is known only afterwards.
#[test]
fn reasoning_beyond_the_limit_of_a_reply_is_reserved_for_the_next_ones() {
    let place = Workplace::new();
    let server =
        FaultServer::start(|request| analysis(request).with_usage(usage(1000, 100, 11_100)));
    asking(
        &place,
        &server,
        "--critic off --max-tokens 500 --max-cost 0.40",
    )
    .ends(7);
    // 0.1545 dollars each, of which 0.031 were expected at first.
    assert_eq!(server.count(), 2);
}

#[test]
fn tiers_models_and_finish_words_that_are_not_understood_are_named_once() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| {
        edited(request, |body| {
            body["model"] = "another-model".into();
            body["service_tier"] = "priority".into();
            body["choices"][0]["finish_reason"] = "frobnicated".into();
        })
    });
    let ran = asking(&place, &server, "--n 2 --critic off");
    ran.succeeds();
    let summary = place.summary();
    assert!(summary["spent"]["cost_usd"].is_null());
    let notes = summary["notes"].as_array().unwrap();
    for words in ["`another-model`", "`priority`", "`frobnicated`"] {
        let lines = notes
            .iter()
            .filter(|line| line.as_str().unwrap().contains(words));
        assert_eq!(lines.count(), 1, "{words}: {notes:?}");
        assert_eq!(
            ran.stdout.matches(words).count() + ran.stderr.matches(words).count(),
            1,
            "{words}"
        );
        assert!(report(&place).contains(words.trim_matches('`')), "{words}");
    }
    ran.prints("at least $");
    let rows = place.rows("output/output.csv");
    assert!(!rows.is_empty(), "what is complete is an answer");
}

/// A benchmark measured a model that never saw half the page.
#[test]
fn prompts_that_the_server_cuts_are_named_with_the_context_length() {
    type Count = fn(usize) -> Value;
    let counts: [(&str, Count, bool); 6] = [
        ("one count", |_| usage(514, 90, 604), true),
        (
            "few",
            |bytes| usage(bytes as u64 / 20, 90, bytes as u64 / 20 + 90),
            true,
        ),
        (
            "usual",
            |bytes| usage(bytes as u64 / 4, 90, bytes as u64 / 4 + 90),
            false,
        ),
        ("none", |_| Value::Null, false),
        ("zero", |_| usage(0, 90, 90), false),
        (
            "cached",
            |bytes| {
                json!({"prompt_tokens": 7, "completion_tokens": 90,
                "prompt_tokens_details": {"cached_tokens": bytes / 4}})
            },
            false,
        ),
    ];
    for (what, count, is_cut) in counts {
        let place = Workplace::new();
        let server = FaultServer::start(move |request| {
            let bytes = request
                .conversation()
                .iter()
                .map(|(_, text)| text.len())
                .sum();
            analysis(request).with_usage(count(bytes))
        });
        let ran = asking(&place, &server, "--critic off");
        ran.succeeds();
        let places = [&ran.stdout, &place.summary().to_string(), &report(&place)];
        for text in places {
            assert_eq!(
                text.matches("OLLAMA_CONTEXT_LENGTH").count(),
                usize::from(is_cut),
                "{what}"
            );
        }
    }
    // Two replies are chance.
    let place = Workplace::new();
    let server = FaultServer::start(|request| analysis(request).with_usage(usage(5, 90, 95)));
    asking(&place, &server, "--critic off --n 1 --mode questions").succeeds();
    assert!(server.count() < 3);
    assert!(place.summary()["notes"].is_null());
}
