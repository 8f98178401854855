//! Reads a question for a sum of transactions, word by word.

use finqa_core::number::currency_in;

use super::marks::RELATIVE_TIME;
use crate::tables::page::transactions::{IN, OUT, TransactionList, is_link, name_words};
use crate::tables::page::{TableResult, missing};
use crate::tables::words::{has_one_of, lists};

/// Words about the money or the rows that do not select any rows.
const ABOUT: &str = "total totals sum all altogether overall amount amounts value transaction transactions store shop \
    money what how much i me my we us our you it is was were are been be did do does has have had please tell \
    show give";

/// Verbs that do not tell money spent from money received.
const NEUTRAL: &str = "charged billed invoiced";

/// Verbs for money that goes out and for money that comes in, besides [`OUT`] and [`IN`]. They
/// count only in questions, not in headings and texts.
const GOES: &str = "went gone send sent buying debited";
const COMES: &str = "get got made make earn credited";
const REFUNDS: &str = "refund refunds refunded";

/// Words that ask for more than a sum.
const BEYOND: &str = "average mean median largest biggest smallest highest lowest most least count number many share percent \
    percentage more less than difference change increase decrease compare compared per each every monthly \
    which when who where balance ratio";

/// A question for a sum of transactions.
#[derive(Debug, Default)]
pub(crate) struct SumQuestion<'q> {
    /// The names of the rows, as they are spelled.
    pub(crate) names: Vec<Vec<&'q str>>,
    /// The columns of texts that it names.
    pub(crate) headings: Vec<usize>,
    /// The column to add up, if it is not that of the amounts.
    pub(crate) column: Option<usize>,
    pub(crate) currency: Option<String>,
    /// True if the question asks for money received, false for money spent; `None` for either.
    pub(crate) came_in: Option<bool>,
}

/// True if a question asks for something other than a sum, such as an average.
pub(crate) fn is_beyond(lower: &str) -> bool {
    has_one_of(BEYOND, lower) || RELATIVE_TIME.is_match(lower)
}

/// True if `said`, a word of a question, is `own`, a lower-case word of a name. A word with a
/// capital must be equal; other words may be singular for plural.
fn same(own: &str, said: &str) -> bool {
    let lower = said.to_lowercase();
    let (short, long) = if own.len() <= lower.len() {
        (own, lower.as_str())
    } else {
        (lower.as_str(), own)
    };
    let many = || match long.strip_prefix(short) {
        Some(end) => end == "s" || end == "es",
        None => short.ends_with('y') && long.strip_suffix("ies") == short.strip_suffix('y'),
    };
    own == lower || !said.starts_with(char::is_uppercase) && short.len() > 2 && many()
}

/// The index of the first of these words in a name that has them in sequence; `None` without them.
pub(crate) fn same_name(own: &[String], said: &[&str]) -> Option<usize> {
    let same = |words: &[String]| words.iter().zip(said).all(|(own, said)| same(own, said));
    // `windows(0)` would panic.
    own.windows(said.len().max(1)).position(same)
}

impl<'q> SumQuestion<'q> {
    /// Reads a question without its times; `None` if it does not ask for a sum.
    pub(crate) fn read(list: &TransactionList, question: &'q str) -> Option<TableResult<Self>> {
        let words = name_words(question);
        let mut reader = SumReader {
            list,
            lower: words.iter().map(|word| word.to_lowercase()).collect(),
            words,
            asked: Self::default(),
            about: false,
            refunds: false,
            unmet: None,
            joins: false,
            with: false,
            verbs: [false; 2],
            named: [false; 2],
            columns: Vec::new(),
        };
        let mut at = 0;
        while let Some(said) = reader.words.get(at).copied() {
            at += reader.take(at, said);
        }
        reader.finish()
    }
}

/// A question for a sum of which some words are read.
struct SumReader<'l, 'q> {
    list: &'l TransactionList,
    words: Vec<&'q str>,
    /// The same words in lower case.
    lower: Vec<String>,
    asked: SumQuestion<'q>,
    /// True if a word asks for a sum.
    about: bool,
    /// True if the question says "refund".
    refunds: bool,
    /// The first word that has no meaning in such a question.
    unmet: Option<&'q str>,
    /// True if the question says "and", or "with".
    joins: bool,
    with: bool,
    /// The directions of money that the verbs state.
    verbs: Directions,
    /// The directions of money in names of a single word that is also a verb.
    named: Directions,
    /// The words of headings of figures.
    columns: Vec<&'q str>,
}

/// Whether it is said that money went out, and that money came in.
type Directions = [bool; 2];

