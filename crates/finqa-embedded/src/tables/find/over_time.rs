//! Finds figures of several periods that must not be added up: levels, such as cash at the end of
//! each year, and periods of which one is a part of another.

use finqa_core::page::Statement;
use finqa_core::page::period::{Period, TO_DATE};
use finqa_core::pattern;
use finqa_core::text::Pattern;

use super::fit::FitFigure;
use super::{Amount, places};
use crate::reading::outflow::names_cost;
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, Tables};
use crate::tables::words::lists;

/// Last words of the names of balances. "Cash generated" ends with another word.
const BALANCES: &str = "cash equivalents inventory inventories stock stocks receivable receivables \
    payable payables debtors creditors assets asset liabilities liability equity debt borrowings \
    loans goodwill backlog balance balances reserves overdraft portfolio";

/// Last words of the names of people and things that are there at a time.
const PRESENT: &str = "headcount employees staff workforce fte ftes customers subscribers users \
    members population residents tenants stores shops restaurants hotels outlets branches offices \
    locations";

/// First words of a name that make it a flow: "New customers", "Change in working capital".
const GAINS: &str = "new lost gained churned won additional added acquired opened closed hired \
    departed bad free change changes increase decrease movement issue issuance proceeds";

/// Words before these that do not matter: "Net new subscribers".
const LEADS: &str = "total net gross";

/// Phrases for a level, wherever they are in a name.
static AT_A_TIME: Pattern = pattern!(
    r"\b(?:at|end of)(?: the)?(?: \w+)? (?:year|period|quarter|month)\b|\b(?:year|period|quarter|month)[- ]end\b|\b(?:closing|opening|open|outstanding|on hand|in stock|order book|capital employed|(?:working|share|invested) capital)\b"
);

/// Cash that moves: "Cash from operations", "Net cash (used in) from investing", "Operating cash".
static CASH_FLOW: Pattern = pattern!(
    r"\bcash \(?(?:from|out|to|for|used|provided|generated)\b|\bcash in$|\boperating cash\b"
);

/// Prepositions before which a name ends: "Cash at bank".
const BEFORE: &str = "of on at in for with to by from under";

/// True if the name of a row or a column is that of a level, which has a value at each time and not
/// over a time. `money` is true if the figure has a scale, as money mostly has: "Stores" in a table
/// of sales are the sales of the stores.
fn names_level(name: &str, money: bool) -> bool {
    let lower = name.to_lowercase();
    let plain = lower.split(['(', ',', ':']).next().unwrap_or_default();
    let plain = plain.trim_start_matches("number of ");
    let words = plain.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let head: Vec<&str> = words.take_while(|word| !lists(BEFORE, word)).collect();
    let mut firsts = head.iter().filter(|word| !lists(LEADS, word));
    let first = firsts.next().is_some_and(|word| lists(GAINS, word));
    let is_last = |word: &&str| lists(BALANCES, word) || !money && lists(PRESENT, word);
    let last = head.last().is_some_and(is_last);
    let is_level = AT_A_TIME.is_match(&lower) && !names_cost(&lower);
    (is_level || last) && !first && !CASH_FLOW.is_match(lower.trim())
}

/// The first and the last month of a period, counted from the year 0, which is also that of periods
/// without a year; `None` for a day, and for a period that begins or ends in the course of a month,
/// such as 13 weeks.
fn months(period: Period) -> Option<(u16, u16)> {
    let starts_on_a_day = period.start.is_some_and(|start| start.day.is_some());
    if starts_on_a_day || period.end.day.is_some_and(|day| day < 28) {
        return None;
    }
    let year = period.end.year.unwrap_or_default().saturating_mul(12);
    let months = match period.months {
        None if period.end.day.is_some() => return None,
        // A year to date begins with the year.
        Some(TO_DATE) => return Some((year + 1, year + u16::from(period.last_month()))),
        _ => u16::from(period.length()),
    };
    // "Nine months of 2033" are the first nine.
    let named = period.end.month.is_some() || period.quarter.is_some();
    let last = if named {
        u16::from(period.last_month())
    } else {
        months
    };
    let last = year + last;
    Some(((last + 1).saturating_sub(months), last))
}

/// Two of these periods that share a month but differ.
fn overlapping(periods: impl Iterator<Item = Period>) -> Option<(Period, Period)> {
    let dated = periods.filter_map(|one| Some((months(one)?, one)));
    let mut dated: Vec<((u16, u16), Period)> = dated.collect();
    // The longer of two that begin together comes first, because the reason says that the other
    // one is a part of it.
    dated.sort_by_key(|((first, last), _)| (*first, std::cmp::Reverse(*last)));
    dated.windows(2).find_map(|two| match two {
        [(before, a), (months, b)] if months.0 <= before.1 && a.order() != b.order() => {
            Some((*a, *b))
        }
        _ => None,
    })
}

