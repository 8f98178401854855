//! The second opinion alongside a chat model, through the binary.

use serde_json::{Value as Json, json};

use crate::support::agents::is_critic;
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::json::has;

const QUESTION: &str = "what was the percentage change in revenue from 2018 to 2019?";

fn analysis(program: &str) -> Reply {
    let analysis = json!({"steps": ["read"], "answer": "", "program": program,
        "evidence": [], "unit": {"kind": "percent"}});
    Reply::chat(&analysis.to_string())
}

/// Asks about revenue of 1,250 after 1,000 with an analyst that gives this
/// program, and a critic that approves; exit code, answer, server.
fn ask(program: &'static str, options: &str) -> (i32, Json, FaultServer) {
    let server = FaultServer::start(move |request| {
        if is_critic(request) {
            Reply::chat("ALL_OK")
        } else {
            analysis(program)
        }
    });
    let place = Workplace::new();
    place.write(
        "t.csv",
        "in millions,2019,2018\nRevenue,\"1,250\",\"1,000\"\n",
    );
    let url = server.base_url();
    let ran = place.run(&format!(
        "ask t.csv '{QUESTION}' --json -q --model m --base-url {url} {options}"
    ));
    let json = serde_json::from_str(&ran.stdout).unwrap_or(Json::Null);
    (ran.code.unwrap(), json, server)
}

const RIGHT: &str = "subtract(1250, 1000), divide(#0, 1000)";
const WRONG: &str = "divide(1250, 1000)";

fn critic_saw_the_opinion(server: &FaultServer) -> bool {
    let critic = server.requests().into_iter().find(is_critic);
    critic.is_some_and(|request| {
        request
            .user()
            .contains("a second analyst, which works by rules, answers 25.0%")
    })
}

#[test]
fn a_sure_opinion_that_differs_is_shown_to_the_critic_with_its_cells() {
    let (code, answer, server) = ask(WRONG, "");
    assert_eq!(code, 4, "{answer}");
    assert!(critic_saw_the_opinion(&server));
    let critic = server.requests().into_iter().find(is_critic).unwrap();
    assert!(critic.user().contains("from r1c1 (1250), r1c2 (1000)"));
    // It is a hint: the critic approved, so nothing is sent back.
    assert_eq!(server.count(), 2);
    has(
        &answer,
        json!({"second_opinion": {"agrees": false, "printed": "25.0%"}}),
    );
    let doubt = answer["doubt"].as_str().unwrap_or_default();
    assert!(
        doubt.starts_with("the embedded analyst is sure of 25.0% (relative change: Revenue"),
        "{answer}"
    );
}

#[test]
fn an_opinion_that_agrees_or_is_only_recorded_is_not_a_finding() {
    for (program, options) in [(RIGHT, ""), (WRONG, "--second-opinion record")] {
        let (code, answer, server) = ask(program, options);
        assert_eq!(code, 0, "{answer}");
        assert!(!critic_saw_the_opinion(&server), "{program:?} {options:?}");
        assert_eq!(answer["second_opinion"]["agrees"], program == RIGHT);
        assert_eq!(answer["doubt"], Json::Null);
    }
    let (_, answer, _) = ask(WRONG, "--second-opinion off");
    assert_eq!(answer["second_opinion"], Json::Null);
}

#[test]
fn the_llm_critic_is_asked_only_where_an_answer_is_doubted() {
    let asked = |program, options: &str| {
        let (_, answer, server) = ask(program, &format!("--critic auto {options}"));
        assert_eq!(answer["rounds"][0]["verdict"], "ok", "{answer}");
        server.requests().into_iter().filter(is_critic).count()
    };
    assert_eq!(asked(RIGHT, ""), 0);
    assert_eq!(asked(WRONG, ""), 1);
    assert_eq!(asked(WRONG, "--second-opinion off"), 0);
}

#[test]
fn a_replaced_answer_is_fixed_by_the_arbitration_and_not_by_the_critic() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            Reply::chat(
                r#"{"findings": [{"where": "answer", "problem": "It is another figure.", "fix": "Read it again."}]}"#,
            )
        } else {
            analysis("1")
        }
    });
    let place = Workplace::new();
    let options = "--second-opinion arbitrate --max-rounds 2 --n 12 --model-accuracy 0.2";
    place.chat(&server, options).succeeds();
    let summary = place.summary();
    let critic = &summary["critic"];
    let arbitration = &summary["second_opinion"]["arbitration"];
    assert_eq!(critic["sent_back"], 16, "{critic}");
    assert_eq!(critic["unchanged"], 16, "{critic}");
    assert!(arbitration["fixed"].as_u64() > Some(0), "{arbitration}");
}

