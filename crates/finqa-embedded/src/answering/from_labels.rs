//! Answers from the labels of a user's table, in the form of all others.

use std::sync::{Arc, LazyLock};

use finqa_core::number::{Unit, UnitKind, Value};
use finqa_core::question::Question;
use finqa_core::regex;
use regex::{Captures, Regex};

use super::analyst::UNREAD;
use super::answer::EmbeddedAnswer;
use super::description::{DescribedPage, describe};
use super::scale;
use crate::question::plan::ProgramPlan;
use crate::question::wording::Wording;
use crate::reading::facts::Facts;
use crate::tables::{DirectAnswer, Doubt, ReportPlace};

/// The confidence in an answer from labels: the rounded share of right answers
/// (docs/embedded-analyst.md, "The user's own tables").
const DIRECT: f64 = 0.95;

/// The confidence in an answer about a report that is only a guess.
const GUESS: f64 = 0.5;

/// The id of a cell.
static CELL: LazyLock<Regex> = LazyLock::new(|| regex!(r"\br(\d+)c(\d+)\b"));

impl EmbeddedAnswer {
    /// An answer from a table of a report, its places those of the whole page.
    pub(super) fn from_report(
        alone: &Facts,
        question: &Question,
        found: &DirectAnswer,
        place: &ReportPlace<'_>,
    ) -> Option<Self> {
        let asked = Question {
            document: Arc::new(place.document.clone()),
            ..question.clone()
        };
        let mut answer = Self::from_labels(alone, &asked, found)?;
        let moved = |text: &mut String| {
            let place = |cell: &Captures<'_>| {
                let row = cell
                    .get(1)
                    .and_then(|row| row.as_str().parse::<usize>().ok());
                let column = cell.get(2).map_or("", |column| column.as_str());
                format!("r{}c{column}", row.unwrap_or_default() + place.first_row)
            };
            *text = CELL.replace_all(text, place).into_owned();
        };
        answer.best.steps.iter_mut().for_each(moved);
        let evidence = answer.best.evidence.iter_mut();
        evidence.for_each(|cited| moved(&mut cited.id));
        if let Some(doubt) = &found.doubt {
            answer.confidence = GUESS;
            answer.doubt = Some(match doubt {
                Doubt::Missing(why) | Doubt::InText(why) => why.clone(),
                Doubt::Open => UNREAD.to_owned(),
            });
        }
        Some(answer)
    }

    /// An answer from labels, described like any other.
    pub(super) fn from_labels(
        facts: &Facts,
        question: &Question,
        direct: &DirectAnswer,
    ) -> Option<Self> {
        let expr = direct.expr(facts)?;
        let described = DescribedPage::new(facts, &question.document);
        let asked = Wording::read(&facts.written(&question.text));
        let points = asked.says(&["percent points", "percent point"]);
        let plan = ProgramPlan::fixed(direct.name, expr.clone(), direct.kind);
        let mut best = describe(&described, &plan, &expr, &[], points)?;
        let mut doubt = None;
        if direct.kind == UnitKind::Ratio {
            match scale::of_quotient(facts, &expr) {
                Ok(scale) => best.unit.scale = scale,
                Err(why) => doubt = Some(why.to_owned()),
            }
        }
        if let Some(label) = &direct.label {
            best.steps
                .push(format!("Its label is the answer: {label}."));
            best.program = String::new();
            best.value = Value::Text(label.clone());
            best.unit = Unit::default();
        }
        Some(Self {
            words: direct.label.clone(),
            doubt,
            ..Self::of(best, DIRECT)
        })
    }
}
