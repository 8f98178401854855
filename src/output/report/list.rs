//! What the report knows of every question at once: enough for the figures and
//! for a line of the list. The rest is read from the journal again, one question
//! at a time.

use serde::Serialize;
use serde::ser::{SerializeSeq, SerializeStruct};

use crate::dataset::QuestionKey;
use crate::output::csv::name;
use crate::run::Row;
use crate::score::{Effort, Rule};

use super::Causes;

/// Characters of a question shown in the list; its details have them all.
const SHOWN: usize = 300;

/// What the list shows of a question.
pub(super) struct ListedRow {
    pub(super) index: usize,
    pub(super) id: String,
    pub(super) part: String,
    pub(super) epoch: u32,
    /// The cluster for intervals.
    pub(super) filename: String,
    pub(super) question: String,
    pub(super) gold: String,
    pub(super) prediction: String,
    /// One for each rule of [`Rule::ALL`].
    pub(super) marks: Vec<Option<bool>>,
    pub(super) latency: f64,
    pub(super) rounds: usize,
    pub(super) cost: Option<f64>,
    /// The evidence for its cause, if it has one.
    pub(super) cause: String,
    /// By FE; `None` without gold or without a first draft.
    pub(super) first_right: Option<bool>,
    /// By facet, in the order of [`FACETS`]; a question may have several or none.
    pub(super) facets: Vec<Vec<String>>,
}

/// What the list can be filtered by and the figures are sliced by: key and title.
pub(super) const FACETS: [(&str, &str); 11] = [
    ("part", "Turn or part"),
    ("kind", "Record"),
    ("effort", "Gold program"),
    ("outcome", "Outcome"),
    ("cause", "Cause"),
    ("reason", "Accepted by"),
    ("diagnostic", "Misses only by"),
    ("critic", "Critic"),
    ("rounds", "Rounds"),
    ("stop", "Stopped because"),
    ("finding", "Check that spoke"),
];

impl ListedRow {
    pub(super) fn of(row: &Row) -> Self {
        let solution = &row.solution;
        let first_right = solution
            .rounds
            .first()
            .and_then(|round| row.right_with(&round.answer));
        let verdict = row.scores.financial_equivalence.as_ref();
        let diagnostics = verdict.map_or_else(Vec::new, |verdict| {
            let named = verdict.diagnostics.iter();
            named
                .map(|diagnostic| diagnostic.name().to_owned())
                .collect()
        });
        let mut findings: Vec<String> = solution
            .rounds
            .iter()
            .flat_map(|round| round.findings.iter().map(|finding| name(&finding.kind)))
            .collect();
        findings.sort();
        findings.dedup();
        let gold = row.ground_truth().filter(|gold| !gold.is_empty());
        Self {
            index: row.index,
            id: row.key.id.clone(),
            part: row.key.part.clone(),
            epoch: row.epoch,
            filename: row.filename.clone(),
            question: shown(&row.question),
            gold: shown(
                &gold
                    .or_else(|| {
                        row.gold
                            .exe_ans
                            .as_ref()
                            .map(|value| value.to_string().into())
                    })
                    .unwrap_or_default(),
            ),
            prediction: shown(&row.prediction()),
            marks: Rule::ALL.map(|rule| rule.mark(row)).to_vec(),
            latency: row.latency.unwrap_or_default(),
            rounds: solution.rounds.len(),
            cost: row.cost.and_then(|cost| cost.try_into().ok()),
            cause: String::new(),
            first_right,
            facets: vec![
                vec![row.key.part.clone()],
                vec![name(&row.kind)],
                Effort::of(&row.gold)
                    .map(|effort| effort.name().to_owned())
                    .into_iter()
                    .collect(),
                vec![solution.outcome.name().to_owned()],
                Vec::new(),
                verdict
                    .and_then(|verdict| verdict.reason)
                    .map(|reason| name(&reason))
                    .into_iter()
                    .collect(),
                diagnostics,
                critic(solution.rounds.len(), first_right, row.accepted())
                    .map(str::to_owned)
                    .into_iter()
                    .collect(),
                vec![solution.rounds.len().to_string()],
                vec![name(&solution.stop)],
                findings,
            ],
        }
    }

    /// Notes why the answer is wrong, which is known when all answers are.
    pub(super) fn explain(&mut self, causes: &Causes) {
        let key = QuestionKey {
            id: self.id.clone(),
            part: self.part.clone(),
        };
        let at = FACETS.iter().position(|(name, _)| *name == "cause");
        if let Some(found) = causes.get(&(key, self.epoch))
            && let Some(facet) = at.and_then(|at| self.facets.get_mut(at))
        {
            *facet = vec![found.cause.clone()];
            self.cause.clone_from(&found.detail);
        }
    }

