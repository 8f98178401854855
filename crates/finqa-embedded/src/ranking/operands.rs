//! The features of the network about a candidate's first two facts (its operands): how each fits
//! the question, which of its words name which of them, and how they are related.

use super::context::{BY_QUESTION, ChoiceContext, size};
use crate::distinct;
use crate::expr::Expr;
use crate::question::by_words::ROLES;
use crate::question::feature_values::{count, flag, part_of};
use crate::question::plan::ProgramPlan;
use crate::question::slot_scorer::{SLOT_FEATURES, SlotScorer};
use crate::reading::facts::Fact;

/// The features of each of the two facts. The first four depend on the other fact or the plan; the
/// rest are computed once for a fact.
pub(super) const OF_EACH: [&str; 4 + BY_ITSELF] = [
    "question words of its own", "place in the question", "lead", "words like the question's",
    "question words", "share of its label", "year", "from a total row", "from a total column",
    "in the text", "percentage", "amount of money", "whole number", "first year",
    "opening balance", "closing balance", "label words not asked for",
    "column words not asked for", "years before the latest", "rows named better",
    "largest of its column", "question words in its row", "question words in its column",
    "question words side by side", "question words by distance", "question words right before",
    "one or two bare digits", "sum of cells of its column", "sum of cells of its row", "size",
    "extreme of its row", "extreme of its column", "as the first thing named",
    "as the second thing named", "as the later period", "as the earlier period",
];
/// Number of features of a fact that do not depend on the candidate; the last are its roles.
const BY_ITSELF: usize = 28 + ROLES;
/// The features of both facts together.
pub(super) const OF_BOTH: [&str; 11] = [
    "same row", "same column", "same sentence", "words of neither", "words of both",
    "first before second", "words of both labels", "second adds up the first",
    "first adds up the second", "as the things named", "as the periods",
];

/// The fit of a fact in a role about which the words of the question say nothing. Set by hand, as
/// are the other values below for what is missing; the weights are fitted to them.
const NO_ROLE: f64 = -20.0;

/// A fact that candidates use, with the features that do not depend on the candidate.
struct UsedFact {
    fact: usize,
    /// For each of the question's words, whether it names the fact.
    named: Vec<bool>,
    /// The values of [`OF_EACH`] after the first four.
    by_itself: [f64; BY_ITSELF],
    /// For its row and for its column: 1 if it is the largest there, -1 if it is the smallest.
    extremes: [f64; 2],
    /// The fit of the fact to each role: its slot score minus the best fact's slot score, so at
    /// most 0.
    roles: [f64; ROLES],
}

/// The facts that the candidates of a question use, sorted by their indices.
pub(crate) struct Operands(Vec<UsedFact>);

impl Operands {
    /// Computes the features of the facts in these expressions, once for each fact.
    pub(crate) fn new<'e>(
        context: &ChoiceContext<'_>,
        expressions: impl Iterator<Item = &'e Expr>,
    ) -> Self {
        let facts = expressions.flat_map(|expr| context.facts.of_expr(expr));
        let mut facts: Vec<(usize, &Fact)> = facts.collect();
        facts.sort_unstable_by_key(|(index, _)| *index);
        facts.dedup_by_key(|(index, _)| *index);
        let mut roles = vec![[NO_ROLE; ROLES]; facts.len()];
        for (role, query) in context.roles.iter().enumerate() {
            let Some(query) = query else { continue };
            let mut scorer = SlotScorer::new(context.facts, query);
            let fits = facts.iter().map(|(index, fact)| scorer.score(fact, *index));
            let fits: Vec<f64> = fits.collect();
            let best = fits.iter().copied().fold(f64::MIN, f64::max);
            for (scores, fit) in roles.iter_mut().zip(fits) {
                if let Some(score) = scores.get_mut(role) {
                    *score = fit - best;
                }
            }
        }
        let mut whole = SlotScorer::new(context.facts, &context.whole);
        let all = facts.into_iter().zip(roles).map(|((index, fact), roles)| {
            // With this index, no fact counts as used by an earlier turn.
            let fits = whole.features(fact, usize::MAX);
            UsedFact::new(context, index, fact, fits, roles)
        });
        Self(all.collect())
    }

    /// For the row and the column of a fact: 1 if it is the largest there, -1 if it is the
    /// smallest, else 0.
    pub(super) fn extremes(&self, fact: usize) -> [f64; 2] {
        self.get(fact).map_or([0.0; 2], |one| one.extremes)
    }

    fn get(&self, fact: usize) -> Option<&UsedFact> {
        let at = self.0.binary_search_by_key(&fact, |one| one.fact).ok()?;
        self.0.get(at)
    }
}

