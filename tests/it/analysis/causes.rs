//! Wrong answers made by hand, each in one way, and the causes found.

use finqa_journal::answers::open_answers;
use finqa_score::analysis::{Cause, Miss, analyze};
use finqa_score::dataset::sample;
use finqa_score::score::Rule;
use rstest::rstest;

use crate::support::cli::Workplace;

const CHANGE: &str = "Single_NOVX/2019/page_41.pdf-1";
const LEASES: &str = "Double_ORLN/2017/page_12.pdf";
const SPENDING: &str = "Double_NOVX/2019/page_41.pdf";
const PLANS: &str = "Single_CNQY/2010/page_112.pdf-1";

/// The misses of rows `id,part,prediction,program,outcome` on the sample.
fn misses(rows: &[&str], rule: Rule) -> Vec<Miss> {
    let place = Workplace::new();
    let text = "id,part,prediction,program,outcome\n".to_owned() + &rows.join("\n");
    let file = place.write("answers.csv", &text);
    let answers = open_answers(&file, Some(&sample().unwrap())).unwrap();
    analyze(&answers, rule).misses
}

fn only(row: &str, rule: Rule) -> Miss {
    let mut misses = misses(&[row], rule);
    assert_eq!(misses.len(), 1, "{row}: {misses:#?}");
    misses.remove(0)
}

#[rstest]
#[case::sign(CHANGE, "qa", "3.7%", Cause::Sign, "")]
#[case::scale(SPENDING, "qa_0", "3.354", Cause::Scale, "")]
#[case::scale_and_sign(SPENDING, "qa_0", "-3354000", Cause::ScaleAndSign, "")]
#[case::absolute(
    CHANGE,
    "qa",
    "-2410",
    Cause::AbsoluteForRelative,
    "gives the difference instead of the relative change"
)]
#[case::relative(
    SPENDING,
    "qa_0",
    "16.97%",
    Cause::AbsoluteForRelative,
    "gives the relative change instead of the difference"
)]
#[case::complement(LEASES, "qa_0", "79.8%", Cause::Complement, "")]
#[case::swapped(CHANGE, "qa", "3.869%", Cause::SwappedOperands, "")]
#[case::base(CHANGE, "qa", "-3.869%", Cause::WrongBase, "")]
#[case::column(CHANGE, "qa", "16.126%", Cause::WrongColumn, "")]
#[case::row(CHANGE, "qa", "7.535%", Cause::WrongRow, "")]
#[case::operator(LEASES, "qa_0", "56060", Cause::Operator, "")]
#[case::steps(LEASES, "qa_1", "31.3", Cause::Steps, "")]
#[case::operand(SPENDING, "qa_0", "23118", Cause::Steps, "")]
#[case::dash(PLANS, "qa", "0.0833%", Cause::DashAsNumber, "")]
#[case::zero(SPENDING, "qa_0", "0", Cause::MissingEvidence, "")]
#[case::words(SPENDING, "qa_0", "not disclosed", Cause::MissingEvidence, "")]
#[case::no_number(SPENDING, "qa_0", "see the table", Cause::ParseFailure, "")]
#[case::yes(SPENDING, "qa_0", "yes", Cause::YesNo, "")]
#[case::factor(CHANGE, "qa", "96.275%", Cause::Steps, "1 + x instead of x")]
#[case::anything(CHANGE, "qa", "81234.567", Cause::Unexplained, "")]
fn of_a_printed_answer(
    #[case] id: &str,
    #[case] part: &str,
    #[case] prediction: &str,
    #[case] cause: Cause,
    #[case] detail: &str,
) {
    let row = format!("{id},{part},{prediction},,");
    let miss = only(&row, Rule::FinancialEquivalence);
    assert_eq!(miss.cause, cause, "{miss:#?}");
    assert!(miss.detail.contains(detail), "{miss:#?}");
}

