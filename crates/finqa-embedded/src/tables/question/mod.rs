//! Splits a question into tokens and decides the role of each: a word of a label, a known name, a
//! cue for an operation, a period, or a filler.

pub(super) mod asked;
pub(super) mod follow_up;
pub(super) mod marks;
pub(super) mod named_statement;
pub(super) mod names;
pub(super) mod operand;
pub(super) mod operands;
pub(super) mod plain;
pub(super) mod plain_periods;
pub(super) mod rank_question;
pub(super) mod request;
mod spelling;
pub(super) mod token;
pub(super) mod two_requests;

use std::ops::Range;
use std::sync::LazyLock;

use finqa_core::pattern;
use finqa_core::regex;
use finqa_core::text::Pattern;
use regex::{Captures, Regex};

use crate::reading::cues::{Cue, cue_at};
use crate::reading::text::stem;
use crate::reading::words::long_form;
use crate::tables::page::Tables;
use crate::tables::words::{
    FILLERS, NOISE, POLITE, REPORT_NOISE, SPEND, VERBS, is_light, lists, stems,
};
use marks::{LabelPlaces, Marks};
use names::{NamedConcept, name_at};
use plain::{asked_plainly, simplified};
use token::{Token, TokenRole};

/// Words that can follow "up" or "down" in "is revenue up in 2031?".
const AFTER_DIRECTION: &str =
    "in from for on over since compared during this the year versus vs against yoy by how";

/// "Per share" in the name of a figure: "earnings per diluted share".
static PER_SHARE: Pattern = pattern!(
    r"\b(?P<per>per) (?:(?:diluted|basic|common|limited|partnership) )*(?P<unit>share|unit)s?\b"
);

/// Words that are not names even if they begin with a capital: "for Fiscal 2031".
const NO_NAMES: &str = "fiscal year years usd us company group percent what which how";

/// A word without the punctuation around it, and the punctuation after it.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let marks = r#",.?;:()\[\]"'!\u{201c}\u{201d}"#;
    regex!(&format!(r"([^\s{marks}]\S*?)([{marks}]*)(?:\s|$)"))
});

