//! Describes an answer: a label for its value, steps in plain sentences, and the evidence of each
//! literal.

use finqa_core::number::{Unit, UnitKind, Value, round5};
use finqa_core::page::year_in_text;
use finqa_core::program::{Expression, Op};
use finqa_core::question::{CitedEvidence, Document, HistoryEntry};

use super::answer::RankedAnswer;
use super::scale;
use crate::distinct;
use crate::expr::Expr;
use crate::question::plan::ProgramPlan;
use crate::question::wording::Wording;
use crate::reading::facts::{Fact, FactPlace, Facts};

/// The figures of an answer: as evidence, in steps that take them, and by their names. Figures that
/// occur twice are listed twice.
#[derive(Default)]
pub(super) struct Citations {
    pub(super) evidence: Vec<CitedEvidence>,
    pub(super) steps: Vec<String>,
    pub(super) names: Vec<String>,
}

impl Citations {
    /// Adds a figure with the id of its place on the page.
    pub(super) fn add(&mut self, literal: &str, id: String, name: String) {
        let step = format!("Take {literal} from {id} ({name}).");
        self.steps.push(step);
        self.names.push(name);
        self.cite(literal, id);
    }

    fn cite(&mut self, literal: &str, id: String) {
        let literal = literal.to_owned();
        self.evidence.push(CitedEvidence { id, literal });
    }
}

/// The answer by a program that was made from a plan; `None` if it has no value. The words of facts
/// are stems, so names come from the document. `history` has the earlier turns, oldest first.
pub(super) fn describe(
    facts: &Facts,
    document: &Document,
    plan: &ProgramPlan,
    expr: &Expr,
    history: &[HistoryEntry],
    asked: &Wording,
) -> Option<RankedAnswer> {
    let value = expr.value()?;
    let fact = |source: &Option<usize>| facts.all.get((*source)?);
    let percentages = percentages(expr, &|source| fact(source).is_some_and(|of| of.percent));
    // `Wording` spells "percentage" as "percent".
    let points = asked.says(&["percent points", "percent point"]);
    let kind = match plan.kind {
        // A difference in percentage points is a plain number.
        UnitKind::Number if percentages && !points => UnitKind::Percent,
        kind => kind,
    };
    // `convert` multiplies a quotient by 100 to state it as a percentage.
    let is_100 = |factor: &Expr| match factor {
        Expr::Leaf(leaf) => matches!(&*leaf.literal, "const_100" | "100"),
        Expr::Step(..) => false,
    };
    let times_100 = matches!(expr.top(), Some((Op::Multiply, a, b)) if is_100(a) || is_100(b));
    let leaves = expr.leaves();
    let mut cited = Citations::default();
    for leaf in leaves.iter().filter(|leaf| !leaf.is_constant()) {
        if let Some(fact) = fact(&leaf.source) {
            let name = fact_label(facts, document, fact);
            cited.add(&leaf.literal, fact.id(), name);
            continue;
        }
        // Numbers of earlier turns have their facts too (`conversation::locate`), so they are cited
        // from the page. One that the page lacks is cited from the first earlier turn whose program
        // has it; `h1` is the first turn.
        let mut programs = history.iter().map(|turn| turn.program.as_deref());
        let used = |program: Option<&str>| program.is_some_and(|of| uses(of, &leaf.literal));
        if let Some(turn) = programs.position(used) {
            cited.cite(&leaf.literal, format!("h{}", turn + 1));
        }
    }
    operations(expr, &mut cited.steps);
    let names = distinct(cited.names);
    Some(RankedAnswer {
        program: expr.program(),
        plan_name: plan.name,
        // Percentages without `%` in the program are used as printed, so their result is too.
        in_percent: times_100
            || percentages && leaves.iter().all(|leaf| !leaf.literal.contains('%')),
        unit: Unit {
            kind,
            // A share stated as a percentage has no scale.
            scale: match kind {
                UnitKind::Number => scale::scale_of(facts, expr),
                _ => None,
            },
        },
        label: match expr {
            Expr::Leaf(leaf) if names.is_empty() => leaf.literal.to_string(),
            Expr::Leaf(_) => names.join("; "),
            Expr::Step(..) => format!("{}: {}", plan.name, names.join("; ")),
        },
        evidence: distinct(cited.evidence),
        steps: distinct(cited.steps),
        value,
    })
}

/// A name for a fact: `net revenue, 2009`. For a number in a sentence, these are the words before
/// it.
fn fact_label(facts: &Facts, document: &Document, fact: &Fact) -> String {
    let mut label = match fact.place {
        FactPlace::Cell { .. } => {
            let row = facts.row_of(fact).map_or("", |row| row.name.trim());
            let column = facts.column_of(fact);
            let column = column.map_or("", |column| column.name.trim());
            // A dated column adds nothing to the name, because the years are appended below.
            let dated = !fact.years.is_empty() && year_in_text(column).is_some();
            match (row.is_empty(), column.is_empty() || dated) {
                (false, false) => format!("{row}, {column}"),
                (false, true) => row.to_owned(),
                (true, _) => column.to_owned(),
            }
        }
        FactPlace::Text {
            document_sentence, ..
        } => {
            let text = document
                .sentences()
                .nth(document_sentence.saturating_sub(1));
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

/// Appends a sentence for each operation, in the order of the program.
pub(super) fn operations<T>(expr: &Expression<T>, out: &mut Vec<String>) {
    let Expression::Step(op, a, b) = expr else {
        return;
    };
    operations(a, out);
    operations(b, out);
    let shown = |e: &Expression<T>| match e {
        Expression::Leaf(leaf) => leaf.literal.replace("const_", ""),
        Expression::Step(..) => match e.value() {
            Some(Value::Number(number)) => round5(number).to_string(),
            Some(Value::Text(word)) => word,
            None => String::new(),
        },
    };
    let (x, y, result) = (shown(a), shown(b), shown(expr));
    out.push(match op {
        Op::Add => format!("Add {x} and {y}: {result}."),
        Op::Subtract => format!("Subtract {y} from {x}: {result}."),
        Op::Multiply => format!("Multiply {x} by {y}: {result}."),
        Op::Divide => format!("Divide {x} by {y}: {result}."),
        Op::Greater => format!("Compare {x} with {y}: {result}."),
        Op::Exp => format!("Raise {x} to the power {y}: {result}."),
        // An expression never has these: a table row is a leaf.
        Op::TableMax | Op::TableMin | Op::TableSum | Op::TableAverage => return,
    });
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
