//! Tests which answers the two agents accept, from an analysis alone and with a scripted model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rstest::rstest;
use serde_json::json;

use finqa_agents::llm::{HttpModel, Stop};
use finqa_agents::pair::verify::{self, FindingKind};
use finqa_agents::pair::{
    Answer, Backend, CallMemory, CriticMode, CriticVerdict, Interruption, OpinionUse, PairOptions,
    Solution, Solver, StopReason, TwoAgentSolver,
};
use finqa_agents::parse::Analysis;
use finqa_core::number::{Unit, UnitKind, Value};
use finqa_core::outcome::Outcome;
use finqa_core::question::{CitedEvidence, Document, Question, QuestionKey, QuestionKind};

use crate::models::openai;
use crate::support::fault_server::{FaultServer, Reply, Request, completion};

mod critic;
mod finish;
mod templates;

/// A question about a page with amounts and three percentages: one with its sign, one that its
/// label marks, and one that only a reader can recognise.
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

/// The checks must find exactly these kinds of errors in the answer of a program.
#[rstest]
#[case::right("what was revenue in 2019?", "1250", UnitKind::Number, &[])]
#[case::a_constant("what was revenue by month in 2019?", "divide(1250, 12)", UnitKind::Number, &[])]
#[case::not_on_the_page("what was revenue in 2019?", "77.7", UnitKind::Number, &[FindingKind::UnsupportedLiteral])]
#[case::another_year("what was revenue in 2019?", "1000", UnitKind::Number, &[FindingKind::PeriodMissing])]
#[case::an_unknown_year("what was revenue in 2017?", "1250", UnitKind::Number, &[FindingKind::PeriodMissing])]
#[case::from_an_unknown_year("what was the change in revenue from 2017 to 2019?", "1250", UnitKind::Number, &[FindingKind::PeriodMissing])]
#[case::a_hypothetical_year("what would revenue be in 2017 at this rate?", "1250", UnitKind::Number, &[])]
#[case::a_change("what was the percentage change in revenue from 2018 to 2019?", "subtract(1250, 1000), divide(#0, 1000)", UnitKind::Percent, &[])]
#[case::swapped("what was the change in revenue from 2018 to 2019?", "subtract(1000, 1250)", UnitKind::Number, &[FindingKind::PeriodOrder])]
#[case::over_the_later("what was the percentage change in revenue from 2018 to 2019?", "subtract(1250, 1000), divide(#0, 1250)", UnitKind::Percent, &[FindingKind::PeriodOrder])]
#[case::a_negative_increase("what was the increase in the yield?", "subtract(3.2, 5.6)", UnitKind::Number, &[FindingKind::PeriodOrder])]
#[case::no_percent("what percentage was it?", "divide(1000, 1250)", UnitKind::Number, &[FindingKind::Unit])]
#[case::no_yes_or_no("did revenue rise?", "1250", UnitKind::Number, &[FindingKind::YesNo])]
#[case::no_number("what was the change in revenue?", "greater(1250, 1000)", UnitKind::YesNo, &[FindingKind::YesNo])]
#[case::above_the_whole("what share of revenue was it in percent?", "divide(1250, 5.6)", UnitKind::Percent, &[FindingKind::Magnitude])]
#[case::beyond_1000_percent("by what percentage do they differ?", "divide(1250, 5.6)", UnitKind::Percent, &[FindingKind::Magnitude])]
#[case::not_executed("what was revenue?", "divide(1250, 0)", UnitKind::Number, &[FindingKind::NoValue, FindingKind::InvalidProgram])]
fn each_check_finds_its_own_error_and_no_other(
    #[case] text: &str,
    #[case] program: &str,
    #[case] unit: UnitKind,
    #[case] expected: &[FindingKind],
) {
    let question = question(text);
    let answer = Answer::from_analysis(&analysis(program, unit, "", &[]), &question);
    let found = verify::check(&question, &answer);
    let kinds: Vec<FindingKind> = found.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, expected, "{found:?}");
}