/// The question as spelled and in lower case, with plain apostrophes. Both texts have the same
/// length, so that a place in one is the same place in the other; a character such as `İ`, whose
/// lower case is longer, is in lower case in both.
fn in_both_cases(question: &str) -> (String, String) {
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

/// The question with its misspelled words corrected, and with the abbreviations that people type
/// written out: "op margin", "revs". A word that a label of the page has is kept, and so is a name
/// in `concepts.txt`.
pub(crate) fn written_out(tables: &Tables, question: &str) -> String {
    let question = asked_plainly(tables, &spelling::corrected(tables, question));
    let marks = |c: char| !c.is_alphanumeric();
    let words: Vec<&str> = question.split_inclusive(' ').collect();
    let bare: Vec<String> = (words.iter())
        .map(|word| word.trim_matches(marks).to_lowercase())
        .collect();
    let (mut out, mut at) = (String::new(), 0);
    while let Some(word) = words.get(at) {
        let long = [2, 1].into_iter().find_map(|count| {
            let short = bare.get(at..at + count)?;
            let long = long_form(&short.join(" "))?;
            let known =
                |word: &String| tables.says(&stem(word)) && !long.split(' ').any(|own| own == word);
            let text: Vec<&str> = short.iter().map(String::as_str).collect();
            let is_kept = short.iter().any(known) || name_at(&text).is_some();
            (!is_kept).then_some((count, long))
        });
        let Some((count, long)) = long else {
            out.push_str(word);
            at += 1;
            continue;
        };
        let (Some(first), Some(last)) = (words.get(at), words.get(at + count - 1)) else {
            break;
        };
        // The punctuation around the abbreviation stays.
        let start = first.len() - first.trim_start_matches(marks).len();
        out.push_str(first.get(..start).unwrap_or_default());
        out.push_str(long);
        out.push_str(
            last.get(last.trim_end_matches(marks).len()..)
                .unwrap_or_default(),
        );
        at += count;
    }
    out
}

/// Splits a question about tables into tokens. Periods and fixed phrases are found first, then the
/// longest name or cue at each word.
pub(crate) fn read(tables: &Tables, question: &str) -> Vec<Token> {
    let (spelled, lower) = in_both_cases(&simplified(tables, question));
    let labels = LabelPlaces::read(tables, &lower);
    let Marks { found, rest } = Marks::read(tables, &lower, &labels);
    let (pers, units) = per_share(tables, &rest);
    let rest = rest.replace(['-', '/'], " ");
    let words = words(&rest);
    let words = QuestionWords {
        tables,
        spelled: &spelled,
        labels,
        pers,
        units,
        texts: words.iter().map(|word| word.text).collect(),
        words,
    };
    let mut tokens = Tokens {
        lower: &lower,
        marks: found.into_iter(),
        out: Vec::new(),
        end: 0,
    };
    let mut at = 0;
    while let Some(word) = words.words.get(at) {
        tokens.take_marks(word.range.start);
        let (length, role) = words.role(at, word, &tokens);
        let role = words.unless_proper(at, word, role);
        let said = words.texts.get(at..at + length).unwrap_or_default();
        let spelled = words.spelled_in_label(word).map(str::to_owned);
        let names = matches!(role, TokenRole::Word(_) | TokenRole::Name(..));
        let text = spelled.unwrap_or_else(|| said.join(" "));
        tokens.out.push(Token { text, role });
        at += length;
        // A comma after a name can end an operand: "A, B and C".
        if names && words.words.get(at - 1).is_some_and(|word| word.comma) {
            tokens.out.push(Token::new(",", TokenRole::Filler));
        }
    }
    tokens.take_marks(usize::MAX);
    tokens.out
}

/// For each "per share" or "per unit" in a question, the place of "per" and where "share" begins.
/// None if a single table has the word "per" in a label.
fn per_share(tables: &Tables, text: &str) -> (Vec<Range<usize>>, Vec<usize>) {
    let found = PER_SHARE.captures_iter(text);
    let found = found.filter(|_| !(tables.is_single_table() && tables.says("per")));
    let place = |of: Captures<'_>| Some((of.name("per")?.range(), of.name("unit")?.start()));
    found.filter_map(place).unzip()
}

/// A word of a question, without the punctuation around it.
struct Word<'q> {
    range: Range<usize>,
    text: &'q str,
    stems: Vec<String>,
    /// True if a comma follows it.
    comma: bool,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let words = WORD.captures_iter(text).filter_map(|found| {
        let (word, after) = (found.get(1)?, found.get(2)?);
        Some(Word {
            range: word.range(),
            text: word.as_str(),
            stems: stems(word.as_str()),
            comma: after.as_str().ends_with(','),
        })
    });
    words.collect()
}

/// The tokens read so far, and the periods and phrases that follow.
struct Tokens<'q> {
    lower: &'q str,
    marks: std::vec::IntoIter<(Range<usize>, TokenRole)>,
    out: Vec<Token>,
    /// Where the last period or phrase ends.
    end: usize,
}

impl Tokens<'_> {
    fn next_mark(&self) -> Option<&(Range<usize>, TokenRole)> {
        self.marks.as_slice().first()
    }

    /// Where the next period or phrase begins.
    fn next_start(&self) -> Option<usize> {
        self.next_mark().map(|(range, _)| range.start)
    }

    fn ends_in_period(&self) -> bool {
        self.out.last().is_some_and(|last| last.period().is_some())
    }

    /// Adds the periods and phrases that begin at `start` or before it.
    fn take_marks(&mut self, start: usize) {
        while self.next_start().is_some_and(|at| at <= start)
            && let Some((range, role)) = self.marks.next()
        {
            // "2019-2021" has two ends and gets a dash between them; "2019, 2020" and "2019 2020" are
            // lists.
            let between = self.lower.get(self.end..range.start).unwrap_or_default();
            let is_list = between.contains(',') || between.trim().is_empty();
            let dated = self.ends_in_period() && !is_list;
            self.end = range.end;
            let text = self.lower.get(range).unwrap_or_default().to_owned();
            if dated && matches!(role, TokenRole::Period(_)) {
                self.out.push(Token::new("-", TokenRole::Filler));
            }
            self.out.push(Token { text, role });
        }
    }
}

