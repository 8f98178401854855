//! Knows the names of figures: which names mean one figure, and which figures are computed from
//! others. They are read from `concepts.txt`, whose first lines explain its marks.

use std::sync::LazyLock;

use crate::tables::words::{is_light, plain_stems, same_word, stems};

/// One figure with all its names: a line of `concepts.txt`. Each exists once, in [`CONCEPTS`], so
/// concepts are compared by address.
#[derive(Debug)]
pub(crate) struct Concept {
    pub(crate) names: Vec<ConceptName>,
    /// For a ratio such as a margin: the names of its numerator and its denominator.
    pub(crate) quotient: Option<(&'static str, &'static str)>,
    /// For a measure that reports need not print, such as EBITDA: how it is computed.
    pub(crate) formula: Option<Formula>,
    /// Set if this figure is meant when certain words are next to the name of another one: the
    /// names of the other figure, and the words. Income taxes with "paid" are income taxes paid.
    instead_of: Option<(Vec<Vec<String>>, Vec<String>)>,
    /// True if reports state the figure in sentences.
    pub(crate) stated: bool,
    /// True if the name means nothing beside another one: "cash" in "how much cash went to
    /// dividends".
    pub(crate) loose: bool,
}

/// A name of a figure.
#[derive(Debug)]
pub(crate) struct ConceptName {
    pub(crate) stems: Vec<String>,
    /// The name as it is written in the file.
    pub(crate) written: &'static str,
    /// True if it means the opposite: "net loss" among the names of net income.
    pub(crate) opposite: bool,
    /// All of its words; filler words, which have no stem, are kept as they are.
    spelled: Vec<String>,
}

/// A figure by one of its names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedConcept {
    pub(crate) concept: &'static Concept,
    pub(crate) name: &'static ConceptName,
}

/// A measure as a sum of named figures, or as the quotient of two sums if `below` is not empty.
#[derive(Debug)]
pub(crate) struct Formula {
    pub(crate) above: Vec<SumTerm>,
    pub(crate) below: Vec<SumTerm>,
}

/// A figure in the sum of a formula.
#[derive(Debug)]
pub(crate) struct SumTerm {
    pub(crate) name: &'static str,
    pub(crate) subtracted: bool,
    /// True if the term counts as 0 in a report without this figure.
    pub(crate) optional: bool,
}

impl Formula {
    /// Reads a formula such as `a+b?-c/d`, in which `?` marks an optional term.
    fn read(text: &'static str) -> Self {
        let terms = |sum: &'static str| {
            let mut subtracted = false;
            let read = |part: &'static str| {
                let name = part.trim_end_matches(['+', '-']);
                let term = SumTerm {
                    name: name.trim_end_matches('?'),
                    subtracted,
                    optional: name.ends_with('?'),
                };
                // `split_inclusive` leaves the sign of a term at the end of the term before it.
                subtracted = part.ends_with('-');
                term
            };
            sum.split_inclusive(['+', '-']).map(read).collect()
        };
        let (above, below) = text.split_once('/').unwrap_or((text, ""));
        Self {
            above: terms(above),
            below: terms(below),
        }
    }

    /// The terms of both sums.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &SumTerm> {
        self.above.iter().chain(&self.below)
    }
}

impl PartialEq for Concept {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Concept {
    /// True if it has a name with these stems.
    pub(crate) fn has_name(&self, stems: &[String]) -> bool {
        self.names.iter().any(|name| name.stems == stems)
    }
}

impl ConceptName {
    /// Reads a name; a minus marks one of the opposite sense.
    fn read(name: &'static str) -> Self {
        let written = name.trim_start_matches('-');
        Self {
            stems: plain_stems(written),
            written,
            opposite: name.starts_with('-'),
            spelled: written.split(' ').flat_map(spelled).collect(),
        }
    }

