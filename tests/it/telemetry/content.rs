//! What must not leave: questions and replies unless asked for, gold and
//! secrets never.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::agents::{is_critic, question_of, scripted};
use crate::support::cli::{Ran, Workplace, sample_records};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::traces::{Span, collector, questions, received};

const KEY: &str = "sesame-open-the-door";

/// Whether content may leave.
#[derive(Clone, Copy, PartialEq)]
enum Texts {
    Kept,
    Exported,
}

fn ask(
    place: &Workplace,
    model: &FaultServer,
    collector: &FaultServer,
    texts: Texts,
    more: &str,
) -> Ran {
    let line = format!(
        "--model scripted --base-url {} --log json",
        model.base_url()
    );
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url()),
        ("OPENAI_API_KEY", KEY),
        ("RUST_LOG", "trace"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ];
    let given = variables.len() - usize::from(texts == Texts::Kept);
    place.run_with(&format!("{line} {more}"), &variables[..given])
}

/// Every byte that left: to the collector, into the file, and as log lines.
fn exported(place: &Workplace, collector: &FaultServer, ran: &Ran) -> String {
    let mut all = ran.stderr.clone();
    for request in collector.requests() {
        all.push_str(&String::from_utf8_lossy(&request.raw));
    }
    all + &std::fs::read_to_string(place.run_folder().join("traces.jsonl")).unwrap()
}

/// Whether a text is there by itself: digits of an answer may be in an id, a time
/// or a duration by chance.
fn holds(all: &str, text: &str) -> bool {
    let apart = |c: char| !c.is_ascii_alphanumeric() && c != '.';
    all.match_indices(text).any(|(at, _)| {
        all[..at].chars().next_back().is_none_or(apart)
            && all[at + text.len()..].chars().next().is_none_or(apart)
    })
}

#[test]
fn questions_and_replies_leave_only_on_request() {
    let model = FaultServer::start(|request| {
        if !is_critic(request) && question_of(request).contains("minimum lease") {
            // An outcome whose message quotes the reply.
            return Reply::chat("no number, only prattle");
        }
        scripted(request)
    });
    for asked in [Texts::Kept, Texts::Exported] {
        let content = asked == Texts::Exported;
        let (place, collector) = (Workplace::new(), collector());
        let ran = ask(
            &place, &model, &collector, asked, "--data-path sample --n 4",
        );
        ran.ends(4);
        let all = exported(&place, &collector, &ran);
        let rows = place.rows("output/output.csv");
        let texts = rows.iter();
        let texts = texts.flat_map(|row| [&row["question"], &row["prediction"]]);
        for text in texts.filter(|text| text.len() > 3) {
            assert_eq!(holds(&all, text), content, "{text:?}");
        }
        let texts = ["invented company", "prattle", "ALL_OK", "read it off"];
        let names = [
            "gen_ai.input.messages", "gen_ai.output.messages", "mlflow.spanInputs",
        ];
        for text in texts.iter().chain(&names) {
            assert_eq!(all.contains(text), content, "{text:?}");
        }
        let prompt = ran.stderr.contains("invented company");
        assert!(!prompt, "no prompt in log lines");
    }
}

/// Providers quote what they refuse, and libraries log bodies that they cannot read.
#[rstest]
#[case::refused(|quoted: &str| Reply::error(400, "invalid_prompt", quoted))]
#[case::filtered(|quoted: &str| Reply::error(400, "content_filter", quoted))]
#[case::failing(|quoted: &str| Reply::error(500, "server_error", quoted).header("retry-after-ms", "1"))]
#[case::no_json(|quoted: &str| Reply::plain(200, &format!("{{\"choices\": [{{\"message\": {{\"content\": \"{quoted}")))]
#[case::a_page(|quoted: &str| Reply::new(502, "text/html", format!("<title>{quoted}</title>")))]
fn an_error_that_quotes_the_prompt_leaves_only_on_request(#[case] reply: fn(&str) -> Reply) {
    let model = FaultServer::start(move |request| {
        let user = request.user().replace('"', "");
        let prompt = user.split_whitespace().collect::<Vec<_>>().join(" ");
        reply(&format!("cannot read invented company: {prompt}"))
    });
    for asked in [Texts::Kept, Texts::Exported] {
        let content = asked == Texts::Exported;
        let (place, collector) = (Workplace::new(), collector());
        let more = "--data-path sample --n 1 --attempts 1";
        let mut ran = ask(&place, &model, &collector, asked, more);
        assert!(matches!(ran.code, Some(4 | 5)), "{}", ran.stderr);
        // What ends the program is said to its user as it is.
        let told = ran.stderr.lines();
        ran.stderr = told.filter(|line| !line.contains("exit_code")).collect();
        let all = exported(&place, &collector, &ran);
        ran.tells("call failed");
        assert_eq!(all.contains("invented company"), content, "{all}");
    }
}

