//! The scorecard of a run: the rate by each rule with its number of questions and its interval, and
//! outcomes, floors, suspect golds and latencies.

use std::collections::HashSet;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use strum::VariantArray;

use crate::dataset::Outcome;
use finqa_core::text::counted;

use super::conversation::{ConversationCard, ConversationTally};
use super::diagnostic::Diagnostic;
use super::epochs::EpochCard;
use super::floor::{LabelFloor, floor_of};
use super::matching::FeReason;
use super::row::Row;
use super::rule::Rule;
use super::tally::{AnswerCounts, QuestionTally, ScoreTally};
use finqa_core::stats::{LatencySummary, Rate};

/// A rate for every rule, and the floor of numeric match (NM) over the same questions.
///
/// Serialises flat: `numerical_match`, `numerical_match_n`, `_low`, `_high`, `_hits`,
/// `_design_effect`, and `numerical_match_floor`. A rule without questions is `null` with an n of
/// 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleRates {
    rates: Vec<(Rule, Option<Rate>)>,
    floor: Option<LabelFloor>,
}

impl RuleRates {
    /// The rates over these questions. If none of them has a program, the rules that judge programs
    /// have no rate.
    fn of<'q>(
        questions: impl Iterator<Item = (&'q QuestionTally, &'q AnswerCounts)> + Clone,
    ) -> Self {
        let programs = questions.clone().any(|(_, counts)| counts.has_program);
        let rate = |rule: Rule| {
            let counted = questions.clone().filter_map(|(question, counts)| {
                let (hits, n) = counts.of(rule);
                (n > 0).then_some((question.page, hits, n))
            });
            (programs || !rule.judges_programs())
                .then(|| Rate::of_questions(counted))
                .flatten()
        };
        let golds = questions.clone().filter_map(|(question, counts)| {
            let gold = question.gold?;
            Some((gold, counts.with_gold as usize))
        });
        Self {
            rates: Rule::VARIANTS
                .iter()
                .map(|rule| (*rule, rate(*rule)))
                .collect(),
            floor: floor_of(golds),
        }
    }

    /// The best constant answer to the same questions under NM.
    pub fn floor(&self) -> Option<LabelFloor> {
        self.floor
    }

    /// The rate by a rule; `None` if the rule can judge no question.
    pub fn get(&self, rule: Rule) -> Option<Rate> {
        self.iter()
            .find_map(|(r, rate)| (r == rule).then_some(rate))
    }

    /// The rules that have a rate, in the order in which they are printed.
    pub fn iter(&self) -> impl Iterator<Item = (Rule, Rate)> + '_ {
        self.rates
            .iter()
            .filter_map(|(rule, rate)| Some((*rule, (*rate)?)))
    }
}

impl Serialize for RuleRates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (rule, rate) in &self.rates {
            let name = rule.name();
            map.serialize_entry(name, &rate.map(|r| r.rate))?;
            map.serialize_entry(&format!("{name}_hits"), &rate.map_or(0, |r| r.hits))?;
            map.serialize_entry(&format!("{name}_n"), &rate.map_or(0, |r| r.n))?;
            map.serialize_entry(&format!("{name}_low"), &rate.map(|r| r.low))?;
            map.serialize_entry(&format!("{name}_high"), &rate.map(|r| r.high))?;
            let effect = rate.map(|r| r.design_effect);
            map.serialize_entry(&format!("{name}_design_effect"), &effect)?;
        }
        map.serialize_entry("numerical_match_floor", &self.floor)?;
        map.end()
    }
}

/// How many rows have the outcome, the reason or the change of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    pub name: &'static str,
    /// The number of rows.
    pub count: usize,
}

/// The rates without the questions whose gold is suspect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoresWithoutSuspects {
    /// The number of questions with a suspect gold.
    pub suspects: usize,
    /// The rates over the other questions.
    #[serde(flatten)]
    pub rates: RuleRates,
}

/// The scorecard of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// The number of rows: one for each question and epoch.
    pub questions: usize,
    /// The number of report pages, which are the clusters of the intervals.
    pub pages: usize,
    /// The number of rows that financial equivalence cannot judge, because they have no gold.
    pub without_gold: usize,
    /// For each rule, the number of rows without the gold that it needs.
    #[serde(skip)]
    unscored: [usize; Rule::VARIANTS.len()],
    /// Every rule over all questions that have gold.
    #[serde(flatten)]
    pub rates: RuleRates,
    /// The rates over the answered questions.
    pub answered: RuleRates,
    /// The rates without the suspect golds, if there are any.
    pub without_suspects: Option<ScoresWithoutSuspects>,
    /// The outcomes that occur, answered first.
    pub outcomes: Vec<Count>,
    /// The reasons for which financial equivalence (FE) accepted answers; only reasons that occur.
    pub reasons: Vec<Count>,
    /// The changes by which FE would accept rejected answers; only changes that occur. An answer
    /// may count under several changes.
    pub diagnostics: Vec<Count>,
    /// The scores of conversations, by FE and by execution accuracy; empty without turns.
    pub conversations: Vec<ConversationCard>,
    /// Latencies in seconds, if known.
    pub latency: Option<LatencySummary>,
}

