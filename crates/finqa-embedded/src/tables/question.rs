//! Splits a question into tokens and decides the part of each: a word of a label, a known name, a
//! cue for an operation, a period, or a filler.

use std::ops::Range;
use std::sync::LazyLock;

use finqa_core::page::period::{Period, Times, blank};
use finqa_core::regex;
use regex::Regex;

use super::fit::is_light;
use super::names::{Concept, name_at};
use super::operand::Operand;
use super::page::Tables;
use super::phrases::{Cue, NamedStatement, cue_at};
use super::words::{FILLERS, NOISE, STATES, VERBS, lists, stems};

/// One word or phrase of a question.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// The text in lower case, without the punctuation around it.
    pub(super) text: String,
    pub(super) part: TokenPart,
}

/// The role of a token in a question.
#[derive(Clone, Debug)]
pub(super) enum TokenPart {
    /// It does not name a figure.
    Filler,
    Cue(Cue),
    /// A word of a figure's name, as stems; some words have several.
    Word(Vec<String>),
    /// A name in `concepts.txt`: the figure, and the index of the name.
    Name(&'static Concept, usize),
    Period(Period),
    Statement(NamedStatement),
    /// The current and the non-current part together: "current and non-current debt".
    BothTerms,
    /// "Each of the last three years": the number of periods, if it is said, and the months of
    /// each.
    Each(Option<usize>, u8),
    /// "A year", "annually": the average of several years, or the figure of each.
    PerYear,
    /// The figure of an earlier question: "that" in "is that more than net income?"
    Earlier(Box<Operand>),
}

impl Token {
    pub(super) fn cue(&self) -> Option<Cue> {
        match self.part {
            TokenPart::Cue(cue) => Some(cue),
            _ => None,
        }
    }

    pub(super) fn period(&self) -> Option<Period> {
        match self.part {
            TokenPart::Period(period) => Some(period),
            _ => None,
        }
    }

    pub(super) fn is_earlier(&self) -> bool {
        matches!(self.part, TokenPart::Earlier(_))
    }

    /// True if it asks for the figure of a part of a year: "monthly", "a quarter".
    pub(super) fn is_of_part(&self) -> bool {
        let shorter = ["quarter", "month", "week"];
        matches!(self.part, TokenPart::PerYear)
            && shorter.iter().any(|one| self.text.ends_with(one))
            || lists("quarterly monthly weekly daily", &self.text)
    }

    /// True if it asks for the figure of each year: "a year", "annually".
    pub(super) fn is_of_each(&self) -> bool {
        let is_each = || {
            ["each", "every"]
                .iter()
                .any(|word| self.text.contains(word))
        };
        matches!(self.part, TokenPart::PerYear)
            || matches!(self.part, TokenPart::Each(..)) && is_each()
            || lists("annualized yearly", &self.text)
    }

    /// The stems of a word or a name; empty for all other parts.
    pub(super) fn stems(&self) -> &[String] {
        match &self.part {
            TokenPart::Word(stems) => stems,
            TokenPart::Name(concept, said) => concept.names.get(*said).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }
}

/// A comparison with the same period of the year before: "year over year", "versus a year ago".
static YEAR_AGO: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:year[- ](?:over|on)[- ]year|yoy|y[-/]o?-?y|(?:vs\.?|versus|than|from|compared (?:to|with)|against)(?: in)? (?:the |a )?(?:same (?:period|quarter) )?(?:of )?(?:the )?(?:year[- ]ago|prior[- ]year|previous year|last year|year (?:earlier|before|ago))(?:[- ](?:quarter|period))?|(?:than )?a year (?:before|earlier|ago))\b"
    )
});

/// A time whose meaning depends on when the question is asked: "last year".
pub(super) static RELATIVE_TIME: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\b(?:last|previous|prior|this|next) (?:fiscal )?(?:year|quarter|month|half)\b")
});

/// The statement in which a figure is: "on the balance sheet".
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:in|on|from|per|by) )?(?:the )?(?:statements? of (?:cash flows?|income|operations|earnings|financial position)|(?:cash[- ]flow|income) statement|balance sheet)\b"
    )
});

