//! The tags of a report as witnesses of what its figures are (`tags.txt`).
//!
//! A tag counts only if it has no dimension, or those that the question names. It may settle which
//! figure is meant where labels leave that open, and it makes an answer doubtful that it contradicts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use finqa_core::page::Table;
use finqa_core::page::period::Period;
use finqa_core::question::Document;

use super::find::{Amount, keep, latest};
use super::fit::FitFigure;
use super::names::amount_named;
use super::operand::Operand;
use super::page::{Doubt, Tables};
use super::phrases::NamedStatement;
use super::statements::rounds_alike;
use super::table::{Place, ReportRow};
use super::words::{lists_stem, plain_stems};

/// What the tag of a cell says: its element, and the words of each of its members.
#[derive(Debug)]
pub(super) struct Tag {
    element: String,
    members: Vec<Vec<String>>,
}

/// A name, and the elements that mean or contradict it.
struct Meaning {
    name: Vec<String>,
    means: Vec<&'static str>,
    contradicts: Vec<&'static str>,
}

static MEANINGS: LazyLock<Vec<Meaning>> = LazyLock::new(|| {
    let lines = include_str!("tags.txt").lines();
    let read = |line: &'static str| {
        let mut parts = line.split(':');
        let mut list = || parts.next().unwrap_or_default();
        Meaning {
            name: plain_stems(list()),
            means: list().split(' ').collect(),
            contradicts: list().split(' ').collect(),
        }
    };
    lines
        .filter(|line| !line.starts_with('#'))
        .map(read)
        .collect()
});

/// Words that change no name.
const NEUTRAL: &str = "total overall consolidated end";

/// Members of a whole, which no question names.
const OF_WHOLE: [&str; 2] = [
    "OperatingSegmentsMember",
    "ReportableSegmentAggregationBeforeOtherOperatingSegmentMember",
];

/// The words of a member: `iPhoneMember` is about the iPhone.
fn member_words(member: &str) -> Vec<String> {
    let name = member
        .trim_end_matches("Member")
        .trim_end_matches("Segment");
    let mut spaced = String::new();
    let mut lower = false;
    for c in name.chars() {
        if c.is_uppercase() && lower {
            spaced.push(' ');
        }
        lower = c.is_lowercase();
        spaced.push(c);
    }
    plain_stems(&spaced)
}

/// The tags of the tables of a document.
pub(super) fn read<'t>(
    document: &Document,
    tables: impl Iterator<Item = &'t Table>,
) -> BTreeMap<Place, Tag> {
    let starts = tables.zip(&document.tables).enumerate();
    let of_table = starts.flat_map(|(at, (table, start))| {
        let first = table.first_row();
        start.tags.iter().filter_map(move |tag| {
            let (standard, element) = tag.concept.split_once(':')?;
            let place = Place {
                table: at,
                row: tag.row.checked_sub(first)?,
                column: tag.column,
            };
            let members = tag.members.iter();
            let members = members.filter(|member| !OF_WHOLE.contains(&member.as_str()));
            ["us-gaap", "ifrs-full"].contains(&standard).then(|| {
                let tag = Tag {
                    element: element.to_owned(),
                    members: members.map(|member| member_words(member)).collect(),
                };
                (place, tag)
            })
        })
    });
    of_table.collect()
}

impl Meaning {
    /// The longest name that is in one of some readings, and the words that this one has besides.
    fn of(readings: &[Vec<String>]) -> Option<(&'static Self, Vec<String>)> {
        let found = readings.iter().flat_map(|reading| {
            let named = MEANINGS
                .iter()
                .filter(|one| one.name.iter().all(|word| reading.contains(word)));
            named.map(move |one| {
                let more = reading.iter();
                let more =
                    more.filter(|word| !one.name.contains(word) && !lists_stem(NEUTRAL, word));
                (one, more.cloned().collect::<Vec<String>>())
            })
        });
        found.min_by_key(|(one, more)| (more.len(), usize::MAX - one.name.len()))
    }
}

impl Tag {
    /// Whether its members are those that some words name.
    fn is_of(&self, words: &[String]) -> bool {
        let named = |member: &Vec<String>| member.iter().any(|word| words.contains(word));
        let known = |word: &String| self.members.iter().any(|member| member.contains(word));
        self.members.iter().all(named) && words.iter().all(known)
    }
}

/// Whether the label of a row leaves out a part of what its tag means.
fn is_part(row: &ReportRow) -> bool {
    row.printed.to_lowercase().contains("excluding")
}

