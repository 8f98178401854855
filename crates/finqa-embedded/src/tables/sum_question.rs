//! Reads a question for a sum of transactions, word by word.

use finqa_core::number::currency_in;

use super::marks::RELATIVE_TIME;
use super::page::{TableResult, missing};
use super::transactions::{IN, OUT, TransactionList, is_link, is_one_of, name_words};
use super::words::lists;

/// Words about the money or the rows that do not select any rows.
const ABOUT: &str = "total totals sum all altogether overall amount amounts value transaction transactions store shop \
    money what how much i me my we us our you it is was were are been be did do does has have had please tell \
    show give";

/// Verbs that do not tell money spent from money received.
const NEUTRAL: &str = "charged billed invoiced";

/// More verbs for money that goes out and for money that comes in.
const GOES: &str = "went gone send sent buying debited";
const COMES: &str = "get got made make earn credited";
const REFUNDS: &str = "refund refunds refunded";

/// Words that ask for more than a sum.
const BEYOND: &str = "average mean median largest biggest smallest highest lowest most least count number many share percent \
    percentage more less than difference change increase decrease compare compared per each every monthly \
    which when who where balance ratio";

/// A question for a sum of transactions.
#[derive(Debug, Default)]
pub(super) struct SumQuestion<'q> {
    /// The names of the rows, as they are spelled.
    pub(super) names: Vec<Vec<&'q str>>,
    /// The columns of texts that it names.
    pub(super) headings: Vec<usize>,
    /// The column to add up, if it is not that of the amounts.
    pub(super) column: Option<usize>,
    pub(super) currency: Option<String>,
    /// True if the question asks for money received, false for money spent; `None` for either.
    pub(super) came_in: Option<bool>,
}

