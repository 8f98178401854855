//! Translates TAT-QA's derivations, which are arithmetic as people write it, into programs of the
//! dataset.

use finqa_core::program::{Expression, Op};

type Expr = Expression<()>;

/// The program of a derivation; `None` if it cannot be read, or its value is not the answer.
///
/// A number alone in parentheses is read first as positive, then as negative, which it is in
/// reports. If `percent`, the value can also be the answer as a fraction.
pub fn program_of_answer(derivation: &str, answer: f64, percent: bool) -> Option<String> {
    // Answers are rounded: allow 0.6 % of the answer, and at least 0.006. Both are set by hand.
    let near = |value: f64| (value - answer).abs() <= 0.006 * answer.abs().max(1.0);
    [false, true].into_iter().find_map(|negative| {
        let expr = expression(derivation, negative)?;
        let value = expr.number()?;
        (near(value) || percent && near(100.0 * value)).then(|| expr.program())
    })
}

/// Parses a derivation; `None` unless all of it can be read.
fn expression(text: &str, negative_in_parentheses: bool) -> Option<Expr> {
    let mut reader = Reader {
        rest: text,
        negative_in_parentheses,
    };
    let expr = reader.sum()?;
    reader.next().is_none().then_some(expr)
}

/// A recursive-descent parser: a sum of products of factors.
struct Reader<'a> {
    rest: &'a str,
    negative_in_parentheses: bool,
}

impl Reader<'_> {
    /// The next character that is neither white space nor a currency sign; it is not consumed.
    fn next(&mut self) -> Option<char> {
        let blank = |c: char| c.is_whitespace() || matches!(c, '$' | '£' | '€');
        self.rest = self.rest.trim_start_matches(blank);
        self.rest.chars().next()
    }

    /// Consumes the next character if it is one of these.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.next().filter(|c| wanted.contains(c))?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Reads products with plus or minus signs between them.
    fn sum(&mut self) -> Option<Expr> {
        let mut out = self.product()?;
        while let Some(sign) = self.take(&['+', '-', '–', '−']) {
            let op = if sign == '+' { Op::Add } else { Op::Subtract };
            out = Expr::step(op, out, self.product()?);
        }
        Some(out)
    }

    /// Reads factors with signs of multiplication or division between them.
    fn product(&mut self) -> Option<Expr> {
        let mut out = self.factor()?;
        while let Some(sign) = self.take(&['*', '×', '/', '÷']) {
            let times = matches!(sign, '*' | '×');
            let op = if times { Op::Multiply } else { Op::Divide };
            let factor = constant(self.factor()?);
            out = Expr::step(op, out, factor);
        }
        Some(out)
    }

    /// Reads a number, a negated factor, or a sum in brackets.
    fn factor(&mut self) -> Option<Expr> {
        if self.take(&['-', '–', '−']).is_some() {
            return negative(self.factor()?);
        }
        if self.take(&['(', '[', '{']).is_some() {
            let inner = self.sum()?;
            self.take(&[')', ']', '}'])?;
            let single = matches!(&inner, Expression::Leaf(leaf) if leaf.value > 0.0);
            return match single && self.negative_in_parentheses {
                true => negative(inner),
                false => Some(inner),
            };
        }
        self.next()?;
        let end = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','));
        let (number, rest) = self
            .rest
            .split_at(self.rest.find(end).unwrap_or(self.rest.len()));
        self.rest = rest;
        let percent = if self.take(&['%']).is_some() { "%" } else { "" };
        let number = number.trim_end_matches(',').replace(',', "");
        Expr::literal(&format!("{number}{percent}"))
    }
}

/// Turns a factor or divisor that is a whole number from 2 to 10, 100 or 1000 into a constant of
/// the program: the 2 of an average, for example.
fn constant(expr: Expr) -> Expr {
    let is = |n: &u32| matches!(&expr, Expression::Leaf(leaf) if leaf.value == f64::from(*n));
    let known = (2..=10).chain([100, 1000]).find(is);
    known.map_or(expr, Expr::constant)
}

/// The expression with the other sign. Programs have no negation, so the minus becomes part of a
/// number, and `-(a - b)` becomes `b - a`. `None` for other operations.
fn negative(expr: Expr) -> Option<Expr> {
    match expr {
        Expression::Leaf(leaf) => match leaf.literal.strip_prefix('-') {
            Some(magnitude) => Expr::literal(magnitude),
            None => Expr::literal(&format!("-{}", leaf.literal)),
        },
        Expression::Step(Op::Subtract, a, b) => Some(Expr::step(Op::Subtract, *b, *a)),
        Expression::Step(op @ (Op::Multiply | Op::Divide), a, b) => {
            Some(Expr::step(op, negative(*a)?, *b))
        }
        Expression::Step(Op::Add, a, b) => Some(Expr::step(Op::Add, negative(*a)?, negative(*b)?)),
        Expression::Step(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivations_are_programs_with_the_value_of_the_answer() {
        for (derivation, answer, expected) in [
            ("12,907 - 8,538", 4369.0, "subtract(12907, 8538)"),
            (
                "(16,284 - 6,509) / 6,509",
                150.18,
                "subtract(16284, 6509), divide(#0, 6509)",
            ),
            (
                "($2.43-$0.36)/$0.36", 575.0, "subtract(2.43, 0.36), divide(#0, 0.36)",
            ),
            (
                "(18.1+15.1+14.4) / 3",
                15.87,
                "add(18.1, 15.1), add(#0, 14.4), divide(#1, const_3)",
            ),
            ("(2,253) - (2,835)", 582.0, "subtract(-2253, -2835)"),
            (
                "-(39,185 + 37,035) / 2",
                -38110.0,
                "add(-39185, -37035), divide(#0, const_2)",
            ),
            ("14%-12%", 2.0, "subtract(14%, 12%)"),
        ] {
            let program = program_of_answer(derivation, answer, true);
            assert_eq!(program.as_deref(), Some(expected), "{derivation}");
        }
        for none in ["see note 3", "12 -", "", "(3"] {
            assert_eq!(program_of_answer(none, 12.0, false), None, "{none}");
        }
    }
}