impl<'q> SumReader<'_, 'q> {
    fn word(&self, at: usize) -> &str {
        self.lower.get(at).map_or("", String::as_str)
    }

    /// The word before a word.
    fn last(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    /// True if the word is a whole text of the list.
    fn is_text(&self, own: &str) -> bool {
        let mut texts = self.list.rows.iter().flat_map(|row| &row.texts);
        texts.any(|text| text.words == [own])
    }

    /// The directions of money that a word states as a verb, given the words around it. `None` if it
    /// is not a verb.
    fn verb(&self, at: usize) -> Option<Directions> {
        let (own, next, last) = (self.word(at), self.word(at + 1), self.last(at));
        let came = lists("came come comes coming", own);
        let into = lists(IN, own) || lists(COMES, own) || came && next == "in";
        let goes = lists(OUT, own) || lists(GOES, own);
        // "Paid by Acme", "paid me", "was I paid"
        let mut words = self.lower.iter();
        let passive = lists("i we", last)
            && lists("was were been", self.word(at.saturating_sub(2)))
            || lists("been was were", last) && words.any(|word| lists("i we", word));
        let reversed = lists("pay paid pays", own)
            && (lists("me us", next)
                || passive
                || next == "by" && !lists("me us", self.word(at + 2)));
        let is_verb = into || goes || came || lists(NEUTRAL, own);
        is_verb.then_some([goes && !reversed, into || reversed])
    }

    /// Reads the word or the name at a word, and returns its number of words.
    fn take(&mut self, at: usize, said: &'q str) -> usize {
        let own = self.word(at).to_owned();
        let verb = self.verb(at);
        self.about |= lists("total totals sum amount amounts", &own) || lists(NEUTRAL, &own);
        // "IT" and "US" are names, "it" and "us" are not.
        let capitals = said.len() > 1 && said.chars().all(char::is_uppercase);
        let is_about = (lists(ABOUT, &own) || is_link(&own)) && !capitals;
        // A single "paid" is not a name, although "Interest paid" contains it. It is a name if a
        // text of the list is just "Paid", such as a state.
        let is_no_name = is_about || lists("paid spent received", &own) && !self.is_text(&own);
        let name = name_at(self.list, self.words.get(at..).unwrap_or_default());
        if let Some((length, name)) = name.filter(|(length, _)| *length > 1 || !is_no_name) {
            self.asked.names.push(name);
            if length == 1 {
                self.named = either(self.named, verb.unwrap_or_default());
            }
            return length;
        }
        if is_about {
            self.take_link(at, said, &own);
        } else {
            self.take_content(said, &own, verb);
        }
        1
    }

    /// Reads a word that selects no rows, such as "and" or "total".
    fn take_link(&mut self, at: usize, said: &'q str, own: &str) {
        self.joins |= own == "and";
        self.with |= own == "with";
        // A shop may be called "Total" or "Total Wine".
        let begins =
            at > 0 && said.starts_with(char::is_uppercase) || lists("at from", self.last(at));
        let is_name = self.is_text(own) || begins && name_at(self.list, &[said]).is_some();
        // "By" precedes who paid, or a kind of group: "by month".
        let by = own == "by" && !self.verbs.contains(&true);
        self.unmet = self.unmet.or((is_name || by).then_some(said));
    }

    /// Reads a word of a heading, a verb or a currency.
    fn take_content(&mut self, said: &'q str, own: &str, verb: Option<Directions>) {
        let list = self.list;
        let has = |c: &usize| list.headings.get(*c).is_some_and(|of| says(of, said));
        let mut figures = list.figures.iter();
        if figures.any(|c| !list.amounts.contains(c) && has(c)) {
            self.unmet = self.unmet.or(verb.map(|_| said));
            self.columns.push(said);
        } else if let Some(directions) = verb {
            self.verbs = either(self.verbs, directions);
            self.refunds |= lists(REFUNDS, own);
        } else if let Some(column) = list.texts.iter().find(|c| has(c)) {
            self.asked.headings.push(*column);
        } else if let Some(currency) = currency_in(own) {
            self.unmet = self.unmet.or(self.asked.currency.is_some().then_some(said));
            self.asked.currency = Some(currency);
        } else if !list.amounts.iter().any(has) {
            self.unmet = self.unmet.or(Some(said));
        }
    }

    /// The question that was read; `None` if it does not ask for a sum.
    fn finish(self) -> Option<TableResult<SumQuestion<'q>>> {
        let directions = if self.verbs.contains(&true) {
            self.verbs
        } else {
            self.named
        };
        let asks = self.about || !self.columns.is_empty() || directions.contains(&true);
        asks.then(|| self.checked(directions))
    }

    /// The question, unless it is not clear which rows it asks for.
    fn checked(mut self, directions: Directions) -> TableResult<SumQuestion<'q>> {
        self.asked.came_in = match directions {
            [true, true] => return missing("it is not said whether it was spent or received"),
            [false, false] => None,
            [_, came_in] => Some(came_in),
        };
        if let Some(word) = self.unmet {
            let why = "is neither a name of the list nor a word about its sums";
            return missing(format!("{word:?} {why}"));
        }
        if self.refunds && self.asked.names.is_empty() {
            return missing("not all that was received is a refund");
        }
        let by_columns = (self.joins || self.with) && !self.columns.is_empty();
        if by_columns || self.joins && self.asked.names.len() > 1 {
            return missing("the question names several rows or columns");
        }
        if !self.columns.is_empty() {
            self.asked.column = Some(column_of(self.list, &self.columns)?);
        }
        Ok(self.asked)
    }
}