impl Tables {
    fn meaning(&self, of: &Operand) -> Option<(&'static Meaning, Vec<String>)> {
        let readings = of.readings().into_iter().filter(|one| !one.opposite);
        let company = |word: &String| self.weights.is_of_company(word);
        let own = readings.map(|one| {
            one.words
                .into_iter()
                .filter(|word| !company(word))
                .collect()
        });
        Meaning::of(&own.collect::<Vec<Vec<String>>>())
    }

    /// The amount that the tags name, in the table of another figure if one is given.
    pub(super) fn by_tag(
        &self,
        of: &Operand,
        asked: Option<Period>,
        near: Option<Place>,
    ) -> Option<Amount> {
        let tagged = self.tagged(of, asked)?;
        let beside = near.is_none_or(|near| near.table == tagged.table);
        let doubt = self.unclear_year(&tagged, asked);
        self.amount(tagged)
            .filter(|_| beside)
            .map(|amount| Amount { doubt, ..amount })
    }

    /// The figure of a period that the tags say an operand means, if all of them have one value.
    fn tagged(&self, of: &Operand, asked: Option<Period>) -> Option<FitFigure> {
        let (meaning, more) = self.meaning(of)?;
        let meant = |tag: &Tag| meaning.means.contains(&tag.element.as_str()) && tag.is_of(&more);
        let places = self.tags.iter().filter(|(_, tag)| meant(tag));
        let figure = |place: &Place| {
            self.table(*place)?
                .figure(place.table, place.row, place.column)
        };
        let mut all: Vec<FitFigure> = places.filter_map(|(place, _)| figure(place)).collect();
        all.retain(|one| {
            let named = |named: NamedStatement| {
                self.table(one.place()).is_some_and(|table| named.is(table))
            };
            let label = self
                .table(one.place())
                .and_then(|table| table.rows.get(one.row));
            one.percent == of.wants_percent()
                && !label.is_some_and(is_part)
                && one.period.is_some()
                && self.fits(one.period.as_ref(), asked.as_ref())
                && of.statement.is_none_or(named)
        });
        if asked.is_none_or(|asked| asked.end.year.is_none()) {
            latest(&mut all);
        }
        keep(&mut all, |one| {
            self.statement_of(one).is_some() && !self.is_of_equity(one)
        });
        self.agreed(&all)
    }

    /// Chooses among rows with the same label: the figure whose tag means what the label says.
    pub(super) fn tagged_row(&self, all: &[FitFigure]) -> Option<FitFigure> {
        let words = &self
            .table(all.first()?.place())?
            .rows
            .get(all.first()?.row)?
            .label
            .words;
        let mut readings = vec![words.clone()];
        readings.extend(
            amount_named(words)
                .into_iter()
                .flat_map(|(one, _)| one.names.clone()),
        );
        let (meaning, _) = Meaning::of(&readings).filter(|(_, more)| more.is_empty())?;
        let whole = |one: &&FitFigure| {
            let row = self
                .table(one.place())
                .and_then(|table| table.rows.get(one.row));
            row.is_some_and(|row| !is_part(row))
        };
        let meant = |one: &&FitFigure| {
            let tag = self.tags.get(&one.place());
            tag.is_some_and(|tag| {
                meaning.means.contains(&tag.element.as_str()) && tag.members.is_empty()
            })
        };
        self.agreed(
            &all.iter()
                .filter(whole)
                .filter(meant)
                .copied()
                .collect::<Vec<FitFigure>>(),
        )
    }

    /// The first of some figures, if all have its size.
    fn agreed(&self, all: &[FitFigure]) -> Option<FitFigure> {
        let first = *all.first()?;
        let alike = |one: &FitFigure| rounds_alike(one.value.abs(), first.value.abs());
        all.iter().all(alike).then_some(first)
    }

    /// The doubt that the tag of a figure raises if it says that the figure is another one.
    pub(super) fn contradiction(&self, of: &Operand, one: &FitFigure) -> Option<Doubt> {
        let tag = self.tags.get(&one.place())?;
        let (meaning, _) = self.meaning(of).filter(|(_, more)| more.is_empty())?;
        let other = meaning.contradicts.contains(&tag.element.as_str());
        other.then(|| {
            let name = self.full_name(one.place());
            Doubt::Missing(format!("the tag of {name} is {}", tag.element))
        })
    }
}
