//! Computes sums over the cells of a sheet, for formulas whose values the file lacks.

use std::collections::HashMap;

use super::sheet_xml::{CellRef, place_of};

/// Maximum number of cells that all sums of a sheet add up together, which limits the time for
/// large ranges. Set by hand.
const MOST_CELLS: u64 = 10_000_000;
/// Maximum length of a chain of formulas that refer to each other, which limits the recursion. Set
/// by hand.
const DEEPEST: usize = 100;

/// The sums of a sheet while they are computed.
struct Sums<'s> {
    numbers: &'s HashMap<CellRef, f64>,
    formulas: &'s HashMap<CellRef, String>,
    /// The values found so far. `None` for a formula that is not a sum, or that is being
    /// computed.
    known: HashMap<CellRef, Option<f64>>,
    left: u64,
}

/// The values of the formulas that only add numbers and cells of their own sheet:
/// `SUM(B2:B8,B10)`, `B2+B3`, `B1+1`.
pub(super) fn values(
    numbers: &HashMap<CellRef, f64>,
    formulas: &HashMap<CellRef, String>,
) -> HashMap<CellRef, f64> {
    let mut sums = Sums {
        numbers,
        formulas,
        known: HashMap::new(),
        left: MOST_CELLS,
    };
    let mut places: Vec<CellRef> = formulas.keys().copied().collect();
    // Sorted, because at a limit the order decides which sums are computed.
    places.sort_unstable();
    for place in places {
        sums.value(place, DEEPEST);
    }
    let known = sums.known.into_iter();
    known
        .filter_map(|(place, sum)| Some((place, sum?)))
        .collect()
}

impl Sums<'_> {
    /// The value of a cell: its stored number, or the sum of its formula. `None` if it has neither.
    fn value(&mut self, place: CellRef, depth: usize) -> Option<f64> {
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let Some(formula) = self.formulas.get(&place) else {
            return self.numbers.get(&place).copied();
        };
        // Marks the formula as in progress, so that one that depends on itself has no value.
        self.known.insert(place, None);
        let value = self.sum_of_terms(formula, depth.checked_sub(1)?);
        self.known.insert(place, value);
        value
    }

    /// The value of a formula that only adds; `None` for any other formula, and if it adds a blank
    /// cell or a text outside of `SUM`.
    fn sum_of_terms(&mut self, formula: &str, depth: usize) -> Option<f64> {
        let formula = formula.replace(' ', "").to_ascii_uppercase();
        let mut sum = 0.0;
        for term in formula.trim_start_matches(['=', '+']).split('+') {
            sum += match term.strip_prefix("SUM(") {
                Some(list) => self.sum_of_ranges(list.strip_suffix(')')?, depth)?,
                None => match place_of(term) {
                    Some(place) => self.value(place, depth)?,
                    None => term.parse().ok()?,
                },
            };
        }
        Some(sum)
    }

    /// The sum of ranges and cells. Blank cells and text count as 0. `None` if a range cannot be
    /// read, a formula in it has no value, or too many cells were added up.
    fn sum_of_ranges(&mut self, list: &str, depth: usize) -> Option<f64> {
        let mut sum = 0.0;
        for range in list.split(',') {
            let (first, last) = range.split_once(':').unwrap_or((range, range));
            let (first, last) = (place_of(first)?, place_of(last)?);
            let (rows, columns) = (last.0.checked_sub(first.0)?, last.1.checked_sub(first.1)?);
            let cells = u64::from(rows).saturating_add(1) * u64::from(columns).saturating_add(1);
            self.left = self.left.checked_sub(cells)?;
            for row in first.0..=last.0 {
                for place in (first.1..=last.1).map(|column| (row, column)) {
                    sum += if self.formulas.contains_key(&place) {
                        self.value(place, depth)?
                    } else {
                        self.numbers.get(&place).copied().unwrap_or(0.0)
                    };
                }
            }
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sums_within_the_sheet_are_computed() {
        let numbers = HashMap::from([((1, 1), 2.0), ((2, 1), 3.5), ((3, 1), -1.0), ((1, 2), 10.0)]);
        for (formula, value) in [
            ("SUM(B2:B4)", Some(4.5)),
            ("sum($B$2:B3, B4)", Some(4.5)),
            ("B2+B3+1", Some(6.5)),
            ("+B2+SUM(B2:C2)", Some(14.0)),
            ("A9", None),
            ("SUM(B2:B4)/3", None),
            ("B3-B2", None),
            ("SUM(Other!B2:B4)", None),
            ("SUM(B:B)", None),
            ("SUM(B2:XFD1048576)", None),
            ("AVERAGE(B2:B4)", None),
            ("E9", None),
            ("SUM(E8:E10)", None),
        ] {
            let formulas = HashMap::from([((8, 4), formula.to_owned())]);
            let found = values(&numbers, &formulas).get(&(8, 4)).copied();
            assert_eq!(found, value, "{formula}");
        }
        let chain = HashMap::from([
            ((5, 1), "B5+SUM(C2)".to_owned()),
            ((4, 1), "SUM(B2:B4)".to_owned()),
        ]);
        assert_eq!(values(&numbers, &chain).get(&(5, 1)), Some(&14.5));
    }
}