/// Both parts of a balance: what is due within a year, and what is due later.
static BOTH_TERMS: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:both )?(?:(?:current|short)(?:[- ]term)?,? (?:and|plus) (?:non-?current|long)(?:[- ]term)?|(?:non-?current|long)(?:[- ]term)? (?:and|plus) (?:current|short)(?:[- ]term)?)(?: (?:parts?|portions?))?\b|\bshort- and long-term\b"
    )
});

/// Each of several periods: "in each of the last three years". The page must name all of them.
static EACH: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:in|for|over|during) )?(?:each (?:of )?|every |(?:in|for|over|during) )(?:the )?(?:(?:last|past|latest) )?(?:(?:two|three|four|five|six|[2-9]) )?(?:fiscal )?(?:years?|quarters?|months?)\b"
    )
});

/// The number and length of the periods that a match of [`EACH`] asks for; `None` for "over the
/// year", which is one period.
fn each(text: &str) -> Option<TokenPart> {
    let words: Vec<&str> = text.split(' ').collect();
    let count = words.iter().find_map(|word| match *word {
        "two" => Some(2),
        "three" => Some(3),
        "four" => Some(4),
        "five" => Some(5),
        "six" => Some(6),
        word => word.parse().ok(),
    });
    let months = match words.last()?.trim_end_matches('s') {
        "year" => 12,
        "quarter" => 3,
        _ => 1,
    };
    let all = lists(
        "each every",
        words
            .iter()
            .find(|word| !lists("in for over during", word))?,
    );
    let last = words.iter().any(|word| lists("last past latest", word));
    (all || last && count.is_some()).then_some(TokenPart::Each(count, months))
}

/// Adverbs inside the name of a figure that do not change it: "taxes actually paid".
static ADVERBS: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"(?i)\b(?:actually|really|exactly|approximately|roughly)\b ?"));

/// A figure for each year or part of it: "75 a year".
static PER_YEAR: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:per|a) (?:fiscal )?(?:year|quarter|month|week)\b|per annum\b|p\.a\.|annual(?:ly)?\b)"
    )
});

/// "Which of the last three years", which is read as "which year".
static OF_YEARS: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)\bwhich of (?:the )?(?:last |past )?(?:(?:two|three|four|five) )?(?:(?:fiscal )?years? ?|fiscal )"
    )
});

/// "Of the last three years". It adds nothing, because a report has no later years than these.
static OF_LAST: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\b(?:of|in) (?:the )?(?:last|past) (?:two|three|four|five)(?: (?:fiscal )?years)?\b")
});

/// A question for a period of part of a year; its word is not a period itself: "which quarter".
static WHICH_PERIOD: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"\b(?:which|what) (?:fiscal )?(?P<unit>quarter|half)\b"));

/// "First" in "the first nine months" is not the first quarter or half, so it is left out.
static FIRST_MONTHS: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"\b(?P<unit>first) (?:three|six|nine|\d+)[- ](?:months?|weeks?)\b"));

/// The years after a year: "after 2031". A schedule may have them in a row "Thereafter".
static AFTER_YEAR: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\b(?P<unit>(?:after|beyond) (?:fiscal )?(?:year )?(?P<year>20\d\d))\b")
});

/// "Per share" in the name of a figure: "earnings per diluted share".
static PER_SHARE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?P<per>per) (?:(?:diluted|basic|common|limited|partnership) )*(?P<unit>share|unit)s?\b"
    )
});

/// Words that are not names even if they begin with a capital: "for Fiscal 2031".
const NO_NAMES: &str = "fiscal year years usd us company group percent what which how";

/// A word without the punctuation around it, and the punctuation after it.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let marks = r#",.?;:()\[\]"'!\u{201c}\u{201d}"#;
    regex!(&format!(r"([^\s{marks}]\S*?)([{marks}]*)(?:\s|$)"))
});

