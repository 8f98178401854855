//! `convfinqa ask` for rows of a report's statements that their own labels do not tell apart, or that
//! have no label, and for the periods of quarterly reports.

use crate::analyst_sides::assert_answers;

/// Sales net of returns were taken for another figure than sales, and the cost of sales answered.
/// Rows with one name under several headings of a statement were in doubt, even if only one of the
/// headings says nothing more.
#[test]
fn a_row_is_found_although_its_label_says_what_it_is_net_of() {
    let report = "# Results\n\nSTATEMENTS OF INCOME (in thousands, except per share data)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Sales, net of returns and allowances | 500 | 400 |\n\
        | Cost of sales (including occupancy costs) | 300 | 250 |\n\
        | Gross profit | 200 | 150 |\n\
        | Operating expenses: | | |\n\
        | Marketing | 40 | 30 |\n\
        | General and administrative | 60 | 50 |\n\
        | Operating income | 100 | 70 |\n\
        | Gain on disposal, net of tax | 3 | 2 |\n\
        | Net income | 90 | 60 |\n\
        | Earnings per share: | | |\n\
        | Basic | $1.00 | $0.70 |\n\
        | Diluted | $0.90 | $0.60 |\n\
        | Weighted average shares used to compute earnings per share: | | |\n\
        | Basic | 90 | 85 |\n\
        | Diluted | 100 | 100 |\n\
        | Share-based compensation included in costs and expenses: | | |\n\
        | Marketing | 4 | 3 |\n\
        | General and administrative | 6 | 5 |\n\n\
        BALANCE SHEETS (in thousands)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Cash | 70 | 60 |\n| Total assets | 900 | 800 |\n";
    let questions = [
        ("What were sales in 2033?", "500 thousand"),
        ("What was revenue in 2033?", "500 thousand"),
        ("What was the gross margin in 2033?", "40.0%"),
        ("What was the cost of sales in 2033?", "300 thousand"),
        ("What was the gain on disposal in 2033?", ""),
        ("What were sales returns and allowances in 2033?", ""),
        ("What were G&A expenses in 2033?", "60 thousand"),
        ("What was diluted EPS in 2033?", "0.90 per share"),
        (
            "What share of sales was the operating income in 2033?",
            "20.0%",
        ),
        (
            "In 2033, what share of sales was the operating income?",
            "20.0%",
        ),
    ];
    assert_answers("a.md", report, &questions);
}

/// Totals and net figures without a label were never found, and another row was the best guess.
#[test]
fn a_row_without_a_label_is_found_by_what_it_adds_up() {
    let report = "# Results\n\nSTATEMENTS OF INCOME (in thousands)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Sales | 500 | 400 |\n\
        | Operating expenses: | | |\n\
        | Selling | 140 | 130 |\n\
        | General and administrative | 60 | 50 |\n\
        | | 200 | 180 |\n\
        | Other charges: | | |\n\
        | Repairs | 14 | 13 |\n\
        | Fines | 6 | 5 |\n\
        | | 21 | 18 |\n\
        | Net income | 280 | 202 |\n\n\
        BALANCE SHEETS (in thousands)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Current assets: | | |\n\
        | Cash | 70 | 60 |\n\
        | Inventories | 30 | 40 |\n\
        | | 100 | 100 |\n\
        | Receivables | 20 | 20 |\n\
        | Total current assets | 120 | 120 |\n\
        | Property and equipment | 900 | 800 |\n\
        | Less accumulated depreciation | (400) | (350) |\n\
        | | 500 | 450 |\n\
        | Total assets | 620 | 570 |\n";
    let questions = [
        (
            "What were total operating expenses in 2033?",
            "200 thousand",
        ),
        (
            "By how much did total operating expenses change from 2032 to 2033?",
            "20 thousand",
        ),
        (
            "What was property and equipment, net, at the end of 2033?",
            "500 thousand",
        ),
        ("What were total current assets in 2033?", "120 thousand"),
        // The parts do not add up to it.
        ("What were total other charges in 2033?", ""),
    ];
    assert_answers("a.md", report, &questions);
}

/// What a cost leaves is not the net figure, and a subtotal or one of two totals is not the total.
#[test]
fn a_row_without_a_label_gets_no_name_that_means_another_figure() {
    let report = "# Results\n\nSTATEMENTS OF INCOME (in thousands)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Sales | 100 | 90 |\n| Less: cost of sales | 60 | 50 |\n| | 40 | 40 |\n\
        | Electric operating expenses: | | |\n| Fuel | 14 | 13 |\n| Upkeep | 6 | 5 |\n| | 20 | 18 |\n\
        | Electric operating expenses: | | |\n| Gas | 4 | 3 |\n| Upkeep | 1 | 1 |\n| | 5 | 4 |\n\
        | Net income | 15 | 18 |\n\n\
        STATEMENTS OF CASH FLOWS (in thousands)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Cash flows from operating activities: | | |\n\
        | Net income | 15 | 18 |\n| Depreciation | 5 | 4 |\n| | 20 | 22 |\n\
        | Receivables | (3) | (2) |\n| Cash from operations | 17 | 20 |\n\n\
        BALANCE SHEETS (in thousands)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Total assets | 300 | 290 |\n\
        | Stockholders' equity: | | |\n\
        | Common stock | 10 | 10 |\n| Retained earnings | 90 | 80 |\n| | 100 | 90 |\n\
        | Less treasury stock | (20) | (15) |\n| | 80 | 75 |\n\
        | Liabilities: | | |\n| Loans | 220 | 215 |\n";
    let questions = [
        ("What were sales in 2033?", "100 thousand"),
        ("What were electric operating expenses in 2033?", ""),
        (
            "What were cash flows from operating activities in 2033?",
            "17 thousand",
        ),
        (
            "What was total stockholders' equity at the end of 2033?",
            "",
        ),
    ];
    assert_answers("a.md", report, &questions);
}