/// 1 if a cell is the largest of its row (or of its column), -1 if it is the smallest; 0 otherwise
/// and for a number in a sentence.
fn extreme(context: &ChoiceContext<'_>, fact: &Fact, of_row: bool) -> f64 {
    let Some((row, col)) = fact.cell() else {
        return 0.0;
    };
    let of_line = |(r, c): (usize, usize)| (r == row) == of_row && (c == col) != of_row;
    let others = context.facts.all.iter();
    let others = others.filter(|other| other.cell().is_some_and(of_line));
    let (mut above, mut below) = (false, false);
    for other in others {
        above |= other.number > fact.number;
        below |= other.number < fact.number;
    }
    flag(below && !above) - flag(above && !below)
}

/// The weight of the words of a label that the question has (`asked`), or of those that it lacks.
fn label_weight(context: &ChoiceContext<'_>, label: &[u32], asked: bool) -> f64 {
    let is_asked = |word: u32| context.said.iter().any(|said| said.word == word);
    let words = label.iter().filter(|word| is_asked(**word) == asked);
    words.map(|word| context.facts.weight(*word)).sum()
}

/// 1 if a fact is of one of these years, -1 if it is of others; 0 if either has none.
fn agreement(years: &[u16], fact: &Fact) -> f64 {
    if years.is_empty() || fact.years.is_empty() {
        0.0
    } else if fact.is_of(years) {
        1.0
    } else {
        -1.0
    }
}

/// The number of rows or columns that a fact adds up.
fn addends(span: Option<(u32, u32)>) -> f64 {
    span.map_or(0.0, |(first, last)| f64::from(last + 1 - first))
}

/// The summed weight of the question's words, at least 0.1 because it is a divisor.
fn total(context: &ChoiceContext<'_>) -> f64 {
    context.said_weight.max(0.1)
}

impl UsedFact {
    /// Computes the features of a fact, with its fit to each role. `fits` has the features of the
    /// slot scorer for the question as a whole.
    fn new(
        context: &ChoiceContext<'_>,
        index: usize,
        fact: &Fact,
        fits: [f64; SLOT_FEATURES],
        roles: [f64; ROLES],
    ) -> Self {
        let (facts, cell) = (context.facts, fact.cell());
        let (row, column) = (facts.row_of(fact), facts.column_of(fact));
        let said = context.said.iter();
        let named: Vec<bool> = said.map(|said| fact.is_named(said.word)).collect();
        let naming = context.said.iter().zip(&named).filter(|(_, named)| **named);
        let named_weight: f64 = naming.map(|(said, _)| said.weight).sum();
        let matched = row.map_or(0.0, |row| label_weight(context, &row.label, true));
        let years = &context.asked.years;
        let from_latest = |year: u16| f64::from(year) - f64::from(context.latest);
        let [in_row, in_column, side_by_side, by_distance, right_before] =
            BY_QUESTION.map(|at| fits.get(at).copied().unwrap_or_default());
        let [first, second, late, early] = roles;
        let extremes = [true, false].map(|of_row| extreme(context, fact, of_row));
        let [of_row, of_column] = extremes;
        let by_itself = [
            named_weight / total(context),
            row.map_or(-1.0, |row| part_of(matched, row.weight)),
            agreement(years, fact),
            flag(fact.total),
            flag(cell.is_some() && facts.total.is_some_and(|t| fact.near.contains(&t))),
            flag(cell.is_none()),
            flag(fact.percent),
            flag(fact.dollar),
            flag(fact.number.fract().abs() <= 0.0),
            flag(years.first().is_some_and(|year| fact.years.contains(year))),
            flag(fact.opening),
            flag(fact.closing),
            row.map_or(-1.0, |row| row.weight - matched),
            column.map_or(-1.0, |column| label_weight(context, &column.label, false)),
            fact.latest_year().map_or(-50.0, from_latest),
            cell.map_or(-1.0, |(row, _)| context.rows_named_better(row)),
            cell.map_or(-1.0, |(_, col)| flag(context.largest(col, fact.number))),
            in_row,
            in_column,
            side_by_side,
            by_distance,
            right_before,
            flag(fact.is_bare() && fact.literal.len() <= 2),
            addends(fact.adds_rows),
            addends(fact.adds_columns),
            size(Some(fact.number)),
            of_row,
            of_column,
            first,
            second,
            late,
            early,
        ];
        Self {
            fact: index,
            named,
            by_itself,
            extremes,
            roles,
        }
    }
}

