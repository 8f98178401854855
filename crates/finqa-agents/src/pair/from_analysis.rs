//! Creates the answer from an analysis.

use crate::parse::Analysis;
use finqa_core::number::{self, Unit, UnitKind, Value};
use finqa_core::program::Program;
use finqa_core::question::{Document, Question};

use super::answer::Answer;
use super::percent::{self, is_in_percent};
use super::stated::find_value;

impl Answer {
    /// Executes the analysis's program over the question's table and prints the value in its unit.
    /// If no program can be executed, the value is the one that the analysis states.
    pub fn from_analysis(analysis: &Analysis, question: &Question) -> Self {
        let executed = analysis
            .program
            .as_deref()
            .map(|text| execute(text, question));
        let unit = analysis
            .unit
            .unwrap_or_else(|| implied_unit(&analysis.answer));
        let base = Self {
            stated: analysis.answer.trim().to_owned(),
            unit,
            program: analysis.program.clone(),
            label: analysis.label.clone(),
            steps: analysis.steps.clone(),
            evidence: analysis.evidence.clone(),
            confidence: analysis.confidence,
            ..Self::default()
        };
        match executed {
            Some(Ok((program, value))) => {
                let in_percent = unit.kind == UnitKind::Percent
                    && is_in_percent(&program, &value, analysis, question);
                Self {
                    printed: percent::print(&program, &value, unit, in_percent),
                    value: Some(value),
                    in_percent,
                    ..base
                }
            }
            None if names_label(&question.document, &analysis.answer) => Self {
                value: Some(Value::Text(base.stated.clone())),
                printed: base.stated.clone(),
                ..base
            },
            executed => {
                let stated = find_value(&analysis.answer, &question.text);
                Self {
                    printed: stated
                        .as_ref()
                        .map_or(&base.stated, |stated| &stated.text)
                        .clone(),
                    value: stated.map(|stated| stated.value),
                    program_error: executed.and_then(Result::err),
                    ..base
                }
            }
        }
    }
}

/// True if an answer about the user's own table consists of names from the table (`Consumer`,
/// `Q4 2022`), separated by commas, or says that there is no answer (`n/a`). A number is not a
/// name.
fn names_label(document: &Document, answer: &str) -> bool {
    let answer = answer.trim().to_lowercase();
    if !document.own || number::whole(&answer).is_ok() {
        return false;
    }
    // If several columns name a row, the answer has all of their names.
    answer == "n/a" || answer.split(", ").all(|name| is_named(document, name))
}

/// True if a cell contains the name as whole words.
fn is_named(document: &Document, answer: &str) -> bool {
    let mut cells = document.table.iter().flatten();
    cells.any(|label| {
        let label = label.to_lowercase();
        // A name without letters, such as a date or a season (`2022/23`), must be the whole cell.
        if !answer.contains(char::is_alphabetic) {
            return label == answer;
        }
        let ends = |text: Option<&str>, side: fn(&str) -> Option<char>| {
            text.and_then(side).is_none_or(|c| !c.is_alphanumeric())
        };
        label.match_indices(answer).any(|(at, _)| {
            ends(label.get(..at), |text| text.chars().next_back())
                && ends(label.get(at + answer.len()..), |text| text.chars().next())
        })
    })
}

/// Executes a program. Its literals and its value must be finite, although the official evaluator,
/// which scores programs, also accepts `nan` and `inf`.
fn execute(text: &str, question: &Question) -> Result<(Program, Value), String> {
    let program = Program::parse(text).map_err(|error| error.to_string())?;
    if let Some(literal) = program
        .literals()
        .find(|text| number::literal(text).is_some_and(|number| !number.is_finite()))
    {
        return Err(format!("`{literal}` is not a finite number"));
    }
    let value = program
        .execute_unrounded(&question.document.table)
        .map_err(|error| error.to_string())?;
    match value.number() {
        Some(number) if !number.is_finite() => {
            Err(format!("its value, {number}, is not a finite number"))
        }
        _ => Ok((program, value)),
    }
}

/// The unit of an answer whose analysis names none.
fn implied_unit(answer: &str) -> Unit {
    let kind = if number::yes_or_no(answer).is_some() {
        UnitKind::YesNo
    } else if answer.chars().any(|c| number::fold(c) == '%') {
        UnitKind::Percent
    } else {
        UnitKind::Number
    };
    Unit { kind, scale: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_label_and_the_names_of_a_row_are_labels() {
        let rows = [
            ["Nonoperating operating income", "", "5"],
            ["Delta Bank", "Bridge loan", "5"],
        ];
        let document = Document {
            table: rows.map(|row| row.map(str::to_owned).to_vec()).to_vec(),
            own: true,
            ..Document::default()
        };
        for (answer, is_label) in [
            ("operating", true),
            ("operat", false),
            ("Delta Bank, Bridge loan", true),
            ("Delta Bank, Term loan", false),
        ] {
            assert_eq!(names_label(&document, answer), is_label, "{answer}");
        }
    }
}
