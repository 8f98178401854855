//! Parses the text of a program: calls, infix arithmetic, references.

use finqa_core::program::{Argument, Op, joined};

use super::split::{arguments, pieces};
use super::steps::{Steps, number};

/// Maximum nesting. The parser is recursive, so deeper nesting could overflow the stack. Set by
/// hand.
const MAX_DEPTH: usize = 24;

/// Reads `text` as a program and writes it in the dataset's language. `None` if it cannot be read,
/// if a reference or an operation is unknown, or if one of several steps computes nothing. A number
/// alone is a program.
pub(super) fn program(text: &str) -> Option<String> {
    let written = pieces(text, &[',', ';', '\n'], false)?;
    let written = written.into_iter().map(str::trim);
    let written: Vec<&str> = written.filter(|piece| !piece.is_empty()).collect();
    let (last, before) = written.split_last()?;
    let mut steps = Steps::default();
    for text in before {
        // Only a step that computes may precede another step. After a bare figure, it would be
        // unclear whether `#k` counts the figure as a step.
        if !matches!(step(text, &mut steps)?, Argument::Reference(_)) {
            return None;
        }
    }
    let computed = steps.out.len();
    let operand = step(last, &mut steps)?;
    if steps.out.is_empty() {
        return before.is_empty().then(|| operand.to_string());
    }
    // The last step must compute something.
    (steps.out.len() > computed).then(|| joined(&steps.out))
}

/// Reads one step and returns the operand for its result. In `469 - 77 = 392`, the stated result is
/// dropped, because executing the program computes it. `75 = 80` computes nothing and is refused.
/// `None` for any text that is not one expression.
fn step(text: &str, steps: &mut Steps) -> Option<Argument> {
    let before = steps.out.len();
    let (expression, result) = match text.split_once(['=', '≈']) {
        Some((expression, result)) => (expression.trim(), Some(result)),
        None => (text, None),
    };
    let operand = ProgramReader {
        rest: expression,
        steps,
    }
    .whole(0)?;
    if result.is_some() && steps.out.len() == before {
        return None;
    }
    if matches!(operand, Argument::Reference(_)) {
        steps.positions.push(operand.clone());
    }
    Some(operand)
}

/// Reads an infix expression or a call. Each operation in it is added to `steps`.
struct ProgramReader<'t, 's> {
    rest: &'t str,
    steps: &'s mut Steps,
}