/// Appends the features of the first two different facts of a candidate (`used`). Those of a fact
/// that is missing are -2.
pub(super) fn of(
    context: &ChoiceContext<'_>,
    plan: &ProgramPlan,
    used: &[(usize, &Fact)],
    operands: &Operands,
    out: &mut Vec<f64>,
) {
    let indices = distinct(used.iter().map(|(index, _)| *index)).into_iter();
    let operand = |index: usize| Some((context.facts.all.get(index)?, operands.get(index)?));
    let two: Vec<(&Fact, &UsedFact)> = indices.take(2).filter_map(operand).collect();
    let total = total(context);
    let mut places = [-1.0; 2];
    for (k, mean_place) in places.iter_mut().enumerate() {
        let Some((fact, operand)) = two.get(k) else {
            out.extend([-2.0; OF_EACH.len()]);
            continue;
        };
        let other = two.get(1 - k).map(|(_, other)| &other.named);
        let (mut own, mut place, mut lead) = (0.0, 0.0, None);
        for (i, (said, has)) in context.said.iter().zip(&operand.named).enumerate() {
            let shared = other.is_some_and(|named| named.get(i) == Some(&true));
            if *has && !shared {
                own += said.weight;
                place += said.weight * count(i);
                lead = lead.or(Some(said.lead));
            }
        }
        let place = if own > 0.0 { place / own } else { -1.0 };
        *mean_place = place;
        let alike = plan.slots.first().map_or(0.0, |query| {
            let found = query.alike.iter().filter(|(word, _)| fact.is_named(*word));
            found.map(|(_, weight)| weight).sum::<f64>() / total
        });
        out.extend([own / total, place, lead.map_or(-1.0, count), alike]);
        out.extend(operand.by_itself);
    }
    of_both(context, &two, places, out);
}

/// Appends the features of both facts together. `places` has the mean position of the words that
/// name only the first fact, and only the second; -1 if there are none.
fn of_both(
    context: &ChoiceContext<'_>,
    two: &[(&Fact, &UsedFact)],
    places: [f64; 2],
    out: &mut Vec<f64>,
) {
    let words = |wanted: usize| -> f64 {
        let is_named = |i: usize, by: &UsedFact| by.named.get(i) == Some(&true);
        let by = |i: usize| two.iter().filter(|(_, one)| is_named(i, one)).count() == wanted;
        let said = context.said.iter().enumerate().filter(|(i, _)| by(*i));
        said.map(|(_, said)| said.weight).sum::<f64>() / total(context)
    };
    let [first, second] = places;
    let pair = match two {
        [(a, one), (b, other)] => Some((*a, *b, one.roles, other.roles)),
        _ => None,
    };
    let cells = pair.and_then(|(a, b, ..)| a.cell().zip(b.cell()));
    let joint = |role: usize| {
        let fit = pair.and_then(|(_, _, a, b)| Some(a.get(role)? + b.get(role + 1)?));
        fit.unwrap_or(2.0 * NO_ROLE)
    };
    let relation =
        |holds: &dyn Fn(&Fact, &Fact) -> f64| pair.map_or(-1.0, |(a, b, ..)| holds(a, b));
    out.extend([
        cells.map_or(-1.0, |(a, b)| flag(a.0 == b.0)),
        cells.map_or(-1.0, |(a, b)| flag(a.1 == b.1)),
        flag(cells.is_none() && pair.is_some_and(|(a, b, ..)| a.same_series(b))),
        words(0),
        words(2),
        if first < 0.0 || second < 0.0 {
            0.0
        } else {
            second - first
        },
        relation(&|a, b| {
            let shared = a.label.iter().filter(|word| b.label.contains(word)).count();
            count(shared) / count(a.label.len().max(b.label.len()).max(1))
        }),
        relation(&|a, b| flag(b.adds_up(a))),
        relation(&|a, b| flag(a.adds_up(b))),
        joint(0),
        joint(2),
    ]);
}
