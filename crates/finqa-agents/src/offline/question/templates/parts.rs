//! Templates over several things: shares, sums, averages, products, comparisons.

use super::super::mention::{operands, ratio_operands, span};
use super::super::plan::{Pairing, ProgramPattern, ProgramPlan};
use super::super::slots::SlotQuery;
use super::super::wording::Wording;
use super::PlanQuestion;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// A share of a whole, or a ratio of two things.
pub(crate) fn ratio(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.share() && !asked.percent() {
        return None;
    }
    let kind = if asked.says(&["ratio", "divided by", "times"]) {
        UnitKind::Ratio
    } else {
        UnitKind::Percent
    };
    let (a, b) = ratio_operands(asked)?;
    let mut slots = q.parts_of(&a, &b);
    let years = Wording::read(&a).years.len() == 1 && Wording::read(&b).years.len() == 1;
    if let Some(whole) = slots.get_mut(1)
        && whole.elliptical
        && !years
        && let Some(total) = q.facts.vocabulary.find("total")
    {
        whole.words.push((total, 1.5));
    }
    Some(ProgramPlan {
        name: "ratio",
        pattern: ProgramPattern::of_slots(Op::Divide),
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
pub(crate) fn sum(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let base = q.whole();
    let cue = asked.sum();
    let total = asked.says(&["total", "aggregate"]);
    if asked.percent() || !(cue || total && asked.years.len() >= 2) {
        return None;
    }
    let slots: Vec<SlotQuery> = if asked.years.len() >= 2 {
        asked
            .years
            .iter()
            .map(|y| SlotQuery {
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
        q.parts_of(&a, &b)
    };
    let pairing = if asked.years.len() >= 2 {
        Pairing::Periods
    } else {
        Pairing::Parts
    };
    Some(ProgramPlan {
        name: "sum",
        pattern: added(slots.len())?,
        slots,
        pairing,
        prior: if cue { 0.8 } else { 0.6 },
        kind: UnitKind::Number,
    })
}

/// `add(s0, s1), add(#0, s2) …`
pub(super) fn added(n: usize) -> Option<ProgramPattern> {
    (1..n).fold((n >= 2).then_some(ProgramPattern::Slot(0)), |sum, i| {
        Some(ProgramPattern::step(Op::Add, sum?, ProgramPattern::Slot(i)))
    })
}

/// An average over years.
pub(crate) fn average(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.says(&["average", "mean", "averaged"])
        || asked.says(&["weighted average", "average price", "sum of"])
        || asked.years.len() < 2
        || asked.change()
    {
        return None;
    }
    let base = q.whole();
    let slots: Vec<SlotQuery> = asked
        .years
        .iter()
        .map(|y| SlotQuery {
            years: vec![*y],
            ..base.clone()
        })
        .collect();
    let n = u32::try_from(slots.len()).ok()?;
    Some(ProgramPlan {
        name: "average",
        pattern: ProgramPattern::step(Op::Divide, added(slots.len())?, ProgramPattern::constant(n)),
        slots,
        pairing: Pairing::Periods,
        prior: 0.85,
        kind: UnitKind::Number,
    })
}

/// A quantity times a price.
pub(crate) fn product(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let (a, b) = operands(
        q.asked,
        &[
            ("product of", &["and", "by"]),
            ("", &["times", "multiplied by"]),
        ],
    )?;
    (span(&a).names() && span(&b).names()).then(|| ProgramPlan {
        name: "product",
        pattern: ProgramPattern::of_slots(Op::Multiply),
        slots: q.parts_of(&a, &b),
        pairing: Pairing::Parts,
        prior: 0.8,
        kind: UnitKind::Number,
    })
}

/// `greater(a, b)`
pub(crate) fn comparison(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.yes_no() {
        return None;
    }
    let (a, b) = operands(
        asked,
        &[(
            "",
            &[
                "more than", "greater than", "higher than", "larger than", "exceed", "outperform",
                "surpass", "beat", "than", "or",
            ],
        )],
    )?;
    let greater = |x: ProgramPattern, y: ProgramPattern| ProgramPattern::step(Op::Greater, x, y);
    if asked.change() && asked.years.len() == 1 {
        let year = asked.years.first().copied()?;
        let two = q.parts_of(&a, &b);
        let mut slots = Vec::new();
        for query in two {
            slots.push(SlotQuery {
                years: vec![year],
                ..query.clone()
            });
            slots.push(SlotQuery {
                years: vec![year - 1],
                ..query
            });
        }
        let change = |i: usize| {
            ProgramPattern::step(
                Op::Subtract,
                ProgramPattern::Slot(i),
                ProgramPattern::Slot(i + 1),
            )
        };
        return Some(ProgramPlan {
            name: "comparison",
            pattern: greater(change(0), change(2)),
            slots,
            pairing: Pairing::Free,
            prior: 0.8,
            kind: UnitKind::YesNo,
        });
    }
    Some(ProgramPlan {
        name: "comparison",
        pattern: greater(ProgramPattern::Slot(0), ProgramPattern::Slot(1)),
        slots: q.parts_of(&a, &b),
        pairing: Pairing::Parts,
        prior: 0.8,
        kind: UnitKind::YesNo,
    })
}

/// "Did sales grow from 2011 to 2012?": the later against the earlier year.
pub(crate) fn direction(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let up = asked.says(&[
        "increase", "grow", "improve", "rise", "gain", "increased", "grown", "improved", "risen",
    ]);
    let down = asked.says(&[
        "decrease", "decline", "fall", "drop", "shrink", "decreased", "declined", "fallen",
        "dropped", "worsen",
    ]);
    if up == down || !asked.starts(&["did", "has", "have", "so did", "and did"]) {
        return None;
    }
    let (late, early) = q.periods()?;
    let (a, b) = if up { (late, early) } else { (early, late) };
    Some(ProgramPlan {
        name: "comparison",
        pattern: ProgramPattern::of_slots(Op::Greater),
        slots: vec![a, b],
        pairing: Pairing::Periods,
        prior: 0.8,
        kind: UnitKind::YesNo,
    })
}

/// "The total of A and B": two things that the question joins by `and`.
pub(crate) fn both(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let joined = asked.sum() || asked.says(&["total", "both", "altogether", "aggregate"]);
    if !joined || asked.percent() || asked.share() {
        return None;
    }
    let (a, b) = asked.split("and")?;
    if !(span(&a).names() && span(&b).names()) {
        return None;
    }
    Some(ProgramPlan {
        name: "both",
        pattern: added(2)?,
        slots: q.parts_of(&a, &b),
        pairing: Pairing::Parts,
        prior: 0.2,
        kind: UnitKind::Number,
    })
}

/// A share whatever the wording: the words before `of` over the words after it, or the
/// thing named over the total. Last-resort candidates, for when a check finds that a
/// share was requested and none was given.
pub(crate) fn any_share(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let asked = q.asked;
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
        .map(|(a, b)| ProgramPlan {
            name: "ratio",
            pattern: ProgramPattern::of_slots(Op::Divide),
            slots: q.parts_of(&a, &b),
            pairing: Pairing::Parts,
            prior: 0.2,
            kind: UnitKind::Percent,
        })
        .collect()
}
