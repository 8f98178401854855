//! The rules of an episode.

use finqa_env::episode::{
    Environment, EpisodeRules, Observation, StepError, StepOutcome, StepStart,
};
use finqa_env::reward::RewardMode;
use finqa_env::tools::Tools;
use serde_json::{Map, Value, json};

use super::tools::{fixture, tools};

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// Takes a step that does not fail.
pub fn step(environment: &mut Environment, tools: &Tools, tool: &str, given: Value) -> StepOutcome {
    let given = arguments(given);
    match environment.begin(tool, &given).unwrap() {
        StepStart::Answered(outcome) => outcome,
        StepStart::RunTool => environment.finish(tool, tools.call(tool, &given)),
    }
}

/// Takes a step that lists a company's tables.
fn descriptions(environment: &mut Environment, tools: &Tools) -> StepOutcome {
    let given = json!({"company_name": "acme"});
    step(environment, tools, "get_descriptions", given)
}

fn environment(max_steps: u64) -> Environment {
    let rules = EpisodeRules {
        max_steps,
        reward: RewardMode::OpenEnv,
    };
    Environment::new(fixture(), rules, 1)
}

/// Asks the next question.
pub fn reset(environment: &mut Environment) {
    let reset = environment.reset(None, None, None, "e".to_owned());
    reset.unwrap();
}

#[test]
fn the_last_step_shows_its_result_and_ends_the_episode() {
    let (mut environment, tools) = (environment(2), tools());
    reset(&mut environment);
    let first = descriptions(&mut environment, &tools);
    assert_eq!((first.reward, first.done), (None, false));
    let last = descriptions(&mut environment, &tools);
    assert!(
        matches!(&last.observation, Observation::Result { text, .. } if text.contains("DebtInstruments"))
    );
    assert_eq!((last.reward, last.done), (Some(0.0), true));
    assert_eq!(
        last.metadata["error"],
        "Max steps (2) reached without submitting answer."
    );
    assert_ne!(environment.state().ground_truth, "", "it is over");
}

#[test]
fn an_answer_on_the_last_step_is_graded() {
    let (mut environment, tools) = (environment(1), tools());
    reset(&mut environment);
    let answer = environment.current().answer.clone();
    let given = json!({"answer": answer});
    let outcome = step(&mut environment, &tools, "submit_answer", given);
    assert_eq!(outcome.reward, Some(1.0));
}

#[test]
fn a_session_on_a_question_is_open_without_a_reset() {
    let mut environment = Environment::on_question(fixture(), EpisodeRules::default(), 1);
    let answer = environment.current().answer.clone();
    let given = json!({"answer": answer});
    let outcome = step(&mut environment, &tools(), "submit_answer", given);
    assert_eq!((outcome.reward, outcome.done), (Some(1.0), true));
}

#[test]
fn a_number_is_graded_as_its_text() {
    let (mut environment, tools) = (environment(50), tools());
    for (answer, text) in [
        (json!(5), "5"),
        (json!(-1.5), "-1.5"),
        (json!(1e20), "1e+20"),
    ] {
        reset(&mut environment);
        let outcome = step(
            &mut environment,
            &tools,
            "submit_answer",
            json!({"answer": answer}),
        );
        assert_eq!(outcome.metadata["submitted_answer"], text);
        assert!(outcome.done);
    }
}

/// Ten failed submissions once left an episode of three steps open.
#[test]
fn a_failed_submission_counts_and_at_the_limit_ends_the_episode() {
    let (mut environment, tools) = (environment(3), tools());
    reset(&mut environment);
    let given = arguments(json!({"answer": true}));
    for _ in 0..2 {
        assert!(environment.begin("submit_answer", &given).is_err());
        assert_eq!(environment.state().ground_truth, "", "it is not over");
    }
    let last = step(
        &mut environment,
        &tools,
        "submit_answer",
        json!({"answer": true}),
    );
    assert_eq!((last.reward, last.done), (Some(0.0), true));
    assert!(
        matches!(&last.observation, Observation::Failure { failure, .. } if failure.message.contains("got 'bool'"))
    );
    assert_eq!(
        last.metadata["error"],
        "Max steps (3) reached without submitting answer."
    );
    let after = step(
        &mut environment,
        &tools,
        "submit_answer",
        json!({"answer": 5}),
    );
    assert_eq!((after.reward, after.done), (Some(0.0), true));
}

#[test]
fn an_answer_that_is_neither_text_nor_a_number_is_an_error_and_ends_nothing() {
    let (mut environment, tools) = (environment(50), tools());
    reset(&mut environment);
    for (answer, type_name) in [
        (json!([1]), "list"),
        (json!({}), "dict"),
        (json!(true), "bool"),
    ] {
        let given = arguments(json!({"answer": answer}));
        let error = environment.begin("submit_answer", &given).unwrap_err();
        assert_eq!(error, StepError::AnswerType { type_name });
        assert_eq!(
            error.to_string(),
            format!("expected string or bytes-like object, got '{type_name}'")
        );
    }
    let extra = json!({"answer": environment.current().answer, "extra": 1});
    let outcome = step(&mut environment, &tools, "submit_answer", extra);
    assert_eq!(outcome.reward, Some(1.0));
}

#[test]
fn an_answer_on_which_the_grader_raises_earns_nothing_and_ends_the_episode() {
    let (mut environment, tools) = (environment(50), tools());
    reset(&mut environment);
    let given = json!({"answer": format!("{}/7", "9".repeat(400))});
    let outcome = step(&mut environment, &tools, "submit_answer", given);
    assert_eq!((outcome.reward, outcome.done), (Some(0.0), true));
    assert_eq!(
        outcome.metadata["error"],
        "integer division result too large for a float"
    );
}
