//! The critic's reply to a [`Verdict`].

use serde_json::Value;

use super::candidates::{bounded, without_think};
use super::object::{self, Found, Object, scalar};
use super::types::{CriticFinding, Leniency, Notes, Parsed, Verdict};

/// Plain spellings of the keys that make an object a verdict.
const KEYS: [&str; 6] = [
    "findings", "verdict", "issues", "problems", "errors", "problem",
];
/// Prose of a critic longer than this is cut, in characters.
const MAX_PROSE: usize = 2000;

/// Reads a critic's reply. `ALL_OK` approves only if it stands alone: beside
/// findings it is a revision, among prose it is unparsable.
#[must_use]
pub fn verdict(text: &str) -> Parsed<Verdict> {
    let mut notes = Notes::default();
    let text = bounded(text, &mut notes);
    let text = without_think(text, &mut notes).trim();
    let verdict = read(text, &mut notes);
    notes.parsed(verdict)
}

fn read(text: &str, notes: &mut Notes) -> Verdict {
    if text.is_empty() {
        return unparsable("the critic's reply is empty");
    }
    if text == "ALL_OK" {
        return Verdict::AllOk;
    }
    if is_ok(text) {
        notes.add(Leniency::OkDecorated);
        return Verdict::AllOk;
    }
    match object::find(text, &KEYS, notes) {
        Found::Object(object) => from_object(&object, text, notes),
        Found::Refused { what, .. } => {
            unparsable(format!("the critic's JSON cannot be read: {what}"))
        }
        Found::Nothing => from_text(text, notes),
    }
}

fn unparsable(reason: impl Into<String>) -> Verdict {
    Verdict::Unparsable {
        reason: reason.into(),
    }
}

/// `ALL_OK` and nothing else but decoration.
fn is_ok(text: &str) -> bool {
    let inside = text.trim_matches(|c: char| !c.is_alphanumeric());
    inside.len() <= 8
        && matches!(
            inside.to_uppercase().as_str(),
            "ALL_OK" | "ALL OK" | "ALL-OK" | "ALLOK"
        )
}

fn mentions_ok(text: &str) -> bool {
    text.contains("ALL_OK")
}

fn from_object(object: &Object, text: &str, notes: &mut Notes) -> Verdict {
    let word = object
        .member("verdict", &["status"], notes)
        .and_then(scalar);
    let findings = object
        .member("findings", &["issues", "problems", "errors"], notes)
        .cloned();
    let single = object
        .member("problem", &[], &mut Notes::default())
        .is_some();
    let findings = match findings {
        Some(findings) => findings_of(&findings, notes),
        // One finding without the list around it.
        None if single => {
            notes.add(Leniency::FindingShape);
            finding_of_object(object, notes).into_iter().collect()
        }
        None => Vec::new(),
    };
    if !findings.is_empty() {
        return Verdict::Revise { findings };
    }
    if object.cut_in.is_some() {
        return unparsable("the critic's reply is cut off");
    }
    match word.as_deref().map(str::trim) {
        Some(word) if is_ok(word) || word.eq_ignore_ascii_case("ok") => Verdict::AllOk,
        Some(word) => unparsable(format!("the verdict is `{word}` without a finding")),
        None if mentions_ok(text) => unparsable("ALL_OK stands among other text"),
        None => {
            notes.add(Leniency::EmptyFindings);
            Verdict::AllOk
        }
    }
}

fn findings_of(value: &Value, notes: &mut Notes) -> Vec<CriticFinding> {
    match value {
        Value::Array(items) => items
            .iter()
            .filter_map(|item| finding_of(item, notes))
            .collect(),
        Value::Object(_) | Value::String(_) => {
            notes.add(Leniency::FindingShape);
            finding_of(value, notes).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn finding_of(item: &Value, notes: &mut Notes) -> Option<CriticFinding> {
    match item {
        Value::Object(map) => {
            let pick = |keys: &[&str]| {
                keys.iter()
                    .find_map(|key| map.get(*key).and_then(scalar))
                    .unwrap_or_default()
            };
            if !["where", "problem", "fix"]
                .iter()
                .all(|key| map.contains_key(*key))
            {
                notes.add(Leniency::FindingShape);
            }
            filled(CriticFinding {
                location: pick(&["where", "location", "step", "id", "evidence"]),
                problem: pick(&["problem", "issue", "description", "finding", "error"]),
                fix: pick(&["fix", "correction", "suggestion", "how"]),
            })
        }
        Value::String(text) => {
            notes.add(Leniency::FindingShape);
            filled(CriticFinding {
                problem: text.trim().to_string(),
                ..CriticFinding::default()
            })
        }
        _ => None,
    }
}

fn finding_of_object(object: &Object, notes: &mut Notes) -> Option<CriticFinding> {
    let mut pick = |name: &str| {
        object
            .member(name, &[], notes)
            .and_then(scalar)
            .unwrap_or_default()
    };
    filled(CriticFinding {
        location: pick("where"),
        problem: pick("problem"),
        fix: pick("fix"),
    })
}

/// A finding that says something.
fn filled(finding: CriticFinding) -> Option<CriticFinding> {
    (!finding.problem.is_empty() || !finding.fix.is_empty()).then_some(finding)
}

/// Prose: an objection, unless it mentions `ALL_OK`, when it is neither.
fn from_text(text: &str, notes: &mut Notes) -> Verdict {
    if mentions_ok(text) {
        return unparsable("ALL_OK stands among other text");
    }
    if !text.contains(char::is_alphabetic) {
        return unparsable("the critic's reply has no words");
    }
    notes.add(Leniency::ProseFinding);
    Verdict::Revise {
        findings: vec![CriticFinding {
            location: String::new(),
            problem: text.chars().take(MAX_PROSE).collect(),
            fix: String::new(),
        }],
    }
}
