//! Describes an answer: a label for its value, steps in plain sentences, and the evidence of each
//! literal.

use finqa_core::number::{Unit, UnitKind};
use finqa_core::page::year_in_text;
use finqa_core::program::{Expression, Op};
use finqa_core::question::{CitedEvidence, Document};

use super::answer::RankedAnswer;
use super::scale;
use crate::expr::{Expr, PageLeaf};
use crate::question::plan::ProgramPlan;
use crate::reading::facts::{Fact, FactPlace, Facts};

/// A page as facts and as the original document. The words of facts are stems, so texts for people
/// come from the document.
pub(crate) struct DescribedPage<'a> {
    pub(crate) facts: &'a Facts,
    document: &'a Document,
}

impl<'a> DescribedPage<'a> {
    pub(crate) fn new(facts: &'a Facts, document: &'a Document) -> Self {
        Self { facts, document }
    }
}

/// The answer by a program that was made from a plan; `None` if it has no value. `history` has the
/// programs of earlier turns, oldest first. `points` is true if the question asks for percentage
/// points.
pub(super) fn describe(
    page: &DescribedPage<'_>,
    plan: &ProgramPlan,
    expr: &Expr,
    history: &[Option<&str>],
    points: bool,
) -> Option<RankedAnswer> {
    let is_percent = |source: &Option<usize>| {
        let fact = source.and_then(|fact| page.facts.all.get(fact));
        fact.is_some_and(|fact| fact.percent)
    };
    let percentages = percentages(expr, &is_percent);
    let kind = match plan.kind {
        // A difference in percentage points is a plain number.
        UnitKind::Number if percentages && !points => UnitKind::Percent,
        kind => kind,
    };
    // `convert` multiplies a quotient by 100 to state it as a percentage.
    let is_100 = |factor: &Expr| matches!(factor, Expr::Leaf(leaf) if matches!(&*leaf.literal, "const_100" | "100"));
    let times_100 = matches!(expr.top(), Some((Op::Multiply, a, b)) if is_100(a) || is_100(b));
    Some(RankedAnswer {
        program: expr.program(),
        plan_name: plan.name,
        // Percentages without `%` in the program are used as printed, so their result is too.
        in_percent: times_100
            || percentages && expr.leaves().iter().all(|leaf| !leaf.literal.contains('%')),
        unit: Unit {
            kind,
            // A share stated as a percentage has no scale.
            scale: match kind {
                UnitKind::Number => scale::scale_of(page.facts, expr),
                _ => None,
            },
        },
        label: label(page, plan.name, expr),
        evidence: evidence(page.facts, expr, history),
        steps: steps(page, expr),
        value: expr.value()?,
    })
}

/// A name for a fact: `net revenue, 2009`. For a number in a sentence, these are the words before
/// it.
fn fact_label(page: &DescribedPage<'_>, fact: &Fact) -> String {
    let facts = page.facts;
    let mut label = match fact.place {
        FactPlace::Cell { row, col } => {
            let row = facts
                .row(row)
                .map(|r| r.name.trim().to_owned())
                .unwrap_or_default();
            let column = facts
                .columns
                .get(col)
                .map(|c| c.name.trim())
                .unwrap_or_default();
            // A dated column adds nothing to the name, because the years are appended below.
            let dated = !fact.years.is_empty() && year_in_text(column).is_some();
            match (row.is_empty(), column.is_empty() || dated) {
                (false, false) => format!("{row}, {column}"),
                (false, true) => row,
                (true, _) => column.to_owned(),
            }
        }
        FactPlace::Text { filed, .. } => {
            let text = page.document.sentences().nth(filed.saturating_sub(1));
            let words = text.and_then(|text| words_before(text, &fact.literal));
            words.unwrap_or_default()
        }
    };
    for year in &*fact.years {
        if !label.contains(&year.to_string()) {
            label = format!("{label}, {year}");
        }
    }
    label
}

