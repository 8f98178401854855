use super::*;

fn read_all(text: &str) -> Result<Vec<Grid>, String> {
    let path = Path::new("t.csv");
    let blocks = separated(path, text, None).map_err(|error| error.to_string())?;
    let grid = |block| match block {
        PlainBlock::Table(rows) => shape(path, rows).map_err(|error| error.to_string()),
        PlainBlock::Text(text) => Err(text),
    };
    blocks.into_iter().map(grid).collect()
}

fn read(text: &str) -> Result<Grid, String> {
    let mut grids = read_all(text)?;
    assert_eq!(grids.len(), 1, "{grids:?}");
    Ok(grids.remove(0))
}

#[test]
fn another_row_of_periods_begins_a_table() {
    let first = "Key figures\n,2032,2031\nSales,\"8,410\",\"7,950\"\nStaff,40,50\n";
    for (rest, titles, head) in [
        (",2032,2031\nSales,100,100\n", &[][..], ["", "2032", "2031"]),
        (
            "\nMargins\n% of sales,2032,2031\nSales,100,100\n",
            &["Margins"],
            ["% of sales", "2032", "2031"],
        ),
        (
            "\nBy quarter\n(in thousands)\n,Q1 2032,Q2 2032\nSales,4,5\n",
            &["By quarter", "(in thousands)"],
            ["", "Q1 2032", "Q2 2032"],
        ),
    ] {
        let grids = read_all(&format!("{first}{rest}")).unwrap();
        let [above, below] = grids.as_slice() else {
            panic!("{grids:?}");
        };
        assert_eq!(above.titles, ["Key figures"]);
        assert_eq!(above.rows.len(), 3, "{above:?}");
        assert_eq!(below.titles, titles);
        assert_eq!(below.rows[0], head);
        assert_eq!(below.rows.len(), 2);
    }
    for row in [
        "First year,1998,2012", "Costs:,,", "Note,a,b", "Base year,2031,2031.5",
    ] {
        read(&format!("{first}{row}\nFees,5,4\n")).unwrap();
    }
}

#[test]
fn the_separator_is_the_one_of_most_lines() {
    let title = "Statement (in millions, except per share data)\n";
    for (text, cell) in [
        (
            format!("{title};2033;2032\nSales;8,410.5;7,950.2\n"),
            "8,410.5",
        ),
        (format!("{title};2033;2032\nSales;8,4;7,9\n"), "8.4"),
        (
            "a; b,2033,2032\n\"Sales; net; all\",\"8,4\",5\n".to_owned(),
            "8.4",
        ),
    ] {
        assert_eq!(read(&text).unwrap().rows[1][1], cell, "{text}");
    }
}

#[test]
fn quotes_titles_blanks_and_short_rows_are_read() {
    let text = "Acme Ltd\n(in millions),,\n,2019,2018\nRevenue,\"1,234\",\"$ 9\n\"\n\nOther,5\n";
    let grid = read(text).unwrap();
    assert_eq!(grid.titles, ["Acme Ltd", "(in millions)"]);
    let rows = [
        ["", "2019", "2018"],
        ["Revenue", "1,234", "$ 9"],
        ["Other", "5", ""],
    ];
    assert_eq!(grid.rows, rows);
    for text in [
        ";2019;2018\nRevenue;1,5;2,5\n", "\t2019\t2018\nRevenue\t1,5\t2,5\n",
    ] {
        assert_eq!(read(text).unwrap().rows[1], ["Revenue", "1.5", "2.5"]);
    }
    let grid = read("Item,2033,,\nSales,10,,\n").unwrap();
    assert_eq!(grid.rows, [["Item", "2033"], ["Sales", "10"]]);
}

#[test]
fn lines_of_headings_become_one() {
    for (text, header) in [
        ("2019,2018\nRevenue,5,4\n", "|2019|2018"),
        (";2030/31;2031/32\nIncome;5;4\n", "|2030/31|2031/32"),
        ("Revenue,5,4\nCosts,3,2\n", "|column 1|column 2"),
        ("Sales,2150*,300\nCosts,3,2\n", "|column 1|column 2"),
        ("Item,2033,\nSales,10,12\n", "Item|2033|"),
        (
            "\tThree months ended June 30,\t\tSix months ended June 30,\t\n(in thousands)\t2023\t2022\t2023\t2022\nSales\t5\t4\t9\t8\n",
            "(in thousands)|Three months ended June 30, 2023|Three months ended June 30, 2022|Six months ended June 30, 2023|Six months ended June 30, 2022",
        ),
        ("Name,A,B\nFounded,1998,2001\nSales,5,4\n", "Name|A|B"),
        (
            ",North,,South,\n,2032,,2032,\nItem,Plan,Actual,Plan,Actual\nSales,1,2,3,4\n",
            "Item|North 2032 Plan|North 2032 Actual|South 2032 Plan|South 2032 Actual",
        ),
    ] {
        assert_eq!(read(text).unwrap().rows[0].join("|"), header, "{text}");
    }
    assert_eq!(read("Revenue,5,4\nCosts,3,2\n").unwrap().notes.len(), 1);
    for year in ["2032 (1)", "2032*", "2032 [a]", "2032†", "2032 1)"] {
        let grid = read(&format!(",2033,{year}\nSales,10,12\n")).unwrap();
        assert_eq!(grid.rows[0], ["", "2033", year]);
        let grid = read(&format!(",EUR,EUR\n,2033,{year}\nSales,10,12\n")).unwrap();
        assert_eq!(grid.rows[0], ["", "EUR 2033", &format!("EUR {year}")]);
    }
}

#[test]
fn a_heading_of_several_columns_names_all_of_them() {
    let heads = ["Staff Plan", "Staff Actual", "Rent Plan", "Rent Actual"];
    for text in [
        ",Staff,,Rent,\n,Plan,Actual,Plan,Actual\nJan,1,2,3,4\n",
        ",Staff,,Rent,\nMonth,Plan,Actual,Plan,Actual\nJan,1,2,3,4\n",
        ",Staff,Staff,Rent,Rent\nMonth,Plan,Actual,Plan,Actual\nJan,1,2,3,4\n",
        "Month,Staff,,Rent,\n,Plan,Actual,Plan,Actual\nJan,1,2,3,4\n",
        "Month,Staff,Staff,Rent,Rent\n,Plan,Actual,Plan,Actual\nJan,1,2,3,4\n",
    ] {
        let grid = read(text).unwrap();
        assert_eq!(grid.rows[0][1..], heads, "{text}");
        assert_eq!(grid.rows[1], ["Jan", "1", "2", "3", "4"], "{text}");
    }
}

#[test]
fn split_numbers_and_nothing_are_refused() {
    for (text, reason) in [
        (
            ",2019,2018\nCosts,1,2\nRevenue,1,234,5\n",
            "t.csv: line 3: 4 cells under a header of 3",
        ),
        (
            ",2033,2032\n,Plan,Plan\nCosts,1,2\nRevenue,1,234,5\n",
            "4 cells under a header of 3",
        ),
        (" \n,,\n", "no rows"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}
