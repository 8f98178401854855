//! Recognises rows to which the scale of the caption does not apply.

use crate::pattern;
use crate::text::Pattern;

/// Words that mark a name as a rate, a ratio or an amount per share, anywhere in the name.
const WORDS: [&str; 15] = [
    "eps", "dps", "per", "ratio", "ratios", "percent", "percentage", "%", "yield", "multiple",
    "score", "leverage", "roe", "roce", "bps",
];

/// Words that mark a name only as its last word or directly before one of `AFTER`. An interest rate
/// swap is money, and so is tax at the statutory rate.
const HEADS: [&str; 6] = ["rate", "rates", "price", "prices", "coverage", "nps"];
const AFTER: [&str; 11] = [
    "of", "on", "for", "at", "in", "to", "by", "from", "with", "paid", "received",
];

/// Words for quantities whose weighted average is not money.
const AVERAGED: [&str; 8] = [
    "fair value", "price", "maturity", "term", "life", "discount", "volatility", "yield",
];

/// An amount for each of several things: "Common stock, $1.00 par value per share".
static OF_EACH: Pattern = pattern!(r"[$€£¥]\s*[\d.,]+(?:\s+par value)?\s+(?:per|a|each)\s+\w+");

/// Words that mark a name only inside its brackets.
const ASIDE: [&str; 5] = ["years", "days", "months", "times", "x"];

/// Phrases that mark a name anywhere in it.
const PHRASES: [&str; 3] = ["return on ", " to ebitda", "/ebitda"];

/// Things that no table counts in thousands.
const THINGS: [&str; 12] = [
    "employees", "headcount", "staff", "stores", "shops", "restaurants", "hotels", "outlets",
    "customers", "locations", "branches", "offices",
];

/// Further things, which tables may count in thousands or millions.
const COUNTED: [&str; 12] = [
    "wells", "rigs", "households", "students", "patients", "visitors", "workers", "franchisees",
    "units", "quantity", "qty", "pieces",
];

/// Words for people who are counted even if other words come first: "Monthly active users".
const PEOPLE: [&str; 4] = ["users", "subscribers", "fte", "ftes"];

/// Words that are left out before a name is compared with the lists above, mostly for what happens
/// to things that are counted: "Total wells drilled" is read as "wells".
const DONE: [&str; 17] = [
    "opened", "closed", "drilled", "completed", "served", "added", "lost", "acquired", "employed",
    "hired", "operated", "total", "sold", "shipped", "ordered", "produced", "delivered",
];

