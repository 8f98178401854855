//! Adds up amounts, and checks that they can be added or compared.

use std::collections::HashSet;

use finqa_core::number::within;
use finqa_core::page::counts_things;

use super::{Amount, AmountKind};
use crate::operations;
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, missing, missing_if, open_if};
use crate::tables::words::Stems;

/// Words of rows that must not be added up: the sum of two rates means nothing.
static RATES: Stems =
    Stems::new("rate ratio margin per average price yield score percent index age rank");

/// Largest relative difference at which a figure counts as the sum of others. Set by hand, to allow
/// for the rounding of `f64` only.
const EXACT: f64 = 1e-6;

impl Tables {
    /// Checks that all amounts have one scale, and one entry in a column "Unit" or "Currency", if
    /// the table has one. Numbers of things are left out, because a caption's scale does not apply
    /// to them.
    pub(crate) fn in_one_unit(&self, amounts: &[Amount]) -> TableResult<()> {
        let counts = |at: Place| self.labels_of(at).any(|label| counts_things(&label.name));
        let plain = amounts.iter().filter(|one| one.kind == AmountKind::Number);
        let plain = plain.filter(|one| !one.place().is_some_and(counts));
        let scales = plain.clone().map(|one| one.scale);
        let rows = plain.filter_map(|one| self.row(one.place()?));
        let units = rows.map(|row| &row.unit).filter(|unit| !unit.is_empty());
        let (scales, units): (HashSet<_>, HashSet<_>) = (scales.collect(), units.collect());
        let differ = scales.len() > 1 || units.len() > 1;
        missing_if(differ, "the figures may be in different units")
    }

    /// The sum of amounts, with the cell of the first, and with its doubt or that about a sum over
    /// time. An error if they are rates, differ in unit, or include their total.
    pub(crate) fn sum(&self, parts: &[Amount]) -> TableResult<Amount> {
        let first = parts.first().ok_or(Doubt::Open)?;
        self.in_one_unit(parts)?;
        let places = parts.iter().filter_map(Amount::place);
        let mut labels = places.flat_map(|place| self.labels_of(place));
        if let Some(label) = labels.find(|label| label.is_one_of(&RATES)) {
            return missing(format!("{} does not add up", label.name));
        }
        open_if(parts.iter().any(|part| part.kind != AmountKind::Number))?;
        let odd = parts.iter().any(|part| part.turned != first.turned);
        let why = "some of the figures are costs that the page prints below zero";
        missing_if(odd, why)?;
        if let Some(total) = total_of_others(parts).and_then(|one| one.place()) {
            return Err(self.doubt_about(total, "is a total of the others"));
        }
        let sum = operations::sum(parts.iter().map(|part| part.expr.clone()));
        let first = first.clone().or_doubt(self.no_sum_over_time(parts));
        Ok(Amount {
            expr: sum.ok_or(Doubt::Open)?,
            ..first
        })
    }
}

/// The first amount that is the sum of at least two amounts directly before or behind it; `None`
/// without one.
fn total_of_others(parts: &[Amount]) -> Option<&Amount> {
    let numbers: Vec<f64> = parts.iter().map(Amount::number).collect();
    let is_total = |at: usize| {
        let (before, rest) = numbers.split_at_checked(at).unwrap_or_default();
        let Some((total, behind)) = rest.split_first() else {
            return false;
        };
        let adds_up = |others: &mut dyn Iterator<Item = &f64>| {
            let sums = others.scan(0.0_f64, |sum, other| {
                *sum += other;
                Some(*sum)
            });
            // A single figure before a total is not a sum, because it may be equal by chance.
            sums.skip(1).any(|sum| within(sum, *total, EXACT))
        };
        total.abs() > 0.0 && (adds_up(&mut before.iter().rev()) || adds_up(&mut behind.iter()))
    };
    let mut all = 0..parts.len();
    parts.get(all.find(|at| is_total(*at))?)
}
