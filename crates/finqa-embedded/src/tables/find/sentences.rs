//! Answers from sentences of a report, for facts that no table has: the number of employees, an
//! undrawn credit line, "advertising expense was $5 million and $4 million in 2031 and 2030".
//!
//! A sentence answers only if it has all words of the question and its period, and if no other such
//! sentence has another number.

use std::collections::HashSet;

use finqa_core::number::Scale;
use finqa_core::page::period::{Date, Period, Times};
use finqa_core::page::{is_month, year_of};
use finqa_core::pattern;
use finqa_core::question::Document;
use finqa_core::text::Pattern;

use crate::reading::prose::{self, ProseNumber};
use crate::reading::text::{TextToken, TokenKind, tokenize};
use crate::reading::words::is_stop;
use crate::tables::page::word_weights::Weights;
use crate::tables::page::{LEGAL_FORMS, Tables};
use crate::tables::question;
use crate::tables::question::asked;
use crate::tables::question::operand::Operand;
use crate::tables::question::request::Operation;
use crate::tables::words::{Stems, is_light, lists, lists_stem, same_word, stemmed};

/// Stems of what a company calls the people who work for it.
static PEOPLE: Stems = Stems::new(
    "people person persons employee associate staff worker colleague teammate personnel headcount workforce",
);

/// Stems of verbs of having. "We have 4,700 employees" counts all of them, "our 4,700 employees in
/// the region" does not.
static HAVING: Stems = Stems::new(
    "have has had employ employs employed operate operates operated own owns owned work works worked",
);

/// Stems of companies and people whose figures are not the reporting company's.
static OWNERS: Stems = Stems::new(
    "subsidiary venture affiliate supplier customer competitor investee borrower partner franchisee guarantor",
);

/// Stems of words after the counted thing that restrict it to a part: "employees in Chile".
static PART: Stems = Stems::new(
    "who that which in at from under with of outside covered represented located based engaged working",
);

/// Maximum distance in tokens from a number to what it counts: "12,300 full-time, part-time, and
/// seasonal employees". Words of [`PART`] end it earlier.
const BEHIND: usize = 12;

/// Maximum distance in tokens from a verb back to its subject: "the company and its consolidated
/// subsidiaries have".
const SUBJECT: usize = 6;

/// Maximum distance in tokens between an amount and the words that name it.
const AROUND: usize = 12;

/// Stems between an amount and its name that make it the amount of a change, of a reason or of a
/// possibility: "debt increased by $5 million".
static OTHERS: Stems = Stems::new(
    "increase increased decrease decreased growth grew decline offset driven contributed due \
     compared change may could would expect additional up least exceed exceeded ended \
     respectively excluding fell fall rose rise cut reduce reduced reduction lower higher above \
     below short less include included benefit benefited reflect reflected not never save saved \
     part plan planned should target estimate estimated equal mostly until",
);

/// Stems by which a sentence only states an amount.
static STATING: Stems = Stems::new(
    "total totaled amount amounted value number worldwide aggregate recognize recognized \
     record recorded incur incurred report reported approximately expense cost million billion \
     thousand year quarter month ended end fiscal respectively unrecorded outstanding",
);

/// A full stop that ends no sentence, as in "Delmar Ltd. paid", because no capital follows.
static INSIDE: Pattern = pattern!(r"\.(\s+\p{Ll}|\s*,)");

/// Words that change what a sentence states, although they name nothing.
const CHANGING: &str = "not per each every us their related net over between if";

/// Units for each of which an amount can be stated: "$5 a month".
const UNITS: &str = "hour day week month quarter year store share unit employee";

/// A number that a sentence of a report states.
#[derive(Clone, Debug)]
pub(crate) struct StatedFact {
    /// The index of its paragraph among the document's, from 0.
    pub(crate) paragraph: usize,
    pub(crate) literal: String,
    pub(crate) percent: bool,
    pub(crate) scale: Option<Scale>,
    /// The first date of its sentence. Later dates can be when something expires.
    end: Option<Date>,
}

/// What a sentence must have to answer a question.
struct Subject<'t> {
    /// Stems of what is counted; empty if the question asks for an amount.
    counted: HashSet<String>,
    /// True if people who work for the company are counted.
    people: bool,
    /// For each way to say the question, the other stems that the sentence must have.
    ways: Vec<Vec<String>>,
    percent: bool,
    weights: &'t Weights,
    /// Stems of all words of the question.
    asked: HashSet<String>,
}

