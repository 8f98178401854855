//! The critic's reply to a [`ParsedVerdict`].
//!
//! An objection is never read as an approval, nor the reverse: a reply that says both, or
//! neither with certainty, is unparsable.

use serde_json::{Map, Value};

use super::candidates::{bounded, without_think};
use super::finding::{
    APPROVING, EXPLANATION, FINDINGS, FIX, FindingItem, OBJECTING, PROBLEM, Sign, WORDS, finding,
    sign, text_of,
};
use super::object::{self, ObjectSearch, ReplyObject, plain, scalar};
use super::types::{CriticFinding, Leniency, Notes, ParsedReply, ParsedVerdict};
use super::wording::{Sentiment, finds_nothing, leaning, objects, objects_outright};

/// Longer prose of a critic is cut, in characters.
const MAX_PROSE: usize = 2000;
/// Deeper nested lists of findings are not read.
const MAX_DEPTH: usize = 8;

/// Reads a critic's reply. An approval counts only alone: with findings it is a revision,
/// among other text it is unparsable.
pub fn verdict(text: &str) -> ParsedReply<ParsedVerdict> {
    let mut notes = Notes::default();
    let text = bounded(text, &mut notes);
    let text = without_think(text, &mut notes).trim();
    let verdict = read(text, &mut notes);
    notes.parsed(verdict)
}

fn read(text: &str, notes: &mut Notes) -> ParsedVerdict {
    if text.is_empty() {
        return unparsable("the critic's reply is empty");
    }
    if text == "ALL_OK" {
        return ParsedVerdict::AllOk;
    }
    if is_ok(text) {
        notes.add(Leniency::OkDecorated);
        return ParsedVerdict::AllOk;
    }
    // A list of findings without the object around it.
    if let Ok(Value::Array(items)) = serde_json::from_str::<Value>(text)
        && !matches!(items.as_slice(), [Value::Object(only)] if has_list(only))
    {
        notes.add(Leniency::FindingShape);
        let mut signs = ObjectVerdict::default();
        signs.list(&Value::Array(items), 0, notes);
        signs.listed = true;
        return signs.verdict("", notes);
    }
    let keys: Vec<&str> = [
        FINDINGS.as_slice(),
        &WORDS,
        &APPROVING,
        &OBJECTING,
        &PROBLEM,
        &EXPLANATION,
        &["fix"],
    ]
    .concat();
    let found = object::all(text, &keys);
    let mut verdicts = found.objects.iter().map(|(object, own)| {
        let mut own = own.clone();
        let verdict = from_object(object, text, &mut own);
        (verdict, own)
    });
    let Some((first, own)) = verdicts.next() else {
        return match found.refusal {
            Some(ObjectSearch::Refused { what, .. }) => {
                unparsable(format!("the critic's JSON cannot be read: {what}"))
            }
            _ => from_text(text, notes),
        };
    };
    let objection_too =
        verdicts.any(|(verdict, _)| matches!(verdict, ParsedVerdict::Revise { .. }));
    if first == ParsedVerdict::AllOk && objection_too {
        return unparsable("the reply holds an approval and an objection");
    }
    notes.extend(&own);
    first
}

fn has_list(members: &Map<String, Value>) -> bool {
    members
        .keys()
        .any(|key| FINDINGS.contains(&plain(key).as_str()))
}

fn unparsable(reason: impl Into<String>) -> ParsedVerdict {
    ParsedVerdict::Unparsable {
        reason: reason.into(),
    }
}

/// `ALL_OK` and only decoration.
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

fn from_object(object: &ReplyObject, text: &str, notes: &mut Notes) -> ParsedVerdict {
    let mut signs = ObjectVerdict::default();
    signs.members(object.members(), 0, notes);
    signs.is_cut = object.cut_in.is_some();
    let around = [
        text.get(..object.place.start).unwrap_or_default(),
        text.get(object.place.end..).unwrap_or_default(),
    ];
    signs.verdict(&around.join("\n"), notes)
}

