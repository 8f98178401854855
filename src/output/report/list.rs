//! The data of all questions that the report needs at once: for the figures and for a line
//! of the list. The rest is read from the journal again, one question at a time.

use std::io;

use serde::Serialize;
use strum::VariantArray;

use crate::output::csv::name;
use crate::run::Row;
use crate::score::{Effort, Rule};

use super::elements::{Elements, Store};
use super::miss_cause::MissCause;
use finqa_core::stats::RateTally;

/// Characters of a question shown in the list; its details have them all.
const SHOWN: usize = 300;

/// A value of a facet, and the rows that have it.
pub(super) struct FacetValue {
    pub(super) name: String,
    pub(super) count: usize,
    /// FE's verdicts on their answers, if there is gold; empty for the facets of
    /// [`WITHOUT_RATES`].
    pub(super) right: RateTally,
    /// Rows whose first value of the facet this is: wrong and right ones.
    pub(super) first: [usize; 2],
}

/// The list of questions while it is gathered.
pub(super) struct QuestionList {
    pub(super) rows: usize,
    /// Of these, wrong and right ones.
    pub(super) judged: [usize; 2],
    /// The values of each facet of [`FACETS`], in the order in which they were met.
    values: [Vec<FacetValue>; FACETS.len()],
    pub(super) latencies: Vec<f64>,
    pub(super) costs: Vec<f64>,
    lines: Vec<ListLine>,
}

/// A line of the list.
struct ListLine {
    index: usize,
    id: String,
    part: String,
    epoch: u32,
    question: String,
    gold: String,
    prediction: String,
    /// A character for each rule.
    marks: String,
    latency: f64,
    rounds: usize,
    cost: Option<f64>,
    /// The numbers of its values, by facet.
    facets: Vec<Vec<usize>>,
    /// The evidence for the cause of a miss.
    detail: String,
}

/// The filters of the list, by which the figures are also sliced: key and title.
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
    ("finding", "Finding"),
];

/// Facets that only filter the list: no figure shows a rate by them.
const WITHOUT_RATES: [&str; 2] = ["reason", "critic"];

impl QuestionList {
    pub(super) fn new() -> Self {
        Self {
            rows: 0,
            judged: [0; 2],
            values: Default::default(),
            latencies: Vec::new(),
            costs: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Adds a row, and why it is wrong, if it is.
    pub(super) fn add(&mut self, row: &Row, cause: Option<&MissCause>) {
        let solution = &row.solution;
        let first_right = solution
            .rounds
            .first()
            .and_then(|round| row.right_with(&round.answer));
        let cost: Option<f64> = row.cost.and_then(|cost| cost.try_into().ok());
        let latency = row.latency.unwrap_or_default();
        let right = row.accepted();
        let mut places = vec![Vec::new(); FACETS.len()];
        let facets = facets(row, first_right, cause).into_iter();
        let all = facets.zip(&mut self.values).zip(&mut places).zip(FACETS);
        for (((own, known), places), (key, _)) in all {
            let has_rates = !WITHOUT_RATES.contains(&key);
            for name in own {
                let place = known.iter().position(|known| known.name == name);
                let place = place.unwrap_or(known.len());
                if place == known.len() {
                    known.push(FacetValue {
                        name,
                        count: 0,
                        right: RateTally::default(),
                        first: [0; 2],
                    });
                }
                let Some(value) = known.get_mut(place) else {
                    continue;
                };
                value.count += 1;
                if let Some(right) = right {
                    if has_rates {
                        value.right.add(row.group(), right);
                    }
                    if places.is_empty()
                        && let Some(first) = value.first.get_mut(usize::from(right))
                    {
                        *first += 1;
                    }
                }
                places.push(place);
            }
        }
        self.rows += 1;
        if let Some(judged) = right.and_then(|right| self.judged.get_mut(usize::from(right))) {
            *judged += 1;
        }
        self.latencies.push(latency);
        self.costs.extend(cost);
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
        self.lines.push(ListLine {
            index: row.index,
            id: row.key.id.clone(),
            part: row.key.part.clone(),
            epoch: row.epoch,
            question: shown(&row.question),
            gold: shown(&gold.or_else(executed).unwrap_or_default()),
            prediction: shown(&row.prediction()),
            marks: Rule::VARIANTS.iter().map(mark).collect(),
            latency,
            rounds: solution.rounds.len(),
            cost,
            facets: places,
            detail: cause.map_or_else(String::new, |cause| cause.detail.clone()),
        });
    }

    pub(super) fn values(&self, key: &str) -> &[FacetValue] {
        let at = FACETS.iter().position(|(name, _)| *name == key);
        at.and_then(|at| self.values.get(at))
            .map_or(&[], Vec::as_slice)
    }

    /// Puts the list among the page's data: values of facets are stored once, rows name them
    /// by number.
    pub(super) fn write(mut self, elements: &mut Elements) -> io::Result<()> {
        let values = self.values.each_ref();
        let values = values.map(|known| sorted(known.iter().map(|value| &value.name)));
        // Until now the numbers are those of the order in which values were met.
        for (at, (known, sorted)) in self.values.iter().zip(&values).enumerate() {
            let number = |value: &FacetValue| sorted.iter().position(|it| *it == value.name);
            let numbers: Vec<Option<usize>> = known.iter().map(number).collect();
            for line in &mut self.lines {
                for place in line.facets.get_mut(at).into_iter().flatten() {
                    *place = numbers.get(*place).copied().flatten().unwrap_or(*place);
                }
            }
        }
        let index = QuestionIndex {
            rules: Rule::VARIANTS,
            facets: ListFacet::all(&FACETS, &values),
            rows: self.lines.iter().map(ListLine::cells).collect(),
        };
        elements.put(Store::Index, &index)?;
        Ok(())
    }
}

/// The list as the page's script reads it.
#[derive(Serialize)]
struct QuestionIndex<'a, Line> {
    rules: &'static [Rule],
    facets: Vec<ListFacet<'a>>,
    rows: Vec<Line>,
}

impl ListLine {
    fn cells(&self) -> impl Serialize + use<'_> {
        let Self {
            index,
            id,
            part,
            epoch,
            question,
            gold,
            prediction,
            marks,
            latency,
            rounds,
            cost,
            facets,
            detail,
        } = self;
        (
            index, id, part, epoch, question, gold, prediction, marks, latency, rounds, cost,
            facets, detail,
        )
    }
}

/// A row's values by facet, in the order of [`FACETS`]; it may have several or none.
fn facets(
    row: &Row,
    first_right: Option<bool>,
    cause: Option<&MissCause>,
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
        cause.map(|cause| cause.cause.clone()).into_iter().collect(),
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

/// The critic's effect on one answer.
fn critic(rounds: usize, before: Option<bool>, after: Option<bool>) -> Option<&'static str> {
    Some(match (rounds, before?, after?) {
        (0 | 1, _, _) => "not_revised",
        (_, false, true) => "fixed",
        (_, true, false) => "broken",
        _ => "unchanged",
    })
}

/// The beginning of a text, for the list.
pub(super) fn shown(text: &str) -> String {
    finqa_core::text::cut(text, SHOWN, "…")
}

/// The values of a facet, each once: numbers by size, efforts by what they
/// take, words by alphabet.
pub(super) fn sorted<'a>(values: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut values: Vec<&str> = values.map(String::as_str).collect();
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

/// The sort key of a value, before the alphabetical order.
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
