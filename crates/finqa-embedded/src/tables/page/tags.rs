//! Reads the tags of a report's cells, and the file `tags.txt`, which says which standard elements
//! an everyday name means.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use finqa_core::page::Table;
use finqa_core::pattern;
use finqa_core::question::Document;
use finqa_core::text::Pattern;

use super::table::Place;
use crate::tables::words::{lists_stem, plain_stems};

/// The tag of a cell: its element, and the stems of each of its members.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) element: String,
    pub(crate) members: Vec<Vec<String>>,
}

/// An everyday name with the elements that mean it and those that contradict it.
pub(crate) struct Meaning {
    name: Vec<String>,
    pub(crate) means: Vec<&'static str>,
    pub(crate) contradicts: Vec<&'static str>,
}

/// The lines of `tags.txt`, whose first lines explain their form.
static MEANINGS: LazyLock<Vec<Meaning>> = LazyLock::new(|| {
    let lines = include_str!("tags.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let mut parts = line.split(':');
        let mut list = || parts.next().unwrap_or_default();
        Meaning {
            name: plain_stems(list()),
            means: list().split(' ').collect(),
            contradicts: list().split(' ').collect(),
        }
    };
    lines.map(read).collect()
});

/// Words of a question that do not change a name.
const NEUTRAL: &str = "total overall consolidated end";

/// Members that stand for a whole. No question names them.
const OF_WHOLE: [&str; 2] = [
    "OperatingSegmentsMember",
    "ReportableSegmentAggregationBeforeOtherOperatingSegmentMember",
];

/// Where a word of a member's name ends: `Net|Sales`.
static CAMEL_CASE: Pattern = pattern!(r"(\p{Lowercase})(\p{Uppercase})");

/// The stems of a member's name: `iPhoneMember` is about the iPhone.
fn member_words(member: &str) -> Vec<String> {
    let name = member
        .trim_end_matches("Member")
        .trim_end_matches("Segment");
    plain_stems(&CAMEL_CASE.replace_all(name, "$1 $2"))
}

/// The tags of a document's cells that use a standard element; company elements have no known
/// meaning.
pub(crate) fn read<'t>(
    document: &Document,
    tables: impl Iterator<Item = &'t Table>,
) -> BTreeMap<Place, Tag> {
    let starts = tables.zip(&document.tables).enumerate();
    let of_table = starts.flat_map(|(at, (table, start))| {
        let first = table.first_row();
        start.tags.iter().filter_map(move |tag| {
            let is_standard = |(of, _): &(&str, &str)| ["us-gaap", "ifrs-full"].contains(of);
            let (_, element) = tag.concept.split_once(':').filter(is_standard)?;
            let place = Place {
                table: at,
                row: tag.row.checked_sub(first)?,
                column: tag.column,
            };
            let members = tag.members.iter();
            let members = members.filter(|member| !OF_WHOLE.contains(&member.as_str()));
            let tag = Tag {
                element: element.to_owned(),
                members: members.map(|member| member_words(member)).collect(),
            };
            Some((place, tag))
        })
    });
    of_table.collect()
}

impl Meaning {
    /// The meaning whose name leaves the fewest words of a reading, and these words. On a tie, the
    /// longest name. `None` if no name is in a reading.
    pub(crate) fn of(readings: &[Vec<String>]) -> Option<(&'static Self, Vec<String>)> {
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
    /// True if each member is named by one of the words, and each of the words is in a member.
    pub(crate) fn is_of(&self, words: &[String]) -> bool {
        let named = |member: &Vec<String>| member.iter().any(|word| words.contains(word));
        let known = |word: &String| self.members.iter().any(|member| member.contains(word));
        self.members.iter().all(named) && words.iter().all(known)
    }
}
