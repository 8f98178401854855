//! Decides whether two programs are equal by the official rule.
//!
//! The official code turns both programs into symbolic expressions, with one symbol for each
//! distinct literal and each table step of gold. It then asks a computer algebra system whether
//! both simplify to the same expression. Here, both programs are rational functions over a prime
//! field, evaluated at fixed pseudo-random points. Equal functions agree at every point; different
//! functions agree at a point by chance with a probability of about degree / 2^61. This takes time
//! linear in the number of steps, while expanding the polynomials would take exponential time.
//!
//! `exp` is opaque: each distinct pair of operands gets its own symbol. `greater` is an ordered
//! pair, and no later step may compute with it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::number::literal;

use super::parse::{Literals, official_steps};
use super::{Argument, Op, ProgramStep, tokens};

/// The Mersenne prime 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;
/// The number of points at which functions are compared. With two, a chance agreement is about as
/// likely as (degree / 2^61)^2.
const POINTS: usize = 2;

/// True if `predicted` is the same program as `gold` by the official rule. `predicted` may use only
/// gold's table steps and gold's literals, spelled as in gold. Only the expression of the last step
/// counts, and it must be the same function as gold's. If both programs are single numbers, they
/// are equal if they are spelled alike.
///
/// ```
/// use finqa_core::program::equal;
/// assert!(equal("multiply(3, 4), divide(#0, 5)", "divide(4, 5), multiply(3, #0)"));
/// assert!(!equal("subtract(5.0, 3)", "subtract(5, 3)"));
/// ```
pub fn equal(gold: &str, predicted: &str) -> bool {
    let read = |program: &str| {
        let tokens: Vec<&str> = tokens::pieces(program.trim()).collect();
        official_steps(&tokens, Literals::Any).map(|read| read.steps)
    };
    let (gold_steps, predicted_steps) = match (read(gold), read(predicted)) {
        (Ok(gold), Ok(predicted)) => (gold, predicted),
        (Err(_), Err(_)) => return is_number(gold) && gold.trim() == predicted.trim(),
        _ => return false,
    };
    let mut symbols = Symbols::default();
    let Some(of_gold) = symbols.function(&gold_steps, true) else {
        // Gold has no value, for example because it divides by an expression that is always zero.
        // It is then equal only to itself.
        return !gold_steps.is_empty() && gold_steps_are(&gold_steps, &predicted_steps);
    };
    symbols.function(&predicted_steps, false) == Some(of_gold)
}

fn is_number(program: &str) -> bool {
    literal(program.trim()).is_some()
}

/// True if the printed steps are equal. The values cannot be compared, because a literal that is
/// not a number has the value NaN, which is not equal to itself.
fn gold_steps_are(gold: &[ProgramStep], predicted: &[ProgramStep]) -> bool {
    let print = |steps: &[ProgramStep]| steps.iter().map(ToString::to_string).collect::<Vec<_>>();
    print(gold) == print(predicted)
}

/// The values of a function at the points. They stay fractions, because fractions can be compared
/// by cross-multiplication, while dividing needs an expensive inverse.
type Point = [Fraction; POINTS];

/// A fraction of integers modulo [`PRIME`].
#[derive(Clone, Copy)]
struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    fn whole(numerator: u64) -> Self {
        Self {
            numerator,
            denominator: 1,
        }
    }

    /// Applies the operation; any other than the first three is a division.
    fn apply(op: Op, a: Self, b: Self) -> Self {
        let (n, d) = (a.numerator, a.denominator);
        let (m, e) = (b.numerator, b.denominator);
        let (numerator, denominator) = match op {
            Op::Add => (add(multiply(n, e), multiply(m, d)), multiply(d, e)),
            // `PRIME - x` is -x in the field, whose elements are unsigned.
            Op::Subtract => (add(multiply(n, e), PRIME - multiply(m, d)), multiply(d, e)),
            Op::Multiply => (multiply(n, m), multiply(d, e)),
            _ => (multiply(n, e), multiply(d, m)),
        };
        Self {
            numerator,
            denominator,
        }
    }

    /// The quotient. The denominator is never 0, because [`apply`] refuses to divide by 0.
    fn value(self) -> u64 {
        multiply(self.numerator, inverse(self.denominator))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        multiply(self.numerator, other.denominator) == multiply(other.numerator, self.denominator)
    }
}

/// The function that a program computes, as its values at the points: a number, or a comparison of
/// two numbers.
#[derive(Clone, Copy, PartialEq)]
enum Function {
    Rational(Point),
    Greater(Point, Point),
}

/// Assigns a pseudo-random value to each literal and table step of gold.
#[derive(Default)]
struct Symbols<'p> {
    leaves: BTreeMap<Cow<'p, str>, Point>,
}

impl<'p> Symbols<'p> {
    /// The function that the last step computes. `None` if a leaf is not in gold (and `may_add` is
    /// false), if the step or a step that it refers to divides by zero, or if it computes with the
    /// result of a comparison.
    fn function(&mut self, steps: &'p [ProgramStep], may_add: bool) -> Option<Function> {
        let mut results: Vec<Option<Function>> = Vec::with_capacity(steps.len());
        for step in steps {
            let result = if step.op.is_table() {
                // A table step over an earlier result (`table_max(#0, none)`) cannot be a leaf of
                // gold.
                let [Argument::Row(_), _] = &step.arguments else {
                    return None;
                };
                let name = Cow::Owned(step.to_string());
                Some(Function::Rational(self.leaf(name, may_add)?))
            } else {
                let [first, second] = &step.arguments;
                let first = self.operand(first, may_add, &results)?;
                let second = self.operand(second, may_add, &results)?;
                // Only the last step counts, so a step without a value matters only if a later step
                // refers to it.
                first.zip(second).and_then(|(a, b)| apply(step.op, a, b))
            };
            results.push(result);
        }
        results.pop().flatten()
    }

