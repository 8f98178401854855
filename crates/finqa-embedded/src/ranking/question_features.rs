//! The cues: yes/no features of the network about the words of a question and the turn before it.

use super::context::ChoiceContext;
use crate::question::conversation::latest_look_ups;
use crate::question::feature_values::flag;
use crate::reading::text::TokenKind;
use crate::shape::shape_name;

/// The condition of a cue.
pub(super) enum CueTest {
    /// The question has one of these phrases, which are separated by ", ".
    Says(&'static str),
    /// The program of the last turn has one of these shapes, which are separated by ", ".
    After(&'static str),
    /// The function returns true.
    If(fn(&ChoiceContext<'_>) -> bool),
}

use CueTest::{After, If, Says};

/// The names and conditions of the cues, in the order of the network's features. The phrases are
/// chosen by hand, and the weights are fitted to them.
#[rustfmt::skip] // A table: rustfmt would give most of its rows four lines.
pub(super) const CUES: [(&str, CueTest); 67] = [
    ("always", If(|_| true)),
    ("percent", If(|s| s.asked.percent())),
    ("change", If(|s| s.asked.change())),
    ("relative change asked", If(|s| s.asked.relative_change())),
    ("share asked", If(|s| s.asked.share())),
    ("says ratio", Says("ratio")),
    ("portion", Says("portion, proportion, fraction, part, share")),
    ("sum asked", If(|s| s.asked.sum())),
    ("total", Says("total, aggregate")),
    ("says average", Says("average, mean")),
    ("times", Says("times, multiplied, product")),
    ("divided", Says("divided, quotient")),
    ("over", Says("over")),
    ("per", Says("per, each")),
    ("yes or no", If(|s| s.asked.yes_no())),
    ("greater", Says("greater, higher, larger, more, exceed, outperform")),
    ("scale", Says("millions, million, thousands, thousand, billions, billion, dollars")),
    ("count", Says("how many, number")),
    ("less", Says("less, minus, excluding, without")),
    ("including", Says("including, adding, plus, added, include, included")),
    ("pronoun", Says("that, this, it, these, those, they, them")),
    // Two values or a span of time in earlier turns.
    ("span", Says("these years, those years, two years, both years, the years, that year, \
        this time, that time, this period, that period, these two, those two, the two, \
        both values, those values, these values, between these, between them")),
    ("bare", If(|s| s.bare)),
    ("refers", If(|s| s.names_nothing_new)),
    ("no year", If(|s| s.asked.years.is_empty())),
    ("one year", If(|s| s.asked.years.len() == 1)),
    ("two years", If(|s| s.asked.years.len() == 2)),
    ("more years", If(|s| s.asked.years.len() > 2)),
    ("number named", If(|s| s.asked.tokens.iter().any(|t| t.kind == TokenKind::Number))),
    ("value", Says("value, amount, values")),
    ("net change", Says("net change, net difference, net increase")),
    ("represent", Says("represent, represents, represented, in relation to")),
    ("both", Says("both, two, combined, together")),
    ("begins with and", If(|s| s.asked.starts(&["and"]))),
    ("begins with so", If(|s| s.asked.starts(&["so"]))),
    ("then", Says("then")),
    ("return asked", Says("return, roi, returns, outperform")),
    ("between", Says("between")),
    ("from … to", If(|s| s.asked.says(&["from"]) && s.asked.says(&["to"]))),
    ("price", Says("price, prices, cost, fair value")),
    ("shares", Says("shares, stock, options, units")),
    ("rate", Says("rate, rates, yield, margin")),
    ("says difference", Says("difference, differ")),
    ("growth", Says("growth, grow, grew, increase, increased, decrease, decreased, \
        decline, declined")),
    ("what about", If(|s| {
        s.asked.says(&["what about", "how about"]) || s.asked.starts(&["and in", "and for"])
    })),
    ("extreme asked", If(|s| s.asked.extreme().is_some())),
    ("which year", Says("which year, what year")),
    ("by how much", Says("by how much, how much did, how much more, how much less, \
        how much higher, how much lower")),
    ("observed", Says("observed, experienced")),
    ("margin", Says("margin, margins")),
    ("left", Says("not, other than, except, remaining, remain, remainder, rest, outside")),
    ("due", Says("due, mature, matures, maturing, expire, expires, expiring")),
    ("total return", Says("total return, cumulative, invested, investment")),
    ("compared", Says("compared to, compared with, versus, than")),
    ("hypothetical", Says("would, if, assuming, will, expected")),
    ("balance", Says("balance, beginning, ending, end")),
    ("tax", Says("tax, taxes, pretax, after-tax")),
    ("annual", Says("annual, yearly, annually, monthly, daily")),
    ("first turn", If(|s| s.earlier.is_empty())),
    ("after a look-up", After("look-up, look-up of a percentage")),
    ("after a difference", After("difference, less a constant, difference of results")),
    ("after a ratio", After("relative change, return on a constant, ratio, ratio of results, \
        over a constant")),
    ("after a sum", After("sum, average")),
    ("after something else", After("times a constant, product, comparison, other")),
    ("one value before", If(|s| latest_look_ups(s.earlier) == 1)),
    ("two values before", If(|s| latest_look_ups(s.earlier) == 2)),
    ("three values before", If(|s| latest_look_ups(s.earlier) > 2)),
];

/// For each of [`CUES`], 1 if its condition is true for a question, else 0.
pub(super) fn cues(context: &ChoiceContext<'_>) -> Vec<f64> {
    let values = CUES.iter().map(|(_, cue)| flag(cue.holds(context)));
    values.collect()
}

impl CueTest {
    fn holds(&self, context: &ChoiceContext<'_>) -> bool {
        match self {
            Says(phrases) => phrases.split(", ").any(|one| context.asked.says(&[one])),
            After(shapes) => context.earlier.last().is_some_and(|turn| {
                let last = shape_name(&turn.expr);
                shapes.split(", ").any(|one| one == last)
            }),
            If(holds) => holds(context),
        }
    }
}
