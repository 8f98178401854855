//! Answers which part of a whole is first by its level, its change, its growth or its margin.

use finqa_core::number::UnitKind;
use finqa_core::page::period::Period;
use finqa_core::page::without_footnote;

use super::direct_answer::DirectAnswer;
use super::operation::{answer, unit};
use crate::operations;
use crate::tables::find::groups::Group;
use crate::tables::find::{Amount, FigureExpr, keep};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, missing, missing_if, open_if};
use crate::tables::question::operand::Operand;
use crate::tables::question::rank_question::{Measure, Order, Ranking};
use crate::tables::question::request::Which;
use crate::tables::words::{SaidWord, lists, plain_stems};

/// First words of the names of remainders, such as "Other" or "Corporate". They are not ranked.
const REST: &str = "other others rest all corporate eliminations elimination unallocated hedging remaining adjustments";

/// A part with its name, the value by which it is ranked, and the calculation of that value.
struct Ranked {
    name: String,
    key: f64,
    expr: FigureExpr,
}

impl Tables {
    /// The part of a whole that a question asks for. `left_out` has the stems of parts that the
    /// question leaves out.
    pub(crate) fn ranked(
        &self,
        of: &Operand,
        ranking: &Ranking,
        left_out: &[String],
    ) -> TableResult<DirectAnswer> {
        let undated = of.of_spans(Vec::new());
        let undated = match undated.quotient() {
            Some((part, whole)) => vec![part, whole],
            None => vec![undated],
        };
        let divided = undated.len() > 1;
        let mut spans = of.spans.clone();
        spans.sort_by_key(|span| span.end);
        let (asked, late) = match (spans.as_slice(), ranking.by) {
            ([], _) => (None, None),
            ([only], _) => (None, Some(*only)),
            ([early, late], Measure::Change | Measure::Growth | Measure::Moves) => {
                (Some(*early), Some(*late))
            }
            _ => return missing("the question names several periods"),
        };
        // A noun names the parts of the last operand: for a margin, those of the revenue.
        let base = undated.last().ok_or(Doubt::Open)?;
        let groups = self.named_groups(self.groups_of(base, late), &ranking.noun);
        let unknown = ranking.noun.iter().find(|word| !self.is_titled(&word.stem));
        if let Some(word) = unknown.filter(|_| groups.is_empty()) {
            let noun = &word.text;
            return missing(format!("the page does not say which rows are of {noun:?}"));
        }
        let ways: &[Measure] = match &ranking.by {
            // A margin changes in points only.
            Measure::Moves if divided => &[Measure::Change],
            Measure::Moves => &[Measure::Change, Measure::Growth],
            by => std::slice::from_ref(by),
        };
        let mut found: Vec<Vec<Ranked>> = Vec::new();
        for group in &groups {
            let period = group.first().and_then(|one| one.period);
            let before = asked.or(period.map(Period::year_before));
            let early = match ranking.by {
                Measure::Level => None,
                _ => Some(before.ok_or(Doubt::Open)?),
            };
            let choices = self.choices(&undated, group, period, early);
            let choices = choices.as_deref().unwrap_or_default();
            for way in ways {
                for groups in choices {
                    found.push(self.by_measure(*way, groups, divided, left_out)?);
                }
            }
        }
        let kind = if divided || ranking.by == Measure::Growth {
            UnitKind::Percent
        } else {
            UnitKind::Number
        };
        first_of(found, ranking, kind)
    }

    /// The groups from whose columns a value is computed: the numerator of a margin, the group
    /// itself, and the same in the earlier period. Several choices if other groups fit equally
    /// well. `None` if a column has no figures of these parts.
    fn choices(
        &self,
        undated: &[Operand],
        group: &Group,
        period: Option<Period>,
        early: Option<Period>,
    ) -> Option<Vec<Vec<Group>>> {
        let mut columns = Vec::new();
        if let [part, _] = undated {
            columns.push(self.aligned(part, period, group)?);
        }
        columns.push(vec![group.clone()]);
        for of in undated.iter().filter(|_| early.is_some()) {
            columns.push(self.aligned(of, early, group)?);
        }
        let count = columns.iter().map(Vec::len).max().unwrap_or_default();
        let choice = |at: usize| -> Vec<Group> {
            // A column with fewer groups than the others repeats its last one.
            let of = |column: &Vec<Group>| column.get(at).or(column.last()).cloned();
            columns.iter().filter_map(of).collect()
        };
        Some((0..count).map(choice).collect())
    }

