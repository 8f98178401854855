//! Finds the periods and the fixed phrases of a question before its words are read.

use std::ops::Range;

use finqa_core::page::period::{TO_DATE, Times, blank};
use finqa_core::pattern;
use finqa_core::text::Pattern;
use regex::Regex;

use super::named_statement::NamedStatement;
use super::token::TokenRole;
use crate::reading::cues::Cue;
use crate::tables::page::Tables;
use crate::tables::words::lists;

/// A comparison with the same period of the year before: "year over year", "versus a year ago".
pub(crate) static YEAR_AGO: Pattern = pattern!(
    r"\b(?:year[- ](?:over|on)[- ]year|yoy|y[-/]o?-?y|(?:vs\.?|versus|than|from|compared (?:to|with)|against)(?: in)? (?:the |a )?(?:same (?:period|quarter) )?(?:of )?(?:the )?(?:year[- ]ago|prior[- ]year|previous year|last year|year (?:earlier|before|ago))(?:[- ](?:quarter|period))?|(?:than )?a year (?:before|earlier|ago))\b"
);

/// A time whose meaning depends on when the question is asked: "last year".
pub(crate) static RELATIVE_TIME: Pattern =
    pattern!(r"\b(?:last|previous|prior|this|next) (?:fiscal )?(?:year|quarter|month|half)\b");

/// The statement in which a figure is: "on the balance sheet".
static STATEMENT: Pattern = pattern!(
    r"\b(?:(?:in|on|from|per|by) )?(?:the )?(?:statements? of (?:cash flows?|income|operations|earnings|financial position)|(?:cash[- ]flow|income) statement|balance sheet)\b"
);

/// Both parts of a balance: what is due within a year, and what is due later.
static BOTH_TERMS: Pattern = pattern!(
    r"\b(?:both )?(?:(?:current|short)(?:[- ]term)?,? (?:and|plus|\+) (?:non[- ]?current|long)(?:[- ]term)?|(?:non[- ]?current|long)(?:[- ]term)? (?:and|plus|\+) (?:current|short)(?:[- ]term)?)(?: (?:parts?|portions?))?\b|\bshort- and long-term\b"
);

/// Each of several periods: "in each of the last three years". The page must name all of them.
static EACH: Pattern = pattern!(
    r"\b(?:(?:in|for|over|during) )?(?:each (?:of )?|every |(?:in|for|over|during) )(?:the )?(?:(?:last|past|latest) )?(?:(?:two|three|four|five|six|[2-9]) )?(?:fiscal )?(?:years?|quarters?|months?)\b"
);

/// A figure for each year or part of it: "75 a year".
static PER_YEAR: Pattern = pattern!(
    r"\b(?:(?:per|a) (?:fiscal )?(?:year|quarter|month|week)\b|per annum\b|p\.a\.|annual(?:ly)?\b)"
);

/// "Of the last three years". It adds nothing, because a report has no later years than these.
static OF_LAST: Pattern = pattern!(
    r"\b(?:of|in) (?:the )?(?:last|past) (?:two|three|four|five)(?: (?:fiscal )?years)?\b"
);

/// A question for a period of part of a year; its word is not a period itself: "which quarter".
static WHICH_PERIOD: Pattern = pattern!(r"\b(?:which|what) (?:fiscal )?(?P<unit>quarter|half)\b");

/// "First" in "the first nine months" is not the first quarter or half, so it is left out.
static FIRST_MONTHS: Pattern =
    pattern!(r"\b(?P<unit>first) (?:three|six|nine|\d+)[- ](?:months?|weeks?)\b");

/// The years after a year, from 2000 on: "after 2031". A schedule may have them in a row
/// "Thereafter".
static AFTER_YEAR: Pattern =
    pattern!(r"\b(?:after|beyond) (?:fiscal )?(?:year )?(?P<year>20\d\d)\b");

/// The places where a question repeats a whole label of at least two words. Words of such a label
/// are not cues or periods.
pub(crate) struct LabelPlaces(Vec<Range<usize>>);

impl LabelPlaces {
    /// The places at which a question in lower case has a label of the page with several words.
    pub(crate) fn read(tables: &Tables, question: &str) -> Self {
        let mut out = Vec::new();
        // Of equal length, so that the places are the same.
        let question = question.replace('-', " ");
        for name in tables.label_names() {
            let name = name.to_lowercase().replace('-', " ");
            // A question need not repeat what a label has in brackets.
            let plain = name.split(['(', '[']).next().unwrap_or_default();
            let plain = plain.trim().trim_end_matches(':');
            for plain in [plain, &plain.replace(" & ", " and ")] {
                let places = question.match_indices(plain);
                let places = places.filter(|_| plain.contains(' '));
                out.extend(places.map(|(at, text)| at..at + text.len()));
            }
        }
        Self(out)
    }

