//! Finds the words of a question that make its answer doubtful, whichever figure answers it.

use finqa_core::pattern;
use finqa_core::text::Pattern;

use super::direct_answer::DirectAnswer;
use crate::reading::outflow::names_cost;
use crate::reading::text::stem;
use crate::tables::find::{FigureExpr, places};
use crate::tables::page::table::{Place, ReportTable};
use crate::tables::page::{Doubt, Tables};
use crate::tables::question::marks::{RELATIVE_TIME, YEAR_AGO};
use crate::tables::question::plain::JUDGES;
use crate::tables::question::plain_periods::{BOTH, with_periods};
use crate::tables::question::request::{Asked, Operation};
use crate::tables::words::{Stems, has_one_of, is_light, lists};

/// A comparison with the year before that people usually expect in percent.
static YEAR_ON_YEAR: Pattern = pattern!(r"\b(?:year[- ](?:over|on)[- ]year|yoy|y[-/]o?-?y)\b");

/// A comparison with the quarter or month directly before: "quarter over quarter".
static SEQUENTIAL: Pattern = pattern!(
    r"\b(?:(?:quarter|month|week)[- ](?:over|on|by|to)[- ](?:quarter|month|week)|qoq|q/q|mom|m/m|sequential(?:ly)?)\b"
);

/// What a yes/no question asks in addition: "up over 10 %?", "and by how much?".
static BEYOND_YES: Pattern = pattern!(r"\b(?:\d[\d,.]*\s*(?:%|percent\b)|how much\b)");

/// What the page cannot say: "how much rent could I get", "could rent be higher".
static SUPPOSED: Pattern = pattern!(
    r"(?:\b(?P<asks>how|what|which|who)\b.*)?\b(?P<modal>could|should|would|might|can|will|about) (?P<who>\w+)"
);

/// A second question in the same line: "what were sales? By how much did they grow?"
static SECOND: Pattern = pattern!(
    r"[?;]\s+(?:(?:and|but|so)\s+)?(?:by|how|what|which|who|when|did|does|was|were|is|are)\b"
);

/// Two totals in one question: "total debt and total equity".
static TWO_TOTALS: Pattern = pattern!(r"\btotal\b.* and (?:the )?total\b");

/// Words for the group in a question.
static GROUP: Pattern = pattern!(r"(?i)(?:^|[^-\w])(?P<word>consolidated|group)\b");

/// Words of a title for the figures of a company without its subsidiaries.
static ALONE: Pattern = pattern!(
    r"(?i)\b(?P<word>stand[- ]?alone|unconsolidated|non-consolidated|separate (?:(?:annual|interim|quarterly|audited|unaudited|financial|income) )*(?:statements?|results|accounts))\b"
);

/// The word of a title for the figures of the group.
static CONSOLIDATED: Pattern = pattern!(r"(?i)(?:^|[^-\w])consolidated\b");

/// Words for what a company is about to sell. Neither "held" nor "sale" is enough alone, because a
/// label need not have "held", and many labels have "sale".
static HELD_FOR_SALE: Pattern = pattern!(r"(?i)\bheld[- ]for[- ]sale\b");

/// Words of labels of which the highest figure is the best, if a label has no others.
static GOOD: Stems = Stems::new(
    "sales revenue turnover income profit earnings ebit ebitda margin gross operating orders \
    output umsatz gewinn ergebnis",
);

/// Words by which a question asks for the change as an amount and not in percent. "illion" is the
/// end of "million" and "billion".
const OF_AMOUNTS: [&str; 7] = [
    "by how much", "amount", "dollar", "euro", "illion", "thousand", "point",
];

/// Names of plans. A household's "budget" can be what was spent.
const PLANS: [&str; 3] = ["target", "plan", "forecast"];

/// Words in the names of tables that count or measure something other than people.
const NOT_PEOPLE: &str = "days hours orders tickets cost costs sales wages pay revenue";