    /// The larger or smaller of two figures, answered by the name of its row, or of its column if
    /// both are in one row.
    pub(crate) fn larger(&self, [a, b]: &[Amount; 2], largest: bool) -> TableResult<DirectAnswer> {
        let more = a.number() - b.number();
        missing_if(more.abs() <= 0.0, "both are equal")?;
        let one = if (more > 0.0) == largest { a } else { b };
        let [row, other] = [a, b].map(|one| one.place().map(|at| at.row));
        let label = |place: Place| {
            Some(if row == other {
                self.column(place)?.printed.clone()
            } else {
                self.row(place)?.printed.clone()
            })
        };
        Ok(DirectAnswer {
            label: one.place().and_then(label),
            ..answer("look-up", one.expr.clone(), unit(one.kind))
        })
    }

    /// The highest or lowest figure of a series, answered by its name if `which` asks for one.
    pub(crate) fn extreme(
        &self,
        of: &Operand,
        largest: bool,
        which: Option<&Which>,
    ) -> TableResult<DirectAnswer> {
        if !matches!(which, Some(Which::Period(_))) {
            self.check_totals(of)?;
        }
        // "The lowest region" names the column of the labels. All figures are of regions.
        let of_corner = |word: &SaidWord| {
            let mut tables = self.tables.iter();
            tables.any(|table| table.is_in_corner(&word.stem)) && !self.says(&word.stem)
        };
        let unnamed = which.is_none() && of.words.first().is_some_and(of_corner);
        missing_if(unnamed, "the question may ask for a name")?;
        let series = self.as_losses(std::slice::from_ref(of), self.series(of, which)?)?;
        self.in_one_unit(&series)?;
        let numbers: Vec<f64> = series.iter().map(Amount::number).collect();
        let places = operations::extremes(&numbers, largest);
        let found: Vec<&Amount> = places.iter().filter_map(|at| series.get(*at)).collect();
        let amount = found.first().ok_or(Doubt::Open)?;
        open_if(series.len() < 2 || series.iter().any(|one| one.kind != amount.kind))?;
        if which.is_some() && found.len() > 1 {
            let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
            return missing(format!("{} are equal", names.join(" and ")));
        }
        let extreme = answer("extreme", amount.expr.clone(), unit(amount.kind));
        Ok(DirectAnswer {
            label: which.map(|_| amount.name.clone()),
            doubt: amount.doubt.clone().or_else(|| self.scale_doubt(amount)),
            ..extreme
        })
    }

    /// The groups of a figure whose parts have the names of another group's parts; if some are in
    /// the same table, only these. `None` if there are no such groups.
    fn aligned(&self, of: &Operand, asked: Option<Period>, group: &Group) -> Option<Vec<Group>> {
        let mut groups = self.groups_of(of, asked);
        groups.retain(|other| {
            let mut ranked = group.parts.iter().filter(|(name, _)| !is_rest(name));
            ranked.all(|(name, _)| other.named(name).is_some())
        });
        keep(&mut groups, |other| other.table() == group.table());
        (!groups.is_empty()).then_some(groups)
    }

