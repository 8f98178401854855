//! A question as words, each with its part in it: of a label or a name, of a cue, a period, or
//! nothing.

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

#[derive(Clone, Debug)]
pub(super) struct Token {
    /// In lower case, without the marks around it.
    pub(super) text: String,
    pub(super) part: TokenPart,
}

#[derive(Clone, Debug)]
pub(super) enum TokenPart {
    /// It names no figure.
    Filler,
    Cue(Cue),
    /// It names one, by these stems.
    Word(Vec<String>),
    /// By a name that has others, and which of them it is.
    Name(&'static Concept, usize),
    Period(Period),
    Statement(NamedStatement),
    /// Current and non-current together.
    BothTerms,
    /// Each of the last so many periods, of so many months.
    Each(Option<usize>, u8),
    /// On average of several years, or in each.
    PerYear,
    /// The figure of an earlier question: "is that more than net income?"
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

    /// Whether it asks for what each part of a year has: "monthly".
    pub(super) fn is_of_part(&self) -> bool {
        let shorter = ["quarter", "month", "week"];
        matches!(self.part, TokenPart::PerYear)
            && shorter.iter().any(|one| self.text.ends_with(one))
            || lists("quarterly monthly weekly daily", &self.text)
    }

    /// Whether it asks for what each year has: "a year", "annually".
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

    /// The stems of what it names.
    pub(super) fn stems(&self) -> &[String] {
        match &self.part {
            TokenPart::Word(stems) => stems,
            TokenPart::Name(concept, said) => concept.names.get(*said).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }
}

/// What is compared with the same of the year before.
static YEAR_AGO: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:year[- ](?:over|on)[- ]year|yoy|y[-/]o?-?y|(?:vs\.?|versus|than|from|compared (?:to|with)|against)(?: in)? (?:the |a )?(?:same (?:period|quarter) )?(?:of )?(?:the )?(?:year[- ]ago|prior[- ]year|previous year|last year|year (?:earlier|before|ago))(?:[- ](?:quarter|period))?|(?:than )?a year (?:before|earlier|ago))\b"
    )
});

/// A change that is usually said in percent.
pub(super) static YEAR_ON_YEAR: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"\b(?:year[- ](?:over|on)[- ]year|yoy|y[-/]o?-?y)\b"));

/// What is compared with the period before, and not with the same of the year before.
pub(super) static SEQUENTIAL: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:quarter|month|week)[- ](?:over|on|by|to)[- ](?:quarter|month|week)|qoq|q/q|mom|m/m|sequential(?:ly)?)\b"
    )
});

/// Each is compared with itself at another time, so the largest or smallest is not what is asked.
pub(super) static THAN_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:lower|higher|less|more|fewer|smaller|larger|greater)\b.* than (?:in )?(?:(?:a|one|the) )?(?:(?:last|previous|prior) )?(?:year|quarter|month|period)\b"
    )
});

/// It depends on when it is asked.
pub(super) static RELATIVE_TIME: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\b(?:last|previous|prior|this|next) (?:fiscal )?(?:year|quarter|month|half)\b")
});

/// Where a figure is, not what it is.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:in|on|from|per|by) )?(?:the )?(?:statements? of (?:cash flows?|income|operations|earnings|financial position)|(?:cash[- ]flow|income) statement|balance sheet)\b"
    )
});

/// Both parts of a balance: what is due within a year, and the rest.
static BOTH_TERMS: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:both )?(?:(?:current|short)(?:[- ]term)?,? (?:and|plus) (?:non-?current|long)(?:[- ]term)?|(?:non-?current|long)(?:[- ]term)? (?:and|plus) (?:current|short)(?:[- ]term)?)(?: (?:parts?|portions?))?\b|\bshort- and long-term\b"
    )
});

/// Each of several periods, which the page has to name.
static EACH: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:in|for|over|during) )?(?:each (?:of )?|every |(?:in|for|over|during) )(?:the )?(?:(?:last|past|latest) )?(?:(?:two|three|four|five|six|[2-9]) )?(?:fiscal )?(?:years?|quarters?|months?)\b"
    )
});

/// What "each of the last three years" asks for; `None` for "over the year".
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

/// Adverbs that may be inside a figure's name without changing it: "taxes actually paid".
static ADVERBS: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"(?i)\b(?:actually|really|exactly|approximately|roughly)\b ?"));

/// For each year: "75 a year".
static PER_YEAR: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:per|a) (?:fiscal )?(?:year|quarter|month|week)\b|per annum\b|p\.a\.|annual(?:ly)?\b)"
    )
});

/// Which of several years.
static OF_YEARS: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)\bwhich of (?:the )?(?:last |past )?(?:(?:two|three|four|five) )?(?:(?:fiscal )?years? ?|fiscal )"
    )
});

/// The years of a report are its last ones.
static OF_LAST: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\b(?:of|in) (?:the )?(?:last|past) (?:two|three|four|five)(?: (?:fiscal )?years)?\b")
});