/// True if the name of a row, a column or a heading says that its figures are not money but amounts
/// per share, ratios, rates, prices, days, scores, percentages or times in years.
pub fn has_no_scale(name: &str) -> bool {
    let lower = without_figures(&name.to_lowercase());
    // Cut the name at these words. "Shares used in computing earnings per share" counts shares, and
    // a unit such as "in millions, except per share data" is not about amounts per share.
    let used = ["excluded from", "used in", "used to", "used for", "except"];
    let used = used.iter().filter_map(|words| lower.find(words)).min();
    let lower = used.and_then(|at| lower.get(..at)).unwrap_or(&lower);
    let (plain, inside) = lower.split_once('(').unwrap_or((lower, ""));
    let between = |c: char| !c.is_alphanumeric() && c != '%';
    let words = |text| str::split(text, between).filter(|word| !word.is_empty());
    let head = words(plain).skip_while(|word| AFTER.contains(word));
    let head = head.take_while(|word| !AFTER.contains(word)).last();
    let average = lower.contains("weighted") && AVERAGED.iter().any(|of| lower.contains(of));
    // Only the end of the name counts, because debt that is due "in 2 to 5 years" is money.
    let time = ["in years", "in months", "in days"];
    // A total is money even if its last word is one of `HEADS`: "Total sale price". "Days sales
    // outstanding" is a number of days.
    words(lower).any(|word| WORDS.contains(&word))
        || head.is_some_and(|word| HEADS.contains(&word)) && !lower.starts_with("total ")
        || average
        || lower.starts_with("days ")
        || time.iter().any(|end| plain.trim_end().ends_with(end))
        || words(inside).any(|word| ASIDE.contains(&word))
        || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// True if a row's label says that its figures are percentages: "Gross margin (%)".
pub(super) fn is_in_percent(label: &str) -> bool {
    let label = label.trim();
    label.ends_with("(%)")
        || label.ends_with(" %")
        || label.to_lowercase().ends_with("(in percent)")
}

/// The label without brackets that contain figures. "Dividends ($0.16 per share)" is money.
fn without_figures(label: &str) -> String {
    let parts = label
        .split_inclusive(')')
        .map(|part| match part.split_once('(') {
            Some((before, inside)) if inside.contains(|c: char| c.is_ascii_digit()) => before,
            _ => part,
        });
    OF_EACH
        .replace_all(&parts.collect::<String>(), "")
        .into_owned()
}

/// True if the name of a row or column means things that no table counts in thousands: "Number of
/// employees", "Stores".
pub fn counts_things(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let bare = ["number of ", "total ", "full-time "];
    let name = bare
        .iter()
        .fold(&*name, |name, start| name.trim_start_matches(start));
    let name = name.split(" at ").next().unwrap_or_default();
    THINGS.contains(&name)
}

/// True if the name of a row or column means a number of people or things: "Monthly active users",
/// "Wells drilled", "Customers (end of period)". A caption may state a scale for them ("in
/// thousands"), but not a currency. False for "Deposits from customers" and "Licensed stores",
/// which may be money.
pub fn is_count(name: &str) -> bool {
    let lower = name.to_lowercase();
    let plain = lower.split(['(', ',', ':']).next().unwrap_or_default();
    let words = plain.split(|c: char| !c.is_alphanumeric() && c != '-');
    let words = words.filter(|word| !word.is_empty());
    let head: Vec<&str> = words
        .take_while(|word| !AFTER.contains(word))
        .filter(|word| !DONE.contains(word))
        .collect();
    let alone = |word: &str| THINGS.contains(&word) || COUNTED.contains(&word);
    counts_things(name)
        || matches!(head.as_slice(), [only] if alone(only))
        || head.last().is_some_and(|word| PEOPLE.contains(word))
}

/// True if a text contains at least one of these words.
pub(super) fn says(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// True if a lower-case name means a number of shares.
pub(super) fn counts_shares(name: &str) -> bool {
    says(name, &["shares", "units", "awards"]) && says(name, &SHARE_COUNTS)
}

/// Words that, together with "shares" or "units", mark a count of shares.
const SHARE_COUNTS: [&str; 6] = [
    "weighted", "outstanding", "used in", "used to", "number of", "dilutive",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_things_are_no_money() {
        for name in [
            "Monthly active users", "Wells drilled", "Subscribers (thousands)",
            "Customers (end of period)", "Headcount (FTE)", "Stores opened",
            "Stores at end of year", "Number of employees",
        ] {
            assert!(is_count(name), "{name}");
        }
        for name in [
            "Deposits from customers", "Customer deposits", "Stores and spares", "Licensed stores",
            "Exploratory wells", "Salaries of employees", "Revenue", "Wells and equipment",
        ] {
            assert!(!is_count(name), "{name}");
        }
    }

    #[test]
    fn rows_that_are_not_money_have_no_scale() {
        for name in [
            "Diluted EPS",
            "DPS",
            "Adjusted diluted EPS ($)",
            "Earnings per share",
            "Effective tax rate",
            "Debt to EBITDA",
            "Net debt / EBITDA ratio",
            "Days sales outstanding",
            "Return on equity",
            "CET1 ratio",
            "Operating margin (%)",
            "Average share price",
            "Weighted-average remaining term (in years)",
            "Dividend yield",
            "Interest coverage",
            "Net promoter score",
            "Income from continuing operations per share",
            "Weighted average grant-date fair value of options granted",
            "Average price of units sold",
        ] {
            assert!(has_no_scale(name), "{name}");
        }
        for name in [
            "Effect of exchange rate changes on cash",
            "Interest rate swaps",
            "Interest rate contracts",
            "Price increases",
            "Gross margin",
            "Dividends ($0.16 per share)",
            "Personnel expenses",
            "Operating income",
            "Years of service awards",
            "Interest income",
            "Perishables",
            "Tax at the federal statutory rate",
            "Effect of exchange rates",
            "Total sale price",
            "Common stock, par value $1.00 per share",
            "Preferred stock, $.01 par value per share",
            "Awards excluded from diluted net income per share",
            "December 31, 2031 (in millions, except per share data)",
        ] {
            assert!(!has_no_scale(name), "{name}");
        }
    }
}
