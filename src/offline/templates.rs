//! Operation templates for a question that stands by itself, by its cues.
//!
//! Each returns a plan or nothing; `plans` keeps their order. References to
//! earlier turns are `follow`'s.

use super::asked::Asked;
use super::expr::Op;
use super::facts::Facts;
use super::mention::{operands, span};
use super::plan::{Pairing, Pattern, Plan};
use super::slots::Query;
use crate::number::UnitKind;

/// What slots take over from an earlier turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// Words of the earlier turn.
    pub words: Vec<(u32, f64)>,
    /// Its years.
    pub years: Vec<u16>,
    /// Facts used so far.
    pub anchors: Vec<usize>,
}

/// A query from a stretch of the question, with what it leaves out.
pub(crate) fn query(facts: &Facts, asked: &Asked, text: &str, context: &Context) -> Query {
    let part = Asked::read(text);
    let mut query = Query {
        inherited: context.words.clone(),
        anchors: context.anchors.clone(),
        elliptical: super::state::is_bare(&part),
        percent: asked.percent(),
        count: asked.says(&["how many", "number of", "shares"])
            && !asked.says(&["price", "value", "amount"]),
        again: asked.says(&[
            "again",
            "that",
            "this",
            "those",
            "these",
            "specific",
            "specifically",
        ]),
        opening: part.says(&["initial", "beginning", "start", "original", "first"]),
        ..Query::default()
    };
    query.ask(facts, &part.tokens);
    query.years = if part.years.is_empty() {
        asked.years.clone()
    } else {
        part.years
    };
    if query.years.is_empty() {
        query.years.clone_from(&context.years);
        query.years_inherited = true;
    }
    query
}

/// The plans for a question taken by itself, best first.
pub(crate) fn plans(facts: &Facts, asked: &Asked, context: &Context) -> Vec<Plan> {
    let mut out = Vec::new();
    out.extend(comparison(facts, asked, context));
    out.extend(index_return(facts, asked, context));
    out.extend(relative_change(facts, asked, context));
    out.extend(average(facts, asked, context));
    out.extend(ratio(facts, asked, context));
    out.extend(product(facts, asked, context));
    out.extend(difference(facts, asked, context));
    out.extend(sum(facts, asked, context));
    out.push(Plan::look_up(
        query(facts, asked, &asked.phrase, context),
        0.4,
    ));
    out
}

/// Two periods: the years asked for, later first; or a year and the one before.
pub(crate) fn two_periods(facts: &Facts, asked: &Asked, context: &Context) -> Option<(u16, u16)> {
    let years = if asked.years.is_empty() {
        &context.years
    } else {
        &asked.years
    };
    match (years.iter().max(), years.iter().min()) {
        (Some(late), Some(early)) if late != early => Some((*late, *early)),
        (Some(year), _) => Some((*year, year - 1)),
        _ => {
            let mut known: Vec<u16> = facts
                .columns
                .iter()
                .flat_map(|c| c.years.iter().copied())
                .chain(facts.rows.iter().flat_map(|r| r.years.iter().copied()))
                .collect();
            known.sort_unstable();
            known.dedup();
            let late = known.pop()?;
            Some((late, known.pop()?))
        }
    }
}

/// Two slots for one thing at two times.
pub(crate) fn periods(facts: &Facts, asked: &Asked, context: &Context) -> Option<(Query, Query)> {
    let (late, early) = two_periods(facts, asked, context)?;
    let base = query(facts, asked, &asked.phrase, context);
    let at = |year: u16| Query {
        years: vec![year],
        percent: false,
        ..base.clone()
    };
    Some((at(late), at(early)))
}

fn change_pattern() -> Pattern {
    let difference = Pattern::step(Op::Subtract, Pattern::Slot(0), Pattern::Slot(1));
    Pattern::step(Op::Divide, difference, Pattern::Slot(1))
}

/// `(later - earlier) / earlier`
pub(crate) fn relative_change(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    if !asked.relative_change() {
        return None;
    }
    let (a, b) = periods(facts, asked, context)?;
    let sure = asked.years.len() >= 2 || asked.says(&["growth rate"]);
    Some(Plan {
        name: "relative change",
        pattern: change_pattern(),
        slots: vec![a, b],
        pairing: Pairing::Periods,
        prior: if sure { 0.95 } else { 0.8 },
        kind: UnitKind::Percent,
    })
}

