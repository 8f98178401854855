//! Writes a calculation in the names of its figures: `Operating income / Net sales`.

use std::cell::RefCell;

use finqa_core::program::{Expression, Op};

use super::evidence::NamedEvidence;

/// A program in the names of the figures that it cites. `None` for a program without an operation,
/// for one with a comparison or an operation on a table, which have no sign, and if a figure is not
/// cited.
pub(super) fn in_names(program: &str, evidence: &[NamedEvidence]) -> Option<String> {
    let expression = Expression::<()>::parse(program)?;
    let (op, ..) = expression.top()?;
    let rows: Vec<&str> = evidence.iter().map(|cited| cited.row.as_str()).collect();
    let named = |cited: &NamedEvidence| {
        let alone = rows.iter().filter(|row| **row == cited.row).count() == 1;
        if alone && !cited.row.is_empty() {
            cited.row.clone()
        } else {
            cited.label.replace(" · ", ", ")
        }
    };
    // Two figures can be equal, so each use takes the next citation with this value.
    let used = RefCell::new(vec![false; evidence.len()]);
    let name = |literal: &str| {
        // A program may write a figure without the commas, brackets and signs of the citation.
        let bare = |text: &str| text.replace(['-', '(', ')', ',', '$', ' '], "");
        let is = |cited: &&NamedEvidence| bare(&cited.literal) == bare(literal);
        match literal.strip_prefix("const_") {
            Some(constant) => Some(constant.to_owned()),
            None => {
                let mut used = used.borrow_mut();
                let all = || evidence.iter().enumerate().filter(|(_, cited)| is(cited));
                let next = all().find(|(at, _)| used.get(*at) == Some(&false));
                let (at, cited) = next.or_else(|| all().next())?;
                if let Some(used) = used.get_mut(at) {
                    *used = true;
                }
                Some(named(cited))
            }
        }
    };
    (op != Op::Greater).then(|| written(&expression, &name, 0))?
}

/// The sign of an operation and how tightly it binds; a higher number binds tighter. `None` for an
/// operation without a sign.
fn sign_and_precedence(op: Op) -> Option<(&'static str, u8)> {
    Some(match op {
        Op::Add => ("+", 1),
        Op::Subtract => ("-", 1),
        Op::Multiply => ("×", 2),
        Op::Divide => ("/", 2),
        Op::Exp => ("^", 3),
        _ => return None,
    })
}

/// An expression as text; `None` if a figure has no name or an operation has no sign. `within` says
/// how tightly the surrounding operation binds.
fn written(
    expression: &Expression<()>,
    name: &impl Fn(&str) -> Option<String>,
    within: u8,
) -> Option<String> {
    let (op, a, b) = match expression {
        Expression::Leaf(leaf) => return name(&leaf.literal),
        Expression::Step(op, a, b) => (*op, a, b),
    };
    let (sign, tight) = sign_and_precedence(op)?;
    // The right side of a subtraction, division or power gets brackets even around an operation of
    // the same tightness: `a - (b - c)`.
    let behind = tight + u8::from(!matches!(op, Op::Add | Op::Multiply));
    let text = format!(
        "{} {sign} {}",
        written(a, name, tight)?,
        written(b, name, behind)?
    );
    Some(if tight < within {
        format!("({text})")
    } else {
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calculation_is_written_with_the_names_of_its_figures() {
        let cited = |row: &str, column: &str, literal: &str| NamedEvidence {
            label: format!("{row} · {column}"),
            row: row.to_owned(),
            column: column.to_owned(),
            literal: literal.to_owned(),
            ..NamedEvidence::default()
        };
        let evidence = [
            cited("Revenue", "2031", "1,250"),
            cited("Revenue", "2030", "1000"),
            cited("Costs", "2031", "700"),
            cited("Costs", "2030", "700"),
        ];
        for (program, formula) in [
            ("1250", None),
            ("subtract(1250, 700)", Some("Revenue, 2031 - Costs, 2031")),
            ("add(700, 700)", Some("Costs, 2031 + Costs, 2030")),
            (
                "subtract(1250, 1000), divide(#0, 1000)",
                Some("(Revenue, 2031 - Revenue, 2030) / Revenue, 2030"),
            ),
            (
                "subtract(1250, 700), subtract(1000, #0)",
                Some("Revenue, 2030 - (Revenue, 2031 - Costs, 2031)"),
            ),
            (
                "add(1250, 1000), divide(#0, const_2)",
                Some("(Revenue, 2031 + Revenue, 2030) / 2"),
            ),
            ("divide(1250, 9)", None),
            ("greater(1250, 1000)", None),
        ] {
            assert_eq!(
                in_names(program, &evidence).as_deref(),
                formula,
                "{program}"
            );
        }
    }
}
