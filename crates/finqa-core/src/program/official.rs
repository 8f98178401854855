//! Returns the official evaluators' result for any text, valid or not.

use crate::number::{Value, literal, round5};

use super::{machine, parse, tokens};

/// The evaluator whose rules apply. The two differ only in programs that are a single number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluator {
    /// ConvFinQA's `general_utils.py`: a single number is a program.
    ConvFinQa,
    /// FinQA's `evaluate.py`: a single number is not a program.
    FinQa,
}

/// Returns whether the program is valid, and its result rounded to 5 decimals.
///
/// Results are equal to those of the official code to the bit, including its oddities. For example,
/// an unfinished program such as `add(1, 2` is valid with the result `n/a`, which is never the
/// correct answer. An invalid program has no result.
pub fn evaluate(
    program: &str,
    table: &[Vec<String>],
    evaluator: Evaluator,
) -> (bool, Option<Value>) {
    let pieces: Vec<&str> = tokens::pieces(program).collect();
    if evaluator == Evaluator::ConvFinQa
        && let [text] = pieces.as_slice()
    {
        let number = literal(text).map(|number| Value::Number(round5(number)));
        return (number.is_some(), number);
    }
    let result = parse::official_steps(&pieces, parse::Literals::Numbers)
        .and_then(|read| machine::run(&read.steps, table));
    match result {
        Ok(Some(Value::Number(x))) => (true, Some(Value::Number(round5(x)))),
        Ok(Some(word)) => (true, Some(word)),
        Ok(None) => (true, Some(Value::Text("n/a".to_owned()))),
        Err(_) => (false, None),
    }
}
