//! `convfinqa ask` where only one figure can be meant, in words that are not quite those of its label.

use crate::analyst_questions::{report, table};
use crate::analyst_sides::{assert_answers, page};
use crate::support::cli::Workplace;

const YEARS: &[&str] = &["", "2031", "2030", "2029"];

fn income(rows: &[&[&str]]) -> String {
    page("", &[table("CONSOLIDATED STATEMENTS OF INCOME", rows)])
}

/// All rows below the heading "Cost of sales" were taken for a part that is held for sale.
#[test]
fn rows_below_the_cost_of_sales_are_of_the_whole() {
    let read = income(&[
        YEARS,
        &["Net sales:"],
        &["Products", "700", "600", "500"],
        &["Services", "300", "200", "140"],
        &["Total net sales", "1,000", "800", "640"],
        &["Cost of sales:"],
        &["Products", "450", "400", "350"],
        &["Services", "150", "100", "70"],
        &["Total cost of sales", "600", "500", "420"],
        &["Gross profit", "400", "300", "220"],
        &["Research and development expenses", "90", "70", "60"],
        &["Restructuring charges", "4", "9", "2"],
        &["Operating income", "200", "140", "80"],
        &["Interest expense", "(20)", "(16)", "(10)"],
    ]);
    let questions = [
        ("What was R&D back in 2029?", "60"),
        ("EBIT margin in 2031?", "20.0%"),
        ("What was gross margin in 2030?", "37.5%"),
        (
            "By how many points did gross margin widen in 2031?",
            "2.5 percentage points",
        ),
        ("What was the interest cover in 2031?", "10"),
        ("What were restructuring costs in 2031?", "4"),
        ("In which year were restructuring costs highest?", "2030"),
        ("What were service costs in 2031?", "150"),
        ("What was EBIT of the discontinued business in 2031?", ""),
    ];
    assert_answers("10k.htm", &read, &questions);
    let held = income(&[
        YEARS,
        &["Net sales", "1,000", "800", "640"],
        &["Service charges", "8", "9", "2"],
        &["Operations held for sale:"],
        &["Net income", "14", "9", "5"],
    ]);
    let questions = [
        ("What was the profit in 2031?", ""),
        ("What were service costs in 2031?", ""),
    ];
    assert_answers("10k.htm", &held, &questions);
}

/// A loss was doubted because its row may be a profit too.
#[test]
fn a_profit_below_zero_is_the_loss_asked_for() {
    let read = income(&[
        YEARS,
        &["Net sales", "1,000", "800", "640"],
        &["Income (loss) from operations", "(60)", "40", "20"],
        &["Income (loss) before income taxes", "(70)", "30", "10"],
        &["Net income (loss)", "(56)", "24", "8"],
    ]);
    let questions = [
        ("How large was the operating loss in 2031?", "-60"),
        ("What was the net loss in 2031?", "-56"),
        ("What was the loss before income taxes in 2031?", "-70"),
        ("How large was the operating loss in 2030?", ""),
        ("What was the net loss in 2030?", ""),
    ];
    assert_answers("10k.htm", &read, &questions);
    let segments: &[&[&str]] = &[
        &["", "Net sales 2031", "Segment profit (loss) 2031"],
        &["Doors", "600", "70"],
        &["Locks", "400", "(15)"],
        &["Total", "1,000", "55"],
    ];
    let read = page("", &[table("Segments", segments)]);
    let questions = [
        ("What was the segment profit of Locks in 2031?", "-15"),
        ("What did the Locks segment earn or lose in 2031?", "-15"),
        (
            "What was the segment profit (loss) of Locks in 2031?",
            "-15",
        ),
        ("What was the segment profit of Hinges in 2031?", ""),
    ];
    assert_answers("10k.htm", &read, &questions);
}

/// The other language of a label was a word that nobody had asked for.
#[test]
fn a_label_in_two_scripts_says_one_thing() {
    let read = income(&[
        YEARS,
        &["\u{58f2}\u{4e0a}\u{9ad8} Net sales", "1,000", "800", "640"],
        &[
            "\u{58f2}\u{4e0a}\u{7dcf}\u{5229}\u{76ca} Gross profit",
            "400",
            "300",
            "220",
        ],
        &[
            "Ordinary income \u{7d4c}\u{5e38}\u{5229}\u{76ca}",
            "150",
            "200",
            "180",
        ],
    ]);
    let questions = [
        ("What was gross margin in 2031?", "40.0%"),
        ("By what percent did ordinary income fall in 2031?", "25.0%"),
        ("What was extraordinary income in 2031?", ""),
        ("What was operating income in 2031?", ""),
    ];
    assert_answers("tanshin.htm", &read, &questions);
}

