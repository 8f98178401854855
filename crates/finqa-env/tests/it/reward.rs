//! Rewards, compared with the rewards of OpenEnv's `finqa_env` for the same answers.

use finqa_env::reward::{RewardError, RewardMode, compute_reward};
use proptest::prelude::*;
use rstest::rstest;

fn grade(prediction: &str, truth: &str) -> f64 {
    compute_reward(prediction, truth, 0.01, 1.0, RewardMode::OpenEnv).unwrap()
}

fn strict(prediction: &str, truth: &str) -> f64 {
    compute_reward(prediction, truth, 0.01, 1.0, RewardMode::Strict).unwrap()
}

fn vectors(text: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.records().collect::<Result<_, _>>().unwrap()
}

/// Strict grading must refuse exploits only. Unless a side is empty or the answer is infinite, its
/// reward must also be that of OpenEnv's `finqa_env`.
#[test]
fn every_vector_of_finqa_env_agrees() {
    let rows = vectors(include_str!("../vectors/reward_vectors.csv"));
    assert_eq!(rows.len(), 126);
    for row in &rows {
        let number = |i: usize| row[i].parse::<f64>().unwrap();
        let graded = |mode| compute_reward(&row[0], &row[1], number(2), number(3), mode);
        assert_eq!(graded(RewardMode::OpenEnv), Ok(number(4)), "{row:?}");
        let is_empty = row[0].trim().is_empty() || row[1].trim().is_empty();
        if !is_empty && !row[0].contains("inf") {
            assert_eq!(graded(RewardMode::Strict), Ok(number(4)), "{row:?}");
        }
    }
}

#[test]
fn inputs_on_which_finqa_env_raises_are_errors() {
    let rows = vectors(include_str!("../vectors/reward_vectors_exceptions.csv"));
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let got = compute_reward(&row[0], &row[1], 0.01, 1.0, RewardMode::OpenEnv);
        let expected = if row[4].starts_with("KeyError") {
            RewardError::MissingYear
        } else {
            RewardError::FractionTooLarge
        };
        assert_eq!(got, Err(expected.clone()), "{row:?}");
        assert!(row[4].ends_with(&expected.to_string()), "{row:?}");
    }
}

/// The first pair decides, so the fraction after it is never compared.
#[test]
fn a_wrong_value_before_a_fraction_too_large_is_wrong() {
    let large = format!("1, {}/7", "9".repeat(400));
    assert_eq!(grade(&large, r"\boxed{2}, \boxed{3}"), 0.0);
}

/// Rewards that were measured with `finqa_env` and are not in a file of test vectors.
#[rstest]
#[case("0.505", r"\boxed{0.5}", 0.0)]
#[case("1009", r"\boxed{1000}", 0.0)]
#[case("2,250; 3,000", r"\boxed{2250}, \boxed{3000}", 0.0)]
#[case("2250; 3000", r"\boxed{2250}, \boxed{3000}", 1.0)]
#[case("3000; 2250", r"\boxed{2250}, \boxed{3000}", 0.0)]
#[case("4.5%, 1", r"\boxed{4.5}, \boxed{1}", 1.0)]
#[case("a: 4.5%, 1", r"\boxed{4.5}, \boxed{1}", 0.0)]
#[case("a: 4.5, b: 1", r"\boxed{4.5}, \boxed{1}", 1.0)]
#[case("4.5%", "4.500", 1.0)]
#[case("6.28", r"6.28\%", 0.0)]
#[case("12, 13", r"\boxed{12,13}", 0.0)]
#[case("1213", r"\boxed{12,13}", 1.0)]
#[case("--1/2", "0.5", 1.0)]
#[case("1 /2", "0.5", 0.0)]
#[case("2023: 0.5, 2022: 0.1", r"\boxed{2022: 0.1, 2023: 0.5}", 1.0)]
#[case("0.5, 0.1", r"\boxed{2022: 0.1, 2023: 0.5}", 0.0)]
#[case(r"\boxed{2022: 0.1, 2023: 0.50}", r"\boxed{2022: 0.1, 2023: 0.5}", 0.0)]
#[case(r"\boxed{2022: 0.1, 2023: 0.5}", r"\boxed{2022: 0.1, 2023: 0.5}", 1.0)]
#[case(
    "2023->2024: 600, 2022->2023: 400",
    r"\boxed{2022 to 2023: 400, 2023 to 2024: 600}",
    1.0
)]
#[case(
    "2023 -> 2024: 600, 2022 -> 2023: 400",
    r"\boxed{2022 to 2023: 400, 2023 to 2024: 600}",
    0.0
)]
#[case("0.0009", r"\boxed{0}", 1.0)]
#[case("0.001", r"\boxed{0}", 0.0)]
#[case("YES", r"\boxed{Yes}", 1.0)]
#[case("nan", "nan", 0.0)]
#[case("0, 5", r"\boxed{0; 5}", 1.0)]
#[case("0.0009, 5", r"\boxed{0; 5}", 0.0)]
#[case("1; 3", r"\boxed{2; 3}", 0.0)]
#[case("x: 5", r"\boxed{about: 5}", 0.0)]
#[case(r"1.0\, 2", r"\boxed{1\, 2}", 1.0)]
#[case(r"2022: \5, 2023: 6", r"\boxed{2022: 5, 2023: 6}", 1.0)]
#[case(r"\boxed{ }", "", 0.0)]
fn the_contract_says(#[case] prediction: &str, #[case] truth: &str, #[case] expected: f64) {
    assert_eq!(grade(prediction, truth), expected);
}