/// The words of a question that are not in a period or a fixed phrase, and what decides their
/// parts.
struct QuestionWords<'q> {
    tables: &'q Tables,
    /// The question as spelled.
    spelled: &'q str,
    labels: LabelPlaces,
    /// The places of [`per_share`]. In "dividends per share", "share" is a part of the name and
    /// does not ask for a share.
    pers: Vec<Range<usize>>,
    units: Vec<usize>,
    words: Vec<Word<'q>>,
    texts: Vec<&'q str>,
}

impl QuestionWords<'_> {
    /// The number of words of the name, cue or other token at a word, and its role. A name precedes
    /// a cue that is not longer.
    fn role(&self, at: usize, word: &Word<'_>, before: &Tokens<'_>) -> (usize, TokenRole) {
        let cue = self.cue(at, word, before);
        let name = name_at(self.texts.get(at..).unwrap_or_default());
        let name = name.filter(|(length, _)| cue.is_none_or(|(_, of_cue)| *length >= of_cue));
        let own = self.tables.scope(word.text);
        let own = own.or_else(|| self.spelled_in_label(word));
        let over = || self.is_over_of_label(at, word, before);
        if let Some(own) = own.or_else(|| over().then_some(word.text)) {
            return (1, TokenRole::Word(vec![own.to_owned()]));
        }
        let next = self.start(at + 1);
        // This "per" does not divide. In a report, it is a filler in "per diluted share".
        if self.pers.contains(&word.range) && cue.is_some() && name.is_none() {
            let role = if self.tables.is_single_table() || self.units.contains(&next) {
                TokenRole::Word(word.stems.clone())
            } else {
                TokenRole::Filler
            };
            return (1, role);
        }
        if let Some((length, named)) = name {
            if self.is_subject(named) {
                return (length, TokenRole::Filler);
            }
            return (length, TokenRole::Name(named));
        }
        if let Some((cue, length)) = cue {
            // In a report, "sales in 2021 vs 2019" asks for both.
            let lists = cue == Cue::Versus && !self.tables.is_single_table();
            if lists && self.joins_periods(at + length, before) {
                return (length, TokenRole::Filler);
            }
            return (length, TokenRole::Cue(cue));
        }
        if self.is_filler(at, word) {
            return (1, TokenRole::Filler);
        }
        let single = self.tables.is_single_table();
        if single && lists("monthly quarterly", word.text) && !self.tables.says(word.text) {
            return (1, TokenRole::PerYear);
        }
        // "Sales after refunds" means sales net of refunds.
        let follows = before.next_start().is_none_or(|mark| mark > next);
        if !self.tables.is_single_table() && word.text == "after" && at > 0 && follows {
            return (1, TokenRole::Word(vec!["net".to_owned()]));
        }
        (1, TokenRole::Word(word.stems.clone()))
    }

    /// True if all figures of a single table are the one that is named: "workforce" in a file named
    /// "headcount.csv".
    fn is_subject(&self, named: NamedConcept) -> bool {
        let stems = || named.concept.names.iter().map(|name| &name.stems);
        let said = |stems: &Vec<String>| stems.iter().all(|word| self.tables.says(word));
        self.tables.is_single_table()
            && stems().any(|stems| self.tables.is_subject(stems))
            && !stems().any(said)
    }

    /// Where a word begins; `usize::MAX` behind the last one.
    fn start(&self, at: usize) -> usize {
        let word = self.words.get(at);
        word.map_or(usize::MAX, |word| word.range.start)
    }

    /// True between two periods, of which the second begins before the word at `next` or at it.
    fn joins_periods(&self, next: usize, before: &Tokens<'_>) -> bool {
        let mark = before.next_mark().filter(|_| before.ends_in_period());
        mark.is_some_and(|(range, role)| {
            range.start <= self.start(next) && matches!(role, TokenRole::Period(_))
        })
    }

    /// The cue at a word with its number of words, unless the words mean something else here.
    fn cue(&self, at: usize, word: &Word<'_>, before: &Tokens<'_>) -> Option<(Cue, usize)> {
        let single = self.tables.is_single_table();
        let (cue, length) = cue_at(self.texts.get(at..).unwrap_or_default())?;
        let after_verb = || before.out.last().is_some_and(|last| last.is_in(VERBS));
        let next = self.texts.get(at + 1).copied();
        let is_other = match cue {
            Cue::Share if single => self.tables.says("share"),
            Cue::Share => self.units.contains(&word.range.start),
            // "And" between two periods does not begin another operand: "sales in 2019 and 2021".
            Cue::And => self.joins_periods(at + 1, before),
            Cue::Rise | Cue::Fall if lists("up down", word.text) => !self.is_direction(at, before),
            Cue::Fall => next == Some("due"),
            Cue::To => next == Some("be"),
            Cue::Except | Cue::Multiple | Cue::Covers | Cue::CoveredBy if single => true,
            // "Not" excludes in "was not from the North", but is part of a name in "not yet
            // recognized".
            Cue::Except if word.text == "not" => {
                !(after_verb() && next.is_some_and(|next| next != "yet"))
            }
            _ => false,
        };
        let mut own = self.words.iter().skip(at).take(length);
        let in_label = own.any(|own| self.labels.has(&own.range));
        (!is_other && !in_label).then_some((cue, length))
    }

    /// True for "up" in "is revenue up in 2031?", "up how much?" and "by how much is it up?", but not
    /// in "what is it made up of?".
    fn is_direction(&self, at: usize, before: &Tokens<'_>) -> bool {
        let mut texts = self.texts.iter();
        let leads = texts.find(|text| !lists("what by how much far", text));
        let asks = leads.is_some_and(|first| lists("is are was were", first));
        // A period may be between both: "net income in 2031, up how much?"
        let between = |token: &&Token| token.period().is_none() && !token.is_in(", in of for");
        let last = before.out.iter().rev().find(between);
        let named = last.is_some_and(|last| !last.stems().is_empty());
        let next = self.texts.get(at + 1);
        let how_much = |two: &[&str]| matches!(two, ["how", "much" | "many"] | ["by", "what"]);
        let compares = next.is_some_and(|next| lists("on from over versus vs compared yoy", next));
        let asks = asks || compares || self.texts.windows(2).any(how_much);
        let ends = next.is_none_or(|next| {
            let mark = before
                .next_start()
                .is_some_and(|mark| mark < self.start(at + 1));
            mark || lists(AFTER_DIRECTION, next)
        });
        let said = self
            .texts
            .get(at)
            .is_some_and(|text| self.tables.says(text));
        asks && named && ends && !(said && self.tables.is_single_table())
    }

    /// The spelling of a word that would be a filler, if a label spells it so. "IT" is a name even
    /// if no label has it, and "it" is not.
    fn spelled_in_label(&self, word: &Word<'_>) -> Option<&str> {
        Some(self.spelled(word)).filter(|spelled| {
            let other = spelled.eq_ignore_ascii_case(word.text) && *spelled != word.text;
            let single = self.tables.is_single_table();
            let names = || *spelled == "IT" && self.spelled.contains(char::is_lowercase);
            other && word.stems.is_empty() && single && (self.tables.says(spelled) || names())
        })
    }

    /// True for "over" as a word of a label, as in "over budget" but not in "over two years", and for
    /// the excess in "how much was rent over?"
    fn is_over_of_label(&self, at: usize, word: &Word<'_>, before: &Tokens<'_>) -> bool {
        let mut after = self.words.iter().skip(at + 1);
        let named = after.find(|word| !word.stems.is_empty());
        let last = at + 1 == self.words.len();
        word.text == "over"
            && self.tables.is_single_table()
            && !self.labels.has(&word.range)
            && named.map_or(last, |named| {
                let start = named.range.start;
                let dated = before.next_start().is_some_and(|mark| mark < start);
                !dated && named.stems.iter().any(|stem| self.tables.says(stem))
            })
    }

    fn is_filler(&self, at: usize, word: &Word<'_>) -> bool {
        if word.stems.is_empty() || FILLERS.contains(word.text) {
            return true;
        }
        let polite = lists(POLITE, word.text) || lists(NOISE, word.text);
        let spends = lists(SPEND, word.text);
        if self.tables.is_report() {
            let noise = polite || spends || lists(REPORT_NOISE, word.text);
            return noise && !self.labels.has(&word.range);
        }
        // "Regions" in "both regions" is a filler if no label has it.
        let of_all = self
            .tables
            .are_all_rows(self.before(at), word.text, &word.stems);
        // "Did we pay any rent?"
        let verbs = "there we they it company pay paid have had spend spent";
        let any = word.text == "any" && self.before(at).is_some_and(|it| lists(verbs, it));
        let spends = spends && self.tables.shows_costs && self.is_spent_on(at);
        let filler = of_all || any || polite || spends || self.tables.is_subject(&word.stems);
        filler && !word.stems.iter().any(|stem| self.tables.says(stem))
    }

    /// True if a label has the first name behind "on" or "for" after a word: "spent on rent", but
    /// not "spent in total", where the table may have an income too.
    fn is_spent_on(&self, at: usize) -> bool {
        let mut behind = self.words.iter().skip(at + 1);
        let on = behind.any(|word| lists("on for", word.text));
        let named = behind.find(|word| !word.stems.is_empty());
        let says = |word: &Word<'_>| word.stems.iter().any(|stem| self.tables.says(stem));
        on && named.is_some_and(says)
    }

    /// The text of the word before a word.
    fn before(&self, at: usize) -> Option<&str> {
        self.texts.get(at.checked_sub(1)?).copied()
    }

    /// Makes a filler or a cue a name if it is spelled as one. A light word such as "Total" keeps
    /// its capital, so that it meets no label by chance.
    fn unless_proper(&self, at: usize, word: &Word<'_>, role: TokenRole) -> TokenRole {
        match role {
            TokenRole::Filler | TokenRole::Cue(_) if self.is_proper(at, word) => {
                let own = if is_light(word.text) {
                    self.spelled(word)
                } else {
                    word.text
                };
                TokenRole::Word(vec![own.to_owned()])
            }
            role => role,
        }
    }

    fn spelled(&self, word: &Word<'_>) -> &str {
        self.spelled.get(word.range.clone()).unwrap_or_default()
    }

    /// True for a word like "Post" in "sales to Post": a preposition precedes its capital, so it is
    /// a name even if it would be a filler or a cue elsewhere.
    fn is_proper(&self, at: usize, word: &Word<'_>) -> bool {
        let capital = |text: &str| text.starts_with(char::is_uppercase);
        let behind = self.spelled.get(word.range.end..).unwrap_or_default();
        let before = self.before(at);
        let named = before.is_some_and(|before| lists("of at to from by for with", before));
        // "Total" in "of Total Net Sales" is not a name.
        let total = word.text == "total" && capital(behind.trim_start());
        (named || behind.starts_with('\''))
            && capital(self.spelled(word))
            && !total
            && !lists(NO_NAMES, word.text)
    }
}
