//! What the two agents accept as an answer: through the library where the
//! analysis alone decides, through the binary with a scripted model elsewhere.

use std::sync::Arc;

use rstest::rstest;
use serde_json::{Value as Json, json};

use convfinqa::dataset::{Document, Question, QuestionKey, QuestionKind};
use finqa_agents::pair::Answer;
use finqa_agents::pair::verify::{self, FindingKind};
use finqa_agents::parse::Analysis;
use finqa_core::number::{Unit, UnitKind, Value};
use finqa_core::question::CitedEvidence;

use crate::support::agents::is_critic;
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply, Request};

/// A page with amounts, a percentage with its sign, one by its label and one
/// that only the reader knows to be one.
fn question(text: &str) -> Question {
    let rows: [[&str; 3]; 6] = [
        ["", "2019", "2018"],
        ["Revenue", "1,250", "1,000"],
        ["Discount rate", "5.6%", "4.9%"],
        ["Margin (%)", "31.5", "30.1"],
        ["Coupon", "7.25", "7.5"],
        ["Growth", "12%", "8%"],
    ];
    let table = rows.iter().map(|row| row.map(str::to_owned).to_vec());
    Question {
        key: QuestionKey {
            id: "page".to_owned(),
            part: "qa".to_owned(),
        },
        kind: QuestionKind::StandAlone,
        document: Arc::new(Document {
            pre_text: vec!["The dividend yield was 3.2% in 2019.".to_owned()],
            table: table.collect(),
            own: true,
            ..Document::default()
        }),
        text: text.to_owned(),
        history: Vec::new(),
    }
}

fn analysis(program: &str, unit: UnitKind, answer: &str, cited: &[(&str, &str)]) -> Analysis {
    Analysis {
        program: (!program.is_empty()).then(|| program.to_owned()),
        unit: Some(Unit {
            kind: unit,
            scale: None,
        }),
        answer: answer.to_owned(),
        evidence: cited
            .iter()
            .map(|(id, literal)| CitedEvidence {
                id: (*id).to_owned(),
                literal: (*literal).to_owned(),
            })
            .collect(),
        ..Analysis::default()
    }
}

fn settle(analysis: &Analysis) -> Answer {
    Answer::from_analysis(analysis, &question("what was it?"))
}

#[rstest]
#[case::the_cell_has_the_sign("5.6", "5.6%", "5.6%")]
#[case::without_a_stated_answer("5.6", "", "5.6%")]
#[case::the_literal_keeps_the_sign("5.6%", "5.6%", "5.6%")]
#[case::the_label_has_the_sign("31.5", "", "31.5%")]
#[case::the_sentence_has_the_sign("3.2", "3.2%", "3.2%")]
#[case::only_the_answer_says_so("7.25", "7.25%", "7.25%")]
#[case::a_difference_in_points("subtract(5.6, 4.9)", "", "0.7%")]
#[case::an_average("add(5.6, 4.9), divide(#0, const_2)", "", "5.2%")]
#[case::a_quotient_is_a_fraction("divide(5.6, 4.9)", "", "114.3%")]
#[case::a_change_is_a_fraction("subtract(5.6, 4.9), divide(#0, 4.9)", "", "14.3%")]
#[case::amounts("subtract(1250, 1000), divide(#0, 1000)", "25%", "25.0%")]
#[case::times_100("divide(1250, 1000), multiply(#0, const_100)", "", "125.0%")]
#[case::a_fraction("divide(5.6, const_100)", "5.6%", "5.6%")]
#[case::a_row_of_cells_with_signs("table_max(Growth, none)", "12%", "12.0%")]
fn a_percentage_of_the_page_is_printed_as_it_stands(
    #[case] program: &str,
    #[case] stated: &str,
    #[case] printed: &str,
) {
    let analysis = analysis(program, UnitKind::Percent, stated, &[]);
    let answer = settle(&analysis);
    assert_eq!(answer.printed, printed);
    let found = verify::check(&question("what was it?"), &answer);
    assert!(
        !found.iter().any(|f| f.kind == FindingKind::AnswerMismatch),
        "{found:?}"
    );
}

#[test]
fn a_program_that_doubles_itself_is_measured_step_by_step() {
    let mut program = "add(1, 1)".to_owned();
    for at in 0..200 {
        program.push_str(&format!(", add(#{at}, #{at})"));
    }
    let analysis = analysis(&program, UnitKind::Percent, "", &[]);
    assert!(settle(&analysis).value.is_some());
}