/// `later - earlier`, or the difference of two things.
pub(crate) fn difference(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    if !asked.change()
        && !asked.says(&[
            "less",
            "minus",
            "how much more",
            "how much higher",
            "how much greater",
            "exceed",
            "outperform",
            "higher",
            "excluding",
            "without",
        ])
    {
        return None;
    }
    let parts = operands(
        asked,
        &[
            ("difference between", &["and"]),
            ("difference of", &["and"]),
            (
                "",
                &[
                    "less",
                    "minus",
                    "excluding",
                    "without",
                    "compared to",
                    "compared with",
                    "versus",
                    "than",
                ],
            ),
        ],
    );
    let things =
        parts.filter(|(a, b)| asked.years.len() < 2 && (span(a).names() && span(b).names()));
    if let Some((a, b)) = things {
        return Some(Plan {
            name: "difference",
            pattern: Pattern::step(Op::Subtract, Pattern::Slot(0), Pattern::Slot(1)),
            slots: parts_of(facts, asked, &a, &b, context),
            pairing: Pairing::Parts,
            prior: 0.7,
            kind: UnitKind::Number,
        });
    }
    let (a, b) = periods(facts, asked, context)?;
    Some(Plan {
        name: "difference",
        pattern: Pattern::step(Op::Subtract, Pattern::Slot(0), Pattern::Slot(1)),
        slots: vec![a, b],
        pairing: Pairing::Periods,
        prior: if asked.years.len() >= 2 { 0.9 } else { 0.5 },
        kind: UnitKind::Number,
    })
}

/// Two slots for two things, each lent the other's words at a low weight.
fn parts_of(facts: &Facts, asked: &Asked, a: &str, b: &str, context: &Context) -> Vec<Query> {
    let mut one = query(facts, asked, a, context);
    let mut two = query(facts, asked, b, context);
    let (of_one, of_two) = (one.words.clone(), two.words.clone());
    if one.elliptical {
        one.inherited.clone_from(&of_two);
    }
    if two.elliptical {
        two.inherited.clone_from(&of_one);
    }
    for query in [&mut one, &mut two] {
        query.percent = false;
    }
    vec![one, two]
}

/// A share of a whole, or a ratio of two things.
pub(crate) fn ratio(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    if !asked.share() && !asked.percent() {
        return None;
    }
    let kind = if asked.says(&["ratio", "divided by", "times"]) {
        UnitKind::Ratio
    } else {
        UnitKind::Percent
    };
    let (a, b) = super::mention::ratio_operands(asked)?;
    let mut slots = parts_of(facts, asked, &a, &b, context);
    let years = Asked::read(&a).years.len() == 1 && Asked::read(&b).years.len() == 1;
    if let Some(whole) = slots.get_mut(1)
        && whole.elliptical
        && !years
        && let Some(total) = facts.vocabulary.find("total")
    {
        whole.words.push((total, 1.5));
    }
    Some(Plan {
        name: "ratio",
        pattern: Pattern::step(Op::Divide, Pattern::Slot(0), Pattern::Slot(1)),
        slots,
        pairing: if years {
            Pairing::Periods
        } else {
            Pairing::Parts
        },
        prior: 0.75,
        kind,
    })
}

/// A sum over years or over things.
pub(crate) fn sum(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    let base = query(facts, asked, &asked.phrase, context);
    let cue = asked.sum();
    let total = asked.says(&["total", "aggregate"]);
    if !(cue || total && asked.years.len() >= 2) {
        return None;
    }
    let slots: Vec<Query> = if asked.years.len() >= 2 {
        asked
            .years
            .iter()
            .map(|y| Query {
                years: vec![*y],
                ..base.clone()
            })
            .collect()
    } else {
        let (a, b) = operands(
            asked,
            &[
                ("sum of", &["and", "plus", "with"]),
                ("total of", &["and", "plus"]),
                ("combined", &["and"]),
                ("", &["plus", "and"]),
            ],
        )?;
        parts_of(facts, asked, &a, &b, context)
    };
    let pairing = if asked.years.len() >= 2 {
        Pairing::Periods
    } else {
        Pairing::Parts
    };
    Some(Plan {
        name: "sum",
        pattern: added(slots.len())?,
        slots,
        pairing,
        prior: if cue { 0.8 } else { 0.6 },
        kind: UnitKind::Number,
    })
}

/// `add(s0, s1), add(#0, s2) …`
fn added(n: usize) -> Option<Pattern> {
    (1..n).fold((n >= 2).then_some(Pattern::Slot(0)), |sum, i| {
        Some(Pattern::step(Op::Add, sum?, Pattern::Slot(i)))
    })
}

/// An average over years.
pub(crate) fn average(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    if !asked.says(&["average", "mean", "averaged"]) || asked.years.len() < 2 || asked.change() {
        return None;
    }
    let base = query(facts, asked, &asked.phrase, context);
    let slots: Vec<Query> = asked
        .years
        .iter()
        .map(|y| Query {
            years: vec![*y],
            ..base.clone()
        })
        .collect();
    let n = u32::try_from(slots.len()).ok()?;
    Some(Plan {
        name: "average",
        pattern: Pattern::step(Op::Divide, added(slots.len())?, Pattern::constant(n)),
        slots,
        pairing: Pairing::Periods,
        prior: 0.85,
        kind: UnitKind::Number,
    })
}

/// A quantity times a price.
pub(crate) fn product(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    let (a, b) = operands(
        asked,
        &[
            ("product of", &["and", "by"]),
            ("", &["times", "multiplied by"]),
        ],
    )?;
    (span(&a).names() && span(&b).names()).then(|| Plan {
        name: "product",
        pattern: Pattern::step(Op::Multiply, Pattern::Slot(0), Pattern::Slot(1)),
        slots: parts_of(facts, asked, &a, &b, context),
        pairing: Pairing::Parts,
        prior: 0.8,
        kind: UnitKind::Number,
    })
}

