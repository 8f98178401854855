//! Reads questions that rank the parts of a whole ("Which segment grew fastest?"), or that ask
//! which part rose or fell.

use super::names::name_at;
use super::operand::Operand;
use super::operands::{has, operand, says};
use super::token::{Token, TokenRole};
use crate::reading::cues::Cue;
use crate::tables::words::{SaidWord, lists, stems};

/// How the parts of a whole are compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranking {
    /// What the question calls the parts: "segment".
    pub(crate) noun: Vec<SaidWord>,
    pub(crate) by: Measure,
    pub(crate) order: Order,
    /// True if the question does not say by what to rank. Revenue is then assumed, with a doubt.
    pub(crate) assumed: bool,
}

/// The value by which parts are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Level,
    /// The change from the year before.
    Change,
    /// The change from the year before in percent.
    Growth,
    /// A change, by amount or in percent: "grew the most". The answer is a doubt if the two differ.
    Moves,
}

/// Which part of the ranked ones is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The n-th largest, from 1. If changes are ranked, a fall never counts as a small rise.
    Largest(usize),
    Smallest(usize),
    LargestFall,
    /// The only part that rose; a doubt if several did.
    Rose,
    Fell,
}

/// Nouns for parts of a company.
pub(crate) const PART_NOUNS: &str = "segment segments division divisions";

/// Nouns for parts that are places.
pub(crate) const PLACE_NOUNS: &str = "country countries region regions geography geographies location locations area areas nation continent";

/// Other nouns for parts. A title or a heading must show which rows they are.
const OTHER_NOUNS: &str = "product products line lines class classes category categories business businesses \
    brand brands type types unit units channel channels market markets";

/// Further nouns for the rows of a table, and what can be between "all" and them: "all three sites".
const ANY_NOUNS: &str = "department departments team teams site sites store stores shop shops branch \
    branches office offices project projects customer customers client clients item items account \
    accounts entry entries row rows month months quarter quarters year years \
    two three four five six seven eight nine ten eleven twelve together";

/// Words that can be between "which" and the noun.
const ADJECTIVES: &str = "of the our its their two three four five six all operating reportable reporting business \
    geographic geographical single individual";

/// Words that do not make another kind of a noun for places: "billing location".
pub(crate) const OF_PLACES: &str =
    "billing shipping customer customers selling delivery destination home";

/// Verbs for a rise and for a fall by an amount.
const GAINED: &str = "added add adds adding gained gain gains gaining";
const LOST: &str = "lost lose loses losing shed";
/// Words for the largest and for the smallest growth in percent.
const FASTEST: &str = "fastest quickest";
const SLOWEST: &str = "slowest";
const BEST: &str = "best strongest fattest";
const WORST: &str = "worst weakest";
const ORDINALS: &str = "second third fourth";

/// Words of a question that ask for an amount of money, so that "the most" is not a percentage.
const AMOUNTS: &str = "dollars dollar euros absolute amount";

/// Words that only connect the part with its measure: "which segment saw its sales decline".
const LEADING: &str = "saw see seen had its their terms whose with";

/// Words that say which part is meant by its size or its change.
const SUPERLATIVES: [&str; 4] = [FASTEST, SLOWEST, BEST, WORST];

/// Words and cues that say how the parts are ranked, and so do not name the figure.
const RANKING_WORDS: [&str; 9] = [
    FASTEST, SLOWEST, BEST, WORST, GAINED, LOST, AMOUNTS, LEADING, ORDINALS,
];
#[rustfmt::skip]
const RANKING_CUES: &[Cue] = &[
    Cue::Fall, Cue::Growth, Cue::Improve, Cue::Largest, Cue::Less, Cue::More, Cue::Percent, Cue::Rise,
    Cue::Smallest, Cue::YearAgo,
];

/// Reads a ranking and the figure by which the parts are ranked; `None` for all other questions.
pub(crate) fn read(tokens: &[Token]) -> Option<(Ranking, Operand)> {
    let asks = |token: &Token| token.is_in("which what");
    // The question word may follow a preposition: "in which country", "and for which segment".
    let first = tokens.iter().take(3).position(asks)?;
    let (at, noun) = noun(tokens, first)?;
    let (by, order) = measure_and_order(tokens)?;
    let left = tokens.iter().enumerate().filter(|(here, token)| {
        let led = first < at && (first..=at).contains(here) || *here == at;
        !led && !is_ranking_word(token)
    });
    let left: Vec<Token> = left.map(|(_, token)| token.clone()).collect();
    let mut of = operand(&left, Some(&[Cue::And]))?;
    // "Which product sold the most" ranks by revenue.
    let sold = |word: &SaidWord| word.stem == "sold" || word.stem == "sell";
    let assumed = !of.is_named() && of.except.is_empty();
    if (assumed || of.names.is_empty() && of.words.iter().all(sold))
        && let Some((_, revenue)) = name_at(&["revenue"])
    {
        of.words.clear();
        of.names.push(revenue);
    }
    // "Best" and "worst" are read only with a known name or a margin. Whether the best of another
    // figure is the highest or the lowest is not known.
    let judges = says(tokens, BEST) || says(tokens, WORST);
    let good = !judges || !of.names.is_empty() || of.says("margin");
    let ranking = Ranking {
        noun,
        by,
        order,
        assumed,
    };
    (of.is_named() && good).then_some((ranking, of))
}