/// Verbs for what moves a level.
const MOVING: &str = "pay paid spend spent use used using take took bring brought put came";

impl Tables {
    /// Adds the doubts that the words of a question raise. Most replace a doubt about the figures,
    /// because they say what else the question can mean.
    pub(crate) fn doubt_wording(&self, asked: &Asked, text: &str, answer: &mut DirectAnswer) {
        let lower = text.to_lowercase();
        // An answer has one doubt, so of several only the first is kept.
        let asks_other = (self.other_scope(text, answer))
            .or_else(|| self.not_held_for_sale(text, answer))
            .or_else(|| sequential(asked, &lower))
            .or_else(|| (SECOND.is_match(&lower)).then(|| "these are two questions".to_owned()))
            .or_else(|| beyond_yes(asked, &lower))
            .or_else(|| supposed(&lower, self.is_single_table()))
            .or_else(|| self.moves_level(asked, &lower, answer))
            .or_else(|| self.is_named_otherwise(&lower))
            .or_else(|| self.two_totals(asked, &lower, answer))
            .or_else(|| self.judged(text, answer))
            .or_else(|| equals_limit(asked, &lower, answer))
            .or_else(|| self.relative_time(&lower, &answer.expr))
            .or_else(|| self.more_than_both(asked, &lower, answer));
        let doubt = asks_other.map(Doubt::Missing).or(answer.doubt.take());
        answer.doubt = doubt.or_else(|| {
            let days = self.lists_days(asked, &answer.expr);
            days.or_else(|| in_percent(asked, &lower))
                .map(Doubt::Missing)
        });
    }

    /// The doubt about the highest figure of a single table as the best one: high costs are bad,
    /// and of many other figures it is not known.
    fn judged(&self, text: &str, answer: &DirectAnswer) -> Option<String> {
        let said = JUDGES.captures(text).filter(|_| self.is_single_table())?;
        let word = said.get(0)?.as_str();
        if self.says(&stem(&word.to_lowercase())) {
            return None;
        }
        let is_good = |at| {
            let mut labels = self.labels_of(at).filter(|label| !label.words.is_empty());
            let good = |word: &String| is_light(word) || GOOD.contains(word);
            labels.any(|label| !label.total && label.words.iter().all(good))
        };
        let costs = |at| {
            let title = self.table(at).is_some_and(|table| {
                let title: Vec<&str> = table.title.iter().map(String::as_str).collect();
                names_cost(&title.join(" "))
            });
            title || self.labels_of(at).any(|label| names_cost(&label.name))
        };
        let unclear = match said.name("either") {
            Some(_) => !answer.places().all(is_good),
            None => answer.places().any(costs),
        };
        unclear.then(|| format!("{word:?} may be the highest or the lowest"))
    }

    /// The doubt about a figure of a single table whose name says that it is a plan, or that it does
    /// not count people.
    fn is_named_otherwise(&self, lower: &str) -> Option<String> {
        let named_in = |list: &str| {
            self.names
                .iter()
                .any(|name| has_one_of(list, &name.to_lowercase()))
        };
        if has_one_of("people persons", lower) && named_in(NOT_PEOPLE) && !self.says("people") {
            return Some("the name of the table says something other than people".to_owned());
        }
        let plan = PLANS.iter().find(|plan| named_in(plan))?;
        let said = lower.contains(plan) || self.says("actual") || self.says(&stem(plan));
        (!said).then(|| format!("the name of the table says {plan:?}"))
    }

    /// The doubt about a sum or a total of more than two figures as that of "both".
    fn more_than_both(&self, asked: &Asked, lower: &str, answer: &DirectAnswer) -> Option<String> {
        let adds = matches!(asked.operation, Operation::Figure | Operation::Sum);
        let both = adds && answer.values.is_empty() && has_one_of("both", lower);
        let table = self.table(answer.places().next()?)?;
        let parts = |at: Place| match (self.row(at)?.label.total, self.column(at)?.label.total) {
            (true, _) => Some(table.body().filter(|(_, row)| !row.label.total).count()),
            (_, true) => {
                let columns = table.figure_columns();
                Some(columns.filter(|(_, one)| !one.label.total).count())
            }
            _ => None,
        };
        let total = answer.places().next().and_then(parts);
        let count = total.unwrap_or_else(|| answer.places().count());
        let more = both && table.single && count > 2;
        more.then(|| format!("\"both\" does not fit {count} figures"))
    }

