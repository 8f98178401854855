//! Defines the stems by which labels and questions are compared, and the words that are ignored.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

use finqa_core::pattern;
use finqa_core::text::Pattern;

use crate::reading::text::{TextToken, TokenKind, stem, tokenize};

/// The stems of a list of words. They are computed when they are first used.
pub(crate) struct Stems {
    words: &'static str,
    stems: OnceLock<HashSet<String>>,
}

impl Stems {
    pub(crate) const fn new(words: &'static str) -> Self {
        let stems = OnceLock::new();
        Self { words, stems }
    }
}

impl Deref for Stems {
    type Target = HashSet<String>;

    fn deref(&self) -> &HashSet<String> {
        self.stems.get_or_init(|| stemmed(self.words))
    }
}

/// Words that do not name a figure, in labels or in questions.
pub(crate) static FILLERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = "a an the of in on at for to from by with and or as is was were are be been being \
        did do does has have had what how much many there we our us i you your it its they them \
        their this that these those he she company companies firm group business amount amounts \
        value values figure figures number numbers year years yearly fiscal reported recorded \
        report record made make earn earned generate generated come came comes ended during \
        please tell hello hi altogether respectively over between through until across &";
    words.split_whitespace().collect()
});

/// Words with which people ask, and which say nothing of what they ask for.
pub(crate) const POLITE: &str = "can could will shall so such then here now also even just \
    need want see say show shows showed know give find look looking me currently according \
    expressed terms compare";

/// Words of questions that do not change what is asked.
pub(crate) const NOISE: &str = "about around far onto quite so thank thanks toward towards";

/// Further ones, which are ignored in questions about reports. People put them around the name of a
/// figure: "how much went out the door for rent". In a small table, they can mean another figure:
/// "how much is left?", "how many people did we take on?"
pub(crate) const REPORT_NOISE: &str = "\
    should may might must would again away back bad big bring bringing brings brought \
    carry carrying carried charge charged door fast get gets got getting good handed hold \
    held holding incur incurred into keep kept laid let lay large left order out outlay \
    overall pass post posted puts quick quickly rapidly sit size stood strongly take taken \
    takes took use using whole win worldwide within high huge lot lots money dollar \
    dollars usd only still yet statement statements sheet sheets balance printed sum level \
    levels invest invested owe owed owes own airline insurer retailer manufacturer";

/// Words for what is spent on something. Any cost can be meant by them.
pub(crate) const SPEND: &str =
    "spend spending spends spent pay pays paying go goes going gone went put";

/// Verbs between the whole and the part: "what share of sales came from A?"
pub(crate) const VERBS: &str = "is was are were comes came come made did do does has had have \
    earned stemmed derived billed goes went";

/// Pronouns that refer to an earlier question.
pub(crate) const PRONOUNS: &str = "it its that this these those they them";

/// Words of a label that a question can omit without asking for another row: "Total net sales".
static LIGHT: Stems =
    Stems::new("total overall actual consolidated equivalents attributable net subtotal end");

/// Words that a question can add to a label: "people" in "how many people are employees".
static LOOSE: Stems = Stems::new("due people persons work");

/// True for a word with which a question can ask for any figure, so that no label need have it:
/// "total" and "due" in "the total due".
pub(crate) fn is_loose(word: &str) -> bool {
    word == "total" || LOOSE.contains(word)
}

pub(crate) fn is_light(word: &str) -> bool {
    LIGHT.contains(word) || word.chars().all(|c| !c.is_alphabetic())
}

/// True if a space-separated list has exactly this word.
pub(crate) fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| other == word)
}

/// True if a text has a word of a space-separated list.
pub(crate) fn has_one_of(list: &str, text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| lists(list, word))
}

/// True if a space-separated list has a word with this stem.
pub(crate) fn lists_stem(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| stem(other) == word)
}

/// The words of a list, stemmed.
pub(crate) fn stemmed(list: &str) -> HashSet<String> {
    let words = list.split_whitespace();
    words.map(|word| stem(word).into_owned()).collect()
}

/// The stems of the words and numbers of a text that name something, in lower case.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let names = |token: &TextToken<'_>| {
        let named = matches!(token.kind, TokenKind::Word | TokenKind::Number);
        named && !FILLERS.contains(token.text.as_ref())
    };
    let stems = |chunk: &str| -> Vec<String> {
        // "Units sold" are not sales, so "sold" keeps its form.
        if chunk.trim_matches(|c: char| !c.is_alphanumeric()) == "sold" {
            return vec!["sold".to_owned()];
        }
        let tokens = tokenize(chunk).into_iter().filter(names);
        tokens.map(|token| token.text.into_owned()).collect()
    };
    lower.split_whitespace().flat_map(stems).collect()
}

/// The spellings of the United States. Without this, "U.S." would be read as "us".
pub(crate) static STATES: Pattern =
    pattern!(r"\b[Uu]nited [Ss]tates\b(?: of America\b)?|\b[Uu]\.[Ss]\.?|\bUS\b|\bu\.s\b\.?");

/// The stems of a text in which hyphens, slashes and trade marks count as spaces.
pub(crate) fn plain_stems(text: &str) -> Vec<String> {
    stems(&STATES.replace_all(text, "usa ").replace(
        ['-', '/', '\u{2013}', '\u{2014}', '\u{ae}', '\u{2122}'],
        " ",
    ))
}

/// Splits a text into the part outside its first brackets and the part inside them.
pub(crate) fn brackets(text: &str) -> (String, &str) {
    let (plain, inside) = text.split_once(['(', '[']).unwrap_or((text, ""));
    let (inside, after) = inside.split_once([')', ']']).unwrap_or((inside, ""));
    (format!("{plain} {after}"), inside)
}

/// The words of a label in Latin script and those in another script, because a label in two
/// languages says one thing twice. `None` if the label does not have both.
pub(crate) fn in_one_script(text: &str) -> Option<(String, String)> {
    // U+024F is the last letter of the block Latin Extended-B.
    let is_latin = |c: char| !c.is_alphabetic() || c < '\u{250}';
    let words = text.split_whitespace();
    let (latin, other): (Vec<&str>, Vec<&str>) = words.partition(|word| word.chars().all(is_latin));
    let latin = latin.join(" ");
    let both = latin.contains(char::is_alphabetic) && !other.is_empty();
    both.then(|| (latin, other.join(" ")))
}

/// True if two stems can be of one word, because the stemmer does not reduce all forms to one:
/// `matur` and `maturity`, which are at the limits of both lengths.
pub(crate) fn same_word(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || short.len() >= 5 && long.starts_with(short) && long.len() <= short.len() + 3
}

/// A word with which a question names something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SaidWord {
    pub(crate) stem: String,
    /// The text of the question that has it.
    pub(crate) text: String,
}

impl SaidWord {
    pub(crate) fn new(stem: impl Into<String>, text: impl Into<String>) -> Self {
        let (stem, text) = (stem.into(), text.into());
        Self { stem, text }
    }
}
