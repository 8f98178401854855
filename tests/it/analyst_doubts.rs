//! `convfinqa ask` where a figure is not quite what was asked for: a change for a balance, a plan for a
//! year, a credit for a cost, a part of a year, another company, a number of things.

use crate::analyst_questions::{report, table};
use crate::analyst_sides::{assert_answers, assert_conversation, page};
use crate::support::cli::Workplace;

const YEARS: &[&str] = &["", "2031", "2030", "2029"];

/// A change of the cash flow statement answered for the balance that the report does not have.
#[test]
fn a_change_is_no_balance() {
    let changes: &[&[&str]] = &[
        YEARS,
        &["Net income", "144", "93", "56"],
        &["Deferred income taxes", "6", "5", "4"],
        &["Changes in operating assets and liabilities:"],
        &["Inventories", "(10)", "(5)", "(4)"],
        &["Accrued expenses", "7", "6", "5"],
        &["Customer deposits", "3", "2", "1"],
    ];
    let read = page(
        "",
        &[table("CONSOLIDATED STATEMENTS OF CASH FLOWS", changes)],
    );
    let questions = [
        ("What were inventories on December 31, 2031?", ""),
        ("What was the balance of inventories?", ""),
        ("What were accrued expenses as of December 31, 2031?", ""),
        ("What were customer deposits at year end 2031?", ""),
        ("Deferred income taxes at December 31, 2031?", ""),
        ("What was net income at the end of 2031?", "144"),
        ("What were accrued expenses in 2031?", "7"),
    ];
    assert_answers("cash.htm", &read, &questions);
}

/// A figure was the sure answer although the question wants yes or no.
#[test]
fn a_number_does_not_answer_yes_or_no() {
    let rows: &[&[&str]] = &[
        YEARS,
        &["Net sales", "1,000", "900", "800"],
        &["Cost of sales", "600", "500", "450"],
    ];
    let read = page("", &[table("STATEMENTS OF INCOME", rows)]);
    let questions = [
        ("Was net sales good in 2031?", ""),
        ("Are net sales large in 2031?", ""),
        ("What was net sales in 2031?", "1,000"),
        (
            "Was net sales or cost of sales higher in 2031?",
            "Net sales",
        ),
    ];
    assert_answers("sales.htm", &read, &questions);
}

/// A year of a plan was the highest, the latest, or a part of the average.
#[test]
fn a_plan_is_no_year_of_a_series() {
    let by_columns = "Item,2029,2030,2031,2032E,2033E\nNet sales,640,800,1000,1200,1400\nCost,80,140,200,260,50\n";
    let questions = [
        ("In which year was net sales highest?", "2031"),
        ("When was cost lowest?", "2029"),
        ("What was the highest net sales?", "1000"),
        ("What was the average cost?", "140"),
        ("What was the average cost from 2031 to 2033?", "170"),
        ("What were net sales in 2032?", "1200"),
    ];
    assert_answers("columns.csv", by_columns, &questions);
    let by_rows = "Year,Revenue,Cost\n2029,100,60\n2030,80,50\n2031,120,70\n2032 Budget,150,20\n";
    let questions = [
        ("Which year had the lowest cost?", "2030"),
        ("What was the highest revenue?", "120"),
        ("average revenue", "100"),
        ("total revenue", "300"),
        ("revenue in each of the last two years?", "80; 120"),
    ];
    assert_answers("rows.csv", by_rows, &questions);
    let rows: &[&[&str]] = &[
        &["", "2030", "2031", "2032E"],
        &["Net sales", "800", "1,000", "1,200"],
    ];
    let read = page("", &[table("CONSOLIDATED STATEMENTS OF INCOME", rows)]);
    let highest = ("In which year were net sales highest?", "2031");
    assert_answers("plan.htm", &read, &[highest]);
}

/// A benefit had the rate of an expense.
#[test]
fn a_tax_that_is_a_credit_has_no_sure_rate() {
    for (label, tax, rate) in [
        ("Provision for income taxes", "36", "20.0%"),
        (
            "Provision for (benefit from) income taxes",
            "(36)",
            "-20.0%",
        ),
        ("Income taxes", "(36)", ""),
        ("Income tax benefit", "36", ""),
        ("Income tax (expense) benefit", "36", ""),
    ] {
        let rows: &[&[&str]] = &[
            &["", "2031", "2030"],
            &["Net sales", "1,000", "800"],
            &["Operating expenses", "820", "700"],
            &["Income before income taxes", "180", "100"],
            &[label, tax, tax],
            &["Net income", "144", "80"],
        ];
        let read = page("", &[table("CONSOLIDATED STATEMENTS OF INCOME", rows)]);
        let question = "What was the effective tax rate in 2031?";
        assert_answers("tax.htm", &read, &[(question, rate)]);
    }
}

