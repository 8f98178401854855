//! Answers from the labels of a user's table, in the form of all others.

use finqa_core::number::{Unit, Value};
use finqa_core::question::Question;

use super::answer::{EmbeddedAnswer, PageIndex};
use super::description::{DescribedPage, describe};
use crate::labels::DirectAnswer;
use crate::question::plan::ProgramPlan;
use crate::question::wording::Wording;

/// The confidence in an answer from labels: the rounded share of right answers
/// (docs/embedded-analyst.md, "The user's own tables").
const DIRECT: f64 = 0.95;

impl EmbeddedAnswer {
    /// An answer from labels, described like any other.
    pub(super) fn from_labels(
        page: &PageIndex,
        question: &Question,
        direct: DirectAnswer,
    ) -> Option<Self> {
        let described = DescribedPage::new(&page.facts, &question.document);
        let asked = Wording::read(&page.facts.written(&question.text));
        let points = asked.says(&["percent points", "percent point"]);
        let plan = ProgramPlan::fixed(direct.name, direct.expr.clone(), direct.kind);
        let mut best = describe(&described, &plan, &direct.expr, &[], points)?;
        if let Some(label) = &direct.label {
            best.steps
                .push(format!("Its label is the answer: {label}."));
            best.program = String::new();
            best.value = Value::Text(label.clone());
            best.unit = Unit::default();
        }
        Some(Self {
            words: direct.label,
            ..Self::of(best, DIRECT)
        })
    }
}