/// The finding was once "beyond 1,000 %", which makes no sense for the value 50.00.
#[test]
fn a_percentage_without_its_sign_is_told_to_have_one() {
    let answer = settle(&analysis("", UnitKind::Percent, "50.00", &[]));
    let found = verify::check(&question("what was the growth in percent?"), &answer);
    let told = found.iter().map(ToString::to_string);
    let told: Vec<String> = told.filter(|line| line.contains("50.00")).collect();
    let line = "answer: 50.00 without a % sign means 5000 %. \
                Fix: write 50.00%, or let the program yield the fraction.";
    assert_eq!(told, [line]);
}

#[test]
fn a_program_without_a_finite_value_is_not_executed() {
    for program in [
        "NaN", "inf", "1e999", "const_inf", "divide(5, inf)", "greater(inf, 5)",
        "multiply(1e300, 1e300)",
    ] {
        let answer = settle(&analysis(program, UnitKind::Number, "5", &[]));
        assert_eq!(answer.value, Some(Value::Number(5.0)), "{program}");
        assert!(answer.program_error.is_some(), "{program}");
        assert!(!verify::unusable(&answer).is_empty(), "{program}");
    }
}

#[test]
fn a_year_that_opens_a_sentence_is_not_its_value() {
    let stated = "2019 revenue was $ 1,250 million";
    let answer = settle(&analysis("", UnitKind::Number, stated, &[]));
    assert_eq!(answer.value, Some(Value::Number(1250.0)));
    assert_eq!(answer.printed, "$ 1,250 million");
}

const REVENUE: &str = "what was revenue in 2019?";