/// The change over all years answered for that of each.
#[test]
fn what_each_year_has_is_not_what_all_have() {
    let questions = [
        ("How much did net sales grow a year from 2029 to 2031?", ""),
        ("How much R&D per year from 2029 to 2031?", ""),
        (
            "What was the annual growth in net sales from 2029 to 2031?",
            "",
        ),
        (
            "By what percentage did net income rise each year from 2029 to 2031?",
            "",
        ),
        ("How much did net sales increase a year since 2029?", ""),
        ("How much R&D per quarter in 2031?", ""),
        ("What was R&D in 2031 and a year earlier?", ""),
        (
            "What was the average annual R&D from 2029 to 2031?",
            "73.333",
        ),
        ("By how much did net sales grow from 2029 to 2031?", "360"),
        ("What was annual net income in 2031?", "144"),
    ];
    assert_answers("10k.htm", &report(), &questions);
}

/// A name of words that mean nothing elsewhere was dropped.
#[test]
fn a_name_of_plain_words_is_a_name() {
    let questions = [
        ("What were net sales to Big Lots in 2031?", ""),
        ("What were net sales at Next in 2031?", ""),
        ("What was the share of Total in net sales in 2031?", ""),
        ("What was Big Lots' net income in 2031?", ""),
        ("What was the share of Walmart in net sales in 2031?", ""),
        ("What Was Net Income for Fiscal 2031?", "144"),
        ("What was net income for the Company in 2031?", "144"),
    ];
    assert_answers("10k.htm", &report(), &questions);
}

/// The caption's millions were those of everything that no list has.
#[test]
fn the_scale_of_money_is_not_that_of_things() {
    let row = |label: &str, figures: &[&str]| format!("{label},{}\n", figures.join(","));
    let money = [
        row("Revenue", &["1100.2", "1250.4"]),
        row("Costs", &["800.1", "900.5"]),
    ];
    for (things, decimals) in [
        ("Aircraft", true),
        ("Rooms", false),
        ("Hospital beds", true),
    ] {
        let read = format!(
            "USD million,2030,2031\n{}{}",
            money.concat(),
            row(things, &["398", "412"])
        );
        let read = if decimals {
            read
        } else {
            read.replace(".2", "")
                .replace(".4", "")
                .replace(".1", "")
                .replace(".5", "")
        };
        let things = format!("{things} in 2031?");
        let revenue = if decimals { "1,250.4" } else { "1,250" };
        assert_answers(
            "fleet.csv",
            &read,
            &[(&things, ""), ("revenue in 2031?", revenue)],
        );
    }
    let lines: &[&[&str]] = &[
        &["", "2031"],
        &["Pumps", "450"],
        &["Valves", "550"],
        &["Total", "1,000"],
    ];
    let read = page("", &[table("Lines", lines)]);
    assert_answers("lines.htm", &read, &[("What were pumps in 2031?", "450")]);
}

/// What a turn takes from one that is not sure is not sure either.
#[test]
fn a_doubt_stays_with_what_follows_from_it() {
    let place = Workplace::new();
    place.write("10k.htm", &report());
    for turns in [
        [
            ("Net sales in 2029?", "640"),
            ("Unbilled things?", ""),
            ("R&D?", ""),
        ],
        [
            ("Net sales in 2029?", "640"),
            ("And unicorns?", ""),
            ("And gross profit?", ""),
        ],
        [
            ("Net income in 2030?", "93"),
            ("And in 2025?", ""),
            ("Is that more than net sales?", ""),
        ],
        [
            ("Net income in 2030?", "93"),
            ("Gross profit in that year?", "300"),
            ("(that) in 2029?", "220"),
        ],
        [
            ("Net income in 2031?", "144"),
            ("Net sales in 2030?", "800"),
            ("This as a share of total assets?", "114.3%"),
        ],
        [
            ("Net income in 2030?", "93"),
            ("Divide that by net sales", ""),
            ("Net income in 2031?", "144"),
        ],
    ] {
        assert_conversation(&place, "10k.htm", &turns);
    }
}

