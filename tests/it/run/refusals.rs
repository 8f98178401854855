//! What a failed reply means for a run: what ends it, what is asked again, and whose words the
//! user reads.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use finqa_core::text::single_spaced;
use finqa_journal::run::Finish;
use serde_json::{Value, json};

use crate::support::agents::{is_critic, question_of, scripted};
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply, Request};
use crate::support::in_process::{asking, refused};

fn refusal(status: u16, error: Value) -> Reply {
    Reply::json(status, &json!({"error": error}))
}

/// Gemini's 429 for a limit, which is worded as a quota whatever the limit.
fn gemini_limit(quota: &str) -> Reply {
    let violation = json!({"quotaMetric": "requests", "quotaId": quota});
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"},
    ]);
    let message = "You exceeded your current quota, please check your plan and billing details.";
    let error = json!({"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED",
        "details": details});
    Reply::json(429, &json!([{"error": error}]))
}

/// A server that answers, but for the questions with these numbers in the order of their first
/// requests.
fn server(
    refused: impl Fn(usize, &Request) -> Option<Reply> + Send + Sync + 'static,
) -> FaultServer {
    let order: Mutex<Vec<String>> = Mutex::default();
    FaultServer::start(move |request| {
        let question = question_of(request);
        let at = {
            let mut order = order.lock().unwrap();
            let known = order.iter().position(|it| *it == question);
            known.unwrap_or_else(|| {
                order.push(question);
                order.len() - 1
            })
        };
        refused(at, request).unwrap_or_else(|| scripted(request))
    })
}

fn outcomes(place: &Workplace) -> Vec<String> {
    let rows = place.rows("output/output.csv");
    rows.into_iter().map(|row| row["outcome"].clone()).collect()
}

fn count(outcomes: &[String], outcome: &str) -> usize {
    outcomes.iter().filter(|it| *it == outcome).count()
}

#[test]
fn a_limit_per_minute_that_is_worded_as_a_quota_is_waited_for() {
    let place = Workplace::new();
    let server = server(|at, request| {
        let limited = at % 2 == 0 && request.repeat == 0;
        limited.then(|| gemini_limit("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"))
    });
    place.answer(&asking(&server, "n = 4\nconcurrency = 1"));
    assert_eq!(count(&outcomes(&place), "answered"), outcomes(&place).len());
}

#[test]
fn a_limit_per_day_ends_the_run_and_leaves_the_question_to_resume() {
    let place = Workplace::new();
    let limited = server(|at, _| (at == 1).then(|| gemini_limit("RequestsPerDayPerProject")));
    let results = place.start(&asking(&limited, "concurrency = 1")).unwrap();
    let Finish::Fatal(why) = &results.finish else {
        panic!("{:?}", results.finish);
    };
    assert!(why.to_string().contains("quota is used up"), "{why}");
    let asked: HashSet<String> = limited.requests().iter().map(question_of).collect();
    assert_eq!(asked.len(), 2, "nothing is asked after it");
}

