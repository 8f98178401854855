//! `convfinqa ask` where something beside the figure misleads: the name of the file, another year
//! of a sentence, the question before.

use serde_json::Value as Json;

use crate::analyst_questions::table;
use crate::support::cli::{CommandExt, Workplace};

/// The answer as text, with "; " between several values.
pub(crate) fn shown(read: &Json) -> String {
    match &read["answer"] {
        Json::Array(values) => {
            let values: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
            values.join("; ")
        }
        one => one.as_str().unwrap_or_default().to_owned(),
    }
}

/// Each question with its answer; `""` if it may not be sure. Several values are joined by "; ".
pub(crate) fn assert_answers(file: &str, page: &str, questions: &[(&str, &str)]) {
    let place = Workplace::new();
    place.write(file, page);
    for (question, answer) in questions {
        assert_conversation(&place, file, &[(question, answer)]);
    }
}

pub(crate) fn assert_conversation(place: &Workplace, file: &str, turns: &[(&str, &str)]) {
    let questions: Vec<&str> = turns.iter().map(|(question, _)| *question).collect();
    let stdin = place.write("questions.txt", &questions.join("\n"));
    let mut command = place.command();
    command.given(&format!("ask {file} --json"));
    let ran = command.stdin(std::fs::File::open(stdin).unwrap()).ran();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), turns.len(), "{}", ran.stdout);
    for ((question, answer), line) in turns.iter().zip(lines) {
        let read: Json = serde_json::from_str(line).unwrap();
        let sure = !read["answer"].is_null() && read["doubt"].is_null();
        let found = shown(&read);
        let found = found.trim_start_matches(['$', '£', '€']);
        let plain = |text: &str| text.replace(',', "");
        match *answer {
            "" => assert!(!sure, "{question}: {read}"),
            answer => assert!(
                sure && plain(found.trim_end_matches(" million")) == plain(answer),
                "{question}: {answer}: {read}"
            ),
        }
    }
}

pub(crate) fn page(cover: &str, tables: &[String]) -> String {
    format!("<html><body>{cover}{}</body></html>", tables.concat())
}

#[test]
fn the_name_of_a_file_is_no_word_of_its_report() {
    let rows: &[&[&str]] = &[
        &["", "2024", "2023"],
        &["Net loans", "700", "650"],
        &["Operating profit", "90", "80"],
    ];
    let tables = [table("RESULTS", rows), table("RESULTS IN SHORT", rows)];
    let read = page("<p>Acme results</p>", &tables);
    for file in [
        "report.html", "texas-bancorp-10k.html", "acme-2023-adjusted-results.html",
    ] {
        let questions = [
            ("What were net loans in Texas in 2024?", ""),
            ("What was adjusted operating profit in 2024?", ""),
            ("What was operating profit in 2024?", "90"),
        ];
        assert_answers(file, &read, &questions);
    }
    let acme = ("What was Acme's operating profit in 2024?", "90");
    assert_answers("acme-10k.html", &read, &[acme]);
}

#[test]
fn a_count_is_of_the_year_next_to_it() {
    let rows: &[&[&str]] = &[&["", "2023", "2022"], &["Revenue", "700", "650"]];
    for sentence in [
        "The company employed 4,215 people on average in 2023 (2022: 4,102).",
        "The company employed 4,215 people in 2023, after 4,102 in 2022.",
    ] {
        let read = page(&format!("<p>{sentence}</p>"), &[table("RESULTS", rows)]);
        let questions = [
            ("How many people did the company employ in 2023?", "4,215"),
            ("How many people did the company employ in 2022?", ""),
            (
                "How many people did the company employ in 2023 excluding Argentina?",
                "",
            ),
        ];
        assert_answers("report.html", &read, &questions);
    }
}

#[test]
fn a_line_of_a_unit_may_name_the_period() {
    let table = "| | 2031 | 2030 |\n|---|---|---|\n| Revenue | 2,100 | 1,900 |\n";
    for line in ["£m, year ended 30 September", "Year ended 30 September, £m"] {
        let one = format!("{line}\n\n{table}");
        let other = "# Costs\n\n| | 2031 | 2030 |\n|---|---|---|\n| Costs | 100 | 90 |\n";
        for page in [one.clone(), format!("# Results\n\n{one}\n{other}")] {
            let place = Workplace::new();
            place.write("report.md", &page);
            let ran = place.run(&format!(
                "ask report.md '{}' --json",
                "What was revenue in 2031?"
            ));
            let json = ran.succeeds().json();
            assert_eq!(json["answer"], "£2,100 million", "{page}: {json}");
        }
    }
}

