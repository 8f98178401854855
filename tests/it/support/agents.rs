//! A scripted analyst and critic behind the fault server: each question has an
//! answer of its own, so that an answer in the wrong row is seen, and about
//! half the questions are sent back once.

use super::fault_server::{FaultServer, Reply, Request};

/// The text of the question that a request is about.
pub fn question_of(request: &Request) -> String {
    let asked = request.conversation().into_iter().find_map(|(_, text)| {
        let (_, asked) = text.rsplit_once("Question: ")?;
        Some(asked.lines().next().unwrap_or_default().trim().to_owned())
    });
    asked.unwrap_or_default()
}

/// An analyst's reply with this program.
pub fn analysis(program: &str) -> Reply {
    let analysis = serde_json::json!({"steps": ["read"], "answer": "", "program": program,
        "evidence": [], "unit": "number"});
    Reply::chat(&analysis.to_string())
}

/// The number that is the scripted answer to a question.
pub fn answer_to(question: &str) -> u32 {
    let hash = blake3::hash(question.as_bytes());
    1000 + u32::from(u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]]))
}

/// Whether the scripted critic sends a question's first answer back.
pub fn is_sent_back(question: &str) -> bool {
    blake3::hash(question.as_bytes()).as_bytes()[2].is_multiple_of(2)
}

pub fn is_critic(request: &Request) -> bool {
    request.system().to_lowercase().contains("critic")
}

/// What the scripted pair replies; the analyst answers one too many at first
/// where the critic will object.
pub fn scripted(request: &Request) -> Reply {
    scripted_as(request, |number| number.to_string())
}

/// The same with the numbers written in another way.
pub fn scripted_as(request: &Request, written: impl Fn(u32) -> String) -> Reply {
    let question = question_of(request);
    let number = answer_to(&question);
    let right = written(number);
    if is_critic(request) {
        let accepted = request.user().contains(&format!("\"{right}\""))
            || request.user().contains(&format!("{right} "))
            || request.user().contains(&format!("{right}\n"));
        return Reply::chat(if accepted {
            "ALL_OK"
        } else {
            r#"{"findings": [{"where": "answer", "problem": "it is one too many.", "fix": "take one off."}]}"#
        });
    }
    let conversation = request.conversation();
    let revised = conversation.iter().any(|(role, _)| role == "assistant");
    let stated = if is_sent_back(&question) && !revised {
        written(number + 1)
    } else {
        right
    };
    let analysis = serde_json::json!({
        "evidence": [], "program": null, "steps": ["read it off"],
        "answer": stated, "unit": "number", "label": "it", "confidence": 0.9,
    });
    Reply::chat(&analysis.to_string())
}

/// A server that puts the key it was sent where `reply` says.
pub fn repeating_the_key(
    reply: impl Fn(&Request, &str) -> Reply + Send + Sync + 'static,
) -> FaultServer {
    FaultServer::start(move |request| reply(request, request.key().unwrap_or_default()))
}
