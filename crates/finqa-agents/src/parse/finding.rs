//! One finding of a critic, and the words and flags of its verdict, under any keys.

use serde_json::{Map, Value};

use super::object::{plain, scalar};
use super::types::CriticFinding;
use super::wording::{Sentiment, finds_nothing, leaning, objects};

/// Plain spellings of the keys of a list of findings.
pub(super) const FINDINGS: [&str; 8] = [
    "findings", "issues", "problems", "errors", "objections", "mistakes", "corrections", "concerns",
];
/// Keys whose value is the verdict.
pub(super) const WORDS: [&str; 9] = [
    "verdict", "status", "decision", "conclusion", "assessment", "judgment", "judgement", "result",
    "outcome",
];
/// Keys that approve when true, and object when false.
pub(super) const APPROVING: [&str; 15] = [
    "allok", "ok", "isok", "approved", "approve", "accepted", "accept", "correct", "iscorrect",
    "valid", "isvalid", "passed", "pass", "agree", "right",
];
/// Keys that object when true, and approve when false.
pub(super) const OBJECTING: [&str; 9] = [
    "revise", "needsrevision", "revisionneeded", "reject", "rejected", "haserrors", "hasissues",
    "wrong", "incorrect",
];
/// Keys of the text of one finding.
pub(super) const PROBLEM: [&str; 6] = [
    "problem", "issue", "objection", "error", "finding", "mistake",
];
/// Keys of how to fix one finding.
pub(super) const FIX: [&str; 5] = ["fix", "correction", "suggestion", "solution", "how"];
/// Keys of text that explains a verdict, or is the text of a finding without a [`PROBLEM`].
pub(super) const EXPLANATION: [&str; 15] = [
    "message", "detail", "details", "description", "reason", "explanation", "comment", "comments",
    "feedback", "text", "note", "notes", "remark", "remarks", "summary",
];
/// Keys of what a finding is about.
const PLACE: [&str; 6] = ["where", "location", "step", "id", "evidence", "field"];
/// Keys that say nothing about what is wrong.
const RATING: [&str; 7] = [
    "confidence", "certainty", "probability", "score", "count", "total", "index",
];

/// What the value of one key says about the analysis.
pub(super) enum Sign {
    Approves,
    /// The word or flag that objects.
    Objects(String),
    /// A verdict's word that neither approves nor objects.
    Unclear(String),
    /// The key of a problem, whose value says that there is none.
    NoProblem,
}

/// What `value` says under the key of a verdict, a flag or a problem; `None` for other keys,
/// and for the text of a problem.
pub(super) fn sign(key: &str, value: &Value) -> Option<Sign> {
    let flag = |approves| match approves {
        true => Sign::Approves,
        false => Sign::Objects("no approval".to_owned()),
    };
    let text = scalar(value).filter(|text| !text.is_empty());
    if WORDS.contains(&key) {
        if let Value::Bool(approves) = value {
            return Some(flag(*approves));
        }
        let word = scalar(value)?;
        Some(match leaning(&word) {
            Sentiment::Approves => Sign::Approves,
            Sentiment::Objects | Sentiment::Disapproves => Sign::Objects(word),
            Sentiment::Mixed | Sentiment::Neither => Sign::Unclear(word),
        })
    } else if APPROVING.contains(&key) {
        let text = text?;
        let first = text.split(|c: char| !c.is_alphanumeric()).next();
        let by_words = match leaning(&text) {
            Sentiment::Approves => Some(true),
            Sentiment::Objects | Sentiment::Disapproves => Some(false),
            _ if first.is_some_and(|word| word.eq_ignore_ascii_case("no")) => Some(false),
            _ => None,
        };
        truth(value).or(by_words).map(flag)
    } else if OBJECTING.contains(&key) {
        let text = text?;
        Some(flag(match truth(value) {
            Some(objects) => !objects,
            None => finds_nothing(&text),
        }))
    } else if PROBLEM.contains(&key) {
        match (truth(value), text) {
            (Some(true), Some(text)) => Some(Sign::Objects(format!("{key}: {text}"))),
            (Some(false), _) => Some(Sign::NoProblem),
            (None, Some(text)) if finds_nothing(&text) => Some(Sign::NoProblem),
            _ => None,
        }
    } else {
        None
    }
}

