//! The end of a question: `close` takes the answer of the best round, `arbitrate` may replace it by
//! the embedded analyst's, and `abstain` and `without_agreement` may withhold it. Unlike
//! `Solution::withhold`, the last two do not keep the answer in `withheld`, so later turns of a
//! conversation do not see it (docs/scoring.md, "A stated error").

use finqa_core::outcome::Outcome;

use super::answer::Answer;
use super::opinion::Arbitration;
use super::question_state::QuestionState;
use super::solution::{Solution, StopReason, best_round};

/// Closes the state of a question. A failure before any answer becomes the outcome. If the failure
/// comes after an answer (for example, because the critic cannot be reached), the best answer is
/// kept.
pub(super) fn close(state: QuestionState) -> Solution {
    let QuestionState {
        so_far: mut solution,
        calls,
        failure,
        ..
    } = state;
    solution.calls = calls.calls;
    let outcome = failure.as_ref().map(|failure| failure.outcome);
    let error = failure.map(|failure| failure.message);
    match best_round(&solution.rounds) {
        Some(round) => {
            if let Some(opinion) = &mut solution.opinion {
                opinion.agrees = Some(opinion.agrees_with(&round.answer));
            }
            solution.outcome = Outcome::Answered;
            solution.answer = Some(round.answer.clone());
            solution.chosen_round = Some(round.number);
            solution.error = error.or_else(|| round.critic_error.clone());
        }
        None => {
            // The analyst leaves either a round or a failure, so the defaults are never used.
            solution.outcome = outcome.unwrap_or(Outcome::ParseFailure);
            solution.stop = StopReason::Failed;
            solution.error = error.or_else(|| Some("the analyst gave no answer".to_owned()));
        }
    }
    solution
}

/// Withholds an answer whose confidence is below `least`. If the answer states no confidence, that
/// of the first round is used, and 0 if that states none either.
pub(super) fn abstain(solution: Solution, least: f64) -> Solution {
    let Some(answer) = &solution.answer else {
        return solution;
    };
    let first = solution.rounds.first();
    let confidence = answer
        .confidence
        .or_else(|| first.and_then(|round| round.answer.confidence))
        .unwrap_or_default();
    if confidence >= least {
        return solution;
    }
    let error = format!("confidence {confidence:.2} is below --min-confidence {least}");
    solution.without_answer(error)
}

/// Replaces the answer by the embedded analyst's if that is more likely right than a model of this
/// accuracy is, or if the model itself failed to answer. A failure of the provider and a reached
/// limit are left as they are.
pub(super) fn arbitrate(
    mut solution: Solution,
    model_accuracy: f64,
    embedded: impl FnOnce() -> Option<Answer>,
) -> Solution {
    let replaceable = !matches!(
        solution.outcome,
        Outcome::ProviderError | Outcome::BudgetStop
    );
    let Some(opinion) = solution.opinion.as_mut().filter(|_| replaceable) else {
        return solution;
    };
    let choice = Arbitration::choose(opinion, model_accuracy);
    let answer = if choice.taken { embedded() } else { None };
    let taken = answer.is_some();
    opinion.arbitration = Some(Arbitration { taken, ..choice });
    if taken {
        solution.outcome = Outcome::Answered;
        solution.stop = StopReason::Arbitrated;
        solution.answer = answer;
        solution.chosen_round = None;
    }
    solution
}

/// Withholds an answer unless a second opinion agrees with it.
pub(super) fn without_agreement(solution: Solution) -> Solution {
    let Some(answer) = &solution.answer else {
        return solution;
    };
    let error = match &solution.opinion {
        Some(opinion) if opinion.agrees == Some(true) => return solution,
        Some(opinion) => format!(
            "the second opinion is {}, not {}",
            opinion.printed, answer.printed
        ),
        None => "there is no second opinion to agree with".to_owned(),
    };
    solution.without_answer(error)
}