/// Asks a question with a scripted model. Returns the solution, and the server with the requests
/// that it received.
async fn ask(
    text: &str,
    change: impl FnOnce(&mut PairOptions),
    script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (Solution, FaultServer) {
    ask_again(text, change, CallMemory::default(), script).await
}

/// Like `ask`, with the calls of an earlier process.
async fn ask_again(
    text: &str,
    change: impl FnOnce(&mut PairOptions),
    memory: CallMemory,
    script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (Solution, FaultServer) {
    let server = FaultServer::start(script);
    let model = Arc::new(HttpModel::new(openai(&server)).unwrap());
    let mut options = PairOptions::new(Backend::Llm {
        analyst: model.clone(),
        critic: model,
    });
    change(&mut options);
    let pair = TwoAgentSolver::new(&options).unwrap();
    let asked = Arc::new(question(text));
    let solution = solved(pair.solve(asked, 0, memory, Stop::default(), &|_| {}).await);
    (solution, server)
}

/// The solution, even if the provider failed.
fn solved(solved: Result<Solution, Interruption>) -> Solution {
    solved.unwrap_or_else(|why| match why {
        Interruption::Provider(solution) => Solution {
            outcome: Outcome::ProviderError,
            ..*solution
        },
        other => panic!("{other}"),
    })
}

fn is_critic(request: &Request) -> bool {
    request.system().to_lowercase().contains("critic")
}

fn reply(program: &str, answer: &str) -> Reply {
    let analysis = json!({"steps": ["read"], "answer": answer, "program": program,
        "evidence": [], "unit": "number"});
    Reply::chat(&analysis.to_string())
}

/// An analyst whose program cannot be executed, and a critic that approves.
fn failing(answer: &'static str) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| {
        if is_critic(request) {
            Reply::chat("ALL_OK")
        } else {
            reply("divide(1250, 0)", answer)
        }
    }
}

fn printed(solution: &Solution) -> Option<&str> {
    Some(&solution.answer.as_ref()?.printed)
}

#[tokio::test]
async fn an_answer_without_a_value_is_asked_for_again_and_then_a_parse_failure() {
    let (solution, server) = ask(REVENUE, |_| {}, failing("")).await;
    assert_eq!(solution.outcome, Outcome::ParseFailure);
    assert_eq!(solution.answer, None);
    let told = solution.error.unwrap();
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

/// A reply that was cut at the user's own limit is not requested again.
#[tokio::test]
async fn a_reply_that_was_cut_is_asked_for_in_fewer_words() {
    let cut = |request: &Request| match request.index {
        0 => Reply::json(200, &completion(&"over and over ".repeat(900), "length")),
        _ => scripted("1250", "approves")(request),
    };
    let (solution, server) = ask(REVENUE, |_| {}, cut).await;
    assert_eq!(printed(&solution), Some("1250"));
    let again = &server.requests()[1];
    let asked = again.user();
    assert!(asked.contains("write fewer words"), "{asked}");
    assert!(again.last("assistant").len() < 1100, "only its beginning");
    let own = |options: &mut PairOptions| options.sampling.max_tokens = Some(400);
    let (solution, _) = ask(REVENUE, own, cut).await;
    assert_eq!(solution.outcome, Outcome::Truncated);
}

#[tokio::test]
async fn an_approval_does_not_accept_a_program_that_cannot_be_executed() {
    let (solution, _) = ask(REVENUE, |_| {}, failing("1250")).await;
    assert_ne!(solution.stop, StopReason::Accepted);
    let findings = &solution.rounds[0].findings;
    let mut problems = findings.iter().map(|it| &it.problem);
    assert!(
        problems.any(|it| it.contains("it cannot be executed")),
        "{findings:?}"
    );
}

#[tokio::test]
async fn a_critic_that_failed_before_the_accepted_round_is_not_the_questions_error() {
    let script = |request: &Request| {
        let revised = request.user().contains("\"program\": \"1250\"");
        if is_critic(request) {
            return if revised {
                Reply::chat("ALL_OK")
            } else {
                Reply::error(400, "invalid_request", "no")
            };
        }
        if request.body["messages"].as_array().unwrap().len() == 2 {
            // The first program uses the wrong year, so the checks send it back.
            reply("1000", "1000")
        } else {
            reply("1250", "1250")
        }
    };
    let (solution, _) = ask(REVENUE, |_| {}, script).await;
    assert_eq!(printed(&solution), Some("1250"));
    assert_eq!(solution.stop, StopReason::Accepted);
    assert_eq!(solution.rounds[0].verdict, CriticVerdict::Skipped);
    assert_eq!((solution.chosen_round, solution.error), (Some(2), None));
}

/// An analyst that always gives this answer, a different one each time (`another`), or none
/// (`prose`), and a critic that approves, fails or objects.
fn scripted(
    analyst: &'static str,
    critic: &'static str,
) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| match (is_critic(request), critic, analyst) {
        (true, "approves", _) => Reply::chat("ALL_OK"),
        (true, "fails", _) => Reply::error(400, "invalid_request", "no"),
        (true, ..) => Reply::chat(r#"{"findings": [{"where": "answer", "problem": "no."}]}"#),
        (false, _, "prose") => Reply::chat("I cannot say."),
        (false, _, "another") => reply("", &request.index.to_string()),
        _ => reply(analyst, analyst),
    }
}

#[rstest]
#[case::accepted("1250", "approves", OpinionUse::Off, "1250", StopReason::Accepted)]
#[case::the_critic_fails("1250", "fails", OpinionUse::Off, "1250", StopReason::NoVerdict)]
#[case::the_same_again("1250", "objects", OpinionUse::Off, "1250", StopReason::NoNewAnswer)]
#[case::another_each_time("another", "objects", OpinionUse::Off, "4", StopReason::RoundLimit)]
#[case::no_answer("prose", "approves", OpinionUse::Off, "", StopReason::Failed)]
#[case::the_opinion_agrees("1250", "approves", OpinionUse::Require, "1250", StopReason::Accepted)]
#[case::the_opinion_differs("1000", "approves", OpinionUse::Require, "", StopReason::NoNewAnswer)]
#[case::the_opinion_is_likelier(
    "7", "objects", OpinionUse::Arbitrate, "1250", StopReason::Arbitrated
)]
#[case::no_answer_is_replaced(
    "prose", "fails", OpinionUse::Arbitrate, "1250", StopReason::Arbitrated
)]
#[tokio::test]
async fn each_way_to_end_says_whose_answer_counts(
    #[case] analyst: &'static str,
    #[case] critic: &'static str,
    #[case] opinion: OpinionUse,
    #[case] answer: &str,
    #[case] stop: StopReason,
) {
    let change = |options: &mut PairOptions| {
        options.settings.second_opinion = opinion;
        options.settings.model_accuracy = Some(0.5);
    };
    let (solution, _) = ask(REVENUE, change, scripted(analyst, critic)).await;
    let found = printed(&solution).unwrap_or_default();
    assert_eq!(found, answer, "{solution:?}");
    assert_eq!(solution.stop, stop, "{solution:?}");
    let of_round = !answer.is_empty() && stop != StopReason::Arbitrated;
    assert_eq!(solution.chosen_round.is_some(), of_round);
    let outcome = match (answer, opinion) {
        ("", OpinionUse::Require) => Outcome::Abstained,
        ("", _) => Outcome::ParseFailure,
        _ => Outcome::Answered,
    };
    assert_eq!(solution.outcome, outcome);
    let seen = solution.answer_or_withheld();
    assert_eq!(seen, solution.answer.as_ref(), "later turns see no other");
    assert_eq!(solution.opinion.is_some(), opinion != OpinionUse::Off);
    let is_failed = answer.is_empty() || critic == "fails";
    assert_eq!(solution.error.is_some(), is_failed, "{solution:?}");
}

