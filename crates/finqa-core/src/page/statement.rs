//! Recognises the titles of primary statements.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;
use crate::regex;
use crate::text::Pattern;

/// A kind of primary statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Balances on one day: the balance sheet.
    Balances,
    /// Flows during a period: income, cash flows, changes in equity.
    Flows,
}

/// The name of a statement in a title: `CONSOLIDATED BALANCE SHEETS`,
/// `statements of cash flows`.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let flows = r"operations|(?:comprehensive\s+|net\s+)?(?:income|loss|earnings)|profit|cash\s+flows?|(?:changes\s+in\s+)?(?:\w+[’']?s?[’']?\s+)?equity";
    regex!(&format!(
        r"(?i)\b(?:(?P<balances>balance\s+sheets?|statements?\s+of\s+(?:consolidated\s+)?(?:financial\s+(?:position|condition)|condition\b))|statements?\s+of\s+(?:consolidated\s+)?(?:{flows})\b|(?:income|cash\s+flow|profit\s+and\s+loss)\s+statements?)"
    ))
});

/// Text in brackets, or after a bracket that is never closed.
static ASIDE: Pattern = pattern!(r"\([^()]*(?:\)|$)|\[[^\[\]]*(?:\]|$)");

/// Words that occur in sentences about a statement but not in the statement's own title.
const MENTIONS: [&str; 40] = [
    "our", "we", "are", "is", "was", "were", "follows", "following", "included", "recorded",
    "presented", "recognized", "reported", "note", "schedule", "components", "effect", "effects",
    "impact", "information", "location", "locations", "classification", "line", "item", "items",
    "supplemental", "on", "from", "by", "within", "about", "data", "amounts", "selected", "parent",
    "condensing", "consolidating", "percentage", "forma",
];

/// Maximum number of words in a title, including company, unit and period. A longer text is a
/// sentence. Set by hand.
const LONGEST: usize = 30;

impl Statement {
    /// The statement that a title names. The company may come before the name, and a unit, a period
    /// or "(unaudited)" after it. `None` if the title only mentions a statement.
    pub fn named(title: &str) -> Option<Self> {
        // Remove words in brackets such as "(See Note 1)", because they do not turn a title into a
        // mention.
        let plain = ASIDE.replace_all(title, " ").to_lowercase();
        let found = NAME.captures(&plain)?;
        let words = || {
            title
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
        };
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
            ("CONSOLIDATED STATEMENTS OF CONDITION", Statement::Balances),
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
            "The gain (loss) recognized on the consolidated statements of operations is below:",
        ] {
            assert_eq!(Statement::named(title), None, "{title}");
        }
    }
}
