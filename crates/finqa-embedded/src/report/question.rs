//! What a question about a report asks for: an operation, what it is about, and when.

use std::sync::LazyLock;

use finqa_core::regex;
use regex::{Captures, Regex};

use super::period::{Period, Times};
use crate::labels::phrases::{Cue, cue_at};
use crate::labels::words::{FILLERS, lists, stems};

/// Words that name no figure by themselves: a label need not have them.
pub(super) const SOFT: &str = "since total group overall consolidated net expense cost line item segment region \
    category product market geographic business division spend spending spent paid pay charge amount went book hold held \
    worth dollar dollars used cash-flow statement sheet income-statement period year quarter month week date time \
    brought billed company's out up per-share including reported accounting principle";

/// What one figure is called.
#[derive(Debug)]
struct Concept {
    /// Each of its names as stems.
    names: Vec<Vec<String>>,
    /// What it is a quotient of, by the names of both.
    quotient: Option<(Vec<String>, Vec<String>)>,
    /// With another name it may mean nothing: "how much cash went to dividends".
    loose: bool,
}

static CONCEPTS: LazyLock<Vec<Concept>> = LazyLock::new(|| {
    let lines = include_str!("concepts.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let (names, of) = line
            .trim_start_matches(['=', '~'])
            .split_once(':')
            .unwrap_or((line, ""));
        let sides = of.split_once('/');
        Concept {
            names: names.split('|').map(plain_stems).collect(),
            quotient: sides.map(|(part, whole)| (plain_stems(part), plain_stems(whole))),
            loose: line.starts_with('~'),
        }
    };
    lines.map(read).collect()
});

/// "U.S." is not "us".
static STATES: LazyLock<Regex> = LazyLock::new(|| regex!(r"\b[Uu]\.[Ss]\.?|\bUS\b|\bu\.s\b\.?"));

/// The stems of a text, its hyphens and strokes read as blanks.
pub(super) fn plain_stems(text: &str) -> Vec<String> {
    stems(&text.replace(
        ['-', '/', '\u{2013}', '\u{2014}', '\u{ae}', '\u{2122}'],
        " ",
    ))
}

/// What a figure is called, in words or by a name that has others.
#[derive(Clone, Debug, Default)]
pub(super) struct FigureName {
    /// Its words that have no other name.
    words: Vec<String>,
    /// With the name that is said.
    concepts: Vec<(&'static Concept, usize)>,
    /// What it may be a part of: "sales" of "what share of sales".
    of: Option<Box<FigureName>>,
    /// A percentage that the page prints is meant.
    pub(super) percent: bool,
}

/// The most ways to say an operand that are tried.
const READINGS: usize = 60;

impl FigureName {
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.concepts.is_empty()
    }

    pub(super) fn without_words(&self) -> Self {
        Self {
            words: Vec::new(),
            ..self.clone()
        }
    }

    /// The operand in each of its ways to say it, as it is said first.
    pub(super) fn readings(&self) -> Vec<Vec<String>> {
        let mut readings = vec![self.words.clone()];
        for (concept, said) in &self.concepts {
            let with = |name: &Vec<String>| -> Vec<Vec<String>> {
                let with = readings
                    .iter()
                    .map(|words| [words.as_slice(), name].concat());
                with.collect()
            };
            let without = (concept.loose && self.concepts.len() > 1).then(|| readings.clone());
            let said = concept.names.get(*said);
            let named = said.into_iter().chain(&concept.names).flat_map(with);
            let all = named.chain(without.into_iter().flatten());
            readings = all.take(READINGS).collect();
        }
        if let Some(of) = &self.of {
            let of = of.readings();
            let within = of
                .iter()
                .flat_map(|of| readings.iter().map(|words| [words.as_slice(), of].concat()));
            readings = within
                .chain(readings.iter().cloned())
                .take(READINGS)
                .collect();
        }
        readings
    }

