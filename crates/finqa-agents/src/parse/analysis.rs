//! The analyst's reply to an [`Analysis`].

use serde::Deserialize as _;
use serde_json::Value;

use super::candidates::{bounded, without_think};
use super::error::ParseFailure;
use super::labelled;
use super::object::{self, ObjectSearch, ReplyObject, scalar};
use super::program::program;
use super::types::{Analysis, Leniency, Notes, ParsedReply};
use super::unit;
use finqa_core::number::{Unit, UnitKind};
use finqa_core::question::CitedEvidence;

/// Plain spellings of the keys that make an object an analysis.
const KEYS: [&str; 6] = [
    "answer", "finalanswer", "program", "steps", "result", "value",
];

/// # Errors
/// If the reply has neither a readable object with an `answer` or a `program`, nor an
/// `Answer:` line; the message says what is missing and where.
pub fn analysis(text: &str) -> Result<ParsedReply<Analysis>, ParseFailure> {
    let mut notes = Notes::default();
    let text = bounded(text, &mut notes);
    let body = without_think(text, &mut notes);
    // Positions are given in the whole reply, as the model wrote it.
    let shift = if body.is_empty() {
        0
    } else {
        text.len() - body.len()
    };
    let (offset, what) = match object::find(body, &KEYS, rank, &mut notes) {
        ObjectSearch::Object(object) => {
            let analysis = from_object(&object, &mut notes);
            if !analysis.answer.is_empty() {
                return Ok(notes.parsed(analysis));
            }
            if analysis.program.is_some() && object.cut_in.is_none() {
                notes.add(Leniency::AnswerMissing);
                return Ok(notes.parsed(analysis));
            }
            let what = match &object.cut_in {
                Some(key) => {
                    format!("the reply is cut off inside `{key}`, before a whole `answer`")
                }
                None => format!("the object has no `answer` (its keys: {})", object.keys()),
            };
            (object.place.start, what)
        }
        ObjectSearch::Refused { offset, what } => (offset, what),
        ObjectSearch::Nothing => {
            if let Some(analysis) = labelled::analysis(body, &mut notes) {
                return Ok(notes.parsed(analysis));
            }
            let what = if body.trim().is_empty() && !text.trim().is_empty() {
                "the reply has nothing behind its `<think>` block"
            } else if text.trim().is_empty() {
                "the reply is empty"
            } else {
                "no JSON object with an `answer`, and no `Answer:` line"
            };
            (0, what.to_string())
        }
    };
    Err(ParseFailure::at(text, shift + offset, what))
}

/// The similarity of an object to an analysis: 2 with two of its steps, its program and its
/// answer, 1 with one of them, 0 with a bare value.
fn rank(object: &ReplyObject) -> u8 {
    let parts: [&[&str]; 3] = [&["steps"], &["program"], &["answer", "finalanswer"]];
    match parts.iter().filter(|keys| object.has(keys)).count() {
        0 => 0,
        1 => 1,
        _ => 2,
    }
}

fn from_object(object: &ReplyObject, notes: &mut Notes) -> Analysis {
    let mut unit = object.member("unit", &["units", "answerunit", "predictedunit"], notes);
    let steps = object
        .member(
            "steps",
            &["step", "reasoning", "thoughts", "explanation"],
            notes,
        )
        .map_or_else(Vec::new, |value| steps_of(value, notes));
    if steps.is_empty() {
        notes.add(Leniency::StepsShape);
    }
    let answer = object
        .member(
            "answer",
            &["finalanswer", "result", "value", "predictedanswer"],
            notes,
        )
        .and_then(|value| answer_of(value, &mut unit, notes))
        .unwrap_or_default();
    let evidence = object
        .member("evidence", &["evidences", "citations", "sources"], notes)
        .map_or_else(Vec::new, |value| evidence_of(value, notes));
    let program = object
        .member("program", &["calculation", "formula", "expression"], notes)
        .and_then(|value| program(value, &evidence, notes));
    let label = object
        .member("label", &["answerlabel", "description"], notes)
        .and_then(scalar)
        .filter(|label| !label.is_empty());
    let confidence = object.member("confidence", &[], notes);
    Analysis {
        steps,
        answer,
        program,
        unit: unit.and_then(|value| unit_of(value, notes)),
        label,
        confidence: confidence.and_then(|value| confidence_of(value, notes)),
        evidence,
    }
}