/// A year to date was no period of the page, and a quarter within a fiscal year was two periods.
#[test]
fn a_year_to_date_is_the_longest_period_of_a_quarterly_report() {
    let report = "# Quarterly report\n\nSTATEMENTS OF INCOME (in thousands)\n\n\
        | | Three Months Ended June 30, 2033 | Three Months Ended June 30, 2032 \
        | Six Months Ended June 30, 2033 | Six Months Ended June 30, 2032 |\n\
        |---|---:|---:|---:|---:|\n\
        | Sales | 50 | 40 | 90 | 75 |\n\
        | Net income | 5 | 4 | 9 | 8 |\n\n\
        BALANCE SHEETS (in thousands)\n\n\
        | | June 30, 2033 | December 31, 2032 |\n|---|---:|---:|\n\
        | Cash | 70 | 60 |\n| Total assets | 900 | 800 |\n";
    let questions = [
        ("What were sales year to date?", "90 thousand"),
        ("What was year-to-date net income in 2033?", "9 thousand"),
        ("By what percent did year-to-date sales grow?", "20.0%"),
        (
            "What were second-quarter sales in fiscal 2033?",
            "50 thousand",
        ),
    ];
    assert_answers("a.md", report, &questions);
    let annual = report
        .replace("Three Months Ended June 30", "Year Ended December 31")
        .replace("Six Months Ended June 30", "Nine Months Ended September 30");
    assert_answers("b.md", &annual, &[("What were sales year to date?", "")]);
    let second_quarter = report
        .replace(
            "Six Months Ended June 30, 2033", "Three Months Ended March 31, 2033",
        )
        .replace(
            "Six Months Ended June 30, 2032", "Three Months Ended March 31, 2032",
        );
    let questions = [("What were sales year to date in 2033?", "")];
    assert_answers("c.md", &second_quarter, &questions);
}

/// Rows with one name under "Net sales" and "Cost of sales": the words of the whole decide. A year
/// before the question made both sides one figure.
#[test]
fn a_part_of_a_whole_is_the_row_under_it() {
    let report = "# Annual report\n\nSTATEMENTS OF OPERATIONS (in millions)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Net sales: | | |\n| Products | 700 | 600 |\n| Services | 300 | 250 |\n\
        | Total net sales | 1,000 | 850 |\n\
        | Cost of sales: | | |\n| Products | 400 | 350 |\n| Services | 150 | 130 |\n\
        | Total cost of sales | 550 | 480 |\n| Net income | 200 | 150 |\n\n\
        BALANCE SHEETS (in millions)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | LIABILITIES AND EQUITY | | |\n\
        | Current liabilities: | | |\n| Term debt | 11 | 10 |\n\
        | Total current liabilities | 90 | 80 |\n\
        | Non-current liabilities: | | |\n| Term debt | 86 | 95 |\n\
        | Total liabilities | 300 | 290 |\n";
    let questions = [
        (
            "What share of total net sales came from services in 2033?",
            "30.0%",
        ),
        (
            "In 2033, what share of total net sales came from services?",
            "30.0%",
        ),
        (
            "What share of total cost of sales came from services in 2033?",
            "27.3%",
        ),
        ("In 2033, what share of revenue was net income?", "20.0%"),
        ("What was the ratio of services to products in 2033?", ""),
        (
            "What was Term debt under Current liabilities in 2033?",
            "11",
        ),
        (
            "What was Term debt under Non-current liabilities in 2033?",
            "86",
        ),
    ];
    assert_answers("a.md", report, &questions);
}

/// A share of the sales was one of the segment whose table the part is in.
#[test]
fn the_whole_in_a_note_is_doubted_if_the_statement_has_another() {
    let report = "# Annual report\n\nSTATEMENTS OF OPERATIONS (in millions)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Net sales | 1,250 | 1,100 |\n| Net income | 200 | 150 |\n\n\
        Energy segment (in millions)\n\n\
        | | 2033 | 2032 |\n|---|---:|---:|\n\
        | Gas pipes | 40 | 30 |\n| Oil pipes | 60 | 50 |\n| Net sales | 100 | 80 |\n";
    let question = "What share of net sales came from gas pipes in 2033?";
    assert_answers("a.md", report, &[(question, "")]);
    let of_all = report.replace("| 100 | 80 |", "| 1,250 | 1,100 |");
    assert_answers("b.md", &of_all, &[(question, "3.2%")]);
}