/// The table of exploits in docs/finqa-environment.md: submission, truth, and the reward in each
/// mode.
#[rstest]
#[case("", "", 1.0, 0.0)]
#[case("nan", "nan", 0.0, 0.0)]
#[case("inf", r"\boxed{1e999}", 0.0, 0.0)]
#[case("1, no idea, 2", r"\boxed{2022: 1, 2023: 2}", 1.0, 0.0)]
#[case("2022: 9, 2022: 2", r"\boxed{2022: 1, 2022: 2}", 1.0, 0.0)]
#[case("0.0009", r"\boxed{0}", 1.0, 1.0)]
#[case("4.5%", r"\boxed{4.5}", 1.0, 1.0)]
#[case(r"\boxed{5} or \boxed{6}", r"\boxed{5}", 1.0, 1.0)]
#[case("5 or 6", r"\boxed{5}", 0.0, 0.0)]
#[case("5, 6", r"\boxed{5}", 0.0, 0.0)]
#[case("50.4", r"\boxed{50}", 1.0, 1.0)]
fn an_exploit_earns_what_the_documentation_says(
    #[case] submission: &str,
    #[case] truth: &str,
    #[case] openenv: f64,
    #[case] strictly: f64,
) {
    let earned = (grade(submission, truth), strict(submission, truth));
    assert_eq!(earned, (openenv, strictly));
    // Strict grading also skips empty parts of a list.
    assert_eq!(strict("1;; 2", r"\boxed{1; 2}"), 1.0);
}

proptest! {
    #[test]
    fn any_two_texts_are_graded_or_refused(a in any::<String>(), b in any::<String>()) {
        for mode in [RewardMode::OpenEnv, RewardMode::Strict] {
            if let Ok(reward) = compute_reward(&a, &b, 0.01, 1.0, mode) {
                prop_assert!(reward == 0.0 || reward == 1.0);
            }
        }
    }

    #[test]
    fn texts_of_the_grammar_are_graded_or_refused(
        a in r"(\\boxed\{)?[-(]?[0-9]{0,3}[./,;:%$\\} ]{0,3}(20[0-9]{2}(->| to )?){0,2}:? ?[0-9]{0,3}[%)}]{0,2}(, )?.{0,5}",
        b in r"(\\boxed\{[-0-9.:,;/% ]{0,12}\}){0,3}",
    ) {
        for mode in [RewardMode::OpenEnv, RewardMode::Strict] {
            let _ = compute_reward(&a, &b, 0.01, 1.0, mode);
        }
    }

    #[test]
    fn strict_never_rewards_more_than_finqa_env(
        a in r"[-(]?[0-9]{0,3}[./,;:% ]{0,2}[0-9]{0,3}[%)]?",
        b in r"\\boxed\{[-0-9.:,;/% ]{0,12}\}",
    ) {
        let theirs = compute_reward(&a, &b, 0.01, 1.0, RewardMode::OpenEnv);
        let strict = compute_reward(&a, &b, 0.01, 1.0, RewardMode::Strict);
        if let (Ok(theirs), Ok(strict)) = (theirs, strict) {
            prop_assert!(strict <= theirs);
        }
    }
}
