//! The question as the features of candidates see it, read once for all candidates.

use std::cell::OnceCell;

use crate::expr::Expr;
use crate::question::arithmetic::numbers_said;
use crate::question::by_words::{ROLES, roles};
use crate::question::conversation::{EarlierTurn, is_bare};
use crate::question::feature_values::{count, part_of};
use crate::question::plan::ProgramPlan;
use crate::question::plan_question::PlanQuestion;
use crate::question::proposal::{ShapeOdds, SketchOdds};
use crate::question::slot_scorer::{self, SlotQuery};
use crate::question::slot_words::weighted;
use crate::question::wording::Wording;
use crate::reading::facts::{Fact, Facts};
use crate::reading::words::{is_stop, is_weak};
use crate::sketch::sketch;
use finqa_core::question::{HistoryEntry, HistorySource};

/// The names of plans with a category of their own; all others share the last one. The network's
/// weights depend on the order.
pub(super) const PLAN_NAMES: [&str; 21] = [
    "look-up", "relative change", "difference", "ratio", "sum", "average", "comparison", "return",
    "difference of returns", "constant", "conversion", "same again", "roll-forward", "margin",
    "both", "series sum", "series average", "any parts", "any turns", "compound growth",
    "same rate",
];

/// The index of a plan's name in [`PLAN_NAMES`]; `None` if it is not listed.
pub(super) fn plan_index(plan: &ProgramPlan) -> Option<usize> {
    PLAN_NAMES.iter().position(|name| *name == plan.name)
}

/// The sketch of a candidate, and how likely it is.
#[derive(Clone, Copy)]
pub(super) struct CandidateSketch {
    /// An index into [`SKETCHES`](crate::sketch::SKETCHES).
    pub(super) index: usize,
    /// Its log-odds against the likeliest sketch.
    pub(super) odds: f64,
    /// Number of sketches that are likelier.
    pub(super) likelier: usize,
}

/// A question with its page and its earlier turns, and the values from which the features of
/// candidates are computed.
pub(crate) struct ChoiceContext<'a> {
    pub(crate) facts: &'a Facts,
    pub asked: &'a Wording,
    pub earlier: &'a [EarlierTurn],
    /// The content words of the question that the page has, or their synonyms on the page, with
    /// weights.
    pub words: Vec<(u32, f64)>,
    /// For each fact, which of these words name it; computed on first use.
    words_of: Vec<OnceCell<Vec<bool>>>,
    /// `PlanQuestion::names_nothing_new`
    pub(crate) names_nothing_new: bool,
    /// True if the question names no quantity.
    pub(crate) bare: bool,
    pub(super) numbers_said: Vec<u32>,
    /// Number of plans by `follow_up::plans`, which come first (`analyst::plans`). The plans of
    /// sketches are not among them.
    pub(crate) follow_ups: usize,
    /// The programs of earlier turns, oldest first.
    earlier_programs: Vec<&'a Expr>,
    /// Literals of earlier turns without their minus signs, constants included.
    earlier_literals: Vec<String>,
    /// True for a stand-alone question of the dataset; false for a turn and on a user's page.
    pub(crate) as_stand_alone: bool,
    /// The question's content words that the page has, without synonyms, in order of mention.
    pub(super) said: Vec<QuestionWord>,
    /// The summed weight of these words.
    pub(super) said_weight: f64,
    /// Number of content words that the page lacks.
    lacking: f64,
    pub(crate) shape_odds: ShapeOdds,
    /// `None` for a stand-alone question.
    pub(crate) sketch_odds: Option<SketchOdds>,
    /// The facts that fit the question as a whole best, with their slot scores.
    pub(super) best_facts: Vec<(usize, f64)>,
    /// The query for the question as a whole.
    pub(super) whole: SlotQuery,
    /// True if an earlier answer is predicted and not gold, so that it can be wrong.
    pub(crate) own_history: bool,
    /// `EarlierTurn::misfit` of the last turn and of the one before it; 0 with a given history.
    pub(crate) misfits: [f64; 2],
    /// Queries for the operands that the question describes, by `by_words::roles`.
    pub(super) roles: [Option<SlotQuery>; ROLES],
    /// The latest year of the table's columns and rows; 0 if there is none.
    pub(super) latest: u16,
    /// For each row, the weight of the question's words in its label.
    rows_named: Vec<f64>,
    /// For each column, the largest magnitude of its numbers that are not percentages.
    largest: Vec<f64>,
    /// `true` if the largest of several is asked for, `false` for the smallest; `None` if neither
    /// is, or both are.
    pub(super) extreme: Option<bool>,
}

