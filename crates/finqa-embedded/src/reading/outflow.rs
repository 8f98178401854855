//! Recognises rows whose names say that their amounts are paid or lost.

/// True if the name has a word for an outflow and none that leaves the sign open, as in "income
/// (loss)" or "provided by (used in)". A minus sign in such a row only repeats the name; gold
/// programs use the magnitude of about two thirds of all negative numbers.
pub(super) fn names_outflow(name: &str) -> bool {
    let name = name.to_lowercase();
    let names = [
        "loss", "expenditure", "decrease", "charge", "cost", "expense", "liabilit", "debt",
        "payment", "paid", "purchase", "repurchase", "provision", "dividend", "deduct",
        "reduction", "settle", "depreciation", "tax", "interest",
    ];
    // Rows with such a word can be inflows or outflows. The dataset has blanks after brackets.
    let both = [
        "gain", "income", "profit", "earnings", "provided", "increase", "( used", "(used",
    ];
    has_one_of(&name, &names) && !has_one_of(&name, &both)
}

fn has_one_of(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.contains(part))
}

/// True if a row's name says that it is spent or lost, by itself ("loss") or as a line that a
/// statement deducts ("income tax", "depreciation"). Interest income is not a cost.
///
/// Only `tables` uses it. [`names_outflow`] keeps the words with which the weights were trained.
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
        // These rows can have either sign: "Income (loss) before taxes", "Other income (expense)".
        "(loss", "(income", "(gain", "(expense", "(liabilit",
    ];
    let says = |parts: &[&str]| has_one_of(&name, parts);
    // "Income tax (expense) benefit" is a cost although it matches two exceptions above.
    let tax = says(&["tax"]) && says(&["(expense", "(provision"]) && !says(&["before", "(loss"]);
    tax || says(&["loss"]) && !says(&["profit", "income"]) || says(&names) && !says(&received)
}

/// True if a row's name says that it is a credit: "Income tax benefit".
pub(crate) fn names_credit(name: &str) -> bool {
    let credits = ["benefit", "credit", "recover", "refund"];
    has_one_of(&name.to_lowercase(), &credits)
}
