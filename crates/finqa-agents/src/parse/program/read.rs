//! Program text to expressions: calls, infix arithmetic, references, names.

use super::super::types::{Leniency, Notes};
use super::split::{arguments, pieces};

/// Nesting beyond this is not read.
const MAX_DEPTH: usize = 24;

/// One expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// Digits as written, without `$` and separators; `%` kept.
    Literal(String),
    /// A reference (`#0`, `A0`) or a name: a constant, an evidence id, a named step.
    Name(String),
    /// `table_*` with its row label, verbatim.
    Table(String),
    /// A call with the operation's own spelling in lower case.
    Call(String, Vec<Expr>),
}

/// One step, with the name it is given (`step1 = …`), if any.
pub(super) struct Step {
    pub(super) name: Option<String>,
    pub(super) expr: Expr,
}

/// The steps of a program; `None` where it cannot be read.
pub(super) fn steps(text: &str, notes: &mut Notes) -> Option<Vec<Step>> {
    let pieces = pieces(text, &[',', ';', '\n'], false)?;
    let pieces: Vec<&str> = pieces
        .into_iter()
        .map(str::trim)
        .filter(|piece| !piece.is_empty() && *piece != "EOF")
        .collect();
    pieces.into_iter().map(|piece| step(piece, notes)).collect()
}

fn step(text: &str, notes: &mut Notes) -> Option<Step> {
    let text = without_number(text);
    let (name, expr) = match text.split_once(['=', ':']) {
        Some((name, expr)) if is_name(name.trim()) => (Some(name.trim().to_lowercase()), expr),
        _ => (None, text),
    };
    let (expr, result) = match expr.split_once(['=', '≈']) {
        Some((expr, result)) => (expr, Some(result)),
        None => (expr, None),
    };
    let mut reader = Reader {
        rest: expr.trim(),
        notes,
    };
    let expr = reader.comparison(0)?;
    // `469 - 77 = 392`: what an operation is said to come to is dropped, it is
    // computed; `75 = 80` says nothing.
    let is_whole = reader.rest.trim().is_empty()
        && (result.is_none() || matches!(expr, Expr::Call(..) | Expr::Table(_)));
    is_whole.then_some(Step { name, expr })
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

struct Reader<'a, 'n> {
    rest: &'a str,
    notes: &'n mut Notes,
}

impl<'a> Reader<'a, '_> {
    /// Takes one of `operators` if it comes next.
    fn operator(&mut self, operators: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let c = rest.chars().next().filter(|c| operators.contains(c))?;
        self.rest = rest.get(c.len_utf8()..)?;
        Some(c)
    }

    fn infix(&mut self, operation: &str, left: Expr, right: Expr) -> Expr {
        self.notes.add(Leniency::ProgramInfix);
        Expr::Call(operation.to_string(), vec![left, right])
    }

    fn comparison(&mut self, depth: usize) -> Option<Expr> {
        let left = self.sum(depth)?;
        match self.operator(&['>', '<']) {
            None => Some(left),
            Some(operator) => {
                let right = self.sum(depth)?;
                Some(match operator {
                    '>' => self.infix("greater", left, right),
                    _ => self.infix("greater", right, left),
                })
            }
        }
    }

    fn sum(&mut self, depth: usize) -> Option<Expr> {
        let mut left = self.product(depth)?;
        while let Some(operator) = self.operator(&['+', '-', '−', '–']) {
            let right = self.product(depth)?;
            let operation = if operator == '+' { "add" } else { "subtract" };
            left = self.infix(operation, left, right);
        }
        Some(left)
    }

    fn product(&mut self, depth: usize) -> Option<Expr> {
        let mut left = self.operand(depth)?;
        while let Some(operator) = self.operator(&['*', '×', '/', '÷']) {
            let right = self.operand(depth)?;
            let operation = if matches!(operator, '*' | '×') {
                "multiply"
            } else {
                "divide"
            };
            left = self.infix(operation, left, right);
        }
        Some(left)
    }

    fn operand(&mut self, depth: usize) -> Option<Expr> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.operator(&['-', '−']).is_some() {
            return Some(match self.operand(depth + 1)? {
                Expr::Literal(digits) if !digits.starts_with('-') => {
                    Expr::Literal(format!("-{digits}"))
                }
                inner => self.infix("multiply", inner, Expr::Name("const_m1".to_string())),
            });
        }
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '(' => {
                let inside = self.parenthesised()?;
                let mut reader = Reader {
                    rest: inside,
                    notes: self.notes,
                };
                let expr = reader.comparison(depth + 1)?;
                reader.rest.trim().is_empty().then_some(expr)
            }
            c if c.is_ascii_digit() || c == '.' || c == '$' => self.literal(),
            c if c.is_alphabetic() || c == '#' => self.word(depth),
            _ => None,
        }
    }

    /// The text inside the parentheses that come next.
    fn parenthesised(&mut self) -> Option<&'a str> {
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

    fn literal(&mut self) -> Option<Expr> {
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
        Some(Expr::Literal(digits))
    }

    /// A call, or a name.
    fn word(&mut self, depth: usize) -> Option<Expr> {
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
            return Some(Expr::Name(word));
        }
        let inside = self.parenthesised()?;
        if word.starts_with("table_") {
            return Some(Expr::Table(format!("{word}({inside})")));
        }
        let arguments = arguments(inside)?
            .iter()
            .map(|argument| {
                let mut reader = Reader {
                    rest: argument,
                    notes: self.notes,
                };
                let expr = reader.comparison(depth + 1)?;
                reader.rest.trim().is_empty().then_some(expr)
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Expr::Call(word, arguments))
    }
}