/// The places where a question repeats a whole label of at least two words. Words of such a label
/// are not cues or periods.
fn in_labels(tables: &Tables, question: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for name in tables.label_names() {
        let name = name.to_lowercase();
        let plain = name.split(['(', '[']).next().unwrap_or_default().trim();
        for plain in [plain, &plain.replace(" & ", " and ")] {
            let places = question.match_indices(plain);
            let places = places.filter(|_| plain.contains(' '));
            out.extend(places.map(|(at, text)| at..at + text.len()));
        }
    }
    out
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The question as spelled and in lower case, with plain apostrophes. Both texts have the same
/// length, so that a place in one is the same place in the other; a character such as `İ`, whose
/// lower case is longer, is in lower case in both.
pub(super) fn in_both_cases(question: &str) -> (String, String) {
    let (mut spelled, mut lower) = (String::new(), String::new());
    for c in question.replace('\u{2019}', "'").chars() {
        let start = lower.len();
        lower.extend(c.to_lowercase());
        if lower.len() - start == c.len_utf8() {
            spelled.push(c);
        } else {
            spelled.extend(c.to_lowercase());
        }
    }
    (spelled, lower)
}

/// Splits a question about tables into tokens. Periods and fixed phrases are found first, then the
/// longest name or cue at each word.
pub(super) fn read(tables: &Tables, question: &str) -> Vec<Token> {
    let question = STATES.replace_all(question, "usa ");
    let question = if tables.is_plain() {
        question
    } else {
        ADVERBS.replace_all(&question, "").into_owned().into()
    };
    let (question, lower) = in_both_cases(&OF_YEARS.replace_all(&question, "which year "));
    let labels = in_labels(tables, &lower);
    let is_named = |at: &Range<usize>| labels.iter().any(|label| overlap(label, at));
    // Phrases and periods that are found before the words. Each is replaced by spaces in `text`, so
    // that no later pattern or word matches inside of it.
    let mut marks: Vec<(Range<usize>, TokenPart)> = Vec::new();
    let mut text = lower.clone();
    let filler: fn(&str) -> TokenPart = |_| TokenPart::Filler;
    let of_year_ago: fn(&str) -> TokenPart = |_| TokenPart::Cue(Cue::YearAgo);
    let of_both_terms: fn(&str) -> TokenPart = |_| TokenPart::BothTerms;
    let per_year: fn(&str) -> TokenPart = |_| TokenPart::PerYear;
    let of_statement: fn(&str) -> TokenPart =
        |name| TokenPart::Statement(NamedStatement::read(name));
    let forms = [
        (&YEAR_AGO, of_year_ago),
        (&RELATIVE_TIME, filler),
        (&PER_YEAR, per_year),
        (&STATEMENT, of_statement),
        (&BOTH_TERMS, of_both_terms),
        (&OF_LAST, filler),
        (&WHICH_PERIOD, filler),
        (&FIRST_MONTHS, filler),
    ];
    for found in EACH.find_iter(&text.clone()) {
        if let Some(part) = each(found.as_str()).filter(|_| !is_named(&found.range())) {
            blank(&mut text, &found.range());
            marks.push((found.range(), part));
        }
    }
    let last = AFTER_YEAR.captures(&lower).and_then(|found| {
        let year = found.name("year")?.as_str().parse().ok()?;
        let word = tables.after_last(year)?;
        Some((found.get(0)?.range(), TokenPart::Word(vec![word])))
    });
    if let Some((at, part)) = last {
        blank(&mut text, &at);
        marks.push((at, part));
    }
    for (form, part) in forms {
        for found in form.captures_iter(&text.clone()) {
            if let Some(at) = found
                .name("unit")
                .or(found.get(0))
                .map(|found| found.range())
                && !is_named(&at)
            {
                let named = found.get(0).map_or("", |found| found.as_str());
                blank(&mut text, &at);
                marks.push((at, part(named)));
            }
        }
    }
    let times = Times::read(&text);
    for at in times.said.into_iter().filter(|at| !is_named(at)) {
        blank(&mut text, &at);
    }
    let periods = times.found.into_iter().filter(|(at, _)| !is_named(at));
    marks.extend(periods.map(|(at, period)| (at, TokenPart::Period(period))));
    marks.sort_by_key(|(at, _)| at.start);
    // In "dividends per share", "share" is a part of the name and does not ask for a share.
    let per_share = PER_SHARE.captures_iter(&text);
    let per_share =
        per_share.filter_map(|of| Some((of.name("per")?.range(), of.name("unit")?.start())));
    let (shares, units): (Vec<Range<usize>>, Vec<usize>) = per_share
        .filter(|_| !(tables.is_plain() && tables.says("per")))
        .unzip();
    let text = text.replace(['-', '/'], " ");
    let words: Vec<(Range<usize>, &str, bool)> = WORD
        .captures_iter(&text)
        .filter_map(|found| {
            let (word, after) = (found.get(1)?, found.get(2)?);
            Some((word.range(), word.as_str(), after.as_str().ends_with(',')))
        })
        .collect();
    let texts: Vec<&str> = words.iter().map(|(_, text, _)| *text).collect();
    let stemmed: Vec<Vec<String>> = texts.iter().map(|text| stems(text)).collect();
    let spelled_at = |range: &Range<usize>| question.get(range.clone()).unwrap_or_default();
    // In "sales to Post", the word is a name because a preposition precedes its capital, even if it
    // would be a filler or a cue elsewhere.
    let is_proper = |range: &Range<usize>, before: Option<&&str>| {
        let spelled = spelled_at(range);
        let capital = |text: &str| text.starts_with(char::is_uppercase);
        let behind = question.get(range.end..).unwrap_or_default();
        let named = before.is_some_and(|before| lists("of at to from by for with", before));
        let text = lower.get(range.clone()).unwrap_or_default();
        // "Total" in "of Total Net Sales" is not a name.
        let total = text == "total" && capital(behind.trim_start());
        (named || behind.starts_with('\'')) && capital(spelled) && !total && !lists(NO_NAMES, text)
    };
    let mut marks = marks.into_iter().peekable();
    let (mut out, mut at, mut end) = (Vec::<Token>::new(), 0, 0);
    loop {
        let word = words.get(at);
        let start = word.map_or(usize::MAX, |(range, ..)| range.start);
        while let Some((range, part)) = marks.next_if(|(range, _)| range.start <= start) {
            // "2019-2021" has two ends and gets a dash between them; "2019, 2020" is a list.
            let between = lower.get(end..range.start).unwrap_or_default();
            let dated =
                out.last().is_some_and(|last| last.period().is_some()) && !between.contains(',');
            end = range.end;
            let text = lower.get(range).unwrap_or_default().to_owned();
            if dated && matches!(part, TokenPart::Period(_)) {
                out.push(Token {
                    text: "-".to_owned(),
                    part: TokenPart::Filler,
                });
            }
            out.push(Token { text, part });
        }
        let Some((range, text, _)) = word else {
            break;
        };
        // "And" between two periods does not begin another operand: "sales in 2019 and 2021".
        let next = words
            .get(at + 1)
            .map_or(usize::MAX, |(range, ..)| range.start);
        let joins_periods = out.last().is_some_and(|last| last.period().is_some())
            && marks.peek().is_some_and(|(range, part)| {
                range.start <= next && matches!(part, TokenPart::Period(_))
            });
        let cue = cue_at(texts.get(at..).unwrap_or_default()).filter(|(cue, length)| {
            let mut own = words.iter().skip(at).take(*length);
            !(own.any(|(range, ..)| is_named(range))
                || *cue == Cue::Share && !tables.is_plain() && units.contains(&range.start)
                || *cue == Cue::Share && tables.is_plain() && tables.says("share")
                || *cue == Cue::And && joins_periods
                || *cue == Cue::Fall && texts.get(at + 1) == Some(&"due")
                || *cue == Cue::To && texts.get(at + 1) == Some(&"be")
                // "Not" excludes in "was not from the North", but is part of a name in "not yet
                // recognized".
                || *text == "not"
                    && !(out.last().is_some_and(|last| lists(VERBS, &last.text))
                        && texts.get(at + 1).is_some_and(|next| !lists("yet", next)))
                || matches!(cue, Cue::Except | Cue::Multiple | Cue::Covers) && tables.is_plain())
        });
        let name = name_at(texts.get(at..).unwrap_or_default());
        let name = name.filter(|(length, ..)| cue.is_none_or(|(_, of_cue)| *length >= of_cue));
        let own = stemmed.get(at).cloned().unwrap_or_default();
        // "Over" is a word of a label in "over budget", but not in "over two years".
        let mut after = words.iter().zip(&stemmed).skip(at + 1);
        let named = after.find(|(_, stems)| !stems.is_empty());
        let over = *text == "over"
            && tables.is_plain()
            && !is_named(range)
            && named.is_some_and(|((word, ..), stems)| {
                let dated = marks
                    .peek()
                    .is_some_and(|(mark, _)| mark.start < word.start);
                !dated && stems.iter().any(|word| tables.says(word))
            });
        // "Regions" in "both regions" is a filler if no label has it.
        let before = at.checked_sub(1).and_then(|before| texts.get(before));
        let noun = matches!(before, Some(&("both" | "all")))
            && tables.is_plain()
            && !own.iter().any(|own| tables.says(own));
        // "IT" is a word if a label spells it so; "it" is a filler.
        let spelled = question.get(range.clone()).filter(|spelled| {
            let other = spelled.eq_ignore_ascii_case(text) && spelled != text;
            other && own.is_empty() && tables.is_plain() && tables.says(spelled)
        });
        let (length, part) = match (name, cue) {
            _ if let Some(scope) = tables.scope(text) => {
                (1, TokenPart::Word(vec![scope.to_owned()]))
            }
            _ if spelled.is_some() => {
                let stems = spelled.into_iter().map(str::to_owned);
                (1, TokenPart::Word(stems.collect()))
            }
            _ if shares.contains(range) && cue.is_some() && name.is_none() => {
                let part = if tables.is_plain() || units.contains(&next) {
                    TokenPart::Word(own)
                } else {
                    TokenPart::Filler
                };
                (1, part)
            }
            _ if over => (1, TokenPart::Word(vec![(*text).to_owned()])),
            (Some((length, concept, said)), _) => (length, TokenPart::Name(concept, said)),
            (None, Some((cue, length))) => (length, TokenPart::Cue(cue)),
            _ if own.is_empty() || noun || lists(FILLERS, text) => (1, TokenPart::Filler),
            _ if !tables.is_plain() && lists(NOISE, text) && !is_named(range) => {
                (1, TokenPart::Filler)
            }
            // "Sales after refunds" means sales net of refunds.
            _ if !tables.is_plain()
                && *text == "after"
                && at > 0
                && marks.peek().is_none_or(|(mark, _)| mark.start > next) =>
            {
                (1, TokenPart::Word(vec!["net".to_owned()]))
            }
            _ => (1, TokenPart::Word(own)),
        };
        let part = match part {
            TokenPart::Filler | TokenPart::Cue(_) if is_proper(range, before) => {
                // A light word such as "Total" keeps its capital, so that it meets no label by
                // chance.
                let own = if is_light(text) {
                    spelled_at(range)
                } else {
                    text
                };
                TokenPart::Word(vec![own.to_owned()])
            }
            part => part,
        };
        let said = texts.get(at..at + length).unwrap_or_default().join(" ");
        let said = spelled.map_or(said, str::to_owned);
        let names = matches!(part, TokenPart::Word(_) | TokenPart::Name(..));
        out.push(Token { text: said, part });
        at += length;
        // A comma after a name can end an operand: "A, B and C".
        if names && words.get(at - 1).is_some_and(|(_, _, comma)| *comma) {
            out.push(Token {
                text: ",".to_owned(),
                part: TokenPart::Filler,
            });
        }
    }
    out
}