/// True if a question asks for something other than a sum, such as an average.
pub(super) fn is_beyond(lower: &str) -> bool {
    is_one_of(BEYOND, lower) || RELATIVE_TIME.is_match(lower)
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
pub(super) fn same_name(own: &[String], said: &[&str]) -> Option<usize> {
    let same = |words: &[String]| words.iter().zip(said).all(|(own, said)| same(own, said));
    own.windows(said.len().max(1)).position(same)
}

impl<'q> SumQuestion<'q> {
    /// Reads a question without its times; `None` if it does not ask for a sum.
    pub(super) fn read(list: &TransactionList, question: &'q str) -> Option<TableResult<Self>> {
        let words = name_words(question);
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let word = |at: usize| lower.get(at).map_or("", String::as_str);
        let mut out = Self::default();
        let (mut about, mut refunds, mut unmet) = (false, false, None);
        let (mut joins, mut with) = (false, false);
        // For verbs and for names: [says that money went out, says that money came in].
        let (mut verbs, mut named) = ([false; 2], [false; 2]);
        let mut columns: Vec<&str> = Vec::new();
        let mut at = 0;
        while let Some(said) = words.get(at) {
            let own = word(at);
            let (next, last) = (word(at + 1), at.checked_sub(1).map_or("", word));
            let came = lists("came come comes coming", own);
            let into = lists(IN, own) || lists(COMES, own) || came && next == "in";
            let goes = lists(OUT, own) || lists(GOES, own);
            // "Paid by Acme", "paid me", "was I paid"
            let passive = lists("i we", last) && lists("was were been", word(at.saturating_sub(2)))
                || lists("been was were", last) && lower.iter().any(|word| lists("i we", word));
            let reversed = lists("pay paid pays", own)
                && (lists("me us", next)
                    || passive
                    || next == "by" && !lists("me us", word(at + 2)));
            let sides = [goes && !reversed, into || reversed];
            about |= lists("total totals sum amount amounts", own) || lists(NEUTRAL, own);
            let name = name_at(list, words.get(at..).unwrap_or_default());
            // "IT" and "US" are names, "it" and "us" are not.
            let capitals = said.len() > 1 && said.chars().all(char::is_uppercase);
            let is_about = (lists(ABOUT, own) || is_link(own)) && !capitals;
            let is_text = || {
                let mut texts = list.rows.iter().flat_map(|row| &row.texts);
                texts.any(|text| text.words == [own])
            };
            // A single "paid" is not a name, although "Interest paid" contains it. It is a name if
            // a text of the list is just "Paid", such as a state.
            let is_plain = is_about || lists("paid spent received", own) && !is_text();
            if let Some((length, name)) = name.filter(|(length, _)| *length > 1 || !is_plain) {
                out.names.push(name);
                if length == 1 {
                    named = [named[0] || sides[0], named[1] || sides[1]];
                }
                at += length;
                continue;
            }
            at += 1;
            if is_about {
                joins |= own == "and";
                with |= own == "with";
                // A shop may be called "Total" or "Total Wine".
                let begins =
                    at > 1 && said.starts_with(char::is_uppercase) || lists("at from", last);
                let is_name = is_text() || begins && name_at(list, &[said]).is_some();
                // "By" precedes who paid, or a kind of group: "by month".
                let by = own == "by" && !verbs.contains(&true);
                unmet = unmet.or((is_name || by).then_some(*said));
                continue;
            }
            let has = |c: &usize| list.headings.get(*c).is_some_and(|of| says(of, said));
            let figure = list
                .figures
                .iter()
                .any(|c| !list.amounts.contains(c) && has(c));
            let is_verb = into || goes || came || lists(NEUTRAL, own);
            if figure {
                unmet = unmet.or(is_verb.then_some(*said));
                columns.push(said);
            } else if is_verb {
                verbs = [verbs[0] || sides[0], verbs[1] || sides[1]];
                refunds |= lists(REFUNDS, own);
            } else if let Some(column) = list.texts.iter().find(|c| has(c)) {
                out.headings.push(*column);
            } else if let Some(currency) = currency_in(own) {
                unmet = unmet.or(out.currency.is_some().then_some(*said));
                out.currency = Some(currency);
            } else if !list.amounts.iter().any(has) {
                unmet = unmet.or(Some(*said));
            }
        }
        about |= !columns.is_empty() || verbs.contains(&true) || named.contains(&true);
        if !about {
            return None;
        }
        out.came_in = match if verbs.contains(&true) { verbs } else { named } {
            [true, true] => {
                return Some(missing("it is not said whether it was spent or received"));
            }
            [false, false] => None,
            [_, came_in] => Some(came_in),
        };
        if let Some(word) = unmet {
            let why = "is neither a name of the list nor a word about its sums";
            return Some(missing(format!("{word:?} {why}")));
        }
        if refunds && out.names.is_empty() {
            return Some(missing("not all that was received is a refund"));
        }
        if (joins || with) && !columns.is_empty() || joins && out.names.len() > 1 {
            return Some(missing("the question names several rows or columns"));
        }
        if !columns.is_empty() {
            match column_of(list, &columns) {
                Ok(column) => out.column = Some(column),
                Err(why) => return Some(Err(why)),
            }
        }
        Some(Ok(out))
    }
}

/// True if a heading has a word.
fn says(heading: &str, said: &str) -> bool {
    let mut words = heading.split(|c: char| !c.is_alphanumeric());
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

/// The number of words of the longest name at the start of these words, and that name.
fn name_at<'q>(list: &TransactionList, words: &[&'q str]) -> Option<(usize, Vec<&'q str>)> {
    let inner = |word: &str| lists("the of and a an", word);
    (1..=words.len()).rev().find_map(|length| {
        let said = words.get(..length)?;
        let ends = [said.first()?, said.last()?];
        let lower = |word: &str| word.to_lowercase();
        let is_link = |word: &&&str| is_link(&lower(word));
        if ends.iter().any(is_link)
            || said
                .iter()
                .any(|word| is_link(&word) && !inner(&lower(word)))
        {
            return None;
        }
        let name: Vec<&str> = said.iter().filter(|word| !is_link(word)).copied().collect();
        let mut texts = list.rows.iter().flat_map(|row| &row.texts);
        let found = texts.any(|text| same_name(&text.words, &name).is_some());
        found.then_some((length, name))
    })
}
