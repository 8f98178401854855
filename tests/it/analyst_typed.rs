//! `convfinqa ask` with the words that people type: abbreviations, "vs the prior year", what is due
//! in a schedule, and nouns that no heading has.

use crate::analyst_questions::table;
use crate::analyst_sides::{assert_answers, page};
use crate::support::cli::{CommandExt, Workplace};

/// The statement of income of an annual report.
fn income() -> String {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Revenue:"],
        &["Subscription", "600", "500"],
        &["Services", "300", "300"],
        &["Total revenue", "900", "800"],
        &["Research and development", "90", "70"],
        &["Operating expenses", "700", "660"],
        &["Operating income", "200", "140"],
        &["Net income", "144", "93"],
    ];
    table("CONSOLIDATED STATEMENTS OF INCOME", rows)
}

fn revenue_by(title: &str, parts: [&str; 3]) -> String {
    let [a, b, c] = parts;
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &[a, "540", "420"],
        &[b, "200", "200"],
        &[c, "160", "180"],
        &["Total revenue", "900", "800"],
    ];
    table(title, rows)
}

#[test]
fn an_area_of_another_kind_is_not_a_place() {
    let places = ["United States", "Europe", "Japan"];
    let by_place = revenue_by("Revenue by geographic area:", places);
    let therapies = ["Cardiology", "Oncology", "Immunology"];
    let by_therapy = revenue_by("Revenue by therapeutic area:", therapies);
    let area = "Which geographic area had the biggest revenue in 2031?";
    let therapeutic = "Which therapeutic area had the biggest revenue in 2031?";
    let one = page("", &[income(), by_place.clone()]);
    let location = "Which single billing location had the biggest revenue in 2031?";
    let questions = [
        (area, "United States"),
        (location, "United States"),
        (therapeutic, ""),
    ];
    assert_answers("report.html", &one, &questions);
    let both = page("", &[income(), by_place, by_therapy]);
    assert_answers("report.html", &both, &[(therapeutic, "Cardiology")]);
}

/// "Greater" was read as a comparison.
#[test]
fn greater_china_is_a_place() {
    let places = revenue_by("Revenue by region:", ["Americas", "Greater China", "Japan"]);
    let read = page("", &[income(), places]);
    let questions = [
        ("What was Greater China revenue in 2031?", "200"),
        (
            "Greater China revenue as a share of total revenue, 2030",
            "25.0%",
        ),
        (
            "Was Greater China revenue greater than Japan revenue in 2031?",
            "yes",
        ),
    ];
    assert_answers("report.html", &read, &questions);
}

#[test]
fn an_abbreviation_is_written_out_unless_a_label_has_it() {
    let place = ["United States", "Europe", "Japan"];
    let tables = [income(), revenue_by("Revenue by country:", place)];
    let cover =
        "<p>The Gas Depot, Inc.</p><p>(Exact name of registrant as specified in its charter)</p>";
    let questions = [
        ("total revs FY31?", "900"),
        ("sub revenue in 2031", "600"),
        ("op inc 2031", "200"),
        ("op margin 2031?", "22.2%"),
        ("Opex in 2031?", "700"),
        ("rev 2031 vs 2030, % change", "12.5%"),
        ("What was GD's operating income in 2031?", "200"),
        ("R&D as pct of rev, 2031", "10.0%"),
        ("avg net income 2030 to 2031", "118.5"),
        ("op inc / total revs, 2031", "0.222"),
        ("What were ads revs in 2031?", ""),
    ];
    assert_answers("report.html", &page(cover, &tables), &questions);
    let rows: &[&[&str]] = &[
        &["", "2031"],
        &["Sub sales", "40"],
        &["Subscription sales", "70"],
    ];
    let own = page("", &[income(), table("Sales by kind:", rows)]);
    assert_answers("report.html", &own, &[("Sub sales in 2031?", "40")]);
}

