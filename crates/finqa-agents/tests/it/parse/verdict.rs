//! What the critic's replies are read as.

use rstest::rstest;

use finqa_agents::parse::{CriticVerdict, verdict};

/// An objection is never read as an approval, nor the reverse.
#[rstest]
// Approvals.
#[case("ALL_OK", "approval")]
#[case("\n**ALL_OK**.\n", "approval")]
#[case("<think>the sum?</think>ALL_OK", "approval")]
#[case(r#"{"findings": [], "verdict": "ALL_OK"}"#, "approval")]
#[case("No issues found.", "approval")]
#[case("[]", "approval")]
#[case("OK", "approval")]
#[case("Correct. No issues found.", "approval")]
#[case("I found no errors in the calculation.", "approval")]
#[case("The analysis is correct.", "approval")]
#[case("Yes, the answer is correct.", "approval")]
#[case("**Verdict: approved**", "approval")]
#[case("Verdict: ALL_OK", "approval")]
#[case("Correct. ALL_OK", "approval")]
#[case("```\nALL_OK\n```", "approval")]
#[case("```text\nNo issues found.\n```", "approval")]
#[case("\"ALL_OK\"", "approval")]
#[case(r#"{"findings":[]}"#, "approval")]
#[case(r#"{"verdict":"OK"}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":null}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","confidence":0.95}"#, "approval")]
#[case(
    "Here is my review:\n```json\n{\"verdict\":\"ALL_OK\",\"findings\":[]}\n```",
    "approval"
)]
// Objections.
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"where":"step 2","problem":"sign","fix":""}]}"#,
    "revision"
)]
#[case(r#"{"findings":[{"problem":"sign"}]}"#, "revision")]
#[case(r#"{"findings":["the sign is wrong"]}"#, "revision")]
#[case(r#"{"verdict":"REVISE","findings":[{"fix":"use r1c2"}]}"#, "revision")]
#[case(r#"[{"where":"r1c1","problem":"2008"},"unit"]"#, "revision")]
#[case(
    "I object: {\"findings\":[{\"problem\":\"wrong column\"}]} as shown.",
    "revision"
)]
// Neither.
#[case("", "unparsable")]
#[case("...", "unparsable")]
#[case("true", "unparsable")]
#[case("{}", "unparsable")]
#[case("REVISE", "unparsable")]
#[case("Incorrect.", "unparsable")]
#[case("The column is wrong.", "unparsable")]
#[case("Not correct.", "unparsable")]
#[case("No, issues were found", "unparsable")]
#[case("Alles korrekt.", "unparsable")]
#[case("The analysis is correct, but the unit is wrong", "unparsable")]
#[case("The analysis is correct for 2009", "unparsable")]
#[case("The answer is correct. It uses r1c1.", "unparsable")]
#[case(
    "Understanding: fine.\n\nCalculation: it adds them.\n\nALL_OK",
    "unparsable"
)]
#[case("ALL_OK, but the sign is wrong", "unparsable")]
#[case("This is not ALL_OK", "unparsable")]
#[case(r#"ALL_OK {"findings": []}"#, "unparsable")]
#[case(
    "The year is wrong. {\"verdict\":\"ALL_OK\",\"findings\":[]}",
    "unparsable"
)]
#[case(r#"{"verdict":"REVISE","findings":[]}"#, "unparsable")]
#[case(r#"{"verdict":"unsure"}"#, "unparsable")]
#[case(r#"{"verdict":"ALL_OK","findings":"the sign is wrong"}"#, "unparsable")]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"message":"sign"}]}"#,
    "unparsable"
)]
#[case(r#"{"findings":[{}]}"#, "unparsable")]
#[case(r#"{"findings":["No issues found."]}"#, "unparsable")]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"where":"answer","problem":"none","fix":"n/a"}]}"#,
    "unparsable"
)]
#[case(r#"{"findings":3}"#, "unparsable")]
#[case(r#"{"approved":true}"#, "unparsable")]
#[case(r#"{"message":"wrong column"}"#, "unparsable")]
#[case(r#"{"answer":"5","steps":["x"]}"#, "unparsable")]
#[case("{\"findings\": [{\"where\": \"st", "unparsable")]
#[case(r#"{"verdict": "ALL_OK", "findings": [{"where": "st"#, "unparsable")]
// A list without JSON.
#[case("- r1c1 is of 2008\n- the program lacks a step", "revision")]
#[case("Findings:\n1. The sign is wrong.\n2) r1c2", "revision")]
#[case("- No issues found.", "approval")]
#[case("**Incorrect.**", "unparsable")]
#[case("-5", "unparsable")]
fn a_verdict_is_an_approval_a_revision_or_unparsable(#[case] reply: &str, #[case] kind: &str) {
    let read = verdict(reply);
    let found = match &read {
        CriticVerdict::Ok => "approval",
        CriticVerdict::Revise { findings } => {
            assert!(!findings.is_empty(), "{reply}");
            "revision"
        }
        CriticVerdict::Unparsable { .. } => "unparsable",
        CriticVerdict::Skipped => "skipped",
    };
    assert_eq!(found, kind, "{reply}: {read:?}");
}

#[test]
fn findings_keep_their_order_and_places() {
    let text = r#"{"verdict": "REVISE", "findings": [{"where": "r1c2", "problem": "2008, not 2009", "fix": "take r1c1"}, "unit"]}"#;
    let CriticVerdict::Revise { findings } = verdict(text) else {
        panic!("not a revision");
    };
    assert_eq!(findings[0].location, "r1c2");
    assert_eq!(findings[0].fix, "take r1c1");
    assert_eq!(findings[1].problem, "unit");
}