impl<'a> ChoiceContext<'a> {
    /// Computes what depends on the question, its page and its earlier turns. `history` has these
    /// turns too, and says where their answers come from.
    pub(crate) fn new(
        q: &PlanQuestion<'a>,
        history: &[HistoryEntry],
        as_stand_alone: bool,
        follow_ups: usize,
        shape_odds: ShapeOdds,
        sketch_odds: Option<SketchOdds>,
    ) -> Self {
        let (facts, asked, earlier) = (q.facts, q.asked, q.earlier);
        let own_history = history.iter().any(|turn| turn.source == HistorySource::Own);
        let misfit = |k: usize| {
            let turn = earlier.iter().nth_back(k);
            turn.map_or(0.0, |turn| turn.misfit(facts))
        };
        // Below any magnitude, so every number of a column of percentages counts as its largest.
        let mut largest = vec![f64::MIN; facts.columns.len()];
        for fact in &facts.all {
            let column = fact.cell().and_then(|(_, col)| largest.get_mut(col));
            if let Some(most) = column.filter(|_| !fact.percent) {
                *most = most.max(fact.number.abs());
            }
        }
        let said = QuestionWord::all(facts, asked);
        let named = |label: &[u32]| -> f64 {
            let known = said.iter().filter(|said| label.contains(&said.word));
            known.map(|said| said.weight).sum()
        };
        let (words, lacking) = weighted(facts, asked.content());
        let whole = q.whole();
        let literals = earlier.iter().flat_map(|turn| turn.expr.leaves());
        let literals = literals.map(|leaf| leaf.literal.trim_start_matches('-').to_owned());
        Self {
            facts,
            asked,
            earlier,
            words,
            words_of: vec![OnceCell::new(); facts.all.len()],
            names_nothing_new: q.names_nothing_new,
            bare: is_bare(asked),
            numbers_said: numbers_said(asked),
            follow_ups,
            earlier_programs: earlier.iter().map(|turn| &turn.expr).collect(),
            earlier_literals: literals.collect(),
            as_stand_alone,
            latest: facts.table_years().max().unwrap_or_default(),
            rows_named: facts.rows.iter().map(|row| named(&row.full)).collect(),
            largest,
            said_weight: said.iter().map(|said| said.weight).sum(),
            said,
            lacking,
            shape_odds,
            sketch_odds,
            best_facts: slot_scorer::best_facts(facts, &whole, BEST_FACTS),
            whole,
            roles: roles(q),
            own_history,
            misfits: if own_history {
                [0, 1].map(misfit)
            } else {
                [0.0; 2]
            },
            extreme: asked.extreme(),
        }
    }

    /// The log-odds of a shape, an index into [`SHAPES`](crate::shape::SHAPES).
    pub(crate) fn odds_of_shape(&self, shape: usize) -> f64 {
        self.shape_odds.get(shape).copied().unwrap_or_default()
    }

    /// A candidate's sketch; `None` for a stand-alone question.
    pub(super) fn sketch(&self, expr: &Expr) -> Option<CandidateSketch> {
        let all = self.sketch_odds.as_ref()?;
        let index = sketch(expr, &self.earlier_programs);
        let odds = *all.get(index)?;
        Some(CandidateSketch {
            index,
            odds,
            likelier: all.iter().filter(|other| **other > odds).count(),
        })
    }

    /// The log-odds of a candidate's sketch; 0 for a stand-alone question.
    pub(crate) fn sketch_odds_of(&self, expr: &Expr) -> f64 {
        self.sketch(expr).map_or(0.0, |sketch| sketch.odds)
    }

    /// True if an earlier turn has a literal too, with either sign.
    pub(crate) fn is_earlier(&self, literal: &str) -> bool {
        let bare = literal.trim_start_matches('-');
        self.earlier_literals.iter().any(|known| known == bare)
    }