    /// The doubt about a level, such as a debt, as what was paid or used.
    fn moves_level(&self, asked: &Asked, lower: &str, answer: &DirectAnswer) -> Option<String> {
        let asks = matches!(asked.operation, Operation::Exists | Operation::Figure);
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        let moves = words.find(|word| lists(MOVING, word)).filter(|_| asks)?;
        let said = |at| self.labels_of(at).any(|label| label.says(&stem(moves)));
        let level = answer.places().any(|at| self.is_level(at) && !said(at));
        level.then(|| format!("the figure is a level, and {moves:?} asks for more"))
    }

    /// The doubt about one row as the answer for two totals: "total liabilities and total equity".
    fn two_totals(&self, asked: &Asked, lower: &str, answer: &DirectAnswer) -> Option<String> {
        let one = asked.operation == Operation::Figure && answer.values.is_empty();
        let has_both = |at| {
            let row = self.row(at).map(|row| row.printed.to_lowercase());
            row.is_some_and(|name| name.matches("total").count() > 1)
        };
        let may_be_two = one && TWO_TOTALS.is_match(lower) && !answer.places().any(has_both);
        may_be_two.then(|| "the question may ask for two figures, or for their sum".to_owned())
    }

    /// The doubt about a relative time, and `None` if the question has none. In an annual report,
    /// "last year" is the latest year. Other relative times are doubtful, because a report does not
    /// say when the question is asked.
    fn relative_time(&self, lower: &str, expr: &FigureExpr) -> Option<String> {
        // "Versus the prior year" is the year before the figure's own.
        let lower = YEAR_AGO.replace_all(lower, " ");
        let mut lower = lower.into_owned();
        if self.is_single_table() {
            lower = with_periods(self, &lower);
        }
        let both = BOTH.find(&lower).filter(|_| self.is_single_table());
        let time = both.or_else(|| RELATIVE_TIME.find(&lower))?.as_str();
        if time.starts_with("last") && time.ends_with("year") && self.is_annual() {
            return None;
        }
        let columns = self.table(places(expr).next()?)?.columns.iter().skip(1);
        let heads: Vec<&str> = columns.map(|one| one.printed.as_str()).collect();
        Some(format!("{time:?} may be any of {}", heads.join("; ")))
    }

    /// The reason for doubt if the question asks for what is held for sale, but no label, heading
    /// or title of a figure says so.
    fn not_held_for_sale(&self, question: &str, answer: &DirectAnswer) -> Option<String> {
        let said = HELD_FOR_SALE.find(question)?.as_str();
        let other = answer.places().find_map(|at| {
            let (table, row) = (self.table(at)?, self.row(at)?);
            let name = self.full_name(at);
            let texts = [name.as_str(), &row.section_text, &table.above];
            let is_other = !texts.iter().any(|text| HELD_FOR_SALE.is_match(text));
            is_other.then_some(name)
        })?;
        Some(format!("the question says {said:?}, {other} does not"))
    }

    /// The reason for doubt if the question asks for the group, but a figure is under a title such
    /// as "Standalone results".
    fn other_scope(&self, question: &str, answer: &DirectAnswer) -> Option<String> {
        let said = GROUP.captures(question)?.name("word")?.as_str();
        let scope = answer.places().find_map(|at| {
            let (table, row, column) = (self.table(at)?, self.row(at)?, self.column(at)?);
            // The nearest text with either word decides. A text with both words decides nothing.
            let mut texts = [
                &*column.printed, &row.section_text, &table.above, &self.head,
            ]
            .into_iter();
            let (alone, group) = texts.find_map(|text| {
                let found = (ALONE.captures(text), CONSOLIDATED.is_match(text));
                (found.0.is_some() || found.1).then_some(found)
            })?;
            let word = alone.filter(|_| !group)?;
            Some(word.name("word")?.as_str().to_lowercase())
        })?;
        Some(format!(
            "the question says {said:?}, the figures are {scope}"
        ))
    }

