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
            "What was net income of the marine division on the income statement in 2031?",
            "this file has no income statement",
        ),
    ] {
        let read = ask(&place, "bank.htm", question);
        has(&read, json!({"answer": null, "sure": false}));
        let doubt = read["doubt"].as_str().unwrap();
        assert!(doubt.starts_with(why), "{read}");
    }
    place.write("all.htm", &format!("{cover}{}", report()));
    let read = ask(
        &place,
        "all.htm",
        "What was net income in the income statement in 2031?",
    );
    has(&read, json!({"answer": "144 million", "sure": true}));
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