#[rstest]
#[case::a_plain_number("divide(1250, const_100)", UnitKind::Number, "1250")]
#[case::a_ratio("divide(1250, 1000)", UnitKind::Ratio, "125")]
#[case::a_percentage("divide(1250, 1000)", UnitKind::Percent, "1.25%")]
fn a_factor_of_100_is_a_mismatch(
    #[case] program: &str,
    #[case] unit: UnitKind,
    #[case] stated: &str,
) {
    let answer = settle(&analysis(program, unit, stated, &[]));
    let found = verify::check(&question("what was it?"), &answer);
    assert!(
        found.iter().any(|f| f.kind == FindingKind::AnswerMismatch),
        "{found:?}"
    );
}

#[rstest]
#[case::the_cell(&[("r1c1", "1,250")], None)]
#[case::the_other_column(&[("r1c2", "1,250")], Some("r1c2 holds `1,000`, not 1250."))]
#[case::one_of_two_holds_it(&[("r1c2", "1,250"), ("r1c1", "1250")], None)]
#[case::no_such_cell(&[("r9c1", "1,250")], Some("1250 is cited from r9c1, which the page does not have."))]
#[case::a_sentence(&[("t1", "1250")], Some("t1 does not hold 1250."))]
#[case::another_figure_is_cited(&[("r1c2", "1,000")], None)]
#[case::a_row(&[("row 1", "1,250")], None)]
#[case::an_id_alone(&[("r1c1", "")], None)]
#[case::ids_alone(&[("r1c2", ""), ("r1c1", "")], None)]
#[case::the_id_of_the_other_column(&[("r1c2", "")], Some("r1c2 holds `1,000`, not 1250."))]
fn a_cited_place_must_hold_the_literal_of_the_program(
    #[case] cited: &[(&str, &str)],
    #[case] problem: Option<&str>,
) {
    let answer = settle(&analysis("1250", UnitKind::Number, "1,250", cited));
    let found = verify::check(&question("what was it?"), &answer);
    let citation = found
        .iter()
        .find(|f| f.kind == FindingKind::CitationMismatch);
    assert_eq!(citation.map(|f| f.problem.as_str()), problem);
    assert!(citation.is_none_or(|f| f.kind.sends_back()));
}

#[rstest]
#[case("NaN")]
#[case("inf")]
#[case("1e999")]
#[case("const_inf")]
#[case("divide(5, inf)")]
#[case("greater(inf, 5)")]
#[case("multiply(1e300, 1e300)")]
fn a_program_without_a_finite_value_is_not_executed(#[case] program: &str) {
    let answer = settle(&analysis(program, UnitKind::Number, "5", &[]));
    assert_eq!(answer.value, Some(Value::Number(5.0)));
    assert!(answer.program_error.is_some());
    assert!(!verify::unusable(&answer).is_empty());
}

#[test]
fn a_year_that_opens_a_sentence_is_not_its_value() {
    let stated = "2019 revenue was $ 1,250 million";
    let answer = settle(&analysis("", UnitKind::Number, stated, &[]));
    assert_eq!(answer.value, Some(Value::Number(1250.0)));
    assert_eq!(answer.printed, "$ 1,250 million");
}

#[rstest]
#[case("what was revenue in 2017?", true)]
#[case("what was revenue in 2018?", false)]
#[case("what was the change in revenue from 2017 to 2019?", true)]
#[case("what would revenue be in 2017 at this rate?", false)]
fn a_year_that_the_page_lacks_is_a_finding(#[case] text: &str, #[case] expected: bool) {
    let question = question(text);
    let analysis = analysis("1250", UnitKind::Number, "1250", &[]);
    let answer = Answer::from_analysis(&analysis, &question);
    let found = verify::check(&question, &answer);
    let lacks = found
        .iter()
        .any(|f| f.problem == "the question names 2017, but the page does not.");
    assert_eq!(lacks, expected, "{found:?}");
}

const PAGE: &str = "in millions,2019,2018\nRevenue,\"1,250\",\"1,000\"\nDiscount rate,5.6%,4.9%\n";

const REVENUE: &str = "what was revenue in 2019?";

/// Asks about [`PAGE`] with a scripted model; exit code, answer, server.
fn ask(
    question: &str,
    options: &str,
    script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (i32, Json, FaultServer) {
    let server = FaultServer::start(script);
    let place = Workplace::new();
    place.write("t.csv", PAGE);
    let url = server.base_url();
    let ran = place.run(&format!(
        "ask --table t.csv '{question}' --json -q --model m --base-url {url} {options}"
    ));
    (ran.code.unwrap(), ran.json(), server)
}

/// A model whose critic approves of the one answer that it gives.
fn approved(
    program: &'static str,
    unit: &'static str,
    answer: &'static str,
) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| match is_critic(request) {
        true => Reply::chat("ALL_OK"),
        false => reply(Some(program), unit, answer),
    }
}

