//! Answers from the labels of a user's table, in the form of all others.

use finqa_core::number::{Unit, Value};
use finqa_core::question::Question;

use super::answer::{EmbeddedAnswer, PageIndex, RankedAnswer};
use super::description::{DescribedPage, describe};
use crate::labels::DirectAnswer;
use crate::question::plan::{ProgramPattern, ProgramPlan};
use crate::question::wording::Wording;

/// The confidence in an answer from labels, and in one that leaves a doubt: rounded shares of
/// right answers (docs/embedded-analyst.md, "The user's own tables").
const DIRECT: f64 = 0.95;
const DIRECT_DOUBTED: f64 = 0.5;

/// The answer where the figure does not exist.
pub const UNDEFINED: &str = "n/a";

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
        let plan = ProgramPlan::fixed(direct.name, direct.expr, direct.kind);
        let ProgramPattern::Fixed(expr) = &plan.pattern else {
            return None;
        };
        let mut best = describe(&described, &plan, expr, &[], points)?;
        if let Some(label) = &direct.label {
            best.steps
                .push(format!("Its label is the answer: {label}."));
            best.program = String::new();
            best.value = Value::Text(label.clone());
            best.unit = Unit::default();
        }
        let sure = direct.doubt.is_none();
        Some(Self {
            doubt: direct.doubt,
            words: direct.label,
            ..Self::of(best, if sure { DIRECT } else { DIRECT_DOUBTED })
        })
    }

    /// The answer to a question for a figure that does not exist.
    pub(super) fn undefined(why: String, doubt: Option<String>) -> Self {
        let none = UNDEFINED.to_owned();
        let (confidence, why) = match doubt {
            None => (DIRECT, why),
            Some(doubt) => (DIRECT_DOUBTED, format!("{why}; and {doubt}")),
        };
        let best = RankedAnswer {
            program: String::new(),
            template: "undefined",
            unit: Unit::default(),
            label: String::new(),
            evidence: Vec::new(),
            steps: Vec::new(),
            value: Value::Text(none.clone()),
            in_percent: false,
        };
        Self {
            doubt: Some(why),
            words: Some(none),
            ..Self::of(best, confidence)
        }
    }
}