/// Prints the rate by each rule with its 95 % interval, one line each.
impl std::fmt::Display for Scorecard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let questions = counted(self.questions, "question");
        write!(f, "{questions} on {}", counted(self.pages, "page"))?;
        if let Some(line) = self.gold_line() {
            write!(f, ", {line}")?;
        }
        for (rule, rate) in self.rates.iter() {
            let [percent, low, high] = [rate.rate, rate.low, rate.high].map(|p| 100.0 * p);
            let (label, hits, n) = (rule.name(), rate.hits, rate.n);
            write!(
                f,
                "\n{label}: {hits} of {n} = {percent:.1} % ({low:.1}–{high:.1})"
            )?;
        }
        Ok(())
    }
}

impl Scorecard {
    /// Builds the scorecard of a run's rows.
    pub fn of(rows: &[Row]) -> Self {
        let mut tally = ScoreTally::default();
        rows.iter().for_each(|row| tally.add(row));
        tally.finish().0
    }

    /// Says in one line how many questions have gold for financial equivalence; `None` if all or
    /// none of them have.
    pub fn gold_line(&self) -> Option<String> {
        let scored = self.questions.saturating_sub(self.without_gold);
        let has = if scored == 1 { "has" } else { "have" };
        let is_partial = self.without_gold > 0 && scored > 0;
        is_partial.then(|| format!("{scored} of {} {has} a gold", self.questions))
    }

    /// The number of rows without the gold that a rule needs.
    pub fn unscored(&self, rule: Rule) -> usize {
        of_rule(&self.unscored, rule)
    }

    /// The number of rows with this outcome.
    pub fn count_of(&self, outcome: Outcome) -> usize {
        let found = self.outcomes.iter().find(|it| it.name == outcome.name());
        found.map_or(0, |it| it.count)
    }

    fn of_tally(tally: ScoreTally) -> Self {
        let questions = || tally.questions.values();
        let all = questions().map(|question| (question, &question.all));
        let trusted = all.clone().filter(|(question, _)| !question.is_suspect);
        let rows = |(_, counts): (_, &AnswerCounts)| counts.rows as usize;
        let suspects = tally.rows - trusted.clone().map(rows).sum::<usize>();
        let pages: HashSet<u64> = questions().map(|question| question.page).collect();
        Self {
            questions: tally.rows,
            pages: pages.len(),
            without_gold: of_rule(&tally.unscored, Rule::FinancialEquivalence),
            unscored: tally.unscored,
            rates: RuleRates::of(all),
            answered: RuleRates::of(questions().map(|question| (question, &question.answered))),
            without_suspects: (suspects > 0).then(|| ScoresWithoutSuspects {
                suspects,
                rates: RuleRates::of(trusted),
            }),
            outcomes: counts(Outcome::name, &tally.outcomes),
            reasons: counts(FeReason::name, &tally.reasons),
            diagnostics: counts(Diagnostic::name, &tally.diagnostics),
            conversations: tally
                .conversations
                .into_iter()
                .filter_map(ConversationTally::finish)
                .collect(),
            latency: LatencySummary::of(tally.latencies),
        }
    }
}

impl ScoreTally {
    /// Returns the scorecard, and a comparison of the epochs if there are several.
    pub fn finish(self) -> (Scorecard, Vec<EpochCard>) {
        let rules = [Rule::NumericalMatch, Rule::FinancialEquivalence].into_iter();
        let epochs = rules.filter_map(|rule| EpochCard::of(rule, &self.questions));
        let epochs = epochs.collect();
        (Scorecard::of_tally(self), epochs)
    }
}

fn of_rule(counts: &[usize], rule: Rule) -> usize {
    counts.get(rule as usize).copied().unwrap_or_default()
}

fn counts<T: Copy + VariantArray>(name: fn(T) -> &'static str, counted: &[usize]) -> Vec<Count> {
    let counts = T::VARIANTS.iter().zip(counted).map(|(item, count)| Count {
        name: name(*item),
        count: *count,
    });
    counts.filter(|count| count.count > 0).collect()
}
