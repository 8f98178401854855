//! What figures are called, by their own words or by names that have others (`concepts.txt`).

use std::sync::LazyLock;

use super::words::{LIGHT, lists_stem, plain_stems, same_word, stems};

/// Words that name no figure by themselves: a label need not have them.
pub(super) const SOFT: &str = "since total group overall consolidated net expense cost charge spending line item segment region \
    category product market geographic business division spend spent amount went book hold held \
    worth dollar dollars used cash-flow statement sheet income-statement period year quarter month week date time \
    brought billed company's out up per-share reported accounting principle";

/// What one figure is called.
#[derive(Debug)]
pub(super) struct Concept {
    /// Each of its names as stems.
    pub(super) names: Vec<Vec<String>>,
    /// Each as it is written.
    written: Vec<&'static str>,
    /// Whether each is of the opposite sense: a loss among profits.
    opposite: Vec<bool>,
    /// Each as all of its words, those that name nothing as they are.
    spelled: Vec<Vec<String>>,
    /// What it is a quotient of, by the names of both.
    pub(super) quotient: Option<(Vec<String>, Vec<String>)>,
    /// What it is computed from, if reports need not print it.
    pub(super) formula: Option<Formula>,
    /// Other figures, each by one of its names, and the words beside it that make it this one:
    /// income taxes and "paid".
    instead_of: Option<(Vec<Vec<String>>, Vec<String>)>,
    /// Sentences state it.
    pub(super) stated: bool,
    /// With another name it may mean nothing: "how much cash went to dividends".
    pub(super) loose: bool,
}

/// A measure as sums of named figures, the first over the second if there are two.
#[derive(Debug)]
pub(super) struct Formula {
    pub(super) above: Vec<Term>,
    pub(super) below: Vec<Term>,
}

/// A figure in a sum.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) name: &'static str,
    pub(super) subtracted: bool,
    /// Nothing is added where the report has none.
    pub(super) optional: bool,
}

impl Formula {
    /// Reads `a+b?-c/d`.
    fn read(text: &'static str) -> Self {
        let terms = |sum: &'static str| {
            let terms = sum.split_inclusive(['+', '-']);
            // The mark at the end of a part is that of the next.
            let signs = ['+']
                .into_iter()
                .chain(terms.clone().filter_map(|part| part.chars().last()));
            let read = |(part, sign): (&'static str, char)| {
                let name = part.trim_end_matches(['+', '-']);
                Term {
                    name: name.trim_end_matches('?'),
                    subtracted: sign == '-',
                    optional: name.ends_with('?'),
                }
            };
            terms.clone().zip(signs).map(read).collect()
        };
        let (above, below) = text
            .split_once('/')
            .map_or((text, None), |(a, b)| (a, Some(b)));
        Self {
            above: terms(above),
            below: below.map_or_else(Vec::new, terms),
        }
    }
}

impl Concept {
    /// One of its names, as it is written.
    pub(super) fn written(&self, name: usize) -> &'static str {
        self.written.get(name).copied().unwrap_or_default()
    }

    /// Whether two of its names are of opposite senses.
    pub(super) fn differ(&self, one: usize, other: usize) -> bool {
        self.opposite.get(one) != self.opposite.get(other)
    }
}

static CONCEPTS: LazyLock<Vec<Concept>> = LazyLock::new(|| {
    let lines = include_str!("concepts.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let (names, of) = line
            .trim_start_matches(['=', '~', '*', '>', '+'])
            .split_once(':')
            .unwrap_or((line.trim_start_matches(['~', '+']), ""));
        let sides = of.split_once('/').filter(|_| line.starts_with('='));
        let instead_of = line
            .strip_prefix('>')
            .and_then(|line| line.split(':').nth(1));
        let beside = line.split(':').nth(2).unwrap_or_default();
        let opposite = names.split('|').map(|name| name.starts_with('-'));
        let names: Vec<&str> = names
            .split('|')
            .map(|name| name.trim_start_matches('-'))
            .collect();
        let spelled = |name: &&str| name.split(' ').flat_map(spelled).collect();
        Concept {
            opposite: opposite.collect(),
            spelled: names.iter().map(spelled).collect(),
            names: names.iter().copied().map(plain_stems).collect(),
            written: names,
            quotient: sides.map(|(part, whole)| (plain_stems(part), plain_stems(whole))),
            formula: line.starts_with('*').then(|| Formula::read(of)),
            instead_of: instead_of.map(|of| {
                (
                    of.split('|').map(plain_stems).collect(),
                    plain_stems(beside),
                )
            }),
            stated: line.starts_with('+'),
            loose: line.starts_with('~'),
        }
    };
    lines.map(read).collect()
});

/// Words of the longest name.
const LONGEST: usize = 12;

