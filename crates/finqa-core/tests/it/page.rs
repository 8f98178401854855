//! Tests how pages are parsed and rendered.

use std::collections::HashSet;

use finqa_core::number::Scale;
use finqa_core::page::{CellKind, position, year_in_text};
use finqa_core::question::Document;
use proptest::prelude::*;

fn document(table: &[&[&str]]) -> Document {
    Document {
        id: "Single_ZED/2001/page_1.pdf-1".into(),
        table: table
            .iter()
            .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
            .collect(),
        ..Document::default()
    }
}

const ROWS: &[&[&str]] = &[
    &["( in millions )", "2015", "2014"],
    &["net sales", "$ 1250.0", "$ 1000.0"],
    &["change in receivables", "-2913 ( 2913 )", "2014"],
    &["tax | rate", "28% ( 28 % )", "( 41 ) % (  % )"],
];

#[test]
fn markdown_shows_unit_ids_dashes_and_numbers_once() {
    let document = document(ROWS);
    let table = &document.page().table;
    let expected = r"Unit: in millions

|     | c0                    | c1       | c2       |
|-----|-----------------------|----------|----------|
| r0  | ( in millions )       | 2015     | 2014     |
| r1  | net sales             | $ 1250.0 | $ 1000.0 |
| r2  | change in receivables | -2913    | —        |
| r3  | tax \| rate           | 28%      | -41%     |";
    assert_eq!(table.to_markdown(), expected);
}

#[test]
fn cells_are_found_by_their_ids() {
    let document = document(ROWS);
    let table = &document.page().table;
    let cell = |id| position(id).and_then(|(row, column)| table.cell(row, column));
    let number = cell("r2c1").unwrap().number.as_ref().unwrap();
    assert_eq!(number.literal, *"-2913");
    assert_eq!(cell("r2c2").unwrap().kind, CellKind::Dash);
    assert_eq!(cell("r3c1").unwrap().fraction(), Some(0.28));
    assert_eq!(cell("r0c1").unwrap().raw, *"2015");
    assert_eq!(table.columns()[1].year, Some(2015));
    assert_eq!(table.caption().unwrap().scale, Some(Scale::Million));
    for id in [
        "r9c0", "r1c9", "c1r1", "r1", "r-1c0", "r+1c0", "", "r1c", "r99999999999999999999c1",
    ] {
        assert!(cell(id).is_none(), "{id}");
    }
}

#[test]
fn a_row_has_the_scale_that_its_table_states_for_it() {
    let million = Some(Scale::Million);
    let thousand = Some(Scale::Thousand);
    let shares_apart = "(In thousands, except share and per share data)";
    let per_share_apart = "(In millions, except per share data)";
    let reflected = "(In millions, except number of shares, which are reflected in thousands, and per-share amounts)";
    for (unit, section, label, figure, scale) in [
        (per_share_apart, "Costs:", "Rent", "12", million),
        (
            per_share_apart, "Net income per share:", "Basic", "1.20", None,
        ),
        (
            per_share_apart, "", "Dividends ($0.16 per share)", "(395)", million,
        ),
        (
            per_share_apart, "", "Net (loss) income per share", "1.20", None,
        ),
        (
            per_share_apart, "", "Basic (in dollars per share)", "1.20", None,
        ),
        (
            per_share_apart, "Weighted average shares outstanding:", "Dividends per share", "1.20",
            None,
        ),
        (
            per_share_apart, "", "Weighted average shares outstanding", "2,487", million,
        ),
        (
            per_share_apart, "Shares used in per share computation:", "Basic", "2,487", million,
        ),
        (
            per_share_apart, "", "Total number of shares repurchased", "61.9", million,
        ),
        (
            shares_apart, "", "Weighted average shares outstanding", "37,159", None,
        ),
        (
            shares_apart, "", "Shares, $0.01 par value; 9 outstanding", "14", thousand,
        ),
        (
            reflected, "", "Shares used to compute earnings", "15,343,783", thousand,
        ),
        (
            reflected, "Denominator:", "Effect of dilutive awards", "64,312", thousand,
        ),
        (
            "(In thousands)", "", "Weighted average shares outstanding", "37,159", thousand,
        ),
        (
            "(In thousands)", "", "Weighted average shares outstanding", "138,848,177", None,
        ),
        ("(In thousands)", "", "Remaining term in years", "1.2", None),
        ("(In thousands)", "", "Number of employees", "34", None),
        (
            "(In thousands)", "", "Cost of awards outstanding", "1,250", thousand,
        ),
        (
            "(In millions)", "", "Debt due in years two and three", "77", million,
        ),
    ] {
        let rows = [[unit, "2031"], [section, ""], [label, figure]];
        let rows = rows.each_ref().map(|row| row.as_slice());
        let document = Document {
            own: true,
            ..document(&rows)
        };
        assert_eq!(
            document.page().table.scale_of(2),
            scale,
            "{unit} {section} {label}"
        );
    }
}

