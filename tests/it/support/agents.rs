//! A scripted analyst and critic behind the fault server. Each question has a different answer, so
//! that a test sees an answer in the wrong row. The critic sends about half of the questions back
//! once.

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

/// True if the scripted critic sends the first answer to a question back.
pub fn is_sent_back(question: &str) -> bool {
    blake3::hash(question.as_bytes()).as_bytes()[2].is_multiple_of(2)
}

pub fn is_critic(request: &Request) -> bool {
    request.system().to_lowercase().contains("critic")
}

/// The reply of the scripted analyst or critic. For a question that is sent back, the analyst's
/// first answer is one too large, and the critic objects to it.
pub fn scripted(request: &Request) -> Reply {
    scripted_as(request, |number| number.to_string())
}

/// Like [`scripted`], but with the numbers written by `written`.
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

/// A server whose replies may contain the key of the request, which `reply` is given.
pub fn repeating_the_key(
    reply: impl Fn(&Request, &str) -> Reply + Send + Sync + 'static,
) -> FaultServer {
    FaultServer::start(move |request| reply(request, request.key().unwrap_or_default()))
}
