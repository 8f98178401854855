//! Rows whose names say that their amounts are paid or lost.

use super::facts::{Fact, Facts};

/// Whether the row's name says that it is an outflow: its minus sign only repeats it.
pub(crate) fn is_outflow(facts: &Facts, fact: &Fact) -> bool {
    let Some((row, _)) = fact.cell() else {
        return false;
    };
    let row = facts.rows.get(row);
    row.is_some_and(|row| *row.outflow.get_or_init(|| names_outflow(&row.name)))
}

fn names_outflow(name: &str) -> bool {
    let name = name.to_lowercase();
    let names = [
        "loss", "expenditure", "decrease", "charge", "cost", "expense", "liabilit", "debt",
        "payment", "paid", "purchase", "repurchase", "provision", "dividend", "deduct",
        "reduction", "settle", "depreciation", "tax", "interest",
    ];
    let both = [
        "gain", "income", "profit", "earnings", "provided", "increase", "( used", "(used",
    ];
    names.iter().any(|n| name.contains(n)) && !both.iter().any(|n| name.contains(n))
}

/// Whether a row's name says that it is spent or lost, by itself or as a line of a statement
/// that deducts it. Income from interest is not.
pub(crate) fn names_cost(name: &str) -> bool {
    let names = [
        "capex", "opex", "cogs", "sg&a", "r&d", "administrati", "amortisation", "amortization",
        "cost", "depreciation", "distribution", "dividend", "expen", "fee", "interest",
        "investment in", "marketing", "overhead", "paid", "payment", "purchase", "repayment",
        "research", "salar", "selling", "spending", "tax", "wage",
    ];
    let name = name.to_lowercase();
    let received = [
        "income before", "interest income", "net interest", "net debt", "benefit", "cash flow",
        "result",
        // Of either sign: "Income (loss) before taxes", "Other income (expense)".
        "(loss", "(income", "(gain", "(expense", "(liabilit",
    ];
    let says = |texts: &[&str]| texts.iter().any(|text| name.contains(text));
    // "Income tax (expense) benefit" is an expense where it is below zero.
    let tax = says(&["tax"]) && says(&["(expense", "(provision"]) && !says(&["before", "(loss"]);
    tax || says(&["loss"]) && !says(&["profit", "income"]) || says(&names) && !says(&received)
}
