//! `convfinqa ask` about a report whose rows are segments, and about a loss.

use crate::support::cli::{CommandExt, Workplace};

const SEGMENTS: &str = "<html><body><p>(in millions)</p><table>\
    <tr><th></th><th colspan='2'>Revenue</th><th colspan='2'>Adjusted profit</th></tr>\
    <tr><th>Segment</th><th>2034</th><th>2033</th><th>2034</th><th>2033</th></tr>\
    <tr><td>Ferries</td><td>210</td><td>188</td><td>42</td><td>35</td></tr>\
    <tr><td>Cranes</td><td>144</td><td>145</td><td>-6</td><td>3</td></tr>\
    <tr><td>Total</td><td>354</td><td>333</td><td>36</td><td>38</td></tr></table></body></html>";

const LOSSES: &str = "<html><body><p>(in thousands)</p><table>\
    <tr><th></th><th>2034</th><th>2033</th><th>2032</th></tr>\
    <tr><td>Revenue</td><td>9,500</td><td>8,600</td><td>7,650</td></tr>\
    <tr><td>Net loss</td><td>(350)</td><td>(620)</td><td>(900)</td></tr></table></body></html>";

#[test]
fn a_larger_loss_is_one_that_is_further_below_zero() {
    let place = Workplace::new();
    place.write("report.htm", LOSSES);
    for (question, answer) in [
        ("did the net loss increase in 2034?", "no"),
        ("did the net loss decrease in 2034?", "yes"),
        ("in which year was the net loss largest?", "2032"),
        (
            "by how much did the net loss decrease in 2033?",
            "280 thousand",
        ),
        ("what was the net loss in 2033?", "-620 thousand"),
        ("did revenue increase in 2034?", "yes"),
    ] {
        let ran = place.run(&format!("ask report.htm '{question}' --json"));
        let json = ran.succeeds().json();
        let shown = (json["answer"].as_str(), json["doubt"].as_str());
        assert_eq!(shown, (Some(answer), None), "{question}");
    }
}

#[test]
fn a_segment_is_not_measured_by_the_total() {
    let place = Workplace::new();
    place.write("report.htm", SEGMENTS);
    let margin = "what was the adjusted profit margin of ferries in 2034?";
    let ran = place.run(&format!("ask report.htm '{margin}' --json"));
    let json = ran.answer();
    assert!(
        json["answer"] == "20.0%" || json["doubt"].is_string(),
        "{json}"
    );

    let questions = place.write(
        "stdin",
        "what was ferries revenue in 2033?\nwhat about adjusted profit?\n",
    );
    let mut command = place.command();
    command.given("ask report.htm -q");
    let ran = command.stdin(std::fs::File::open(questions).unwrap()).ran();
    assert!(
        ran.succeeds().stdout.contains("35 million"),
        "{}",
        ran.stdout
    );
}

/// "Lower than a year before" was read as the lowest.
#[test]
fn what_is_lower_than_a_year_before_is_not_the_lowest() {
    let place = Workplace::new();
    let page = "<html><body><p>Revenue by segment (in millions)</p><table>\
        <tr><th></th><th>2034</th><th>2033</th></tr>\
        <tr><td>North</td><td>100</td><td>90</td></tr>\
        <tr><td>South</td><td>300</td><td>320</td></tr>\
        <tr><td>Total revenue</td><td>400</td><td>410</td></tr></table></body></html>";
    place.write("report.htm", page);
    for (question, answer) in [
        ("which segment had the lowest revenue in 2034?", "North"),
        (
            "which segment had lower revenue in 2034 than a year before?",
            "South",
        ),
    ] {
        let ran = place.run(&format!("ask report.htm '{question}' --json"));
        let json = ran.answer();
        assert_eq!(json["answer"], answer, "{question}: {json}");
        assert!(json["doubt"].is_null(), "{question}: {json}");
    }
    place.write(
        "both.htm",
        &page
            .replace("<td>90</td>", "<td>190</td>")
            .replace("410", "510"),
    );
    let ran = place
        .run("ask both.htm 'which segment had lower revenue in 2034 than a year before?' --json");
    let json = ran.answer();
    assert!(!json["doubt"].is_null(), "both declined: {json}");
}

/// The words of a title that say where an amount is included once named its schedule.
#[test]
fn a_schedule_is_not_of_what_its_amounts_are_included_in() {
    let place = Workplace::new();
    place.write(
        "report.htm",
        "<html><body><p>Amortization was $177 for 2034 and is included in \
        sales, general and other costs. Estimated amortization of the next years follows (in \
        thousands):</p><table><tr><td>2035</td><td>166</td></tr><tr><td>2036</td><td>154</td></tr>\
        <tr><td>2037</td><td>153</td></tr></table></body></html>",
    );
    for (question, sure) in [
        ("what is the estimated amortization in 2036?", true),
        ("what were sales in 2036?", false),
        ("what was revenue in 2036?", false),
    ] {
        let ran = place.run(&format!("ask report.htm '{question}' --json"));
        let json = ran.answer();
        let is_sure = json["answer"].is_string() && json["doubt"].is_null();
        assert_eq!(is_sure, sure, "{question}: {json}");
    }
}
