//! Turns what `tables` found by labels into answers of the same form as all others.

use finqa_core::number::{Unit, UnitKind, Value};
use finqa_core::question::{CitedEvidence, Document, Question};

use super::answer::{EmbeddedAnswer, RankedAnswer};
use super::description::{Citations, operations, percentages};
use super::doubt::in_words;
use super::scale;
use crate::distinct;
use crate::tables::{DirectAnswer, FigureExpr, Place, StatedFact, Tables};

/// The confidence of an answer from a sentence of a report, the same as for one figure of a user's
/// table.
const SENTENCE: f64 = 0.95;

/// Maximum confidence of an answer whose figures may be in different units. Set by hand; such an
/// answer has a doubt too.
const UNCLEAR_UNIT: f64 = 0.5;

impl EmbeddedAnswer {
    /// The answer from the labels of tables; `None` if its expression has no value. Of several
    /// values, the unit is that of the first.
    pub(super) fn from_tables(
        tables: &Tables,
        question: &Question,
        found: &DirectAnswer,
    ) -> Option<Self> {
        let expr = found.exprs().next()?;
        let cell = |place: &Option<Place>| tables.cell((*place)?);
        let is_percent = |place: &Option<Place>| cell(place).is_some_and(|cell| cell.percent);
        let scale_of_leaf = |place: &Option<Place>| cell(place)?.scale;
        let scale_of = |expr: &FigureExpr| scale::scale_through(expr, &scale_of_leaf);
        let percentages = percentages(expr, &is_percent);
        let lower = question.text.to_lowercase();
        let mut points = ["percent point", "percentage point"].into_iter();
        let points = points.any(|phrase| lower.contains(phrase));
        let kind = match found.kind {
            // A difference in percentage points is a plain number.
            UnitKind::Number if percentages && !points => UnitKind::Percent,
            kind => kind,
        };
        let scale = scale::of_kind(kind, expr, &scale_of);
        let mut cited = Citations::default();
        for leaf in found.exprs().flat_map(FigureExpr::leaves) {
            if let Some(place) = leaf.source {
                let (id, name) = (tables.cell_id(place), tables.cell_name(place));
                // The page may print the sign once for a row or a column of percentages.
                let printed = question.document.evidence(&id);
                let unsigned = printed.is_some_and(|text| !text.contains('%'));
                if unsigned && is_percent(&leaf.source) && !leaf.literal.contains('%') {
                    cited.add(&format!("{}%", leaf.literal), id, name);
                } else {
                    cited.add(&leaf.literal, id, name);
                }
            }
        }
        for expr in found.exprs() {
            operations(expr, &mut cited.steps);
        }
        let name = distinct(cited.names).join("; ");
        let mut best = RankedAnswer {
            program: expr.program(),
            plan_name: found.name,
            in_percent: percentages,
            unit: Unit {
                kind,
                scale: scale.unwrap_or_default(),
            },
            label: match expr {
                // In a single table, a list is shown by the names of its cells alone.
                FigureExpr::Leaf(_) if found.values.is_empty() || tables.is_single_table() => name,
                _ => format!("{}: {name}", found.name),
            },
            evidence: distinct(cited.evidence),
            steps: distinct(cited.steps),
            value: expr.value()?,
        };
        best.answer_with(found.label.as_ref(), !found.values.is_empty());
        let confidence = match scale {
            Ok(_) => found.confidence,
            Err(_) => found.confidence.min(UNCLEAR_UNIT),
        };
        let doubt = found.doubt.clone().map(in_words);
        Some(Self {
            words: found.label.clone(),
            values: found.values.clone(),
            doubt: doubt.or(scale.err().map(str::to_owned)),
            ..Self::of(best, confidence)
        })
    }

    /// The answer from a sentence of a report; `None` if the number cannot be read. Its label is
    /// the part of the paragraph that has the number.
    pub(super) fn from_sentence(document: &Document, stated: StatedFact) -> Option<Self> {
        let (literal, percent) = (stated.literal, stated.percent);
        let id = format!("t{}", stated.paragraph + 1);
        let paragraph = document.evidence(&id)?;
        let has = |text: &&str| text.replace(',', "").contains(&literal);
        let text = paragraph.split_inclusive(". ").find(has);
        let text = text.unwrap_or(paragraph).trim();
        let kind = if percent {
            UnitKind::Percent
        } else {
            UnitKind::Number
        };
        let program = literal.replace(',', "");
        let best = RankedAnswer {
            value: Value::Number(program.parse().ok()?),
            program,
            plan_name: "sentence",
            in_percent: percent,
            unit: Unit {
                kind,
                scale: stated.scale,
            },
            label: text.to_owned(),
            steps: vec![format!("Take {literal} from {id} ({text}).")],
            evidence: vec![CitedEvidence { id, literal }],
        };
        Some(Self::of(best, SENTENCE))
    }
}

impl RankedAnswer {
    /// Replaces program and value by words, if there are any. `values` is true if the words are
    /// several values; those keep their unit, and a label has none.
    fn answer_with(&mut self, words: Option<&String>, values: bool) {
        let Some(words) = words else { return };
        let is_printed = self.program == *words;
        self.program = String::new();
        self.value = Value::Text(words.clone());
        if !values {
            let label = (!is_printed).then(|| format!("Its label is the answer: {words}."));
            self.steps.extend(label);
            self.unit = Unit::default();
        }
    }
}
