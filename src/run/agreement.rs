//! What agreement with the second opinion is worth in a run: how many answers
//! are right where the two agree, and where they differ.

use serde::Serialize;

use crate::dataset::QuestionKey;
use finqa_core::stats::Rate;

use crate::score::Row;

/// Answers with gold, by financial equivalence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Agreement {
    /// Right where the embedded analyst gives the same answer.
    pub agreed: Option<Rate>,
    /// Right where the embedded analyst gives another answer.
    pub differed: Option<Rate>,
    #[serde(skip)]
    marks: Vec<ComparedAnswer>,
}

/// An answer with a second opinion.
#[derive(Clone, Debug, PartialEq)]
struct ComparedAnswer {
    page: String,
    key: QuestionKey,
    agrees: bool,
    right: bool,
}

impl Agreement {
    /// Counts a row; one without an answer, gold or a second opinion does not count.
    pub fn add(&mut self, row: &Row) {
        let agrees = row.solution.opinion.as_ref().and_then(|other| other.agrees);
        let right = row
            .solution
            .answer
            .as_ref()
            .and(row.scores.financial_equivalence.as_ref());
        if let Some((agrees, right)) = agrees.zip(right) {
            self.marks.push(ComparedAnswer {
                page: row.filename.clone(),
                key: row.key.clone(),
                agrees,
                right: right.accepted,
            });
        }
    }

    /// The rates over all rows that were counted; `None` if there was no second opinion.
    #[must_use]
    pub fn finish(mut self) -> Option<Self> {
        let rate = |which: bool| {
            let marks = self.marks.iter().filter(|mark| mark.agrees == which);
            Rate::of(marks.map(|mark| (mark.page.as_str(), &mark.key, mark.right)))
        };
        (self.agreed, self.differed) = (rate(true), rate(false));
        (!self.marks.is_empty()).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_rates_are_of_different_answers() {
        let mark = |part: &str, agrees, right| ComparedAnswer {
            page: "p".to_owned(),
            key: QuestionKey {
                id: "p".to_owned(),
                part: part.to_owned(),
            },
            agrees,
            right,
        };
        let agreement = Agreement {
            marks: vec![
                mark("0", true, true),
                mark("1", true, true),
                mark("2", false, false),
            ],
            ..Agreement::default()
        };
        let done = agreement.finish().unwrap();
        let counts = |rate: Option<Rate>| rate.map(|rate| (rate.hits, rate.n));
        assert_eq!(counts(done.agreed), Some((2, 2)));
        assert_eq!(counts(done.differed), Some((0, 1)));
        assert_eq!(Agreement::default().finish(), None);
    }
}
