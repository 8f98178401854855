//! The analyst: from a page and a question to an answer.

use std::borrow::Cow;

use finqa_core::question::{Document, Question, QuestionKind};

use super::answer::{EmbeddedAnswer, PageIndex};
use super::candidates::{OVERRIDES, candidates, most_compared};
use super::confidence;
use super::description::describe;
use super::doubt::{self, in_words, is_of_text};
use super::explain;
use super::filling::FilledPlan;
use crate::explanation::Explanation;
use crate::expr::Expr;
use crate::question::by_words;
use crate::question::follow_up;
use crate::question::plan::ProgramPlan;
use crate::question::plan_question::{Inherited, PlanQuestion};
use crate::question::proposal::{self, ShapeOdds, SketchOdds};
use crate::question::sketch_plans;
use crate::question::wording::Wording;
use crate::ranking::{self, ChoiceContext};
use crate::shape::shape_name;
use crate::tables::{DirectAnswer, Doubt, Tables};
use crate::weights::EmbeddedWeights;

/// Answers questions about pages without a network, in about a millisecond each. Cheap to clone
/// with the built-in weights.
#[derive(Clone, Debug)]
pub struct EmbeddedAnalyst {
    pub(crate) weights: Cow<'static, EmbeddedWeights>,
}

impl Default for EmbeddedAnalyst {
    fn default() -> Self {
        Self::new()
    }
}

/// The texts of the questions before this one, oldest first.
fn earlier(question: &Question) -> Vec<&str> {
    let history = question.history.iter();
    history.map(|entry| entry.question.as_str()).collect()
}

impl EmbeddedAnalyst {
    /// An analyst with the built-in weights.
    #[must_use]
    pub fn new() -> Self {
        Self {
            weights: Cow::Borrowed(EmbeddedWeights::built_in()),
        }
    }

    /// An analyst with other weights, for the trainer.
    #[must_use]
    pub fn with_weights(weights: EmbeddedWeights) -> Self {
        Self {
            weights: Cow::Owned(weights),
        }
    }

    /// Reads a page, once for all its questions. A report is read into tables only, a page of the
    /// dataset into facts only, and the page of a user with one table into both.
    #[must_use]
    pub fn index(&self, document: &Document) -> PageIndex {
        let is_report = !document.tables.is_empty();
        let tables = (document.own || is_report).then(|| Tables::read(document));
        PageIndex::new(&self.weights.slots, tables)
    }

    /// Answers a question about a page; `None` if nothing on the page answers it. For a report,
    /// [`Self::reason`] can say why.
    ///
    /// A question about the user's own page is read by the labels of its tables first. If these can
    /// read it but not answer it, the ranked candidates guess an answer, by this question alone.
    #[must_use]
    pub fn answer(&self, page: &PageIndex, question: &Question) -> Option<EmbeddedAnswer> {
        self.answer_explaining(page, question, None)
    }

    /// How [`Self::answer`] reads and answers a question, recorded while it does so.
    #[must_use]
    pub fn explain(&self, page: &PageIndex, question: &Question) -> Explanation {
        let mut out = Explanation::default();
        let answer = self.answer_explaining(page, question, Some(&mut out));
        explain::conclude(&mut out, answer.as_ref(), &question.document);
        if answer.is_none() {
            out.add_doubts(self.reason(page, question));
        }
        out
    }

    /// The answer to a question, from the labels of the tables or from ranked candidates; `None` if
    /// there is none. How it is found is recorded if `explanation` is given.
    fn answer_explaining(
        &self,
        page: &PageIndex,
        question: &Question,
        mut explanation: Option<&mut Explanation>,
    ) -> Option<EmbeddedAnswer> {
        let Some(tables) = &page.tables else {
            return self.ranked_answer(page, question, explanation);
        };
        let earlier = earlier(question);
        // `None`: the question needs earlier ones, but does not change a part of the last one.
        // `Err`: it was read, but the tables do not answer it.
        let by_labels = tables.answer(&question.text, &earlier, explanation.as_deref_mut());
        if tables.is_report() {
            report_answer(tables, question, by_labels?)
        } else {
            self.single_table_answer(page, tables, question, by_labels, explanation)
        }
    }

