//! Replaces phrases for periods in a question about a single table by the periods that they mean:
//! "the month before", "both years", "over the three years".

use finqa_core::page::period::{Period, Times};
use finqa_core::pattern;
use finqa_core::text::Pattern;

use super::operand::Operand;
use super::request::{Asked, Operation};
use crate::tables::find::periods::month_number;
use crate::tables::page::Tables;

/// A comparison with the period directly before the one that the question names.
static BEFORE: Pattern = pattern!(concat!(
    r"(?i)\b(?P<joins>than|from|over|on|against|versus|vs\.?|compared? (?:to|with)) (?:in )?the ",
    r"(?:(?P<a>month|quarter) before|(?:previous|prior|preceding) (?P<b>month|quarter))\b"
));

/// All periods of the table, with their number.
static ALL: Pattern = pattern!(concat!(
    r"(?i)\b(?P<both>(?:in |for |at the end of )?both)(?: of the)? (?P<a>year|quarter|month)s\b",
    r"|\b(?:over|across|for|in|during) (?:all )?(?:of )?(?:the|these|those|all) ",
    r"(?P<count>two|three|four|five|six|twelve|\d+) (?P<b>year|quarter|month)s\b"
));

/// The whole year, in a table that has its parts too.
static FOR_YEAR: Pattern = pattern!(r"(?i)\b(?:for|over|in|during) the (?:whole |full )?year\b");

impl Tables {
    /// Asks for the months of a quarter or half that the table has only by month: for their sum or
    /// their average. A change in a quarter may be from its first month or from the quarter before.
    pub(crate) fn in_months(&self, asked: Asked) -> Asked {
        let adds = [Operation::Figure, Operation::Sum, Operation::Average];
        let of = asked.only().filter(|_| adds.contains(&asked.operation));
        let months = of.and_then(|of| match of.spans.as_slice() {
            [part] => self.months_of(*part),
            _ => None,
        });
        let (Some(of), Some(months)) = (of, months) else {
            return asked;
        };
        let through = Operand {
            through: true,
            ..of.of_spans(months.to_vec())
        };
        let operation = match asked.operation {
            Operation::Average => Operation::Average,
            _ => Operation::Sum,
        };
        Asked {
            operation,
            operands: vec![through],
            ..asked
        }
    }

    /// The first and the last month of a quarter or half. `None` unless the table has each month
    /// from January on once, and no period of that length.
    fn months_of(&self, part: Period) -> Option<[Period; 2]> {
        let (length, number) = (part.length(), part.quarter?);
        let of_year = |one: &Period| part.end.year.is_none() || one.end.year == part.end.year;
        let all = self.periods_of(0).into_iter().filter(of_year);
        let (months, longer): (Vec<Period>, Vec<Period>) = all.partition(|one| one.length() == 1);
        let unclear = longer.iter().any(|one| one.length() == length)
            // The fiscal year of a table that begins with another month is not known.
            || (1..).zip(&months).any(|(at, one)| one.last_month() != at);
        let from = usize::from(length * (number - 1));
        let all = months.get(from..from + usize::from(length))?;
        let ends = all.first().copied().zip(all.last().copied());
        ends.filter(|_| !unclear).map(<[Period; 2]>::from)
    }
}

/// The number of months of a unit of time.
fn months(unit: &str) -> u8 {
    match unit.to_lowercase().as_str() {
        "year" => 12,
        "quarter" => 3,
        _ => 1,
    }
}

/// "Both years", if it was not replaced.
pub(crate) static BOTH: Pattern = pattern!(r"(?i)\bboth(?: of the)? (?:year|quarter|month)s\b");

/// The question with such phrases replaced, if the table has the periods that they mean.
pub(crate) fn with_periods(tables: &Tables, question: &str) -> String {
    let before = with_period_before(tables, question);
    before
        .or_else(|| with_all(tables, question))
        .or_else(|| with_year(tables, question))
        .unwrap_or_else(|| question.to_owned())
}

/// "Than the month before" as "than in May". `None` unless the question names one such period, and
/// the table has the one directly before it.
fn with_period_before(tables: &Tables, question: &str) -> Option<String> {
    let found = BEFORE.captures(question)?;
    let length = months(found.name("a").or(found.name("b"))?.as_str());
    let rest = BEFORE.replace(question, " ").to_lowercase();
    let [named] = Times::read(&rest).periods().collect::<Vec<Period>>()[..] else {
        return None;
    };
    let all = tables.periods_of(0);
    let at = all
        .iter()
        .position(|one| tables.fits(Some(*one), Some(named)))?;
    let before = all
        .get(..at)?
        .iter()
        .rev()
        .find(|one| one.length() == length)?;
    let adjacent = month_number(before) + u16::from(length) == month_number(all.get(at)?);
    (named.length() == length && adjacent).then(|| {
        let joins = found["joins"]
            .to_lowercase()
            .replace("compare ", "compared ");
        BEFORE
            .replace(question, format!("{joins} in {before}"))
            .into_owned()
    })
}

/// "In both years" as "in each of the last two years", and "over the three years" as "from 2029 to
/// 2031". `None` if the table has another number of such periods.
fn with_all(tables: &Tables, question: &str) -> Option<String> {
    let found = ALL.captures(question)?;
    let length = months(found.name("a").or(found.name("b"))?.as_str());
    let numbers = ["one", "two", "three", "four", "five", "six"];
    let count = found.name("count").map_or(Some(2), |count| {
        let spelled = numbers.iter().position(|number| *number == count.as_str());
        spelled
            .map(|at| at + 1)
            .or_else(|| count.as_str().parse().ok())
    });
    let mut all = tables.periods_of(0);
    all.retain(|one| one.length() == length);
    let (first, last) = (all.first()?, all.last()?);
    let plain = match found.name("both") {
        Some(_) => format!("in each of the last two {}s", &found["a"]),
        None => format!("from {first} to {last}"),
    };
    let alone = Times::read(&ALL.replace(question, " ").to_lowercase())
        .found
        .is_empty();
    (count == Some(all.len()) && alone).then(|| ALL.replace(question, plain).into_owned())
}

/// "For the year" as "in 2031", if the table has one whole year and parts of it, and the question
/// names no other period and no label has these words.
fn with_year(tables: &Tables, question: &str) -> Option<String> {
    let found = FOR_YEAR.find(question)?.as_str().to_lowercase();
    let mut labels = tables.label_names();
    let lower = question.to_lowercase();
    let said = labels.any(|label| {
        let label = label.to_lowercase();
        label.contains(&found) && lower.contains(&label)
    });
    let all = tables.periods_of(0);
    let mut whole = all.iter().filter(|one| one.length() == 12);
    let (year, more) = (whole.next()?, whole.next());
    let rest = FOR_YEAR.replace(question, " ").to_lowercase();
    let alone = Times::read(&rest).found.is_empty() && !said && more.is_none() && all.len() > 1;
    alone.then(|| {
        FOR_YEAR
            .replace(question, format!("in {year}"))
            .into_owned()
    })
}
