//! Which titles are the names of primary statements.

use std::sync::LazyLock;

use regex::Regex;

use crate::regex;

/// A primary statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Of balances at a day.
    Balances,
    /// Of a period: income, cash flows, changes in equity.
    Flows,
}

/// The name in a title: `CONSOLIDATED BALANCE SHEETS`, `statements of cash flows`.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let flows = r"operations|(?:comprehensive\s+|net\s+)?(?:income|loss|earnings)|profit|cash\s+flows?|(?:changes\s+in\s+)?(?:\w+[’']?s?[’']?\s+)?equity";
    regex!(&format!(
        r"(?i)\b(?:(?P<balances>balance\s+sheets?|statements?\s+of\s+(?:consolidated\s+)?financial\s+(?:position|condition))|statements?\s+of\s+(?:consolidated\s+)?(?:{flows})\b|(?:income|cash\s+flow|profit\s+and\s+loss)\s+statements?)"
    ))
});

/// Words of a title that only mentions a statement.
const MENTIONS: [&str; 40] = [
    "our", "we", "are", "is", "was", "were", "follows", "following", "included", "recorded",
    "presented", "recognized", "reported", "note", "schedule", "components", "effect", "effects",
    "impact", "information", "location", "locations", "classification", "line", "item", "items",
    "supplemental", "on", "from", "by", "within", "about", "data", "amounts", "selected", "parent",
    "condensing", "consolidating", "percentage", "forma",
];

/// The longest name, with that of the company, its unit and its period.
const LONGEST: usize = 30;

impl Statement {
    /// The statement whose name a title is; the name may have the company before it, and a unit,
    /// a period or "(unaudited)" behind it.
    pub fn named(title: &str) -> Option<Self> {
        let found = NAME.captures(title)?;
        let words = || {
            title
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
        };
        // "(See Note 1)" mentions nothing.
        let plain = title.split(['(', '[']).next().unwrap_or_default();
        let plain = plain.to_lowercase();
        let mut named = plain.split(|c: char| !c.is_alphanumeric());
        let mentions = named.any(|word| MENTIONS.contains(&word));
        (!mentions && words().count() <= LONGEST).then_some(match found.name("balances") {
            Some(_) => Self::Balances,
            None => Self::Flows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_a_statement_only_if_it_is_its_name() {
        for (title, statement) in [
            ("CONSOLIDATED BALANCE SHEETS", Statement::Balances),
            ("Statement of financial position", Statement::Balances),
            (
                "Acme & Sons and subsidiaries consolidated statements of earnings (Dollars in Millions) (Note 1)",
                Statement::Flows,
            ),
            (
                "Consolidated Statements of Cash Flows (unaudited)",
                Statement::Flows,
            ),
            ("Consolidated income statement", Statement::Flows),
            (
                "Condensed Consolidated Statements of Operations for the three months ended June 30, 2031",
                Statement::Flows,
            ),
            ("STATEMENTS OF STOCKHOLDERS’ EQUITY", Statement::Flows),
            ("STATEMENT OF CHANGES IN EQUITY", Statement::Flows),
        ] {
            assert_eq!(Statement::named(title), Some(statement), "{title}");
        }
        for title in [
            "What is held for sale in our consolidated balance sheets was (in millions):",
            "Investments on the consolidated balance sheets consisted of the following at December 31:",
            "Supplemental balance sheet information",
            "Consolidated Statement of Earnings Classification (1)",
            "Supplemental cash flow statement data",
            "Income taxes",
            "Note 3: Statement of cash flows",
        ] {
            assert_eq!(Statement::named(title), None, "{title}");
        }
    }
}
