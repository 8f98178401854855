//! Several passes over the same questions: how often each is right at all, and
//! how often every time.

use std::collections::BTreeMap;

use serde::Serialize;

use super::card::Rule;
use super::floor::{LabelFloor, floor_of};
use super::marks::RowMarks;
use finqa_core::stats::Rate;

/// Passes compared, by one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EpochCard {
    /// The rule's name.
    pub rule: &'static str,
    /// Passes over every question.
    pub k: usize,
    /// Questions that were asked in every pass and have gold.
    pub n: usize,
    /// The rate over all passes of these questions.
    pub mean: Rate,
    /// pass@k: right in at least one pass.
    pub pass_at_k: Rate,
    /// pass^k: right in every pass.
    pub pass_hat_k: Rate,
    /// The best constant answer to these questions, by numeric match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<LabelFloor>,
}

impl EpochCard {
    /// The card by a rule; `None` unless some question was asked more than once.
    #[must_use]
    pub(crate) fn of(rule: Rule, rows: &[RowMarks]) -> Option<Self> {
        let mut questions: BTreeMap<u64, (&RowMarks, Vec<bool>)> = BTreeMap::new();
        for row in rows {
            if let Some(right) = row.mark(rule) {
                let question = questions.entry(row.question);
                question.or_insert((row, Vec::new())).1.push(right);
            }
        }
        let k = questions.values().map(|(_, marks)| marks.len()).max()?;
        // An interrupted run has asked some questions less often.
        let whole: Vec<_> = questions
            .values()
            .filter(|(_, marks)| marks.len() == k)
            .collect();
        let rate = |right: fn(&[bool]) -> bool| {
            let marks = whole.iter().map(|(row, marks)| (row, right(marks)));
            Rate::of(marks.map(|(row, right)| (row.page, row.question, right)))
        };
        let all = whole.iter().flat_map(|(row, marks)| {
            let marks = marks.iter();
            marks.map(move |right| (row.page, row.question, *right))
        });
        (k > 1).then_some(())?;
        let golds = whole.iter().filter_map(|(row, _)| row.gold);
        Some(Self {
            rule: rule.name(),
            k,
            n: whole.len(),
            mean: Rate::of(all)?,
            pass_at_k: rate(|marks| marks.contains(&true))?,
            pass_hat_k: rate(|marks| !marks.contains(&false))?,
            floor: floor_of(golds).filter(|_| rule == Rule::NumericalMatch),
        })
    }
}
