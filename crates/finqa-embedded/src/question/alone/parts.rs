//! Plans that combine several things or years: shares, sums, averages and comparisons. The priors
//! are set by hand, as in the other files of this folder.

use super::super::mention::{operands, quantities, ratio_operands};
use super::super::plan::PlanExpr::Slot;
use super::super::plan::{LOW, PlanExpr, ProgramPlan, of_slots};
use super::super::plan_question::PlanQuestion;
use super::super::slots::SlotQuery;
use super::super::wording::Wording;
use crate::operations;
use finqa_core::number::UnitKind::{Number, Percent, Ratio, YesNo};
use finqa_core::program::Op;

/// "What percent of costs was rent?", "the ratio of sales to debt": `a / b`.
pub(crate) fn ratio(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.share() && !asked.percent() {
        return None;
    }
    let kind = if asked.says(&["ratio", "divided by", "times"]) {
        Ratio
    } else {
        Percent
    };
    let (a, b) = ratio_operands(asked)?;
    let mut slots = q.parts_of(&a, &b);
    let years = Wording::read(&a).years.len() == 1 && Wording::read(&b).years.len() == 1;
    if let Some(whole) = slots.get_mut(1)
        && whole.elliptical
        && !years
        && let Some(total) = q.facts.vocabulary.find("total")
    {
        // The whole is not named, so look for a total. The words of the question weigh by their
        // frequency on the page (`Facts::weight`); this weight is set by hand.
        whole.words.push((total, 1.5));
    }
    let plan = ProgramPlan::new("ratio", of_slots(Op::Divide), slots);
    Some(if years {
        plan.periods(0.75, kind)
    } else {
        plan.parts(0.75, kind)
    })
}

/// "The sum of A and B", "the total rent in 2011 and 2012": `a + b + …` over things or years.
pub(crate) fn sum(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let base = q.whole();
    let cue = asked.sum();
    let total = asked.says(&["total", "aggregate"]);
    if asked.percent() || !(cue || total && asked.years.len() >= 2) {
        return None;
    }
    let slots: Vec<SlotQuery> = if asked.years.len() >= 2 {
        asked.years.iter().map(|y| base.of_year(*y)).collect()
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
    let prior = if cue { 0.8 } else { 0.6 };
    let plan = ProgramPlan::new("sum", added(slots.len())?, slots);
    Some(match asked.years.len() {
        0 | 1 => plan.parts(prior, Number),
        _ => plan.periods(prior, Number),
    })
}

/// The sum of the first `n` slots: `add(s0, s1), add(#0, s2) …`. `None` for less than two.
pub(super) fn added(n: usize) -> Option<PlanExpr> {
    operations::sum((0..n).map(Slot)).filter(|_| n >= 2)
}

/// "The average rent from 2011 to 2013": the sum over the years that the question names, divided by
/// their number.
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
    let slots: Vec<SlotQuery> = asked.years.iter().map(|y| base.of_year(*y)).collect();
    let pattern = operations::average((0..slots.len()).map(Slot).collect())?;
    Some(ProgramPlan::new("average", pattern, slots).periods(0.85, Number))
}

/// "Did sales exceed costs?": `greater(a, b)`. If a change in one year is compared, `a` and `b` are
/// the differences from the year before. `None` if it is not likely to be a yes/no question,
/// or does not name two things.
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
    if asked.change() && asked.years.len() == 1 {
        let year = asked.years.first().copied()?;
        let both_years = |part: SlotQuery| [part.of_year(year), part.of_year(year - 1)];
        let slots = q.parts_of(&a, &b).into_iter().flat_map(both_years);
        let change = |i: usize| operations::difference(Slot(i), Slot(i + 1));
        return Some(
            ProgramPlan::new(
                "comparison",
                operations::greater(change(0), change(2)),
                slots.collect(),
            )
            .free(0.8, YesNo),
        );
    }
    Some(
        ProgramPlan::new(
            "comparison",
            operations::greater(Slot(0), Slot(1)),
            q.parts_of(&a, &b),
        )
        .parts(0.8, YesNo),
    )
}

/// "The total of A and B": the sum of the two things around the first "and". Unlike [`sum`], no
/// leading phrase is needed.
pub(crate) fn both(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let joined = asked.sum() || asked.says(&["total", "both", "altogether", "aggregate"]);
    if !joined || asked.percent() || asked.share() {
        return None;
    }
    let (a, b) = quantities(asked, &[("", &["and"])])?;
    Some(ProgramPlan::new("both", added(2)?, q.parts_of(&a, &b)).parts(LOW, Number))
}

/// Shares that [`ratio`] may not recognise, with the lowest prior. They divide the text before "of
/// total" by the total of the text after it, the text after "percent of" by the total, and the
/// question as a whole by the total.
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
        .map(|(a, b)| {
            ProgramPlan::new("ratio", of_slots(Op::Divide), q.parts_of(&a, &b)).parts(LOW, Percent)
        })
        .collect()
}