/// The longest name that a text begins with: how many words it takes, and which it is.
pub(super) fn name_at(text: &[&str]) -> Option<(usize, &'static Concept, usize)> {
    let words: Vec<Vec<String>> = text
        .iter()
        .take(LONGEST)
        .map(|word| spelled(word))
        .collect();
    let longest = |concept: &'static Concept| {
        let names = concept.spelled.iter().enumerate();
        let lengths = names.filter_map(|(at, name)| Some((taken(&words, name)?, at)));
        // Names of the same stems differ only in what a doubt quotes: "revenue", "revenues".
        let is_quoted = |length, at| {
            let said = text.iter().take(length).copied();
            concept.written(at).split(' ').eq(said)
        };
        let (length, name) =
            lengths.max_by_key(|(length, at)| (*length, is_quoted(*length, *at)))?;
        Some((length, concept, name))
    };
    let named = CONCEPTS.iter().filter_map(longest);
    // A quotient's name is longer, or it is the same as an amount's.
    named.max_by_key(|(length, concept, _)| (*length, concept.quotient.is_none()))
}

/// A word as names are compared: its stems, or itself if it names nothing.
fn spelled(word: &str) -> Vec<String> {
    match (stems(word), word) {
        (stems, "&") if stems.is_empty() => vec!["and".to_owned()],
        (stems, _) if stems.is_empty() => vec![word.to_owned()],
        (stems, _) => stems,
    }
}

/// How many words a name takes at the beginning of a text.
fn taken(words: &[Vec<String>], name: &[String]) -> Option<usize> {
    let mut name = name.iter().peekable();
    name.peek()?;
    for (at, stems) in words.iter().enumerate() {
        for stem in stems {
            if name.next() != Some(stem) {
                return None;
            }
        }
        if name.peek().is_none() {
            return Some(at + 1);
        }
    }
    None
}

/// A question as parts, each in all its ways to say it, first its own: the stems of words, or the
/// names of one figure.
pub(crate) fn ways_to_say(question: &str) -> Vec<Vec<Vec<String>>> {
    let plain = question.to_lowercase().replace(['-', '/'], " ");
    let marks = |c: char| !c.is_alphanumeric() && c != '&';
    let words = plain
        .split_whitespace()
        .map(|word| word.trim_matches(marks));
    let words: Vec<&str> = words.collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        match name_at(words.get(at..).unwrap_or_default()) {
            Some((length, concept, said)) => {
                let mut names = concept.names.clone();
                names.swap(0, said);
                out.push(names);
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

/// The figure that a named one becomes by the words beside it, and the stems of these.
pub(super) fn instead_of(
    named: &Concept,
    beside: &dyn Fn(&String) -> bool,
) -> Option<(&'static Concept, &'static [String])> {
    CONCEPTS.iter().find_map(|one| {
        let (of, words) = one.instead_of.as_ref()?;
        let is_named = of.iter().any(|of| named.names.contains(of));
        (is_named && words.iter().any(beside)).then_some((one, words.as_slice()))
    })
}

/// The quotients that have names.
pub(super) fn quotients() -> impl Iterator<Item = &'static Concept> {
    CONCEPTS.iter().filter(|one| one.quotient.is_some())
}

/// The amount that has a name, and which of its names that is.
pub(super) fn amount_named(name: &[String]) -> Option<(&'static Concept, usize)> {
    let amounts = CONCEPTS.iter().filter(|one| one.quotient.is_none());
    let said = |one: &Concept| one.names.iter().position(|other| other == name);
    amounts.filter_map(|one| Some((one, said(one)?))).next()
}

/// Whether questions name a row: they have all words of its label that name anything, or one of them
/// asks for a figure by a name that the label has in full. What a measure is computed from is asked
/// for with it.
pub fn names_row<'q>(questions: impl Iterator<Item = &'q str>, label: &str) -> bool {
    let all = plain_stems(label);
    let named = |word: &&String| !lists_stem(LIGHT, word) && word.contains(char::is_alphabetic);
    let own: Vec<&String> = all.iter().filter(named).collect();
    let mut asked: Vec<Vec<Vec<String>>> = questions.flat_map(ways_to_say).collect();
    let terms = |names: &Vec<Vec<String>>| -> Vec<String> {
        let concept = CONCEPTS
            .iter()
            .find(|one| names.iter().all(|name| one.names.contains(name)));
        let formula = concept.and_then(|one| one.formula.as_ref());
        let of_formula = formula
            .into_iter()
            .flat_map(|of| of.above.iter().chain(&of.below));
        let sides = concept.and_then(|one| one.quotient.as_ref()).into_iter();
        let sides = sides.flat_map(|(part, whole)| [part.join(" "), whole.join(" ")]);
        of_formula
            .map(|term| term.name.to_owned())
            .chain(sides)
            .collect()
    };
    // A measure may be of measures: net debt, of total debt.
    let mut at = 0;
    while let Some(names) = asked.get(at) {
        let more: Vec<_> = terms(names)
            .iter()
            .flat_map(|term| ways_to_say(term))
            .collect();
        asked.extend(more);
        at += 1;
    }
    let said = |word: &String| {
        asked
            .iter()
            .flatten()
            .flatten()
            .any(|other| same_word(other, word))
    };
    let is_named = |name: &Vec<String>| name.iter().all(|word| all.contains(word));
    let concepts = asked.iter().filter(|names| names.len() > 1);
    own.into_iter().all(said) || concepts.flatten().any(is_named)
}

/// Whether a label is a name of an amount that reports have, such as "Net sales".
pub fn names_amount(label: &str) -> bool {
    amount_named(&plain_stems(label)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One word in common was enough for a row that a chat model cites.
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
