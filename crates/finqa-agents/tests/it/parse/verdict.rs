//! Tests how the critic's replies are read.

use finqa_agents::parse::{CriticVerdict, verdict};

/// Replies that accept an answer.
const APPROVALS: [&str; 29] = [
    "ALL_OK",
    "\n**ALL_OK**.\n",
    "<think>the sum?</think>ALL_OK",
    r#"{"findings": [], "verdict": "ALL_OK"}"#,
    "No issues found.",
    "[]",
    "OK",
    "Correct. No issues found.",
    "I found no errors in the calculation.",
    "The analysis is correct.",
    "Yes, the answer is correct.",
    "**Verdict: approved**",
    "Verdict: ALL_OK",
    "Correct. ALL_OK",
    "```\nALL_OK\n```",
    "```text\nNo issues found.\n```",
    "\"ALL_OK\"",
    r#"{"findings":[]}"#,
    r#"{"verdict":"OK"}"#,
    r#"{"verdict":"ALL_OK","findings":null}"#,
    r#"{"verdict":"ALL_OK","confidence":0.95}"#,
    "Here is my review:\n```json\n{\"verdict\":\"ALL_OK\",\"findings\":[]}\n```",
    "- No issues found.",
    "ALL\u{2011}OK",
    "ＡＬＬ＿ＯＫ",
    "[ALL_OK]",
    r#"{"verdict":"ALL_OK","findings":"[]"}"#,
    r#"{"verdict":"ALL_OK","findings":"\"[]\""}"#,
    r#""{\"verdict\":\"ALL_OK\",\"findings\":[]}""#,
];

/// Replies with findings, some of them in a list that is not JSON.
const OBJECTIONS: [&str; 13] = [
    r#"{"verdict":"ALL_OK","findings":[{"where":"step 2","problem":"sign","fix":""}]}"#,
    r#"{"findings":[{"problem":"sign"}]}"#,
    r#"{"findings":["the sign is wrong"]}"#,
    r#"{"verdict":"REVISE","findings":[{"fix":"use r1c2"}]}"#,
    r#"[{"where":"r1c1","problem":"2008"},"unit"]"#,
    "I object: {\"findings\":[{\"problem\":\"wrong column\"}]} as shown.",
    "- r1c1 is of 2008\n- the program lacks a step",
    "Findings:\n1. The sign is wrong.\n2) r1c2",
    r#"{"verdict":"REVISE","findings":"[{\"problem\":\"sign\"}]"}"#,
    r#"{"verdict":"REVISE","findings":"\"[{\\\"problem\\\":\\\"sign\\\"}]\""}"#,
    r#"{"verdict":"REVISE","findings":["{\"problem\":\"sign\"}"]}"#,
    r#"{"verdict":"REVISE","findings":{"problem":"sign"}}"#,
    r#""{\"verdict\":\"REVISE\",\"findings\":[{\"problem\":\"sign\"}]}""#,
];

/// Replies without a clear verdict.
const NEITHER: [&str; 33] = [
    "",
    "...",
    "true",
    "{}",
    "REVISE",
    "Incorrect.",
    "The column is wrong.",
    "Not correct.",
    "No, issues were found",
    "Alles korrekt.",
    "The analysis is correct, but the unit is wrong",
    "The analysis is correct for 2009",
    "The answer is correct. It uses r1c1.",
    "Understanding: fine.\n\nCalculation: it adds them.\n\nALL_OK",
    "ALL_OK, but the sign is wrong",
    "This is not ALL_OK",
    r#"ALL_OK {"findings": []}"#,
    "The year is wrong. {\"verdict\":\"ALL_OK\",\"findings\":[]}",
    r#"{"verdict":"REVISE","findings":[]}"#,
    r#"{"verdict":"unsure"}"#,
    r#"{"verdict":"ALL_OK","findings":"the sign is wrong"}"#,
    r#"{"verdict":"ALL_OK","findings":[{"message":"sign"}]}"#,
    r#"{"findings":[{}]}"#,
    r#"{"findings":["No issues found."]}"#,
    r#"{"verdict":"ALL_OK","findings":[{"where":"answer","problem":"none","fix":"n/a"}]}"#,
    r#"{"findings":3}"#,
    r#"{"approved":true}"#,
    r#"{"message":"wrong column"}"#,
    r#"{"answer":"5","steps":["x"]}"#,
    "{\"findings\": [{\"where\": \"st",
    r#"{"verdict": "ALL_OK", "findings": [{"where": "st"#,
    "**Incorrect.**",
    "-5",
];

/// An objection must never be read as an approval, and an approval never as an objection.
#[test]
fn a_verdict_is_an_approval_a_revision_or_unparsable() {
    for (replies, kind) in [
        (&APPROVALS[..], "approval"),
        (&OBJECTIONS, "revision"),
        (&NEITHER, "unparsable"),
    ] {
        for reply in replies {
            let found = match verdict(reply) {
                CriticVerdict::Ok => "approval",
                CriticVerdict::Revise { findings } if !findings.is_empty() => "revision",
                CriticVerdict::Unparsable { .. } => "unparsable",
                _ => "no verdict",
            };
            assert_eq!(found, kind, "{reply}");
        }
    }
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
