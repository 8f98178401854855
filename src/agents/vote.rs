//! Self-consistency: the commonest value among several drafts of one answer.

use crate::dataset::Outcome;
use crate::number::{Value, round5};

use super::analyst::Draft;
use super::exchange::Failure;

/// Drafts grouped by the value they come to, rounded to 5 decimals.
#[derive(Default)]
pub(super) struct Ballot {
    /// Value, votes and the first draft of each group, the earliest first.
    groups: Vec<(Option<String>, usize, Draft)>,
    /// Why the first sample without a draft has none.
    failure: Option<Failure>,
}

impl Ballot {
    /// Counts a draft.
    pub(super) fn cast(&mut self, value: Option<&Value>, draft: Draft) {
        let key = value.map(|value| match value {
            Value::Number(number) => round5(*number).to_string(),
            Value::Text(word) => word.trim().to_lowercase(),
        });
        match self.groups.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, votes, _)) => *votes += 1,
            None => self.groups.push((key, 1, draft)),
        }
    }

    /// Counts a sample that came to no draft.
    pub(super) fn spoil(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// The first draft of the largest group, the earliest among equals. A
    /// draft without a value wins only where none has one.
    ///
    /// # Errors
    /// The first failure if there is no draft.
    pub(super) fn winner(self) -> Result<Draft, Failure> {
        let rank = |group: &(Option<String>, usize, Draft)| (group.0.is_some(), group.1);
        let best = self.groups.into_iter().reduce(|best, next| {
            if rank(&next) > rank(&best) {
                next
            } else {
                best
            }
        });
        match best {
            Some((_, _, draft)) => Ok(draft),
            None => Err(self.failure.unwrap_or_else(|| {
                Failure::new(Outcome::ParseFailure, "the analyst gave no answer")
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Analysis;

    fn winner(votes: &[(Option<f64>, &str)]) -> String {
        let mut ballot = Ballot::default();
        for (value, reply) in votes {
            let draft = Draft {
                analysis: Analysis::default(),
                leniencies: Vec::new(),
                reply: (*reply).to_owned(),
                reasked: false,
            };
            ballot.cast(value.map(Value::Number).as_ref(), draft);
        }
        ballot
            .winner()
            .map_or_else(|failure| failure.message, |draft| draft.reply)
    }

    #[test]
    fn the_commonest_value_wins_and_ties_go_to_the_earliest() {
        let third = 1.0 / 3.0;
        assert_eq!(
            winner(&[(Some(1.0), "a"), (Some(third), "b"), (Some(0.333_33), "c")]),
            "b"
        );
        assert_eq!(winner(&[(Some(1.0), "a"), (Some(2.0), "b")]), "a");
        assert_eq!(winner(&[(None, "a"), (None, "b"), (Some(2.0), "c")]), "c");
        assert_eq!(winner(&[(None, "a")]), "a");
        assert_eq!(winner(&[]), "the analyst gave no answer");
    }
}