impl Tables {
    /// The number with which the sentences of a report answer a question that needs no earlier one;
    /// `None` if none does or two differ.
    pub(crate) fn stated(&self, document: &Document, text: &str) -> Option<StatedFact> {
        let tokens = question::read(self, text);
        let asked = asked::read(&tokens, false)?;
        let of = asked.only()?;
        let plain = asked.operation == Operation::Figure && asked.unused.is_empty();
        // A sentence about a whole says nothing of what is left without a part.
        if !plain
            || !of.except.is_empty()
            || of.spans.len() > 1
            || !of.rows.is_empty()
            || of.statement.is_some()
        {
            return None;
        }
        let subject = self.subject(of, text);
        // Figures with a known name are in tables. Sentences mention them only for reasons and
        // parts.
        let named = of.names.iter().any(|one| !one.concept.stated);
        if subject.counted.is_empty() && named {
            return None;
        }
        let period = of.spans.first();
        let paragraphs = document.sentences().enumerate();
        let mut found: Vec<StatedFact> = paragraphs
            .filter(|(_, text)| subject.may_be_in(text))
            .flat_map(|(at, text)| {
                let text = INSIDE.replace_all(text, "$1").to_lowercase();
                let sentences = prose::sentences(tokenize(&text)).into_iter();
                let facts = sentences.filter_map(|one| self.fact(at, &one, &subject, period));
                facts.collect::<Vec<StatedFact>>()
            })
            .collect();
        // Without a period in the question, the latest is meant.
        if period.is_none() {
            let latest = found.iter().filter_map(|one| one.end).max();
            found.retain(|one| one.end == latest);
        }
        let first = found.pop()?;
        let same = |one: &StatedFact| one.literal == first.literal && one.scale == first.scale;
        found.iter().all(same).then_some(first)
    }

    /// What a sentence must have to answer a question for this operand.
    fn subject(&self, of: &Operand, question: &str) -> Subject<'_> {
        let is_people = |words: &[String]| words.iter().any(|word| PEOPLE.contains(word));
        let of_people = of.names.iter().any(|one| is_people(&one.name.stems));
        let words = || of.words.iter().map(|word| word.stem.clone());
        let people = of_people || of.counts && words().any(|word| PEOPLE.contains(&word));
        let counted: HashSet<String> = match (people, of.counts) {
            (true, _) => PEOPLE.clone(),
            // The first word is what is counted: "how many stores in Chile".
            (false, true) => words().take(1).collect(),
            (false, false) => HashSet::new(),
        };
        let needed = |word: &String| {
            let of_people = people && (PEOPLE.contains(word) || HAVING.contains(word));
            let named = !is_light(word) && !self.weights.is_of_company(word);
            named && !of_people && !counted.contains(word)
        };
        let mut ways = of.meant_readings();
        for way in &mut ways {
            way.retain(needed);
        }
        // Readings that differ only in words that are not needed are one way.
        ways.dedup();
        Subject {
            ways,
            counted,
            people,
            percent: of.wants_percent(),
            weights: &self.weights,
            asked: stemmed(&question.to_lowercase().replace('-', " ")),
        }
    }

    /// The number of a sentence, if exactly one is about the subject and the sentence has the
    /// period.
    fn fact(
        &self,
        paragraph: usize,
        sentence: &[TextToken<'_>],
        subject: &Subject<'_>,
        period: Option<&Period>,
    ) -> Option<StatedFact> {
        let text: Vec<&str> = sentence.iter().map(|token| token.text.as_ref()).collect();
        // In "$37 billion, of which $16 billion is due", all after "of which" is only about a part.
        let mut words = text.iter().enumerate();
        let part = words.position(|(at, word)| {
            *word == "includ"
                || *word == "of" && matches!(text.get(at + 1), Some(&"which" | &"whom"))
        });
        let whole = sentence.get(..part.unwrap_or(sentence.len()))?;
        let numbers = prose::numbers(whole, true);
        let amounts: Vec<ProseNumber> = numbers.iter().filter(|one| one.dollar).cloned().collect();
        let words = text.get(..whole.len()).unwrap_or_default();
        let year = period.and_then(|asked| asked.end.year);
        let counts = !subject.counted.is_empty();
        // It is unclear which of several amounts the words name, unless these are all that the
        // sentence says, with one amount for each of several years.
        let listed = !counts && amounts.len() > 1;
        let first = amounts.first().filter(|_| listed);
        if !counts && !subject.is_all(whole) || listed && !is_by_year(&amounts, year?) {
            return None;
        }
        let mut numbers = numbers.into_iter().filter(|number| {
            let named = first.unwrap_or(number);
            subject.is_of(whole, number)
                && subject.is_near(whole, named)
                && subject.is_whole(words, named)
                && (!listed || number.years.first().copied() == year)
        });
        let (number, more) = (numbers.next()?, numbers.next());
        // In "We employed 4,200 people in 2031 (2030: 4,100)", each number belongs to the year next
        // to it.
        let of_other =
            |asked: &u16| counts && !number.years.is_empty() && !number.years.contains(asked);
        let other = year.filter(of_other);
        if other.is_some_and(|year| text.iter().any(|word| year_of(word) == Some(year))) {
            return None;
        }
        // The amount of another year is not read: "$5 million and nil in 2031 and 2030".
        if !counts && number.years.len() > 1 {
            return None;
        }
        // A date is read with its comma next to the day: "June 30, 2031".
        let times = Times::read(&words.join(" ").replace(" ,", ","));
        // A date has no length in months, even if the words around it name one.
        let said = times.found.into_iter().map(|(_, period)| Period {
            months: period.months.filter(|_| !period.instant),
            ..period
        });
        let fits = |one: Period| self.fits(Some(one), period.copied());
        // In a list of years, perhaps only the first is read as a period.
        let is_year = |one: &Period| one.months.is_none_or(|months| months == 12);
        let of_year = |asked: &Period| {
            let bare = asked.end.month.is_none() && asked.quarter.is_none() && is_year(asked);
            bare && said.clone().all(|one| is_year(&one))
        };
        let of_list = listed && period.is_some_and(of_year);
        let in_period = period.is_none() || said.clone().any(fits) || of_list;
        (more.is_none() && in_period).then(|| StatedFact {
            paragraph,
            literal: number.digits,
            percent: number.percent,
            scale: number.scale,
            end: said.map(|period| period.end).next(),
        })
    }
}