/// The words before the first occurrence of a number in a sentence, at most eight (set by hand).
/// `None` if the number is not found, or has no words before it.
fn words_before(text: &str, literal: &str) -> Option<String> {
    let digits = |text: &str| -> String {
        let kept = text.chars().filter(|c| c.is_ascii_digit() || *c == '.');
        kept.collect::<String>().trim_matches('.').to_owned()
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = digits(literal);
    let numeric = |word: &str| word.bytes().any(|b| b.is_ascii_digit());
    let same = |word: &&str| numeric(word) && digits(word) == number;
    let at = words.iter().position(same)?;
    let before = words.get(at.saturating_sub(8)..at)?.join(" ");
    let opens = |c: char| c.is_whitespace() || "$€£([".contains(c);
    Some(before.trim_end_matches(opens).to_owned()).filter(|words| !words.is_empty())
}

/// The name of a leaf's fact, or its literal if it has none.
fn leaf_label(page: &DescribedPage<'_>, leaf: &PageLeaf) -> String {
    match leaf.source.and_then(|i| page.facts.all.get(i)) {
        Some(fact) => fact_label(page, fact),
        None => leaf.literal.to_string(),
    }
}

/// A name for the value of an expression: the name of its only fact, or the plan's name with the
/// names of all facts.
fn label(page: &DescribedPage<'_>, plan_name: &str, expr: &Expr) -> String {
    match expr {
        Expr::Leaf(leaf) => leaf_label(page, leaf),
        Expr::Step(..) => {
            let mut parts: Vec<String> = Vec::new();
            for leaf in expr.leaves().into_iter().filter(|l| l.source.is_some()) {
                let part = leaf_label(page, leaf);
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
            format!("{plan_name}: {}", parts.join("; "))
        }
    }
}

/// A sentence for each fact that is read, then one for each operation, in the order of the program.
fn steps(page: &DescribedPage<'_>, expr: &Expr) -> Vec<String> {
    let mut out = Vec::new();
    for leaf in expr.leaves() {
        let Some(fact) = leaf.source.and_then(|i| page.facts.all.get(i)) else {
            continue;
        };
        let line = format!(
            "Take {} from {} ({}).",
            leaf.literal,
            fact.id(),
            fact_label(page, fact)
        );
        if !out.contains(&line) {
            out.push(line);
        }
    }
    operations(expr, &mut out);
    out
}

/// Appends a sentence for each operation, in the order of the program, without repetitions.
pub(super) fn operations<T>(expr: &Expression<T>, out: &mut Vec<String>) {
    let Expression::Step(op, a, b) = expr else {
        return;
    };
    operations(a, out);
    operations(b, out);
    let shown = |e: &Expression<T>| match e {
        Expression::Leaf(leaf) => leaf.literal.replace("const_", ""),
        Expression::Step(..) => e
            .value()
            .map(|v| {
                v.number()
                    .map_or(v.to_string(), |x| finqa_core::number::round5(x).to_string())
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
        // An expression never has these: a table row is a leaf.
        Op::TableMax | Op::TableMin | Op::TableSum | Op::TableAverage => return,
    };
    if !out.contains(&line) {
        out.push(line);
    }
}

/// True if the value is a percentage because its figures are: a printed percentage, or a sum,
/// difference or average of such.
pub(super) fn percentages<T: PartialEq + Default + Clone>(
    expr: &Expression<T>,
    is_percent: &impl Fn(&T) -> bool,
) -> bool {
    let of = |expr: &Expression<T>| percentages(expr, is_percent);
    match expr {
        Expression::Leaf(leaf) => is_percent(&leaf.source),
        Expression::Step(Op::Add | Op::Subtract, a, b) => of(a) && of(b),
        Expression::Step(Op::Divide, sum, count) => {
            // Over 100, a printed percentage becomes a fraction.
            count.is_constant() && **count != Expression::constant(100) && of(sum)
        }
        Expression::Step(..) => false,
    }
}

/// The evidence for each literal: its fact on the page, else the first earlier turn whose program
/// has it (`h1` is the first turn). Constants have none.
fn evidence(facts: &Facts, expr: &Expr, history: &[Option<&str>]) -> Vec<CitedEvidence> {
    let mut out: Vec<CitedEvidence> = Vec::new();
    for leaf in expr.leaves() {
        if leaf.is_constant() {
            continue;
        }
        let of_page = leaf.source.and_then(|i| facts.all.get(i)).map(Fact::id);
        let of_history = || {
            let turn = history
                .iter()
                .position(|p| p.is_some_and(|p| uses(p, &leaf.literal)))?;
            Some(format!("h{}", turn + 1))
        };
        if let Some(id) = of_page.or_else(of_history) {
            let reference = CitedEvidence {
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

/// True if a program has this figure as a whole argument: `5` is not in `add(150, 20)`.
fn uses(program: &str, literal: &str) -> bool {
    let mut words = program.split(['(', ')', ',', ' ']);
    words.any(|word| word == literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `5` was once cited from a turn that used 150.
    #[test]
    fn a_figure_is_cited_from_the_turn_that_uses_it_and_not_from_one_that_holds_its_digits() {
        assert!(!uses("add(150, 20), divide(#0, 2.5)", "5"));
        assert!(uses("add(150, 20), divide(#0, 2.5)", "20"));
        assert!(uses("5", "5") && uses("multiply(-5, 5.6%)", "5.6%"));
    }

    /// People were once shown the stems that are matched: `capital expenditur were $`.
    #[test]
    fn a_number_in_prose_is_named_in_the_original_wording() {
        let text = "Capital expenditures were $75.3 million in 2019, compared to $ ( 60,1 ).";
        let before = |literal| words_before(text, literal);
        assert_eq!(before("75.3").as_deref(), Some("Capital expenditures were"));
        let last = before("-601").unwrap();
        assert!(last.ends_with("in 2019, compared to"), "{last}");
        assert_eq!(before("12"), None);
        assert_eq!(words_before("5 shares", "5"), None);
    }
}
