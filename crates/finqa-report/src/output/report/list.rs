//! The list of questions in the report, and the counts for its figures. Only these data are in
//! memory for all questions at once; the details of a question go to [`Elements`] when its row is
//! read.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::{Value, json};
use strum::VariantArray;

use crate::output::csv::name;
use finqa_score::analysis::Miss;
use finqa_score::score::{Effort, Row, Rule};

use super::elements::{Elements, Store};
use finqa_core::stats::RateTally;

/// Maximum number of characters that the list shows of a text. The question's details have it in
/// full. Set by hand.
const SHOWN: usize = 300;

/// The rows that have one value of a facet.
#[derive(Default)]
pub(super) struct FacetValue {
    pub(super) count: usize,
    /// The verdicts by financial equivalence for the rows with gold.
    pub(super) right: RateTally,
}

/// The list of questions, built row by row.
pub(super) struct ReportQuestions {
    pub(super) rows: usize,
    /// Number of rows with gold.
    pub(super) judged: usize,
    /// For each facet of [`FACETS`], its values by name.
    values: [BTreeMap<String, FacetValue>; FACETS.len()],
    lines: Vec<ListLine>,
}

/// A row of the list.
struct ListLine {
    /// The cells before those of the facets.
    cells: Vec<Value>,
    /// The row's values for each facet.
    facets: [Vec<String>; FACETS.len()],
    /// The evidence for the cause, if the row is a miss.
    detail: String,
}

/// The facets, each with its key and title. The list can be filtered by every facet, and figures
/// show rates by some of them.
pub(super) const FACETS: [(&str, &str); 11] = [
    ("part", "Turn or part"),
    ("kind", "Record"),
    ("effort", "Gold program"),
    ("outcome", "Outcome"),
    ("cause", "Cause"),
    ("reason", "Accepted by"),
    ("diagnostic", "Only mistake"),
    ("critic", "Critic"),
    ("rounds", "Rounds"),
    ("stop", "Stopped because"),
    ("finding", "Finding"),
];

impl ReportQuestions {
    pub(super) fn new() -> Self {
        Self {
            rows: 0,
            judged: 0,
            values: Default::default(),
            lines: Vec::new(),
        }
    }

    /// Adds a row. `miss` has the cause if the answer is wrong.
    pub(super) fn add(&mut self, row: &Row, miss: Option<&Miss>) {
        let solution = &row.solution;
        let first_right = solution
            .rounds
            .first()
            .and_then(|round| row.right_with(&round.answer));
        let cost: Option<f64> = row.cost.and_then(|cost| cost.try_into().ok());
        let latency = row.latency.unwrap_or_default();
        let right = row.accepted();
        let facets = facets(row, first_right, miss);
        for (own, known) in facets.iter().zip(&mut self.values) {
            for name in own {
                let value = known.entry(name.clone()).or_default();
                value.count += 1;
                if let Some(right) = right {
                    value.right.add(row.group(), right);
                }
            }
        }
        self.rows += 1;
        self.judged += usize::from(right.is_some());
        let gold = row.ground_truth().filter(|gold| !gold.is_empty());
        let executed = || {
            row.gold
                .exe_ans
                .as_ref()
                .map(|value| value.to_string().into())
        };
        let mark = |rule: &Rule| {
            rule.mark(row)
                .map_or('-', |right| if right { '1' } else { '0' })
        };
        let marks: String = Rule::VARIANTS.iter().map(mark).collect();
        self.lines.push(ListLine {
            cells: vec![
                json!(row.index),
                json!(row.key.id),
                json!(row.key.part),
                json!(row.epoch),
                json!(shown(&row.question)),
                json!(shown(&gold.or_else(executed).unwrap_or_default())),
                json!(shown(&row.prediction())),
                json!(marks),
                json!(latency),
                json!(solution.rounds.len()),
                json!(cost),
            ],
            facets,
            detail: miss.map_or_else(String::new, |miss| miss.detail.clone()),
        });
    }

    /// The values of the facet `key`, with their names.
    pub(super) fn values(&self, key: &str) -> impl Iterator<Item = (&String, &FacetValue)> {
        let at = FACETS.iter().position(|(name, _)| *name == key);
        at.and_then(|at| self.values.get(at)).into_iter().flatten()
    }

