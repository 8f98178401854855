//! Follow-ups in `convfinqa ask`, counted: how many are right, not sure, and wrong and sure.

use serde_json::Value as Json;

use crate::analyst_parts::REPORT;
use crate::analyst_questions::report;
use crate::analyst_sides::assert_conversation;
use crate::support::cli::{CommandExt, Workplace};

/// Conversations: a question that stands alone, and turns that follow from it with their answers.
const CONVERSATIONS: [(&str, &[(&str, &str)]); 12] = [
    (
        "What was net income in 2031?",
        &[
            ("And in 2030?", "93"),
            ("And the year before?", "56"),
            ("What was it in 2031?", "144"),
        ],
    ),
    (
        "What was operating income in 2031?",
        &[
            ("What share of net sales is that?", "20.0%"),
            ("And in 2030?", "17.5%"),
            ("And in 2029?", "12.5%"),
        ],
    ),
    (
        "What was gross profit in 2030?",
        &[
            ("And as a share of net sales?", "37.5%"),
            ("What about 2031?", "40.0%"),
        ],
    ),
    (
        "What were net sales in 2030?",
        &[
            ("What was R&D in that year?", "70"),
            ("And operating income?", "140"),
            ("This as a percentage of net sales?", "17.5%"),
        ],
    ),
    (
        "What was gross profit in 2030?",
        &[
            ("Is that more than net income?", "yes"),
            ("What was net income in 2030?", "93"),
            ("Free cash flow?", "70"),
        ],
    ),
    (
        "What was net income in 2031?",
        &[
            ("By how much did it grow?", "51"),
            ("And operating income?", "60"),
            ("And gross profit?", "100"),
        ],
    ),
    (
        "What were inventories at the end of 2031?",
        &[
            ("And a year earlier?", "70"),
            ("And accounts receivable?", "130"),
        ],
    ),
    (
        "What was EBITDA in 2031?",
        &[
            ("And in 2030?", "180"),
            ("What was total debt at the end of 2031?", "300"),
            ("And net debt?", "180"),
        ],
    ),
    (
        "What were sales in Germany in 2031?",
        &[
            ("And in Japan?", "140"),
            ("What share of net sales is that?", "14.0%"),
        ],
    ),
    (
        "What was the operating margin in 2031?",
        &[
            ("and in 2030?", "17.5%"),
            ("and the gross margin?", "37.5%"),
            ("and the net margin?", "11.6%"),
        ],
    ),
    (
        "Dividends paid in 2031?",
        &[
            ("Share buybacks?", "40"),
            ("Capex?", "95"),
            ("And in 2030?", "60"),
        ],
    ),
    (
        "What was interest expense in 2031?",
        &[
            ("How many employees?", ""),
            ("And in 2030?", ""),
            ("Net income in 2030?", "93"),
            ("R&D?", "70"),
        ],
    ),
];

#[test]
fn follow_ups_are_right_or_not_sure() {
    let place = Workplace::new();
    place.write("10k.htm", &report());
    let (mut right, mut unsure, mut wrong) = (0, Vec::new(), Vec::new());
    for (first, turns) in CONVERSATIONS {
        let questions: Vec<&str> = [first]
            .into_iter()
            .chain(turns.iter().map(|turn| turn.0))
            .collect();
        let stdin = place.write("questions.txt", &questions.join("\n"));
        let mut command = place.command();
        command.given("ask 10k.htm --json");
        let ran = command.stdin(std::fs::File::open(stdin).unwrap()).ran();
        let read: Vec<Json> = ran
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read.len(), questions.len(), "{}", ran.stdout);
        for ((question, answer), read) in turns.iter().zip(read.iter().skip(1)) {
            let sure = !read["answer"].is_null() && read["doubt"].is_null();
            let found = read["answer"].as_str().unwrap_or_default();
            let found = found
                .trim_start_matches(['-', '$'])
                .trim_end_matches(" million");
            let turn = format!("{first} {question} {found} {}", read["doubt"]);
            match (sure, found == *answer) {
                (true, true) | (false, _) if sure != answer.is_empty() => right += 1,
                (true, _) => wrong.push(turn),
                (false, _) => unsure.push(turn),
            }
        }
    }
    let all = right + unsure.len() + wrong.len();
    println!(
        "{all} follow-ups: {right} right, {} not sure, {} wrong and sure",
        unsure.len(),
        wrong.len()
    );
    assert!(all >= 30, "{all}");
    assert!(
        wrong.is_empty() && unsure.is_empty(),
        "{wrong:?} {unsure:?}"
    );
}

/// Before, "What margin is that?" and "And the group as a whole?" were not read.
#[test]
fn a_follow_up_may_be_of_the_same_part_or_of_the_whole() {
    let place = Workplace::new();
    place.write("report.md", REPORT);
    let conversations: [&[(&str, &str)]; 6] = [
        &[
            ("revenue of Locks in 2031?", "2100 thousand"),
            ("And its operating income?", "420 thousand"),
            ("What margin does that give?", "20.0%"),
        ],
        &[
            ("revenue of Canals in 2030?", "3000 thousand"),
            ("And the group as a whole?", "8000 thousand"),
        ],
        &[
            ("operating income of Canals in 2030?", "420 thousand"),
            ("What about the total company?", "950 thousand"),
        ],
        &[
            ("operating income in 2031?", "1210 thousand"),
            ("What margin is that?", "13.4%"),
        ],
        &[
            ("cost of sales in 2031?", "5400 thousand"),
            ("What margin is that?", ""),
        ],
        &[("operating margin of Locks in 2031?", "20.0%")],
    ];
    for turns in conversations {
        assert_conversation(&place, "report.md", turns);
    }
}
