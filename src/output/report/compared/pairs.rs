//! The questions of both: a line of the list, and what is shown when it is opened.

use std::io;

use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;

use crate::analysis::{AnsweredQuestion, Answers, Comparison, MatchedQuestion, Miss};
use crate::dataset::Outcome;
use crate::output::csv::name;
use crate::score::Effort;
use finqa_core::number::Value;

use super::super::detail::Worked;
use super::super::elements::{Elements, Store};
use super::super::glance::{self, facet_values, shown};
/// What pairs can be filtered by: key and title.
pub(super) const FACETS: [(&str, &str); 7] = [
    ("way", "Result"),
    ("cause_a", "Cause in A"),
    ("cause_b", "Cause in B"),
    ("part", "Turn or part"),
    ("kind", "Record"),
    ("effort", "Gold program"),
    ("answers", "Answers"),
];

/// The value of the facet `way` that is shown first.
pub(super) const FLIPPED: &str = "right in one alone";

/// How a pair falls, by whether A and B are right.
pub(super) fn way(marks: (bool, bool)) -> &'static str {
    match marks {
        (true, true) => "right in both",
        (true, false) => "right in A alone",
        (false, true) => "right in B alone",
        (false, false) => "wrong in both",
    }
}

/// A pair at a glance.
pub(super) struct PairGlance<'a> {
    pub(super) matched: &'a MatchedQuestion,
    pub(super) sides: [&'a AnsweredQuestion; 2],
    /// By the rule in use; `None` without gold.
    pub(super) marks: [Option<bool>; 2],
    /// By facet, in the order of [`FACETS`].
    pub(super) facets: Vec<Vec<String>>,
}

impl PairGlance<'_> {
    /// The report page: the cluster for intervals.
    pub(super) fn page(&self) -> &str {
        let [a, _] = self.sides;
        &a.row.item.filename
    }

    /// Whether A and B are right, where both can be judged.
    pub(super) fn judged(&self) -> Option<(bool, bool)> {
        let [a, b] = self.marks;
        a.zip(b)
    }

    pub(super) fn facet(&self, key: &str) -> &[String] {
        let at = FACETS.iter().position(|(name, _)| *name == key);
        at.and_then(|at| self.facets.get(at))
            .map_or(&[], Vec::as_slice)
    }
}

/// Every pair at a glance, in A's order.
pub(super) fn glances<'a>(
    comparison: &'a Comparison,
    answers: [&'a Answers; 2],
) -> Vec<PairGlance<'a>> {
    let [a, b] = answers;
    let pair = |matched: &'a MatchedQuestion| {
        let [at_a, at_b] = matched.at;
        let sides = [a.rows.get(at_a)?, b.rows.get(at_b)?];
        let marks = sides.map(|side| comparison.rule.mark(&side.row));
        let [first, second] = sides;
        let item = &first.row.item;
        let cause = |miss: &Option<Miss>| {
            let named = miss.iter().map(|miss| miss.cause.name().to_owned());
            named.collect::<Vec<_>>()
        };
        let [miss_a, miss_b] = &matched.misses;
        let mut ways = Vec::new();
        if let [Some(a), Some(b)] = marks {
            ways.push(way((a, b)).to_owned());
            if a != b {
                ways.push(FLIPPED.to_owned());
            }
        }
        let same = first.row.item.prediction.trim() == second.row.item.prediction.trim();
        Some(PairGlance {
            matched,
            sides,
            marks,
            facets: vec![
                ways,
                cause(miss_a),
                cause(miss_b),
                vec![item.key.part.clone()],
                item.kind.map(|kind| name(&kind)).into_iter().collect(),
                Effort::of(&item.gold)
                    .map(|effort| effort.name().to_owned())
                    .into_iter()
                    .collect(),
                vec![if same { "the same" } else { "different" }.to_owned()],
            ],
        })
    };
    comparison.pairs.iter().filter_map(pair).collect()
}

/// The list as the page's script reads it.
#[derive(Serialize)]
struct Index<'a> {
    names: &'a [String; 2],
    /// Links to the reports of A and B.
    reports: &'a [Option<String>; 2],
    facets: Vec<Facet<'a>>,
    /// What is chosen at first: a facet's key and value.
    chosen: Option<(&'static str, &'static str)>,
    rows: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Facet<'a> {
    key: &'static str,
    title: &'static str,
    values: Vec<&'a str>,
}

/// A line of the list, as an array.
#[derive(Serialize)]
struct Line<'a>(
    &'a str,
    &'a str,
    &'a str,
    String,
    String,
    String,
    String,
    String,
    Option<f64>,
    Option<f64>,
    Option<usize>,
    Option<usize>,
    Vec<Vec<usize>>,
);

