//! Tests the consequences of a critic's reply.

use super::*;

/// An answer was once accepted after such a reply.
#[tokio::test]
async fn a_revision_without_readable_findings_is_asked_for_again_and_then_its_text_is_the_finding()
{
    let unread = r#"{"verdict": "REVISE", "findings": "the figure is of 2018"}"#;
    let readable = r#"{"verdict": "REVISE", "findings": [{"problem": "it is of 2018"}]}"#;
    for (first, second, problem) in [
        (unread, readable, Some("it is of 2018")),
        (unread, unread, Some("the figure is of 2018")),
        (unread, "I cannot say.", Some("the figure is of 2018")),
        (unread, "REVISE, as I said.", Some("REVISE, as I said.")),
        (
            r#"{"verdict": "REVISE", "findings": []}"#,
            readable,
            Some("it is of 2018"),
        ),
        ("REVISE", readable, Some("it is of 2018")),
        (unread, "ALL_OK", None),
    ] {
        let script =
            move |request: &Request| match (is_critic(request), request.conversation().len()) {
                (true, 2) if request.user().contains("\"program\": \"1000\"") => Reply::chat(first),
                (true, 2) => Reply::chat("ALL_OK"),
                (true, _) => Reply::chat(second),
                (false, 2) => reply("1000", "1000"),
                (false, _) => reply("1250", "1250"),
            };
        let (solution, server) = ask("what was it?", |_| {}, script).await;
        let CriticVerdict::Revise { findings } = &solution.rounds[0].verdict else {
            assert_eq!(
                (problem, printed(&solution)),
                (None, Some("1000")),
                "{second}"
            );
            continue;
        };
        assert_eq!(Some(findings[0].problem.as_str()), problem, "{second}");
        assert_eq!(solution.rounds[0].critic_reply.as_deref(), Some(second));
        assert_eq!(printed(&solution), Some("1250"), "{second}");
        assert_eq!(server.count(), 5, "analyst, critic twice, analyst, critic");
        let asked = server.requests()[2].user();
        assert!(asked.contains("could not be read"), "{asked}");
    }
    let refused = move |request: &Request| match (is_critic(request), request.conversation().len())
    {
        (true, 2) => Reply::chat(unread),
        (true, _) => Reply::content_filter(),
        (false, _) => reply("1000", "1000"),
    };
    let (solution, _) = ask("what was it?", |_| {}, refused).await;
    assert_ne!(solution.stop, StopReason::NoVerdict, "{solution:?}");
}
