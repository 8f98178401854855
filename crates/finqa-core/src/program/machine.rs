//! Executes the steps of a program with Python's arithmetic. A step fails where Python raises an
//! exception.

use crate::number::{Value, literal, round5};

use super::types::Body;
use super::{Argument, Op, Program, ProgramError, ProgramStep};

/// The result of a step. `Complex` is the result of Python for a fractional power of a negative
/// number. Later steps may use it, but it is never a valid answer, so its value is not computed.
#[derive(Clone, Debug, PartialEq)]
enum StepValue {
    Number(f64),
    Word(String),
    Complex,
}

impl Program {
    /// Executes the program over a table (rows of cell strings, row 0 the header) and rounds
    /// the result to 5 decimals, as the official evaluator does.
    ///
    /// # Errors
    /// Names the step that fails. A step fails on a division by zero, a missing or non-numeric row,
    /// and anything else that the official evaluator calls invalid.
    pub fn execute(&self, table: &[Vec<String>]) -> Result<Value, ProgramError> {
        self.run(table, round5)
    }

    /// Like [`Program::execute`], but without rounding the result.
    ///
    /// # Errors
    /// The errors of [`Program::execute`].
    pub fn execute_unrounded(&self, table: &[Vec<String>]) -> Result<Value, ProgramError> {
        self.run(table, |x| x)
    }

    /// The unrounded result of every step (`#0`, `#1`, …); empty if the program is a single number.
    ///
    /// # Errors
    /// The errors of [`Program::execute`], except that a complex result is NaN instead of an error.
    pub fn execute_steps(&self, table: &[Vec<String>]) -> Result<Vec<Value>, ProgramError> {
        let results = run_all(self.steps(), table)?;
        Ok(results
            .into_iter()
            .map(|cell| match cell {
                StepValue::Number(x) => Value::Number(x),
                StepValue::Word(word) => Value::Text(word),
                StepValue::Complex => Value::Number(f64::NAN),
            })
            .collect())
    }

    /// The program's value, with `round` applied if it is a number.
    fn run(&self, table: &[Vec<String>], round: fn(f64) -> f64) -> Result<Value, ProgramError> {
        match &self.body {
            Body::Number { value, .. } => Ok(Value::Number(round(*value))),
            Body::Steps(steps) => match run(steps, table)? {
                Some(Value::Number(x)) => Ok(Value::Number(round(x))),
                Some(word) => Ok(word),
                None => Err(ProgramError::Empty),
            },
        }
    }
}

/// Executes the steps and returns all results, unrounded.
fn run_all(steps: &[ProgramStep], table: &[Vec<String>]) -> Result<Vec<StepValue>, ProgramError> {
    let mut results: Vec<StepValue> = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let [first, second] = &step.arguments;
        let result = if step.op.is_table() {
            over_row(at, step.op, first, table, &results)?
        } else {
            let (a, b) = (cell(at, first, &results)?, cell(at, second, &results)?);
            arithmetic(at, step.op, a, b)?
        };
        results.push(result);
    }
    Ok(results)
}

/// Executes the steps and returns the unrounded result of the last one; `None` if there are no
/// steps.
pub(super) fn run(
    steps: &[ProgramStep],
    table: &[Vec<String>],
) -> Result<Option<Value>, ProgramError> {
    let mut results = run_all(steps, table)?;
    let last = results.len().saturating_sub(1);
    match results.pop() {
        None => Ok(None),
        Some(StepValue::Number(x)) => Ok(Some(Value::Number(x))),
        // Only `yes` and `no` are valid answers. The official code fails on any other word, because
        // it tries to round the word.
        Some(StepValue::Word(word)) if word == "yes" || word == "no" => Ok(Some(Value::Text(word))),
        Some(StepValue::Word(_)) => Err(ProgramError::WordInArithmetic { step: last }),
        Some(StepValue::Complex) => Err(ProgramError::Complex { step: last }),
    }
}

/// The number or the earlier result that an argument of arithmetic names. An error if there is
/// no such result, or if the argument is a row.
fn cell(
    step: usize,
    argument: &Argument,
    results: &[StepValue],
) -> Result<StepValue, ProgramError> {
    let bad = |text: String| ProgramError::BadReference { step, text };
    match argument {
        Argument::Literal { value, .. } => Ok(StepValue::Number(*value)),
        Argument::Reference(k) => results.get(*k).cloned().ok_or_else(|| bad(format!("#{k}"))),
        // Parsing gives these only to table operations.
        Argument::Row(text) | Argument::Unused(text) => Err(bad(text.clone())),
    }
}

