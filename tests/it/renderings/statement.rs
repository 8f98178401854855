//! The statement, a note with other figures, and the questions with their answers.

use finqa_agents::pair::Answer;

use super::ways::Way;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In the unit of the table.
    Money,
    PerShare,
    Percent,
}

pub struct Row {
    pub label: &'static str,
    pub kind: Kind,
    /// Of 2033, 2032 and 2031.
    pub values: [f64; 3],
}

pub const YEARS: [u32; 3] = [2033, 2032, 2031];

const fn row(label: &'static str, kind: Kind, values: [f64; 3]) -> Row {
    Row {
        label,
        kind,
        values,
    }
}

use Kind::{Money, PerShare, Percent};

pub const STATEMENT: [Row; 20] = [
    row("Revenue", Money, [8410.5, 7950.2, 7321.9]),
    row("Cost of revenue", Money, [5046.3, 4770.1, 4466.4]),
    row("Gross profit", Money, [3364.2, 3180.1, 2855.5]),
    row("Research and development", Money, [612.4, 590.3, 541.7]),
    row("Selling and marketing", Money, [820.6, 799.5, 775.0]),
    row("General and administrative", Money, [410.1, 388.2, 372.6]),
    row("Restructuring charges", Money, [55.0, 12.5, 140.4]),
    row("Operating income", Money, [1466.1, 1389.6, 1025.8]),
    row("Interest income", Money, [21.4, 18.8, 15.2]),
    row("Interest expense", Money, [140.3, 151.9, 160.6]),
    row("Gain (loss) on investments", Money, [-35.2, 12.9, -88.7]),
    row("Income before taxes", Money, [1312.0, 1269.4, 791.7]),
    row("Income tax expense", Money, [275.5, 253.9, 174.2]),
    row(
        "Income from continuing operations",
        Money,
        [1036.5, 1015.5, 617.5],
    ),
    row(
        "Loss from discontinued operations",
        Money,
        [-1204.7, -41.3, -19.6],
    ),
    row("Net income (loss)", Money, [-168.2, 974.2, 597.9]),
    row("Basic earnings per share", PerShare, [-1.07, 6.16, 3.76]),
    row("Diluted earnings per share", PerShare, [-1.09, 6.08, 3.71]),
    row("Dividends per share", PerShare, [1.20, 1.12, 1.04]),
    row("Effective tax rate", Percent, [21.0, 20.0, 22.0]),
];

/// The same words for parts of the whole.
pub const NOTE: [Row; 3] = [
    row("Revenue", Money, [311.4, 298.7, 276.2]),
    row("Operating income", Money, [47.3, 44.1, 39.8]),
    row("Research and development", Money, [9.6, 8.7, 7.5]),
];

pub const NOTE_TITLE: &str = "Note 9. Results of the Northern segment";

/// The right answer.
pub enum Truth {
    /// A number in the unit of the table, for a row of this kind.
    Number(f64, Kind),
    /// A percentage or ratio.
    Percent(f64),
    Ratio(f64),
    Year(u32),
}

pub struct Question {
    pub text: &'static str,
    pub truth: Truth,
    /// It asks for one printed figure.
    pub is_direct: bool,
}

impl Question {
    pub fn is_answered_by(&self, answer: &Answer, way: &Way) -> bool {
        let near = |truth: f64, tolerance: f64| {
            let value = answer.plain_value();
            value.is_some_and(|value| (value - truth).abs() <= tolerance)
        };
        match self.truth {
            Truth::Number(truth, Money) => {
                let truth = truth * way.unit().factor;
                near(truth, 0.0005 * truth.abs())
            }
            Truth::Number(truth, PerShare) => near(truth, 0.0005),
            Truth::Number(truth, Percent) | Truth::Percent(truth) => near(truth, 0.06),
            Truth::Ratio(truth) => near(truth, 0.006),
            Truth::Year(year) => answer.printed.trim() == year.to_string(),
        }
    }
}

pub fn questions() -> Vec<Question> {
    let direct = |text, value, kind| Question {
        text,
        truth: Truth::Number(value, kind),
        is_direct: true,
    };
    let derived = |text, truth| Question {
        text,
        truth,
        is_direct: false,
    };
    vec![
        direct("What was revenue in 2033?", 8410.5, Money),
        direct("What was revenue in 2031?", 7321.9, Money),
        direct("What was gross profit in 2032?", 3180.1, Money),
        direct("What were restructuring charges in 2033?", 55.0, Money),
        direct("What was research and development in 2032?", 590.3, Money),
        direct("What was operating income in 2031?", 1025.8, Money),
        direct("What was interest expense in 2033?", 140.3, Money),
        direct("What was net income (loss) in 2033?", -168.2, Money),
        direct(
            "What was the gain (loss) on investments in 2031?",
            -88.7,
            Money,
        ),
        direct("What was income tax expense in 2032?", 253.9, Money),
        direct("What was the cost of revenue in 2031?", 4466.4, Money),
        direct(
            "What were basic earnings per share in 2032?",
            6.16,
            PerShare,
        ),
        direct(
            "What were diluted earnings per share in 2033?",
            -1.09,
            PerShare,
        ),
        direct("What were dividends per share in 2031?", 1.04, PerShare),
        direct("What was the effective tax rate in 2032?", 20.0, Percent),
        derived(
            "What was the change in revenue from 2032 to 2033?",
            Truth::Number(460.3, Money),
        ),
        derived(
            "What was the percentage change in operating income from 2031 to 2032?",
            Truth::Percent(35.465),
        ),
        derived(
            "What was the operating margin in 2033?",
            Truth::Percent(17.432),
        ),
        derived(
            "What was the average revenue from 2031 to 2033?",
            Truth::Number(7894.2, Money),
        ),
        derived(
            "Which year had the highest gross profit?",
            Truth::Year(2033),
        ),
        derived(
            "Which year had the lowest net income (loss)?",
            Truth::Year(2033),
        ),
        derived(
            "In which year was interest expense highest?",
            Truth::Year(2031),
        ),
        derived("What was the gross margin in 2032?", Truth::Percent(40.0)),
        derived(
            "What was the ratio of operating income to interest expense in 2033?",
            Truth::Ratio(10.450),
        ),
        derived(
            "What was the change in basic earnings per share from 2031 to 2032?",
            Truth::Number(2.40, PerShare),
        ),
    ]
}