impl Tables {
    /// The reason why figures have no sum: they are levels of several times, or their periods
    /// overlap.
    pub(super) fn no_sum_over_time(&self, parts: &[Amount]) -> Option<Doubt> {
        let cells = |one: &Amount| places(&one.expr).collect::<Vec<Place>>();
        let computed = parts.iter().filter(|one| one.at.is_none()).map(cells);
        let computed: Vec<Vec<Place>> = computed.collect();
        // "Net debt" of two quarters has the same rows in both.
        if let Some(at) = computed.concat().into_iter().find(|at| self.is_level(*at))
            && computed.len() == parts.len()
        {
            return Some(self.level_doubt(at));
        }
        let line = in_one_line(parts)?;
        let first = line.first()?;
        let differ = line
            .iter()
            .any(|one| one.period.map(Period::order) != first.period.map(Period::order));
        if differ && self.is_level(first.place) {
            return Some(self.level_doubt(first.place));
        }
        self.shares_time(parts)
    }

    fn level_doubt(&self, at: Place) -> Doubt {
        let why = "is a level at a point in time, so its figures are not added up over time";
        Doubt::missing(format!("{} {why}", self.name_of(at)))
    }

    /// The reason why figures of several periods have neither a sum nor an average: two of the
    /// periods overlap. Levels have an average all the same.
    pub(crate) fn shares_time(&self, parts: &[Amount]) -> Option<Doubt> {
        let line = in_one_line(parts)?;
        if line.first().is_some_and(|first| self.is_level(first.place)) {
            return None;
        }
        let (a, b) = overlapping(line.iter().filter_map(|one| one.period))?;
        Some(Doubt::missing(format!(
            "{b} is a part of {a}, or overlaps it"
        )))
    }

    /// True if a figure is a level by its statement, by a label, or by the name of a single table.
    pub(crate) fn is_level(&self, at: Place) -> bool {
        let mut labels = self.labels_of(at);
        let money = self.cell(at).is_some_and(|cell| cell.scale.is_some());
        let statement = self.table(at).and_then(|table| table.statement);
        statement == Some(Statement::Balances)
            || labels.any(|label| names_level(&label.name, money))
            || self.names.iter().any(|name| names_level(name, money))
    }
}

/// The figures, if each is in the row or in the column of the first. Amounts that are computed are
/// left out.
fn in_one_line(parts: &[Amount]) -> Option<Vec<&FitFigure>> {
    let line: Vec<&FitFigure> = parts.iter().filter_map(|part| part.at.as_ref()).collect();
    let first = line.first()?.place;
    let with_first = |one: &&FitFigure| one.place.is_in_line(first);
    line.iter().all(with_first).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_told_from_what_flows() {
        for name in [
            "Cash", "Cash and cash equivalents", "Cash at bank", "Inventories, net", "Headcount",
            "Number of employees at year end", "Trade receivables", "Total assets", "Net debt",
            "Customers", "Employees (FTE)", "Order backlog", "Cash balance", "Shares outstanding",
            "Closing balance", "Loans to customers", "Working capital", "Order book",
            "Operating assets", "Total customers",
        ] {
            assert!(names_level(name, false), "{name}");
        }
        for name in [
            "Sales",
            "New customers",
            "Cash generated",
            "Change in inventory",
            "Employee costs",
            "Cash from operating activities",
            "Cash flow",
            "Bad debt",
            "Interest on loans",
            "Closing costs",
            "Employees hired",
            "Return on equity",
            "Visitors",
            "Order intake",
            "Stock-based compensation",
            "Staff turnover",
            "Cash in",
            "Cash sales",
            "Change in working capital",
            "Net cash (used in) from investing activities",
            "Net new subscribers",
            "Churned customers",
            "Operating cash",
            "Free cash",
        ] {
            assert!(!names_level(name, false), "{name}");
        }
    }

    #[test]
    fn a_channel_of_sales_is_no_level() {
        assert!(!names_level("Stores", true) && names_level("Stores", false));
    }

    #[test]
    fn periods_that_share_a_month_overlap() {
        let period = |text: &str| finqa_core::page::period::Times::heading(text).0.unwrap();
        for (a, b, shared) in [
            ("Q1 2033", "FY 2033", true),
            ("Q1", "Full year", true),
            ("Q1", "Q2", false),
            ("Q1 2033", "Q2 2033", false),
            ("Q2 2033", "H1 2033", true),
            ("Q3 2033", "H1 2033", false),
            ("Q1 2033", "9M 2033", true),
            ("Q4 2033", "9M 2033", false),
            ("Q1 2033", "YTD 2033", true),
            ("Mar 2033", "Q1 2033", true),
            ("Apr 2033", "Q1 2033", false),
            ("2032", "2033", false),
            ("Q4 2032", "2033", false),
            ("H2 2033", "2033", true),
            (
                "13 weeks ended August 1, 2020", "13 weeks ended October 31, 2020", false,
            ),
        ] {
            let found = overlapping([period(a), period(b)].into_iter());
            assert_eq!(found.is_some(), shared, "{a} {b}");
        }
    }
}