    /// The parts with their values by the measure, not yet sorted.
    fn by_measure(
        &self,
        by: Measure,
        groups: &[Group],
        divided: bool,
        left_out: &[String],
    ) -> TableResult<Vec<Ranked>> {
        // The first column of a margin is its numerator.
        let base = groups.get(usize::from(divided)).ok_or(Doubt::Open)?;
        let mut ranked = Vec::new();
        for (name, _) in &base.parts {
            let stems = plain_stems(name);
            let is_left_out = !stems.is_empty() && stems.iter().all(|stem| left_out.contains(stem));
            if is_rest(name) || is_left_out {
                continue;
            }
            let figures = groups.iter().map(|group| self.amount(group.named(name)?));
            let figures: Option<Vec<Amount>> = figures.collect();
            let figures = figures.ok_or(Doubt::Open)?;
            self.in_one_unit(&figures)?;
            // The level of a margin is a quotient of two figures.
            let levels = figures.chunks(1 + usize::from(divided));
            let mut levels = levels.filter_map(|of| {
                let exprs = of.iter().map(|one| one.expr.clone());
                exprs.reduce(operations::ratio)
            });
            let late = levels.next().ok_or(Doubt::Open)?;
            let grows = |early: &FigureExpr| early.number().is_some_and(|early| early > 0.0);
            let expr = match (by, levels.next()) {
                (Measure::Level, _) => late,
                (Measure::Growth, Some(early)) if grows(&early) => {
                    operations::relative_change(late, early)
                }
                (Measure::Growth, _) => return missing("growth needs a value above zero"),
                (_, Some(early)) => operations::difference(late, early),
                (_, None) => return Err(Doubt::Open),
            };
            let key = expr.number().ok_or(Doubt::Open)?;
            ranked.push(Ranked {
                name: name.clone(),
                key,
                expr,
            });
        }
        Ok(ranked)
    }
}

/// The part asked for, if it is the same in every list; otherwise a doubt that names all.
fn first_of(
    found: Vec<Vec<Ranked>>,
    ranking: &Ranking,
    kind: UnitKind,
) -> TableResult<DirectAnswer> {
    let mut names: Vec<String> = Vec::new();
    let mut best = None;
    for mut ranked in found {
        ranked.sort_by(|a, b| b.key.total_cmp(&a.key));
        let chosen = chosen(&ranked, ranking)?;
        let name = without_footnote(&chosen.name);
        let stems = plain_stems(name);
        if !names.iter().any(|name| plain_stems(name) == stems) {
            names.push(name.to_owned());
        }
        best = best.or_else(|| Some(chosen.expr.clone()));
    }
    let by_what = "the question does not say by what; this is by revenue";
    match (names.as_slice(), best) {
        ([name], Some(expr)) => Ok(DirectAnswer {
            label: Some(name.clone()),
            doubt: ranking.assumed.then(|| Doubt::missing(by_what)),
            ..answer("extreme", expr, kind)
        }),
        ([_, _, ..], _) => missing(format!("it may be {}", names.join(" or "))),
        _ => Err(Doubt::Open),
    }
}

/// The part asked for, from a list that begins with the largest value.
fn chosen<'r>(ranked: &'r [Ranked], ranking: &Ranking) -> TableResult<&'r Ranked> {
    let moves = ranking.by != Measure::Level;
    let names_of = |is: &dyn Fn(f64) -> bool| -> Vec<&str> {
        let found = ranked.iter().filter(|one| is(one.key));
        found.map(|one| one.name.as_str()).collect()
    };
    let (rose, fell) = (names_of(&|key| key > 0.0), names_of(&|key| key < 0.0));
    let all = |of: &[&str]| missing(format!("it is true of {}", of.join(" and ")));
    // A fall never answers a question for a rise, nor a rise one for a fall.
    let at = match ranking.order {
        Order::Largest(place) if !moves || place <= rose.len() => place.checked_sub(1),
        Order::Smallest(place) if !moves || fell.is_empty() => ranked.len().checked_sub(place),
        Order::LargestFall if !fell.is_empty() => ranked.len().checked_sub(1),
        Order::Rose if rose.len() == 1 => Some(0),
        Order::Fell if fell.len() == 1 => ranked.len().checked_sub(1),
        Order::Rose if rose.len() > 1 => return all(&rose),
        Order::Fell if fell.len() > 1 => return all(&fell),
        _ => return missing("it is true of no part"),
    };
    let chosen = at.and_then(|at| ranked.get(at)).ok_or(Doubt::Open)?;
    // Equal: `==` on floats would need an exception from clippy.
    let equal = names_of(&|key| (key - chosen.key).abs() <= 0.0);
    if equal.len() > 1 {
        return missing(format!("{} are equal", equal.join(" and ")));
    }
    // A single part is neither the largest nor the smallest.
    open_if(ranked.len() < 2)?;
    Ok(chosen)
}

/// True for a part such as "Other", which is what is left over.
fn is_rest(name: &str) -> bool {
    let first = name.split_whitespace().next().unwrap_or_default();
    lists(REST, &first.to_lowercase())
}