#[test]
fn a_lone_2014_is_a_dash_among_values_and_a_year_among_years() {
    let document = document(&[
        &["lease", "expires", "rent", "2014"],
        &["mill bay", "2014", "$ 2014", "n/a"],
        &["harrow", "2026", "2014", "2014"],
        &["quay", "2019", "7", "1951"],
    ]);
    let table = &document.page().table;
    let dash = |row, column| table.cell(row, column).unwrap().kind == CellKind::Dash;
    assert!(!dash(0, 3) && !dash(1, 1));
    assert!(dash(1, 2) && dash(2, 2) && dash(2, 3));
}

#[test]
fn a_first_row_of_data_is_not_read_as_labels() {
    let dashed = document(&[&["2003", "$ 2014"], &["2004", "131262"]]);
    let table = &dashed.page().table;
    assert!(table.is_headerless());
    assert_eq!(table.cell(0, 1).unwrap().kind, CellKind::Dash);
    let document = document(&[&["2003", "$ 268496"], &["2004", "131262"]]);
    let table = &document.page().table;
    assert!(table.is_headerless());
    assert_eq!(table.rows()[0].year, Some(2003));
    assert_eq!(table.columns()[1].year, None);
    assert!(table.to_markdown().contains("| r0  | 2003 | $ 268496 |"));
}

#[test]
fn sentences_have_numbers_with_places_and_years() {
    let document = Document {
        pre_text: vec!["rent was 12.5 in 2031 .".to_owned()],
        post_text: vec!["fees were 7 .".to_owned()],
        ..Document::default()
    };
    assert_eq!(document.sentences().count(), 2);
    let numbers = &document.places().numbers;
    let place = |id: &str, magnitude: f64| {
        let mut found = numbers.iter().filter(|one| one.source.to_string() == id);
        found.any(|one| one.magnitude == magnitude && (id != "t1" || *one.years == [2031]))
    };
    assert!(
        place("t1", 12.5) && place("t2", 7.0) && !place("t2", 12.5),
        "{numbers:?}"
    );
    assert_eq!(
        [year_in_text("2031"), year_in_text("1950")],
        [Some(2031), None]
    );
}

#[test]
fn rows_know_the_heading_above_them() {
    let document = document(&[
        &["", "high", "low"],
        &["2012:", "", ""],
        &["first quarter", "3", "2"],
        &["second quarter", "5", "4"],
    ]);
    let sections = document.page().table.rows().iter();
    let sections: Vec<Option<&str>> = sections.map(|row| row.section.as_deref()).collect();
    assert_eq!(sections, [None, None, Some("2012:"), Some("2012:")]);
}

#[test]
fn ragged_and_empty_tables_render_without_a_fuss() {
    for rows in [&[][..], &[&[][..]], &[&["", "a"], &[], &["x", "1", "2"]]] {
        let markdown = document(rows).page().table.to_markdown();
        let pipes: HashSet<usize> = markdown.lines().map(|l| l.matches('|').count()).collect();
        assert!(pipes.len() <= 1, "{markdown}");
    }
}

/// The runs of digits in a text, except the remains of lost escapes.
fn digits(text: &str) -> HashSet<&str> {
    const ESCAPES: [&str; 5] = ["201", "2013", "2014", "2018", "2019"];
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|run| !run.is_empty() && !ESCAPES.contains(run))
        .collect()
}

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9 $%().,/|\\\\-]{0,16}",
        "-?[0-9]{1,5}(\\.[0-9]{1,2})?",
        "[0-9]{1,4}".prop_map(|n| format!("-{n} ( {n} )")),
        "[0-9]{1,2}\\.[0-9]".prop_map(|n| format!("{n}% ( {n} % )")),
        "[0-9]{1,4}".prop_map(|n| format!("$ {n}\n")),
        "\\PC{0,8}",
        Just("2014".to_owned()),
    ]
}

proptest! {
    #[test]
    fn rendering_loses_no_digit_and_no_cell(
        rows in (1_usize..5).prop_flat_map(|width| {
            prop::collection::vec(prop::collection::vec(cell(), width), 1..6)
        })
    ) {
        let document = Document { table: rows.clone(), ..Document::default() };
            let table = &document.page().table;
            let markdown = table.to_markdown();
            let body = markdown.split("\n\n").last().unwrap();
            let lines: Vec<&str> = body.lines().collect();
            prop_assert_eq!(lines.len(), rows.len() + 2);
            // The digits of a cell must occur in its line. Exceptions are dashes, and labels that
            // were made distinct.
            for (index, row) in rows.iter().enumerate().skip(1) {
                let line = lines[index + 2];
                let shown: Vec<&str> = line
                    .trim_matches('|')
                    .split(" | ")
                    .collect();
                prop_assert_eq!(shown.len(), row.len() + 1, "{}", line);
                for (column, raw) in row.iter().enumerate() {
                    if table.cell(index, column).unwrap().kind == CellKind::Dash {
                        continue;
                    }
                    prop_assert!(
                        digits(raw).is_subset(&digits(shown[column + 1])),
                        "{:?} shown as {:?}", raw, shown[column + 1]
                    );
                }
            }
    }
}