/// The figure itself was the answer, because it is on both sides of the ratio.
#[test]
fn a_figure_is_no_share_of_itself() {
    let questions = [
        ("What share of net sales came from net sales in 2031?", ""),
        ("What share of sales came from 2031?", ""),
        ("What share of total net sales came from 2031?", ""),
        ("What was the share of net sales in 2031?", ""),
        ("What was the ratio of net sales to revenue in 2031?", ""),
        (
            "What was net sales as a percentage of net sales in 2031?",
            "",
        ),
        ("What was net sales divided by net sales in 2031?", ""),
        ("How many times net sales is revenue in 2031?", ""),
        ("What percentage of net income was net income in 2031?", ""),
        ("What share of sales came from Germany in 2031?", "26.0%"),
    ];
    assert_answers("10k.htm", &report(), &questions);
    let place = Workplace::new();
    place.write("10k.htm", &report());
    let ran = place.run("ask 10k.htm 'What share of sales came from 2031?' --json");
    let why = "Net sales · 2031 would be both figures of the ratio";
    assert_eq!(ran.json()["doubt"], why);
    // A printed ratio is found for both sides too.
    let rows = "<tr><td></td><td>2031</td><td>2030</td></tr><tr><td>Debt to EBITDA</td><td>2.5</td><td>2.7</td></tr>";
    let read = page("", &[format!("<p>Key figures</p><table>{rows}</table>")]);
    let questions = [
        ("What was debt to EBITDA in 2031?", "2.5"),
        ("What was the ratio of debt to EBITDA in 2031?", "2.5"),
        ("How many times EBITDA is debt in 2031?", "2.5"),
        ("What was debt as a percentage of EBITDA in 2031?", ""),
    ];
    assert_answers("key.htm", &read, &questions);
}

/// The part was left out of the question only, and the highest of the whole company was sure.
#[test]
fn the_highest_of_the_whole_is_not_that_without_a_part() {
    let read = "# Brightwater\n\n## Income statement (in millions)\n\n|  | 2031 | 2030 |\n\
        |---|---|---|\n| Revenue | 100 | 120 |\n\n## Revenue by country (in millions)\n\n\
        |  | 2031 | 2030 |\n|---|---|---|\n| Germany | 30 | 80 |\n| France | 70 | 40 |\n\
        | Total revenue | 100 | 120 |\n";
    let questions = [
        ("Which year had the highest revenue?", "2030"),
        (
            "Apart from Germany, which year had the highest revenue?",
            "",
        ),
        ("Apart from Germany, in which year was revenue highest?", ""),
        ("After Germany, which year had the highest revenue?", ""),
        ("Excluding Germany, what was the lowest revenue?", ""),
    ];
    assert_answers("report.md", read, &questions);
}

const SEGMENTS: &str = "# Consolidated statements of income (in millions)

|  | 2031 | 2030 |
|---|---:|---:|
| Net sales | 1,000 | 800 |
| Research and development | 90 | 70 |

# Results by segment (in millions)

|  | 2031 | 2030 |
|---|---:|---:|
| Pumps: | | |
| Net sales | 600 | 500 |
| Research and development | 60 | 40 |
| Valves: | | |
| Net sales | 400 | 300 |
| Research and development | 30 | 30 |
";

/// The name of the line was dropped: the answer was the segment's share of the company's sales.
#[test]
fn a_line_of_a_segment_is_divided_by_the_segments_own_sales() {
    let questions = [
        ("Pumps R&D as % of net sales 2031", "10.0%"),
        ("Valves R&D as a percentage of sales in 2030", "10.0%"),
        ("Pumps as % of net sales 2031", "60.0%"),
        ("Pumps sales as % of net sales 2031", "60.0%"),
        ("R&D as % of net sales 2031", "9.0%"),
    ];
    assert_answers("report.md", SEGMENTS, &questions);
    let (income, _) = SEGMENTS.split_once("# Results").unwrap();
    let lines = "# Research and development by segment (in millions)\n\n\
        | | 2031 |\n|---|---|\n| Pumps | 60 |\n| Valves | 30 |\n| Total | 90 |\n\n";
    let sales = "# Net sales by segment (in millions)\n\n\
        | | 2031 |\n|---|---|\n| Pumps | 600 |\n| Valves | 400 |\n| Total | 1,000 |\n\n";
    let both = [income, lines, sales].concat();
    let questions = [
        ("Pumps R&D as % of net sales 2031", ""),
        ("Pumps as % of net sales 2031", "60.0%"),
    ];
    assert_answers("report.md", &both, &questions);
    let questions = [("Pumps R&D as % of net sales 2031", "")];
    assert_answers("report.md", &[income, lines].concat(), &questions);
}

