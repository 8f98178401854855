//! `convfinqa ask`: which period a heading is of, and a period as the answer.

use serde_json::{Value as Json, json};

use crate::support::cli::Workplace;
use crate::support::json::has;

fn ask(place: &Workplace, file: &str, question: &str) -> Json {
    let ran = place.run(&format!("ask {file} '{question}' --json"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{file}: {}", ran.stderr))
}

#[test]
fn headings_are_read_as_people_and_programs_write_periods() {
    let place = Workplace::new();
    for (heads, question) in [
        (["2031-12", "2030-12"], "sales in 2031"),
        (["2031-12", "2030-12"], "sales in December 2031"),
        (["12/31/31", "12/31/30"], "sales in 2031"),
        (["31/12/2031", "31/12/2030"], "sales in 2031"),
        (["03/04/31", "25/04/31"], "sales on 3 April 2031"),
        (["04/03/31", "04/25/31"], "sales on 3 April 2031"),
        (["Mar 2031", "Mar 2030"], "sales in March 2031"),
        (["Dec-31", "Dec-30"], "sales in December 2031"),
        (["Dec-31 2031", "Dec-31 2030"], "sales on December 31, 2031"),
        (["CY31", "CY30"], "sales in 2031"),
        (["CY2031", "CY2030"], "sales in 2031"),
        (["F2031", "F2030"], "sales in 2031"),
        (["FY31", "FY30"], "sales in FY31"),
        (["2031.0", "2030.0"], "sales in 2031"),
        (["2031A", "2032E"], "sales in 2031"),
    ] {
        let [first, second] = heads;
        place.write(
            "t.csv",
            &format!("Item,{first},{second}\nSales,412,398\nRent,7,6\n"),
        );
        let json = ask(&place, "t.csv", question);
        has(&json, json!({"answer": "412", "doubt": null}));
    }
    // Of which day is unknown, so no day answers.
    place.write("t.csv", "Item,03/04/31,05/06/31\nSales,412,398\n");
    let json = ask(&place, "t.csv", "sales on 3 April 2031");
    assert!(
        json["doubt"].is_string() || json["answer"].is_null(),
        "{json}"
    );
}