    /// The value of an operand. The outer `None` means that gold has no such leaf, or that the
    /// operand is a row, an unused argument or a step that does not come before. The inner `None`
    /// means that the step to which it refers has no value.
    fn operand(
        &mut self,
        argument: &'p Argument,
        may_add: bool,
        results: &[Option<Function>],
    ) -> Option<Option<Function>> {
        match argument {
            Argument::Reference(k) => results.get(*k).copied(),
            Argument::Literal { text, .. } => {
                let name = Cow::Borrowed(text.as_str());
                Some(Some(Function::Rational(self.leaf(name, may_add)?)))
            }
            Argument::Row(_) | Argument::Unused(_) => None,
        }
    }

    /// The value of a leaf, which is added if `may_add`. `None` if gold has no such leaf.
    fn leaf(&mut self, name: Cow<'p, str>, may_add: bool) -> Option<Point> {
        if !may_add {
            return self.leaves.get(&name).copied();
        }
        let next = self.leaves.len() as u64;
        Some(*self.leaves.entry(name).or_insert_with(|| {
            std::array::from_fn(|point| Fraction::whole(scramble(next * 2 + 1, point as u64 + 1)))
        }))
    }
}

/// Applies an operation at each point. `None` for a division by zero, and if an operand is the
/// result of a comparison.
fn apply(op: Op, a: Function, b: Function) -> Option<Function> {
    let (Function::Rational(a), Function::Rational(b)) = (a, b) else {
        return None;
    };
    Some(Function::Rational(match op {
        Op::Greater => return Some(Function::Greater(a, b)),
        // A function that is 0 at a random point is almost certainly 0 everywhere.
        Op::Divide if b.iter().any(|f| f.numerator == 0) => return None,
        Op::Exp => {
            let operands = a.iter().chain(&b);
            let mixed = operands.fold(0, |seed, x| scramble(seed, x.value()));
            std::array::from_fn(|point| Fraction::whole(scramble(mixed, point as u64 + 1)))
        }
        _ => {
            let mut out = a;
            for (x, y) in out.iter_mut().zip(b) {
                *x = Fraction::apply(op, *x, y);
            }
            out
        }
    }))
}

/// Adds two field elements. Both are at most [`PRIME`], so the sum cannot overflow.
fn add(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

/// Multiplies two field elements. Because 2^61 is 1 modulo the prime, the high bits of the product
/// are added to the low bits.
fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // Both halves have at most 61 bits, so neither conversion fails.
    let low = u64::try_from(product & u128::from(PRIME)).unwrap_or_default();
    let high = u64::try_from(product >> 61).unwrap_or_default();
    add(low, high)
}

/// The multiplicative inverse, a^(p - 2) by Fermat's little theorem.
fn inverse(a: u64) -> u64 {
    let (mut result, mut power, mut exponent) = (1, a, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, power);
        }
        power = multiply(power, power);
        exponent >>= 1;
    }
    result
}

/// A pseudo-random field element: the finaliser of SplitMix64. The factors of seed and salt are odd,
/// so that different seeds, or different salts, start differently.
fn scramble(seed: u64, salt: u64) -> u64 {
    let mut x = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(salt.wrapping_mul(0xd1b5_4a32_d192_ed03));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % PRIME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_is_one() {
        for x in [1, 2, 3, PRIME - 1, 123_456_789] {
            assert_eq!(multiply(x, inverse(x)), 1);
        }
    }

    #[test]
    fn ten_thousand_squarings_take_no_exponential_time() {
        let mut program = "add(5, 3)".to_owned();
        for step in 0..10_000 {
            program.push_str(&format!(", multiply(#{step}, #{step})"));
        }
        assert!(equal(&program, &program.replace("add(5, 3)", "add(3, 5)")));
        assert!(!equal(&program, &program.replace("add(5", "subtract(5")));
    }

    #[test]
    fn const_1_is_a_symbol_like_any_other() {
        let relative = "subtract(5, 3), divide(#0, 3), multiply(#1, const_1)";
        assert!(!equal(relative, "divide(5, 3), subtract(#0, const_1)"));
        assert!(!equal("exp(2, const_1)", "add(2, const_1)"));
        assert!(!equal("exp(2, 3)", "exp(3, 2)"));
    }

    #[test]
    fn an_unused_step_must_still_use_golds_literals() {
        assert!(!equal("subtract(7, 2)", "divide(5, 3), subtract(7, 2)"));
        assert!(equal("subtract(7, 2)", "divide(7, 2), subtract(7, 2)"));
        assert!(equal(
            "greater(7, 2)",
            "greater(7, 2), subtract(7, 2), greater(7, 2)"
        ));
        assert!(!equal("greater(7, 2)", "greater(7, 2), add(#0, 2)"));
    }
}
