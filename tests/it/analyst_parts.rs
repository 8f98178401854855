//! `convfinqa ask` about the parts of a whole: which of them is first by a level, a change, a growth
//! or a margin, and what is left without some of them.

use serde_json::Value as Json;

use crate::support::cli::{CommandExt, Workplace};

pub(crate) const REPORT: &str = "# Brightwater — results for 2031

## Income statement (€ in thousands)

|  | 2031 | 2030 | 2029 |
|---|---:|---:|---:|
| Revenue | 9,000 | 8,000 | 7,100 |
| Cost of sales | 5,400 | 4,900 | 4,400 |
| Gross profit | 3,600 | 3,100 | 2,700 |
| Operating income | 1,210 | 950 | 800 |

## Revenue by segment (€ in thousands)

|  | 2031 | 2030 | 2029 |
|---|---:|---:|---:|
| Harbours | 4,000 | 3,700 | 3,600 |
| Canals | 2,900 | 3,000 | 2,400 |
| Locks | 2,100 | 1,300 | 1,100 |
| Total revenue | 9,000 | 8,000 | 7,100 |

## Operating income by segment (€ in thousands)

|  | 2031 | 2030 | 2029 |
|---|---:|---:|---:|
| Harbours | 500 | 480 | 470 |
| Canals | 390 | 420 | 250 |
| Locks | 420 | 130 | 150 |
| Total segment operating income | 1,310 | 1,030 | 870 |
| Unallocated corporate costs | (100) | (80) | (70) |
| Operating income | 1,210 | 950 | 800 |

## Revenue by country (€ in thousands)

|  | 2031 | 2030 | 2029 |
|---|---:|---:|---:|
| Germany | 5,000 | 4,600 | 4,000 |
| France | 2,500 | 2,100 | 2,000 |
| Japan | 1,500 | 1,300 | 1,100 |
| Total revenue | 9,000 | 8,000 | 7,100 |
";