fn steps_of(value: &Value, notes: &mut Notes) -> Vec<String> {
    match value {
        Value::Array(items) => items
            .iter()
            .filter_map(|item| step_of(item, notes))
            .collect(),
        Value::String(text) => {
            notes.add(Leniency::StepsShape);
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_string).collect()
        }
        Value::Object(map) => {
            notes.add(Leniency::StepsShape);
            map.values()
                .filter_map(|item| step_of(item, notes))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn step_of(item: &Value, notes: &mut Notes) -> Option<String> {
    if let Value::String(text) = item {
        return Some(text.clone());
    }
    notes.add(Leniency::StepsShape);
    match item {
        Value::Object(map) => {
            let parts: Vec<String> = map.values().filter_map(scalar).collect();
            Some(parts.join(": "))
        }
        other => scalar(other),
    }
}

/// The answer as text; a unit next to its value goes to `unit` if none is given.
fn answer_of<'a>(
    value: &'a Value,
    unit: &mut Option<&'a Value>,
    notes: &mut Notes,
) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_string()),
        Value::Array(items) => match items.as_slice() {
            [only] => {
                notes.add(Leniency::AnswerType);
                scalar(only)
            }
            _ => None,
        },
        Value::Object(map) => {
            notes.add(Leniency::AnswerObject);
            if unit.is_none() {
                *unit = map.get("unit");
            }
            ["value", "answer", "number", "result", "amount"]
                .iter()
                .find_map(|key| map.get(*key).and_then(scalar))
        }
        Value::Number(_) | Value::Bool(_) => {
            notes.add(Leniency::AnswerType);
            scalar(value)
        }
        Value::Null => None,
    }
}

fn unit_of(value: &Value, notes: &mut Notes) -> Option<Unit> {
    match value {
        Value::String(words) => {
            if !unit::is_plain(words) {
                notes.add(Leniency::UnitWords);
            }
            unit::unit(words)
        }
        Value::Object(map) => {
            // Our own form, as transcripts have it.
            if let Ok(unit) = Unit::deserialize(value) {
                return Some(unit);
            }
            notes.add(Leniency::UnitWords);
            let words: Vec<String> = map.values().filter_map(scalar).collect();
            unit::unit(&words.join(" "))
        }
        Value::Array(items) => {
            notes.add(Leniency::UnitWords);
            let words: Vec<String> = items.iter().filter_map(scalar).collect();
            unit::unit(&words.join(" "))
        }
        Value::Bool(_) => {
            notes.add(Leniency::UnitWords);
            Some(Unit {
                kind: UnitKind::YesNo,
                scale: None,
            })
        }
        Value::Number(_) | Value::Null => None,
    }
}

fn evidence_of(value: &Value, notes: &mut Notes) -> Vec<CitedEvidence> {
    match value {
        Value::Array(items) => items.iter().filter_map(|item| cited(item, notes)).collect(),
        // `{"r6c1": "206588"}`
        Value::Object(map) if !map.contains_key("id") && !map.contains_key("literal") => {
            notes.add(Leniency::EvidenceShape);
            map.iter()
                .filter_map(|(id, literal)| {
                    Some(CitedEvidence {
                        id: evidence_id(id),
                        literal: scalar(literal)?,
                    })
                })
                .collect()
        }
        Value::Object(_) | Value::String(_) => {
            notes.add(Leniency::EvidenceShape);
            cited(value, notes).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn cited(item: &Value, notes: &mut Notes) -> Option<CitedEvidence> {
    let (id, literal) = match item {
        Value::Object(map) => {
            let pick = |keys: &[&str]| keys.iter().find_map(|k| map.get(*k).and_then(scalar));
            let exact = map.get("id").is_some_and(Value::is_string)
                && map.get("literal").is_some_and(Value::is_string);
            if !exact {
                notes.add(Leniency::EvidenceShape);
            }
            let id = pick(&["id", "cell", "source", "ref", "location"])?;
            let literal = pick(&["literal", "value", "text", "quote", "number"]);
            (id, literal.unwrap_or_default())
        }
        // `r6c1: 206588` or an id alone
        Value::String(text) => {
            notes.add(Leniency::EvidenceShape);
            let (id, literal) = text.split_once([':', '=']).unwrap_or((text, ""));
            (id.trim().to_string(), literal.trim().to_string())
        }
        _ => {
            notes.add(Leniency::EvidenceShape);
            return None;
        }
    };
    Some(CitedEvidence {
        id: evidence_id(&id),
        literal,
    })
}

/// `[r6c1]` and `R6C1` as `r6c1`.
fn evidence_id(id: &str) -> String {
    id.trim_matches(|c: char| "[]()".contains(c) || c.is_whitespace())
        .to_lowercase()
}

fn confidence_of(value: &Value, notes: &mut Notes) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => {
            notes.add(Leniency::ConfidenceShape);
            let text = text.trim().to_lowercase();
            match text.as_str() {
                "low" => 0.3,
                "medium" | "moderate" => 0.6,
                "high" => 0.9,
                _ => {
                    let percent = text.strip_suffix('%');
                    let number: f64 = percent.unwrap_or(&text).trim().parse().ok()?;
                    if percent.is_some() {
                        number / 100.0
                    } else {
                        number
                    }
                }
            }
        }
        _ => return None,
    };
    if (0.0..=1.0).contains(&number) {
        Some(number)
    } else if (1.0..=100.0).contains(&number) {
        notes.add(Leniency::ConfidenceShape);
        Some(number / 100.0)
    } else {
        None
    }
}
