//! `convfinqa ask`: how an answer is written, what its JSON says, and when a chat model's is sure.

use serde_json::{Value as Json, json};

use crate::analyst_questions::{opened, report, table};
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::json::has;

fn ask(place: &Workplace, file: &str, question: &str) -> Json {
    let ran = place.run(&format!("ask {file} '{question}' --json"));
    ran.answer()
}

/// A statement in dollars, as filers print it: the sign stands in the first row and the last.
fn dollars() -> String {
    table(
        "CONSOLIDATED STATEMENTS OF INCOME (in millions, except per share data)",
        &[
            &["", "2031", "2030"],
            &["Net sales", "$ 5,134", "$ 4,000"],
            &["Cost of sales", "(3,100)", "(2,600)"],
            &["Income tax (expense) benefit", "(26)", "(20)"],
            &["Income before income taxes", "100", "90"],
            &["Net income", "$ 74", "$ 70"],
            &["Earnings per share:"],
            &["Basic", "$ 1.50", "$ 1.40"],
            &["Weighted-average shares outstanding", "49", "50"],
        ],
    )
}

#[test]
fn an_answer_is_written_as_a_person_writes_it() {
    let place = Workplace::new();
    place.write("a.htm", &dollars());
    place.write(
        "b.csv",
        "EUR thousand,2031,2030\nRent,\"1,250\",\"1,000\"\n",
    );
    place.write("c.csv", "Plant,2031,2030\nUnits in the north,125000,99\n");
    for (file, question, answer, value) in [
        (
            "a.htm", "what were net sales in 2031?", "$5,134 million", 5134e6,
        ),
        (
            "a.htm", "what was cost of sales in 2031?", "$3,100 million", 3100e6,
        ),
        (
            "a.htm",
            "by how much did net sales grow in 2031?",
            "$1,134 million",
            1134e6,
        ),
        (
            "a.htm",
            "by what percentage did net sales grow in 2031?",
            "28.3%",
            28.35,
        ),
        (
            "a.htm",
            "what were basic earnings per share in 2031?",
            "$1.50 per share",
            1.5,
        ),
        ("b.csv", "what was rent in 2031?", "€1,250 thousand", 1.25e6),
        ("c.csv", "units in the north in 2031?", "125,000", 125e3),
    ] {
        let read = ask(&place, file, question);
        has(
            &read,
            json!({"answer": answer, "sure": true, "doubt": null}),
        );
        let plain = read["plain_value"].as_f64().unwrap();
        assert!((plain - value).abs() < 1e-9 * value.abs(), "{read}");
    }
}

/// `value` is what the program yields: a fraction if it computes one, and otherwise in percent.
#[test]
fn the_plain_value_of_a_percentage_is_the_printed_number() {
    let place = opened();
    place.write(
        "rates.csv",
        "item,2031,2030\nRevenue,1250,1000\nEffective tax rate,21.5%,23.4%\n",
    );
    let looked_up = "rates.csv 'what was the effective tax rate in 2031?'";
    let change = "rates.csv 'what was the percentage change in revenue from 2030 to 2031?'";
    for (asked, answer, value, plain) in [
        (looked_up, "21.5%", 21.5, 21.5),
        (change, "25.0%", 0.25, 25.0),
        ("10k.htm 'Operating margin in 2031?'", "20.0%", 0.2, 20.0),
        (
            "10k.htm 'What share of 2031 sales came from Germany?'",
            "26.0%",
            0.26,
            26.0,
        ),
    ] {
        let read = place.run(&format!("ask {asked} --json")).answer();
        has(
            &read,
            json!({"answer": answer, "value": value, "plain_value": plain}),
        );
    }
    for (program, stated, value) in [
        (json!("subtract(1250, 1000), divide(#0, 1000)"), "", 0.25),
        (
            json!("subtract(1250, 1000), divide(#0, 1000), multiply(#1, const_100)"),
            "",
            25.0,
        ),
        (Json::Null, "25.0%", 0.25),
    ] {
        let server = FaultServer::start(move |_| {
            let analysis = json!({"steps": ["read"], "answer": stated, "program": program,
                "evidence": [], "unit": {"kind": "percent"}});
            Reply::chat(&analysis.to_string())
        });
        let url = server.base_url();
        let model = format!("--model m --base-url {url} --critic off --json");
        let read = place.run(&format!("ask {change} {model}")).answer();
        has(
            &read,
            json!({"answer": "25.0%", "value": value, "plain_value": 25.0}),
        );
    }
}