    /// The part and the whole, if it is called a quotient: "operating margin". "Gross margin"
    /// may be an amount too.
    pub(super) fn quotient(&self) -> Option<(Self, Self)> {
        let shares_name =
            |one: &Concept, of: &Concept| one.names.iter().any(|name| of.names.contains(name));
        let quotients = || CONCEPTS.iter().filter(|one| one.quotient.is_some());
        let of = |one: &Concept| {
            quotients().find(|of| std::ptr::eq(*of, one) || self.percent && shares_name(one, of))
        };
        let (at, of) = self
            .concepts
            .iter()
            .enumerate()
            .find_map(|(at, (one, _))| Some((at, of(one)?)))?;
        let (part, whole) = of.quotient.as_ref()?;
        let named = |name: &Vec<String>| {
            let amounts = CONCEPTS.iter().filter(|one| one.quotient.is_none());
            let said = |one: &Concept| one.names.iter().position(|other| other == name);
            let concept = amounts.filter_map(|one| Some((one, said(one)?))).next();
            let mut of = self.clone();
            of.percent = false;
            of.concepts.remove(at);
            of.concepts.extend(concept);
            of
        };
        Some((named(part), named(whole)))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum AskedFor {
    #[default]
    Figure,
    /// In percent, or in units.
    Change {
        relative: bool,
    },
    Share,
    /// Of the first to the second, in units.
    Ratio,
    /// The first less the second.
    Difference,
    Sum,
    /// Which row is the largest, or the smallest.
    Extreme {
        largest: bool,
    },
    /// Which of two is larger, or smaller.
    Larger {
        largest: bool,
    },
}

/// A question as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportQuestion {
    pub(super) operation: AskedFor,
    pub(super) operands: Vec<FigureName>,
    pub(super) periods: Vec<Period>,
    /// "How many": no money.
    pub(super) counts: bool,
    /// What it says of an operation that is not the one that was read: "average".
    pub(super) unused: Vec<String>,
    /// Its operand is joined by "and", outside of the names that are known.
    pub(super) joins: bool,
    /// The period named is the earlier of two.
    pub(super) since: bool,
    /// "Last year": it depends on when it is asked.
    pub(super) relative_time: Option<String>,
    /// It changes a part of the question before.
    pub(super) leans: bool,
}

/// What is compared with the same of the year before.
static YEAR_AGO: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:year[- ]over[- ]year|yoy|(?:vs\.?|versus|than|from|compared (?:to|with)|against)(?: in)? (?:the |a )?(?:same (?:period|quarter) )?(?:of )?(?:the )?(?:year[- ]ago|prior[- ]year|previous year|last year|year (?:earlier|before|ago))(?:[- ](?:quarter|period))?|(?:than )?a year (?:before|earlier|ago))\b"
    )
});

static RELATIVE_TIME: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\b(?:last|previous|prior|this|next) (?:fiscal )?(?:year|quarter|month|half)\b")
});

/// Where a figure is, not what it is.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:(?:in|on|from|per|by) )?(?:the )?(?:statements? of (?:cash flows?|income|operations|earnings)|(?:cash[- ]flow|income) statement|balance sheet)\b"
    )
});

/// "What share of A came from B".
static SHARE_OF: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:share|part|percent|percentage|%|proportion|portion|fraction) of (?P<whole>.+?) (?:(?:came|comes|come|stemmed|derived|was billed|were billed|was earned|was made|billed|is|was|were|are|went|goes) )(?:from |to |in |by |with )?(?P<part>.+)|\b(?:share|percentage|proportion|portion|fraction) of (?P<whole2>.+?) from (?P<part2>.+)"
    )
});

static AS_SHARE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?P<part>.+?),? (?:as an? |as |in )(?:percent|percentage|share|%|proportion|portion|fraction) of (?P<whole>.+)"
    )
});

/// "The difference between A and B", "A minus B".
static DIFFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\bdifference between (?P<part>.+) and (?P<whole>.+)|(?P<part2>.+) minus (?P<whole2>.+)"
    )
});

static RATIO: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"\bratio of (?P<part>.+?) to (?P<whole>.+)|(?P<part2>.+) divided by (?P<whole2>.+)")
});

/// What a figure is called by: "earnings per diluted share".
static PER_SHARE: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"\bper (?P<of>(?:(?:diluted|basic|common) )*(?:share|unit)s?)\b"));

static LARGER: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"^(?P<in>.*?, ?)?(?:was|were|is|are|did|does|do) (?P<a>.+?) or (?P<b>.+?)(?: (?:is|was|were|cost|costs|have|had|grow|grew))? (?P<how>larger|higher|bigger|greater|more|smaller|lower|less|fewer)\b(?P<rest>.*)"
    )
});

static LEANS: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"^(?:and|then|so|also|but|what about|how about)\b"));

