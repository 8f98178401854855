//! Drafts of an answer. Of several the most common value wins (self-consistency).

use crate::parse::Leniency;
use finqa_core::number::{Value, round5};
use finqa_core::outcome::Outcome;

use super::answer::Answer;
use super::failure::QuestionFailure;
use super::opinion::SecondOpinion;
use super::solution::{Vote, VoteTally};

pub(super) struct AnalystDraft {
    pub(super) answer: Answer,
    pub(super) leniencies: Vec<Leniency>,
    pub(super) reply: String,
    pub(super) reasked: bool,
}

/// Drafts grouped by their value, rounded to 5 decimals.
#[derive(Default)]
pub(super) struct DraftVotes {
    /// Each vote with its first draft, the earliest first.
    groups: Vec<(Vote, AnalystDraft)>,
    failed: usize,
    /// The error of the first sample without a draft.
    failure: Option<QuestionFailure>,
    /// The first sample's answer; without a value if it has no draft.
    first: Option<Answer>,
}

/// The draft chosen by the samples' votes.
pub(super) struct ChosenDraft {
    pub(super) draft: AnalystDraft,
    pub(super) tally: VoteTally,
    /// The first sample's answer, where another has won.
    pub(super) first: Option<Answer>,
}

impl DraftVotes {
    pub(super) fn add(&mut self, draft: AnalystDraft) {
        self.first.get_or_insert_with(|| draft.answer.clone());
        let value = draft.answer.value.as_ref().map(|value| match value {
            Value::Number(number) => Value::Number(round5(*number)),
            Value::Text(word) => Value::Text(word.trim().to_lowercase()),
        });
        let mut groups = self.groups.iter_mut();
        match groups.find(|(vote, _)| vote.value == value) {
            Some((vote, _)) => vote.count += 1,
            None => self.groups.push((Vote { value, count: 1 }, draft)),
        }
    }

    /// Counts a sample without a draft.
    pub(super) fn add_failure(&mut self, failure: QuestionFailure) {
        self.failed += 1;
        self.failure.get_or_insert(failure);
        self.first.get_or_insert_with(Answer::default);
    }

    /// The first draft of the largest group; among equals of the one that agrees with the
    /// second opinion, else of the earliest. A draft without a value wins only where none
    /// has one.
    pub(super) fn winner(
        self,
        opinion: Option<&SecondOpinion>,
    ) -> Result<ChosenDraft, QuestionFailure> {
        let tally = VoteTally {
            votes: self.groups.iter().map(|(vote, _)| vote.clone()).collect(),
            failed: self.failed,
        };
        let rank = |(vote, draft): &(Vote, AnalystDraft)| {
            let agreed = opinion
                .zip(vote.value.as_ref())
                .is_some_and(|(other, value)| other.is(value, &draft.answer.printed));
            (vote.value.is_some(), vote.count, agreed)
        };
        let best = self.groups.into_iter().reduce(|best, next| {
            if rank(&next) > rank(&best) {
                next
            } else {
                best
            }
        });
        match best {
            Some((_, draft)) => Ok(ChosenDraft {
                tally,
                first: self
                    .first
                    .filter(|first| first.printed != draft.answer.printed),
                draft,
            }),
            None => Err(self.failure.unwrap_or_else(|| {
                QuestionFailure::new(Outcome::ParseFailure, "the analyst gave no answer")
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(value: Option<f64>, reply: &str) -> AnalystDraft {
        AnalystDraft {
            answer: Answer {
                value: value.map(Value::Number),
                printed: value.map(|value| value.to_string()).unwrap_or_default(),
                ..Answer::default()
            },
            leniencies: Vec::new(),
            reply: reply.to_owned(),
            reasked: false,
        }
    }

    fn drafts(votes: &[(Option<f64>, &str)]) -> DraftVotes {
        let mut drafts = DraftVotes::default();
        for (value, reply) in votes {
            drafts.add(draft(*value, reply));
        }
        drafts
    }

    fn winner(votes: &[(Option<f64>, &str)], opinion: Option<f64>) -> String {
        let opinion = opinion.map(|value| SecondOpinion {
            value: Value::Number(value),
            printed: format!("{:.1}%", value * 100.0),
            program: String::new(),
            evidence: Vec::new(),
            confidence: 0.5,
            agrees: None,
            arbitration: None,
        });
        drafts(votes)
            .winner(opinion.as_ref())
            .map_or_else(|failure| failure.message, |chosen| chosen.draft.reply)
    }

    #[test]
    fn the_most_common_value_wins_and_ties_go_to_the_earliest() {
        let third = 1.0 / 3.0;
        let votes = [(Some(1.0), "a"), (Some(third), "b"), (Some(0.333_33), "c")];
        assert_eq!(winner(&votes, None), "b");
        assert_eq!(winner(&[(Some(1.0), "a"), (Some(2.0), "b")], None), "a");
        let votes = [(None, "a"), (None, "b"), (Some(2.0), "c")];
        assert_eq!(winner(&votes, None), "c");
        assert_eq!(winner(&[(None, "a")], None), "a");
        assert_eq!(winner(&[], None), "the analyst gave no answer");
    }

    #[test]
    fn the_second_opinion_breaks_a_tie_and_outvotes_nobody() {
        let tie = [(Some(1.0), "a"), (Some(0.2), "b")];
        assert_eq!(winner(&tie, Some(0.2)), "b");
        assert_eq!(winner(&tie, Some(7.0)), "a");
        let majority = [(Some(0.2), "a"), (Some(1.0), "b"), (Some(1.0), "c")];
        assert_eq!(winner(&majority, Some(0.2)), "b");
    }

    #[test]
    fn a_tally_shows_values_and_counts() {
        let mut drafts = drafts(&[(Some(0.5), "a"), (None, "b"), (Some(0.5), "c")]);
        drafts.add_failure(QuestionFailure::new(Outcome::Refusal, "no"));
        let chosen = drafts.winner(None).unwrap();
        assert_eq!(chosen.tally.to_string(), "0.5:2 none:1 failed:1");
    }

    #[test]
    fn the_first_sample_is_kept_where_another_wins() {
        let first = |votes: &[(Option<f64>, &str)]| {
            let chosen = drafts(votes).winner(None).unwrap();
            chosen.first.map(|answer| answer.value)
        };
        let votes = [(Some(1.0), "a"), (Some(2.0), "b"), (Some(2.0), "c")];
        assert_eq!(first(&votes), Some(Some(Value::Number(1.0))));
        assert_eq!(first(&votes[1..]), None);
        let mut spoiled = DraftVotes::default();
        spoiled.add_failure(QuestionFailure::new(Outcome::Refusal, "no"));
        spoiled.add(draft(Some(2.0), "a"));
        let chosen = spoiled.winner(None).unwrap();
        assert_eq!(chosen.first.map(|answer| answer.value), Some(None));
    }
}