#[rstest]
#[case::sign("qa", "\"subtract(64700, 62290), divide(#0, 64700)\"", Cause::Sign)]
#[case::swapped(
    "qa",
    "\"subtract(64700, 62290), divide(#0, 62290)\"",
    Cause::SwappedOperands
)]
#[case::base(
    "qa",
    "\"subtract(62290, 64700), divide(#0, 53640)\"",
    Cause::WrongBase
)]
#[case::column(
    "qa",
    "\"subtract(53640, 64700), divide(#0, 64700)\"",
    Cause::WrongColumn
)]
#[case::row("qa", "\"subtract(48310, 44925), divide(#0, 44925)\"", Cause::WrongRow)]
#[case::operator("qa", "\"add(62290, 64700), divide(#0, 64700)\"", Cause::Operator)]
#[case::absolute("qa", "\"subtract(62290, 64700)\"", Cause::AbsoluteForRelative)]
#[case::invented("2", "\"subtract(99999, 64700)\"", Cause::MissingEvidence)]
#[case::steps("2", "\"subtract(62290, 64700), add(#0, 5083)\"", Cause::Steps)]
#[case::further_steps(
    "qa",
    "\"multiply(62290, 64700), add(62290, 64700), divide(#0, #1)\"",
    Cause::Steps
)]
fn of_a_program(#[case] part: &str, #[case] program: &str, #[case] cause: Cause) {
    let program_text = program.trim_matches('"');
    let value = finqa_core::program::Program::parse(program_text).unwrap();
    let value = value.execute(&[]).unwrap();
    let row = format!("{CHANGE},{part},{value},{program},");
    let miss = only(&row, Rule::FinancialEquivalence);
    assert_eq!(miss.cause, cause, "{miss:#?}");
}

/// It was "610 (t9) instead of 19825 (t9)".
#[test]
fn another_figure_of_one_sentence_is_named_as_such() {
    let row = format!("{SPENDING},qa_1,1.0%,\"divide(610, 62290)\",");
    let miss = only(&row, Rule::FinancialEquivalence);
    assert_eq!(miss.detail, "610 instead of 19825, both in sentence t9");
}

#[test]
fn a_right_program_with_a_wrong_figure_is_arithmetic() {
    let row = format!("{CHANGE},2,-2510,\"subtract(62290, 64700)\",");
    let miss = only(&row, Rule::FinancialEquivalence);
    assert_eq!(miss.cause, Cause::Arithmetic, "{miss:#?}");
}

#[rstest]
#[case("content_filter", Cause::Filtered)]
#[case("refusal", Cause::Filtered)]
#[case("parse_failure", Cause::ParseFailure)]
#[case("abstained", Cause::NoAnswer)]
#[case("provider_error", Cause::NoAnswer)]
fn of_an_outcome(#[case] outcome: &str, #[case] cause: Cause) {
    let row = format!("{CHANGE},qa,,,{outcome}");
    let miss = only(&row, Rule::FinancialEquivalence);
    assert_eq!(miss.cause, cause);
}

/// What a stricter rule rejects and financial equivalence accepts.
#[test]
fn of_stricter_rules() {
    let miss = only(&format!("{CHANGE},qa,-0.037,,"), Rule::NumericalMatch);
    assert_eq!(miss.cause, Cause::PercentDecimal, "{miss:#?}");
    let miss = only(&format!("{CHANGE},qa,-3.72%,,"), Rule::ExactMatch);
    assert_eq!(miss.cause, Cause::Truncation, "{miss:#?}");
    let miss = only(&format!("{SPENDING},qa_0,3360,,"), Rule::NumericalMatch);
    assert_eq!(miss.cause, Cause::Arithmetic, "{miss:#?}");
}

#[test]
fn an_earlier_answer_repeated_and_an_earlier_error_carried_over() {
    let turn = |turn: usize, answer: &str| format!("{CHANGE},{turn},{answer},,");
    let rows = [
        turn(0, "62290"),
        turn(1, "53640"),
        turn(2, "8650"),
        turn(3, "8650"),
    ];
    let misses = misses(
        &rows.each_ref().map(String::as_str),
        Rule::FinancialEquivalence,
    );
    let causes = misses.iter().map(|miss| miss.cause);
    let expected = [Cause::WrongColumn, Cause::CarriedOver, Cause::StaleAnswer];
    assert_eq!(causes.collect::<Vec<_>>(), expected);
}