/// "Up" was ignored, and the answer was the figure.
#[test]
fn a_figure_that_is_up_has_risen() {
    let read = page(
        "",
        &[table(
            "CONSOLIDATED STATEMENTS OF INCOME",
            &[
                YEARS,
                &["Net sales", "1,000", "1,200", "640"],
                &["Operating expenses", "300", "200", "100"],
                &["Net income", "144", "93", "56"],
                &["Start-up costs", "1", "2", "3"],
            ],
        )],
    );
    let questions = [
        ("Is net income up in 2031?", "yes"),
        ("Start-up costs in 2031?", "1"),
        ("Was revenue up in 2031?", "no"),
        ("Was revenue down in 2031?", "yes"),
        ("Are operating expenses up?", "yes"),
        ("Was net income up from 2029 to 2031?", "yes"),
        ("Is revenue up year over year?", "no"),
        ("Did net income rise y/y in 2031?", "yes"),
        ("Is net income up more than 5% in 2031?", ""),
        ("What is net income up by in 2031?", "51"),
        ("What was net income up in 2031?", "51"),
        ("What was net income in 2031?", "144"),
    ];
    assert_answers("10k.htm", &read, &questions);
}

/// The answer was what the company paid for them.
#[test]
fn shares_repurchased_are_a_number_of_shares() {
    let flows: &[&[&str]] = &[
        YEARS,
        &["Net income", "144", "93", "56"],
        &["Repurchases of common stock", "(500)", "(400)", "(300)"],
    ];
    let title = "CONSOLIDATED STATEMENTS OF CASH FLOWS (in millions)";
    let read = page("", &[table(title, flows)]);
    let questions = [
        ("shares repurchased in 2031", ""),
        ("Shares repurchased?", ""),
        ("share repurchases in 2031", "500"),
        ("How much was spent on shares repurchased in 2031?", "500"),
    ];
    assert_answers("10k.htm", &read, &questions);
}

/// The non-current row alone was the total.
#[test]
fn a_balance_with_a_current_part_is_not_the_other_part() {
    let rows: &[&[&str]] = &[
        &["", "August 31, 2031"],
        &["Notes payable and other borrowings, current", "9"],
        &["Notes payable and other borrowings, non-current", "75"],
    ];
    let read = page("", &[table("As of August 31, 2031", rows)]);
    let questions = [
        ("total borrowings at August 31 2031", ""),
        ("total borrowings (current plus non-current)", ""),
    ];
    assert_answers("10q.htm", &read, &questions);
    let rows: &[&[&str]] = &[
        &["", "2031"],
        &["Total current assets", "90"],
        &["Operating lease liabilities, current", "6"],
        &["Total current liabilities", "60"],
        &["Operating lease liabilities, non-current", "65"],
        &["Total liabilities", "190"],
    ];
    let read = page("", &[table("CONSOLIDATED BALANCE SHEETS", rows)]);
    let questions = [
        (
            "total operating lease liabilities (current + non-current)",
            "71",
        ),
        ("operating lease liabilities, non-current", "65"),
    ];
    assert_answers("10q.htm", &read, &questions);
}

/// The formula was applied to the measure again.
#[test]
fn a_formula_in_brackets_restates_the_measure() {
    let questions = [
        (
            "free cash flow (operating cash flow less capex) in 2031",
            "95",
        ),
        ("free cash flow in 2031 (operating cash flow - capex)", "95"),
        (
            "interest coverage (operating income divided by interest expense) 2031",
            "10",
        ),
        (
            "Did free cash flow (operating cash flow less capex) rise in 2031?",
            "yes",
        ),
        ("free cash flow (cash from the moon less capex) in 2031", ""),
    ];
    assert_answers("10k.htm", &report(), &questions);
}

/// The average of 15.7 % and 11.5 % was 1,360 %.
#[test]
fn one_percent_sign_marks_a_row_of_percentages() {
    let rows: &[&[&str]] = &[
        YEARS,
        &["Income before tax", "900", "800", "700"],
        &["Effective tax rate", "15.7%", "11.5", "15.4"],
        &["Foreign tax rate", "0.9%", "0.7", "0.6"],
        &["Mixed provision", "5.0%", "120", "130"],
    ];
    let read = page("", &[table("Taxes", rows), table("Other", &rows[..2])]);
    let questions = [
        ("average effective tax rate 2030 and 2031", "13.6%"),
        (
            "change in effective tax rate from 2030 to 2031 in percentage points",
            "4.2",
        ),
        ("foreign tax rate in 2030", "0.7%"),
        ("mixed provision in 2030", "120"),
    ];
    assert_answers("10k.htm", &read, &questions);
}
