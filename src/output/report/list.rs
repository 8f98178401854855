//! The data of all questions that the report needs at once: for the figures and for a line
//! of the list. The rest is read from the journal again, one question at a time.

use std::io::{self, BufRead, BufReader, Seek, Write};

use serde::Serialize;
use strum::VariantArray;
use tempfile::SpooledTempFile;

use crate::output::csv::name;
use crate::run::Row;
use crate::score::{Effort, Rule};

use super::MissCause;
use super::flow::FlowCounts;
use finqa_core::stats::RateTally;

/// Bytes of the list's lines that are kept in memory before they go to a file.
const IN_MEMORY: usize = 1024 * 1024;

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
    pub(super) flow: FlowCounts,
    pub(super) latencies: Vec<f64>,
    pub(super) costs: Vec<f64>,
    /// The list, one line per question: its cells, the indexes of its values in their
    /// facets, and the cause of a miss.
    lines: SpooledTempFile,
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
            flow: FlowCounts::default(),
            latencies: Vec::new(),
            costs: Vec::new(),
            lines: SpooledTempFile::new(IN_MEMORY),
        }
    }

    /// Adds a row, and why it is wrong, if it is.
    pub(super) fn add(&mut self, row: &Row, cause: Option<&MissCause>) -> io::Result<()> {
        let solution = &row.solution;
        let first_right = solution
            .rounds
            .first()
            .and_then(|round| row.right_with(&round.answer));
        let cost: Option<f64> = row.cost.and_then(|cost| cost.try_into().ok());
        let latency = row.latency.unwrap_or_default();
        let right = row.accepted();
        let mut places: [Vec<usize>; FACETS.len()] = Default::default();
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
        if let Some((before, after)) = first_right.zip(row.right_after_review()) {
            self.flow.add(before, solution.rounds.len() > 1, after);
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
        let mut line = serde_json::to_vec(&(
            row.index,
            &row.key.id,
            &row.key.part,
            row.epoch,
            shown(&row.question),
            shown(&gold.or_else(executed).unwrap_or_default()),
            shown(&row.prediction()),
            Rule::VARIANTS.iter().map(mark).collect::<String>(),
            latency,
            solution.rounds.len(),
            cost,
        ))?;
        line.push(b'\t');
        serde_json::to_writer(&mut line, &places)?;
        line.push(b'\t');
        serde_json::to_writer(&mut line, cause.map_or("", |cause| &cause.detail))?;
        line.push(b'\n');
        self.lines.write_all(&line)
    }

    pub(super) fn values(&self, key: &str) -> &[FacetValue] {
        let at = FACETS.iter().position(|(name, _)| *name == key);
        at.and_then(|at| self.values.get(at))
            .map_or(&[], Vec::as_slice)
    }

    /// Writes the list as the page's script reads it: values of facets are stored once, rows
    /// name them by number.
    pub(super) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let values = self.values.each_ref();
        let values = values.map(|known| sorted(known.iter().map(|value| &value.name)));
        write!(out, "{{\"rules\":")?;
        serde_json::to_writer(&mut *out, Rule::VARIANTS)?;
        write!(out, ",\"facets\":")?;
        serde_json::to_writer(&mut *out, &ListFacet::all(&FACETS, &values))?;
        write!(out, ",\"rows\":[")?;
        let numbers = self.values.iter().zip(&values).map(|(known, sorted)| {
            let number = |value: &FacetValue| sorted.iter().position(|it| *it == value.name);
            known.iter().map(number).collect()
        });
        let numbers: Vec<Vec<Option<usize>>> = numbers.collect();
        self.lines.rewind()?;
        for (at, line) in BufReader::new(&mut self.lines).split(b'\n').enumerate() {
            let line = line?;
            let mut parts = line.split(|byte| *byte == b'\t');
            let [known, places, detail] = [(); 3].map(|()| parts.next().unwrap_or_default());
            let places: Vec<Vec<usize>> = serde_json::from_slice(places)?;
            let facets = places.iter().zip(&numbers).map(|(places, numbers)| {
                let number = |place: &usize| *numbers.get(*place)?;
                places.iter().filter_map(number).collect()
            });
            let facets: Vec<Vec<usize>> = facets.collect();
            if at > 0 {
                out.write_all(b",")?;
            }
            // Without its closing bracket.
            out.write_all(
                known
                    .get(..known.len().saturating_sub(1))
                    .unwrap_or_default(),
            )?;
            out.write_all(b",")?;
            serde_json::to_writer(&mut *out, &facets)?;
            out.write_all(b",")?;
            out.write_all(detail)?;
            out.write_all(b"]")?;
        }
        out.write_all(b"]}")
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
