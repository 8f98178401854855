//! Explains an answer by a ranked program, and completes the explanation of any answer.

use finqa_core::number::print;
use finqa_core::question::Document;

use super::answer::{EmbeddedAnswer, RankedAnswer};
use super::doubt::{SURE, lacking_words};
use super::filling::FilledPlan;
use crate::distinct;
use crate::explanation::{
    AnswerSource, AskedFigure, ExplainedFigure, ExplainedProgram, Explanation, LISTED,
};
use crate::question::mention::is_name;
use crate::ranking::ChoiceContext;
use crate::shape::SHAPES;

/// Adds what was read in a question that the labels of tables did not explain: the likeliest
/// operation by its words, the words that name figures, and its years.
pub(super) fn read(out: &mut Explanation, context: &ChoiceContext<'_>) {
    let asked = context.asked;
    if out.operation.is_empty() {
        let odds = context.shape_odds.iter().zip(SHAPES);
        let likeliest = odds.max_by(|a, b| a.0.total_cmp(b.0));
        let shape = likeliest.map_or("", |(_, shape)| shape);
        out.operation = format!("by its words, most likely: {shape}");
        let words = asked.tokens.iter().filter(|token| is_name(token));
        let words = words.map(|token| asked.spelled(&token.text));
        out.figures = vec![AskedFigure {
            name: distinct(words).join(" "),
            periods: asked.years.iter().map(ToString::to_string).collect(),
            ..AskedFigure::default()
        }];
    }
    for word in lacking_words(context) {
        if !out.left_over.contains(&word) {
            out.left_over.push(word);
        }
    }
}

/// Adds the best candidates; the first is the answer.
pub(super) fn programs(
    out: &mut Explanation,
    ranked: &[(f64, FilledPlan)],
    to_answer: &dyn Fn(&FilledPlan) -> Option<RankedAnswer>,
) {
    let described = ranked.iter().filter_map(|(score, filled)| {
        let one = to_answer(filled)?;
        Some(ExplainedProgram {
            value: print(&one.value, one.unit, one.in_percent),
            program: one.program,
            // Three decimals are for display only.
            score: (1000.0 * score).round() / 1000.0,
            plan: one.plan_name,
            taken: false,
        })
    });
    out.programs = described.take(LISTED).collect();
    if let Some(first) = out.programs.first_mut() {
        first.taken = true;
    }
}

/// Adds where the answer comes from, why it is sure or not, and the values as the page prints them.
pub(super) fn conclude(
    out: &mut Explanation,
    answer: Option<&EmbeddedAnswer>,
    document: &Document,
) {
    let figures = out.figures.iter_mut().flat_map(|of| &mut of.candidates);
    for one in figures.chain(&mut out.parts) {
        let printed = document.evidence(&one.id).map(str::trim);
        if let Some(printed) = printed.filter(|printed| !printed.is_empty()) {
            printed.clone_into(&mut one.value);
        }
    }
    let Some(answer) = answer else {
        out.sure = false;
        return;
    };
    let best = &answer.best;
    out.answered_from = match (out.programs.is_empty(), best.plan_name) {
        (true, "sentence") => AnswerSource::Sentence,
        (true, _) => AnswerSource::Labels,
        (false, _) => AnswerSource::Programs,
    };
    if out.answered_from == AnswerSource::Sentence {
        let cells = out.figures.iter_mut().flat_map(|of| &mut of.candidates);
        cells.for_each(|one| one.taken = false);
        let cited = best.evidence.iter().map(|cited| ExplainedFigure {
            value: cited.literal.clone(),
            id: cited.id.clone(),
            row: best.label.clone(),
            taken: true,
            ..ExplainedFigure::default()
        });
        out.parts = cited.collect();
        // The doubts are those of the tables, which do not answer.
        out.sure = true;
        out.reasons = vec!["a sentence has all words of the question and its period".to_owned()];
    }
    let confidence = answer.confidence;
    match &answer.doubt {
        None if out.programs.is_empty() => {}
        None => {
            out.sure = true;
            out.reasons = vec![format!(
                "the confidence, {confidence:.2}, is at least {SURE}, and nothing speaks against it"
            )];
        }
        Some(why) => out.add_doubts([why.clone()]),
    }
    if !out.programs.is_empty() && confidence < SURE {
        out.add_doubts([format!("the confidence, {confidence:.2}, is below {SURE}")]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::analyst::EmbeddedAnalyst;
    use super::*;
    use finqa_core::question::{Question, QuestionKey, QuestionKind};
    use std::sync::Arc;

    fn explained(text: &str) -> Explanation {
        let rows = [
            ["", "2012", "2011"],
            ["revenue", "1000", "900"],
            ["rent", "90", "60"],
        ];
        let document = Document {
            table: rows.map(|row| row.map(str::to_owned).to_vec()).to_vec(),
            ..Document::default()
        };
        let question = Question {
            key: QuestionKey {
                id: "made".to_owned(),
                part: "0".to_owned(),
            },
            kind: QuestionKind::StandAlone,
            document: Arc::new(document),
            text: text.to_owned(),
            history: Vec::new(),
        };
        let analyst = EmbeddedAnalyst::new();
        let page = analyst.index(&question.document);
        let explanation = analyst.explain(&page, &question);
        let answer = analyst.answer(&page, &question);
        let best = answer.as_ref().map(|answer| answer.best.program.as_str());
        let first = explanation.programs.first();
        assert_eq!(first.map(|one| one.program.as_str()), best);
        let sure = answer.is_some_and(|answer| answer.doubt.is_none());
        assert_eq!(explanation.sure, sure);
        explanation
    }

    #[test]
    fn an_answer_about_a_page_of_the_dataset_is_the_first_of_the_programs() {
        let of = explained("what is the percentage change in revenue from 2011 to 2012?");
        assert_eq!(of.answered_from, AnswerSource::Programs);
        assert_eq!(of.figures[0].name, "revenue");
        assert_eq!(of.figures[0].periods, ["2011", "2012"]);
        assert!((2..=LISTED).contains(&of.programs.len()), "{of:?}");
        let scores: Vec<f64> = of.programs.iter().map(|one| one.score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        let taken: Vec<bool> = of.programs.iter().map(|one| one.taken).collect();
        assert_eq!(taken.iter().position(|taken| *taken), Some(0));
        assert!(!taken.iter().skip(1).any(|taken| *taken));
    }

    #[test]
    fn words_that_the_page_lacks_are_left_over_with_the_doubt() {
        let of = explained("what is the percentage of zebras in giraffes in 2012?");
        assert!(!of.sure);
        assert!(of.left_over.iter().any(|word| word == "zebras"), "{of:?}");
        assert!(!of.reasons.is_empty());
    }
}