/// Cues that join or measure operands, whatever the operation.
const NEUTRAL: [Cue; 8] = [
    Cue::And,
    Cue::AsShareOf,
    Cue::Percent,
    Cue::Share,
    Cue::ShareOf,
    Cue::Than,
    Cue::To,
    Cue::Total,
];

const CHANGES: [Cue; 7] = [
    Cue::Change,
    Cue::Difference,
    Cue::Fall,
    Cue::Growth,
    Cue::Rise,
    Cue::Versus,
    Cue::Points,
];

impl ReportQuestion {
    /// Reads a question.
    pub(super) fn read(question: &str) -> Self {
        let question = STATES.replace_all(question, "usa ");
        let lower = question.to_lowercase().replace('\u{2019}', "'");
        let year_ago = YEAR_AGO.is_match(&lower);
        let plain = YEAR_AGO.replace_all(&lower, " ");
        let relative_time = RELATIVE_TIME
            .find(&plain)
            .map(|found| found.as_str().to_owned());
        let Times { periods, rest } = Times::read(&plain);
        let rest = RELATIVE_TIME.replace_all(&rest, " ");
        let rest = STATEMENT.replace_all(&rest, " ").into_owned();
        let read = |text: &str| Phrase::read(text);
        let whole = read(&rest);
        let percent = whole.has(&[Cue::Percent]) || rest.contains('%');
        let share = AS_SHARE
            .captures(&rest)
            .or_else(|| SHARE_OF.captures(&rest));
        let whole_first = !AS_SHARE.is_match(&rest);
        let sides = |found: Option<Captures<'_>>| {
            let found = found?;
            let side = |names: [&str; 2]| {
                let text = names.iter().find_map(|name| found.name(name))?;
                Some(read(text.as_str()).operand).filter(|of| !of.is_empty())
            };
            side(["part", "part2"]).zip(side(["whole", "whole2"]))
        };
        let (operation, operands) = if let Some(found) = LARGER.captures(&rest) {
            let side = |name: &str| found.name(name).map_or("", |side| side.as_str());
            let of = |name: &str| read(&[side("in"), side(name), side("rest")].join(" ")).operand;
            let smaller = matches!(side("how"), "smaller" | "lower" | "less" | "fewer");
            (
                AskedFor::Larger { largest: !smaller },
                vec![of("a"), of("b")],
            )
        } else if whole.which && whole.has(&[Cue::Largest, Cue::Smallest, Cue::More, Cue::Less]) {
            let largest = !whole.has(&[Cue::Smallest, Cue::Less]);
            (AskedFor::Extreme { largest }, vec![whole.operand.clone()])
        } else if let Some((part, whole)) = sides(DIFFERENCE.captures(&rest)) {
            (AskedFor::Difference, vec![part, whole])
        } else if let Some((part, whole)) = sides(RATIO.captures(&rest)) {
            (AskedFor::Ratio, vec![part, whole])
        } else if let Some((mut part, of)) = sides(share) {
            // The label of the part may be above a row of the whole's name.
            part.of = whole_first.then(|| Box::new(of.clone()));
            (AskedFor::Share, vec![part, of])
        } else if year_ago || whole.has(&CHANGES) {
            let relative = percent || whole.has(&[Cue::Growth]);
            (AskedFor::Change { relative }, vec![whole.operand.clone()])
        } else if whole.has(&[Cue::Sum, Cue::Plus]) {
            let parts = rest.split(" and ").flat_map(|part| part.split(" plus "));
            let parts = parts
                .map(|part| read(part).operand)
                .filter(|one| !one.is_empty());
            (AskedFor::Sum, parts.collect())
        } else {
            let operand = FigureName {
                percent: percent
                    || whole.has(&[Cue::ShareOf, Cue::Share])
                    || whole
                        .operand
                        .concepts
                        .iter()
                        .any(|(one, _)| one.quotient.is_some()),
                ..whole.operand.clone()
            };
            (AskedFor::Figure, vec![operand])
        };
        let used: &[Cue] = match operation {
            AskedFor::Change { .. } => &CHANGES,
            AskedFor::Ratio => &[Cue::Ratio, Cue::DividedBy],
            AskedFor::Difference => &[Cue::Difference, Cue::Minus],
            AskedFor::Sum => &[Cue::Sum, Cue::Plus],
            AskedFor::Extreme { .. } | AskedFor::Larger { .. } => {
                &[Cue::Largest, Cue::Smallest, Cue::More, Cue::Less]
            }
            AskedFor::Figure | AskedFor::Share => &[],
        };
        let per_share = PER_SHARE.replace_all(&rest, "$of").into_owned();
        let compared = |cue: &Cue| year_ago && matches!(cue, Cue::More | Cue::Less);
        let mut unused = read(&per_share).cues;
        unused.retain(|(cue, _)| !NEUTRAL.contains(cue) && !used.contains(cue) && !compared(cue));
        let joined = rest.split_once(" and ").filter(|_| {
            whole.has(&[Cue::And])
                && matches!(operation, AskedFor::Figure | AskedFor::Change { .. })
        });
        Self {
            operation,
            operands,
            unused: unused.into_iter().map(|(_, said)| said).collect(),
            joins: joined
                .is_some_and(|(a, b)| [a, b].iter().all(|side| !read(side).operand.is_empty())),
            periods,
            counts: lower.starts_with("how many") || lower.starts_with("number of"),
            since: lower.contains("since ") || whole.has(&[Cue::Versus]) && !year_ago,
            relative_time,
            leans: LEANS.is_match(&lower),
        }
    }

    /// What a question that leans on another leaves out, from the other.
    pub(super) fn after(mut self, before: &Self) -> Self {
        if self.operands.iter().all(FigureName::is_empty) {
            self.operands.clone_from(&before.operands);
            self.operation = before.operation;
        } else if self.operation == AskedFor::Figure && before.operands.len() == 1 {
            self.operation = before.operation;
        }
        if self.periods.is_empty() {
            self.periods.clone_from(&before.periods);
        }
        self
    }
}