/// The statements of a quarterly report.
fn quarter() -> String {
    let flows: &[&[&str]] = &[
        &[
            "", "Three months ended September 30, 2031", "Three months ended September 30, 2030",
            "Nine months ended September 30, 2031", "Nine months ended September 30, 2030",
        ],
        &["Revenue", "500", "400", "1,400", "1,500"],
        &["Operating income", "100", "110", "300", "290"],
    ];
    let balances: &[&[&str]] = &[
        &["", "September 30, 2031", "September 30, 2030"],
        &["Inventories", "70", "80"],
        &["Total assets", "900", "800"],
    ];
    let head = "<p>For the quarterly period ended September 30, 2031</p>";
    let tables = [
        table("CONSOLIDATED STATEMENTS OF INCOME", flows),
        table("CONSOLIDATED BALANCE SHEETS", balances),
    ];
    page(head, &tables)
}

#[test]
fn a_comparison_with_the_year_before_names_its_period() {
    let questions = [
        ("What was revenue this quarter?", "500"),
        (
            "revenue this quarter vs the prior year, in percent",
            "25.0%",
        ),
        ("did operating income go up y/y this quarter?", "no"),
        ("Is revenue up this quarter?", "yes"),
        ("Were total assets higher than a year ago?", "yes"),
        ("Were inventories lower than a year ago?", "yes"),
        ("Were inventories higher than a year ago?", "no"),
        ("Total assets, latest balance sheet", "900"),
        ("What was revenue last quarter?", ""),
        ("What was revenue this year?", ""),
        ("What was revenue in the prior year?", ""),
    ];
    assert_answers("10q.html", &quarter(), &questions);
    let yearly = page("", &[income()]);
    let questions = [
        (
            "How much did net income grow in 2031 vs the prior year, in percent?",
            "54.8%",
        ),
        ("Is net income up in 2031?", "yes"),
        ("Were operating expenses down in 2031?", "no"),
        ("What was net income this year?", "144"),
        ("What was net income in the prior year?", ""),
    ];
    assert_answers("report.html", &yearly, &questions);
}

#[test]
fn what_went_to_a_cost_is_not_a_ratio() {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Net earnings", "144", "93"],
        &["Stock-based compensation", "45", "40"],
        &["Net cash provided by operating activities", "190", "130"],
    ];
    let flows = table("CONSOLIDATED STATEMENTS OF CASH FLOWS", rows);
    let one = page("", &[income(), flows]);
    let questions = [
        ("How much stock-based compensation went to R&D in 2031?", ""),
        ("Stock-based compensation to R&D in 2031?", "0.5"),
    ];
    assert_answers("report.html", &one, &questions);
}

#[test]
fn what_is_due_in_a_schedule_needs_no_label() {
    let leases: &[&[&str]] = &[
        &["", "Operating leases", "Finance leases"],
        &["2032", "40", "9"],
        &["2033", "30", "8"],
        &["Thereafter", "20", "7"],
        &["Total", "90", "24"],
    ];
    let intangibles: &[&[&str]] = &[
        &["", "Amount"],
        &["2032", "12"],
        &["2033", "11"],
        &["Thereafter", "10"],
    ];
    let tables = [
        income(),
        table("Maturities of lease liabilities are as follows:", leases),
        table("Amortization of intangibles is as follows:", intangibles),
    ];
    let questions = [
        ("operating lease payments due in 2033", "30"),
        ("finance lease maturities expected in 2032", "9"),
        ("expected amortization of intangibles in 2033", "11"),
        (
            "amortization of intangibles due in 2032 and 2033 combined",
            "23",
        ),
        ("rent payments due in 2033", ""),
        ("lease payments due in 2033", ""),
    ];
    assert_answers("report.html", &page("", &tables), &questions);
}

#[test]
fn a_label_that_begins_with_average_is_a_row() {
    let selected: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Average ticket", "$ 89.31", "$ 90.07"],
        &["Weighted-average remaining lease term:"],
        &["Operating leases", "13.1", "12.0"],
        &["Finance leases", "9.5", "9.0"],
    ];
    let tables = [income(), table("Selected data:", selected)];
    let questions = [
        ("Average ticket for fiscal 2031?", "89.31"),
        ("What was the average ticket in 2030?", "90.07"),
        (
            "wtd avg remaining lease term of operating leases in 2031",
            "13.1",
        ),
        ("average net income for 2030 and 2031", "118.5"),
    ];
    assert_answers("report.html", &page("", &tables), &questions);
}

