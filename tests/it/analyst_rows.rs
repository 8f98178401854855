//! `convfinqa ask` for rows by their labels, facts in sentences, and what a follow-up refers to.

use serde_json::Value as Json;

use crate::analyst_questions::{amount, ask, opened, report, table};
use crate::support::cli::{CommandExt, Workplace};

/// What the report of `analyst_questions` has not: rows of one name, segments under headings, a schedule whose title
/// has a day, facts in sentences.
fn labels() -> String {
    let years: &[&str] = &["", "2031", "2030"];
    let days: &[&str] = &["", "December 31, 2031", "December 31, 2030"];
    let tables = [
        table(
            "CONSOLIDATED STATEMENTS OF OPERATIONS",
            &[
                years,
                &["Revenue:"],
                &["Products", "700", "600"],
                &["Services", "300", "250"],
                &["Total revenue", "1,000", "850"],
                &["Cost of revenue:"],
                &["Products", "400", "350"],
                &["Services", "150", "130"],
                &["Total cost of revenue", "550", "480"],
                &["Depreciation", "30", "28"],
                &["Operating income", "220", "180"],
                &["Gains (losses) on investments, net", "(9)", "7"],
                &["Net income", "160", "140"],
            ],
        ),
        table(
            "CONSOLIDATED BALANCE SHEETS",
            &[
                days,
                &["Current assets:"],
                &["Cash and cash equivalents", "90", "70"],
                &["Inventories", "60", "55"],
                &["Total current assets", "300", "270"],
                &["LIABILITIES, REDEEMABLE NONCONTROLLING INTEREST AND EQUITY"],
                &["Current liabilities:"],
                &["Debt", "15", "10"],
                &["Long-term debt due within one year", "20", "18"],
                &["Total current liabilities", "150", "140"],
                &["Long-term liabilities:"],
                &["Debt", "200", "190"],
                &["Total equity", "410", "350"],
            ],
        ),
        table(
            "CONSOLIDATED STATEMENTS OF CASH FLOWS",
            &[
                years,
                &["Cash flows from operating activities:"],
                &["Net income", "160", "140"],
                &["Depreciation, excluding that of leased assets", "26", "25"],
                &["(Gains) losses on investments, net", "9", "(7)"],
                &["Inventories", "(5)", "3"],
                &["Increase in accrued liabilities", "11", "8"],
                &["Net change in cash and cash equivalents", "20", "12"],
                &["Cash and cash equivalents at end of year", "90", "70"],
            ],
        ),
        table(
            "The gain (loss) recognized on the consolidated statements of operations is:",
            &[years, &["Products", "3", "2"]],
        ),
        table(
            "Segments",
            &[
                years,
                &["North America"],
                &["Net sales", "620", "540"],
                &["Operating income", "170", "150"],
                &["Rovex Club U.S."],
                &["Net sales", "380", "310"],
                &["Operating income", "90", "60"],
                &["Corporate and support"],
                &["Operating loss", "(40)", "(30)"],
            ],
        ),
        table(
            "As of December 31, 2031, future principal payments of debt were as follows:",
            &[
                &["", ""],
                &["2032", "35"],
                &["2033", "80"],
                &["2034", "120"],
            ],
        ),
    ];
    format!(
        "<html><body><p>Halden Inc.</p><p>(Exact name of registrant as specified in its charter)</p>\
        <p>Annual report for the fiscal year ended December 31, 2031</p>\
        <p>As of December 31, 2031, we employed approximately 12,300 full-time and part-time associates, of whom 4,100 \
        work in stores. We care for the health of our 900 employees in the region.</p>\
        <p>As of December 31, 2031, we have $7.5 billion of unrecorded purchase commitments, of which $2.1 billion is \
        due within one year.</p>{}</body></html>",
        tables.concat()
    )
}