    /// The answer about a user's page with one table: the sure one from its labels, otherwise a
    /// guess of the ranked candidates with the reason as its doubt.
    fn single_table_answer(
        &self,
        page: &PageIndex,
        tables: &Tables,
        question: &Question,
        by_labels: Option<Result<DirectAnswer, Doubt>>,
        explanation: Option<&mut Explanation>,
    ) -> Option<EmbeddedAnswer> {
        let without_history = Question {
            kind: QuestionKind::StandAlone,
            history: Vec::new(),
            ..question.clone()
        };
        // A question that is complete, or was completed by the last one, inherits nothing else.
        let asked = if by_labels.is_some() {
            &without_history
        } else {
            question
        };
        let why = match by_labels.unwrap_or(Err(Doubt::Open)) {
            Ok(DirectAnswer {
                doubt: Some(why), ..
            })
            | Err(why) => why,
            Ok(answer) => return EmbeddedAnswer::from_tables(tables, question, &answer),
        };
        if tables.has_no_guess() {
            return None;
        }
        let guess = self.ranked_answer(page, asked, explanation)?;
        let doubt = match why {
            // The tables ask for a sentence, and the guess comes from one that fits.
            Doubt::InText(_) if is_of_text(&guess, question) => guess.doubt,
            Doubt::Open if guess.doubt.is_some() => guess.doubt,
            why => Some(in_words(why)),
        };
        Some(EmbeddedAnswer { doubt, ..guess })
    }

    /// The reason why the tables of a report or a list of transactions do not answer a question.
    /// `None` if they do, if the question cannot be read without earlier ones, and for other pages.
    #[must_use]
    pub fn reason(&self, page: &PageIndex, question: &Question) -> Option<String> {
        let tables = page.tables.as_ref();
        let tables = tables.filter(|tables| tables.has_no_guess())?;
        let answer = tables.answer(&question.text, &earlier(question), None)?;
        answer.err().map(in_words)
    }

    /// The answer of the best candidate, found without the labels of tables. `None` if there is no
    /// candidate: `fill` and `variants` leave out programs without a value.
    fn ranked_answer(
        &self,
        page: &PageIndex,
        question: &Question,
        explanation: Option<&mut Explanation>,
    ) -> Option<EmbeddedAnswer> {
        // The blocks here and in `read_question` are the steps of docs/embedded-analyst.md.
        self.read_question(page, question, |context, plans| {
            // Candidates, choice and overrides.
            let ranked = self.rank(context, plans);

            // Program and confidence.
            let (document, history) = (&question.document, &question.history);
            let to_answer = |filled: &FilledPlan| {
                let plan = plans.get(filled.plan)?;
                describe(
                    context.facts, document, plan, &filled.expr, history, context.asked,
                )
            };
            if let Some(out) = explanation {
                explain::read(out, context);
                explain::programs(out, &ranked, &to_answer);
            }
            let (_, first) = ranked.first()?;
            let best = to_answer(first)?;
            let signals = confidence::signals(context, history, &ranked);
            let dated = doubt::dated_otherwise(context, &first.expr);
            let confidence = confidence::probability(&signals, &self.weights.confidence);
            Some(EmbeddedAnswer {
                doubt: dated.or_else(|| doubt::doubt(context, &best, confidence)),
                signals,
                ..EmbeddedAnswer::of(best, confidence)
            })
        })
    }

