//! What a guess says of itself: a label for its value, steps in plain
//! sentences, and where each literal stands.

use super::expr::{Expr, Leaf, Op};
use super::facts::{Fact, Facts, Place};
use super::solve::EvidenceRef;

/// The words of a fact's place: `net revenue, 2009`.
pub(crate) fn fact_label(facts: &Facts, fact: &Fact) -> String {
    let mut label = match fact.place {
        Place::Cell { row, col } => {
            let row = facts
                .rows
                .get(row)
                .map(|r| r.name.trim().to_owned())
                .unwrap_or_default();
            let column = facts
                .columns
                .get(col)
                .map(|c| c.name.trim())
                .unwrap_or_default();
            let dated = !fact.years.is_empty() && super::text::year_of(column).is_some();
            match (row.is_empty(), column.is_empty() || dated) {
                (false, false) => format!("{row}, {column}"),
                (false, true) => row,
                (true, _) => column.to_owned(),
            }
        }
        Place::Text { sentence, at, .. } => {
            let words = facts.sentences.get(sentence).map(|s| {
                let from = at.saturating_sub(8);
                let before = s.text.split(' ').take(at).skip(from);
                before.collect::<Vec<_>>().join(" ")
            });
            words.unwrap_or_default()
        }
    };
    for year in &fact.years {
        if !label.contains(&year.to_string()) {
            label = format!("{label}, {year}");
        }
    }
    label
}

fn leaf_label(facts: &Facts, leaf: &Leaf) -> String {
    leaf.fact
        .and_then(|i| facts.all.get(i))
        .map_or_else(|| leaf.literal.to_string(), |fact| fact_label(facts, fact))
}

/// What a value is, from its expression.
pub(crate) fn label(facts: &Facts, template: &str, expr: &Expr) -> String {
    match expr {
        Expr::Leaf(leaf) => leaf_label(facts, leaf),
        Expr::Step(..) => {
            let mut parts: Vec<String> = Vec::new();
            for leaf in expr.leaves().into_iter().filter(|l| l.fact.is_some()) {
                let part = leaf_label(facts, leaf);
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
            format!("{template}: {}", parts.join("; "))
        }
    }
}

/// One sentence for every value read and every operation, in order.
pub(crate) fn steps(facts: &Facts, expr: &Expr) -> Vec<String> {
    let mut out = Vec::new();
    for leaf in expr.leaves() {
        let Some(fact) = leaf.fact.and_then(|i| facts.all.get(i)) else {
            continue;
        };
        let line = format!(
            "Take {} from {} ({}).",
            leaf.literal,
            fact.id(),
            fact_label(facts, fact)
        );
        if !out.contains(&line) {
            out.push(line);
        }
    }
    operations(expr, &mut out);
    out
}

fn operations(expr: &Expr, out: &mut Vec<String>) {
    let Expr::Step(op, a, b) = expr else { return };
    operations(a, out);
    operations(b, out);
    let shown = |e: &Expr| match e {
        Expr::Leaf(leaf) => leaf.literal.replace("const_", ""),
        Expr::Step(..) => e
            .value()
            .map(|v| {
                v.number()
                    .map_or(v.to_string(), |x| crate::number::round5(x).to_string())
            })
            .unwrap_or_default(),
    };
    let (x, y, result) = (shown(a), shown(b), shown(expr));
    let line = match op {
        Op::Add => format!("Add {x} and {y}: {result}."),
        Op::Subtract => format!("Subtract {y} from {x}: {result}."),
        Op::Multiply => format!("Multiply {x} by {y}: {result}."),
        Op::Divide => format!("Divide {x} by {y}: {result}."),
        Op::Greater => format!("Compare {x} with {y}: {result}."),
        Op::Exp => format!("Raise {x} to the power {y}: {result}."),
    };
    if !out.contains(&line) {
        out.push(line);
    }
}

/// Where the literals stand: on the page, else in the earlier turn (`h1` the
/// first) whose program holds them.
pub(crate) fn evidence(facts: &Facts, expr: &Expr, history: &[Option<&str>]) -> Vec<EvidenceRef> {
    let mut out: Vec<EvidenceRef> = Vec::new();
    for leaf in expr.leaves() {
        if leaf.is_constant() {
            continue;
        }
        let of_page = leaf.fact.and_then(|i| facts.all.get(i)).map(Fact::id);
        let of_history = || {
            let turn = history
                .iter()
                .position(|p| p.is_some_and(|p| p.contains(&*leaf.literal)))?;
            Some(format!("h{}", turn + 1))
        };
        if let Some(id) = of_page.or_else(of_history) {
            let reference = EvidenceRef {
                id,
                literal: leaf.literal.to_string(),
            };
            if !out.contains(&reference) {
                out.push(reference);
            }
        }
    }
    out
}