impl Subject<'_> {
    /// True if a paragraph can have the answer: it has a digit, and the stems of the question as
    /// substrings ("member" for "team members"). This is checked first, because it is much faster
    /// than to read the sentences.
    fn may_be_in(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let has = |stem: &String| lower.contains(stem.as_str());
        lower.contains(|c: char| c.is_ascii_digit())
            && (self.counted.is_empty()
                || self.counted.iter().any(has)
                || self.people && lower.contains("member"))
            && self.ways.iter().any(|way| way.iter().all(has))
    }

    /// True if all other words of one way to ask are near the number: anywhere in the sentence for
    /// a count, within [`AROUND`] tokens of an amount, and without a word of [`OTHERS`] between.
    fn is_near(&self, sentence: &[TextToken<'_>], number: &ProseNumber) -> bool {
        let counts = !self.counted.is_empty();
        let around = number.at.saturating_sub(AROUND)..=number.end + AROUND;
        let tokens = sentence.iter().enumerate();
        let near = tokens.filter(|(at, _)| counts || around.contains(at));
        let found = |word: &String| {
            let is = |token: &TextToken<'_>| token.text.split('-').any(|own| same_word(own, word));
            let places = near.clone().filter(|(_, token)| is(token));
            let places = places.map(|(at, _)| at);
            places.min_by_key(|at| at.abs_diff(number.at))
        };
        self.ways.iter().any(|way| {
            let Some(places) = way.iter().map(found).collect::<Option<Vec<usize>>>() else {
                return false;
            };
            let ends = places.into_iter().chain([number.at, number.end]);
            let first = ends.clone().min().unwrap_or_default();
            let last = ends.max().unwrap_or_default();
            let mut between = near.clone().filter(|(at, _)| (first..=last).contains(at));
            counts || !between.any(|(_, token)| OTHERS.contains(token.text.as_ref()))
        })
    }

    /// True if a sentence names nothing but what is asked for.
    fn is_all(&self, sentence: &[TextToken<'_>]) -> bool {
        let names = |word: &str| {
            // These change what is stated, and a word of the company's name can be a part's too.
            let changes =
                lists_stem(CHANGING, word) && !self.asks(word) || self.weights.is_of_company(word);
            let said = is_stop(word) || STATING.contains(word) || self.weights.is_soft(word);
            changes || !(said || is_light(word) || is_month(word) || self.asks(word))
        };
        let words = sentence
            .iter()
            .filter(|token| token.kind == TokenKind::Word);
        let words: Vec<&str> = words.map(|token| token.text.as_ref()).collect();
        // "$5 million a month" is not the amount of a year.
        let rate = |pair: &[&str]| matches!(pair, ["a" | "an", unit] if lists(UNITS, unit));
        !words.iter().copied().any(names) && !words.windows(2).any(rate)
    }

    /// True if the number is of the whole company: the sentence names no other company, and no
    /// place follows that the question lacks.
    fn is_whole(&self, text: &[&str], number: &ProseNumber) -> bool {
        let others = || text.iter().any(|word| OWNERS.contains(*word));
        if self.counted.is_empty() {
            let placed = text.windows(2).any(
                |pair| matches!(pair, ["in" | "at", word] if !is_time(word) && !self.asks(word)),
            );
            return !others() && !placed;
        }
        let behind = text.get(number.end + 1..).unwrap_or_default();
        let noun = (0..behind.len()).rfind(|at| self.is_noun(behind, *at));
        let after = noun.and_then(|at| behind.get(at + 1..)).unwrap_or_default();
        // "In 20 countries" and "in total" limit the count to no part.
        let part = match after {
            ["in" | "across", next, ..] => {
                let counts = next.starts_with(|c: char| c.is_ascii_digit());
                !counts
                    && !matches!(*next, "more" | "over" | "approximate" | "total")
                    && !is_time(next)
            }
            [next, ..] => PART.contains(*next),
            [] => false,
        };
        // A question with further words may ask for that part.
        !(others() || part && self.ways.iter().any(Vec::is_empty))
    }

    /// True if the word at an index names what is counted. "9,000 team members" work for the
    /// company, "9,000 members" may be its customers.
    fn is_noun(&self, words: &[&str], at: usize) -> bool {
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let of_team = || word(at) == "member" && at > 0 && lists("team crew", word(at - 1));
        self.counted.contains(word(at)) || self.people && of_team()
    }

    /// True if the question has the word besides what is counted.
    fn asks(&self, word: &str) -> bool {
        self.ways.iter().flatten().any(|own| same_word(own, word))
    }

    /// True if the number has the right kind: a count of what is asked for, or an amount or a
    /// percentage.
    fn is_of(&self, sentence: &[TextToken<'_>], number: &ProseNumber) -> bool {
        if self.counted.is_empty() {
            // "$5.2" without a word for its scale has that of the page.
            let decimals = number.digits.split_once('.').map(|(_, after)| after.len());
            let plain = number.dollar && decimals != Some(1);
            let amount = plain || number.scale.is_some();
            return number.percent == self.percent && (amount || number.percent);
        }
        let behind = sentence.get(number.end + 1..).unwrap_or_default();
        let behind: Vec<&str> = (behind.iter().take(BEHIND))
            .take_while(|token| token.kind != TokenKind::Number)
            .map(|token| token.text.as_ref())
            .take_while(|word| !PART.contains(*word))
            .collect();
        let noun = (0..behind.len()).find(|at| self.is_noun(&behind, *at));
        // "9,000 full-time and seasonal employees" has no number of those who work full time.
        let kinds = behind.get(..noun.unwrap_or_default()).unwrap_or_default();
        let mut names = kinds.iter().filter(|word| !lists(", and team crew", word));
        let is_sum = kinds.contains(&"and")
            && names.clone().any(|word| self.asked.contains(*word))
            && !names.all(|word| self.asked.contains(*word));
        let counts = noun.is_some() && !is_sum;
        // "We had approximately 36,000 employees" counts, "our supplier employed 9,000" does not.
        let before = sentence.get(..number.at).unwrap_or_default().iter().rev();
        let mut before = before.map(|token| token.text.as_ref()).skip_while(|word| {
            lists(
                "approximate about around roughly nearly over some a total of",
                word,
            )
        });
        let has = before.next().is_some_and(|verb| HAVING.contains(verb));
        let subject = before.take(SUBJECT).any(|word| {
            let named = self.weights.is_of_company(word) && !lists(LEGAL_FORMS, word);
            named || lists("we company corporation group", word)
        });
        counts && !number.dollar && !number.percent && has && subject
    }
}

/// True if each of these amounts belongs to another year, and one to the year asked for.
fn is_by_year(amounts: &[ProseNumber], asked: u16) -> bool {
    let years: HashSet<u16> = amounts.iter().flat_map(|one| one.years.clone()).collect();
    let one_each = amounts.iter().all(|one| one.years.len() == 1);
    // "$5.2 and $4.1 million" has one scale for both.
    let scaled = amounts
        .iter()
        .all(|one| amounts.first().is_some_and(|a| a.scale == one.scale));
    one_each && scaled && years.len() == amounts.len() && years.contains(&asked)
}

/// True if a word after "in" starts a time and not a place.
fn is_time(word: &str) -> bool {
    is_month(word)
        || word.starts_with(|c: char| c.is_ascii_digit())
        || lists(
            "fiscal the aggregate total all addition connection each",
            word,
        )
}