/// Without a cover, the company's name was the name of something else.
#[test]
fn a_legal_name_at_the_top_is_the_company() {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Revenue", "1,000", "800"],
        &["Operating result (EBIT)", "200", "140"],
    ];
    for line in [
        "Halden Door Works AG, Bremen",
        "Halden Door Works, Inc. - annual report",
        "HALDEN DOOR WORKS PLC",
    ] {
        let text = format!("<p>{line}</p><p>A door that works is what we sell.</p>");
        let read = page(&text, &[table("Consolidated income statement", rows)]);
        let questions = [
            ("What was Halden's EBIT in 2031?", "200"),
            ("What was Halden's group EBIT margin in 2031?", "20.0%"),
            ("What was Door's EBIT in 2031?", ""),
            ("What was Holden's EBIT in 2031?", ""),
        ];
        assert_answers("report.htm", &read, &questions);
    }
}

/// "Less" was a word of the label that nobody had asked for.
#[test]
fn debt_less_its_current_portion_is_long_term_debt() {
    let days: &[&str] = &["", "December 31, 2031", "December 31, 2030"];
    let own: &[&[&str]] = &[
        days,
        &["Short-term borrowings", "60", "50"],
        &["Current portion of long-term debt", "40", "50"],
        &["Long-term debt, less current portion", "300", "400"],
        &["Total liabilities", "700", "800"],
        &["Total stockholders' equity", "500", "400"],
        &["Noncontrolling interests", "30", "20"],
        &["Total equity", "530", "420"],
    ];
    let read = page("", &[table("CONSOLIDATED BALANCE SHEETS", own)]);
    let questions = [
        ("What was long-term debt at December 31, 2031?", "300"),
        ("What was total debt at December 31, 2031?", "400"),
        ("What was debt to equity at the end of 2030?", "1.25"),
        (
            "What was the current portion of long-term debt at December 31, 2031?",
            "40",
        ),
        ("What was total equity at December 31, 2031?", "530"),
        (
            "What was total stockholders' equity at December 31, 2031?",
            "500",
        ),
    ];
    assert_answers("10k.htm", &read, &questions);
}

/// "Held" was taken for a word that changes no question.
#[test]
fn what_is_held_for_sale_is_not_the_whole() {
    let read = income(&[
        YEARS,
        &["Net sales", "700", "600", "500"],
        &["Assets held for sale", "30", "20", "10"],
    ]);
    let questions = [
        ("What were net sales in 2030?", "600"),
        ("What were assets held for sale in 2030?", "20"),
        ("What were net sales of products held for sale in 2030?", ""),
        (
            "What were the net sales of the held-for-sale business in 2031?",
            "",
        ),
    ];
    assert_answers("10k.htm", &read, &questions);
}

/// "Closing" was a word that the report lacks, although "ending" was read.
#[test]
fn a_closing_balance_is_that_at_the_end() {
    let questions = [
        ("What was the closing balance of inventories in 2031?", "80"),
        ("What was the closing cash balance in 2030?", "100"),
        (
            "What was the closing balance of cash and cash equivalents in 2031?",
            "120",
        ),
        ("What was the ending balance of inventories in 2031?", "80"),
        (
            "By how much did the closing cash balance rise in 2031?",
            "20",
        ),
        // Not sure: it is not a balance, it is another balance, or the word means something else.
        ("What was the closing balance of net sales in 2031?", ""),
        ("What was the opening balance of inventories in 2031?", ""),
        ("What was the beginning balance of cash in 2031?", ""),
        ("What was the closing price of inventories in 2031?", ""),
    ];
    assert_answers("10k.htm", &report(), &questions);
    // A row with the word is found by it.
    let note = table(
        "Provisions",
        &[
            &["", "2031", "2030"],
            &["Opening balance", "40", "30"],
            &["Additions", "20", "10"],
            &["Closing balance", "60", "40"],
        ],
    );
    let place = Workplace::new();
    place.write("note.htm", &page("", &[note]));
    let ran = place.run("ask note.htm 'What was the closing balance in 2031?' --json");
    assert_eq!(ran.json()["answer"], "60 million");
}

/// "How much lower" was answered with a negative difference, without a doubt, where the first
/// figure is the higher one.
#[test]
fn how_much_lower_is_not_sure_of_a_figure_that_is_higher() {
    let read = income(&[
        YEARS,
        &["Net sales", "1,000", "800", "640"],
        &["Operating income", "200", "240", "80"],
    ]);
    let questions = [
        (
            "How much lower was operating income in 2031 than in 2030?",
            "40",
        ),
        (
            "How much lower was operating income than net sales in 2031?",
            "800",
        ),
        ("How much lower were net sales in 2031 than in 2030?", ""),
        (
            "How much lower were net sales than operating income in 2031?",
            "",
        ),
        ("By how much did net sales fall in 2031?", ""),
        ("Was operating income lower in 2031 than in 2030?", "yes"),
        ("Were net sales lower in 2031 than in 2030?", "no"),
    ];
    assert_answers("10k.htm", &read, &questions);
}
