//! What a question says, and what kind of turn came before it.

use super::ChoiceContext;
use crate::offline::question::conversation::EarlierTurn;
use crate::offline::reading::text::TokenKind;
use crate::offline::shape::{SHAPES, shape};

/// A cue: its name and when it holds.
pub(super) type Cue = (&'static str, fn(&ChoiceContext<'_>) -> bool);

/// The cues, each crossed with every kind of calculation.
pub(super) const CUES: [Cue; 67] = [
    ("always", |_| true),
    ("percent", |s| s.asked.percent()),
    ("change", |s| s.asked.change()),
    ("relative change asked", |s| s.asked.relative_change()),
    ("share asked", |s| s.asked.share()),
    ("says ratio", |s| says(s, &["ratio"])),
    ("portion", |s| {
        says(s, &["portion", "proportion", "fraction", "part", "share"])
    }),
    ("sum asked", |s| s.asked.sum()),
    ("total", |s| says(s, &["total", "aggregate"])),
    ("says average", |s| says(s, &["average", "mean"])),
    ("times", |s| says(s, &["times", "multiplied", "product"])),
    ("divided", |s| says(s, &["divided", "quotient"])),
    ("over", |s| says(s, &["over"])),
    ("per", |s| says(s, &["per", "each"])),
    ("yes or no", |s| s.asked.yes_no()),
    ("greater", |s| {
        let words = [
            "greater", "higher", "larger", "more", "exceed", "outperform",
        ];
        says(s, &words)
    }),
    ("scale", |s| {
        let words = [
            "millions", "million", "thousands", "thousand", "billions", "billion", "dollars",
        ];
        says(s, &words)
    }),
    ("count", |s| says(s, &["how many", "number"])),
    ("less", |s| {
        says(s, &["less", "minus", "excluding", "without"])
    }),
    ("including", |s| {
        let words = [
            "including", "adding", "plus", "added", "include", "included",
        ];
        says(s, &words)
    }),
    ("pronoun", |s| {
        says(s, &["that", "this", "it", "these", "those", "they", "them"])
    }),
    ("span", |s| s.asked.points_to_span()),
    ("bare", |s| s.bare),
    ("refers", |s| s.refers),
    ("no year", |s| s.asked.years.is_empty()),
    ("one year", |s| s.asked.years.len() == 1),
    ("two years", |s| s.asked.years.len() == 2),
    ("more years", |s| s.asked.years.len() > 2),
    ("number named", |s| {
        s.asked.tokens.iter().any(|t| t.kind == TokenKind::Number)
    }),
    ("value", |s| says(s, &["value", "amount", "values"])),
    ("net change", |s| {
        says(s, &["net change", "net difference", "net increase"])
    }),
    ("represent", |s| {
        let words = ["represent", "represents", "represented", "in relation to"];
        says(s, &words)
    }),
    ("both", |s| {
        says(s, &["both", "two", "combined", "together"])
    }),
    ("begins with and", |s| s.asked.starts(&["and"])),
    ("begins with so", |s| s.asked.starts(&["so"])),
    ("then", |s| says(s, &["then"])),
    ("return asked", |s| {
        says(s, &["return", "roi", "returns", "outperform"])
    }),
    ("between", |s| says(s, &["between"])),
    ("from … to", |s| says(s, &["from"]) && says(s, &["to"])),
    ("price", |s| {
        says(s, &["price", "prices", "cost", "fair value"])
    }),
    ("shares", |s| {
        says(s, &["shares", "stock", "options", "units"])
    }),
    ("rate", |s| says(s, &["rate", "rates", "yield", "margin"])),
    ("says difference", |s| says(s, &["difference", "differ"])),
    ("growth", |s| {
        let words = [
            "growth", "grow", "grew", "increase", "increased", "decrease", "decreased", "decline",
            "declined",
        ];
        says(s, &words)
    }),
    ("what about", |s| {
        says(s, &["what about", "how about"]) || s.asked.starts(&["and in", "and for"])
    }),
    ("extreme asked", |s| s.asked.extreme().is_some()),
    ("which year", |s| says(s, &["which year", "what year"])),
    ("by how much", |s| {
        let words = [
            "by how much", "how much did", "how much more", "how much less", "how much higher",
            "how much lower",
        ];
        says(s, &words)
    }),
    ("observed", |s| says(s, &["observed", "experienced"])),
    ("margin", |s| says(s, &["margin", "margins"])),
    ("left", |s| {
        let words = [
            "not", "other than", "except", "remaining", "remain", "remainder", "rest", "outside",
        ];
        says(s, &words)
    }),
    ("due", |s| {
        let words = [
            "due", "mature", "matures", "maturing", "expire", "expires", "expiring",
        ];
        says(s, &words)
    }),
    ("total return", |s| {
        says(s, &["total return", "cumulative", "invested", "investment"])
    }),
    ("compared", |s| {
        says(s, &["compared to", "compared with", "versus", "than"])
    }),
    ("hypothetical", |s| {
        says(s, &["would", "if", "assuming", "will", "expected"])
    }),
    ("balance", |s| {
        says(s, &["balance", "beginning", "ending", "end"])
    }),
    ("tax", |s| says(s, &["tax", "taxes", "pretax", "after-tax"])),
    ("annual", |s| {
        says(s, &["annual", "yearly", "annually", "monthly", "daily"])
    }),
    ("first turn", |s| s.state.turns.is_empty()),
    ("after a look-up", |s| {
        after(s, &["look-up", "look-up of a percentage"])
    }),
    ("after a difference", |s| {
        let shapes = ["difference", "less a constant", "difference of results"];
        after(s, &shapes)
    }),
    ("after a ratio", |s| {
        let shapes = [
            "relative change", "return on a constant", "ratio", "ratio of results",
            "over a constant",
        ];
        after(s, &shapes)
    }),
    ("after a sum", |s| after(s, &["sum", "average"])),
    ("after something else", |s| {
        after(s, &["times a constant", "product", "comparison", "other"])
    }),
    ("one value before", |s| values_before(s) == 1),
    ("two values before", |s| values_before(s) == 2),
    ("three values before", |s| values_before(s) > 2),
];

fn says(context: &ChoiceContext<'_>, phrases: &[&str]) -> bool {
    context.asked.says(phrases)
}

fn after(context: &ChoiceContext<'_>, shapes: &[&str]) -> bool {
    context
        .state
        .last()
        .and_then(|turn| SHAPES.get(shape(&turn.expr)))
        .is_some_and(|last| shapes.contains(last))
}

/// How many look-ups the conversation ends with.
fn values_before(context: &ChoiceContext<'_>) -> usize {
    let turns = context.state.turns.iter().rev();
    turns
        .take_while(|turn: &&EarlierTurn| turn.is_look_up())
        .count()
}