/// Taxes that are printed below zero gave a rate of −26 %.
#[test]
fn a_tax_rate_has_no_sign_of_an_outflow() {
    let place = Workplace::new();
    place.write("a.htm", &dollars());
    let read = ask(&place, "a.htm", "what was the effective tax rate in 2031?");
    assert_eq!(read["answer"], "26.0%", "{read}");
}

#[test]
fn the_parts_of_an_answer_have_fields_of_their_own() {
    let place = Workplace::new();
    place.write("a.htm", &dollars());
    let several = ask(&place, "a.htm", "what were net sales in 2031 and 2030?");
    has(
        &several,
        json!({"answer": ["$5,134 million", "$4,000 million"], "periods": ["2031", "2030"], "formula": null}),
    );
    let growth = ask(&place, "a.htm", "by how much did net sales grow in 2031?");
    has(
        &growth,
        json!({"formula": "Net sales, 2031 - Net sales, 2030", "periods": ["2031", "2030"]}),
    );
    let cost = ask(&place, "a.htm", "what was cost of sales in 2031?");
    has(
        &cost,
        json!({"notes": ["Cost of sales · 2031 is printed below zero"], "periods": ["2031"]}),
    );
    let cited = &ask(&place, "a.htm", "basic earnings per share in 2031?")["evidence"][0];
    has(
        cited,
        json!({"row": "Basic", "column": "2031", "heading": "Earnings per share:"}),
    );
    // Nothing is sure without an answer.
    let none = ask(&place, "a.htm", "how many mortgages were there in 2031?");
    has(&none, json!({"answer": null, "sure": false}));
    assert!(none["doubt"].is_string(), "{none}");
}

/// Of a share that could not be read, the whole was shown as the best guess.
#[test]
fn a_guess_of_another_concept_is_no_answer() {
    let place = opened();
    for question in [
        "What share of sales was made outside Chile in 2031?",
        "What was net debt excluding the undrawn credit facility of the marine division in 2031?",
        "Which department sold the most in 2031?",
    ] {
        let read = ask(&place, "10k.htm", question);
        has(&read, json!({"answer": null, "sure": false}));
    }
    // Another figure of the concept is shown.
    let read = ask(
        &place,
        "10k.htm",
        "What was adjusted operating income in 2031?",
    );
    has(&read, json!({"answer": "200 million", "sure": false}));
    assert!(read["confidence"].as_f64() < Some(0.5), "{read}");
}

#[test]
fn confidence_falls_with_each_figure_and_outside_of_statements() {
    let place = opened();
    let confidence = |question: &str| {
        let read = ask(&place, "10k.htm", question);
        assert_eq!(read["sure"], true, "{read}");
        read["confidence"].as_f64().unwrap()
    };
    let one = confidence("What was operating income in 2031?");
    let two = confidence("Operating margin in 2031?");
    let note = confidence("What were net sales of pumps in 2031?");
    assert!(one > two && one > note && note > 0.9, "{one} {two} {note}");
}

#[test]
fn a_currency_that_the_page_does_not_have_is_a_doubt() {
    let place = Workplace::new();
    place.write("a.csv", "£m,2031,2030\nRevenue,412,398\n");
    let read = ask(&place, "a.csv", "what was revenue in pounds in 2031?");
    let other = ask(&place, "a.csv", "what was revenue in dollars in 2031?");
    assert!(other["doubt"].is_string(), "{other}");
    assert_eq!(read["answer"], "£412 million", "{read}");
    let later = ask(&place, "a.csv", "what was revenue in 2031 in dollars?");
    assert!(later["doubt"].is_string(), "{later}");
    place.write("b.csv", "US$m,2031,2030\nRevenue,412,398\n");
    for (currency, sure) in [("$", true), ("US$", true), ("A$", false)] {
        let question = format!("what was revenue in 2031 in {currency}?");
        has(&ask(&place, "b.csv", &question), json!({"sure": sure}));
    }
}