#[test]
fn a_row_of_dashes_is_not_a_heading() {
    let rows: &[&[&str]] = &[
        &["", "Pumps", "Valves", "Total"],
        &["Goodwill at December 31, 2030", "100", "250", "350"],
        &[
            "Goodwill, related to divestitures", "\u{2014}", "\u{2014}", "\u{2014}",
        ],
        &["Goodwill at December 31, 2031", "110", "260", "370"],
    ];
    let note = table("Goodwill as allocated by segment of business:", rows);
    let questions = [("What was goodwill for Valves at year end 2031?", "260")];
    assert_answers("report.html", &page("", &[income(), note]), &questions);
}

#[test]
fn a_return_on_capital_is_a_percentage() {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Average invested capital", "900", "800"],
        &["ROIC", "36.7%", "31.3%"],
    ];
    let tables = [income(), table("The calculation of ROIC:", rows)];
    let questions = [("ROIC for fiscal 2030", "31.3%")];
    assert_answers("report.html", &page("", &tables), &questions);
}

#[test]
fn a_figure_is_confirmed_by_the_same_one_under_plain_labels() {
    let kinds: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Cloud services", "50", "40"],
        &["License support", "48", "49"],
        &[
            "Total cloud services and license support revenues",
            "98",
            "89",
        ],
    ];
    let business: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Revenues by Offerings:"],
        &["Cloud services", "50", "40"],
        &["License support", "48", "49"],
        &["Licenses", "12", "9"],
        &["Revenues by Ecosystem:"],
        &[
            "Total cloud services and license support revenues",
            "98",
            "89",
        ],
    ];
    let tables = [
        income(),
        table("Cloud services and license support revenues:", kinds),
        table("Cloud and License Business", business),
    ];
    let questions = [
        ("license support revenue in 2030", "49"),
        ("cloud services rev growth in 2031", "25.0%"),
    ];
    assert_answers("report.html", &page("", &tables), &questions);
}

#[test]
fn both_terms_of_debt_are_not_one_of_them() {
    let days: &[&str] = &["", "December 31, 2031", "December 31, 2030"];
    let short: &[&str] = &["Notes payable and other borrowings, current", "30", "20"];
    let long: &[&str] = &[
        "Notes payable and other borrowings, non-current",
        "70",
        "60",
    ];
    let total: &[&str] = &["Total liabilities", "300", "200"];
    let question = "total borrowings at December 31, 2031 (current plus non-current)";
    let note = table("As of December 31, 2031", &[days, long, total]);
    assert_answers(
        "report.html",
        &page("", &[income(), note]),
        &[(question, "")],
    );
    let balances = table("CONSOLIDATED BALANCE SHEETS", &[days, long, short, total]);
    assert_answers(
        "report.html",
        &page("", &[income(), balances]),
        &[(question, "100")],
    );
}

#[test]
fn a_dividend_per_share_is_not_all_dividends() {
    let flows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Net earnings", "144", "93"],
        &["Cash dividends", "(45)", "(40)"],
        &["Net cash provided by operating activities", "190", "130"],
    ];
    let data: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Dividends declared per share", "$ 2.40", "$ 1.90"],
    ];
    let flows = table("CONSOLIDATED STATEMENTS OF CASH FLOWS", flows);
    let both = page(
        "",
        &[income(), flows.clone(), table("Data per share:", data)],
    );
    let question = "By how much did the dividend per share go up from 2030 to 2031?";
    assert_answers("report.html", &both, &[(question, "0.50 per share")]);
    let one = page("", &[income(), flows]);
    assert_answers("report.html", &one, &[(question, "")]);
}

/// A word with one wrong letter was taken for a word that no label has.
#[test]
fn a_misspelled_word_is_read_as_the_only_word_of_questions_that_it_can_be() {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030", "2029"],
        &["Total revenue", "900", "800", "640"],
        &["Research and development", "90", "70", "50"],
        &["Contract costs", "40", "30", "20"],
        &["Contact costs", "4", "3", "2"],
        &["Operating income", "180", "140", "100"],
    ];
    let read = page("", &[table("CONSOLIDATED STATEMENTS OF INCOME", rows)]);
    let questions = [
        ("What was reasearch and developement in 2031?", "90"),
        ("opperating margin in 2031", "20.0%"),
        ("Averge operating income over 2029 to 2031", "140"),
        ("averge operating income over 2029 to 2031", "140"),
        // Words of labels may be near an ordinary word.
        ("What were contarct costs in 2031?", ""),
        ("What were conract costs in 2031?", ""),
        // A name, and a word that is more than a letter away.
        ("What was Reveneu in 2031?", ""),
        ("What was reveenuee in 2031?", ""),
        // Another word.
        ("What were contrast costs in 2031?", ""),
    ];
    assert_answers("report.html", &read, &questions);
}