fn reply(program: Option<&str>, unit: &str, answer: &str) -> Reply {
    let analysis = json!({"steps": ["read"], "answer": answer, "program": program,
        "evidence": [], "unit": unit});
    Reply::chat(&analysis.to_string())
}

#[test]
fn an_answer_without_a_value_is_asked_for_again_and_then_a_parse_failure() {
    let script = approved("divide(1250, 0)", "number", "");
    let (code, answer, server) = ask(REVENUE, "", script);
    assert_eq!((code, &answer["outcome"]), (4, &json!("parse_failure")));
    assert_eq!(answer["answer"], Json::Null);
    let told = answer["error"].as_str().unwrap();
    assert!(
        told.starts_with("its program cannot be executed (step 0"),
        "{told}"
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let reasked = requests[1].user();
    assert!(
        reasked.contains("neither one number nor yes or no"),
        "{reasked}"
    );
}

#[test]
fn an_approval_does_not_accept_a_program_that_cannot_be_executed() {
    let script = approved("divide(1250, 0)", "number", "1250");
    let (_, answer, _) = ask(REVENUE, "", script);
    assert_ne!(answer["stop"], "accepted");
    let findings = answer["rounds"][0]["findings"].to_string();
    assert!(findings.contains("it cannot be executed"), "{findings}");
}

#[test]
fn a_critic_that_failed_before_the_accepted_round_is_not_the_questions_error() {
    let script = |request: &Request| {
        let revised = request.user().contains("\"program\": \"1250\"");
        match is_critic(request) {
            true if revised => Reply::chat("ALL_OK"),
            true => Reply::error(400, "invalid_request", "no"),
            // The first program takes the wrong year, which the checks send back.
            false if request.body["messages"].as_array().unwrap().len() == 2 => {
                reply(Some("1000"), "number", "1000")
            }
            false => reply(Some("1250"), "number", "1250"),
        }
    };
    let (code, answer, _) = ask(REVENUE, "", script);
    assert_eq!((code, &answer["answer"]), (0, &json!("1250")), "{answer}");
    assert_eq!(answer["stop"], "accepted");
    assert_eq!(answer["rounds"][0]["verdict"], "skipped");
    assert_eq!(answer["error"], Json::Null);
}

#[test]
fn a_critic_that_failed_for_the_chosen_round_is_its_error() {
    let script = |request: &Request| match is_critic(request) {
        true => Reply::error(400, "invalid_request", "no"),
        false => reply(Some("1250"), "number", "1250"),
    };
    let (code, answer, _) = ask(REVENUE, "", script);
    assert_eq!((code, &answer["answer"]), (0, &json!("1250")), "{answer}");
    assert_eq!(answer["stop"], "no_verdict");
    assert_ne!(answer["error"], Json::Null);
}

#[test]
fn the_second_opinion_says_nothing_on_a_year_that_the_page_lacks() {
    let script = approved("1250", "number", "1250");
    let (_, answer, _) = ask("what was revenue in 2017?", "", script);
    assert_eq!(answer["second_opinion"], Json::Null);
    assert_ne!(answer["stop"], "accepted");
}

#[test]
fn a_verdict_is_constrained_where_the_server_can_and_words_elsewhere() {
    let constrained = |request: &Request| {
        let format = &request.body["response_format"];
        match format["json_schema"]["name"].as_str() {
            Some("verdict") => Reply::chat(r#"{"verdict": "ALL_OK", "findings": []}"#),
            _ => reply(Some("1250"), "number", "1250"),
        }
    };
    let free = |request: &Request| match request.body["response_format"]["type"].as_str() {
        Some("json_schema") => Reply::error(
            400,
            "invalid_request_error",
            "response_format of type 'json_schema' is not supported",
        ),
        None => Reply::chat("ALL_OK"),
        _ => reply(Some("1250"), "number", "1250"),
    };
    for script in [constrained as fn(&Request) -> Reply, free] {
        let (code, answer, _) = ask(REVENUE, "", script);
        assert_eq!((code, &answer["stop"]), (0, &json!("accepted")), "{answer}");
        assert_eq!(answer["rounds"][0]["verdict"], "ok", "{answer}");
    }
}
