//! A model's proposal to change one prompt template: the request, the reply, and the changed
//! template.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use thiserror::Error;

use finqa_agents::llm::{ChatMessage, ChatRequest, ReplyFormat};
use finqa_agents::prompt::PromptError;
use finqa_score::analysis::MissAnalysis;

use finqa_score::improve::Candidate;

/// Number of misses that the proposer is shown for each cause. Set by hand, like the number of
/// causes: they bound the prompt.
const EXAMPLES: usize = 3;
/// Number of causes that the proposer is shown. The most frequent ones are chosen.
const CAUSES: usize = 6;

const INSTRUCTIONS: &str = "\
You improve the prompt templates of a financial analyst, a language model that answers questions about pages of reports.
You see the templates and the causes of its wrong answers. Propose one change of one template that prevents the most of
them on other pages too.

- Write a general rule. Name no company, page, row label or figure of an example.
- Keep every {{ … }} and {% … %} and the form of the reply as they are.
- Do not propose again what was tried.

REPLY with one JSON object and nothing else:
{\"template\": \"the template's name\", \"old\": \"a text that stands in it exactly once\", \"new\": \"the text in its place\", \
\"reason\": \"why, in one sentence\"}";

/// A proposal to replace a text in a template.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Proposal {
    pub template: String,
    pub old: String,
    pub new: String,
    #[serde(default)]
    pub reason: String,
}

/// The reason why a candidate is not run.
#[derive(Debug, Error)]
pub(super) enum ProposalRejection {
    #[error("the proposer's reply is not a proposal: {0}")]
    Nonsense(String),
    #[error("the proposer names no template")]
    UnknownTemplate,
    #[error("the text to replace is in {template} {count} times, not once")]
    NotOnce { template: String, count: usize },
    #[error("it changes nothing")]
    NoChange,
    #[error("it adds {0}")]
    DataText(String),
    #[error("the template no longer renders: {0}")]
    Broken(#[from] PromptError),
}

/// The templates that a proposal may change, out of a set of prompts.
pub(super) fn templates(texts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_template = |name: &str| name.ends_with(".j2");
    let texts = texts.iter().filter(|(name, _)| is_template(name));
    texts
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect()
}

/// The request for the next candidate. `misses` are the misses on the propose pages, because the
/// proposer may see no other pages.
pub(super) fn request(
    templates: &BTreeMap<String, String>,
    misses: &MissAnalysis,
    tried: &[Candidate],
) -> ChatRequest {
    let mut text = String::new();
    for (name, template) in templates {
        text.push_str(&format!("TEMPLATE {name}\n{}\n\n", template.trim_end()));
    }
    text.push_str(&misses_text(misses));
    if !tried.is_empty() {
        text.push_str("\nTRIED\n");
    }
    for candidate in tried {
        // The reason why a candidate was not run may quote a gold answer, so it is not shown. Of
        // the gate's result, only one bit is shown. With more, the next candidate would depend on
        // the gate pages, and the error level of 5 % would no longer be valid.
        let result = match candidate.effect {
            Some(_) if candidate.passes => "passed",
            Some(_) => "did not pass",
            None => "not run: it broke a rule, or the template did not render",
        };
        let (template, reason) = (&candidate.template, &candidate.reason);
        text.push_str(&format!("- {template}: {reason} ({result})\n"));
    }
    let mut request = ChatRequest::new(
        "proposer",
        vec![ChatMessage::system(INSTRUCTIONS), ChatMessage::user(text)],
    );
    let field = || json!({"type": "string"});
    let names: Vec<&String> = templates.keys().collect();
    request.format = ReplyFormat::JsonSchema {
        name: "proposal".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "template": {"type": "string", "enum": names},
                "old": field(), "new": field(), "reason": field(),
            },
            "required": ["template", "old", "new", "reason"],
            "additionalProperties": false,
        }),
        strict: true,
        or_text: false,
    };
    // Each candidate has a repeat number of its own, so that equal requests do not share a stored
    // reply.
    request.origin.question = "improve".to_owned();
    request.origin.repeat = u32::try_from(tried.len()).unwrap_or(u32::MAX);
    request
}