/// The directions that at least one of two places states.
fn either(one: Directions, other: Directions) -> Directions {
    [one[0] || other[0], one[1] || other[1]]
}

/// True if a heading has a word.
fn says(heading: &str, said: &str) -> bool {
    let mut words = heading.split(|c: char| !c.is_alphanumeric());
    // In lower case, because `same` is strict about words with a capital.
    words.any(|own| same(own, &said.to_lowercase()))
}

/// The column of figures that has all of these words in its heading.
fn column_of(list: &TransactionList, said: &[&str]) -> TableResult<usize> {
    let heading = |c: &usize| list.headings.get(*c).map_or("", String::as_str);
    let all = |c: &&usize| said.iter().all(|word| says(heading(c), word));
    let columns: Vec<usize> = list.figures.iter().filter(all).copied().collect();
    match columns.as_slice() {
        [only] if list.adds_up(*only) => Ok(*only),
        [only] => missing(format!("{:?} is not added up", heading(only))),
        _ => missing(format!(
            "{:?} does not name one column of the list",
            said.join(" ")
        )),
    }
}

/// The longest name at the start of these words that a transaction has: the number of words that it
/// takes, and the name without articles and links. `None` if there is none.
fn name_at<'q>(list: &TransactionList, words: &[&'q str]) -> Option<(usize, Vec<&'q str>)> {
    let is_link = |word: &str| is_link(&word.to_lowercase());
    let is_inner = |word: &str| lists("the of and a an", &word.to_lowercase());
    (1..=words.len()).rev().find_map(|length| {
        let said = words.get(..length)?;
        let mut inside = said.iter();
        if is_link(said.first()?)
            || is_link(said.last()?)
            || inside.any(|word| is_link(word) && !is_inner(word))
        {
            return None;
        }
        let name: Vec<&str> = said.iter().filter(|word| !is_link(word)).copied().collect();
        let mut texts = list.rows.iter().flat_map(|row| &row.texts);
        let found = texts.any(|text| same_name(&text.words, &name).is_some());
        found.then_some((length, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::page::transactions::tests::read as list_of;

    /// A question about a list with the payee "Rewe"; `None` if it does not ask for a sum, or not
    /// surely.
    fn read(question: &str) -> Option<SumQuestion<'_>> {
        let rows = [
            "Date|Shop|Amount", "2031-01-05|Rewe|-12", "2031-01-09|Boss|20",
        ];
        SumQuestion::read(&list_of(&rows).unwrap(), question)?.ok()
    }

    #[test]
    fn a_verb_says_whether_money_went_out_or_came_in() {
        let out = "spent spend spending spends pay paid pays cost costs bought buy expense expenses \
            expenditure purchase purchases debit dr withdrawal withdrawals out payment payments \
            went gone send sent buying debited";
        let into = "received receive earned income credit cr deposit deposits paid-in refund \
            refunds refunded get got made make earn credited";
        let neutral = "charged billed invoiced";
        for (words, came_in) in [(out, Some(false)), (into, Some(true)), (neutral, None)] {
            for word in words.split(' ') {
                let question = format!("How much was {word} at Rewe?");
                let found = read(&question).map(|asked| asked.came_in);
                assert_eq!(found, Some(came_in), "{word}");
            }
        }
        for word in "refund refunds refunded".split(' ') {
            assert!(read(&format!("How much was {word}?")).is_none(), "{word}");
        }
    }

    #[test]
    fn a_word_about_the_money_selects_no_rows() {
        let about = "total totals sum all altogether overall amount amounts value transaction \
            transactions store shop money what how much i me my we us our you it is was were are be \
            been did do does has have had please tell show give";
        for word in about.split(' ') {
            let question = format!("{word} spent at Rewe");
            let found = read(&question).and_then(|asked| asked.came_in);
            assert_eq!(found, Some(false), "{word}");
        }
        assert!(read("gladly spent at Rewe").is_none());
    }

    #[test]
    fn a_question_for_more_than_a_sum_is_no_sum() {
        let beyond = "average mean median largest biggest smallest highest lowest most least count \
            number many share percent percentage more less than difference change increase decrease \
            compare compared per each every monthly which when who where balance ratio";
        for word in beyond.split(' ') {
            assert!(is_beyond(&format!("{word} spent at rewe")), "{word}");
        }
        assert!(!is_beyond("how much was spent at rewe"));
    }
}
