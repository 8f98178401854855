//! The scorecard of a run: every rule side by side, each with its n and its
//! interval, alongside outcomes, floors, suspect golds and latencies.

use std::collections::HashSet;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::dataset::Outcome;

use super::conversation::ConversationCard;
use super::diagnostic::Diagnostic;
use super::equivalence::FeReason;
use super::floor::{LabelFloor, floor_of};
use super::marks::RowMarks;
use super::row::Row;
use finqa_core::stats::{LatencySummary, Rate};

/// A scoring rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// EM.
    ExactMatch,
    /// NM, the LangGraph baseline's ±0.5.
    NumericalMatch,
    /// Official execution accuracy of the answers.
    ExecutionAccuracy,
    /// Official execution accuracy of the predicted programs.
    ProgramExecution,
    /// Official program accuracy.
    ProgramAccuracy,
    /// FE, the headline.
    FinancialEquivalence,
}

impl Rule {
    /// Every rule, in the order in which they are printed.
    pub(crate) const ALL: [Self; 6] = [
        Self::ExactMatch,
        Self::NumericalMatch,
        Self::ExecutionAccuracy,
        Self::ProgramExecution,
        Self::ProgramAccuracy,
        Self::FinancialEquivalence,
    ];

    /// The name in files.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ExactMatch => "exact_match",
            Self::NumericalMatch => "numerical_match",
            Self::ExecutionAccuracy => "execution_accuracy",
            Self::ProgramExecution => "program_execution",
            Self::ProgramAccuracy => "program_accuracy",
            Self::FinancialEquivalence => "financial_equivalence",
        }
    }

    /// What the rule says of a row; `None` where its gold is missing.
    #[must_use]
    pub(crate) fn mark(self, row: &Row) -> Option<bool> {
        let scores = &row.scores;
        match self {
            Self::ExactMatch => scores.exact_match,
            Self::NumericalMatch => scores.numerical_match,
            Self::ExecutionAccuracy => scores.execution_accuracy,
            Self::ProgramExecution => scores.program_execution,
            Self::ProgramAccuracy => scores.program_accuracy,
            Self::FinancialEquivalence => row.accepted(),
        }
    }

    /// Whether it judges programs: with no program in the whole run there is
    /// nothing to judge.
    fn judges_programs(self) -> bool {
        matches!(self, Self::ProgramExecution | Self::ProgramAccuracy)
    }
}

/// A rate for every rule, and NM's floor over the same questions. Serialises
/// flat: `numerical_match`, `numerical_match_n`, `_low`, `_high`, `_hits`,
/// `_design_effect`, `numerical_match_floor`; a rule without questions is
/// `null` with an n of 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleRates {
    rates: Vec<(Rule, Option<Rate>)>,
    floor: Option<LabelFloor>,
}

impl RuleRates {
    /// The rates over some rows.
    #[must_use]
    fn of<'r>(rows: impl Iterator<Item = &'r RowMarks> + Clone) -> Self {
        let programs = rows.clone().any(|row| row.has_program);
        let rate = |rule: Rule| {
            (programs || !rule.judges_programs())
                .then(|| Rate::of(rows.clone().filter_map(|row| row.grouped(rule))))
                .flatten()
        };
        Self {
            rates: Rule::ALL
                .into_iter()
                .map(|rule| (rule, rate(rule)))
                .collect(),
            floor: floor_of(rows.filter_map(|row| row.gold)),
        }
    }

    /// The best constant answer under NM to the same questions.
    #[must_use]
    pub fn floor(&self) -> Option<LabelFloor> {
        self.floor
    }

    /// The rate by a rule.
    #[must_use]
    pub fn get(&self, rule: Rule) -> Option<Rate> {
        self.iter()
            .find_map(|(r, rate)| (r == rule).then_some(rate))
    }

    /// The rules that have a rate, in the order in which they are printed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Rule, Rate)> + '_ {
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

/// A number of rows under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    pub name: &'static str,
    /// How many.
    pub count: usize,
}

/// FE with one more leniency: diagnosis, never the headline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Layer {
    /// `financial_equivalence`, `+ sign`, `+ scale`.
    pub name: &'static str,
    /// Questions that are right with this leniency and those before it.
    pub hits: usize,
    /// Questions.
    pub n: usize,
    /// `hits / n`, from 0 to 1.
    pub rate: f64,
}