    /// Whether FE accepts the answer; `None` without gold.
    pub(super) fn right(&self) -> Option<bool> {
        let at = Rule::ALL
            .iter()
            .position(|rule| *rule == Rule::FinancialEquivalence)?;
        self.marks.get(at).copied().flatten()
    }

    /// The values of a facet by its key.
    pub(super) fn facet(&self, key: &str) -> &[String] {
        let at = FACETS.iter().position(|(name, _)| *name == key);
        at.and_then(|at| self.facets.get(at))
            .map_or(&[], Vec::as_slice)
    }
}

/// What the critic did to one answer.
fn critic(rounds: usize, before: Option<bool>, after: Option<bool>) -> Option<&'static str> {
    Some(match (rounds, before?, after?) {
        (0 | 1, _, _) => "accepted_at_once",
        (_, false, true) => "fixed",
        (_, true, false) => "broken",
        _ => "unchanged",
    })
}

/// The beginning of a text, for the list.
pub(super) fn shown(text: &str) -> String {
    finqa_core::text::cut(text, SHOWN, "…")
}

/// The list as the page's script reads it: values of facets are stored once, rows
/// name them by number.
pub(super) struct QuestionIndex<'a> {
    pub(super) rows: &'a [ListedRow],
    values: Vec<Vec<&'a str>>,
}

impl<'a> QuestionIndex<'a> {
    pub(super) fn of(rows: &'a [ListedRow]) -> Self {
        let values = (0..FACETS.len())
            .map(|facet| facet_values(rows.iter().filter_map(|row| row.facets.get(facet))))
            .collect();
        Self { rows, values }
    }
}

/// The values of a facet, each once: numbers by size, efforts by what they
/// take, words by alphabet.
pub(super) fn facet_values<'a>(named: impl Iterator<Item = &'a Vec<String>>) -> Vec<&'a str> {
    let mut values: Vec<&str> = named.flatten().map(String::as_str).collect();
    values.sort_unstable_by_key(|value| (rank(value), *value));
    values.dedup();
    values
}

/// A facet that the list can be filtered by.
#[derive(Serialize)]
pub(super) struct ListFacet<'a> {
    key: &'static str,
    title: &'static str,
    values: &'a [&'a str],
}

impl<'a> ListFacet<'a> {
    /// The facets of these keys and titles, with the values of each.
    pub(super) fn all(
        named: &[(&'static str, &'static str)],
        values: &'a [Vec<&'a str>],
    ) -> Vec<Self> {
        let facets = named.iter().zip(values);
        facets
            .map(|((key, title), values)| Self { key, title, values })
            .collect()
    }
}

/// What values are ordered by before the alphabet.
pub(super) fn rank(value: &str) -> Option<u32> {
    let efforts = [Effort::LookUp, Effort::OneStep, Effort::MoreSteps];
    let effort = efforts.iter().position(|effort| effort.name() == value);
    let effort = effort.and_then(|at| u32::try_from(at).ok());
    value.parse().ok().or(effort)
}

/// A row's values by their numbers among all values of their facet.
pub(super) fn numbered(facets: &[Vec<String>], values: &[Vec<&str>]) -> Vec<Vec<usize>> {
    let number = |(own, all): (&Vec<String>, &Vec<&str>)| {
        let place = |value: &String| all.iter().position(|known| known == value);
        own.iter().filter_map(place).collect()
    };
    facets.iter().zip(values).map(number).collect()
}

impl Serialize for QuestionIndex<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let facets = ListFacet::all(&FACETS, &self.values);
        let mut object = serializer.serialize_struct("QuestionIndex", 3)?;
        object.serialize_field("rules", &Rule::ALL.map(Rule::name))?;
        object.serialize_field("facets", &facets)?;
        object.serialize_field("rows", &QuestionLines(self))?;
        object.end()
    }
}

struct QuestionLines<'a>(&'a QuestionIndex<'a>);

impl Serialize for QuestionLines<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut lines = serializer.serialize_seq(Some(self.0.rows.len()))?;
        for row in self.0.rows {
            let marks: String = row
                .marks
                .iter()
                .map(|mark| mark.map_or('-', |right| if right { '1' } else { '0' }))
                .collect();
            let facets = numbered(&row.facets, &self.0.values);
            lines.serialize_element(&(
                row.index,
                &row.id,
                &row.part,
                row.epoch,
                &row.question,
                &row.gold,
                &row.prediction,
                marks,
                row.latency,
                row.rounds,
                row.cost,
                facets,
                &row.cause,
            ))?;
        }
        lines.end()
    }
}