/// By what a question ranks, and which part it asks for; `None` if it does not rank.
fn measure_and_order(tokens: &[Token]) -> Option<(Measure, Order)> {
    let says = |list: &str| says(tokens, list);
    let compares = has(tokens, &[Cue::YearAgo]);
    let fell = has(tokens, &[Cue::Fall]) || says(LOST) || compares && has(tokens, &[Cue::Less]);
    let rose = has(tokens, &[Cue::Rise, Cue::Growth, Cue::Improve])
        || says(GAINED)
        || compares && has(tokens, &[Cue::More]);
    let largest = has(tokens, &[Cue::Largest]) || says(FASTEST) || says(BEST);
    let smallest = has(tokens, &[Cue::Smallest]) || says(SLOWEST) || says(WORST);
    let place = ORDINALS.split(' ').position(says);
    // "Second" has the index 0.
    let place = place.map_or(1, |place| place + 2);
    let by = match () {
        () if says(FASTEST) || says(SLOWEST) => Measure::Growth,
        () if !rose && !fell => Measure::Level,
        () if has(tokens, &[Cue::Percent]) || says("rate") => Measure::Growth,
        () if says(GAINED) || says(LOST) || says(AMOUNTS) => Measure::Change,
        () => Measure::Moves,
    };
    let order = match (largest, smallest, fell) {
        (true, false, false) => Order::Largest(place),
        (false, true, false) => Order::Smallest(place),
        (true, false, true) if !rose && place == 1 => Order::LargestFall,
        (false, false, true) if !rose => Order::Fell,
        (false, false, false) if rose => Order::Rose,
        _ => return None,
    };
    Some((by, order))
}

/// True if a token says how the parts are ranked.
fn is_ranking_word(token: &Token) -> bool {
    // "Second" in "the second quarter" is inside a period, and so it is not a rank.
    let word = matches!(token.role, TokenRole::Word(_) | TokenRole::Filler);
    token.cue().is_some_and(|cue| RANKING_CUES.contains(&cue))
        || word && RANKING_WORDS.iter().any(|list| token.is_in(list))
}

/// The index of the noun that names the parts ("segment"), and its words.
/// `which` is the index of the question word. `None` if no noun follows it.
fn noun(tokens: &[Token], which: usize) -> Option<(usize, Vec<SaidWord>)> {
    let (first, at) = match noun_behind(tokens, which) {
        Some(at) => (which + 1, at),
        None => noun_after_superlative(tokens, which).map(|at| (at, at))?,
    };
    let said = tokens.get(first..=at)?.iter();
    let said = said.filter(|token| is_noun(token) || is_name(token) && !token.is_in(ADJECTIVES));
    let words = said.flat_map(|token| {
        let said = bare(token);
        let stems = stems(said).into_iter();
        stems.map(move |stem| SaidWord::new(stem, said))
    });
    Some((at, words.collect()))
}

/// The index of the noun directly behind the question word: "which reportable segment". It is the
/// first known noun of the phrase there, or its last word.
fn noun_behind(tokens: &[Token], which: usize) -> Option<usize> {
    let rest = tokens.get(which + 1..)?;
    let is_of_phrase = |token: &&Token| {
        let word = matches!(token.role, TokenRole::Word(_)) && !is_verb(&token.text);
        word || is_noun(token) || token.is_in(ADJECTIVES)
    };
    let phrase = rest.iter().take_while(is_of_phrase).count();
    let known = rest.iter().take(phrase).position(is_noun);
    let at = known.or(phrase.checked_sub(1))?;
    is_name(rest.get(at)?).then_some(which + 1 + at)
}

/// The index of a known noun behind the superlative: "what was the second largest segment", "the
/// fastest growing segment". `None` if the question names a figure before the superlative.
fn noun_after_superlative(tokens: &[Token], which: usize) -> Option<usize> {
    let superlative = tokens.iter().position(|token| {
        matches!(token.cue(), Some(Cue::Largest | Cue::Smallest))
            || SUPERLATIVES.iter().any(|list| token.is_in(list))
    })?;
    let leads = tokens.get(which + 1..superlative)?;
    let is_lead = |token: &Token| token.stems().is_empty() || token.is_in(ORDINALS);
    let grows = |token: &Token| matches!(token.cue(), Some(Cue::Rise | Cue::Growth));
    let mut after = tokens.iter().enumerate().skip(superlative + 1);
    let (at, noun) = after.find(|(_, token)| !grows(token))?;
    (leads.iter().all(is_lead) && is_noun(noun)).then_some(at)
}

/// True for a known noun for parts.
fn is_noun(token: &Token) -> bool {
    is_part_noun(bare(token))
}

/// True if a word is a known noun for parts.
pub(crate) fn is_part_noun(word: &str) -> bool {
    let nouns = [PART_NOUNS, PLACE_NOUNS, OTHER_NOUNS];
    nouns.iter().any(|list| lists(list, word))
}

/// True for a noun that can be said of the rows of any table: "all departments". "All tiles" asks
/// for something that a table can lack.
pub(crate) fn is_any_noun(word: &str) -> bool {
    is_part_noun(word) || lists(ANY_NOUNS, word)
}

/// True for a token that can name the parts.
fn is_name(token: &Token) -> bool {
    matches!(token.role, TokenRole::Word(_)) || is_noun(token)
}

/// True if the word says what the part did, and so is not a part of its noun: "which brand sold
/// most".
fn is_verb(word: &str) -> bool {
    let listed = [GAINED, LOST, "sold won grew rose fell saw brought"];
    word.ends_with("ed") || listed.iter().any(|list| lists(list, word))
}

/// A word without the ending of a genitive.
fn bare(token: &Token) -> &str {
    token.text.trim_end_matches("'s").trim_end_matches('\'')
}