    /// For each of [`Self::words`], whether the word is in the fact's label or near the fact.
    pub(super) fn words_of(&self, index: usize, fact: &Fact) -> &[bool] {
        let has = |(word, _): &(u32, f64)| fact.is_named(*word);
        let read = || self.words.iter().map(has).collect();
        let known = self.words_of.get(index);
        known.map_or(&[], |of| of.get_or_init(read))
    }

    /// The share of the content words, by weight, that name no fact of an expression and are not in
    /// the table's upper left cell. Unlike in the trait "question words not covered", synonyms do
    /// not count.
    pub(crate) fn uncovered(&self, expr: &Expr) -> f64 {
        let facts: Vec<(usize, &Fact)> = self.facts.of_expr(expr).collect();
        let named = |word: u32| {
            let corner = self.facts.corner.contains(&word);
            corner || facts.iter().any(|(_, fact)| fact.is_named(word))
        };
        let left = self.said.iter().filter(|said| !named(said.word));
        part_of(left.map(|said| said.weight).sum(), self.said_weight)
    }

    /// Number of rows whose labels have more of the question's words, by weight, than this row; at
    /// most 255.
    pub(super) fn rows_named_better(&self, row: usize) -> f64 {
        let own = self.rows_named.get(row).copied().unwrap_or_default();
        let better = self.rows_named.iter().filter(|named| **named > own).count();
        count(better.min(255))
    }

    /// True if no number of the column has a larger magnitude; percentages do not count.
    pub(super) fn largest(&self, column: usize, number: f64) -> bool {
        let most = self.largest.get(column);
        most.is_some_and(|most| number.abs() >= *most)
    }

    /// The share of the question's content words that the page lacks. All words count equally.
    pub(crate) fn unknown(&self) -> f64 {
        let said = count(self.said.len().min(255));
        part_of(self.lacking, said + self.lacking)
    }
}

/// Number of facts in [`ChoiceContext::best_facts`], set by hand. For the network, all facts that
/// are not among them have the same rank and score.
const BEST_FACTS: usize = 16;

/// Indices of features of the slot scorer that the network sees too: question words in the row
/// label, in the column header, side by side in the row label, by distance, and right before. Other
/// indices need new weights.
pub(super) const BY_QUESTION: [usize; 5] = [1, 2, 48, 19, 20];

/// A content word of the question that the page has.
pub(super) struct QuestionWord {
    pub(super) word: u32,
    pub(super) weight: f64,
    /// The last word of [`LEADS`] before it, as an index; the length of the list if there is none.
    pub(super) lead: usize,
}

/// Words after which an operand is often named, chosen by hand. The index is a feature of the
/// network, so another order needs new weights.
const LEADS: [&str; 18] = [
    "of", "to", "in", "from", "by", "for", "as", "is", "and", "than", "total", "over", "due",
    "percent", "per", "between", "related", "did",
];

impl QuestionWord {
    /// The content words of a question that the page has, each once, in order of mention.
    fn all(facts: &Facts, asked: &Wording) -> Vec<Self> {
        let mut out: Vec<Self> = Vec::new();
        let mut lead = LEADS.len();
        for token in &asked.tokens {
            let text = match &*token.text {
                "was" | "were" | "are" => "is",
                text => text,
            };
            if let Some(i) = LEADS.iter().position(|known| *known == text) {
                lead = i;
            }
            if !is_stop(&token.text)
                && !is_weak(&token.text)
                && let Some(word) = facts.vocabulary.find(&token.text)
                && out.iter().all(|said| said.word != word)
            {
                out.push(Self {
                    word,
                    weight: facts.weight(word),
                    lead,
                });
            }
        }
        out
    }
}

/// True if two values are the same but for their signs and rounding errors.
pub(super) fn same_size(a: f64, b: f64) -> bool {
    (a.abs() - b.abs()).abs() <= 1e-9 * b.abs()
}

/// The binary exponent of a value, read from its bits (IEEE 754): 6 for 100, because it is between
/// 2^6 and 2^7. -1023 for 0. -30 without a value, set by hand; the weights are fitted to it.
pub(super) fn size(value: Option<f64>) -> f64 {
    let Some(value) = value else { return -30.0 };
    // Eleven bits, so the conversion below cannot fail.
    let exponent = (value.to_bits() >> 52) & 0x7ff;
    f64::from(u16::try_from(exponent).unwrap_or(0)) - 1023.0
}