/// The members of an object, before they are evaluated.
#[derive(Default)]
struct ObjectVerdict {
    findings: Vec<CriticFinding>,
    /// It has a list of findings, which may be empty.
    listed: bool,
    /// The list holds something that cannot be read.
    unread: bool,
    /// The list holds a finding without text.
    blank: bool,
    approves: bool,
    /// The word or flag that objects.
    objects: Option<String>,
    /// A verdict's word that neither approves nor objects.
    unknown: Option<String>,
    explanations: Vec<String>,
    is_cut: bool,
}

impl ObjectVerdict {
    /// Reads the members of an object and of nested objects: the model may have wrapped the
    /// verdict (`{"review": {"approved": false}}`).
    fn members(&mut self, members: &Map<String, Value>, depth: usize, notes: &mut Notes) {
        let mut single = Map::new();
        let mut is_finding = false;
        for (key, value) in members {
            let key = plain(key);
            let key = key.as_str();
            let inside = match value {
                Value::Object(_) => std::slice::from_ref(value),
                Value::Array(items) => items.as_slice(),
                _ => &[],
            };
            if FINDINGS.contains(&key) {
                if key != "findings" {
                    notes.add(Leniency::KeyVariant);
                }
                self.listed = true;
                self.list(value, 0, notes);
            } else if PROBLEM.contains(&key) && !inside.is_empty() {
                self.listed = true;
                self.list(value, 0, notes);
            } else if let Some(sign) = sign(key, value) {
                match sign {
                    Sign::Approves => self.approves = true,
                    Sign::Objects(word) => self.objects = Some(word),
                    // `result` and the like may hold anything.
                    Sign::Unclear(word) if key == "verdict" => self.unknown = Some(word),
                    Sign::Unclear(_) => {}
                    Sign::NoProblem => self.listed = true,
                }
            } else if PROBLEM.contains(&key) || FIX.contains(&key) {
                // An answer's `solution` alone, or how it was checked, is not a finding.
                is_finding |= !matches!(key, "solution" | "how") && !text_of(value).is_empty();
                single.insert(key.to_owned(), value.clone());
            } else if !inside.is_empty() {
                if EXPLANATION.contains(&key) {
                    self.explanations.extend(inside.iter().filter_map(scalar));
                }
                for inner in inside.iter().filter_map(Value::as_object) {
                    if depth < MAX_DEPTH {
                        self.members(inner, depth + 1, notes);
                    }
                }
            } else if EXPLANATION.contains(&key) {
                self.explanations.extend(scalar(value));
            } else {
                single.insert(key.to_owned(), value.clone());
            }
        }
        // One finding without the list around it.
        if is_finding && let FindingItem::Finding(finding) = finding(&single) {
            notes.add(Leniency::FindingShape);
            self.findings.push(finding);
        }
    }