    /// True if a place in the question is in such a label, or overlaps with one.
    pub(crate) fn has(&self, at: &Range<usize>) -> bool {
        let overlaps = |label: &Range<usize>| label.start < at.end && at.start < label.end;
        self.0.iter().any(overlaps)
    }
}

/// The periods and phrases that are found before the words of a question.
pub(crate) struct Marks {
    /// Sorted by place.
    pub(crate) found: Vec<(Range<usize>, TokenRole)>,
    /// The question with spaces instead of what was found, so that no later pattern or word matches
    /// inside of it.
    pub(crate) rest: String,
}

impl Marks {
    /// Finds them in a question in lower case.
    pub(crate) fn read(tables: &Tables, lower: &str, labels: &LabelPlaces) -> Self {
        let mut out = Self {
            found: Vec::new(),
            rest: lower.to_owned(),
        };
        // Periods last: "each quarter", "after 2031" and "which quarter" have their words too.
        out.take_after_year(tables, lower);
        out.take_phrases(labels);
        out.take_periods(tables, labels);
        out.found.sort_by_key(|(at, _)| at.start);
        out
    }

    fn take(&mut self, at: Range<usize>, role: TokenRole) {
        blank(&mut self.rest, &at);
        self.found.push((at, role));
    }

    /// Takes "after 2031" as the word for all later years that a schedule has.
    fn take_after_year(&mut self, tables: &Tables, lower: &str) {
        let last = AFTER_YEAR.captures(lower).and_then(|found| {
            let year = found.name("year")?.as_str().parse().ok()?;
            let word = tables.after_last(year)?;
            Some((found.get(0)?.range(), TokenRole::Word(vec![word])))
        });
        if let Some((at, role)) = last {
            self.take(at, role);
        }
    }

    /// Takes the fixed phrases out of the question and makes a token of each. A phrase inside a
    /// label of the page stays.
    fn take_phrases(&mut self, labels: &LabelPlaces) {
        // What a form takes, later ones do not see: "versus last year" has a relative time too.
        type Form<'r> = (&'r Regex, fn(&str) -> Option<TokenRole>);
        let forms: [Form<'_>; 9] = [
            (&EACH, each),
            (&YEAR_AGO, |_| Some(TokenRole::Cue(Cue::YearAgo))),
            (&RELATIVE_TIME, |_| Some(TokenRole::Filler)),
            (&PER_YEAR, |_| Some(TokenRole::PerYear)),
            (&STATEMENT, |name| {
                Some(TokenRole::Statement(NamedStatement::read(name)))
            }),
            (&BOTH_TERMS, |_| Some(TokenRole::BothTerms)),
            (&OF_LAST, |_| Some(TokenRole::Filler)),
            (&WHICH_PERIOD, |_| Some(TokenRole::Filler)),
            (&FIRST_MONTHS, |_| Some(TokenRole::Filler)),
        ];
        for (form, role) in forms {
            for found in form.captures_iter(&self.rest.clone()) {
                let role = found.get(0).and_then(|all| role(all.as_str()));
                let unit = found.name("unit").or(found.get(0));
                let at = unit.map(|unit| unit.range()).filter(|at| !labels.has(at));
                if let (Some(at), Some(role)) = (at, role) {
                    self.take(at, role);
                }
            }
        }
    }

    /// Takes the periods out of the question and makes a token of each. A period inside a label of
    /// the page stays. A year to date is the longest period of the statements.
    fn take_periods(&mut self, tables: &Tables, labels: &LabelPlaces) {
        let times = Times::read(&self.rest);
        for at in times.said.iter().filter(|at| !labels.has(at)) {
            blank(&mut self.rest, at);
        }
        for (at, mut period) in times.found {
            if period.months == Some(TO_DATE) {
                period.months = tables.length_to_date().or(period.months);
            }
            if !labels.has(&at) {
                self.found.push((at, TokenRole::Period(period)));
            }
        }
    }
}

/// The number and length of the periods that a match of [`EACH`] asks for; `None` for "over the
/// year", which is one period.
fn each(text: &str) -> Option<TokenRole> {
    let words: Vec<&str> = text.split(' ').collect();
    let numbers = ["two", "three", "four", "five", "six"];
    let count = words.iter().find_map(|word| {
        let spelled = numbers.iter().position(|number| number == word);
        spelled.map(|at| at + 2).or_else(|| word.parse().ok())
    });
    let months = match words.last()?.trim_end_matches('s') {
        "year" => 12,
        "quarter" => 3,
        _ => 1,
    };
    let mut rest = words.iter();
    let first = rest.find(|word| !lists("in for over during", word))?;
    let all = lists("each every", first);
    let last = words.iter().any(|word| lists("last past latest", word));
    (all || last && count.is_some()).then_some(TokenRole::Each(count, months))
}
