//! Turns what `tables` found by labels into answers of the same form as all others.

use finqa_core::number::{Unit, UnitKind, Value};
use finqa_core::question::{CitedEvidence, Document, Question};
use finqa_core::text::counted;

use super::analyst::UNREAD;
use super::answer::{EmbeddedAnswer, RankedAnswer};
use super::description::{DescribedPage, describe, operations, percentages};
use super::scale;
use crate::question::plan::ProgramPlan;
use crate::question::wording::Wording;
use crate::reading::facts::Facts;
use crate::tables::{DirectAnswer, Doubt, FigureExpr, Place, SUM_OF_ROWS, StatedFact, Tables};

/// The confidence of an answer from a sentence of a report, the same as for one figure of a user's
/// table.
const SENTENCE: f64 = 0.95;

/// Maximum confidence of an answer from a report whose figures may be in different units. Set by
/// hand; such an answer has a doubt too, which is all that one from a user's single table gets.
const UNCLEAR_UNIT: f64 = 0.5;

/// The steps that take the figures of an answer, the figures as evidence, and their names; each
/// once.
fn cited(tables: &Tables, found: &DirectAnswer) -> (Vec<String>, Vec<CitedEvidence>, Vec<String>) {
    let (mut steps, mut evidence, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for leaf in found.exprs().flat_map(FigureExpr::leaves) {
        let Some(place) = leaf.source else { continue };
        let (id, name) = (tables.cell_id(place), tables.cell_name(place));
        let literal = leaf.literal.to_string();
        let cited = CitedEvidence { id, literal };
        if !evidence.contains(&cited) {
            let CitedEvidence { id, literal } = &cited;
            steps.push(format!("Take {literal} from {id} ({name})."));
            evidence.push(cited);
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (steps, evidence, names)
}

impl EmbeddedAnswer {
    /// The answer from the tables of a report; `None` if its expression has no value. Of several
    /// values, the unit is that of the first.
    pub(super) fn from_report(
        tables: &Tables,
        question: &Question,
        found: &DirectAnswer,
    ) -> Option<Self> {
        let expr = found.exprs().next()?;
        let is_percent = |place: &Option<Place>| place.is_some_and(|at| tables.unit_of_cell(at).0);
        let scale_of_leaf = |place: &Option<Place>| tables.unit_of_cell((*place)?).1;
        let scale_of = |expr: &FigureExpr| scale::scale_through(expr, &scale_of_leaf);
        let percentages = percentages(expr, &is_percent);
        let lower = question.text.to_lowercase();
        let points = ["percent point", "percentage point"]
            .iter()
            .any(|it| lower.contains(it));
        let kind = match found.kind {
            // A difference in percentage points is a plain number.
            UnitKind::Number if percentages && !points => UnitKind::Percent,
            kind => kind,
        };
        let mut doubt = None;
        let scale = match kind {
            UnitKind::Number => scale_of(expr),
            UnitKind::Ratio => scale::of_quotient(expr, &scale_of).unwrap_or_else(|why| {
                doubt = Some(why.to_owned());
                None
            }),
            _ => None,
        };
        let (mut steps, evidence, names) = cited(tables, found);
        found.exprs().for_each(|expr| operations(expr, &mut steps));
        let name = names.join("; ");
        let mut best = RankedAnswer {
            program: expr.program(),
            plan_name: found.name,
            in_percent: percentages,
            unit: Unit { kind, scale },
            label: match expr {
                FigureExpr::Leaf(_) if found.values.is_empty() => name,
                _ => format!("{}: {name}", found.name),
            },
            evidence,
            steps,
            value: expr.value()?,
        };
        best.answer_with(found.label.as_ref(), !found.values.is_empty());
        let reason = found.doubt.as_ref().map(|doubt| match doubt {
            Doubt::Missing(why) | Doubt::InText(why) => why.clone(),
            Doubt::Open => UNREAD.to_owned(),
        });
        let confidence = match doubt {
            Some(_) => found.confidence.min(UNCLEAR_UNIT),
            None => found.confidence,
        };
        let doubt = reason.or(doubt);
        Some(Self {
            words: found.label.clone(),
            values: found.values.clone(),
            doubt,
            ..Self::of(best, confidence)
        })
    }

    /// The answer from a sentence of a report; `None` if the number cannot be read. Its label is
    /// the part of the paragraph that has the number.
    pub(super) fn from_sentence(document: &Document, stated: StatedFact) -> Option<Self> {
        let StatedFact {
            paragraph,
            literal,
            percent,
            scale,
            ..
        } = stated;
        let id = format!("t{}", paragraph + 1);
        let paragraph = document.evidence(&id)?;
        let has = |text: &&str| text.replace(',', "").contains(&literal);
        let text = paragraph
            .split_inclusive(". ")
            .find(has)
            .unwrap_or(paragraph)
            .trim();
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
            unit: Unit { kind, scale },
            label: text.to_owned(),
            steps: vec![format!("Take {literal} from {id} ({text}).")],
            evidence: vec![CitedEvidence { id, literal }],
        };
        Some(Self::of(best, SENTENCE))
    }

    /// The answer from the labels of a user's single table; `None` if its expression has no value.
    pub(super) fn from_labels(question: &Question, direct: &DirectAnswer) -> Option<Self> {
        let facts = &Facts::of_cells(&question.document, &direct.cells());
        let expr = direct.expr(facts)?;
        let described = DescribedPage::new(facts, &question.document);
        let asked = Wording::read(&facts.written(&question.text));
        let points = asked.says(&["percent points", "percent point"]);
        let plan = ProgramPlan::fixed(direct.name, expr.clone(), direct.kind);
        let mut best = describe(&described, &plan, &expr, &[], points)?;
        if direct.name == SUM_OF_ROWS {
            best.label = format!("sum of {}", counted(expr.leaves().len(), "row"));
        }
        let mut doubt = None;
        if direct.kind == UnitKind::Ratio {
            match scale::of_quotient(&expr, &|expr| scale::scale_of(facts, expr)) {
                Ok(scale) => best.unit.scale = scale,
                Err(why) => doubt = Some(why.to_owned()),
            }
        }
        best.answer_with(direct.label.as_ref(), false);
        Some(Self {
            words: direct.label.clone(),
            doubt,
            ..Self::of(best, direct.confidence)
        })
    }
}

impl RankedAnswer {
    /// Replaces program and value by words, if there are any. `values` is true if the words are
    /// several values; those keep their unit, and a label has none.
    fn answer_with(&mut self, words: Option<&String>, values: bool) {
        let Some(words) = words else { return };
        self.program = String::new();
        self.value = Value::Text(words.clone());
        if !values {
            self.steps
                .push(format!("Its label is the answer: {words}."));
            self.unit = Unit::default();
        }
    }
}