    pub(crate) fn says(&self, word: &str) -> bool {
        self.stems.iter().any(|stem| stem == word)
    }
}

static CONCEPTS: LazyLock<Vec<Concept>> = LazyLock::new(|| {
    let lines = include_str!("concepts.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let bare = line.trim_start_matches(['=', '~', '*', '>', '+']);
        let (names, of) = bare.split_once(':').unwrap_or((bare, ""));
        let beside = of.split_once(':').filter(|_| line.starts_with('>'));
        Concept {
            names: names.split('|').map(ConceptName::read).collect(),
            quotient: of.split_once('/').filter(|_| line.starts_with('=')),
            formula: line.starts_with('*').then(|| Formula::read(of)),
            instead_of: beside.map(|(of, words)| {
                let names = of.split('|').map(plain_stems);
                (names.collect(), plain_stems(words))
            }),
            stated: line.starts_with('+'),
            loose: line.starts_with('~'),
        }
    };
    lines.map(read).collect()
});

/// Maximum number of words of a text that are compared with names; longer names are not found. No
/// name in `concepts.txt` has as many.
const LONGEST: usize = 12;

/// The longest name that a text begins with, and its number of words. On a tie, an amount precedes
/// a ratio.
pub(crate) fn name_at(text: &[&str]) -> Option<(usize, NamedConcept)> {
    let words = text.iter().take(LONGEST).map(|word| spelled(word));
    let words: Vec<Vec<String>> = words.collect();
    let longest = |concept: &'static Concept| {
        let names = concept.names.iter();
        let lengths = names.filter_map(|name| Some((taken(&words, &name.spelled)?, name)));
        // Names with equal stems, such as "revenue" and "revenues", differ only in the text of a
        // doubt, which quotes the user's word.
        let is_quoted = |length: usize, name: &ConceptName| {
            let said = text.iter().take(length).copied();
            name.written.split(' ').eq(said)
        };
        let (length, name) =
            lengths.max_by_key(|(length, name)| (*length, is_quoted(*length, name)))?;
        Some((length, NamedConcept { concept, name }))
    };
    let named = CONCEPTS.iter().filter_map(longest);
    // A ratio has either a longer name, or one that is an amount's too ("gross margin").
    named.max_by_key(|(length, one)| (*length, one.concept.quotient.is_none()))
}

/// The stems of a word, or the word itself if it is a filler word, because names contain these.
fn spelled(word: &str) -> Vec<String> {
    match (stems(word), word) {
        (stems, "&") if stems.is_empty() => vec!["and".to_owned()],
        (stems, _) if stems.is_empty() => vec![word.to_owned()],
        (stems, _) => stems,
    }
}

/// The number of words that a name takes at the beginning of a text; `None` if the text does not
/// begin with it.
fn taken(words: &[Vec<String>], name: &[String]) -> Option<usize> {
    let mut rest = name;
    for (at, stems) in words.iter().enumerate() {
        rest = rest.strip_prefix(stems.as_slice())?;
        if rest.is_empty() {
            return Some(at + 1);
        }
    }
    None
}

/// Splits a question into words and names of figures. Each part is the list of all ways to say it,
/// as stems, and the first is the question's own.
pub(crate) fn ways_to_say(question: &str) -> Vec<Vec<Vec<String>>> {
    let plain = question.to_lowercase().replace(['-', '/'], " ");
    let marks = |c: char| !c.is_alphanumeric() && c != '&';
    let words = plain.split_whitespace();
    let words: Vec<&str> = words.map(|word| word.trim_matches(marks)).collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        match name_at(words.get(at..).unwrap_or_default()) {
            Some((length, NamedConcept { concept, name })) => {
                let others = concept.names.iter().filter(|own| !std::ptr::eq(*own, name));
                let names = [name].into_iter().chain(others);
                out.push(names.map(|name| name.stems.clone()).collect());
                at += length;
            }
            None => {
                out.extend(stems(word).into_iter().map(|stem| vec![vec![stem]]));
                at += 1;
            }
        }
    }
    out
}

