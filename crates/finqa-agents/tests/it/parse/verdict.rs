//! What the critic's replies are read as.

use rstest::rstest;

use finqa_agents::parse::{Leniency, ParsedVerdict, verdict};

#[rstest]
#[case("ALL_OK", &[])]
#[case("\n**ALL_OK**.\n", &[Leniency::OkDecorated])]
#[case("<think>the sum?</think>ALL_OK", &[Leniency::ThinkBlock])]
#[case(r#"{"findings": [], "verdict": "ALL_OK"}"#, &[])]
#[case(r#"{"verdict": "ALL_OK", "findings": []}"#, &[])]
#[case("```json\n{\"findings\": [], \"verdict\": \"ALL_OK\"}\n```", &[Leniency::Fence])]
#[case(r#"{"findings": []}"#, &[Leniency::EmptyFindings])]
fn approval(#[case] text: &str, #[case] leniencies: &[Leniency]) {
    let parsed = verdict(text);
    assert_eq!(parsed.value, ParsedVerdict::AllOk, "{text}");
    assert_eq!(parsed.leniencies, leniencies);
}

#[test]
fn all_ok_among_other_things_is_not_ok() {
    for text in [
        "Understanding: fine.\n\nCalculation: fine.\n\nALL_OK",
        "ALL_OK, but the sign is wrong",
        "This is not ALL_OK",
        r#"ALL_OK {"findings": []}"#,
        r#"{"verdict": "REVISE", "findings": []}"#,
        "",
        "...",
        "{\"findings\": [{\"where\": \"st",
    ] {
        assert!(
            matches!(verdict(text).value, ParsedVerdict::Unparsable { .. }),
            "{text}: {:?}",
            verdict(text)
        );
    }
    let text = r#"{"verdict": "ALL_OK", "findings": [{"where": "step 2", "problem": "sign", "fix": "negate"}]}"#;
    assert!(matches!(verdict(text).value, ParsedVerdict::Revise { .. }));
}

