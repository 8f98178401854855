//! Reads the tags of a report's cells, and which names the standard elements mean (`tags.txt`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use finqa_core::page::Table;
use finqa_core::question::Document;

use super::table::Place;
use super::words::{lists_stem, plain_stems};

/// What the tag of a cell says: its element, and the words of each of its members.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) element: String,
    pub(super) members: Vec<Vec<String>>,
}

/// A name, and the elements that mean or contradict it.
pub(super) struct Meaning {
    name: Vec<String>,
    pub(super) means: Vec<&'static str>,
    pub(super) contradicts: Vec<&'static str>,
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
    pub(super) fn of(readings: &[Vec<String>]) -> Option<(&'static Self, Vec<String>)> {
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
    pub(super) fn is_of(&self, words: &[String]) -> bool {
        let named = |member: &Vec<String>| member.iter().any(|word| words.contains(word));
        let known = |word: &String| self.members.iter().any(|member| member.contains(word));
        self.members.iter().all(named) && words.iter().all(known)
    }
}