/// The cause was a "stale turn" of a question that is no turn.
#[test]
fn a_repeated_answer_to_the_records_first_question() {
    let rows = [0, 1].map(|part| format!("{LEASES},qa_{part},77.7,,"));
    let misses = misses(
        &rows.each_ref().map(String::as_str),
        Rule::FinancialEquivalence,
    );
    assert_eq!(misses[1].cause, Cause::StaleAnswer);
    let detail = "repeats the answer to the record's first question";
    assert_eq!(misses[1].detail, detail);
}

fn without_records(text: &str) -> Vec<Miss> {
    let place = Workplace::new();
    let answers = open_answers(&place.write("a.csv", text), None).unwrap();
    analyze(&answers, Rule::FinancialEquivalence).misses
}

#[test]
fn without_records_by_what_the_file_holds() {
    let header = "id,part,ground_truth,prediction,program,gold_program,exe_ans\n";
    let misses = without_records(&format!(
        "{header}P,qa,2,4,\"subtract(7, 3)\",\"subtract(5, 3)\",2\n\
         Q,qa,no,241,,\"greater(1, 2)\",no\n\
         R,qa,19.40%,-19.35,,\"subtract(25, 31), divide(#0, 31)\",-0.19355\n\
         S,qa,57%,13.24,,,\n\
         Double_ADBE/2018/page_66.pdf,qa_1,16.7%,3,,,\n"
    ));
    let causes: Vec<Cause> = misses.iter().map(|miss| miss.cause).collect();
    assert_eq!(
        causes,
        [
            Cause::WrongCell,
            Cause::YesNo,
            // Its own program says so.
            Cause::SuspectGold,
            Cause::Unexplained,
            Cause::IllPosed,
        ]
    );
}

#[test]
fn a_suspect_sign_excuses_only_the_sign() {
    let misses = without_records(
        "id,part,ground_truth,prediction\nSingle_IQV/2018/page_59.pdf-2,qa,19.40%,-19.35\n",
    );
    assert_eq!(misses[0].cause, Cause::SuspectGold);
    assert_eq!(misses[0].also[0].cause, Cause::Sign);
    let misses = without_records(
        "id,part,ground_truth,prediction\nSingle_IQV/2018/page_59.pdf-2,qa,19.40%,77.7\n",
    );
    assert_eq!(misses[0].cause, Cause::Unexplained);
}

/// It printed only "0 misses of 1 question".
#[test]
fn an_interrupted_run_says_how_many_questions_were_not_asked() {
    let place = Workplace::new();
    place.answer("n = 3");
    let sql = "DELETE FROM answers WHERE question > 0";
    place.journal_tables().execute(sql, []).unwrap();
    place
        .run("analyze")
        .tells("not complete: 4 questions not answered yet");
}

/// Tables, CSV and JSON of the command.
#[test]
fn the_command_shows_writes_and_prints() {
    let place = Workplace::new();
    let text =
        format!("id,part,prediction\n{CHANGE},qa,3.7%\n{LEASES},qa_0,79.8%\n{LEASES},qa_1,10.43\n");
    place.write("answers.csv", &text);
    let shown = place.run("analyze answers.csv --data-path sample --csv misses.csv");
    let text = &shown.succeeds().prints("2 misses of 3 questions").stdout;
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let rows = place.rows("misses.csv");
    let causes: Vec<&str> = rows.iter().map(|row| row["cause"].as_str()).collect();
    assert_eq!(causes, ["sign", "complement"]);

    let shown = place.run("analyze answers.csv --json --data-path sample");
    let json = shown.succeeds().json();
    assert_eq!(json["causes"][0]["share"], 0.5);
    assert_eq!(json["misses"][1]["cause"], "complement");

    // Nothing can be judged without gold, and nothing is called a miss.
    let refused = place.run("analyze answers.csv --json");
    assert_eq!(refused.ends(3).stdout, "");
}