    /// Reads a question and its page, makes the plans, and calls `then` with the results. These
    /// borrow what is read here, so they cannot be returned.
    pub(crate) fn read_question<T>(
        &self,
        page: &PageIndex,
        question: &Question,
        then: impl FnOnce(&ChoiceContext<'_>, &[ProgramPlan]) -> T,
    ) -> T {
        // Page and question.
        let facts = page.facts(&question.document);
        let asked = Wording::read(&facts.written(&question.text));

        // Earlier turns.
        let inherited = Inherited::after(facts, &question.history);
        let q = PlanQuestion::new(facts, &asked, &inherited);

        // Odds and plans.
        let before: Vec<&Expr> = q.earlier.iter().map(|turn| &turn.expr).collect();
        // In the dataset, nearly all stand-alone questions need a calculation, but hardly any first
        // turn of a conversation does. Users ask both about their own pages, so there a question
        // counts as a first turn.
        let as_stand_alone = question.kind == QuestionKind::StandAlone && !facts.users_page;
        let shapes: Vec<&str> = before.iter().map(|turn| shape_name(turn)).collect();
        let buckets = proposal::buckets(&asked.phrase, &shapes, as_stand_alone);
        let shape_odds = self.weights.shapes.propose(&buckets);
        let sketch_odds = (!as_stand_alone).then(|| {
            let buckets = proposal::sketch_buckets(&asked, &before);
            self.weights.sketches.propose(&buckets)
        });
        let (plans, follow_ups) = plans(&q, &shape_odds, sketch_odds.as_ref());
        let history = &question.history;
        let context = ChoiceContext::new(
            &q, history, as_stand_alone, follow_ups, shape_odds, sketch_odds,
        );
        then(&context, &plans)
    }

    /// The candidates with their scores by the network, best first. If a candidate meets one of the
    /// [`OVERRIDES`], those that do not are dropped.
    fn rank(&self, context: &ChoiceContext<'_>, plans: &[ProgramPlan]) -> Vec<(f64, FilledPlan)> {
        let weights = &*self.weights;
        let compared = candidates(context, plans, most_compared(context.as_stand_alone));
        let scores = if weights.network.is_empty() {
            compared.iter().map(|one| one.rough_score).collect()
        } else {
            let features = ranking::network_features(context, plans, &compared);
            let rows: Vec<&[f64]> = features.chunks_exact(ranking::NETWORK_FEATURES).collect();
            weights.network.scores(&rows)
        };
        let filled = compared.into_iter().map(|one| one.filled);
        let mut ranked: Vec<(f64, FilledPlan)> = scores.into_iter().zip(filled).collect();
        for rule in OVERRIDES {
            let meets = |filled: &FilledPlan| rule(context, plans, filled);
            if ranked.iter().any(|(_, filled)| meets(filled)) {
                ranked.retain(|(_, filled)| meets(filled));
            }
        }
        // A stable sort: on a tie, the one with the better rough score comes first.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked
    }
}

/// The answer about a report: from the labels of its tables or, if that is not sure, from a
/// sentence that states the figure.
fn report_answer(
    tables: &Tables,
    question: &Question,
    by_labels: Result<DirectAnswer, Doubt>,
) -> Option<EmbeddedAnswer> {
    let sure = by_labels.as_ref().is_ok_and(|found| found.doubt.is_none());
    // Without earlier questions: a follow-up leaves words out, but a sentence must have all of
    // them.
    let stated = (!sure && question.history.is_empty())
        .then(|| tables.stated(&question.document, &question.text))
        .flatten();
    match stated {
        Some(stated) => EmbeddedAnswer::from_sentence(&question.document, stated),
        None => EmbeddedAnswer::from_tables(tables, question, &by_labels.ok()?),
    }
}

/// The plans for a question, and how many of them come from [`follow_up::plans`], which are listed
/// first. If there are any, those of [`by_words::plans`], which repeat no earlier answer, get lower
/// priors. Otherwise (for a question without earlier turns, and for a turn to which no rule of
/// `follow_up` applies) the first of these gets a prior of at least 0.9. After the follow-ups come
/// the plans of [`by_words::only_calculation`], [`by_words::plans`], [`by_words::shape_plans`] and
/// [`sketch_plans::plans`], in this order.
fn plans(
    q: &PlanQuestion<'_>,
    shape_odds: &ShapeOdds,
    sketch_odds: Option<&SketchOdds>,
) -> (Vec<ProgramPlan>, usize) {
    let mut out = follow_up::plans(q);
    let mut others = by_words::plans(q);
    if !out.is_empty() {
        for plan in &mut others {
            // Set by hand, like the 0.9 below. The prior is a feature of the choice, so other
            // numbers need new weights.
            plan.prior *= 0.3;
        }
    } else if let Some(first) = others.first_mut() {
        // It can be a poor plan for a turn, because it does not know what "that" points to.
        first.prior = first.prior.max(0.9);
    }
    let follow_ups = out.len();
    out.extend(by_words::only_calculation(q));
    out.extend(others);
    out.extend(by_words::shape_plans(q, shape_odds));
    out.extend(sketch_odds.map_or_else(Vec::new, |odds| sketch_plans::plans(q, odds)));
    (out, follow_ups)
}