/// The causes of misses with their counts. Each cause has a few example questions with the
/// analyst's answers, but without gold.
fn misses_text(found: &MissAnalysis) -> String {
    let (wrong, all) = (found.misses.len(), found.questions);
    let mut text = format!("WRONG ANSWERS: {wrong} of {all}\n");
    for count in found.causes.iter().take(CAUSES) {
        let name = count.cause.name().replace('_', " ");
        text.push_str(&format!("\n{name}: {}\n", count.count));
        let misses = found.misses.iter();
        let misses = misses.filter(|miss| miss.cause == count.cause);
        for miss in misses.take(EXAMPLES) {
            let program = miss.program.as_deref().unwrap_or("none");
            let (question, answer) = (&miss.question, &miss.answer);
            text.push_str(&format!(
                "- question: {question}\n  program: {program}\n  answer: {answer}\n"
            ));
        }
    }
    text
}

impl Proposal {
    /// Reads a reply, which must contain one JSON object. Text around the object is ignored.
    pub(super) fn read(reply: &str) -> Result<Self, ProposalRejection> {
        let object = reply.find('{').zip(reply.rfind('}'));
        let object = object.and_then(|(start, end)| reply.get(start..=end));
        let object =
            object.ok_or_else(|| ProposalRejection::Nonsense("no JSON object".to_owned()))?;
        serde_json::from_str(object).map_err(|error| ProposalRejection::Nonsense(error.to_string()))
    }

    /// Applies the change. Returns the template before and after it.
    ///
    /// # Errors
    /// The template is unknown, the old text is not in it exactly once, or the change has no
    /// effect.
    pub(super) fn apply<'t>(
        &self,
        templates: &'t BTreeMap<String, String>,
    ) -> Result<(&'t str, String), ProposalRejection> {
        let template = templates.get(&self.template);
        let template = template.ok_or(ProposalRejection::UnknownTemplate)?;
        // `matches` would find an empty text everywhere.
        let count = if self.old.is_empty() {
            0
        } else {
            template.matches(&self.old).count()
        };
        if count != 1 {
            return Err(ProposalRejection::NotOnce {
                template: self.template.clone(),
                count,
            });
        }
        if self.old == self.new {
            return Err(ProposalRejection::NoChange);
        }
        Ok((template, template.replacen(&self.old, &self.new, 1)))
    }

    /// The change as lines that begin with `-` and `+`.
    pub(super) fn diff(&self) -> String {
        let lines = |sign: char, text: &str| {
            let lines = text.lines().map(|line| format!("{sign} {line}"));
            lines.collect::<Vec<_>>()
        };
        let parts = [lines('-', &self.old), lines('+', &self.new)];
        parts.concat().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_changes_one_place_of_one_template_or_is_rejected() {
        let templates = BTreeMap::from([("a.j2".to_owned(), "one two one".to_owned())]);
        let change = |template: &str, old: &str, new: &str| {
            let reply = json!({"template": template, "old": old, "new": new});
            let proposal = Proposal::read(&format!("Sure:\n```json\n{reply}\n```"))?;
            proposal.apply(&templates).map(|(_, changed)| changed)
        };
        assert_eq!(change("a.j2", "two", "2").unwrap(), "one 2 one");
        for (change, words) in [
            (change("b.j2", "two", "2"), "names no template"),
            (change("a.j2", "one", "1"), "a.j2 2 times, not once"),
            (change("a.j2", "", "1"), "0 times"),
            (change("a.j2", "two", "two"), "changes nothing"),
            (
                Proposal::read("I cannot").map(|_| String::new()),
                "no JSON object",
            ),
            (
                Proposal::read("{\"old\": 1}").map(|_| String::new()),
                "not a proposal",
            ),
        ] {
            let error = change.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
