//! The questions of both: a line of the list, and what is shown when it is opened.

use std::borrow::Cow;
use std::io;

use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;

use crate::analysis::{AnswerPair, Comparison, Miss};
use crate::dataset::Outcome;
use crate::output::csv::name;
use crate::score::Row;
use finqa_agents::pair::verify::LiteralPlaces;
use finqa_core::number::Value;

use super::super::detail::ExecutedProgram;
use super::super::elements::{Elements, Store};
use super::super::list::{self, ListFacet, shown, sorted};
/// The filters of pairs: key and title.
const FACETS: [(&str, &str); 5] = [
    ("way", "Result"),
    ("cause_a", "Cause in A"),
    ("cause_b", "Cause in B"),
    ("part", "Turn or part"),
    ("kind", "Record"),
];

/// The value of the facet `way` that is shown first.
const FLIPPED: &str = "right in one alone";

/// The class of a pair, by the correctness of A and B.
pub(super) fn pair_class(marks: (bool, bool)) -> &'static str {
    match marks {
        (true, true) => "right in both",
        (true, false) => "right in A alone",
        (false, true) => "right in B alone",
        (false, false) => "wrong in both",
    }
}

/// A pair as the list shows it.
pub(super) struct ListedPair<'a> {
    pub(super) matched: &'a AnswerPair<'a>,
    /// By the rule in use; `None` without gold.
    pub(super) marks: [Option<bool>; 2],
    /// By facet, in the order of [`FACETS`].
    pub(super) facets: Vec<Vec<String>>,
}

impl ListedPair<'_> {
    /// The correctness of A and B, if both can be judged.
    pub(super) fn marks(&self) -> Option<(bool, bool)> {
        let [a, b] = self.marks;
        a.zip(b)
    }

    /// True if one side alone is right.
    fn is_flipped(&self) -> bool {
        self.marks().is_some_and(|(a, b)| a != b)
    }
}

/// All pairs as the list shows them, in A's order.
pub(super) fn listed_pairs<'a>(comparison: &'a Comparison<'a>) -> Vec<ListedPair<'a>> {
    let pair = |matched: &'a AnswerPair<'a>| {
        let marks = [matched.a, matched.b].map(|side| comparison.rule.mark(side));
        let cause = |miss: &Option<Miss>| {
            let named = miss.iter().map(|miss| miss.cause.name().to_owned());
            named.collect::<Vec<_>>()
        };
        let [miss_a, miss_b] = &matched.misses;
        let mut ways = Vec::new();
        if let [Some(a), Some(b)] = marks {
            ways.push(pair_class((a, b)).to_owned());
            if a != b {
                ways.push(FLIPPED.to_owned());
            }
        }
        ListedPair {
            matched,
            marks,
            facets: vec![
                ways,
                cause(miss_a),
                cause(miss_b),
                vec![matched.a.key.part.clone()],
                matched.a.kind.map(|kind| name(&kind)).into_iter().collect(),
            ],
        }
    };
    comparison.pairs.iter().map(pair).collect()
}

/// The list as the page's script reads it.
#[derive(Serialize)]
struct PairIndex<'a, Line> {
    names: &'a [String; 2],
    facets: Vec<ListFacet<'a>>,
    /// The initial filter: a facet's key and value.
    chosen: Option<(&'static str, &'static str)>,
    rows: Vec<Line>,
}

/// What is shown when a pair is opened.
#[derive(Serialize)]
struct PairDetail<'a> {
    question: &'a str,
    filename: &'a str,
    page: Option<usize>,
    gold: Option<&'a str>,
    gold_value: Option<&'a Value>,
    gold_program: ExecutedProgram,
    sides: [PairSide<'a>; 2],
}

#[derive(Serialize)]
struct PairSide<'a> {
    printed: Cow<'a, str>,
    value: Option<&'a Value>,
    program: ExecutedProgram,
    outcome: Outcome,
    cause: Option<&'static str>,
    detail: &'a str,
    seconds: Option<f64>,
    rounds: Option<usize>,
    cost: Option<f64>,
}

/// The values of a facet over all pairs.
fn values_of<'p>(pairs: &'p [ListedPair<'_>], facet: usize) -> Vec<&'p str> {
    let values = pairs.iter().filter_map(|listed| listed.facets.get(facet));
    sorted(values.flatten())
}

/// The page's data.
pub(super) fn elements(pairs: &[ListedPair<'_>], names: &[String; 2]) -> io::Result<Elements> {
    let mut kept = super::super::detail::PageStore::default();
    let mut elements = Elements::new();
    for listed in pairs {
        let (a, b) = (listed.matched.a, listed.matched.b);
        // B's page where A, a file without records, has none.
        let document = a.document.as_ref().or(b.document.as_ref());
        let number = document
            .map(|document| kept.number(document, &mut elements))
            .transpose()?;
        let places = document.map(LiteralPlaces::of_page);
        let places = places.as_ref();
        let table = document.map_or(&[][..], |document| &document.table);
        let work = |text| ExecutedProgram::of(text, table, places);
        let truth = a.ground_truth();
        let other = listed.matched.misses.iter().flatten();
        let other = other.filter_map(|miss| miss.gold_program.as_deref()).next();
        let [miss_a, miss_b] = &listed.matched.misses;
        let detail = PairDetail {
            question: &a.question,
            filename: &a.filename,
            page: number,
            gold: a.gold.answer.as_deref().or(truth.as_deref()),
            gold_value: a.gold.exe_ans.as_ref(),
            gold_program: work(a.gold.program.as_deref().or(other)),
            sides: [
                PairSide::of(a, work(a.program()), miss_a.as_ref()),
                PairSide::of(b, work(b.program()), miss_b.as_ref()),
            ],
        };
        elements.put(Store::Details, &detail)?;
    }
    let values: Vec<Vec<&str>> = (0..FACETS.len())
        .map(|facet| values_of(pairs, facet))
        .collect();
    let flipped = pairs.iter().any(ListedPair::is_flipped);
    let rows = pairs.iter().map(|listed| line(listed, &values));
    let index = PairIndex {
        names,
        rows: rows.collect(),
        chosen: flipped.then_some(("way", FLIPPED)),
        facets: ListFacet::all(&FACETS, &values),
    };
    elements.put(Store::Index, &index)?;
    Ok(elements)
}

/// A line of the list, as an array.
fn line<'a>(listed: &ListedPair<'a>, values: &[Vec<&str>]) -> impl Serialize + use<'a> {
    let (a, b) = (listed.matched.a, listed.matched.b);
    let mark = |mark: Option<bool>| match mark {
        Some(true) => '1',
        Some(false) => '0',
        None => '-',
    };
    (
        &a.key.id,
        &a.key.part,
        a.epoch.to_string(),
        shown(&a.question),
        shown(&a.ground_truth().unwrap_or_default()),
        shown(&a.prediction()),
        shown(&b.prediction()),
        listed.marks.into_iter().map(mark).collect::<String>(),
        a.latency,
        b.latency,
        list::numbered(&listed.facets, values),
    )
}

impl<'a> PairSide<'a> {
    fn of(row: &'a Row, program: ExecutedProgram, miss: Option<&'a Miss>) -> Self {
        Self {
            printed: row.printed(),
            value: row.value(),
            program,
            outcome: row.outcome(),
            cause: miss.map(|miss| miss.cause.name()),
            detail: miss.map_or("", |miss| &miss.detail),
            seconds: row.latency,
            rounds: row.rounds(),
            cost: row.cost.as_ref().and_then(ToPrimitive::to_f64),
        }
    }
}