/// Words of courtesy, "within" and "which share" were taken for words that no label has.
#[test]
fn the_same_question_in_other_words_has_the_same_answer() {
    let regions = revenue_by("Revenue by segment:", ["North", "Harbour Sun", "South"]);
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["North:"],
        &["Revenue", "540", "420"],
        &["Operating income", "108", "42"],
        &["Harbour Sun:"],
        &["Revenue", "200", "200"],
        &["Operating income", "10", "20"],
    ];
    let segments = table("Results by segment:", rows);
    let read = page("", &[income(), regions, segments]);
    let questions = [
        (
            "Hello, could you please tell me what research and development was in 2031?",
            "90",
        ),
        (
            "Which share of total revenue came from North in 2031?",
            "60.0%",
        ),
        ("segment with the highest revenue in 2030", "North"),
        (
            "In which of the years 2030 to 2031 was net income highest?",
            "2031",
        ),
        (
            "Harbour Sun operating income as a percentage of its revenue in 2031",
            "5.0%",
        ),
        // "Their" has nothing to stand for.
        ("Did revenue exceed their budget in 2031?", ""),
        (
            "Please compare research and development in 2031 with 2030.",
            "90 million; 70",
        ),
    ];
    assert_answers("report.html", &read, &questions);
}

/// The total of all parts is printed below the heading of the first.
#[test]
fn a_total_of_a_note_is_not_only_of_its_last_heading() {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Finance lease cost:"],
        &["Amortization", "4", "3"],
        &["Interest", "1", "1"],
        &["Operating lease cost", "20", "18"],
        &["Variable cost", "5", "6"],
        &["Total lease cost", "30", "28"],
    ];
    let read = page(
        "",
        &[income(), table("The components are as follows:", rows)],
    );
    let questions = [
        ("What was the total lease cost in 2031?", "30"),
        ("What was amortization in 2031?", ""),
    ];
    assert_answers("report.html", &read, &questions);
    // A viewer of tagged reports prints the names of technical headings.
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["North"],
        &["Segment Reporting Information [Line Items]"],
        &["Revenue", "540", "420"],
        &["South"],
        &["Segment Reporting Information [Line Items]"],
        &["Revenue", "360", "380"],
    ];
    let read = page(
        "",
        &[income(), table("Segment information (details)", rows)],
    );
    let questions = [
        ("North revenue in 2031", "540"),
        ("Revenue of South 2030", "380"),
    ];
    assert_answers("report.html", &read, &questions);
}

/// The doubt was "may not be what is meant", without a reason.
#[test]
fn a_doubt_about_a_figure_says_what_its_labels_lack_or_say_more() {
    let rows: &[&[&str]] = &[
        &["", "2031", "2030"],
        &["Pension cost:"],
        &["Interest", "4", "3"],
        &["Deferred revenue of licences", "20", "18"],
    ];
    let read = page(
        "",
        &[income(), table("The components are as follows:", rows)],
    );
    let place = Workplace::new();
    place.write("report.html", &read);
    for (question, reason) in [
        ("What was interest in 2031?", "it is under \\\"Pension cost"),
        (
            "What was deferred revenue in 2031?",
            "\\\"Deferred revenue of licences\\\" says more than the question",
        ),
        (
            "What was adjusted net income in 2031?", "its labels do not say \\\"adjusted\\\"",
        ),
    ] {
        let mut ask = place.command();
        ask.args(["ask", "report.html", question, "--json"]);
        let said = ask.ran().stdout;
        let reason = format!("may not be what is meant: {reason}");
        assert!(said.contains(&reason), "{question}: {said}");
    }
}
