//! Reads which side of an account an amount is on: `45 Dr`, `18 Cr`.

use super::cell::{Cell, TableOrigin};
use crate::number;

/// Splits the side of an account from its amount: `45 Dr`, `Cr 45`. `None` if the text has no
/// side, or if the rest is not a single number.
pub fn split_side(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim();
    // Both sides have two letters.
    let end = text.len().checked_sub(2)?;
    ["Dr", "Cr"].into_iter().find_map(|side| {
        let is_side = |word: &str| word.eq_ignore_ascii_case(side);
        let behind = text.split_at_checked(end).filter(|parts| is_side(parts.1));
        let before = text.split_at_checked(2).filter(|parts| is_side(parts.0));
        let amount = behind
            .map(|parts| parts.0)
            .or(before.map(|parts| parts.1))?;
        number::whole(amount).is_ok().then_some((amount, side))
    })
}

/// True if a table has debits and credits, so that `Cr` does not mean crore.
pub fn has_sides<'c>(cells: impl Iterator<Item = &'c str>) -> bool {
    let (mut debit, mut credit) = (false, false);
    for (_, side) in cells.filter_map(split_side) {
        debit |= side == "Dr";
        credit |= side == "Cr";
    }
    debit && credit
}

/// The side that the heading of a column names: "Debit", "Cr. (£)", "Credit balance 2031". A debit
/// card is not a side. `None` also if the heading names both sides.
fn side_of_heading(heading: &str) -> Option<&'static str> {
    let lower = heading.to_lowercase();
    let plain = lower.split(['(', '[']).next().unwrap_or_default();
    let mut side = None;
    let words = plain.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| word.contains(char::is_alphabetic)) {
        side = match word {
            "debit" | "debits" | "dr" if side.is_none() => Some("Dr"),
            "credit" | "credits" | "cr" if side.is_none() => Some("Cr"),
            "balance" | "balances" | "amount" | "amounts" | "total" => side,
            _ => return None,
        };
    }
    side
}

/// In a trial balance, which has a column of debits and one of credits, gives each amount the side
/// of its column.
fn read_columns(cells: &mut [Vec<Cell>]) {
    let Some((header, rows)) = cells.split_first_mut() else {
        return;
    };
    let sides: Vec<Option<&'static str>> = header
        .iter()
        .map(|cell| side_of_heading(&cell.raw))
        .collect();
    if !["Dr", "Cr"].iter().all(|side| sides.contains(&Some(side))) {
        return;
    }
    for row in rows {
        let columns = row.iter_mut().zip(&sides).skip(1);
        for (cell, side) in columns.filter(|(_, side)| side.is_some()) {
            if let Some(number) = &mut cell.number {
                number.set_side(*side);
            }
        }
    }
}

/// Reads the sides of the amounts in a table that has both sides.
pub(super) fn read_sides(cells: &mut [Vec<Cell>]) {
    read_columns(cells);
    let texts = cells.iter().flatten().map(|cell| &*cell.raw);
    if !has_sides(texts) {
        return;
    }
    for cell in cells
        .iter_mut()
        .skip(1)
        .flat_map(|row| row.iter_mut().skip(1))
    {
        if let Some((amount, side)) = split_side(&cell.raw) {
            let read = Cell::read_as(amount, TableOrigin::Own);
            (cell.kind, cell.number) = (read.kind, read.number);
            if let Some(number) = &mut cell.number {
                number.set_side(Some(side));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{side_of_heading, split_side};
    use crate::number::Scale;
    use crate::question::Document;

    #[test]
    fn a_heading_names_a_side_if_it_says_nothing_else() {
        for (heading, side) in [
            ("Debit", Some("Dr")),
            ("Cr. (£)", Some("Cr")),
            ("Credit balance 2031", Some("Cr")),
            ("Debit card", None),
            ("Credit losses", None),
            ("Debit/credit", None),
            ("2031", None),
        ] {
            assert_eq!(side_of_heading(heading), side, "{heading}");
        }
    }

    #[test]
    fn a_side_is_one_where_the_table_has_both() {
        assert_eq!(split_side("CR 1,200.50"), Some((" 1,200.50", "Cr")));
        assert_eq!(split_side("4 5 Dr"), None);
        assert_eq!(split_side("Dr"), None);
        let crore = Some(Scale::Crore);
        for (other, scale, side) in [("12 Dr", None, Some("Cr")), ("12", crore, None)] {
            let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
            let document = Document {
                table: vec![
                    row(["", "2031"]),
                    row(["Loan", "₹5 Cr"]),
                    row(["Rent", other]),
                ],
                own: true,
                ..Document::default()
            };
            let cell = &document.page().table.cells()[1][1];
            assert_eq!(cell.value(), Some(5.0), "{other}");
            let number = cell.number.as_ref().unwrap();
            assert_eq!((number.scale, number.side()), (scale, side), "{other}");
        }
    }
}