    /// Reads a list of findings, or what a model wrote in its place.
    fn list(&mut self, value: &Value, depth: usize, notes: &mut Notes) {
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Number(number) if number.as_f64() == Some(0.0) => {}
            Value::Bool(true) | Value::Number(_) => self.unread = true,
            Value::String(text) => {
                notes.add(Leniency::FindingShape);
                if !finds_nothing(text) {
                    self.findings.push(CriticFinding {
                        problem: text.trim().to_owned(),
                        ..CriticFinding::default()
                    });
                }
            }
            Value::Array(items) if depth < MAX_DEPTH => {
                for item in items {
                    self.list(item, depth + 1, notes);
                }
            }
            Value::Array(_) => self.unread = true,
            Value::Object(map) if map.is_empty() => self.blank |= depth > 0,
            Value::Object(map) => {
                if depth == 0
                    || !["where", "problem", "fix"]
                        .iter()
                        .all(|key| map.contains_key(*key))
                {
                    notes.add(Leniency::FindingShape);
                }
                match finding(map) {
                    FindingItem::Finding(finding) => self.findings.push(finding),
                    FindingItem::NoProblem => {}
                    FindingItem::Blank => self.blank = true,
                    FindingItem::Unclear => self.unread = true,
                }
            }
        }
    }

    fn verdict(self, around: &str, notes: &mut Notes) -> ParsedVerdict {
        if !self.findings.is_empty() {
            return ParsedVerdict::Revise {
                findings: self.findings,
            };
        }
        if self.unread {
            return unparsable("the critic's findings cannot be read");
        }
        if self.is_cut {
            return unparsable("the critic's reply is cut off");
        }
        let contradicted =
            self.explanations.iter().any(|text| objects(text)) || objects_outright(around);
        match (self.approves, self.objects) {
            (true, Some(word)) => unparsable(format!("it approves, and its verdict is `{word}`")),
            (true, None) if contradicted => unparsable("it approves, and objects in words"),
            (true, None) if mentions_ok(around) => unparsable("ALL_OK is among other text"),
            (true, None) => ParsedVerdict::AllOk,
            (false, Some(word)) => match explained(&self.explanations) {
                Some(findings) => {
                    notes.add(Leniency::FindingShape);
                    ParsedVerdict::Revise { findings }
                }
                None => unparsable(format!("the verdict is `{word}` without a finding")),
            },
            (false, None) => match (self.unknown, explained(&self.explanations)) {
                (Some(word), _) => unparsable(format!("the verdict is `{word}` without a finding")),
                (None, Some(findings)) => {
                    notes.add(Leniency::FindingShape);
                    ParsedVerdict::Revise { findings }
                }
                (None, None) if mentions_ok(around) => unparsable("ALL_OK is among other text"),
                (None, None) if objects_outright(around) => {
                    unparsable("the critic objects without a finding")
                }
                (None, None) if self.listed && !self.blank => {
                    notes.add(Leniency::EmptyFindings);
                    ParsedVerdict::AllOk
                }
                (None, None) if self.explanations.iter().any(|text| approves(text)) => {
                    notes.add(Leniency::ApprovalWords);
                    ParsedVerdict::AllOk
                }
                (None, None) => unparsable("the object holds no verdict"),
            },
        }
    }
}

fn approves(text: &str) -> bool {
    leaning(text) == Sentiment::Approves
}

fn explained(explanations: &[String]) -> Option<Vec<CriticFinding>> {
    let findings: Vec<CriticFinding> = explanations
        .iter()
        .filter(|text| !finds_nothing(text))
        .map(|text| CriticFinding {
            problem: text.clone(),
            ..CriticFinding::default()
        })
        .collect();
    (!findings.is_empty()).then_some(findings)
}

/// Prose: an approval if it says nothing else, else an objection, unless it approves among
/// other things, when it is neither.
fn from_text(text: &str, notes: &mut Notes) -> ParsedVerdict {
    let text = unfenced(text);
    if !text.contains(char::is_alphabetic) {
        return unparsable("the critic's reply has no words");
    }
    let leaning = leaning(text);
    if leaning == Sentiment::Approves {
        notes.add(if mentions_ok(text) {
            Leniency::OkDecorated
        } else {
            Leniency::ApprovalWords
        });
        return ParsedVerdict::AllOk;
    }
    if mentions_ok(text) {
        return unparsable("ALL_OK is among other text");
    }
    match leaning {
        Sentiment::Disapproves => unparsable("the critic disapproves without a finding"),
        Sentiment::Mixed => unparsable("an approval is among other text"),
        Sentiment::Neither if text.split_whitespace().count() < 3 => {
            unparsable(format!("`{text}` is neither an approval nor a finding"))
        }
        Sentiment::Approves | Sentiment::Objects | Sentiment::Neither => {
            notes.add(Leniency::ProseFinding);
            ParsedVerdict::Revise {
                findings: vec![CriticFinding {
                    problem: text.chars().take(MAX_PROSE).collect(),
                    ..CriticFinding::default()
                }],
            }
        }
    }
}

fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    let Some(inside) = inside else { return text };
    match inside.split_once('\n') {
        Some((language, body)) if !language.contains(char::is_whitespace) => body.trim(),
        _ => inside.trim(),
    }
}