/// Their words were read as operations, qualifiers and periods.
#[test]
fn a_whole_printed_label_is_answered_by_its_row() {
    let place = Workplace::new();
    place.write("10k.htm", &labels());
    for (question, answer) in [
        (
            "What was the net change in cash and cash equivalents in 2031?",
            20.0,
        ),
        ("What was the increase in accrued liabilities in 2030?", 8.0),
        ("Cash and cash equivalents at end of year in 2030?", 70.0),
        ("What were inventories in 2031?", 60.0),
        (
            "What were inventories in the cash flow statement in 2030?",
            3.0,
        ),
        ("What was Debt under long-term liabilities in 2031?", 200.0),
        (
            "What were Services under Cost of revenue in the income statement in 2031?",
            150.0,
        ),
        ("What were Products under Revenue in 2030?", 600.0),
        ("What were (gains) losses on investments, net in 2031?", 9.0),
        (
            "How much long-term debt is due within one year at December 31, 2031?",
            20.0,
        ),
        (
            "What were total current liabilities at December 31, 2031?",
            150.0,
        ),
        ("What was the operating income of Rovex Club in 2031?", 90.0),
        ("How much debt has to be repaid in 2033?", 80.0),
        ("How much debt falls due in 2034?", 120.0),
        ("How many people work for Halden?", 12_300.0),
        (
            "How many full-time and part-time staff did Halden employ at the end of 2031?",
            12_300.0,
        ),
        ("What were purchase commitments at December 31, 2031?", 7.5),
    ] {
        let read = ask(&place, question);
        let found = amount(&read["answer"]);
        let same = found.is_some_and(|it| (it.abs() - answer).abs() < 1e-9);
        assert!(same && read["doubt"].is_null(), "{question}: {read}");
    }
    let largest = ask(
        &place,
        "Which segment had the largest operating income in 2031?",
    );
    assert_eq!(largest["answer"], "North America", "{largest}");
}

/// Each has another figure, a word or a period that the row or the sentence does not.
#[test]
fn a_label_that_others_share_or_that_lacks_a_word_is_a_doubt() {
    let place = Workplace::new();
    place.write("10k.htm", &labels());
    for question in [
        "What were Products in 2031?",
        "What was operating net income in 2031?",
        "What was net depreciation, excluding that of leased assets, in 2031?",
        "What was net income after 2030?",
        "What was debt in 2031?",
        "What was depreciation in 2031?",
        "What was the adjusted net change in cash and cash equivalents in 2031?",
        "What was the net change in cash and cash equivalents in the first quarter of 2031?",
        "What was Inventories in the income statement in 2031?",
        "What was Debt under the marine division in 2031?",
        "How many people worked for Halden at the end of 2028?",
        "How many people work for Halden in Brazil?",
        "What were purchase commitments of the parent company at December 31, 2031?",
    ] {
        let read = ask(&place, question);
        let sure = !read["answer"].is_null() && read["doubt"].is_null();
        assert!(!sure, "{question}: {read}");
    }
}

/// A pronoun was read as nothing: "what share of revenue is that?" was answered by the revenue.
#[test]
fn a_follow_up_takes_the_figure_of_the_question_before() {
    let place = opened();
    for (questions, answers) in [
        (
            "What was operating income in 2031?\nWhat share of net sales is that?\nAnd in 2030?",
            ["200", "20.0%", "17.5%"],
        ),
        (
            "What was gross profit in 2030?\nAnd as a share of net sales?\nAs a percentage of total assets?",
            ["300", "37.5%", ""],
        ),
        (
            "Net income in 2031?\nand what percent of net sales was that?\nAnd as a multiple of dividends paid?",
            ["144", "14.4%", ""],
        ),
        (
            "What was gross profit in 2030?\nIs that more than net income?\nWhat was net income in 2030?",
            ["300", "yes", "93"],
        ),
        (
            "What were inventories at the end of 2031?\nand at the end of 2030?\nBy how much did they change?",
            ["80", "70", ""],
        ),
        (
            "What was net income in 2031?\nBy how much did it grow?\nAnd operating income?",
            ["144", "51", "60"],
        ),
        (
            "What was the operating margin in 2031?\nand in 2030?\nand in 2029?",
            ["20.0%", "17.5%", "12.5%"],
        ),
        (
            "What was research and development in 2031?\nWhat percentage of net sales is that?\nWhat about 2030?",
            ["90", "9.0%", "8.8%"],
        ),
        (
            "What was net income in 2031?\nAnd the year before?\nIs that higher than in 2029?",
            ["144", "93", "yes"],
        ),
        (
            "What was net income in 2031?\nWhat was it in 2030?\nAnd what was it a year earlier?",
            ["144", "93", "56"],
        ),
        (
            "What was net income in 2031?\nIs that higher than in 2030?\nDid it rise?",
            ["144", "yes", ""],
        ),
        (
            "What was gross profit in 2031?\nHow much of that was operating income?\nAnd gross profit in 2030?",
            ["400", "", ""],
        ),
        (
            "What was net income in 2031?\nSame for 2030\nAnd gross profit?",
            ["144", "93", "300"],
        ),
        (
            "What were inventories at the end of 2031?\nAs a share of total assets?\nAnd a year earlier?",
            ["80", "10.0%", ""],
        ),
        // The year stays, and what relates to the figure before is no figure of its own.
        (
            "What was net income in 2030?\nGross profit?\nOver net sales?",
            ["93", "300", ""],
        ),
        (
            "What was operating income in 2031?\nBy what percentage did it grow?\nAnd gross profit?",
            ["200", "42.9%", "33.3%"],
        ),
    ] {
        let questions_file = place.write("questions.txt", questions);
        let mut command = place.command();
        command.given("ask 10k.htm --json");
        let file = std::fs::File::open(questions_file).unwrap();
        let ran = command.stdin(file).ran();
        let lines = ran.stdout.lines();
        let read: Vec<Json> = lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read.len(), answers.len(), "{questions}: {read:?}");
        for (read, answer) in read.iter().zip(answers) {
            let sure = !read["answer"].is_null() && read["doubt"].is_null();
            let found = read["answer"].as_str().unwrap_or_default();
            match answer {
                "" => assert!(!sure, "{questions}: {read}"),
                answer => assert!(
                    sure && found.trim_end_matches(" million") == answer,
                    "{questions}: {answer}: {read}"
                ),
            }
        }
    }
}