/// The checks send the first draft back, and the model the second, which they accept.
#[test]
fn a_later_round_counts_for_the_critic_that_sent_it_back() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            let is_second = request.user().contains("\"31415\"");
            return Reply::chat(if is_second {
                r#"{"findings": [{"where": "answer", "problem": "It is another figure.", "fix": "Read it again."}]}"#
            } else {
                "ALL_OK"
            });
        }
        let conversation = request.conversation();
        let replies = conversation.iter().filter(|(role, _)| role == "assistant");
        let stated = match replies.count() {
            0 => return analysis("add(98765, 4321)"),
            1 => "31415",
            _ => "27182",
        };
        let analysis = json!({"evidence": [], "program": null, "steps": ["read it off"],
            "answer": stated, "unit": "number"});
        Reply::chat(&analysis.to_string())
    });
    let place = Workplace::new();
    let options = "-q -n 4 --critic llm --max-rounds 3 --second-opinion off";
    place.chat(&server, options).succeeds();
    let critic = &place.summary()["critic"];
    let changed = |name: &str| {
        let worth = critic["worth"].as_array().unwrap();
        let found = worth.iter().find(|worth| worth["critic"] == name);
        found.map(|worth| worth["changed"].clone())
    };
    assert_ne!(critic["sent_back"], 0, "{critic}");
    let sent_back = Some(critic["sent_back"].clone());
    assert_eq!(
        [changed("checks"), changed("model")],
        [sent_back.clone(), sent_back]
    );
}

/// A run said that 61 answers were sent back, not 87: it counted only those with a readable
/// revision.
#[test]
fn an_answer_whose_revision_cannot_be_read_counts_as_sent_back() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            return Reply::chat(
                r#"{"findings": [{"where": "answer", "problem": "It is another figure.", "fix": "Read it again."}]}"#,
            );
        }
        let conversation = request.conversation();
        if conversation.iter().any(|(role, _)| role == "assistant") {
            return Reply::chat("I cannot say.");
        }
        analysis("add(1, 1)")
    });
    let place = Workplace::new();
    let options = "-n 4 --critic llm --second-opinion off";
    let printed = place.chat(&server, options).succeeds().unwrapped();
    let critic = &place.summary()["critic"];
    let n = critic["first_draft_n"].as_u64().unwrap();
    for count in ["sent_back", "without_revision", "unchanged"] {
        assert_eq!(critic[count], n, "{count}: {critic}");
    }
    assert_eq!(critic["unneeded"], 0, "{critic}");
    let model = &critic["worth"][1];
    assert_eq!(
        (&model["critic"], &model["left"]),
        (&"model".into(), &n.into())
    );
    let line = format!("sent back {n} of {n} answers ({n} without a readable revision); 0 became");
    assert!(printed.contains(&line), "{printed}");
}

/// The line by which a user decides whether to keep the critic's model was left out.
#[test]
fn a_critic_that_sends_nothing_back_is_said_to_be_worth_nothing() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            return Reply::chat("ALL_OK");
        }
        let analysis = json!({"evidence": [], "program": null, "steps": ["read it off"],
            "answer": "31415", "unit": "number"});
        Reply::chat(&analysis.to_string())
    });
    let place = Workplace::new();
    let options = "-n 12 --critic llm --second-opinion off";
    let printed = place.chat(&server, options).succeeds().unwrapped();
    let worth = &place.summary()["critic"]["worth"];
    let mut critics = worth.as_array().unwrap().iter();
    let model = critics.find(|it| it["critic"] == "model").unwrap();
    assert_eq!(
        (&model["changed"], &model["interval"]),
        (&0.into(), &Json::Null)
    );
    let n = &model["n"];
    let line =
        format!("Worth of the critic's model: 0.0 points by FE (it sent back none of {n} answers)");
    assert!(printed.contains(&line), "{printed}");
    let page = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(page.contains("none fixed or broken"));
}

#[test]
fn arbitration_takes_the_accuracy_that_an_earlier_run_implies() {
    let server = FaultServer::start(|_| analysis("1"));
    let place = Workplace::new();
    let options = "--mode conversations --n 12 --critic off --json";
    let refused = place.chat(&server, "--second-opinion arbitrate");
    refused.fails(2, &["--model-accuracy", "second_opinion.model_accuracy"]);
    let first = place.chat(&server, options).succeeds().json();
    let accuracy = &first["second_opinion"]["model_accuracy"];
    let arbitrated = format!("{options} --second-opinion arbitrate --model-accuracy {accuracy}");
    let second = place.chat(&server, &arbitrated).succeeds().json();
    let rows = place.rows("output/output.csv");
    assert!(
        rows.iter().any(|row| row["stop"] == "arbitrated"),
        "{rows:?}"
    );
    let effect = &second["second_opinion"]["arbitration"];
    assert!(
        effect["fixed"].as_u64() > effect["broken"].as_u64(),
        "{effect}"
    );
}

#[test]
fn a_run_puts_votes_and_opinions_into_its_csv_and_summary() {
    let server = FaultServer::start(|_| analysis("1"));
    let place = Workplace::new();
    let ran = place.chat(&server, "--critic rules --max-rounds 1 --samples 2 --n 5");
    let rows = place.rows("output/output.csv");
    assert!(!rows.is_empty(), "{}", ran.stderr);
    assert!(rows.iter().all(|row| row["votes"] == "1:2"));
    let opinions: Vec<_> = rows
        .iter()
        .filter(|row| !row["second_opinion"].is_empty())
        .collect();
    assert!(!opinions.is_empty());
    for row in &opinions {
        let agrees = ["True", "False"].contains(&row["opinion_agrees"].as_str());
        let p: f64 = row["opinion_confidence"].parse().unwrap();
        assert!(agrees && (0.0..=1.0).contains(&p), "{row:?}");
    }
    let counted = &place.summary()["second_opinion"];
    let n = |part: &str| counted[part]["n"].as_u64().unwrap_or(0);
    assert_eq!(n("agreed") + n("differed"), opinions.len() as u64);
    ran.prints("Second opinion of the embedded analyst: ");
}
