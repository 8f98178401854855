//! Program text to operations: calls, infix arithmetic, references, names.

use finqa_core::program::{Argument, Op};

use super::emit::{Writer, number};
use super::split::{arguments, pieces};

/// Nesting beyond this is not read.
const MAX_DEPTH: usize = 24;

/// One step as written: its name (`step1 = …`), if any, what it computes, and whether the
/// result is stated after it.
pub(super) struct WrittenStep<'t> {
    pub(super) name: Option<String>,
    pub(super) expression: &'t str,
    pub(super) states_result: bool,
}

/// The steps of a program; `None` where its parentheses do not match.
pub(super) fn steps(text: &str) -> Option<Vec<WrittenStep<'_>>> {
    let pieces = pieces(text, &[',', ';', '\n'], false)?;
    let pieces = pieces.into_iter().map(str::trim);
    let steps = pieces.filter(|piece| !piece.is_empty() && *piece != "EOF");
    Some(steps.map(step).collect())
}

fn step(text: &str) -> WrittenStep<'_> {
    let text = without_number(text);
    let (name, expression) = match text.split_once(['=', ':']) {
        Some((name, expression)) if is_name(name.trim()) => {
            (Some(name.trim().to_lowercase()), expression)
        }
        _ => (None, text),
    };
    let (expression, result) = match expression.split_once(['=', '≈']) {
        Some((expression, result)) => (expression, Some(result)),
        None => (expression, None),
    };
    WrittenStep {
        name,
        expression: expression.trim(),
        states_result: result.is_some(),
    }
}

/// `1. subtract(…)` without its number.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
        Some(step) if rest.len() < text.len() && step.starts_with(char::is_alphabetic) => step,
        _ => text,
    }
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c == '#' || c.is_alphabetic())
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == ' ')
}

pub(super) struct ProgramReader<'t, 'w, 'e> {
    pub(super) rest: &'t str,
    pub(super) writer: &'w mut Writer<'e>,
}

impl<'t> ProgramReader<'t, '_, '_> {
    /// The operand that is the result of the whole text.
    pub(super) fn whole(&mut self, depth: usize) -> Option<Argument> {
        let operand = self.comparison(depth)?;
        self.rest.trim().is_empty().then_some(operand)
    }

    fn within(&mut self, text: &str, depth: usize) -> Option<Argument> {
        let mut reader = ProgramReader {
            rest: text,
            writer: self.writer,
        };
        reader.whole(depth + 1)
    }

    fn operator(&mut self, operators: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let c = rest.chars().next().filter(|c| operators.contains(c))?;
        self.rest = rest.get(c.len_utf8()..)?;
        Some(c)
    }

    fn comparison(&mut self, depth: usize) -> Option<Argument> {
        let left = self.sum(depth)?;
        let Some(operator) = self.operator(&['>', '<']) else {
            return Some(left);
        };
        let right = self.sum(depth)?;
        Some(match operator {
            '>' => self.writer.infix(Op::Greater, left, right),
            _ => self.writer.infix(Op::Greater, right, left),
        })
    }

    fn sum(&mut self, depth: usize) -> Option<Argument> {
        let mut left = self.product(depth)?;
        while let Some(operator) = self.operator(&['+', '-', '−', '–']) {
            let right = self.product(depth)?;
            let op = if operator == '+' {
                Op::Add
            } else {
                Op::Subtract
            };
            left = self.writer.infix(op, left, right);
        }
        Some(left)
    }

    fn product(&mut self, depth: usize) -> Option<Argument> {
        let mut left = self.operand(depth)?;
        while let Some(operator) = self.operator(&['*', '×', '/', '÷']) {
            let right = self.operand(depth)?;
            let op = match operator {
                '*' | '×' => Op::Multiply,
                _ => Op::Divide,
            };
            left = self.writer.infix(op, left, right);
        }
        Some(left)
    }

    fn operand(&mut self, depth: usize) -> Option<Argument> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.operator(&['-', '−']).is_some() {
            return match self.operand(depth + 1)? {
                Argument::Literal { text, .. }
                    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') =>
                {
                    number(format!("-{text}"))
                }
                inner => {
                    let minus = number("const_m1".to_owned())?;
                    Some(self.writer.infix(Op::Multiply, inner, minus))
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

    /// A call, or a name.
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
            return self.writer.name(&word);
        }
        let inside = self.parenthesised()?;
        if word.starts_with("table_") {
            return self.writer.table(&word, inside);
        }
        let arguments: Option<Vec<Argument>> = arguments(inside)?
            .iter()
            .map(|argument| self.within(argument, depth))
            .collect();
        self.writer.call(&word, arguments?)
    }
}
