//! The traits: features of a candidate's program. They say how its facts fit, what it repeats from
//! earlier turns, what it leaves out of the question, and whether its value is plausible.

use std::cmp::Ordering;

use super::candidate::Candidate;
use super::context::{ChoiceContext, same_size};
use crate::expr::Expr;
use crate::question::conversation::EarlierTurn;
use crate::question::feature_values::{count, flag};
use crate::question::plan::ProgramPlan;
use crate::reading::facts::{Fact, Facts};
use crate::shape::{SHAPES, alike, difference, holds};

/// The names of the traits, in the order in which [`of`] returns their values. "Refers" means
/// [`ChoiceContext::names_nothing_new`].
pub(super) const TRAITS: [&str; 45] = [
    "prior of the plan", "logarithm of the prior", "mean slot score", "lowest slot score",
    "behind the plan's best filling", "no open slot", "two or more open slots",
    "value of an earlier turn", "look-up of an earlier turn's value", "same as the turn before",
    "contains the last value", "contains the value before the last", "contains both",
    "refers, but no earlier fact", "refers, only earlier facts",
    "does not refer, only earlier facts", "names nothing, yet new facts",
    "question words not covered", "question words not covered, open slots",
    "years asked for not covered", "years not asked for", "earlier year first", "later year first",
    "share above one", "share below zero", "percent asked, look-up above one",
    "percent asked, above one and a half", "zero", "one literal on both sides",
    "look-up, minus kept", "look-up, minus dropped", "calculated, minus kept",
    "calculated, minus dropped", "outflow, minus kept", "outflow, minus dropped",
    "inflow, minus kept", "outflow asked, minus dropped", "table and text mixed",
    "sum or ratio across columns", "plan by follow_up", "shape as proposed",
    "shape proposed first", "sketch as proposed", "sketch proposed first", "constant as asked",
];

/// Words with which a question asks for an outflow; "positive" asks for it without its minus.
const OUTFLOW: [&str; 14] = [
    "spent", "used", "positive", "spending", "loss", "losses", "payments", "paid", "decrease",
    "reduction", "charge", "expense", "expenses", "repurchases",
];

/// The traits of a candidate. `shape` is an index into [`SHAPES`]. The limits and divisors are set
/// by hand, and the weights are fitted to the results.
#[expect(
    clippy::too_many_lines,
    reason = "one list of values, in the order of the names in TRAITS"
)]
pub(super) fn of(
    context: &ChoiceContext<'_>,
    plan: &ProgramPlan,
    candidate: &Candidate,
    shape: usize,
) -> [f64; TRAITS.len()] {
    let filled = &candidate.filled;
    let expr = &filled.expr;
    let read = PageUse::new(context, expr);
    let asked = context.asked;
    let percent = asked.common().percent;
    let value = expr.number();
    // Yes and no have no size. With 0.5, none of the traits about the size is set.
    let size = value.unwrap_or(0.5);
    let open = !plan.slots.is_empty();
    // The first two shapes are look-ups.
    let look_up = shape < 2;
    let name = SHAPES.get(shape).copied().unwrap_or_default();
    let ratio = ["ratio", "over a sum", "sum over", "ratio of results"].contains(&name);
    let turns = context.earlier.iter();
    let mut answers = turns.filter_map(|turn| turn.expr.number());
    let repeated = value.is_some_and(|value| answers.any(|answer| same_size(answer, value)));
    let contains = |turn: &EarlierTurn| holds(expr, &turn.expr);
    let last = context.earlier.last().is_some_and(contains);
    let before = context.earlier.iter().nth_back(1).is_some_and(contains);
    let all_known = read.known == read.numbers && read.numbers > 0;
    let uncovered = read.uncovered(context);
    let signed = read.minus || read.dropped;
    let facts = read.of_page.iter();
    let mut rows = facts.filter_map(|(_, fact)| context.facts.row_of(fact));
    let outflow = signed && rows.any(|row| row.outflow);
    let order = order(context.facts, expr);
    let shape_odds = context.odds_of_shape(shape);
    let sketch_odds = context.sketch(expr).map(|sketch| sketch.odds);
    [
        plan.prior,
        libm::log(plan.prior.max(0.01)),
        flag(open) * filled.score / 5.0,
        flag(open) * filled.lowest / 5.0,
        flag(open) * candidate.behind_plan,
        flag(!open),
        flag(plan.slots.len() > 1),
        flag(repeated),
        flag(repeated && look_up),
        flag(context.earlier.last().is_some_and(|t| alike(&t.expr, expr))),
        flag(last),
        flag(before),
        flag(last && before),
        flag(context.names_nothing_new && read.known == 0),
        flag(context.names_nothing_new && all_known && !look_up),
        flag(!context.names_nothing_new && all_known && !look_up),
        flag(context.bare && read.known < read.numbers),
        uncovered,
        flag(open) * uncovered,
        read.years_missing(context),
        read.years_too_many(context),
        flag(order == Some(Ordering::Less)),
        flag(order == Some(Ordering::Greater)),
        flag(ratio && size.abs() > 1.0),
        flag(ratio && size < 0.0),
        flag(percent && look_up && size.abs() > 1.0),
        flag(percent && !look_up && size.abs() > 1.5),
        flag(size.abs() <= 0.0),
        flag(matches!(expr.top(), Some((_, a @ Expr::Leaf(_), b)) if alike(a, b))),
        flag(look_up && read.minus),
        flag(look_up && read.dropped),
        flag(!look_up && read.minus),
        flag(!look_up && read.dropped),
        flag(outflow && read.minus),
        flag(outflow && read.dropped),
        flag(!outflow && read.minus),
        flag(read.dropped && asked.says(&OUTFLOW)),
        flag(read.mixed()),
        flag(matches!(name, "ratio" | "sum") && read.across_columns()),
        flag(filled.plan < context.follow_ups),
        // The likeliest shape and the likeliest sketch have log-odds 0, all others less.
        shape_odds.max(-8.0) / 4.0,
        flag(shape_odds >= 0.0),
        sketch_odds.map_or(0.0, |odds| odds.max(-8.0) / 4.0),
        flag(sketch_odds.is_some_and(|odds| odds >= 0.0)),
        constant_as_asked(context, expr),
    ]
}