    /// Adds the list to the page's data. A facet's values are stored once, and rows refer to them
    /// by number.
    pub(super) fn write(self, elements: &mut Elements) -> io::Result<()> {
        let values = self.values.each_ref();
        let values = values.map(|known| sorted(known.keys()));
        let rows = self.lines.into_iter().map(|line| {
            let mut cells = line.cells;
            cells.push(json!(numbered(&line.facets, &values)));
            cells.push(line.detail.into());
            cells
        });
        let facets = FACETS.iter().zip(&values);
        let facets = facets.map(|((key, title), values)| ListFacet { key, title, values });
        let index = QuestionIndex {
            rules: Rule::VARIANTS,
            facets: facets.collect(),
            rows: rows.collect(),
        };
        elements.put(Store::Index, &index)?;
        Ok(())
    }
}

/// The list in the format that the page's script reads.
#[derive(Serialize)]
struct QuestionIndex<'a> {
    rules: &'static [Rule],
    facets: Vec<ListFacet<'a>>,
    rows: Vec<Vec<Value>>,
}

/// A row's values for each facet, in the order of [`FACETS`]. A facet may have several values or
/// none.
fn facets(
    row: &Row,
    first_right: Option<bool>,
    miss: Option<&Miss>,
) -> [Vec<String>; FACETS.len()] {
    let solution = &row.solution;
    let verdict = row.scores.financial_equivalence.as_ref();
    let diagnostics = verdict.map_or(&[][..], |verdict| &verdict.diagnostics);
    let effort = Effort::of(&row.gold);
    let rounds = solution.rounds.len();
    let critic = critic(rounds, first_right, row.right_after_review());
    let found = solution.rounds.iter().flat_map(|round| &round.findings);
    let mut findings: Vec<String> = found.map(|finding| name(&finding.kind)).collect();
    findings.sort();
    findings.dedup();
    [
        vec![row.key.part.clone()],
        vec![name(&row.kind)],
        effort
            .map(|effort| effort.name().to_owned())
            .into_iter()
            .collect(),
        vec![solution.outcome.name().to_owned()],
        miss.map(|miss| miss.cause.name().to_owned())
            .into_iter()
            .collect(),
        verdict
            .and_then(|verdict| verdict.reason)
            .map(|reason| name(&reason))
            .into_iter()
            .collect(),
        diagnostics.iter().map(|it| it.name().to_owned()).collect(),
        critic.map(str::to_owned).into_iter().collect(),
        vec![rounds.to_string()],
        vec![name(&solution.stop)],
        findings,
    ]
}

/// The critic's effect on one answer. `before` and `after` say whether the first draft and the
/// final answer are right; without gold they are `None`, and so is the effect.
fn critic(rounds: usize, before: Option<bool>, after: Option<bool>) -> Option<&'static str> {
    Some(match (rounds, before?, after?) {
        (0 | 1, _, _) => "not_revised",
        (_, false, true) => "fixed",
        (_, true, false) => "broken",
        _ => "unchanged",
    })
}

/// Cuts a text to the part that the list shows.
fn shown(text: &str) -> String {
    finqa_core::text::cut(text, SHOWN, "…")
}

/// The values of a facet, each once. Numbers are sorted by size, efforts from least to most, and
/// other words in alphabetical order.
fn sorted<'a>(values: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut values: Vec<&str> = values.map(String::as_str).collect();
    values.sort_unstable_by_key(|value| (rank(value), *value));
    values.dedup();
    values
}

#[derive(Serialize)]
struct ListFacet<'a> {
    key: &'static str,
    title: &'static str,
    values: &'a [&'a str],
}

/// The sort key of a value, used before the alphabetical order: the number or the effort; `None`
/// for other words.
pub(super) fn rank(value: &str) -> Option<u32> {
    let efforts = [Effort::LookUp, Effort::OneStep, Effort::MoreSteps];
    let effort = efforts.iter().position(|effort| effort.name() == value);
    let effort = effort.and_then(|at| u32::try_from(at).ok());
    value.parse().ok().or(effort)
}

/// A row's values, each replaced by its number among all values of its facet.
fn numbered(facets: &[Vec<String>], values: &[Vec<&str>]) -> Vec<Vec<usize>> {
    let number = |(own, all): (&Vec<String>, &Vec<&str>)| {
        let place = |value: &String| all.iter().position(|known| known == value);
        own.iter().filter_map(place).collect()
    };
    facets.iter().zip(values).map(number).collect()
}
