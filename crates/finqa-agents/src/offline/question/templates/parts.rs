//! Templates over several things: shares, sums, averages, products, comparisons.

use super::super::asked::Asked;
use super::super::mention::{operands, ratio_operands, span};
use super::super::plan::{Pairing, Pattern, Plan};
use super::super::slots::Query;
use super::{Context, parts_of, query};
use crate::offline::expr::Op;
use crate::offline::reading::facts::Facts;
use finqa_core::number::UnitKind;

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
    let (a, b) = ratio_operands(asked)?;
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
    if asked.percent() || !(cue || total && asked.years.len() >= 2) {
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
pub(super) fn added(n: usize) -> Option<Pattern> {
    (1..n).fold((n >= 2).then_some(Pattern::Slot(0)), |sum, i| {
        Some(Pattern::step(Op::Add, sum?, Pattern::Slot(i)))
    })
}

/// An average over years.
pub(crate) fn average(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    if !asked.says(&["average", "mean", "averaged"])
        || asked.says(&["weighted average", "average price", "sum of"])
        || asked.years.len() < 2
        || asked.change()
    {
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
                "outperform",
                "surpass",
                "beat",
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

/// "Did sales grow from 2011 to 2012?": the later against the earlier year.
pub(crate) fn direction(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    let up = asked.says(&[
        "increase",
        "grow",
        "improve",
        "rise",
        "gain",
        "increased",
        "grown",
        "improved",
        "risen",
    ]);
    let down = asked.says(&[
        "decrease",
        "decline",
        "fall",
        "drop",
        "shrink",
        "decreased",
        "declined",
        "fallen",
        "dropped",
        "worsen",
    ]);
    if up == down || !asked.starts(&["did", "has", "have", "so did", "and did"]) {
        return None;
    }
    let (late, early) = super::periods(facts, asked, context)?;
    let (a, b) = if up { (late, early) } else { (early, late) };
    Some(Plan {
        name: "comparison",
        pattern: Pattern::step(Op::Greater, Pattern::Slot(0), Pattern::Slot(1)),
        slots: vec![a, b],
        pairing: Pairing::Periods,
        prior: 0.8,
        kind: UnitKind::YesNo,
    })
}

/// "The total of A and B": two things that the question joins by `and`.
pub(crate) fn both(facts: &Facts, asked: &Asked, context: &Context) -> Option<Plan> {
    let joined = asked.sum() || asked.says(&["total", "both", "altogether", "aggregate"]);
    if !joined || asked.percent() || asked.share() {
        return None;
    }
    let (a, b) = asked.split("and")?;
    if !(span(&a).names() && span(&b).names()) {
        return None;
    }
    Some(Plan {
        name: "both",
        pattern: added(2)?,
        slots: parts_of(facts, asked, &a, &b, context),
        pairing: Pairing::Parts,
        prior: 0.2,
        kind: UnitKind::Number,
    })
}

/// A share whatever the wording: what stands before `of` over what stands after
/// it, or the thing named over the total. Drafts of last resort, for when a
/// check finds that a share was asked for and none was given.
pub(crate) fn any_share(facts: &Facts, asked: &Asked, context: &Context) -> Vec<Plan> {
    if !(asked.percent() || asked.share()) {
        return Vec::new();
    }
    let total = || String::from(" total ");
    let around = asked
        .split("of total")
        .map(|(a, b)| (a, format!(" total{b}")));
    let within = asked.split("percent of").map(|(_, b)| (b, total()));
    let whole = Some((asked.phrase.clone(), total()));
    [around, within, whole]
        .into_iter()
        .flatten()
        .map(|(a, b)| Plan {
            name: "ratio",
            pattern: Pattern::step(Op::Divide, Pattern::Slot(0), Pattern::Slot(1)),
            slots: parts_of(facts, asked, &a, &b, context),
            pairing: Pairing::Parts,
            prior: 0.2,
            kind: UnitKind::Percent,
        })
        .collect()
}
