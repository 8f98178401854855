//! `improve`: a better prompt is promoted, a useless one is not, and nothing is asked twice.

use serde_json::{Value as Json, json};

use crate::mlflow::fake::Fake;
use crate::support::agents::analysis;
use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request};

/// Pages; about half of them are gate pages.
const PAGES: usize = 64;
/// Stands once in the analyst's conventions.
const OLD: &str = "CONVENTIONS";
/// What the good candidate adds, and the mock obeys.
const RULE: &str = "Mind the header.";
/// A gold that is on no page.
const GOLD: &str = "987654.25";

fn place(with_gold: bool) -> Workplace {
    let records = (0..PAGES).map(|page| {
        let mut record = json!({
            "id": format!("Single_C{page}/2001/page_1.pdf-1"),
            "filename": format!("C{page}/2001/page_1.pdf"),
            "pre_text": [format!("this is sheet {page} . of 45678 units .")],
            "post_text": [],
            "table": [["", "2001", "2000"], ["sales", "40", "30"]],
            "qa": {"question": "what were sales in 2001?"}
        });
        if with_gold {
            record["qa"]["answer"] = json!(GOLD);
            record["qa"]["program"] = json!("add(987654.25, const_0)");
            record["qa"]["exe_ans"] = json!(987654.25);
        }
        record
    });
    let place = Workplace::new();
    place.write("data.json", &json!(records.collect::<Vec<_>>()).to_string());
    place
}

/// A model that is right on two of three pages, and with the rule on all; its proposals are those
/// given, in turn.
fn server(proposals: Vec<Reply>) -> FaultServer {
    let next = std::sync::atomic::AtomicUsize::new(0);
    FaultServer::start(move |request| {
        if is_proposal(request) {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            return proposals[at].clone();
        }
        let user = request.user();
        let sheet = user.split("this is sheet ").nth(1).unwrap();
        let sheet: usize = sheet.split(' ').next().unwrap().parse().unwrap();
        let right = !sheet.is_multiple_of(3) || request.system().contains(RULE);
        let program = if right { GOLD } else { "40" };
        analysis(program)
    })
}

fn is_proposal(request: &Request) -> bool {
    request.system().contains("improve the prompt templates")
}

fn change(new: &str) -> Reply {
    let reason = "it <b>helps</b>\u{1b}[2J";
    let reply = json!({"template": "conventions.j2", "old": OLD, "new": new, "reason": reason});
    Reply::chat(&reply.to_string())
}

fn improve(place: &Workplace, server: &FaultServer, more: &str) -> Ran {
    improve_with(place, server, more, &[])
}

fn improve_with(
    place: &Workplace,
    server: &FaultServer,
    more: &str,
    variables: &[(&str, &str)],
) -> Ran {
    let url = server.base_url();
    let line = format!(
        "improve --model m --base-url {url} --data-path data.json --critic off --second-opinion off \
         --detect 20 {more}"
    );
    place.run_with(&line, variables)
}