/// `true`, `"yes"`, `1`.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => Some(false),
            Some(1.0) => Some(true),
            _ => None,
        },
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// One item of a list of findings.
pub(super) enum FindingItem {
    Finding(CriticFinding),
    /// It says that something is right, or that there is no problem.
    NoProblem,
    /// It has no text.
    Blank,
    /// It neither approves nor objects.
    Unclear,
}

/// Reads an object with any keys.
pub(super) fn finding(map: &Map<String, Value>) -> FindingItem {
    let (mut is_right, mut is_unclear) = (false, false);
    let (mut wrong, mut own) = (Vec::new(), Vec::new());
    for (name, value) in map {
        let key = plain(name);
        let key = key.as_str();
        match sign(key, value) {
            Some(Sign::Approves | Sign::NoProblem) => is_right = true,
            Some(Sign::Objects(_)) => {
                wrong.extend(scalar(value).map(|text| format!("{name}: {text}")))
            }
            Some(Sign::Unclear(_)) => is_unclear = true,
            None if is_known(key) => {}
            None if value.is_boolean() => is_unclear = true,
            None => {
                let text = text_of(value);
                own.extend((!text.is_empty()).then(|| format!("{name}: {text}")));
            }
        }
    }
    let pick = |keys: &[&str]| {
        keys.iter().find_map(|wanted| {
            let (key, value) = map.iter().find(|(name, _)| plain(name) == **wanted)?;
            let stated = sign(&plain(key), value).is_none();
            Some(text_of(value)).filter(|text| stated && !text.is_empty())
        })
    };
    let location = || {
        let place = |wanted: &&str| {
            let (_, value) = map.iter().find(|(name, _)| plain(name) == **wanted)?;
            scalar(value).filter(|text| !text.is_empty())
        };
        PLACE.iter().find_map(place).unwrap_or_default()
    };
    let (problem, fix, explanation) = (pick(&PROBLEM), pick(&FIX), pick(&EXPLANATION));
    let is_stated = problem.is_some() || fix.is_some() || !wrong.is_empty();
    let text = problem.or(explanation).or_else(|| {
        wrong.append(&mut own);
        Some(wrong.join("; ")).filter(|text| fix.is_none() && !text.is_empty())
    });
    match &text {
        _ if is_stated => {}
        Some(text) if !is_right || objects(text) => {}
        _ if is_right => return FindingItem::NoProblem,
        _ if is_unclear => return FindingItem::Unclear,
        _ => return FindingItem::Blank,
    }
    FindingItem::Finding(CriticFinding {
        location: location(),
        problem: text.unwrap_or_default(),
        fix: fix.unwrap_or_default(),
    })
}

/// True if a key has a meaning of its own, so that its name is not part of a finding's text.
fn is_known(key: &str) -> bool {
    [
        PROBLEM.as_slice(),
        &FIX,
        &EXPLANATION,
        &PLACE,
        &RATING,
        &WORDS,
        &APPROVING,
        &OBJECTING,
    ]
    .iter()
    .any(|keys| keys.contains(&key))
}

/// The text of a value, without parts that say that there is nothing wrong.
pub(super) fn text_of(value: &Value) -> String {
    let joined = |parts: Vec<String>| {
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    };
    match value {
        Value::Array(items) => joined(items.iter().map(text_of).collect()),
        Value::Object(map) => match finding(map) {
            FindingItem::Finding(inner) => joined(vec![inner.problem, inner.fix]),
            _ => String::new(),
        },
        Value::Bool(_) => String::new(),
        value => scalar(value)
            .filter(|text| !finds_nothing(text))
            .unwrap_or_default(),
    }
}
