//! Reads the analyst's reply as an [`Analysis`].

use serde::Deserialize as _;
use serde_json::Value;

use super::candidates::{bounded, without_think};
use super::error::ParseFailure;
use super::labelled;
use super::object::{self, ANALYSIS_KEYS, ObjectSearch, ReplyObject, items, scalar, unwrapped};
use super::program::program;
use super::types::Analysis;
use super::unit::unit;
use finqa_core::number::Unit;
use finqa_core::question::CitedEvidence;

/// Reads the analyst's reply.
///
/// # Errors
/// If the reply has neither a readable object with an `answer` or a `program`, nor an `Answer:`
/// line. The message says what is missing and where.
pub fn analysis(text: &str) -> Result<Analysis, ParseFailure> {
    let text = bounded(text);
    let body = without_think(text);
    // Errors state positions in `text`, not in `body`. An empty body counts as its start.
    let shift = if body.is_empty() {
        0
    } else {
        text.len() - body.len()
    };
    let (offset, what) = match object::find(body, &ANALYSIS_KEYS) {
        ObjectSearch::Object(object) => {
            let analysis = from_object(&object);
            // If there is no `answer`, a program is enough only if the reply was not cut off.
            let has_program = analysis.program.is_some() && object.cut_in.is_none();
            if has_program || !analysis.answer.is_empty() {
                return Ok(analysis);
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
            if let Some(analysis) = labelled::analysis(body) {
                return Ok(analysis);
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

/// Reads the members of an object. A member that cannot be read counts as absent.
fn from_object(object: &ReplyObject) -> Analysis {
    let evidence = object.member("evidence").and_then(items);
    let label = object.member("label").and_then(scalar);
    let confidence = object.member("confidence").and_then(scalar);
    let confidence = confidence.and_then(|it| it.trim_matches('"').parse::<f64>().ok());
    Analysis {
        steps: object.member("steps").map(steps_of).unwrap_or_default(),
        answer: object.member("answer").and_then(scalar).unwrap_or_default(),
        program: object.member("program").and_then(program_of),
        unit: object.member("unit").and_then(unit_of),
        label: label.filter(|label| !label.is_empty()),
        // A confidence such as `95` is dropped, because its scale would be a guess.
        confidence: confidence.filter(|number| (0.0..=1.0).contains(number)),
        evidence: evidence.iter().flatten().filter_map(cited).collect(),
    }
}

/// The program of a reply. A program that is a single number may be written as a JSON number.
fn program_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => program(text),
        Value::Number(number) => program(&number.to_string()),
        _ => None,
    }
}

/// The steps of a reply: the items of a list, the lines of a text, or a single value.
fn steps_of(value: &Value) -> Vec<String> {
    let step = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        other => scalar(other),
    };
    match &*unwrapped(value) {
        // If all steps are in one text, each line is a step.
        Value::String(text) => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_string).collect()
        }
        Value::Array(items) => items.iter().filter_map(step).collect(),
        other => scalar(other).into_iter().collect(),
    }
}

fn unit_of(value: &Value) -> Option<Unit> {
    // The form in which this program serialises a unit, for example in transcripts.
    let own = Unit::deserialize(&*unwrapped(value)).ok();
    own.or_else(|| unit(value.as_str()?))
}

/// Reads an item of `evidence`. An item without a literal cites only a place; an item without an id
/// is dropped.
fn cited(item: &Value) -> Option<CitedEvidence> {
    let text = |key: &str| item.get(key).and_then(scalar);
    let id = text("id")?;
    let id = id.trim_matches(|c: char| "[]()".contains(c) || c.is_whitespace());
    Some(CitedEvidence {
        // `[r6c1]` and `R6C1` mean `r6c1`.
        id: id.to_lowercase(),
        literal: text("literal").unwrap_or_default(),
    })
}
