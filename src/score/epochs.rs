//! Several passes over the same questions: how often each is right at all, and
//! how often every time.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::dataset::QuestionKey;

use super::card::Rule;
use super::row::ScoredRow;
use super::statistics::Rate;

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
}

impl EpochCard {
    /// The card by a rule; `None` unless some question was asked more than once.
    #[must_use]
    pub fn of(rule: Rule, rows: &[ScoredRow]) -> Option<Self> {
        let mut questions: BTreeMap<&QuestionKey, (&str, Vec<bool>)> = BTreeMap::new();
        for row in rows {
            if let Some(right) = rule.mark(row) {
                let page = row.item.filename.as_str();
                let marks = &mut questions
                    .entry(&row.item.key)
                    .or_insert((page, Vec::new()))
                    .1;
                marks.push(right);
            }
        }
        let k = questions.values().map(|(_, marks)| marks.len()).max()?;
        // An interrupted run has asked some questions less often.
        let whole: Vec<_> = questions
            .values()
            .filter(|(_, marks)| marks.len() == k)
            .collect();
        let rate = |right: fn(&[bool]) -> bool| {
            Rate::of(whole.iter().map(|(page, marks)| (*page, right(marks))))
        };
        let all = whole
            .iter()
            .flat_map(|(page, marks)| marks.iter().map(move |right| (*page, *right)));
        (k > 1).then_some(())?;
        Some(Self {
            rule: rule.name(),
            k,
            n: whole.len(),
            mean: Rate::of(all)?,
            pass_at_k: rate(|marks| marks.contains(&true))?,
            pass_hat_k: rate(|marks| !marks.contains(&false))?,
        })
    }
}