/// A withheld answer is content too.
#[test]
fn an_answer_that_is_withheld_is_not_quoted() {
    let model = FaultServer::start(scripted);
    let (place, collector) = (Workplace::new(), collector());
    let more = "--data-path sample --n 4 --second-opinion require";
    let ran = ask(&place, &model, &collector, Texts::Kept, more);
    let mut rows = place.rows("output/output.csv").into_iter();
    let withheld = rows.any(|row| row["outcome"] == "abstained");
    assert!(withheld, "{}", ran.stderr);
    let all = exported(&place, &collector, &ran);
    assert!(!all.contains("the second opinion is "), "{all}");
}

#[test]
fn content_has_the_form_of_the_conventions() {
    let (place, collector) = (Workplace::new(), collector());
    let model = FaultServer::start(scripted);
    let more = "--data-path sample --n 1";
    ask(&place, &model, &collector, Texts::Exported, more).succeeds();
    let spans = received(&collector);
    let row = &place.rows("output/output.csv")[0];
    let parsed = |span: &Span, name| serde_json::from_str::<Value>(span.text(name)).unwrap();

    let root = questions(&spans)[0];
    let said = json!([{"role": "user", "parts": [{"type": "text", "content": row["question"]}]}]);
    assert_eq!(parsed(root, "gen_ai.input.messages"), said);
    assert_eq!(
        parsed(root, "mlflow.spanInputs"),
        json!({"messages": [{"role": "user", "content": row["question"]}]})
    );
    assert_eq!(
        parsed(root, "mlflow.spanOutputs")["messages"],
        json!([{"role": "assistant", "content": row["prediction"]}])
    );

    for call in spans.iter().filter(|span| span.name == "chat scripted") {
        let sent = parsed(call, "gen_ai.input.messages");
        assert_eq!(sent[0]["role"], "system");
        assert_eq!(sent[1]["role"], "user");
        let prompt = sent[1]["parts"][0]["content"].as_str().unwrap();
        assert!(prompt.contains("invented company"), "the whole prompt");
        let got = parsed(call, "gen_ai.output.messages");
        assert_eq!(got[0]["role"], "assistant");
        assert_eq!(got[0]["finish_reason"], "stop");
        assert!(got[0]["parts"][0]["content"].is_string());
    }
}

#[test]
fn secrets_are_removed_from_traces_and_logs() {
    let (place, collector) = (Workplace::new(), collector());
    // A server that repeats the key it was sent, in a reply and in an error.
    let model = FaultServer::start(|request| {
        let key = request.key().unwrap().to_owned();
        if is_critic(request) {
            return Reply::chat(&format!("ALL_OK by {key} and sk-abcdefghijklmnopqrstuv"));
        }
        if request.repeat == 0 {
            return Reply::error(503, "x", &format!("{key} is busy")).header("retry-after-ms", "1");
        }
        scripted(request)
    });
    let more = "--data-path sample --n 1";
    let ran = ask(&place, &model, &collector, Texts::Exported, more);
    ran.succeeds();
    let all = exported(&place, &collector, &ran);
    assert!(all.contains("ALL_OK by [redacted] and [redacted]"), "{all}");
    assert!(!all.contains(KEY) && !all.contains("sk-abcdefgh"));
}

/// A record whose golds are numbers that occur nowhere else.
fn marked(place: &Workplace) -> usize {
    let mut record = sample_records().remove(0);
    record["qa"]["answer"] = json!("918273999%");
    record["qa"]["program"] = json!("add(918273998, const_1)");
    record["qa"]["exe_ans"] = json!(918_273_999.0);
    let answers = record["annotation"]["exe_ans_list"].as_array();
    let turns = answers.unwrap().len();
    for turn in 0..turns {
        record["annotation"]["exe_ans_list"][turn] = json!(marker(turn));
        record["annotation"]["turn_program"][turn] = json!(marker(turn).to_string());
    }
    place.write("marked.json", &json!([record]).to_string());
    turns
}

fn marker(turn: usize) -> u64 {
    918_273_100 + turn as u64
}

/// With the dataset's history an earlier turn's gold is part of the prompt.
#[test]
fn no_gold_is_exported_but_that_of_earlier_turns_on_request() {
    let model = FaultServer::start(scripted);
    for mode in ["questions", "conversations", "conversations --history gold"] {
        let (place, collector) = (Workplace::new(), collector());
        let turns = marked(&place);
        let more = format!("--data-path marked.json --mode {mode}");
        let ran = ask(&place, &model, &collector, Texts::Exported, &more);
        ran.succeeds();
        assert!(place.read("output/output.csv").contains("918273"));
        let all = exported(&place, &collector, &ran);
        let earlier = if mode.contains("gold") { turns - 1 } else { 0 };
        for turn in 0..turns {
            let is_there = all.contains(&marker(turn).to_string());
            assert_eq!(is_there, turn < earlier, "{mode}: gold of turn {turn}");
        }
        assert!(!all.contains("918273999"), "{mode}: the record's own");
    }
}