/// The answers to the questions of a conversation.
pub(crate) fn conversation(place: &Workplace, file: &str, questions: &[&str]) -> Vec<Json> {
    let lines = place.write("questions.txt", &(questions.join("\n") + "\n"));
    let mut command = place.command();
    command.given(&format!("ask {file} --json"));
    let ran = command.stdin(std::fs::File::open(lines).unwrap()).ran();
    let answers = ran.stdout.lines().filter(|line| line.starts_with('{'));
    answers
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The answer, if it is sure.
pub(crate) fn sure(read: &Json) -> Option<&str> {
    read["answer"].as_str().filter(|_| read["sure"] == true)
}

#[test]
fn parts_are_ranked_by_level_change_growth_or_margin() {
    let place = Workplace::new();
    place.write("report.md", REPORT);
    for (question, part) in [
        ("Which segment had the highest revenue in 2031?", "Harbours"),
        (
            "Which segment is the second biggest by 2031 revenue?",
            "Canals",
        ),
        ("Which segment added the most revenue in 2031?", "Locks"),
        ("Which segment gained the most sales in 2030?", "Canals"),
        ("Which segment lost the most sales in 2031?", "Canals"),
        (
            "Which segment had the largest drop in revenue in 2031?",
            "Canals",
        ),
        (
            "Which segment grew its revenue fastest from 2029 to 2031?",
            "Locks",
        ),
        (
            "What was the fastest growing country by revenue in 2031?",
            "France",
        ),
        (
            "Which segment had the best operating margin in 2031?",
            "Locks",
        ),
        (
            "Which segment had the highest operating income in 2031?",
            "Harbours",
        ),
        (
            "Which segment saw its operating income decline in 2031?",
            "Canals",
        ),
        (
            "Which segment sold less in 2031 than in the year before?",
            "Canals",
        ),
        (
            "Apart from Germany, which country had the highest revenue in 2031?",
            "France",
        ),
        (
            "Which country outside Germany had the highest revenue in 2031?",
            "France",
        ),
    ] {
        let read = conversation(&place, "report.md", &[question]);
        assert_eq!(sure(&read[0]), Some(part), "{question}: {}", read[0]);
    }
    for (question, why) in [
        (
            "Which segment increased its revenue in 2031?",
            "Locks and Harbours",
        ),
        (
            "Which country had the smallest increase in revenue in 2031?",
            "Japan or Germany",
        ),
        ("Which country lost the most revenue in 2031?", "no part"),
        ("Which segment forfeited the most revenue in 2031?", ""),
    ] {
        let read = conversation(&place, "report.md", &[question]);
        assert_eq!(sure(&read[0]), None, "{question}: {}", read[0]);
        let doubt = read[0]["doubt"].as_str().or(read[0]["error"].as_str());
        assert!(
            doubt.unwrap_or_default().contains(why),
            "{question}: {}",
            read[0]
        );
    }
}

#[test]
fn several_parts_are_left_out_of_a_whole() {
    let place = Workplace::new();
    place.write("report.md", REPORT);
    for (question, answer) in [
        (
            "What share of 2031 revenue came from outside Germany and France?",
            "16.7%",
        ),
        (
            "What percentage of revenue was earned outside Germany and Japan in 2031?",
            "27.8%",
        ),
        (
            "What was revenue other than in Germany and France in 2031?",
            "€1,500 thousand",
        ),
        (
            "What part of 2031 revenue was not from Germany, in percent?",
            "44.4%",
        ),
        (
            "What share of 2031 revenue came from outside Germany?",
            "44.4%",
        ),
    ] {
        let read = conversation(&place, "report.md", &[question]);
        assert_eq!(sure(&read[0]), Some(answer), "{question}: {}", read[0]);
    }
    for question in [
        "What share of 2031 revenue came from outside Germany and Brazil?",
        "What share of 2031 revenue came from outside Brazil and Germany?",
    ] {
        let read = conversation(&place, "report.md", &[question]);
        assert_eq!(sure(&read[0]), None, "{question}: {}", read[0]);
    }
}

#[test]
fn a_growth_is_of_the_two_figures_just_given() {
    let place = Workplace::new();
    place.write("report.md", REPORT);
    for (questions, answer) in [
        (
            [
                "revenue of Canals in 2031?", "And the year before?", "So what growth is that?",
            ],
            "-3.3%",
        ),
        (
            [
                "revenue of Canals in 2031?", "And the year before?", "By how much did it fall?",
            ],
            "€100 thousand",
        ),
        (
            [
                "revenue of Canals in 2029?", "And in 2030?", "What growth is that?",
            ],
            "25.0%",
        ),
        (
            [
                "revenue of Canals in 2029?", "revenue of Canals in 2031?", "What growth is that?",
            ],
            "20.8%",
        ),
        (
            [
                "revenue of Canals in 2030?", "revenue of Locks in 2031?", "What growth is that?",
            ],
            "61.5%",
        ),
    ] {
        let read = conversation(&place, "report.md", &questions);
        assert_eq!(sure(&read[2]), Some(answer), "{questions:?}: {}", read[2]);
    }
}

#[test]
fn a_margin_changes_in_points_and_a_growth_is_compounded() {
    let place = Workplace::new();
    place.write("report.md", REPORT);
    for (question, answer) in [
        (
            "By how many basis points did gross margin widen from 2030 to 2031?",
            "125 basis points",
        ),
        (
            "By how many percentage points did gross margin rise in 2031?",
            "1.3 percentage points",
        ),
        (
            "What was the compound annual growth rate of revenue from 2029 to 2031?",
            "12.6%",
        ),
        ("CAGR of Locks revenue between 2029 and 2031?", "38.2%"),
    ] {
        let read = conversation(&place, "report.md", &[question]);
        assert_eq!(sure(&read[0]), Some(answer), "{question}: {}", read[0]);
    }
    let read = conversation(
        &place,
        "report.md",
        &[
            "gross margin in 2031?",
            "By how many percentage points did it change from the year before?",
        ],
    );
    assert_eq!(sure(&read[1]), Some("1.3 percentage points"), "{}", read[1]);
}

#[test]
fn a_change_year_on_year_may_be_asked_in_percent() {
    let place = Workplace::new();
    place.write("report.md", REPORT);
    for (question, answer) in [
        ("How much did revenue grow year on year in 2031?", None),
        (
            "What was the year-on-year growth of revenue in 2031, in percent?",
            Some("12.5%"),
        ),
    ] {
        let read = conversation(&place, "report.md", &[question]);
        assert_eq!(sure(&read[0]), answer, "{question}: {}", read[0]);
    }
}

#[test]
fn a_question_for_the_group_is_not_answered_by_the_company_alone() {
    let place = Workplace::new();
    let report = "# Oriel Cement\n\nStatement of unaudited STANDALONE financial results ($ in millions)\n\n\
        |  | 2031 | 2030 |\n|---|---:|---:|\n| Revenue | 810.5 | 790.1 |\n| Profit after tax | 60.2 | 55.0 |\n";
    place.write("one.md", report);
    let more = "\n## Staff\n\n|  | 2031 | 2030 |\n|---|---:|---:|\n| Employees | 810 | 790 |\n";
    place.write("two.md", &format!("{report}{more}"));
    for (question, is_sure) in [
        ("What was the consolidated profit after tax in 2031?", false),
        ("What was the profit after tax of the group in 2031?", false),
        ("What was the profit after tax in 2031?", true),
    ] {
        for file in ["one.md", "two.md"] {
            let read = conversation(&place, file, &[question]);
            assert_eq!(sure(&read[0]).is_some(), is_sure, "{question}: {}", read[0]);
        }
    }
}

#[test]
fn a_schedule_of_years_needs_no_labels() {
    let place = Workplace::new();
    let rest = "<p>Staff</p><table><tr><td></td><td>2031</td></tr><tr><td>Employees</td><td>9</td></tr></table>";
    place.write(
        "schedule.htm",
        &format!(
            "<p>Debt maturities by year</p><table><tr><td>2032</td><td>2033</td><td>Thereafter</td><td>Total</td></tr>\
            <tr><td>$40.0</td><td>$110.0</td><td>$450.0</td><td>$600.0</td></tr></table>{rest}"
        ),
    );
    place.write(
        "schedule.csv",
        "2032,2033,Thereafter,Total\n40.0,110.0,450.0,600.0\n",
    );
    for (question, answer) in [
        ("How much debt matures in 2032?", "$40.00"),
        ("How much debt matures in 2032 and 2033 together?", "$150"),
    ] {
        let read = conversation(&place, "schedule.htm", &[question]);
        assert_eq!(sure(&read[0]), Some(answer), "{question}: {}", read[0]);
        let read = conversation(&place, "schedule.csv", &[question]);
        assert_eq!(sure(&read[0]), None, "{question}: {}", read[0]);
    }
}

#[test]
fn a_unit_above_the_first_title_is_that_of_all_tables() {
    let place = Workplace::new();
    let table = |title: &str, row: &str| {
        format!("<h3>{title}</h3><table><tr><td></td><td>2031</td><td>2030</td></tr>{row}</table>")
    };
    let tables = [
        table(
            "Statements of income",
            "<tr><td>Net sales</td><td>4,500</td><td>4,400</td></tr>",
        ),
        table(
            "Balance sheets",
            "<tr><td>Total assets</td><td>5,000</td><td>4,700</td></tr>",
        ),
    ];
    let unit = "<p>(単位：百万円 / Millions of yen; △ denotes a negative figure)</p>";
    place.write(
        "all.htm",
        &format!("<h2>Results</h2>{unit}{}", tables.concat()),
    );
    let corner = tables[1].replace("<td></td>", "<td>（百万円）</td>");
    place.write("corner.htm", &format!("{}{corner}", tables[0]));
    for file in ["all.htm", "corner.htm"] {
        let read = conversation(&place, file, &["What were total assets in 2031?"]);
        assert_eq!(
            sure(&read[0]),
            Some("¥5,000 million"),
            "{file}: {}",
            read[0]
        );
    }
    // Only the other table states a unit.
    let first = tables[0].replacen("<td></td>", "<td>(Millions of yen)</td>", 1);
    place.write("other.htm", &format!("{first}<p>Notes</p>{}", tables[1]));
    let read = conversation(&place, "other.htm", &["What were total assets in 2031?"]);
    assert_eq!(sure(&read[0]), None, "{}", read[0]);
    assert!(
        read[0]["doubt"]
            .as_str()
            .unwrap()
            .contains("states no unit"),
        "{}",
        read[0]
    );
}

#[test]
fn a_growth_without_its_measure_is_by_revenue_and_not_sure() {
    let place = Workplace::new();
    place.write("report.md", REPORT);
    let read = conversation(
        &place,
        "report.md",
        &["Which segment grew the most in 2031?"],
    );
    assert_eq!(read[0]["answer"], "Locks");
    assert_eq!(
        read[0]["doubt"],
        "the question does not say by what; this is by revenue"
    );
}

/// Tables with little around them: changes of cash, the quarters of two years, a schedule.
#[test]
fn what_is_around_a_figure_tells_what_it_is() {
    let place = Workplace::new();
    let table = |above: &str, rows: &[&str]| {
        let row = |row: &&str| format!("<tr><td>{}</td></tr>", row.replace('|', "</td><td>"));
        let rows: String = rows.iter().map(row).collect();
        format!("{above}<table>{rows}</table>")
    };
    let quarters = "|First quarter|Second quarter|Third quarter|Fourth quarter";
    let page = [
        table(
            "<p>Consolidated statements of cash flows (in millions)</p>",
            &[
                "|2031|2030",
                "Net income|144|93",
                "Changes in operating assets and liabilities:||",
                "Inventories|(10)|(5)",
                "Net cash provided by operating activities|134|88",
            ],
        ),
        table(
            "<p>Quarterly results (in millions)</p><p>2031</p>",
            &[quarters, "Net sales|90|95|97|99"],
        ),
        table("<p>2030</p>", &[quarters, "Net sales|80|85|87|89"]),
        table(
            "<p>Operating statistics</p>",
            &[
                "|Twelve months ended December 31, 2031|Twelve months ended December 31, 2030",
                "Passengers (thousands)|411|398",
                "Aircraft at end of period|96|93",
            ],
        ),
        table(
            "<p>Scheduled maturities of long-term debt (in millions)</p>",
            &[
                "|Amount", "2032|25", "2033|60", "Thereafter|400", "Total|485",
            ],
        ),
    ];
    place.write("page.htm", &page.concat());
    for (question, answer) in [
        (
            "What were net sales in the fourth quarter of 2031?",
            Some("99 million"),
        ),
        (
            "What were net sales in the second quarter of 2030?",
            Some("85 million"),
        ),
        (
            "How many aircraft did the airline have at the end of 2030?",
            Some("93"),
        ),
        ("How much debt matures after 2033?", Some("400 million")),
        // The change of a change.
        ("What was the change in inventories in 2031?", None),
        ("How much debt matures after 2032?", None),
    ] {
        let read = conversation(&place, "page.htm", &[question]);
        assert_eq!(sure(&read[0]), answer, "{question}: {}", read[0]);
    }
}

/// The label of a subtotal names the rows that it adds up.
#[test]
fn a_subtotal_is_no_part_beside_its_rows() {
    let place = Workplace::new();
    place.write(
        "report.md",
        "# Fernhill — results for 2031

## Income statement (in millions)

|  | 2031 | 2030 |
|---|---:|---:|
| Net sales | 1,047 | 1,020 |

## Merchandise sales and other revenue (in millions)

|  | 2031 | 2030 |
|---|---:|---:|
| Clothing | 157 | 160 |
| Food (c) | 541 | 530 |
| Furniture | 329 | 310 |
| Merchandise sales | 1,027 | 1,000 |
| Advertising revenue | 15 | 14 |
| Card fees | 5 | 6 |
| Net sales | 1,047 | 1,020 |
",
    );
    for (question, part) in [
        (
            "Which merchandise category had the highest sales in 2031?",
            Some("Food"),
        ),
        ("Which category had the highest net sales in 2031?", None),
    ] {
        let read = &conversation(&place, "report.md", &[question])[0];
        assert_eq!(sure(read), part, "{question}: {read}");
    }
}