/// Replies and what each must be read as: an objection is never an approval,
/// nor the reverse.
#[rstest]
// Approvals.
#[case("OK", "approval")]
#[case("Okay.", "approval")]
#[case("Correct.", "approval")]
#[case("No issues found.", "approval")]
#[case("No errors.", "approval")]
#[case("I found no errors in the calculation.", "approval")]
#[case("The analysis is correct.", "approval")]
#[case("Yes, the answer is correct.", "approval")]
#[case("**Verdict: approved**", "approval")]
#[case("Verdict: ALL_OK", "approval")]
#[case("Correct. ALL_OK", "approval")]
#[case("```\nALL_OK\n```", "approval")]
#[case("```text\nNo issues found.\n```", "approval")]
#[case("\"ALL_OK\"", "approval")]
#[case("Alles korrekt.", "approval")]
#[case("Keine Fehler gefunden.", "approval")]
#[case("Tout est correct.", "approval")]
#[case("Todo correcto.", "approval")]
#[case("全部正确。", "approval")]
#[case("問題なし", "approval")]
#[case("Всё верно.", "approval")]
#[case(r#"{"approved":true}"#, "approval")]
#[case(r#"{"approved":"yes","comments":"Good job."}"#, "approval")]
#[case(r#"{"all_ok":true}"#, "approval")]
#[case(r#"{"all_ok":true,"findings":[]}"#, "approval")]
#[case(r#"{"verdict":"OK"}"#, "approval")]
#[case(r#"{"verdict":"approved","issues":[]}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":null}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":"none"}"#, "approval")]
#[case(r#"{"findings":["No issues found."]}"#, "approval")]
#[case(
    r#"{"findings":[{"where":"answer","problem":"none","fix":"n/a"}]}"#,
    "approval"
)]
#[case(r#"{"has_errors":false}"#, "approval")]
#[case(r#"{"issues":0}"#, "approval")]
#[case(r#"{"message":"No issues found."}"#, "approval")]
#[case(r#"{"response":{"verdict":"ALL_OK","findings":[]}}"#, "approval")]
#[case(
    r#"{"thoughts":"r1c1 is 2009","review":{"verdict":"ALL_OK"}}"#,
    "approval"
)]
#[case(
    "Here is my review:\n```json\n{\"verdict\":\"ALL_OK\",\"findings\":[]}\n```",
    "approval"
)]
#[case("[]", "approval")]
#[case(r#"{"verdict":"ALL_OK","error":null,"confidence":0.95}"#, "approval")]
#[case(
    r#"{"verdict":"ALL_OK","where":"program","problem":null,"fix":null}"#,
    "approval"
)]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"where":"answer","problem":"","fix":""}]}"#,
    "approval"
)]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"step":"1","status":"correct"}]}"#,
    "approval"
)]
#[case(
    r#"{"approved":true,"errors":[],"error":null,"summary":"matches r1c1"}"#,
    "approval"
)]
#[case(r#"{"verdict":"ALL_OK","error":"","solution":"16.5"}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","error":false}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","error":"no"}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","issue":0}"#, "approval")]
#[case(
    r#"{"verdict":"ALL_OK","issue":"none","how":"r1c1 / r1c2","confidence":1}"#,
    "approval"
)]
#[case(r#"{"verdict":"ALL_OK","problem":[],"fix":[]}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":[{}]}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":[null]}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":[""]}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":{"issues":[]}}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":{"count":0}}"#, "approval")]
#[case(r#"{"verdict":"ALL_OK","findings":[{"where":"answer","problem":null,"fix":null,"confidence":0.9}]}"#, "approval")]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"check":"column","result":"pass","note":"r1c1 is 2009"}]}"#,
    "approval"
)]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"step":"1","correct":true,"confidence":0.9}]}"#,
    "approval"
)]
#[case(
    r#"[{"step":"1","status":"correct"},{"step":"2","status":"correct"}]"#,
    "approval"
)]
#[case(r#"[{"approved":true,"confidence":0.9}]"#, "approval")]
#[case(r#"{"correct":"Yes, the analysis is correct."}"#, "approval")]
// Objections.
#[case(r#"{"findings":[{"message":"wrong column"}]}"#, "revision")]
#[case(r#"{"issues":[{"detail":"wrong column"}]}"#, "revision")]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"message":"wrong column"}]}"#,
    "revision"
)]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"foo":"wrong column"}]}"#,
    "revision"
)]
#[case(r#"{"all_ok":false,"findings":[{"problem":"sign"}]}"#, "revision")]
#[case(r#"{"all_ok":false,"reason":"the column is 2008"}"#, "revision")]
#[case(r#"{"approved":false,"comments":"It uses 2008."}"#, "revision")]
#[case(r#"{"verdict":"REVISE","explanation":"It uses 2008."}"#, "revision")]
#[case(r#"{"errors":"the sign is wrong"}"#, "revision")]
#[case(r#"{"findings":{"year":"2008, not 2009","unit":"ok"}}"#, "revision")]
#[case(r#"{"findings":[["the sign is wrong"]]}"#, "revision")]
#[case(r#"{"message":"wrong column"}"#, "revision")]
#[case(r#"{"result":{"findings":[{"issue":"wrong column"}]}}"#, "revision")]
#[case(
    r#"{"verdict":"ALL_OK","checks":{"issues":["wrong column"]}}"#,
    "revision"
)]
#[case(r#"[{"message":"wrong column"},{"message":"wrong unit"}]"#, "revision")]
#[case(
    "```json\n{\"findings\":[{\"description\":\"wrong column\"}]}\n```",
    "revision"
)]
#[case(
    "I object: {\"issues\":[{\"comment\":\"wrong column\"}]} as shown.",
    "revision"
)]
#[case("The column is wrong.", "revision")]
#[case("The figures are correct, but the unit should be percent.", "revision")]
#[case("Nicht korrekt: die Spalte ist falsch.", "revision")]
#[case("No, the year isn't 2009.", "revision")]
#[case(r#"{"findings":[{"step":"1","status":"wrong"}]}"#, "revision")]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"step":"1","ok":false}]}"#,
    "revision"
)]
#[case(r#"{"findings":[{"expected":5,"actual":6}]}"#, "revision")]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"step":"1","status":"correct","problem":"the sign"}]}"#,
    "revision"
)]
#[case(
    r#"{"verdict":"ALL_OK","findings":[{"step":"1","status":"ok","note":"the unit is missing"}]}"#,
    "revision"
)]
#[case(
    r#"{"findings":[{"where":"answer","problem":{"text":"wrong column"}}]}"#,
    "revision"
)]
#[case(
    r#"{"findings":[{"where":"answer","problem":["wrong column","wrong unit"]}]}"#,
    "revision"
)]
#[case(r#"{"verdict":"ALL_OK","problem":["wrong column"]}"#, "revision")]
#[case(
    r#"{"verdict":"ALL_OK","problem":{"text":"wrong column"}}"#,
    "revision"
)]
#[case(r#"{"verdict":"ALL_OK","correction":"use r1c2"}"#, "revision")]
#[case(
    r#"{"verdict":"REVISE","error":"","correction":"use r1c2"}"#,
    "revision"
)]
#[case(
    r#"{"verdict":"ALL_OK","problem":"","fix":"use r1c2","confidence":0.4}"#,
    "revision"
)]
#[case(
    r#"{"verdict":"REVISE","confidence":0.9,"explanation":["It uses 2008."]}"#,
    "revision"
)]
#[case(r#"{"approved":false,"summary":"It uses 2008."}"#, "revision")]
#[case(
    r#"{"issues":{"column":{"found":"2008","wanted":"2009"}}}"#,
    "revision"
)]
// Neither.
#[case(r#"{"verdict":"ALL_OK","comment":"Incorrect."}"#, "unparsable")]
#[case(
    r#"{"verdict":"ALL_OK","comments":["the year is wrong"]}"#,
    "unparsable"
)]
#[case(r#"{"verdict":"ALL_OK","summary":"the year is wrong"}"#, "unparsable")]
#[case(
    r#"{"verdict":"ALL_OK","correct":"no, the year is 2008"}"#,
    "unparsable"
)]
#[case(r#"{"verdict":"ALL_OK","wrong":"the year"}"#, "unparsable")]
#[case(r#"{"verdict":"ALL_OK","error":true}"#, "unparsable")]
#[case(
    r#"{"verdict":"REVISE","findings":[{"where":"answer","problem":"","fix":""}]}"#,
    "unparsable"
)]
#[case(
    r#"{"findings":[{"where":"answer","problem":"","fix":""}]}"#,
    "unparsable"
)]
#[case(r#"{"findings":[{"step":"1","status":"checked"}]}"#, "unparsable")]
#[case(r#"{"findings":[{"column_used":true}]}"#, "unparsable")]
#[case(r#"{"error":null,"confidence":0.9}"#, "unparsable")]
#[case(r#"The sign is wrong. {"findings":[],"comment":"none"}"#, "unparsable")]
#[case(r#"This is incorrect. {"reason":""}"#, "unparsable")]
#[case(r#"{"reason":""}"#, "unparsable")]
#[case(r#"{"note":"n/a"}"#, "unparsable")]
#[case(r#"{"all_ok":false}"#, "unparsable")]
#[case(r#"{"approved":false,"findings":[]}"#, "unparsable")]
#[case(r#"{"verdict":"ALL_OK","all_ok":false}"#, "unparsable")]
#[case(
    r#"{"verdict":"ALL_OK","comment":"but the year is wrong"}"#,
    "unparsable"
)]
#[case(
    r#"{"verdict":"ALL_OK","checks":[{"name":"place","ok":false}]}"#,
    "unparsable"
)]
#[case(r#"{"review":{"result":{"approved":false}}}"#, "unparsable")]
#[case(r#"{"verdict":"unsure"}"#, "unparsable")]
#[case(r#"{"findings":[{}]}"#, "unparsable")]
#[case(r#"{"findings":3}"#, "unparsable")]
#[case(r#"{"answer":"5","steps":["x"]}"#, "unparsable")]
#[case("{}", "unparsable")]
#[case(
    "The year is wrong. {\"verdict\":\"ALL_OK\",\"findings\":[]}",
    "unparsable"
)]
#[case(
    "{\"findings\":[{\"problem\":\"sign\"}]}\n{\"verdict\":\"ALL_OK\",\"findings\":[]}",
    "unparsable"
)]
#[case("Incorrect.", "unparsable")]
#[case("REVISE", "unparsable")]
#[case("true", "unparsable")]
#[case("The answer is correct. It uses r1c1.", "unparsable")]
fn a_verdict_is_an_approval_a_revision_or_unparsable(#[case] reply: &str, #[case] kind: &str) {
    let read = verdict(reply).value;
    let found = match &read {
        ParsedVerdict::AllOk => "approval",
        ParsedVerdict::Revise { findings } => {
            assert!(!findings.is_empty(), "{reply}");
            "revision"
        }
        ParsedVerdict::Unparsable { .. } => "unparsable",
    };
    assert_eq!(found, kind, "{reply}: {read:?}");
}

#[test]
fn findings() {
    let ParsedVerdict::Revise { findings } = verdict(r#"[{"findings": [{"where": "r1c2", "problem": "2008, not 2009", "fix": "take r1c1"}, "unit"]}]"#).value else {
        panic!("not a revision");
    };
    assert_eq!(findings[0].location, "r1c2");
    assert_eq!(findings[0].fix, "take r1c1");
    assert_eq!(findings[1].problem, "unit");
    let prose = verdict("The figure used in step 1 does not come from the row.");
    assert!(matches!(&prose.value, ParsedVerdict::Revise { findings } if findings.len() == 1));
    assert_eq!(prose.leniencies, [Leniency::ProseFinding]);
}