/// The rates once the suspect golds are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoresWithoutSuspects {
    /// Suspect golds among the questions.
    pub suspects: usize,
    /// The rates over the others.
    #[serde(flatten)]
    pub rates: RuleRates,
}

/// The scorecard of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// Questions asked.
    pub questions: usize,
    /// Report pages they are on: the clusters.
    pub pages: usize,
    /// Every rule over all questions that have gold.
    #[serde(flatten)]
    pub rates: RuleRates,
    /// The same rules over the questions that were answered.
    pub answered: RuleRates,
    /// The same rules without the suspect golds, if there are any.
    pub without_suspects: Option<ScoresWithoutSuspects>,
    /// How asking ended, those that occur, answered first.
    pub outcomes: Vec<Count>,
    /// Why FE accepted, those that occur.
    pub reasons: Vec<Count>,
    /// What would have made FE's rejections right, those that occur; one
    /// answer may count under several.
    pub diagnostics: Vec<Count>,
    /// FE, then with sign, then with scale forgiven.
    pub layers: Vec<Layer>,
    /// By FE and by execution accuracy, if the questions are turns.
    pub conversations: Vec<ConversationCard>,
    /// Latencies in seconds, if known.
    pub latency: Option<LatencySummary>,
}

/// The rate by each rule with its 95 % interval, a line each.
impl std::fmt::Display for Scorecard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} questions on {} pages", self.questions, self.pages)?;
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
    /// Sums up a run.
    #[must_use]
    pub fn of(rows: &[Row]) -> Self {
        Self::of_marks(&rows.iter().map(RowMarks::of).collect::<Vec<_>>())
    }

    /// The same from what is kept of its rows.
    pub(crate) fn of_marks(rows: &[RowMarks]) -> Self {
        let answered = |row: &&RowMarks| row.outcome == Outcome::Answered;
        let trusted = |row: &&RowMarks| !row.is_suspect;
        let suspects = rows.len() - rows.iter().filter(trusted).count();
        let pages: HashSet<u64> = rows.iter().map(|row| row.page).collect();
        Self {
            questions: rows.len(),
            pages: pages.len(),
            rates: RuleRates::of(rows.iter()),
            answered: RuleRates::of(rows.iter().filter(answered)),
            without_suspects: (suspects > 0).then(|| ScoresWithoutSuspects {
                suspects,
                rates: RuleRates::of(rows.iter().filter(trusted)),
            }),
            outcomes: counts(Outcome::ALL, Outcome::name, |outcome| {
                rows.iter().filter(|row| row.outcome == outcome).count()
            }),
            reasons: counts(FeReason::ALL, FeReason::name, |reason| {
                rows.iter().filter(|row| row.reason == Some(reason)).count()
            }),
            diagnostics: counts(Diagnostic::ALL, Diagnostic::name, |diagnostic| {
                rows.iter()
                    .filter(|row| row.diagnostics.contains(&diagnostic))
                    .count()
            }),
            layers: layers(rows),
            conversations: [Rule::FinancialEquivalence, Rule::ExecutionAccuracy]
                .into_iter()
                .filter_map(|rule| ConversationCard::of(rule, rows))
                .collect(),
            latency: LatencySummary::of(rows.iter().filter_map(|row| row.latency)),
        }
    }
}

fn counts<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    count: impl Fn(T) -> usize,
) -> Vec<Count> {
    all.into_iter()
        .map(|item| Count {
            name: name(item),
            count: count(item),
        })
        .filter(|count| count.count > 0)
        .collect()
}

fn layers(rows: &[RowMarks]) -> Vec<Layer> {
    use Diagnostic::{Scale, ScaleAndSign, Sign};
    let accepted = |row: &RowMarks| row.mark(Rule::FinancialEquivalence);
    let n = rows.iter().filter_map(accepted).count();
    let layer = |name, forgiven: &[Diagnostic]| {
        let right = |row: &&RowMarks| {
            accepted(row) == Some(true) || row.diagnostics.iter().any(|d| forgiven.contains(d))
        };
        let hits = rows.iter().filter(right).count();
        #[allow(clippy::cast_precision_loss, reason = "counts of questions")]
        let rate = hits as f64 / n as f64;
        Layer {
            name,
            hits,
            n,
            rate,
        }
    };
    if n == 0 {
        return Vec::new();
    }
    vec![
        layer("financial_equivalence", &[]),
        layer("+ sign", &[Sign]),
        layer("+ scale", &[Sign, Scale, ScaleAndSign]),
    ]
}
