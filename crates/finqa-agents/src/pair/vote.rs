//! Chooses one of several drafts of an answer. The most common value wins (self-consistency).

use finqa_core::number::{Value, round5};
use finqa_core::outcome::Outcome;

use super::failure::QuestionFailure;
use super::opinion::SecondOpinion;
use super::solution::{Round, Vote, VoteTally};

/// Returns the first draft with the most common value, and the votes. Values are compared after
/// rounding to 5 decimals, as the official evaluator rounds results. On a tie, the value that
/// agrees with the second opinion wins, and otherwise the earliest. A draft without a value wins
/// only if no draft has a value.
///
/// # Errors
/// The failure of the first sample, if no sample has a draft.
pub(super) fn most_common(
    samples: Vec<Result<Round, QuestionFailure>>,
    opinion: Option<&SecondOpinion>,
) -> Result<(Round, VoteTally), QuestionFailure> {
    // For each value, its votes and its first draft, in the order of the samples.
    let mut groups: Vec<(Vote, Round)> = Vec::new();
    let mut failures = Vec::new();
    for sample in samples {
        let draft = match sample {
            Ok(draft) => draft,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        let value = draft.answer.value.as_ref().map(|value| match value {
            Value::Number(number) => Value::Number(round5(*number)),
            Value::Text(word) => Value::Text(word.trim().to_lowercase()),
        });
        match groups.iter_mut().find(|(vote, _)| vote.value == value) {
            Some((vote, _)) => vote.count += 1,
            None => groups.push((Vote { value, count: 1 }, draft)),
        }
    }
    let tally = VoteTally {
        votes: groups.iter().map(|(vote, _)| vote.clone()).collect(),
        failed: failures.len(),
    };
    let rank = |(vote, draft): &(Vote, Round)| {
        let agreed = opinion
            .zip(vote.value.as_ref())
            .is_some_and(|(other, value)| other.is(value, &draft.answer.printed));
        (vote.value.is_some(), vote.count, agreed)
    };
    let best = groups.into_iter().reduce(|best, next| {
        if rank(&next) > rank(&best) {
            next
        } else {
            best
        }
    });
    match best {
        Some((_, draft)) => Ok((draft, tally)),
        // At least one sample is drawn, so without a draft there is a failure.
        None => Err(failures.into_iter().next().unwrap_or_else(|| {
            QuestionFailure::new(Outcome::ParseFailure, "the analyst gave no answer")
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Answer;

    type Sample<'t> = (Option<f64>, &'t str);

    /// The choice among samples with these values and replies. A sample with the reply "refused"
    /// has no draft.
    fn chosen(samples: &[Sample<'_>], opinion: Option<f64>) -> Result<(String, String), String> {
        let sample = |(value, reply): &Sample<'_>| {
            let answer = Answer {
                value: value.map(Value::Number),
                printed: value.map(|value| value.to_string()).unwrap_or_default(),
                ..Answer::default()
            };
            match *reply {
                "refused" => Err(QuestionFailure::new(Outcome::Refusal, "no")),
                reply => Ok(Round::new(1, reply.to_owned(), answer)),
            }
        };
        let opinion = opinion.map(|value| SecondOpinion {
            value: Value::Number(value),
            printed: format!("{:.1}%", value * 100.0),
            program: String::new(),
            evidence: Vec::new(),
            confidence: 0.5,
            agrees: None,
            arbitration: None,
        });
        most_common(samples.iter().map(sample).collect(), opinion.as_ref())
            .map(|(draft, tally)| (draft.reply, tally.to_string()))
            .map_err(|failure| failure.message)
    }

    #[test]
    fn the_most_common_value_wins_then_the_second_opinion_then_the_earliest() {
        let third = 1.0 / 3.0;
        let majority = [(Some(0.2), "a"), (Some(1.0), "b"), (Some(1.0), "c")];
        let tie = [(Some(1.0), "a"), (Some(0.2), "b")];
        for (samples, opinion, winner) in [
            (
                &[(Some(1.0), "a"), (Some(third), "b"), (Some(0.333_33), "c")][..],
                None,
                "b",
            ),
            (&tie, None, "a"),
            (&tie, Some(0.2), "b"),
            (&tie, Some(7.0), "a"),
            (&majority, Some(0.2), "b"),
            (&[(None, "a"), (None, "b"), (Some(2.0), "c")], None, "c"),
            (&[(None, "a")], None, "a"),
        ] {
            let (reply, _) = chosen(samples, opinion).unwrap();
            assert_eq!(reply, winner, "{samples:?}");
        }
        let none = "the analyst gave no answer".to_owned();
        assert_eq!(chosen(&[], None), Err(none));
        assert_eq!(chosen(&[(None, "refused")], None), Err("no".to_owned()));
        let votes = [
            (Some(0.5), "a"),
            (None, "b"),
            (Some(0.5), "c"),
            (None, "refused"),
        ];
        let (_, tally) = chosen(&votes, None).unwrap();
        assert_eq!(tally, "0.5:2 none:1 failed:1");
    }
}