#[tokio::test]
async fn an_answer_that_repeats_the_critics_sentence_is_none() {
    let said = "the figure of 2019 is 1250 there.";
    let script = move |request: &Request| {
        if is_critic(request) {
            Reply::chat(&json!({"findings": [{"where": "answer", "problem": said}]}).to_string())
        } else if request.index == 0 {
            reply("1000", "1000")
        } else {
            reply("", said)
        }
    };
    let (solution, _) = ask(REVENUE, |_| {}, script).await;
    assert_eq!(printed(&solution), Some("1000"), "{solution:?}");
    assert_eq!(solution.rounds.len(), 1);
}

#[tokio::test]
async fn a_resumed_question_sends_and_records_only_what_has_no_reply() {
    let (first, _) = ask(REVENUE, |_| {}, scripted("1250", "objects")).await;
    assert_eq!(first.calls.len(), 4);
    for known in 0..=4 {
        let recorded = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&recorded);
        let memory = CallMemory {
            settled: first.calls[..known].to_vec(),
            record: Some(Box::new(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            })),
            ..CallMemory::default()
        };
        let script = scripted("1250", "objects");
        let (again, server) = ask_again(REVENUE, |_| {}, memory, script).await;
        let sent = (server.count(), recorded.load(Ordering::SeqCst));
        assert_eq!(sent, (4 - known, 4 - known), "{known}");
        assert_eq!((&again.rounds, again.stop), (&first.rounds, first.stop));
        assert_eq!(again.calls.len(), 4);
    }
}

#[tokio::test]
async fn without_a_critic_the_most_common_of_the_samples_is_the_answer() {
    let script = |request: &Request| match request.index {
        0 => reply("1000", "1000"),
        _ => reply("1250", "1250"),
    };
    let change = |options: &mut PairOptions| {
        options.settings.critic = Some(CriticMode::Off);
        options.settings.samples = 3;
    };
    let (solution, server) = ask(REVENUE, change, script).await;
    assert_eq!(printed(&solution), Some("1250"));
    assert_eq!(solution.votes.unwrap().to_string(), "1000:1 1250:2");
    assert_eq!((solution.stop, server.count()), (StopReason::NoVerdict, 3));
}

#[tokio::test]
async fn the_second_opinion_says_nothing_on_a_year_that_the_page_lacks() {
    let script = scripted("1250", "approves");
    let (solution, _) = ask("what was revenue in 2017?", |_| {}, script).await;
    assert_eq!(solution.opinion, None);
    assert_ne!(solution.stop, StopReason::Accepted);
}

#[tokio::test]
async fn a_verdict_is_constrained_where_the_server_can_and_words_elsewhere() {
    let constrained = |request: &Request| {
        let format = &request.body["response_format"];
        match format["json_schema"]["name"].as_str() {
            Some("verdict") => Reply::chat(r#"{"verdict": "ALL_OK", "findings": []}"#),
            _ => reply("1250", "1250"),
        }
    };
    let free = |request: &Request| match request.body["response_format"]["type"].as_str() {
        Some("json_schema") => Reply::error(
            400,
            "invalid_request_error",
            "response_format of type 'json_schema' is not supported",
        ),
        None => Reply::chat("ALL_OK"),
        _ => reply("1250", "1250"),
    };
    for script in [constrained as fn(&Request) -> Reply, free] {
        let (solution, _) = ask(REVENUE, |_| {}, script).await;
        assert_eq!(solution.stop, StopReason::Accepted, "{solution:?}");
        assert_eq!(solution.rounds[0].verdict, CriticVerdict::Ok);
    }
}
