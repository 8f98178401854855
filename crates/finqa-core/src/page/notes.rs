//! Recognises columns whose numbers refer to the notes of a report.

use super::cell::{Cell, CellKind};
use super::years::years_in;

/// A column counts as references to notes only if all of its numbers are below this. With a larger
/// number, it keeps its figures. Set by hand.
const MOST_NOTES: f64 = 100.0;

/// True if a heading is that of a column of references to notes. Such a column may contain `3,4`,
/// which means two notes.
pub fn names_notes(heading: &str) -> bool {
    let name = heading.trim().trim_end_matches('.').to_lowercase();
    matches!(
        name.as_str(),
        "note" | "notes" | "ref" | "refs" | "note no" | "notes no" | "note ref"
    )
}

/// Turns references to notes into text, because a column of references next to columns of years
/// contains no figures. Next to "Bonds", a column "Notes" contains money.
pub(super) fn mark_notes(cells: &mut [Vec<Cell>]) {
    let Some((header, body)) = cells.split_first_mut() else {
        return;
    };
    let dated = header.iter().any(|cell| !years_in(&cell.raw).is_empty());
    for (column, heading) in header.iter().enumerate().skip(1) {
        let mut numbers = body.iter().filter_map(|row| row.get(column)?.value());
        if dated && names_notes(&heading.raw) && numbers.all(|one| (0.0..MOST_NOTES).contains(&one))
        {
            for cell in body.iter_mut().filter_map(|row| row.get_mut(column)) {
                cell.number = None;
                if cell.kind == CellKind::Number {
                    cell.kind = CellKind::Text;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::question::Document;

    #[test]
    fn a_column_of_notes_has_no_figures() {
        for (header, cells, figures) in [
            (["", "Note", "2031"], ["4", "12"], false),
            (["", "Notes", "2031"], ["4, 5", "12(a)"], false),
            (["", "Ref.", "2031 £m"], ["2.1", ""], false),
            (["", "Notes", "2031"], ["4", "1,250"], true),
            (["", "Notes", "Bonds"], ["4", "12"], true),
            (["", "Note due 2035", "2031"], ["4", "12"], true),
        ] {
            let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
            let document = Document {
                table: vec![
                    row(header),
                    row(["Sales", cells[0], "30"]),
                    row(["Costs", cells[1], "20"]),
                ],
                own: true,
                ..Document::default()
            };
            let table = &document.page().table;
            let found = table
                .cells()
                .iter()
                .skip(1)
                .any(|row| row[1].number.is_some());
            assert_eq!(found, figures, "{header:?} {cells:?}");
            assert_eq!(table.cells()[1][2].value(), Some(30.0));
        }
    }
}
