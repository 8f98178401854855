//! What the report knows of every question at once: enough for the figures and
//! for a line of the list. The rest is read from the journal again, one question
//! at a time.

use std::io::{self, BufRead, BufReader, Seek, Write};

use serde::Serialize;
use tempfile::SpooledTempFile;

use crate::output::csv::name;
use crate::run::Row;
use crate::score::{Effort, Rule};

use super::MissCause;

/// Bytes of the list's lines that are kept in memory before they go to a file.
const IN_MEMORY: usize = 1024 * 1024;

/// Characters of a question shown in the list; its details have them all.
const SHOWN: usize = 300;

/// What the figures need of a question.
pub(super) struct ListedRow {
    /// Page and question, by which intervals are made.
    pub(super) group: (u64, u64),
    /// Whether FE accepts the answer; `None` without gold.
    pub(super) right: Option<bool>,
    /// The same of the first draft; `None` without gold or without one.
    pub(super) first_right: Option<bool>,
    pub(super) right_after_review: Option<bool>,
    pub(super) rounds: usize,
    pub(super) latency: f64,
    pub(super) cost: Option<f64>,
    /// The places of its values in those of their facets, facet by facet.
    values: Box<[(u8, u16)]>,
}

/// The list of questions while it is gathered.
pub(super) struct QuestionList {
    pub(super) rows: Vec<ListedRow>,
    /// The values of each facet of [`FACETS`], in the order in which they were met.
    values: [Vec<String>; FACETS.len()],
    /// What the list shows of each question, a line each.
    lines: SpooledTempFile,
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

impl QuestionList {
    pub(super) fn new() -> Self {
        Self {
            rows: Vec::new(),
            values: Default::default(),
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
        let mut values = Vec::new();
        for (at, own) in (0_u8..).zip(facets(row, first_right, cause)) {
            let Some(known) = self.values.get_mut(usize::from(at)) else {
                continue;
            };
            for value in own {
                let place = known.iter().position(|known| *known == value);
                let place = place.unwrap_or_else(|| {
                    known.push(value);
                    known.len() - 1
                });
                values.push((at, u16::try_from(place).unwrap_or(u16::MAX)));
            }
        }
        self.rows.push(ListedRow {
            group: row.group(),
            right: row.accepted(),
            first_right,
            right_after_review: row.right_after_review(),
            rounds: solution.rounds.len(),
            latency,
            cost,
            values: values.into(),
        });
        let gold = row.ground_truth().filter(|gold| !gold.is_empty());
        let executed = || {
            row.gold
                .exe_ans
                .as_ref()
                .map(|value| value.to_string().into())
        };
        let mark = |rule: Rule| {
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
            Rule::ALL.map(mark).iter().collect::<String>(),
            latency,
            solution.rounds.len(),
            cost,
        ))?;
        line.push(b'\t');
        serde_json::to_writer(&mut line, cause.map_or("", |cause| &cause.detail))?;
        line.push(b'\n');
        self.lines.write_all(&line)
    }

    /// A row's values of a facet by its key.
    pub(super) fn facet<'a>(
        &'a self,
        row: &'a ListedRow,
        key: &str,
    ) -> impl Iterator<Item = &'a str> {
        let at = FACETS.iter().position(|(name, _)| *name == key);
        let own = row
            .values
            .iter()
            .filter(move |(facet, _)| Some(usize::from(*facet)) == at);
        own.filter_map(|(facet, place)| {
            let known = self.values.get(usize::from(*facet))?;
            known.get(usize::from(*place)).map(String::as_str)
        })
    }

    /// Writes the list as the page's script reads it: values of facets are stored once, rows
    /// name them by number.
    pub(super) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let values = self.values.each_ref().map(|known| sorted(known.iter()));
        write!(out, "{{\"rules\":")?;
        serde_json::to_writer(&mut *out, &Rule::ALL.map(Rule::name))?;
        write!(out, ",\"facets\":")?;
        serde_json::to_writer(&mut *out, &ListFacet::all(&FACETS, &values))?;
        write!(out, ",\"rows\":[")?;
        let numbers: Vec<Vec<Option<usize>>> = self
            .values
            .iter()
            .zip(&values)
            .map(|(known, sorted)| {
                let number = |value: &String| sorted.iter().position(|it| it == value);
                known.iter().map(number).collect()
            })
            .collect();
        self.lines.rewind()?;
        let lines = BufReader::new(&mut self.lines).split(b'\n');
        for (at, (line, row)) in lines.zip(&self.rows).enumerate() {
            let line = line?;
            let tab = line
                .iter()
                .position(|byte| *byte == b'\t')
                .unwrap_or(line.len());
            let (known, detail) = line.split_at(tab);
            let mut facets: [Vec<usize>; FACETS.len()] = Default::default();
            for (facet, place) in &row.values {
                let own = facets.get_mut(usize::from(*facet));
                let number = numbers.get(usize::from(*facet));
                let number = number.and_then(|them| *them.get(usize::from(*place))?);
                if let (Some(own), Some(number)) = (own, number) {
                    own.push(number);
                }
            }
            if at > 0 {
                out.write_all(b",")?;
            }
            // Without its closing bracket.
            out.write_all(known.get(..tab.saturating_sub(1)).unwrap_or_default())?;
            out.write_all(b",")?;
            serde_json::to_writer(&mut *out, &facets)?;
            out.write_all(b",")?;
            out.write_all(detail.get(1..).unwrap_or_default())?;
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