#[test]
fn filters_of_any_provider_are_outcomes_from_the_first_prompt_on_and_cost_one_call() {
    let place = Workplace::new();
    let refusals = |at| {
        Some(match at {
            0 => refusal(
                400,
                json!({"code": "data_inspection_failed", "type": "data_inspection_failed",
                "message": "Input data may contain inappropriate content."}),
            ),
            1 => refusal(
                400,
                json!({"message": "Content Exists Risk", "param": null,
                "type": "invalid_request_error", "code": "invalid_request_error"}),
            ),
            2 => Reply::json(
                403,
                &json!({"code": "permission-denied",
                "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}),
            ),
            3 => refusal(
                403,
                json!({"code": 403, "message": "x requires moderation",
                "metadata": {"reasons": ["violence"], "flagged_input": "…"}}),
            ),
            4 => Reply::json(200, &json!({"promptFeedback": {"blockReason": "SAFETY"}})),
            5 => refusal(
                400,
                json!({"code": "400", "message": "litellm.BadRequestError: \
                AzureException - {\"error\": {\"code\": \"content_filter\", \"message\": \"no\"}}"}),
            ),
            _ => return None,
        })
    };
    let server = server(move |at, _| refusals(at));
    place.answer(&asking(&server, "concurrency = 1\ncritic = 'off'"));
    let outcomes = outcomes(&place);
    assert_eq!(count(&outcomes, "content_filter"), 6, "{outcomes:?}");
    assert_eq!(count(&outcomes, "answered"), outcomes.len() - 6);
    let repeated = server.requests().iter().filter(|it| it.repeat > 0).count();
    assert_eq!(repeated, 0);
}

#[test]
fn the_first_five_prompts_refused_alike_end_the_run_with_their_words() {
    let place = Workplace::new();
    let blocked = server(|at, _| {
        let message = format!("your input was flagged (request r{at}1)");
        Some(refusal(403, json!({"code": 403, "message": message})))
    });
    let ran = place.chat(&blocked, "--concurrency 1");
    ran.fails(
        5,
        &["first 5 prompts were refused alike", "input was flagged"],
    );
    assert_eq!(blocked.count(), 5);

    // A refusal that no row knows ends it alike; five that differ end nothing.
    let unknown = |words: fn(usize) -> String| {
        let place = Workplace::new();
        let server = server(move |at, _| (at < 5).then(|| Reply::plain(418, &words(at))));
        let ended = place.start(&asking(&server, "concurrency = 1"));
        (ended, server.count())
    };
    let (ended, sent) = unknown(|_| "frobnicated".to_owned());
    refused(ended, &["first 5 prompts", "frobnicated"]);
    assert_eq!(sent, 5);
    let (ended, _) = unknown(|at| ["a", "b", "c", "d", "e"][at].to_owned());
    let finish = ended.unwrap().finish;
    assert!(
        matches!(finish, Finish::Partial { left: 5, .. }),
        "{finish:?}"
    );
}

#[test]
fn a_wrong_key_ends_the_run_at_once_whatever_its_status() {
    for reply in [
        || Reply::error(401, "x", "who are you"),
        || {
            refusal(
                400,
                json!({"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
            "details": [{"reason": "API_KEY_INVALID"}]}),
            )
        },
        || {
            Reply::json(
                400,
                &json!({"code": "Client specified an invalid argument",
            "error": "Incorrect API key provided: x."}),
            )
        },
    ] {
        let place = Workplace::new();
        let server = FaultServer::start(move |_| reply());
        let ran = place.chat(&server, "--concurrency 1");
        ran.fails(5, &["the provider refused access"]);
        assert_eq!(server.count(), 1);
    }
}

/// It was the model's wrong answer, which `--resume` refused to ask again.
#[test]
fn a_failure_of_unknown_meaning_is_asked_for_once_more_and_then_left_to_resume() {
    let place = Workplace::new();
    let heals = Arc::new(AtomicBool::new(false));
    let is_well = Arc::clone(&heals);
    let unknown = server(move |at, _| {
        let fails = (at == 1 || at == 2) && !is_well.load(Ordering::SeqCst);
        fails.then(|| Reply::plain(418, &format!("frobnicated {at}")))
    });
    let ran = place.chat(&unknown, "--concurrency 1 --critic off");
    ran.ends(4);
    let words = "the provider failed in an unknown way: frobnicated";
    let said = ran.stdout.clone() + &ran.stderr;
    assert!(single_spaced(&said).contains(words), "{said}");
    let repeated = unknown.requests().iter().filter(|it| it.repeat > 0).count();
    assert_eq!(repeated, 2);
    let before = outcomes(&place);
    assert_eq!(count(&before, "answered"), before.len());
    heals.store(true, Ordering::SeqCst);
    place.run("--resume").succeeds();
    let after = outcomes(&place);
    assert_eq!(count(&after, "answered"), before.len() + 2);
    assert_eq!(after.len(), before.len() + 2);
}

/// The run ended there, at its first question.
#[test]
fn a_first_reply_of_unknown_meaning_is_put_off_like_any_other() {
    let page = |status, title: &str| {
        let page = format!("<html><title>{title}</title><body>cloudflare</body></html>");
        Reply::new(status, "text/html", page)
    };
    for reply in [
        page(403, "Just a moment..."),
        page(413, "413 Request Entity Too Large"),
        Reply::json(
            424,
            &json!({"message": "x", "__type": "ModelErrorException"}),
        ),
        Reply::json(400, &json!({"message": "frobnicated"})),
    ] {
        let place = Workplace::new();
        let once = reply.clone();
        let server = FaultServer::start(move |request| match request.index {
            0 => once.clone(),
            _ => scripted(request),
        });
        place.chat(&server, "--n 1 --critic off").succeeds();
        assert_eq!(server.count(), 2);

        let place = Workplace::new();
        let heals = Arc::new(AtomicBool::new(false));
        let is_well = Arc::clone(&heals);
        let server = FaultServer::start(move |request| {
            if is_well.load(Ordering::SeqCst) {
                scripted(request)
            } else {
                reply.clone()
            }
        });
        let ran = place.chat(&server, "--n 1 --critic off");
        ran.fails(5, &["the provider failed in an unknown way"]);
        assert_eq!(server.count(), 2);
        heals.store(true, Ordering::SeqCst);
        place.run("--resume").succeeds();
        assert_eq!(outcomes(&place), ["answered"]);
    }
}

#[test]
fn a_critics_unknown_failure_is_asked_for_once_more_too() {
    let place = Workplace::new();
    let failing = |most: usize| {
        FaultServer::start(move |request| {
            if is_critic(request) && request.repeat < most {
                Reply::plain(418, "frobnicated")
            } else {
                scripted(request)
            }
        })
    };
    place.answer(&asking(&failing(1), "n = 1"));
    assert_eq!(place.summary()["critic"]["not_reviewed"], 0);

    let place = Workplace::new();
    let ran = place.chat(&failing(usize::MAX), "--n 1");
    ran.succeeds();
    let critic = place.summary()["critic"].clone();
    assert_eq!(critic["not_reviewed"], critic["first_draft_n"]);
    let words = "not reviewed: the provider failed in an unknown way: frobnicated";
    assert!(single_spaced(&ran.stdout).contains(words), "{}", ran.stdout);
}

/// Groq checks the JSON that its model wrote.
#[test]
fn a_generation_that_the_provider_refuses_is_asked_for_again_for_both_agents() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| match request.repeat {
        0 => refusal(
            400,
            json!({"message": "Failed to generate JSON.",
            "type": "invalid_request_error", "code": "json_validate_failed",
            "failed_generation": "{ \"answer\": "}),
        ),
        _ => scripted(request),
    });
    place.answer(&asking(&server, "n = 2"));
    assert_eq!(count(&outcomes(&place), "answered"), outcomes(&place).len());
    let critic = place.summary()["critic"].clone();
    assert_eq!(critic["not_reviewed"], 0);
    assert_eq!(critic["reviewed"], critic["first_draft_n"]);
}

/// The run exited with 5, although `env play` exits with 2 for the same error.
#[test]
fn an_address_that_redirects_is_an_error_of_the_options() {
    let place = Workplace::new();
    let server = FaultServer::start(|_| {
        Reply::plain(308, "").header("location", "http://elsewhere.invalid/v1")
    });
    let ran = place.chat(&server, "--n 1");
    ran.fails(2, &["it redirects"]);
}

/// The summary offered `--resume`, which refuses other prompts.
#[test]
fn a_run_that_ended_at_a_template_asks_for_a_new_run() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("mine")).unwrap();
    // The second turn cannot be asked.
    let template = "{% include 'page.j2' %}\nQuestion: {{ question }}\n\
                    {% if 'and in 2018' in question %}{{ gone }}{% endif %}";
    place.write("mine/analyst_user.j2", template);
    let server = FaultServer::start(scripted);
    let ran = place.chat(&server, "--mode conversations --n 1 -j 1 --prompts mine");
    ran.fails(2, &["analyst_user.j2", "start a new run"]);
    let shown = ran.unwrapped();
    let left = "Not complete: no outcome yet for 3 of 4 questions.";
    assert!(shown.contains(left), "{shown}");
    assert!(!shown.contains("--resume"), "{shown}");
}