/// 1 if the last step calculates with a constant that the question names, -1 for another constant,
/// 0 without a constant.
fn constant_as_asked(context: &ChoiceContext<'_>, expr: &Expr) -> f64 {
    let operands = expr.top().map(|(_, a, b)| [a, b]);
    let mut operands = operands.into_iter().flatten();
    let constant = operands.find(|operand| operand.is_constant());
    constant.and_then(Expr::number).map_or(0.0, |constant| {
        let mut said = context.numbers_said.iter();
        let said = said.any(|number| same_size(f64::from(*number), constant));
        if said { 1.0 } else { -1.0 }
    })
}

/// Compares the latest years of the two sides of a difference: `Less` if the first side is the
/// earlier one. `None` for other programs, and if a side has no year.
fn order(facts: &Facts, expr: &Expr) -> Option<Ordering> {
    let latest = |side: &Expr| {
        let used = facts.of_expr(side);
        used.filter_map(|(_, fact)| fact.latest_year()).max()
    };
    let (a, b) = difference(expr)?;
    Some(latest(a)?.cmp(&latest(b)?))
}

/// The numbers that a candidate's program takes from the page and from earlier turns.
#[derive(Default)]
struct PageUse<'a> {
    /// Number of the program's leaves that are not constants.
    numbers: usize,
    /// Number of these leaves whose literals earlier turns have too.
    known: usize,
    /// The facts of the program, each with its index.
    of_page: Vec<(usize, &'a Fact)>,
    /// True if a literal has a minus sign.
    minus: bool,
    /// True if a fact is negative on the page but its literal has no minus sign.
    dropped: bool,
}

impl<'a> PageUse<'a> {
    /// Looks up the numbers of a program. Signs are ignored when a literal is compared with those
    /// of earlier turns.
    fn new(context: &ChoiceContext<'a>, expr: &Expr) -> Self {
        let mut found = Self::default();
        expr.each_leaf(&mut |leaf| {
            if leaf.is_constant() {
                return;
            }
            let negative = leaf.literal.starts_with('-');
            let fact = leaf.source.and_then(|index| context.facts.all.get(index));
            found.numbers += 1;
            found.known += usize::from(context.is_earlier(&leaf.literal));
            found.minus |= negative;
            found.dropped |= !negative && fact.is_some_and(|f| f.literal.starts_with('-'));
            found.of_page.extend(leaf.source.zip(fact));
        });
        found
    }

    /// The share of the question's words, by weight, that name none of its facts and are not in the
    /// table's upper left cell.
    fn uncovered(&self, context: &ChoiceContext<'_>) -> f64 {
        let total: f64 = context.words.iter().map(|(_, weight)| weight).sum();
        let of_fact = |k: usize, (index, fact): &(usize, &Fact)| {
            context.words_of(*index, fact).get(k) == Some(&true)
        };
        let named = |k: usize, word: &u32| {
            context.facts.corner.contains(word) || self.of_page.iter().any(|of| of_fact(k, of))
        };
        let words = context.words.iter().enumerate();
        let covered = words.filter(|(k, (word, _))| named(*k, word));
        let covered: f64 = covered.map(|(_, (_, weight))| weight).sum();
        if total > 0.0 {
            1.0 - covered / total
        } else {
            0.0
        }
    }

    /// Number of years of the question that none of its facts has, at most 4, which is set by hand
    /// like the limits above.
    fn years_missing(&self, context: &ChoiceContext<'_>) -> f64 {
        let has = |year: &u16| self.of_page.iter().any(|(_, f)| f.years.contains(year));
        let missing = context.asked.years.iter().filter(|year| !has(year));
        count(missing.count().min(4))
    }

    /// Number of its facts that have only years that the question does not name, at most 4.
    fn years_too_many(&self, context: &ChoiceContext<'_>) -> f64 {
        let asked = &context.asked.years;
        if asked.is_empty() {
            return 0.0;
        }
        let other_years = |(_, f): &&(usize, &Fact)| !f.years.is_empty() && !f.is_of(asked);
        count(self.of_page.iter().filter(other_years).count().min(4))
    }

    /// True if some of its facts are cells and some are from sentences.
    fn mixed(&self) -> bool {
        let is_cell = |(_, fact): &(usize, &Fact)| fact.cell().is_some();
        self.of_page.iter().any(is_cell) && !self.of_page.iter().all(is_cell)
    }

    /// True if two of its facts that follow each other are cells of different columns.
    fn across_columns(&self) -> bool {
        self.of_page.windows(2).any(|pair| {
            matches!(pair, [(_, a), (_, b)] if a.cell().zip(b.cell()).is_some_and(|(x, y)| x.1 != y.1))
        })
    }
}
