//! Parses a program. The structure is checked on the tokens, but the steps are then cut out of the
//! joined text, as in the official code. Some odd programs are valid only because of that.

use crate::number::literal;

use super::types::Body;
use super::{Argument, Op, Program, ProgramError, ProgramStep, tokens};

/// The steps that the official code would execute, and whether tokens remain after the last step.
/// `add(1, 2` has no step, so its tokens remain.
pub(super) struct OfficialSteps {
    pub steps: Vec<ProgramStep>,
    pub(crate) left_over: bool,
}

/// The literals that are accepted. Program equality accepts any text, because it only needs
/// distinct symbols: it treats `a1` like `5`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    Numbers,
    Any,
}

impl Program {
    /// Parses a program, which is split into tokens as in the official code. White space around it
    /// is ignored. The text must not end with `EOF`.
    ///
    /// ```
    /// use finqa_core::program::Program;
    /// let program = Program::parse("subtract(5, 3), divide(#0, 3)")?;
    /// assert_eq!(program.steps().len(), 2);
    /// assert_eq!(program.to_string(), "subtract(5, 3), divide(#0, 3)");
    /// # Ok::<(), finqa_core::program::ProgramError>(())
    /// ```
    ///
    /// # Errors
    /// Names the step and what is wrong with it.
    pub fn parse(program: &str) -> Result<Self, ProgramError> {
        let program = program.trim();
        let tokens: Vec<&str> = tokens::pieces(program).collect();
        if tokens.is_empty() {
            return Err(ProgramError::Empty);
        }
        if let [text] = tokens.as_slice() {
            let value =
                literal(text).ok_or_else(|| ProgramError::NotANumber((*text).to_owned()))?;
            let text = (*text).to_owned();
            return Ok(Self {
                body: Body::Number { text, value },
            });
        }
        let OfficialSteps { steps, left_over } = official_steps(&tokens, Literals::Numbers)?;
        if left_over {
            return Err(ProgramError::Malformed { step: steps.len() });
        }
        Ok(Self {
            body: Body::Steps(steps),
        })
    }
}

/// Parses tokens (without `EOF`) as the official code does.
pub(super) fn official_steps(
    tokens: &[&str],
    literals: Literals,
) -> Result<OfficialSteps, ProgramError> {
    for (at, token) in tokens.iter().enumerate() {
        // A step has four tokens: `add(`, `1`, `2` and `)`.
        let step = at / 4;
        if at % 4 == 0 && Op::of(token.trim_matches('(')).is_none() {
            let name = token.trim_end_matches('(').to_owned();
            return Err(match name.strip_prefix(',') {
                Some(op) if Op::of(op).is_some() => ProgramError::NoSpace { step },
                _ => ProgramError::UnknownOperation { step, name },
            });
        }
        if at % 4 == 3 && *token != ")" {
            // In `add(1,2), add(#0, 3)`, the third token already ends the step.
            let only = tokens
                .get(at - 2)
                .filter(|_| tokens.get(at - 1) == Some(&")"));
            return Err(malformed(step, only.copied()));
        }
    }
    let joined = tokens.join("|");
    let mut pieces: Vec<&str> = joined.split(')').collect();
    let left_over = pieces
        .pop()
        .is_some_and(|last| !last.trim_matches('|').is_empty());
    let steps = pieces
        .into_iter()
        .enumerate()
        .map(|(at, piece)| step(at, piece, literals));
    Ok(OfficialSteps {
        steps: steps.collect::<Result<_, _>>()?,
        left_over,
    })
}

/// Parses one step from the joined text up to its `)`, e.g. `|add(|1|2|`.
fn step(at: usize, piece: &str, literals: Literals) -> Result<ProgramStep, ProgramError> {
    let mut halves = piece.split('(');
    let (Some(name), Some(arguments), None) = (halves.next(), halves.next(), halves.next()) else {
        return Err(malformed(at, None));
    };
    let name = clean(name);
    let op = Op::of(name).ok_or_else(|| ProgramError::UnknownOperation {
        step: at,
        name: name.to_owned(),
    })?;
    let arguments = clean(arguments);
    let Some((first, others)) = arguments.split_once('|') else {
        return Err(malformed(at, Some(arguments)));
    };
    let second = others.split('|').next().unwrap_or_default();
    let (first, second) = (first.trim(), second.trim());
    let arguments = if op.is_table() {
        // As in the official code, a label with `#` is read as a reference.
        let first = if first.contains('#') {
            reference(at, first)?
        } else {
            Argument::Row(first.to_owned())
        };
        [first, Argument::Unused(second.to_owned())]
    } else {
        [
            operand(at, first, literals)?,
            operand(at, second, literals)?,
        ]
    };
    Ok(ProgramStep { op, arguments })
}

/// The error for a step of the wrong form. `only` is its argument if it has a single one: with a
/// comma, it was probably meant as two.
fn malformed(step: usize, only: Option<&str>) -> ProgramError {
    match only {
        Some(argument) if argument.contains(',') => ProgramError::NoSpace { step },
        _ => ProgramError::Malformed { step },
    }
}

/// Trims separators and spaces.
fn clean(text: &str) -> &str {
    text.trim().trim_matches('|').trim()
}

/// Reads a reference or a literal. With [`Literals::Any`], a text that is not a number gets the
/// value NaN.
fn operand(step: usize, text: &str, literals: Literals) -> Result<Argument, ProgramError> {
    if text.contains('#') {
        return reference(step, text);
    }
    match literal(text) {
        Some(value) => Ok(Argument::Literal {
            text: text.to_owned(),
            value,
        }),
        None if literals == Literals::Any => Ok(Argument::Literal {
            text: text.to_owned(),
            value: f64::NAN,
        }),
        None => Err(ProgramError::BadLiteral {
            step,
            text: text.to_owned(),
        }),
    }
}

/// Reads `#k`. Like the official code, it accepts any text that is a number after every `#` is
/// removed.
fn reference(step: usize, text: &str) -> Result<Argument, ProgramError> {
    text.replace('#', "")
        .trim()
        .parse()
        .ok()
        .filter(|index| *index < step)
        .map(Argument::Reference)
        .ok_or_else(|| ProgramError::BadReference {
            step,
            text: text.to_owned(),
        })
}