/// What is asked for is a period.
static WHICH_PERIOD: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"\b(?:which|what) (?:fiscal )?(?P<unit>quarter|half)\b"));

/// The first nine months are nine.
static FIRST_MONTHS: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"\b(?P<unit>first) (?:three|six|nine|\d+)[- ](?:months?|weeks?)\b"));

/// What is due after the last year of a schedule.
static AFTER_YEAR: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\b(?P<unit>(?:after|beyond) (?:fiscal )?(?:year )?(?P<year>20\d\d))\b")
});

/// What a figure of a report is called by: "earnings per diluted share".
static PER_SHARE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?P<per>per) (?:(?:diluted|basic|common|limited|partnership) )*(?P<unit>share|unit)s?\b"
    )
});

/// Words that name nothing although they have a capital: "for Fiscal 2031".
const NO_NAMES: &str = "fiscal year years usd us company group percent what which how";

/// A word without the marks around it, and the marks after it.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let marks = r#",.?;:()\[\]"'!\u{201c}\u{201d}"#;
    regex!(&format!(r"([^\s{marks}]\S*?)([{marks}]*)(?:\s|$)"))
});

/// Where a question holds a label of several words in full: these are no cues, and no periods.
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

/// A question as spelled and in lower case, with plain apostrophes. Every place of one is the
/// same place of the other, although the lower case of `İ` is longer.
fn in_both_cases(question: &str) -> (String, String) {
    let (mut spelled, mut lower) = (String::new(), String::new());
    for c in question.replace('\u{2019}', "'").chars() {
        let start = lower.len();
        lower.extend(c.to_lowercase());
        match lower.len() - start == c.len_utf8() {
            true => spelled.push(c),
            false => spelled.extend(c.to_lowercase()),
        }
    }
    (spelled, lower)
}

/// Reads a question about tables.
pub(super) fn read(tables: &Tables, question: &str) -> Vec<Token> {
    let question = STATES.replace_all(question, "usa ");
    let question = match tables.is_plain() {
        true => question,
        false => ADVERBS.replace_all(&question, "").into_owned().into(),
    };
    let (question, lower) = in_both_cases(&OF_YEARS.replace_all(&question, "which year "));
    let labels = in_labels(tables, &lower);
    let is_named = |at: &Range<usize>| labels.iter().any(|label| overlap(label, at));
    // What is read before the words, and leaves blanks.
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
    // "Dividends per share" are no share.
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
    // "Sales to Post": what a preposition has before it is a name, also if the word means nothing.
    let is_proper = |range: &Range<usize>, before: Option<&&str>| {
        let spelled = spelled_at(range);
        let capital = |text: &str| text.starts_with(char::is_uppercase);
        let behind = question.get(range.end..).unwrap_or_default();
        let named = before.is_some_and(|before| lists("of at to from by for with", before));
        let text = lower.get(range.clone()).unwrap_or_default();
        // "Of Total Net Sales" is no name.
        let total = text == "total" && capital(behind.trim_start());
        (named || behind.starts_with('\'')) && capital(spelled) && !total && !lists(NO_NAMES, text)
    };
    let mut marks = marks.into_iter().peekable();
    let (mut out, mut at, mut end) = (Vec::<Token>::new(), 0, 0);
    loop {
        let word = words.get(at);
        let start = word.map_or(usize::MAX, |(range, ..)| range.start);
        while let Some((range, part)) = marks.next_if(|(range, _)| range.start <= start) {
            // "2019-2021" are two, "2019, 2020" are a list.
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
        // "2019 and 2021" are of one figure.
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
                // "Was not from the North", but no "not yet recognized".
                || *text == "not"
                    && !(out.last().is_some_and(|last| lists(VERBS, &last.text))
                        && texts.get(at + 1).is_some_and(|next| !lists("yet", next)))
                || matches!(cue, Cue::Except | Cue::Multiple | Cue::Covers) && tables.is_plain())
        });
        let name = name_at(texts.get(at..).unwrap_or_default());
        let name = name.filter(|(length, ..)| cue.is_none_or(|(_, of_cue)| *length >= of_cue));
        let own = stemmed.get(at).cloned().unwrap_or_default();
        // "Over budget" is not "over two years".
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
        // "Both regions": the noun names no label.
        let before = at.checked_sub(1).and_then(|before| texts.get(before));
        let noun = matches!(before, Some(&("both" | "all")))
            && tables.is_plain()
            && !own.iter().any(|own| tables.says(own));
        // "IT" is a name where a label has it so, "it" is not.
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
                let part = match tables.is_plain() || units.contains(&next) {
                    true => TokenPart::Word(own),
                    false => TokenPart::Filler,
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
            // "After refunds" is net of these.
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
                // No label has "Total" as the word of a name.
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
        // "A, B and C": it may end an operand.
        if names && words.get(at - 1).is_some_and(|(_, _, comma)| *comma) {
            out.push(Token {
                text: ",".to_owned(),
                part: TokenPart::Filler,
            });
        }
    }
    out
}
