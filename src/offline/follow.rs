//! Operation templates for a question that follows others: what it takes up
//! from them, by reference or by leaving it out.

use super::asked::Asked;
use super::expr::{Expr, Op};
use super::facts::Facts;
use super::mention::{operands, ratio_operands, span, split};
use super::plan::{Pairing, Pattern, Plan};
use super::refer::{Operand, join, resolve};
use super::slots::Query;
use super::state::{State, Turn, is_bare};
use super::templates::{self, Context, query};
use crate::number::UnitKind;

/// Everything a follow-up template looks at.
#[derive(Clone, Copy)]
pub(crate) struct Follow<'a> {
    /// The page.
    pub facts: &'a Facts,
    /// The question.
    pub asked: &'a Asked,
    /// The earlier turns; at least one.
    pub state: &'a State,
    /// What slots take over.
    pub context: &'a Context,
    /// The question names nothing that the last turns did not.
    pub refers: bool,
}

/// The plans for a follow-up, best first; empty if none applies.
pub(crate) fn plans(facts: &Facts, asked: &Asked, state: &State, context: &Context) -> Vec<Plan> {
    let Some(last) = state.last() else {
        return Vec::new();
    };
    let refers = is_bare(asked) || names_the_same(facts, asked, state);
    let follow = Follow {
        facts,
        asked,
        state,
        context,
        refers,
    };
    let rules: [fn(&Follow<'_>, &Turn) -> Option<Plan>; 12] = [
        super::arithmetic::constant_step,
        super::arithmetic::convert,
        greater,
        relation,
        relative_change,
        including,
        average,
        sum,
        difference,
        ratio,
        redo,
        look_up,
    ];
    let mut out: Vec<Plan> = rules
        .iter()
        .filter_map(|rule| rule(&follow, last))
        .collect();
    let mut prior = 0.95;
    for plan in &mut out {
        plan.prior = prior;
        prior *= 0.7;
    }
    out
}

/// Whether all content words were named by the last two turns already.
fn names_the_same(facts: &Facts, asked: &Asked, state: &State) -> bool {
    let (words, unknown) = super::slots::weighted(facts, &asked.tokens);
    let known = |word: u32| {
        state
            .turns
            .iter()
            .rev()
            .take(3)
            .any(|t| t.words.iter().any(|(w, _)| *w == word))
    };
    let total: f64 = words.iter().map(|(_, w)| w).sum::<f64>() + unknown;
    let seen: f64 = words
        .iter()
        .filter(|(w, _)| known(*w))
        .map(|(_, x)| x)
        .sum();
    total > 0.0 && seen / total > 0.75
}

/// `greater(#a, #b)` of the last two values.
fn greater(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    let cue = f.asked.says(&["greater", "higher", "larger", "bigger"])
        && f.asked.says(&["which", "was", "is", "did"])
        && !f.asked.starts(&["how", "by"]);
    if !(cue || f.asked.yes_no() && f.asked.says(&["more than", "greater", "exceed"])) {
        return None;
    }
    let before = f.state.back(1)?;
    Some(Plan::fixed(
        "comparison",
        Expr::step(Op::Greater, before.expr.clone(), last.expr.clone()),
        0.9,
        UnitKind::YesNo,
    ))
}

/// "How much does that change represent in relation to the 2005 value?"
fn relation(f: &Follow<'_>, _: &Turn) -> Option<Plan> {
    let difference = f.state.last_difference()?;
    let (a, b) = difference.difference()?;
    let cue = f.asked.share() || f.asked.says(&["over", "as a percent", "percent of"]);
    let points = f.asked.says(&[
        "that change",
        "this change",
        "the change",
        "that difference",
        "this difference",
        "the difference",
        "net change",
        "change over",
        "difference over",
        "this increase",
        "that increase",
        "this decrease",
        "that decrease",
        "this decline",
        "that decline",
        "this variation",
        "that variation",
        "this fluctuation",
        "that fluctuation",
        "this growth",
        "that growth",
        "the increase",
        "the decrease",
        "this reduction",
        "that reduction",
        "this variance",
        "that variance",
        "change represents",
        "change represent",
    ]);
    let back = f.asked.says(&["that", "this", "it"])
        && f.state.last().is_some_and(|t| t.difference().is_some());
    if !cue
        || !(points || back)
        || f.asked
            .says(&["percent change", "percent increase", "percent decrease"])
            && !points
    {
        return None;
    }
    let rest = [
        "in relation to",
        "as a percent of",
        "as percent of",
        "as a portion of",
        "divided by",
        "over the",
        "over",
        "percent of",
        "portion of",
        "relative to",
        "share of",
    ]
    .iter()
    .find_map(|c| split(&f.asked.phrase, c))
    .map(|(_, rest)| rest);
    let base = rest.map_or(Operand::Known(b.clone()), |rest| {
        base(f, difference, a, b, &rest)
    });
    join(
        "relative change",
        Op::Divide,
        Operand::Known(difference.expr.clone()),
        base,
        Pairing::Free,
        UnitKind::Percent,
    )
}

/// What the change is set against: one of its own operands, or something named.
fn base(f: &Follow<'_>, difference: &Turn, a: &Expr, b: &Expr, rest: &str) -> Operand {
    let part = Asked::read(rest);
    let dated = |e: &Expr| {
        e.leaves()
            .iter()
            .filter_map(|l| f.facts.all.get(l.fact?))
            .any(|x| x.years.iter().any(|y| part.years.contains(y)))
    };
    let (words, unknown) = super::slots::weighted(f.facts, &part.tokens);
    let total: f64 = words.iter().map(|(_, w)| w).sum::<f64>() + unknown;
    let known = |word: u32| {
        f.state
            .turns
            .iter()
            .any(|t| t.words.iter().any(|(w, _)| *w == word))
            || difference.words.iter().any(|(w, _)| *w == word)
    };
    let seen: f64 = words
        .iter()
        .filter(|(w, _)| known(*w))
        .map(|(_, x)| x)
        .sum();
    let same = is_bare(&part) || seen / total.max(0.1) > 0.6;
    if !same {
        return Operand::Open(Box::new(query(f.facts, f.asked, rest, f.context)));
    }
    if !part.years.is_empty() && dated(a) && !dated(b) {
        return Operand::Known(a.clone());
    }
    Operand::Known(b.clone())
}

/// "And the percentage change?"
fn relative_change(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    let asked = f.asked;
    if !asked.relative_change() && !asked.says(&["growth rate", "rate of return", "return"]) {
        return None;
    }
    if !f.refers
        && !asked.says(&[
            "this represent",
            "that represent",
            "this value",
            "that value",
            "these years",
            "this time",
            "that time",
        ])
    {
        return None;
    }
    let known: Vec<u16> = f
        .state
        .turns
        .iter()
        .flat_map(|t| t.years.iter().copied())
        .collect();
    if asked.years.iter().any(|y| !known.contains(y)) && asked.years.len() >= 2 {
        return None;
    }
    if asked.says(&[
        "difference between",
        "difference in percent",
        "difference in returns",
        "difference in return",
    ]) && let Some(before) = f
        .state
        .turns
        .iter()
        .rev()
        .skip(1)
        .find(|t| t.ends_in(Op::Divide))
        && last.ends_in(Op::Divide)
    {
        let expr = Expr::step(Op::Subtract, before.expr.clone(), last.expr.clone());
        return Some(Plan::fixed(
            "difference of changes",
            expr,
            0.9,
            UnitKind::Percent,
        ));
    }
    if let Some(turn) = f.state.last_difference()
        && let Some((_, b)) = turn.difference()
    {
        let expr = Expr::step(Op::Divide, turn.expr.clone(), b.clone());
        return Some(Plan::fixed("relative change", expr, 0.9, UnitKind::Percent));
    }
    let (late, early) = two_values(f)?;
    let expr = Expr::step(
        Op::Divide,
        Expr::step(Op::Subtract, late, early.clone()),
        early,
    );
    Some(Plan::fixed("relative change", expr, 0.9, UnitKind::Percent))
}

/// The last two values, the later year first; else in the order they came.
fn two_values(f: &Follow<'_>) -> Option<(Expr, Expr)> {
    let (one, two) = (f.state.back(1)?, f.state.back(0)?);
    let year = |t: &Turn| t.years.iter().max().copied();
    match (year(one), year(two)) {
        (Some(a), Some(b)) if b > a => Some((two.expr.clone(), one.expr.clone())),
        _ => Some((one.expr.clone(), two.expr.clone())),
    }
}

/// "And including the 2006 value?", "the total of all three years?"
fn including(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    let cue = [
        "including",
        "adding",
        "plus",
        "includes",
        "is included",
        "included",
        "added",
    ]
    .iter()
    .find_map(|c| split(&f.asked.phrase, c).map(|(a, b)| (*c, a, b)));
    let (connector, left, right) = cue?;
    let sum = f
        .state
        .turns
        .iter()
        .rev()
        .find(|t| t.ends_in(Op::Add))
        .or_else(|| (f.state.turns.len() == 1).then_some(last));
    let other = if span(&right).says_anything() {
        &right
    } else {
        &left
    };
    let part = Asked::read(other);
    let base = match sum {
        Some(turn) => turn.expr.clone(),
        None if connector == "plus" => last.expr.clone(),
        None => return None,
    };
    let just_asked = f
        .state
        .last()
        .filter(|t| t.is_look_up() && !f.state.turns.is_empty());
    let already = just_asked.filter(|t| {
        f.state.turns.len() >= 2
            && (!span(other).says_anything()
                || (is_bare(&part)
                    && (part.years.is_empty() || part.years.len() >= 2 || part.years == t.years)))
    });
    let added = match already {
        Some(turn) => Operand::Known(turn.expr.clone()),
        None => Operand::Open(Box::new(query(f.facts, &part, other, f.context))),
    };
    join(
        "sum",
        Op::Add,
        Operand::Known(base),
        added,
        Pairing::Free,
        UnitKind::Number,
    )
}

/// "And the average per year?"
fn average(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    if !f.asked.says(&["average", "mean"]) || !f.refers || f.asked.years.len() == 1 {
        return None;
    }
    let sum = f.state.turns.iter().rev().find(|t| t.ends_in(Op::Add));
    let expr = match sum {
        Some(turn) => {
            let n = u32::try_from(turn.expr.leaves().len()).ok()?;
            Expr::step(Op::Divide, turn.expr.clone(), Expr::constant(n))
        }
        None => {
            let before = f.state.back(1).filter(|t| t.is_look_up())?;
            let run: Vec<&Turn> = f
                .state
                .turns
                .iter()
                .rev()
                .take_while(|t| t.is_look_up())
                .collect();
            let count = if f.asked.says(&["three"]) {
                run.len().min(3)
            } else {
                2.min(run.len())
            };
            let sum = run.iter().take(count).skip(2).fold(
                Expr::step(Op::Add, before.expr.clone(), last.expr.clone()),
                |sum, t| Expr::step(Op::Add, sum, t.expr.clone()),
            );
            Expr::step(Op::Divide, sum, Expr::constant(u32::try_from(count).ok()?))
        }
    };
    Some(Plan::fixed("average", expr, 0.9, UnitKind::Number))
}

/// "What is the sum of those values?"
fn sum(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    let cue = f.asked.sum()
        || f.asked.says(&["total"])
            && f.asked.says(&[
                "those", "these", "both", "two", "all", "three", "years", "combined", "over the",
            ]);
    if !cue
        || !f.refers
        || f.asked
            .says(&["percent", "divided", "over", "represent", "ratio"])
    {
        return None;
    }
    let before = f.state.back(1)?;
    let run: Vec<&Turn> = f
        .state
        .turns
        .iter()
        .rev()
        .take_while(|t| t.is_look_up())
        .collect();
    let expr = if let Some(sum) = f
        .state
        .turns
        .iter()
        .rev()
        .find(|t| t.ends_in(Op::Add))
        .filter(|_| last.is_look_up())
    {
        Expr::step(Op::Add, sum.expr.clone(), last.expr.clone())
    } else if run.len() >= 3 && f.asked.says(&["all", "three", "four"]) {
        let mut oldest = run.iter().rev();
        let first = oldest.next()?.expr.clone();
        oldest.fold(first, |sum, t| Expr::step(Op::Add, sum, t.expr.clone()))
    } else {
        Expr::step(Op::Add, before.expr.clone(), last.expr.clone())
    };
    Some(Plan::fixed("sum", expr, 0.9, UnitKind::Number))
}

/// "What was, then, the change?", "what is that less the 2004 value?"
fn difference(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    let asked = f.asked;
    for connector in ["less", "minus", "subtracted by", "excluding", "without"] {
        if let Some((a, b)) = split(&asked.phrase, connector)
            && (span(&a).says_anything() || asked.says(&["that", "this", "it"]))
        {
            let (a, b) = pair(f, &a, &b);
            return join(
                "difference",
                Op::Subtract,
                a,
                b,
                Pairing::Parts,
                UnitKind::Number,
            );
        }
    }
    if !asked.change() || asked.share() || asked.percent() {
        return None;
    }
    let known: Vec<u16> = f
        .state
        .turns
        .iter()
        .flat_map(|t| t.years.iter().copied())
        .collect();
    let new_year = asked.years.iter().any(|y| !known.contains(y));
    if asked.says(&["number one", "and one", "and 1"]) {
        return Some(Plan::fixed(
            "difference",
            Expr::step(Op::Subtract, last.expr.clone(), Expr::constant(1)),
            0.9,
            UnitKind::Number,
        ));
    }
    let values = f.state.back(1).is_some() && !new_year;
    let both = values
        && (last.is_look_up() && f.state.back(1).is_some_and(Turn::is_look_up)
            || asked.says(&["these", "those", "two", "both", "them", "net difference"]));
    if f.refers && both {
        let (late, early) = two_values(f)?;
        return Some(Plan::fixed(
            "difference",
            Expr::step(Op::Subtract, late, early),
            0.9,
            UnitKind::Number,
        ));
    }
    if templates::starts_at_hundred(f.facts)
        && last.is_look_up()
        && asked.says(&["initial", "original", "invested", "investment"])
    {
        return Some(Plan::fixed(
            "difference",
            Expr::step(Op::Subtract, last.expr.clone(), Expr::constant(100)),
            0.9,
            UnitKind::Number,
        ));
    }
    let mut years: Vec<u16> = asked.years.clone();
    if years.len() == 1 && f.refers {
        years.extend(
            last.years
                .iter()
                .copied()
                .filter(|y| last.is_look_up() && !asked.years.contains(y)),
        );
    }
    let shifted = super::refer::shifted_period(asked, last);
    let years = shifted.unwrap_or(years);
    let asked = Asked {
        years,
        ..asked.clone()
    };
    templates::index_return(f.facts, &asked, f.context)
        .or_else(|| templates::difference(f.facts, &asked, f.context))
}

/// Two operands as a follow-up names them; if both point to the same turn, the
/// first is the one before it.
fn pair(f: &Follow<'_>, a: &str, b: &str) -> (Operand, Operand) {
    let one = resolve(f, a);
    let two = resolve(f, b);
    if let (Operand::Known(x), Operand::Known(y)) = (&one, &two)
        && x == y
        && let Some(before) = f.state.back(1)
    {
        return (Operand::Known(before.expr.clone()), two);
    }
    (one, two)
}

/// "What percentage does this represent of that total?"
fn ratio(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    let asked = f.asked;
    let over = split(&asked.phrase, "over").filter(|(_, b)| {
        !b.starts_with(" the year")
            && span(b).says_anything()
            && asked.says(&["value", "prior", "previous"])
    });
    let cue = asked.share() || asked.percent() || over.is_some();
    if !cue {
        return None;
    }
    let kind = if asked.says(&["ratio", "divided by", "times"]) {
        UnitKind::Ratio
    } else {
        UnitKind::Percent
    };
    if let Some((a, b)) = over
        .or_else(|| ratio_operands(asked))
        .or_else(|| operands(asked, &[("", &["over"])]))
    {
        let implied = b.trim() == "total";
        let (one, mut two) = pair(f, &a, &b);
        if implied {
            // No whole is named: the last ratio's, or the last value.
            two = whole(f, last, &one);
        }
        return join("ratio", Op::Divide, one, two, Pairing::Parts, kind);
    }
    if !f.refers {
        return None;
    }
    let before = f.state.back(1)?;
    let (x, y) = (before.expr.number()?, last.expr.number()?);
    let (small, large) = if x.abs() <= y.abs() {
        (before, last)
    } else {
        (last, before)
    };
    Some(Plan::fixed(
        "ratio",
        Expr::step(Op::Divide, small.expr.clone(), large.expr.clone()),
        0.8,
        kind,
    ))
}

fn whole(f: &Follow<'_>, last: &Turn, part: &Operand) -> Operand {
    if let Some((Op::Divide, _, denominator)) = last.expr.top() {
        return Operand::Known(denominator.clone());
    }
    match part {
        Operand::Known(expr) if *expr == last.expr => f.state.back(1).map_or_else(
            || Operand::Known(last.expr.clone()),
            |t| Operand::Known(t.expr.clone()),
        ),
        _ => Operand::Known(last.expr.clone()),
    }
}

/// "And in 2012?", "what about for canada?" after something other than a look-up.
fn redo(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    if last.is_look_up() || last.facts.is_empty() {
        return None;
    }
    let asked = f.asked;
    let short = asked.starts(&[
        "what about",
        "and in",
        "and for",
        "and what about",
        "how about",
        "and what was it",
        "what was it",
        "and what is it",
        "what is it",
        "and what were they",
        "what were they",
        "and the",
    ]) || asked.says(&[
        "that change",
        "this change",
        "that percent",
        "this percent",
        "that ratio",
        "that variation",
        "that average",
    ]);
    if !short || asked.says(&["value"]) {
        return None;
    }
    let named = !is_bare(asked);
    let mut slots: Vec<Query> = Vec::new();
    let base = query(f.facts, asked, &asked.phrase, f.context);
    for index in &last.facts {
        let fact = f.facts.all.get(*index)?;
        let words = if named {
            base.words.clone()
        } else {
            fact.label
                .iter()
                .map(|w| (*w, f.facts.weight(*w)))
                .collect()
        };
        let years = if asked.years.is_empty() {
            fact.years.clone()
        } else {
            asked.years.clone()
        };
        slots.push(Query {
            words,
            years,
            anchors: vec![*index],
            elliptical: !named,
            years_inherited: false,
            ..Query::default()
        });
    }
    let pattern = open(&last.expr, &last.facts);
    let kind = if last.ends_in(Op::Divide) {
        UnitKind::Percent
    } else {
        UnitKind::Number
    };
    let pairing = if named {
        Pairing::Periods
    } else {
        Pairing::Parts
    };
    Some(Plan {
        name: "same again",
        pattern,
        slots,
        pairing,
        prior: 0.7,
        kind,
    })
}

/// The expression with a slot for each fact.
fn open(expr: &Expr, facts: &[usize]) -> Pattern {
    match expr {
        Expr::Leaf(leaf) => leaf
            .fact
            .and_then(|f| facts.iter().position(|x| *x == f))
            .map_or_else(|| Pattern::Fixed(expr.clone()), Pattern::Slot),
        Expr::Step(op, a, b) => Pattern::step(*op, open(a, facts), open(b, facts)),
    }
}

/// Another value of the page.
fn look_up(f: &Follow<'_>, last: &Turn) -> Option<Plan> {
    let asked = f.asked;
    if asked.relative_change() && !f.refers && asked.years.len() >= 2 {
        return None;
    }
    let standalone =
        !f.refers && (asked.change() || asked.share() || asked.sum() || asked.percent());
    if standalone {
        return None;
    }
    let mut query = query(f.facts, asked, &asked.phrase, f.context);
    if let Some(year) = super::refer::shifted_year(asked, last) {
        query.years = vec![year];
    }
    Some(Plan::look_up(query, 0.5))
}