    /// The reason for doubt if the question names a month or a year and the table lists days: no
    /// row covers the whole time, and the table may lack days.
    fn lists_days(&self, asked: &Asked, expr: &FigureExpr) -> Option<String> {
        let mut spans = asked.operands.iter().flat_map(|of| &of.spans);
        let longer = *spans.find(|span| span.end.day.is_none() && span.start.is_none())?;
        let of_days = |table: &ReportTable| {
            let days = table.rows.iter().filter_map(|row| row.label.period);
            let days = days.filter(|day| day.months.is_none() && day.end.day.is_some());
            let days: Vec<_> = days.map(|day| (day.end.year, day.end.month)).collect();
            // The ends of months are days too, but no two of them are in one month.
            days.windows(2)
                .any(|two| matches!(two, [one, next] if one == next))
        };
        let mut tables = places(expr).filter_map(|place| self.table(place));
        let why = || format!("the table is of days, several may be in {longer}");
        tables.any(of_days).then(why)
    }
}

/// The doubt about a comparison with the period directly before, if the question names no periods.
fn sequential(asked: &Asked, lower: &str) -> Option<String> {
    let said = SEQUENTIAL.find(lower)?.as_str();
    let compares = matches!(asked.operation, Operation::Difference | Operation::Compare);
    let undated = asked.operands.iter().all(|of| of.spans.len() < 2);
    let why = || format!("{said:?} is of the period before, the figures may not be");
    (compares && undated).then(why)
}

/// The doubt about a change "year on year" as an amount, unless the question asks for an amount.
fn in_percent(asked: &Asked, lower: &str) -> Option<String> {
    let said = YEAR_ON_YEAR.find(lower)?.as_str();
    let is_amount = asked.operation == Operation::Difference && !asked.relative;
    let is_said = OF_AMOUNTS.iter().any(|of| lower.contains(of));
    (is_amount && !is_said).then(|| format!("{said:?} may ask for the change in percent"))
}

/// The doubt about a printed figure as the answer to what could or should be. "Could you show" and
/// "I would like" only ask politely.
fn supposed(lower: &str, single: bool) -> Option<String> {
    let found = SUPPOSED.captures(lower)?;
    let who = found.name("who")?.as_str();
    // "What can be repurchased" is stated, but "what we can spend" is not what was spent.
    let stated = match &found["modal"] {
        "can" | "will" => !single && !lists("i we they", who),
        "about" => !single || who != "to",
        _ => false,
    };
    let polite = stated || who == "you" || found.name("asks").is_none() && lists("i we like", who);
    (!polite).then(|| format!("the question asks what {:?} be", &found["modal"]))
}

/// The doubt about "within budget" if a figure is equal to its budget: it is not lower.
fn equals_limit(asked: &Asked, lower: &str, answer: &DirectAnswer) -> Option<String> {
    let leaves = answer.expr.leaves();
    let equal = matches!(leaves.as_slice(), [a, b] if (a.value - b.value).abs() <= 0.0);
    let within = asked.operation == Operation::Compare && lower.contains("within");
    (within && equal).then(|| "both figures are equal".to_owned())
}

/// The doubt about a comparison of two figures as the answer to a question that also names a
/// percentage or asks how much: neither is read.
fn beyond_yes(asked: &Asked, lower: &str) -> Option<String> {
    let found = BEYOND_YES.find(lower)?;
    let compares = asked.operation == Operation::Compare;
    compares.then(|| format!("the question also says {:?}", found.as_str()))
}
