//! Plans that combine several things or years: shares, sums, averages and comparisons.

use super::super::mention::{operands, quantities, ratio_operands};
use super::super::plan::Pairing::{Free, Parts, Periods};
use super::super::plan::{LOW, ProgramPlan, of_slots, slot};
use super::super::plan_question::PlanQuestion;
use super::super::slot_scorer::SlotQuery;
use super::super::wording::Wording;
use crate::operations;
use finqa_core::number::UnitKind::{Number, Percent, YesNo};
use finqa_core::program::Op;

/// "What percent of costs was rent?", "the ratio of sales to debt": `a / b`.
pub(crate) fn ratio(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.share() && !asked.percent() {
        return None;
    }
    let (a, b) = ratio_operands(asked)?;
    let mut slots = q.parts_of(&a, &b);
    let years = Wording::read(&a).years.len() == 1 && Wording::read(&b).years.len() == 1;
    if let Some(whole) = slots.get_mut(1)
        && whole.bare
        && !years
        && let Some(total) = q.facts.vocabulary.find("total")
    {
        // The whole is not named, so look for a total. The words of the question weigh by their
        // frequency on the page (`Facts::weight`); this weight is set by hand.
        whole.words.push((total, 1.5));
    }
    let pairing = if years { Periods } else { Parts };
    let plan = ProgramPlan::new("ratio", of_slots(Op::Divide), slots);
    Some(plan.paired(pairing, 0.75, asked.quotient_kind()))
}

/// "The sum of A and B", "the total rent in 2011 and 2012": `a + b + …` over things or years.
pub(crate) fn sum(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    let cue = asked.sum();
    let total = asked.says(&["total", "aggregate"]);
    let several = asked.years.len() >= 2;
    if asked.percent() || !(cue || total && several) {
        return None;
    }
    let slots = if several {
        q.each_year()
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
    let pairing = if several { Periods } else { Parts };
    let sum = operations::sum((0..slots.len()).map(slot))?;
    Some(ProgramPlan::new("sum", sum, slots).paired(pairing, prior, Number))
}

/// "The average rent from 2011 to 2013": the sum over the years that the question names, divided by
/// their number.
pub(crate) fn average(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.average()
        || asked.says(&["weighted average", "average price", "sum of"])
        || asked.years.len() < 2
        || asked.change()
    {
        return None;
    }
    let slots = q.each_year();
    let pattern = operations::average((0..slots.len()).map(slot).collect())?;
    Some(ProgramPlan::new("average", pattern, slots).paired(Periods, 0.85, Number))
}

/// "Did sales exceed costs?": `greater(a, b)`. If a change in one year is compared, `a` and `b` are
/// the differences from the year before. `None` if it is not likely to be a yes/no question,
/// or does not name two things.
pub(crate) fn comparison(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.yes_no() {
        return None;
    }
    let connectors = [
        "more than", "greater than", "higher than", "larger than", "exceed", "outperform",
        "surpass", "beat", "than", "or",
    ];
    let (a, b) = operands(asked, &[("", &connectors)])?;
    let slots = q.parts_of(&a, &b);
    if asked.change()
        && let &[year] = asked.years.as_slice()
    {
        let both_years = |part: SlotQuery| [part.of_year(year), part.of_year(year - 1)];
        let slots = slots.into_iter().flat_map(both_years).collect();
        let change = |i: usize| operations::difference(slot(i), slot(i + 1));
        let expr = operations::greater(change(0), change(2));
        return Some(ProgramPlan::new("comparison", expr, slots).paired(Free, 0.8, YesNo));
    }
    Some(ProgramPlan::new("comparison", of_slots(Op::Greater), slots).paired(Parts, 0.8, YesNo))
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
    Some(ProgramPlan::new("both", of_slots(Op::Add), q.parts_of(&a, &b)).paired(Parts, LOW, Number))
}

/// Shares that [`ratio`] may not recognise, with the lowest prior. They divide the text before "of
/// total" by the total of the text after it, the text after "percent of" by the total, and the
/// question as a whole by the total.
pub(crate) fn any_share(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let asked = q.asked;
    if !(asked.percent() || asked.share()) {
        return Vec::new();
    }
    let share = |part: &str, whole: &str| {
        let slots = q.parts_of(part, whole);
        ProgramPlan::new("ratio", of_slots(Op::Divide), slots).paired(Parts, LOW, Percent)
    };
    let around = asked.split("of total");
    let around = around.map(|(part, whole)| share(&part, &format!(" total{whole}")));
    let within = asked.split("percent of");
    let within = within.map(|(_, part)| share(&part, " total "));
    let whole = share(&asked.phrase, " total ");
    around.into_iter().chain(within).chain([whole]).collect()
}