/// The words of a question or of a part of it.
#[derive(Debug, Default)]
struct Phrase {
    operand: FigureName,
    /// With the words that say them.
    cues: Vec<(Cue, String)>,
    which: bool,
}

impl Phrase {
    fn has(&self, cues: &[Cue]) -> bool {
        self.cues.iter().any(|(cue, _)| cues.contains(cue))
    }

    fn read(text: &str) -> Self {
        let marks = |c: char| !c.is_alphanumeric() && !"&%$".contains(c);
        let text = text.replace(['-', '/'], " ");
        let words: Vec<&str> = text
            .split_whitespace()
            .map(|word| word.trim_matches(marks))
            .collect();
        let mut out = Self {
            which: words
                .iter()
                .take(3)
                .any(|word| matches!(*word, "which" | "what"))
                && words.first().is_some_and(|word| *word != "how"),
            ..Self::default()
        };
        let stemmed: Vec<Vec<String>> = words.iter().map(|word| stems(word)).collect();
        let mut at = 0;
        while at < words.len() {
            let rest = stemmed.get(at..).unwrap_or_default();
            let named = CONCEPTS.iter().filter_map(|concept| {
                let names = concept.names.iter().enumerate();
                let lengths = names.filter_map(|(at, name)| Some((taken(rest, name)?, at)));
                let (length, name) = lengths.max_by_key(|(length, _)| *length)?;
                Some((length, concept, name))
            });
            // A quotient's name is longer, or it is the same as an amount's.
            let named =
                named.max_by_key(|(length, concept, _)| (*length, concept.quotient.is_none()));
            let cue = cue_at(words.get(at..).unwrap_or_default());
            match (named, cue) {
                (Some((length, concept, name)), cue)
                    if cue.is_none_or(|(_, of_cue)| length >= of_cue) =>
                {
                    let known = |(one, _): &(&Concept, usize)| std::ptr::eq(*one, concept);
                    if !out.operand.concepts.iter().any(known) {
                        out.operand.concepts.push((concept, name));
                    }
                    at += length;
                }
                (_, Some((cue, length))) => {
                    let said = words.iter().skip(at).take(length).copied();
                    out.cues.push((cue, said.collect::<Vec<_>>().join(" ")));
                    if cue == Cue::Total {
                        out.operand.words.push("total".to_owned());
                    }
                    at += length;
                }
                _ => {
                    let filler = words.get(at).is_some_and(|word| lists(FILLERS, word));
                    if !filler {
                        out.operand
                            .words
                            .extend(stemmed.get(at).into_iter().flatten().cloned());
                    }
                    at += 1;
                }
            }
        }
        out
    }
}

/// How many words a name takes at the beginning of a text.
fn taken(words: &[Vec<String>], name: &[String]) -> Option<usize> {
    let mut name = name.iter().peekable();
    name.peek()?;
    let first = words.first()?;
    if first.is_empty() {
        return None;
    }
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
