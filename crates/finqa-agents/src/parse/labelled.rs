//! `Answer: 14.1%` lines, for replies without any JSON.

use serde_json::Value;

use super::program::program;
use super::types::{Analysis, Leniency, Notes};
use super::unit::unit;

/// An analysis from labelled lines, if one of them is an answer. The last of several
/// answers counts.
pub(super) fn analysis(text: &str, notes: &mut Notes) -> Option<Analysis> {
    let mut found = Analysis::default();
    let mut program_text = None;
    for line in text.lines() {
        let Some((label, rest)) = split(line) else {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with("```") {
                found.steps.push(line.to_string());
            }
            continue;
        };
        match label.as_str() {
            "answer" | "final answer" | "the answer is" | "the final answer is" => {
                found.answer = rest;
            }
            "program" | "calculation" | "formula" => program_text = Some(rest),
            "unit" | "units" => found.unit = unit(&rest),
            "label" => found.label = Some(rest),
            _ => found.steps.push(line.trim().to_string()),
        }
    }
    if found.answer.is_empty() {
        found.answer = boxed(text)?;
    }
    notes.add(Leniency::LabelledLines);
    found.program = program_text.and_then(|text| program(&Value::String(text), &[], notes));
    Some(found)
}

/// `**Final Answer:** 14.1%` as (`final answer`, `14.1%`).
fn split(line: &str) -> Option<(String, String)> {
    let decoration = ['*', '#', '_', '`', '>', '-', '•', '"', ' ', '\t'];
    let (label, rest) = line.split_once([':', '='])?;
    let label = label.trim_matches(decoration).to_lowercase();
    let rest = rest.trim_matches(|c: char| "*`\"_,".contains(c) || c.is_whitespace());
    let rest = boxed(rest).unwrap_or_else(|| rest.to_string());
    (!rest.is_empty()).then_some((label, rest))
}

/// The inside of the last `\boxed{…}`.
fn boxed(text: &str) -> Option<String> {
    let (_, inside) = text.rsplit_once("\\boxed{")?;
    // LaTeX writes thousands as `25{,}587`.
    let inside: String = inside.chars().take(200).collect();
    let inside = inside
        .replace("{,}", ",")
        .replace("\\%", "%")
        .replace("\\$", "$");
    let (inside, _) = inside.split_once('}')?;
    let inside = inside.trim();
    (!inside.is_empty()).then(|| inside.to_string())
}