impl<'t> ProgramReader<'t, '_> {
    /// Reads the whole text; `None` if a part of it remains.
    fn whole(&mut self, depth: usize) -> Option<Argument> {
        let operand = self.comparison(depth)?;
        self.rest.trim().is_empty().then_some(operand)
    }

    fn within(&mut self, text: &str, depth: usize) -> Option<Argument> {
        let mut reader = ProgramReader {
            rest: text,
            steps: self.steps,
        };
        reader.whole(depth + 1)
    }

    fn operator(&mut self, operators: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let c = rest.chars().next().filter(|c| operators.contains(c))?;
        self.rest = rest.get(c.len_utf8()..)?;
        Some(c)
    }

    /// Reads a sum, or two sums with `>` or `<` between them, for which it adds a `greater` step.
    /// `None` if a sum cannot be read.
    fn comparison(&mut self, depth: usize) -> Option<Argument> {
        let left = self.sum(depth)?;
        let Some(operator) = self.operator(&['>', '<']) else {
            return Some(left);
        };
        let right = self.sum(depth)?;
        Some(match operator {
            '>' => self.steps.push(Op::Greater, left, right),
            _ => self.steps.push(Op::Greater, right, left),
        })
    }

    /// Reads operands joined by plus or minus signs, and adds a step for each sign. Returns the
    /// operand for the result; `None` if an operand cannot be read.
    fn sum(&mut self, depth: usize) -> Option<Argument> {
        let mut left = self.product(depth)?;
        // An en dash is an operator only. A program that has one as a sign stays as written.
        while let Some(operator) = self.operator(&['+', '-', '−', '–']) {
            let right = self.product(depth)?;
            let op = if operator == '+' {
                Op::Add
            } else {
                Op::Subtract
            };
            left = self.steps.push(op, left, right);
        }
        Some(left)
    }

    /// Like [`Self::sum`], for multiplication and division.
    fn product(&mut self, depth: usize) -> Option<Argument> {
        let mut left = self.operand(depth)?;
        while let Some(operator) = self.operator(&['*', '×', '/', '÷']) {
            let right = self.operand(depth)?;
            let op = match operator {
                '*' | '×' => Op::Multiply,
                _ => Op::Divide,
            };
            left = self.steps.push(op, left, right);
        }
        Some(left)
    }

    /// Reads a figure, a call, a name or an expression in parentheses, each with an optional minus
    /// sign. `None` for anything else, and if it is nested too deeply.
    fn operand(&mut self, depth: usize) -> Option<Argument> {
        if depth > MAX_DEPTH {
            return None;
        }
        // The sign of a figure becomes part of it. The language has no other minus sign, so any
        // other operand is multiplied by -1.
        if self.operator(&['-', '−']).is_some() {
            return match self.operand(depth + 1)? {
                Argument::Literal { text, .. }
                    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') =>
                {
                    number(format!("-{text}"))
                }
                inner => {
                    let minus = number("const_m1".to_owned())?;
                    Some(self.steps.push(Op::Multiply, inner, minus))
                }
            };
        }
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '(' => {
                let inside = self.parenthesised()?;
                self.within(inside, depth)
            }
            c if c.is_ascii_digit() || c == '.' || c == '$' => self.literal(),
            c if c.is_alphabetic() || c == '#' => self.word(depth),
            _ => None,
        }
    }

    /// The text inside the parentheses at the start of the rest; `None` if they are not closed.
    fn parenthesised(&mut self) -> Option<&'t str> {
        let mut depth = 0_usize;
        for (at, c) in self.rest.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                let inside = self.rest.get(1..at)?;
                self.rest = self.rest.get(at + 1..)?;
                return Some(inside);
            }
        }
        None
    }

    /// Reads a figure such as `$206,588`, `1.5e3` or `14%`, and drops its dollar sign and commas.
    /// `None` if there is no number.
    fn literal(&mut self) -> Option<Argument> {
        let rest = self.rest.trim_start_matches(['$', ' ']);
        let bytes = rest.as_bytes();
        let mut end = 0;
        while let Some(byte) = bytes.get(end) {
            let exponent_sign = matches!(byte, b'-' | b'+')
                && end
                    .checked_sub(1)
                    .and_then(|i| bytes.get(i))
                    .is_some_and(|b| matches!(b, b'e' | b'E'));
            if !(byte.is_ascii_digit()
                || matches!(byte, b'.' | b',' | b'e' | b'E')
                || exponent_sign)
            {
                break;
            }
            end += 1;
        }
        let mut digits = rest.get(..end)?.replace(',', "");
        digits.parse::<f64>().ok()?;
        self.rest = rest.get(end..)?;
        if let Some(rest) = self.rest.trim_start().strip_prefix('%') {
            self.rest = rest;
            digits.push('%');
        }
        number(digits)
    }

    /// Reads a call such as `add(1, 2)`, or a name such as `#0` or `const_100`. `None` if the
    /// language does not have the name or the call.
    fn word(&mut self, depth: usize) -> Option<Argument> {
        let end = self
            .rest
            .char_indices()
            .find(|(at, c)| {
                !(c.is_alphanumeric() || *c == '_' || *c == '#' && *at == 0 || *c == '.')
            })
            .map_or(self.rest.len(), |(at, _)| at);
        let word = self.rest.get(..end)?.to_lowercase();
        self.rest = self.rest.get(end..)?;
        if !self.rest.starts_with('(') {
            return self.steps.name(&word);
        }
        let inside = self.parenthesised()?;
        if word.starts_with("table_") {
            return self.steps.table(&word, inside);
        }
        let arguments: Option<Vec<Argument>> = arguments(inside)?
            .iter()
            .map(|argument| self.within(argument, depth))
            .collect();
        self.steps.call(&word, arguments?)
    }
}