/// A `$` anywhere in a column made counts money, and so did a caption of money, with its scale.
#[test]
fn counts_beside_money_are_no_money() {
    let place = Workplace::new();
    let rows = "| Revenue | $ 4,500 | $ 4,000 |\n| Monthly active users | 45 | 40 |\n\
        | Wells drilled | 9 | 8 |\n| Cables laid | 7 | 6 |\n| Subscribers (thousands) | 75 | 70 |\n\
        | Cost of sales | 300 | 200 |\n";
    place.write("a.md", &format!("| | 2031 | 2030 |\n|---|---|---|\n{rows}"));
    let rows = "Customers (end of period),4120,4000\nHeadcount (FTE),31,30\nStores opened,7,6\n\
        Revenue,500,400\n";
    place.write("b.csv", &format!("USD in millions,2031,2030\n{rows}"));
    for (file, question, answer) in [
        ("a.md", "monthly active users in 2031?", "45"),
        ("a.md", "wells drilled in 2031?", "9"),
        ("a.md", "cables laid in 2031?", "7"),
        ("a.md", "subscribers in 2031?", "75 thousand"),
        ("a.md", "cost of sales in 2031?", "$300"),
        ("b.csv", "customers in 2031?", "4,120"),
        ("b.csv", "headcount in 2031?", "31"),
        ("b.csv", "stores opened in 2031?", "7"),
        ("b.csv", "revenue in 2031?", "$500 million"),
    ] {
        has(&ask(&place, file, question), json!({"answer": answer}));
    }
}

/// A change of rates was written as a rate: "-0.3%".
#[test]
fn a_change_of_percentages_is_in_percentage_points() {
    let place = Workplace::new();
    place.write("a.csv", "Metric,2031,2030\nChurn,2.8%,3.1%\n");
    for (question, answer) in [
        (
            "by how much did churn change from 2030 to 2031?",
            "-0.3 percentage points",
        ),
        ("what was churn in 2031?", "2.8%"),
    ] {
        has(&ask(&place, "a.csv", question), json!({"answer": answer}));
    }
}

/// The columns of a trial balance are sides as much as "45 Dr" is.
#[test]
fn the_columns_of_a_trial_balance_are_sides() {
    let place = Workplace::new();
    let rows = "Cash,45.00,\nLoans,,30.00\nTotal,45.00,30.00\n";
    place.write("a.csv", &format!("Account,Debit,Credit\n{rows}"));
    let json = ask(&place, "a.csv", "what was the debit of cash?");
    assert_eq!(json["answer"], "45.00 Dr", "{json}");
    let json = ask(
        &place,
        "a.csv",
        "what is the sum of cash debit and loans credit?",
    );
    assert_eq!(json["sure"], false, "{json}");
}

/// A bank's report has its statements in an exhibit: the tables of the text answered.
#[test]
fn a_statement_that_the_file_lacks_is_named() {
    let cover = "<p>For the fiscal year ended December 31, 2031</p><p>Acme Corp.</p><p>(Exact name of registrant)</p>";
    let selected = table(
        "Selected data of the marine division",
        &[&["", "2031", "2030"], &["Net income", "74", "70"]],
    );
    let place = Workplace::new();
    place.write("bank.htm", &format!("{cover}{selected}"));
    for (question, why) in [
        (
            "What was adjusted net income in 2031?",
            "this file has no income statement, balance sheet or cash flow statement",
        ),
        (
            "What was adjusted net income on the income statement in 2031?",
            "this file has no income statement",
        ),
    ] {
        let read = ask(&place, "bank.htm", question);
        has(&read, json!({"answer": null, "sure": false}));
        let doubt = read["doubt"].as_str().unwrap();
        assert!(doubt.starts_with(why), "{read}");
    }
    place.write("all.htm", &format!("{cover}{}", report()));
    let question = "What was net income in the income statement in 2031?";
    let read = ask(&place, "all.htm", question);
    has(&read, json!({"answer": "144 million", "sure": true}));
    let title = "Consolidated Statements of Operations for the Years Ended December 31, 2031, 2030";
    let rows: [&[&str]; 2] = [&["", "2031", "2030"], &["Net income", "74", "70"]];
    let long = table(&format!("{title} and 2029"), &rows);
    place.write("long.htm", &format!("{cover}{long}"));
    has(
        &ask(&place, "long.htm", question),
        json!({"answer": "74 million"}),
    );
}

/// The id of the row with this label on the page that a model was shown: `r4`.
fn row(shown: &str, label: &str) -> String {
    let line = shown.lines().find(|line| line.contains(label)).unwrap();
    let id = line.split(|c: char| !c.is_alphanumeric());
    let mut id = id.filter(|word| word.starts_with('r') && word[1..].parse::<u16>().is_ok());
    id.next().unwrap().to_owned()
}