/// Executes an operation that is not over a table row.
fn arithmetic(step: usize, op: Op, a: StepValue, b: StepValue) -> Result<StepValue, ProgramError> {
    let (a, b) = match (a, b) {
        (StepValue::Number(a), StepValue::Number(b)) => (a, b),
        // Python's `>` and `+` also work on strings. Adding a step to itself doubles its text each
        // time, so long texts are refused; the limit is set by hand.
        (StepValue::Word(a), StepValue::Word(b)) if op == Op::Greater => return Ok(yes_no(a > b)),
        (StepValue::Word(a), StepValue::Word(b)) if op == Op::Add && a.len() + b.len() < 64 => {
            return Ok(StepValue::Word(a + &b));
        }
        (StepValue::Word(_), _) | (_, StepValue::Word(_)) => {
            return Err(ProgramError::WordInArithmetic { step });
        }
        (StepValue::Complex, StepValue::Number(b)) if op == Op::Divide && is_zero(b) => {
            return Err(ProgramError::DivisionByZero { step });
        }
        _ if op == Op::Greater => return Err(ProgramError::Complex { step }),
        _ => return Ok(StepValue::Complex),
    };
    Ok(match op {
        Op::Add => StepValue::Number(a + b),
        Op::Subtract => StepValue::Number(a - b),
        Op::Multiply => StepValue::Number(a * b),
        Op::Divide if is_zero(b) => return Err(ProgramError::DivisionByZero { step }),
        Op::Divide => StepValue::Number(a / b),
        Op::Exp => return power(step, a, b),
        // Only `greater` remains, because table operations are executed by `over_row`.
        _ => yes_no(a > b),
    })
}

/// Applies an operation to two numbers. `None` if the operation fails or its result is complex.
pub(super) fn of_numbers(op: Op, a: f64, b: f64) -> Option<Value> {
    match arithmetic(0, op, StepValue::Number(a), StepValue::Number(b)).ok()? {
        StepValue::Number(x) => Some(Value::Number(x)),
        StepValue::Word(word) => Some(Value::Text(word)),
        StepValue::Complex => None,
    }
}

/// Python's `a ** b`, which raises an exception if finite operands have an infinite result.
fn power(step: usize, a: f64, b: f64) -> Result<StepValue, ProgramError> {
    if is_zero(a) && b < 0.0 {
        return Err(ProgramError::DivisionByZero { step });
    }
    // With an infinite operand, the result is a float in Python too.
    if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
        return Ok(StepValue::Complex);
    }
    let result = a.powf(b);
    if result.is_infinite() && a.is_finite() && b.is_finite() {
        return Err(ProgramError::Overflow { step });
    }
    Ok(StepValue::Number(result))
}

#[allow(clippy::float_cmp, reason = "division raises on exactly zero")]
fn is_zero(x: f64) -> bool {
    x == 0.0
}

fn yes_no(yes: bool) -> StepValue {
    StepValue::Word(if yes { "yes" } else { "no" }.to_owned())
}

/// Executes a `table_*` operation. It reads the row whose first cell equals the label exactly. If
/// there are several such rows, it reads the last, as the official code does.
fn over_row(
    step: usize,
    op: Op,
    argument: &Argument,
    table: &[Vec<String>],
    results: &[StepValue],
) -> Result<StepValue, ProgramError> {
    let label = match argument {
        Argument::Row(label) => label,
        other => return over_result(step, op, cell(step, other, results)?),
    };
    // The official code reads the first cell of every row, so a single empty row makes it raise an
    // exception.
    let not_numeric = || ProgramError::NotNumericRow {
        step,
        label: label.clone(),
    };
    if table.iter().any(Vec::is_empty) {
        return Err(not_numeric());
    }
    let row = table
        .iter()
        .rev()
        .find(|row| row.first() == Some(label))
        .ok_or_else(|| ProgramError::NoSuchRow {
            step,
            label: label.clone(),
        })?;
    let numbers = row
        .iter()
        .skip(1)
        .map(|text| cell_number(text))
        .collect::<Option<Vec<f64>>>()
        .ok_or_else(not_numeric)?;
    // Start from 0.0 like Python's `sum`, so that the sum is never -0.0.
    let sum = || numbers.iter().fold(0.0, |sum, x| sum + x);
    let first = numbers.first().copied();
    let extreme = |better: fn(f64, f64) -> bool| {
        let best = |best, x: &f64| if better(*x, best) { *x } else { best };
        first.map(|first| numbers.iter().fold(first, best))
    };
    let result = match op {
        Op::TableMax => extreme(|x, best| x > best),
        Op::TableMin => extreme(|x, best| x < best),
        Op::TableSum => Some(sum()),
        // Only `table_average` remains.
        _ => first.map(|_| sum() / numbers.len() as f64),
    };
    result.map(StepValue::Number).ok_or_else(not_numeric)
}

/// `table_max(#0, none)`: Python's `max` and `min` return the largest or smallest letter of a word,
/// and raise an exception for a number.
fn over_result(step: usize, op: Op, result: StepValue) -> Result<StepValue, ProgramError> {
    let letter = match (op, &result) {
        (Op::TableMax, StepValue::Word(word)) => word.chars().max(),
        (Op::TableMin, StepValue::Word(word)) => word.chars().min(),
        _ => None,
    };
    letter
        .map(|letter| StepValue::Word(letter.to_string()))
        .ok_or(ProgramError::WordInArithmetic { step })
}

/// Reads a cell as the official `process_row` does. It drops `$`, cuts the text at `(`, and reads
/// the rest as a literal.
fn cell_number(text: &str) -> Option<f64> {
    let text = text.replace('$', "");
    literal(text.split('(').next().unwrap_or_default().trim())
}
