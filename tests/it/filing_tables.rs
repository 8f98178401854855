//! `convfinqa ask FILE --list-tables` on a terminal.

use crate::support::cli::Workplace;

#[test]
fn the_tables_of_a_markdown_page_are_listed() {
    let place = Workplace::new();
    place.write(
        "page.md",
        "# Costs (in millions)\n\n| | 2031 |\n|---|---|\n| Rent | 5 |\n",
    );
    let listed = place.run("ask page.md --list-tables");
    listed
        .succeeds()
        .prints("  1  Costs (in millions)\n     1 row; in millions; 2031\n");
}

#[test]
fn a_list_of_tables_fits_a_terminal() {
    let place = Workplace::new();
    let title = "Sales of the company by region and by kind of customer, as adjusted (in millions)";
    let heading = "Year ended the last Saturday of September";
    place.write(
        "long.htm",
        &format!(
            "<p>{title}</p><table><tr><td></td><td>{heading} 2031</td><td>{heading} 2030</td></tr>\
             <tr><td>North</td><td>5</td><td>4</td></tr></table>\
             <p>Costs</p><table><tr><td>(in thousands)</td><td>2031</td></tr>\
             <tr><td>Rent</td><td>5</td></tr></table>"
        ),
    );
    let ran = place.run("ask long.htm --list-tables");
    let listed = &ran.succeeds().stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines.iter().all(|line| line.len() <= 80), "{listed}");
    assert_eq!(listed.matches("as adjusted").count(), 1, "{listed}");
    assert!(listed.contains("1 row; in millions; Year"), "{listed}");
    assert!(listed.ends_with("1 row; in thousands; 2031\n"), "{listed}");
}