#[test]
fn a_candidate_that_helps_is_promoted_and_the_same_command_asks_nothing_again() {
    let place = place(true);
    let (helps, broken) = (format!("{OLD}\n{RULE}"), format!("{OLD} {{{{ nothing }}}}"));
    let server = server(vec![
        change(&helps),
        Reply::chat("I cannot."),
        change(&broken),
        change(&format!("{OLD}\nTake care.")),
        Reply::chat("{}"),
    ]);
    let found = improve(&place, &server, "--json").succeeds().json();
    assert_eq!(found["promoted"], 1);
    let [first, second, third] = [0, 1, 2].map(|at| &found["candidates"][at]);
    assert_eq!(first["passes"], true);
    assert_eq!(first["effect"]["lost"], 0);
    assert!(
        first["effect"]["p"].as_f64().unwrap() < 0.05 / 3.0,
        "{first}"
    );
    let not_run = |candidate: &Json| candidate["rejected"].as_str().unwrap().to_owned();
    assert!(not_run(second).contains("not a proposal: no JSON object"));
    assert!(not_run(third).contains("no longer renders"), "{third}");
    assert!(found["sealed"]["difference"].as_f64().unwrap() > 0.1);
    // The records are split once, and the prompts can be used.
    let folder = format!("output/improve/{}", found["id"].as_str().unwrap());
    let split = place.json(&format!("{folder}/split.json"));
    let parts = ["propose", "gate", "sealed"].map(|part| split[part].as_array().unwrap().len());
    assert_eq!(parts.iter().sum::<usize>(), PAGES);
    let prompts = found["prompts"].as_str().unwrap();
    assert!(
        place
            .read(&format!("{prompts}/conventions.j2"))
            .contains(RULE)
    );
    let page = place.read(&format!("{folder}/improve.html"));
    for words in [
        "Candidate 1 is promoted", RULE, "not run: the proposer", "it &lt;b&gt;helps",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Each evaluation is a run: propose and gate, the gate again, the sealed pages twice.
    let answers = parts[0] + 2 * parts[1] + 2 * parts[2];
    assert_eq!(server.count(), answers + 3);
    assert_eq!(
        place
            .run("runs")
            .succeeds()
            .stdout
            .matches("improve-")
            .count(),
        4
    );
    for request in server
        .requests()
        .iter()
        .filter(|request| is_proposal(request))
    {
        let text = String::from_utf8_lossy(&request.raw);
        assert!(text.contains("what were sales in 2001?") && !text.contains(GOLD));
        // Of the gate it is told one bit a candidate.
        let told = text.split("TRIED").nth(1).unwrap_or("(passed)");
        assert!(
            told.contains("(passed)") && !told.contains("points"),
            "{told}"
        );
    }
    let again = improve(&place, &server, "--json").succeeds().json();
    assert_eq!((server.count(), &again), (answers + 3, &found));
    let shown = improve(&place, &server, "");
    shown.succeeds().prints("helps</b>␛[2J");
    assert!(!shown.stdout.contains('\u{1b}'), "{}", shown.stdout);
    // A gain and its interval are in one line of 80 columns.
    let gains = first["effect"]["interval"]["high"].as_f64().unwrap();
    shown.prints(&format!("+{:.1}]", 100.0 * gains));
    // Another proposal is not credited with the run of the first.
    std::fs::remove_dir_all(place.path(&format!("{folder}/replies"))).unwrap();
    let other = improve(&place, &server, "--json").succeeds().json();
    assert_eq!(other["candidates"][0]["effect"]["difference"], 0.0);
    assert_eq!(server.count(), answers + 3 + parts[1] + 2);
}

#[test]
fn a_search_is_four_runs_to_mlflow_and_replays_without_a_request() {
    let recorded = place(true);
    let server = server(vec![
        change(&format!("{OLD}\n{RULE}")),
        Reply::chat("I cannot."),
        Reply::chat("I still cannot."),
    ]);
    let mlflow = Fake::start(|_| None);
    let tracked = [("MLFLOW_TRACKING_URI", &*mlflow.uri())];
    let found = improve_with(&recorded, &server, "--cache replies --json", &tracked);
    let found = found.succeeds().json();
    assert_eq!(found["promoted"], 1);
    assert_eq!(mlflow.told().status, "FINISHED");
    let runs = std::fs::read_dir(recorded.path("output/runs")).unwrap();
    let sent = runs.filter(|run| run.as_ref().unwrap().path().join("mlflow.json").is_file());
    assert_eq!(sent.count(), 4);
    let (sent, fresh) = (server.count(), place(true));
    let replay = format!("--replay {} --json", recorded.path("replies").display());
    assert_eq!(improve(&fresh, &server, &replay).succeeds().json(), found);
    assert_eq!(server.count(), sent);
}

#[test]
fn a_candidate_without_effect_is_not_promoted_and_a_failed_search_continues() {
    let place = place(true);
    let server = server(vec![
        Reply::error(401, "invalid_api_key", "the key has run out"),
        change(&format!("{OLD}\nAs on the page with 45,678 units.")),
        change(&format!("{OLD}\nTake care.")),
    ]);
    improve(&place, &server, "").fails(5, &["the key has run out"]);
    let before = server.count();
    let found = improve(&place, &server, "--json").succeeds().json();
    assert_eq!(
        (&found["promoted"], &found["sealed"]),
        (&Json::Null, &Json::Null)
    );
    let candidates = found["candidates"].as_array().unwrap();
    let results: Vec<_> = candidates.iter().map(|it| &it["rejected"]).collect();
    assert_eq!(
        results,
        [&json!("it adds the figure 45678 of a page"), &Json::Null]
    );
    assert_eq!(candidates[1]["effect"]["difference"], 0.0);
    // The next proposal is told that the first was rejected, and not what of the data it held.
    let told = server.requests().into_iter().rfind(is_proposal).unwrap();
    let told = String::from_utf8(told.raw).unwrap();
    assert!(told.contains("it broke a rule") && !told.contains("45678"));
    let gate = candidates[1]["effect"]["n"].as_u64().unwrap();
    assert_eq!(server.count(), before + 2 + usize::try_from(gate).unwrap());
}

#[test]
fn a_search_that_cannot_succeed_is_refused_before_anything_is_sent() {
    let server = server(Vec::new());
    let with_gold = place(true);
    let power = [
        "the gate has", "takes 521 to detect a gain of 5 points", "15.0 % (assumed)",
    ];
    let url = server.base_url();
    let refused = format!("improve --model m --base-url {url} --data-path data.json");
    with_gold.run(&refused).fails(2, &power);
    let two = format!("{refused} --n 2 --detect 90");
    with_gold.run(&two).fails(2, &["not enough data"]);
    improve(&place(false), &server, "").fails(3, &["improve needs gold answers"]);
    let stated = "--calibration none.json --max-error 5%";
    improve(&with_gold, &server, stated).fails(2, &["take --shard, --only or --max-error"]);
    assert_eq!(server.count(), 0);
}
