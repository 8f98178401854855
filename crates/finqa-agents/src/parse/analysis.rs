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
use finqa_core::number::Unit;
use finqa_core::question::CitedEvidence;

/// The keys that make an object an analysis.
const KEYS: [&str; 3] = ["answer", "program", "steps"];

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
    let (offset, what) = match object::find(body, &KEYS, &mut notes) {
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

fn from_object(object: &ReplyObject, notes: &mut Notes) -> Analysis {
    let steps = object.member("steps");
    let steps = steps.map_or_else(Vec::new, |value| steps_of(value, notes));
    if steps.is_empty() {
        notes.add(Leniency::StepsShape);
    }
    let answer = object.member("answer").and_then(|value| {
        if !value.is_string() {
            notes.add(Leniency::AnswerType);
        }
        scalar(value)
    });
    let evidence = object.member("evidence").and_then(Value::as_array);
    let label = object.member("label").and_then(scalar);
    let confidence = object.member("confidence").and_then(Value::as_f64);
    Analysis {
        steps,
        answer: answer.unwrap_or_default(),
        program: object
            .member("program")
            .and_then(|value| program_of(value, notes)),
        unit: object
            .member("unit")
            .and_then(|value| unit_of(value, notes)),
        label: label.filter(|label| !label.is_empty()),
        confidence: confidence.filter(|number| (0.0..=1.0).contains(number)),
        evidence: evidence.into_iter().flatten().filter_map(cited).collect(),
    }
}

fn program_of(value: &Value, notes: &mut Notes) -> Option<String> {
    match value {
        Value::String(text) => program(text, notes),
        Value::Number(number) => {
            notes.add(Leniency::ProgramSpelling);
            program(&number.to_string(), notes)
        }
        _ => None,
    }
}

fn steps_of(value: &Value, notes: &mut Notes) -> Vec<String> {
    let items = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    if !value.is_array() || !items.iter().all(Value::is_string) {
        notes.add(Leniency::StepsShape);
    }
    let texts = items.iter().filter_map(|item| match item {
        Value::String(text) => Some(text.clone()),
        other => scalar(other),
    });
    match value {
        // One text for all of them.
        Value::String(text) => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_string).collect()
        }
        _ => texts.collect(),
    }
}

fn unit_of(value: &Value, notes: &mut Notes) -> Option<Unit> {
    // Our own form, as transcripts have it.
    if let Ok(unit) = Unit::deserialize(value) {
        return Some(unit);
    }
    let words = value.as_str()?;
    if !unit::is_plain(words) {
        notes.add(Leniency::UnitWords);
    }
    unit::unit(words)
}

/// Evidence without a literal cites a place alone.
fn cited(item: &Value) -> Option<CitedEvidence> {
    let text = |key: &str| item.get(key).and_then(scalar);
    let id = text("id")?;
    let id = id.trim_matches(|c: char| "[]()".contains(c) || c.is_whitespace());
    Some(CitedEvidence {
        // `[r6c1]` and `R6C1` as `r6c1`.
        id: id.to_lowercase(),
        literal: text("literal").unwrap_or_default(),
    })
}
