//! The inputs of the model: what is known about an answer without gold.

use finqa_agents::pair::{CriticVerdict, Solution};
use finqa_core::program::{Op, Program};

/// The names of the model's inputs, in the order of the stored weights. A calibration with other
/// inputs is refused, so a change needs a new fit.
pub const INPUTS: [&str; 12] = [
    "the second opinion agrees", "its confidence, if it agrees", "its confidence, if it differs",
    "no second opinion", "the model's confidence", "checks that object", "accepted by the critic",
    "revised", "share of samples that agree", "look-up", "relative change", "three steps or more",
];

/// The values of [`INPUTS`]; `None` for an input that is not known.
pub type Inputs = [Option<f64>; INPUTS.len()];

/// The inputs for the model's answer to a question. `None` if there is no answer, or if arbitration
/// replaced it.
pub fn inputs_of(solution: &Solution) -> Option<Inputs> {
    let answer = solution.answer_or_withheld()?;
    let opinion = solution.opinion.as_ref();
    let arbitration = opinion.and_then(|opinion| opinion.arbitration);
    if arbitration.is_some_and(|choice| choice.taken) {
        return None;
    }
    let agrees = opinion.and_then(|opinion| opinion.agrees);
    let confidence = |if_agrees: bool| {
        let opinion = opinion.filter(|_| agrees == Some(if_agrees));
        opinion.map(|opinion| opinion.confidence)
    };
    let rounds = solution.rounds.iter();
    // The latest round with this answer, because its review is the current one.
    let round = rounds.rev().find(|round| round.answer == *answer);
    let first = solution.rounds.first();
    // A revision has no confidence of its own, so use that of the first answer.
    let own = answer
        .confidence
        .or_else(|| first.and_then(|round| round.answer.confidence));
    let accepted = round.and_then(|round| match round.verdict {
        CriticVerdict::Ok => Some(true),
        CriticVerdict::Revise { .. } => Some(false),
        CriticVerdict::Skipped | CriticVerdict::Unparsable { .. } => None,
    });
    let kind = Kind::of_solution(solution);
    let is = |found: Kind| kind.map(|kind| flag(kind == found));
    Some([
        agrees.map(flag),
        confidence(true),
        confidence(false),
        Some(flag(agrees.is_none())),
        own,
        round.map(|round| round.objections() as f64),
        accepted.map(flag),
        round.map(|round| flag(round.number > 1)),
        samples_agreeing(solution),
        is(Kind::LookUp),
        is(Kind::RelativeChange),
        is(Kind::ThreeSteps),
    ])
}

fn flag(it: bool) -> f64 {
    f64::from(u8::from(it))
}

/// The share of the samples that gave the most common value; `None` for a single sample. Failed
/// samples count as disagreeing.
fn samples_agreeing(solution: &Solution) -> Option<f64> {
    let votes = solution.votes.as_ref()?;
    let counts = votes.votes.iter().map(|vote| vote.count);
    let all = votes.failed + counts.clone().sum::<usize>();
    (all > 1).then(|| counts.max().unwrap_or_default() as f64 / all as f64)
}

/// The kind of a calculation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    LookUp,
    /// A difference divided by an amount, usually by one of its operands.
    RelativeChange,
    ThreeSteps,
    Other,
}

impl Kind {
    /// The kind of the answer's program, or of the second opinion's if the answer has none. A
    /// withheld answer counts too. `None` if neither has a program, or if the program is not valid.
    fn of_solution(solution: &Solution) -> Option<Self> {
        let own = solution.answer_or_withheld();
        let own = own.and_then(|answer| answer.program.as_deref());
        let other = solution.opinion.as_ref().map(|it| it.program.as_str());
        let program = Program::parse(own.or(other)?).ok()?;
        let ops: Vec<Op> = program.steps().iter().map(|step| step.op).collect();
        Some(match ops.as_slice() {
            [] => Self::LookUp,
            [Op::Subtract, Op::Divide] => Self::RelativeChange,
            [_, _, _, ..] => Self::ThreeSteps,
            _ => Self::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_agents::pair::{Answer, Arbitration, SecondOpinion, StopReason, Vote, VoteTally};
    use finqa_core::number::Value;
    use finqa_core::outcome::Outcome;

    fn answered(program: &str) -> Solution {
        let answer = Answer {
            program: Some(program.to_owned()),
            ..Answer::default()
        };
        Solution {
            answer: Some(answer),
            ..Solution::new(Outcome::Answered, StopReason::Accepted)
        }
    }

    fn input(solution: &Solution, name: &str) -> Option<f64> {
        let at = INPUTS.iter().position(|input| *input == name).unwrap();
        inputs_of(solution).unwrap()[at]
    }

    #[test]
    fn what_is_not_known_is_missing() {
        let alone = answered("12");
        for name in INPUTS {
            let known = [
                "no second opinion", "look-up", "relative change", "three steps or more",
            ];
            assert_eq!(
                input(&alone, name).is_some(),
                known.contains(&name),
                "{name}"
            );
        }
        assert_eq!(input(&alone, "look-up"), Some(1.0));
        let change = answered("subtract(3, 2), divide(#0, 2)");
        assert_eq!(input(&change, "relative change"), Some(1.0));
        assert_eq!(input(&change, "look-up"), Some(0.0));
        let none = Solution::new(Outcome::Refusal, StopReason::Failed);
        assert_eq!(inputs_of(&none), None);
    }

    #[test]
    fn an_opinion_counts_by_whether_it_agrees_and_a_replaced_answer_not_at_all() {
        let mut solution = answered("12");
        let opinion = SecondOpinion {
            value: Value::Number(12.0),
            printed: "12".to_owned(),
            program: "12".to_owned(),
            evidence: Vec::new(),
            confidence: 0.7,
            agrees: Some(true),
            arbitration: None,
        };
        solution.opinion = Some(opinion.clone());
        solution.votes = Some(VoteTally {
            votes: vec![
                Vote {
                    value: None,
                    count: 3,
                },
                Vote {
                    value: None,
                    count: 1,
                },
            ],
            failed: 0,
        });
        assert_eq!(input(&solution, "the second opinion agrees"), Some(1.0));
        assert_eq!(input(&solution, "its confidence, if it agrees"), Some(0.7));
        assert_eq!(input(&solution, "its confidence, if it differs"), None);
        assert_eq!(input(&solution, "share of samples that agree"), Some(0.75));
        let arbitration = Arbitration {
            taken: true,
            model_accuracy: 0.5,
        };
        solution.opinion = Some(SecondOpinion {
            arbitration: Some(arbitration),
            ..opinion
        });
        assert_eq!(inputs_of(&solution), None);
    }

    #[test]
    fn a_withheld_answer_has_the_inputs_that_it_had() {
        let given = answered("12");
        let withheld = given.clone().withhold(String::new());
        assert_eq!(inputs_of(&withheld), inputs_of(&given));
    }
}