/// Notes state amounts in sentences, with one for each year.
#[test]
fn an_amount_of_a_sentence_is_that_of_the_year_asked_for() {
    let rows: &[&[&str]] = &[&["", "2033", "2032"], &["Revenue", "900", "800"]];
    let sentences = "<p>Advertising costs are charged to expense as incurred. Worldwide advertising \
        costs were $9.2 billion in 2033, $9.6 billion in 2032 and $8.0 billion in 2031.</p>\
        <p>The total intrinsic value of options exercised was $642 million, $741 million, and $521 \
        million for fiscal years 2033, 2032, and 2031, respectively.</p>\
        <p>Fees for services sold to partners were $5 million and $4 million in 2033 and 2032.</p>\
        <p>Unrecognized fees were $7 million and $6 million in 2033 and 2032.</p>\
        <p>Rent fell by $5 million in 2033. Leases included $6 million for Lyon in 2033.</p>\
        <p>Freight was $3 million and nil in 2033 and 2032, and postage was $5.2 and $4.1 million in \
        2033 and 2032.</p>\
        <p>Catering was $8 million and $7 million in 2033 and 2032, respectively, for the North.</p>\
        <p>Bonuses were $3 million and $2 million for the three and twelve months ended June 30, \
        2033.</p>";
    let read = page(sentences, &[table("RESULTS (in millions)", rows)]);
    let questions = [
        ("What were advertising costs in fiscal 2031?", "8.0 billion"),
        ("advertising expense 2032", "9.6 billion"),
        (
            "What was the intrinsic value of options exercised in fiscal 2032?",
            "741",
        ),
        // The sentences do not state this year, this place or these options.
        ("What were advertising costs in 2029?", ""),
        ("What were advertising costs in Chile in 2031?", ""),
        (
            "What was the intrinsic value of options granted in fiscal 2032?",
            "",
        ),
        // The sentences say more than the question.
        ("What were fees in 2032?", ""),
        ("What were recognized fees in 2032?", ""),
        // Other lengths than the years of the sentence.
        ("What was advertising expense in Q4 2032?", ""),
        (
            "What were advertising costs for the nine months ended September 30, 2032?",
            "",
        ),
        // Changes, parts, amounts that are not read or have no scale, and a part behind the list.
        ("What was rent in 2033?", ""),
        ("What were leases in 2033?", ""),
        ("What was freight in 2032?", ""),
        ("What was postage in 2033?", ""),
        ("What was catering in 2033?", ""),
        // Two amounts have one year.
        ("What were bonuses in 2033?", ""),
    ];
    assert_answers("report.html", &read, &questions);
}

/// A sentence that says more than a figure and its amount is about something else: a change, an
/// unpaid part, another company.
#[test]
#[rustfmt::skip] // A table: rustfmt would give its rows three lines.
fn an_amount_of_a_sentence_that_says_more_is_not_the_figure() {
    let rows: &[&[&str]] = &[&["", "2033", "2032"], &["Revenue", "900", "800"]];
    for (sentence, question, answer) in [
        ("Freight was $8 million in 2033.", "freight in 2033", "8"),
        ("Freight in 2033 was $8 million higher.", "freight in 2033", ""),
        ("Freight was $8 million over budget in 2033.", "freight in 2033", ""),
        ("Accrued freight was $8 million in 2033.", "freight in 2033", ""),
        ("Freight was over $8 million in 2033.", "freight in 2033", ""),
        ("Net freight was $8 million in 2033.", "freight in 2033", ""),
        ("We expect freight of $8 million in 2034.", "freight in 2034", ""),
        ("In 2033, Ostwall paid freight of $8 million.", "freight in 2033", ""),
        ("Freight was $8 million a month in 2033.", "freight in 2033", ""),
        ("Freight for the U.S. was $8 million in 2033.", "freight in 2033", ""),
        ("Freight was $8.2 and $7.1 in 2033 and 2032.", "freight in 2033", ""),
        // The full stop of a short form does not end the sentence.
        ("Ostwall Ltd. recorded freight of $8 million in 2033.", "freight in 2033", ""),
        ("Ostwall S.A., which owns two ports, paid freight of $8 million in 2033.", "freight in 2033", ""),
        // What follows "of which" or "including" is only about a part.
        ("Grants were $8 million in 2033, of which $3 million were paid.", "grants in 2033", "8"),
        ("Grants were $8 million in 2033, of which $3 million fall due in 2034.", "grants in 2034", ""),
        ("We operated 90 depots in 2033, including 7 depots in Peru.", "how many depots in 2033", "90"),
        ("We operated 90 depots in 2033, including 7 depots in Peru.", "how many depots in Peru in 2033", ""),
    ] {
        let read = page(&format!("<p>{sentence}</p>"), &[table("RESULTS (in millions)", rows)]);
        assert_answers("report.html", &read, &[(question, answer)]);
    }
}