/// What is shown when a pair is opened.
#[derive(Serialize)]
struct Detail<'a> {
    question: &'a str,
    filename: &'a str,
    page: Option<usize>,
    gold: Option<&'a str>,
    gold_value: Option<&'a Value>,
    gold_program: Worked,
    sides: [Side<'a>; 2],
}

#[derive(Serialize)]
struct Side<'a> {
    printed: &'a str,
    value: Option<&'a Value>,
    program: Worked,
    outcome: Outcome,
    cause: Option<&'static str>,
    detail: &'a str,
    seconds: Option<f64>,
    rounds: Option<usize>,
    cost: Option<f64>,
}

/// The page's data.
pub(super) fn elements(
    glances: &[PairGlance<'_>],
    names: &[String; 2],
    reports: &[Option<String>; 2],
) -> io::Result<Elements> {
    let mut kept = super::super::detail::PageStore::default();
    let mut elements = Elements::new();
    for glance in glances {
        let [a, b] = glance.sides;
        // B's page where A, a file without records, has none.
        let document = a
            .row
            .item
            .document
            .as_ref()
            .or(b.row.item.document.as_ref());
        let number = document
            .map(|document| kept.number(document, &mut elements))
            .transpose()?;
        let places = kept.places(document);
        let table = document.map_or(&[][..], |document| &document.table);
        let work = |text: Option<&str>| {
            text.map(|text| Worked::of(text, table, places))
                .unwrap_or_default()
        };
        let item = &a.row.item;
        let lent = glance.matched.misses.iter().flatten();
        let lent = lent.filter_map(|miss| miss.gold_program.as_deref()).next();
        let [miss_a, miss_b] = &glance.matched.misses;
        let detail = Detail {
            question: &item.question,
            filename: &item.filename,
            page: number,
            gold: item.gold.answer.as_deref().or(item.ground_truth.as_deref()),
            gold_value: item.gold.exe_ans.as_ref(),
            gold_program: work(item.gold.program.as_deref().or(lent)),
            sides: [
                Side::of(a, work(a.row.item.program.as_deref()), miss_a.as_ref()),
                Side::of(b, work(b.row.item.program.as_deref()), miss_b.as_ref()),
            ],
        };
        elements.put(Store::Details, &detail)?;
    }
    let values: Vec<Vec<&str>> = (0..FACETS.len())
        .map(|facet| facet_values(glances.iter().filter_map(|glance| glance.facets.get(facet))))
        .collect();
    let flipped = glances
        .iter()
        .any(|glance| glance.facet("way").iter().any(|way| way == FLIPPED));
    let rows = glances.iter().map(|glance| Line::of(glance, &values));
    let index = Index {
        names,
        reports,
        rows: rows.collect(),
        chosen: flipped.then_some(("way", FLIPPED)),
        facets: FACETS
            .iter()
            .zip(&values)
            .map(|((key, title), values)| Facet {
                key,
                title,
                values: values.clone(),
            })
            .collect(),
    };
    elements.put(Store::Index, &index)?;
    Ok(elements)
}

impl<'a> Line<'a> {
    fn of(glance: &PairGlance<'a>, values: &[Vec<&str>]) -> Self {
        let [a, b] = glance.sides;
        let item = &a.row.item;
        let mark = |mark: Option<bool>| match mark {
            Some(true) => '1',
            Some(false) => '0',
            None => '-',
        };
        let gold = item.ground_truth.clone().unwrap_or_default();
        Self(
            &item.key.id,
            &item.key.part,
            &item.epoch,
            shown(&item.question),
            shown(&gold),
            shown(&a.row.item.prediction),
            shown(&b.row.item.prediction),
            glance.marks.into_iter().map(mark).collect(),
            a.row.item.latency,
            b.row.item.latency,
            a.index,
            b.index,
            glance::numbered(&glance.facets, values),
        )
    }
}

impl<'a> Side<'a> {
    fn of(answered: &'a AnsweredQuestion, program: Worked, miss: Option<&'a Miss>) -> Self {
        let item = &answered.row.item;
        let printed = if item.answer.is_empty() {
            &item.prediction
        } else {
            &item.answer
        };
        Self {
            printed,
            value: item.value.as_ref(),
            program,
            outcome: item.outcome,
            cause: miss.map(|miss| miss.cause.name()),
            detail: miss.map_or("", |miss| &miss.detail),
            seconds: item.latency,
            rounds: answered.rounds,
            cost: answered.cost.as_ref().and_then(ToPrimitive::to_f64),
        }
    }
}