/// The figure that is meant instead of the named one because of the words next to the name, with
/// the stems of these words. `None` if the named one is meant. `said` has the question's stems.
pub(crate) fn instead_of(
    named: &Concept,
    said: &[String],
) -> Option<(NamedConcept, &'static [String])> {
    CONCEPTS.iter().find_map(|concept| {
        let (of, words) = concept.instead_of.as_ref()?;
        let name = concept.names.first()?;
        let is_named = of.iter().any(|of| named.has_name(of));
        let is_meant = is_named && words.iter().any(|word| said.contains(word));
        is_meant.then_some((NamedConcept { concept, name }, words.as_slice()))
    })
}

/// All names, as they are written.
pub(crate) fn written_names() -> impl Iterator<Item = &'static str> {
    let names = CONCEPTS.iter().flat_map(|concept| &concept.names);
    names.map(|name| name.written)
}

/// The ratios that have names, such as margins.
pub(crate) fn quotients() -> impl Iterator<Item = &'static Concept> {
    CONCEPTS.iter().filter(|one| one.quotient.is_some())
}

/// The amount with this name; `None` for ratios and unknown names.
pub(crate) fn amount_named(stems: &[String]) -> Option<NamedConcept> {
    let mut amounts = CONCEPTS.iter().filter(|one| one.quotient.is_none());
    amounts.find_map(|concept| {
        let name = concept.names.iter().find(|name| name.stems == stems)?;
        Some(NamedConcept { concept, name })
    })
}

/// True if questions name a row. Either they have all words of its label, apart from light words
/// and numbers, or they ask for a figure by a name that the label contains. A question for a
/// measure also asks for the figures of its formula.
pub fn names_row<'q>(questions: impl Iterator<Item = &'q str>, label: &str) -> bool {
    let all = plain_stems(label);
    let mut asked: Vec<Vec<Vec<String>>> = questions.flat_map(ways_to_say).collect();
    let terms = |names: &Vec<Vec<String>>| -> Vec<&'static str> {
        let mut concepts = CONCEPTS.iter();
        let concept = concepts.find(|one| names.iter().all(|name| one.has_name(name)));
        let formula = concept.and_then(|one| one.formula.as_ref()).into_iter();
        let terms = formula.flat_map(|of| of.terms().map(|term| term.name));
        let sides = concept.and_then(|one| one.quotient).into_iter();
        terms
            .chain(sides.flat_map(|(part, whole)| [part, whole]))
            .collect()
    };
    // A formula can have measures as terms: net debt uses total debt.
    let mut at = 0;
    while let Some(names) = asked.get(at) {
        let terms = terms(names);
        asked.extend(terms.into_iter().flat_map(ways_to_say));
        at += 1;
    }
    let said = |word: &String| {
        let mut words = asked.iter().flatten().flatten();
        words.any(|other| same_word(other, word))
    };
    let is_named = |name: &Vec<String>| name.iter().all(|word| all.contains(word));
    // A plain word has only one way to say it.
    let concepts = asked.iter().filter(|names| names.len() > 1);
    let mut own = all.iter().filter(|word| !is_light(word));
    own.all(said) || concepts.flatten().any(is_named)
}

/// True if the label is a known name of an amount, such as "Net sales".
pub fn names_amount(label: &str) -> bool {
    amount_named(&plain_stems(label)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before, one word in common was enough for a row that a chat model cites.
    #[test]
    fn a_question_names_a_row_by_all_its_words_or_by_a_name_that_it_has() {
        for (question, label, named) in [
            ("What was gross profit in 2031?", "Gross margin", true),
            (
                "What was gross profit in 2031?", "Profit sharing plan", false,
            ),
            ("What were net sales in Germany?", "Germany", true),
            ("What were net sales in Germany?", "United States", false),
            (
                "What was net income?", "Net income attributable to Halden", true,
            ),
            (
                "What was the current ratio?", "Total current liabilities", true,
            ),
            ("What was the current ratio?", "Current tax expense", false),
            ("What was net debt?", "Short-term borrowings", true),
            (
                "What was the operating margin?", "Operating lease cost", false,
            ),
            ("What was the operating margin?", "Operating income", true),
        ] {
            let read = names_row([question].into_iter(), label);
            assert_eq!(read, named, "{question}: {label}");
        }
    }
}