#[test]
fn the_people_of_a_company_are_counted_by_any_of_their_names() {
    let place = Workplace::new();
    let all = "How many employees does the company have?";
    let some = "How many full-time employees does the company have?";
    let both = "How many full-time and part-time employees does the company have?";
    for (people, question, counts) in [
        ("full-time, part-time, and seasonal team members", all, true),
        (
            "full-time, part-time, and seasonal team members",
            some,
            false,
        ),
        ("full-time, part-time, and seasonal employees", all, true),
        ("full-time and part-time employees", some, false),
        ("full-time employees", some, true),
        ("crew members", all, true),
        ("full-time and part-time crew members", both, true),
        ("team members in Germany", all, false),
        ("paying members", all, false),
        ("stores that are run by our own employees", all, false),
    ] {
        let whole = "we employed approximately 12,300 full-time and part-time associates, of whom 4,100 work in stores";
        let page = labels();
        assert!(page.contains(whole));
        let sentence = format!("we had approximately 415,000 {people}");
        let other = format!("</p><p>At December 31, 2031, {sentence}.</p>");
        for page in [
            page.replace(whole, &sentence),
            report().replacen("</p>", &other, 1),
        ] {
            place.write("10k.htm", &page);
            let read = ask(&place, question);
            let sure = read["answer"] == "415,000" && read["doubt"].is_null();
            assert_eq!(sure, counts, "{people}, {question}: {read}");
        }
    }
}

/// Each sentence is of a part, of somebody else, of another day, or has no subject.
#[test]
fn a_sentence_about_a_part_or_about_others_is_no_answer() {
    let place = Workplace::new();
    for (sentence, question) in [
        (
            "During 2031 we have added 300 employees in Asia.",
            "How many employees did the company have in 2031?",
        ),
        (
            "At December 31, 2031, we employed 1,200 people in Germany.",
            "How many people did Halden employ at the end of 2031?",
        ),
        (
            "We have 25 employees who work from home.",
            "How many employees does the company have?",
        ),
        (
            "In 2031, our supplier Acme employed 9,000 people.",
            "How many people did the company employ in 2031?",
        ),
        (
            "As of December 31, 2031, 15 stores were leased.",
            "How many stores does the company have?",
        ),
        (
            "In 2031 our subsidiary in Chile had an undrawn credit line of $0.5 billion.",
            "What was the undrawn credit line in 2031?",
        ),
        (
            "At December 31, 2031, our undrawn credit line was $2.5 billion. In 2031 we agreed on an undrawn credit line \
             of $1.5 billion that expires in 2036.",
            "What was the undrawn credit line at December 31, 2031?",
        ),
    ] {
        let page = report().replacen("</p>", &format!("</p><p>{sentence}</p>"), 1);
        place.write("10k.htm", &page);
        let read = ask(&place, question);
        let sure = !read["answer"].is_null() && read["doubt"].is_null();
        assert!(!sure, "{sentence}: {read}");
    }
}