/// Returns of an index or stock that starts at 100.
pub(crate) fn index_return(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    if !starts_at_hundred(facts)
        || !(asked.change()
            || asked.relative_change()
            || asked.says(&[
                "return",
                "returns",
                "outperform",
                "out preform",
                "roi",
                "performance",
                "less",
            ]))
    {
        return None;
    }
    let two = asked
        .years
        .iter()
        .max()
        .zip(asked.years.iter().min())
        .filter(|(a, b)| a != b);
    let starts: Vec<u16> = base_years(facts);
    if let Some((_, early)) = two
        && !starts.is_empty()
        && !starts.contains(early)
    {
        return None;
    }
    let relative = asked.relative_change()
        || asked.says(&[
            "return",
            "returns",
            "percent",
            "outperform",
            "out preform",
            "roi",
            "rate",
        ]);
    let last = asked.years.iter().max().copied().or_else(|| {
        facts
            .columns
            .iter()
            .flat_map(|c| c.years.iter().copied())
            .max()
    });
    let base = Query {
        years: last.into_iter().collect(),
        percent: false,
        ..query(facts, asked, &asked.phrase, context)
    };
    let gain = |slot: usize| {
        let difference = Pattern::step(Op::Subtract, Pattern::Slot(slot), Pattern::constant(100));
        if relative {
            Pattern::step(Op::Divide, difference, Pattern::constant(100))
        } else {
            difference
        }
    };
    let kind = if relative {
        UnitKind::Percent
    } else {
        UnitKind::Number
    };
    let pair = operands(
        asked,
        &[(
            "",
            &[
                "compared to",
                "versus",
                "and",
                "than",
                "outperform",
                "out preform",
            ],
        )],
    );
    if let Some((a, b)) = pair
        && asked.says(&[
            "difference",
            "compared to",
            "versus",
            "outperform",
            "out preform",
            "higher",
        ])
        && span(&a).names()
        && span(&b).names()
    {
        let mut slots = parts_of(facts, asked, &a, &b, context);
        for slot in &mut slots {
            slot.years.clone_from(&base.years);
        }
        return Some(Plan {
            name: "difference of returns",
            pattern: Pattern::step(Op::Subtract, gain(0), gain(1)),
            slots,
            pairing: Pairing::Parts,
            prior: 0.9,
            kind,
        });
    }
    Some(Plan {
        name: "return",
        pattern: gain(0),
        slots: vec![base],
        pairing: Pairing::Free,
        prior: 0.9,
        kind,
    })
}

/// The columns in which an index table stands at 100.
fn base_years(facts: &Facts) -> Vec<u16> {
    facts
        .all
        .iter()
        .filter(|f| is_hundred(f.number))
        .filter(|f| f.cell().is_some())
        .flat_map(|f| f.years.iter().copied())
        .collect()
}

fn is_hundred(x: f64) -> bool {
    (x - 100.0).abs() < 1e-9
}

/// Whether every row of the table begins (or ends) at 100.
pub(crate) fn starts_at_hundred(facts: &Facts) -> bool {
    let hundreds = facts
        .all
        .iter()
        .filter(|f| f.cell().is_some() && is_hundred(f.number) && !f.percent)
        .count();
    let rows = facts.rows.len().saturating_sub(1);
    let columns = facts.columns.len().saturating_sub(1);
    hundreds >= 2 && (hundreds + 1 >= rows || hundreds + 1 >= columns)
}

/// `greater(a, b)`
pub(crate) fn comparison(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    if !asked.yes_no() {
        return None;
    }
    let (a, b) = operands(
        asked,
        &[(
            "",
            &[
                "more than",
                "greater than",
                "higher than",
                "larger than",
                "exceed",
                "than",
                "or",
            ],
        )],
    )?;
    let greater = |x: Pattern, y: Pattern| Pattern::step(Op::Greater, x, y);
    if asked.change() && asked.years.len() == 1 {
        let year = asked.years.first().copied()?;
        let two = parts_of(facts, asked, &a, &b, context);
        let mut slots = Vec::new();
        for query in two {
            slots.push(Query {
                years: vec![year],
                ..query.clone()
            });
            slots.push(Query {
                years: vec![year - 1],
                ..query
            });
        }
        let change = |i: usize| Pattern::step(Op::Subtract, Pattern::Slot(i), Pattern::Slot(i + 1));
        return Some(Plan {
            name: "comparison",
            pattern: greater(change(0), change(2)),
            slots,
            pairing: Pairing::Free,
            prior: 0.8,
            kind: UnitKind::YesNo,
        });
    }
    Some(Plan {
        name: "comparison",
        pattern: greater(Pattern::Slot(0), Pattern::Slot(1)),
        slots: parts_of(facts, asked, &a, &b, context),
        pairing: Pairing::Parts,
        prior: 0.8,
        kind: UnitKind::YesNo,
    })
}
