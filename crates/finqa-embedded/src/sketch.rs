//! The sketch of a program: its operations, and which earlier answers and numbers it repeats.
//! After the turns `120` and `100`, the program `subtract(120, 100)` has the sketch
//! `subtract(answer2, answer1)`.

use crate::expr::{Expr, PageLeaf, alike_but_for_signs};

/// The sketches that at least five turns of the training data have, the most frequent first, and
/// "other" for the rest. The order is that of the classes in `weights/sketches.bin`.
///
/// `answer1` is the answer of the last turn, and `answer2` that of the turn before it. `used1` is
/// a number with which the last turn calculated. `new` is a number that no earlier turn has used.
pub(crate) const SKETCHES: [&str; 55] = [
    "new", "subtract(new, new)", "divide(answer2, answer1)", "subtract(answer2, answer1)",
    "divide(answer1, used1)", "divide(new, new)", "divide(answer1, answer2)", "used1",
    "add(new, new)", "add(answer2, answer1)", "answer2", "divide(answer1, 100)",
    "add(answer1, new)", "subtract(new, 100)", "divide(answer1, new)", "divide(answer1, 3)",
    "multiply(answer1, 100)", "divide(answer1, 2)", "new%", "subtract(answer1, 100)",
    "divide(new, used1)", "subtract(answer1, 1)", "multiply(new, new)", "multiply(answer1, 1000)",
    "divide(new, answer1)", "multiply(answer2, answer1)", "multiply(answer1, 1000000)",
    "divide(answer1, answer3)", "multiply(new, 1000)", "divide(answer1, 1000)",
    "divide(used1, answer1)", "used2", "subtract(used1, new)", "answer3", "subtract(new, used1)",
    "subtract(answer3, answer1)", "add(answer1, answer2)", "subtract(answer1, new)",
    "divide(used1, new)", "subtract(answer4, answer1)", "divide(new, answer2)",
    "divide(answer1, 1000000)", "add(new, answer1)", "subtract(used1, used1)",
    "subtract(answer1, answer2)", "multiply(new, 1000000)", "divide(new, 1000)",
    "subtract(new, answer1)", "subtract(1, answer1)", "multiply(new, answer1)",
    "multiply(answer1, new)", "greater(answer2, answer1)", "divide(answer4, answer1)",
    "divide(answer1, answer4)", "other",
];

/// Names for the answers of earlier turns, the last turn first. All turns that are further back
/// share the last name.
const ANSWERS: [&str; 4] = ["answer1", "answer2", "answer3", "answer4"];
/// Names for the numbers that earlier turns calculated with, in the same order.
const USED: [&str; 3] = ["used1", "used2", "used3"];

/// The sketch of a program after the programs of earlier turns (oldest first), as an index into
/// [`SKETCHES`].
pub(crate) fn sketch(expr: &Expr, earlier: &[&Expr]) -> usize {
    // All names in `SKETCHES` are shorter.
    let mut written = String::with_capacity(32);
    write(expr, earlier, &mut written);
    // The look-up of a percentage is a class of its own here, as it is among the shapes.
    if written == "new" && matches!(expr, Expr::Leaf(leaf) if leaf.literal.ends_with('%')) {
        written.push('%');
    }
    let known = SKETCHES.iter().position(|sketch| *sketch == written);
    // The last sketch is "other".
    known.unwrap_or(SKETCHES.len() - 1)
}

/// Appends the sketch of an expression. An expression that is an earlier answer is replaced as a
/// whole, before its operands are looked at.
fn write(expr: &Expr, earlier: &[&Expr], out: &mut String) {
    // The name of the latest turn for which the condition is true.
    let latest = |names: &[&'static str], holds: &dyn Fn(&Expr) -> bool| {
        let back = earlier.iter().rev().position(|turn| holds(turn))?;
        names.get(back).or(names.last()).copied()
    };
    let answer = latest(&ANSWERS, &|turn| turn.matches(expr, &same));
    match (expr, answer) {
        (Expr::Leaf(leaf), _) if leaf.is_constant() => {
            out.push_str(leaf.literal.trim_start_matches("const_"));
        }
        (_, Some(answer)) => out.push_str(answer),
        (Expr::Leaf(leaf), None) => {
            let uses = |turn: &Expr| turn.leaves().into_iter().any(|other| same(other, leaf));
            out.push_str(latest(&USED, &uses).unwrap_or("new"));
        }
        (Expr::Step(op, a, b), None) => {
            out.push_str(op.name());
            out.push('(');
            write(a, earlier, out);
            out.push_str(", ");
            write(b, earlier, out);
            out.push(')');
        }
    }
}

/// True for the same number. Signs are ignored, because programs often drop the minus sign of an
/// outflow (`reading::outflow`).
fn same(a: &PageLeaf, b: &PageLeaf) -> bool {
    alike_but_for_signs(&a.literal, &b.literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch_of(program: &str, before: &[&str]) -> &'static str {
        let parse = |program: &&str| Expr::parse(program).unwrap();
        let before: Vec<Expr> = before.iter().map(parse).collect();
        SKETCHES[sketch(&parse(&program), &before.iter().collect::<Vec<_>>())]
    }

    #[test]
    fn a_sketch_says_what_a_turn_repeats() {
        let change = ["120", "100", "subtract(120, 100)"];
        let relative = "subtract(120, 100), divide(#0, 100)";
        for (program, before, expected) in [
            ("120", &[][..], "new"),
            ("4%", &[], "new%"),
            ("subtract(120, 100)", &[], "subtract(new, new)"),
            (change[2], &change[..2], "subtract(answer2, answer1)"),
            (relative, &change, "divide(answer1, answer2)"),
            (relative, &change[2..], "divide(answer1, used1)"),
            ("add(7, const_100)", &[], "other"),
        ] {
            assert_eq!(sketch_of(program, before), expected, "{program} {before:?}");
        }
    }

    #[test]
    fn no_sketch_is_listed_twice() {
        let mut all = SKETCHES.to_vec();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), SKETCHES.len());
    }
}