/// Asks for research and development with a model that answers by this program and cites the row
/// with this label.
fn ask_model(program: &'static str, label: &'static str, literal: &'static str) -> (Json, String) {
    let server = FaultServer::start(move |request| {
        let id = format!("{}c1", row(&request.user(), label));
        let analysis = json!({"steps": ["read"], "answer": "", "program": program,
            "evidence": [{"id": id, "literal": literal}],
            "unit": {"kind": "number", "scale": "million"}});
        Reply::chat(&analysis.to_string())
    });
    let place = opened();
    let url = server.base_url();
    let question = "How much did Halden spend on R&D in 2031?";
    let ran = place.run(&format!(
        "ask 10k.htm '{question}' --json --model m --base-url {url} --critic off"
    ));
    let shown = server.requests()[0].user();
    (ran.answer(), shown)
}

#[test]
fn a_models_answer_is_sure_if_its_figures_and_the_embedded_analyst_confirm_it() {
    let (read, shown) = ask_model("90", "Research and development", "90");
    has(
        &read,
        json!({"answer": "90 million", "sure": true, "doubt": null}),
    );
    assert!(shown.contains("Research and development"), "{shown}");
    for (program, label, literal, why) in [
        // The cell has another figure.
        ("91", "Research and development", "91", "91"),
        // The question names another row.
        (
            "110", "Selling, general", "110", "Selling, general and administrative",
        ),
        (
            "add(90, 110)",
            "Research and development",
            "90",
            "the embedded analyst is sure of 90 million (Research and development",
        ),
    ] {
        let (read, _) = ask_model(program, label, literal);
        has(&read, json!({"sure": false}));
        let doubt = read["doubt"].as_str().unwrap();
        assert!(doubt.contains(why), "{program}: {doubt}");
    }
}

/// The rows from which the embedded analyst answers are shown, however small the room.
#[test]
fn a_model_is_shown_the_rows_that_the_question_is_read_as() {
    let server = FaultServer::start(|_| {
        Reply::chat(r#"{"steps": ["x"], "answer": "1.2", "program": null, "unit": "ratio"}"#)
    });
    let place = opened();
    let url = server.base_url();
    let line = format!("--model m --base-url {url} --critic off --page-tokens 330");
    place.run(&format!(
        "ask 10k.htm 'Total debt to EBITDA in 2031?' {line}"
    ));
    let shown = server.requests()[0].user();
    for label in [
        "Short-term debt", "Current portion of long-term debt", "| Long-term debt",
        "Operating income", "Depreciation and amortization",
    ] {
        assert!(shown.contains(label), "{label} in {shown}");
    }
}

#[test]
fn lakhs_and_crores_are_repeated_as_they_are_printed() {
    let place = Workplace::new();
    place.write(
        "table.csv",
        "Rs. in crore,FY31,FY30\nRevenue,\"12,34,567\",\"1,02,345\"\nProfit,\"12,345\",\"10,234\"\n",
    );
    place.write(
        "report.htm",
        "<html><body><p>Statement of income (₹ in lakh)</p><table><tr><td></td><td>2031</td>\
         <td>2030</td></tr><tr><td>Revenue</td><td>1,23,456</td><td>1,02,345</td></tr></table>\
         <p>Other income was ₹4.5 crore in 2031.</p></body></html>",
    );
    for (question, answer, value) in [
        (
            "table.csv 'what was revenue in FY31?'", "1,234,567 crore", 1_234_567e7,
        ),
        (
            "table.csv 'what was revenue in FY31 in crore?'",
            "1,234,567 crore",
            1_234_567e7,
        ),
        (
            "table.csv 'what was the change in profit from FY30 to FY31?'",
            "2,111 crore",
            2111e7,
        ),
        (
            "report.htm 'what was revenue in 2031?'", "₹123,456 lakh", 123_456e5,
        ),
    ] {
        let ran = place.run(&format!("ask {question} --json"));
        let json = ran.succeeds().json();
        assert_eq!(
            (json["answer"].as_str(), json["plain_value"].as_f64()),
            (Some(answer), Some(value)),
            "{question}"
        );
    }
    // The table is in crore, not in lakh.
    let ran = place.run("ask table.csv 'what was revenue in FY31 in lakh?' --json");
    let json = ran.answer();
    let is_right = json["plain_value"].as_f64() == Some(1_234_567e7);
    assert!(is_right && json["doubt"].is_string(), "{json}");
}
