//! Selects records by `--range`, `--ids`, `--filter`, `--shuffle`, `--seed` and `--n`.

use std::collections::HashSet;
use std::str::FromStr;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use regex::{Regex, RegexBuilder};

use super::{Dataset, DatasetError, Record};

/// A choice of records; by default all of them. The fields apply in the order of their declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Positions in the file.
    pub range: Option<RecordRange>,
    /// Only records with these ids, in the order of the file; empty means all.
    pub ids: Vec<String>,
    /// Only records whose id, or one of whose questions, matches this regular expression or
    /// contains it literally, ignoring case.
    pub filter: Option<String>,
    /// True to shuffle the remaining records, by `seed`.
    pub shuffle: bool,
    /// Seed of the shuffle: the same seed gives the same order everywhere.
    pub seed: u64,
    /// At most this many records (not questions).
    pub n: Option<usize>,
}

/// Positions of records, from 0 and without the end: `0..100`, `100..`, `..25`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRange {
    pub start: usize,
    /// The position after the last; `None` is the end of the file.
    pub end: Option<usize>,
}

impl FromStr for RecordRange {
    type Err = DatasetError;

    fn from_str(text: &str) -> Result<Self, DatasetError> {
        let bad = || DatasetError::RangeForm {
            range: text.to_owned(),
        };
        let number = |digits: &str| digits.trim().parse().map_err(|_| bad());
        let (start, end) = text.split_once("..").ok_or_else(bad)?;
        let start = if start.trim().is_empty() {
            0
        } else {
            number(start)?
        };
        let end = if end.trim().is_empty() {
            None
        } else {
            Some(number(end)?)
        };
        if end.is_some_and(|end| end <= start) {
            return Err(bad());
        }
        Ok(Self { start, end })
    }
}

impl std::fmt::Display for RecordRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.end {
            Some(end) => write!(f, "{}..{end}", self.start),
            None => write!(f, "{}..", self.start),
        }
    }
}

/// Returns the positions of the selected records, in the order in which they are to be asked.
///
/// # Errors
/// An unknown id, a range beyond the end, a filter that is not a regular expression, or a selection
/// of no record.
pub fn select(dataset: &Dataset, selection: &Selection) -> Result<Vec<usize>, DatasetError> {
    let mut chosen: Vec<usize> = positions(dataset, selection.range)?.collect();
    if !selection.ids.is_empty() {
        let wanted = known_ids(dataset, &selection.ids)?;
        chosen.retain(|&index| {
            record(dataset, index).is_some_and(|record| wanted.contains(record.id()))
        });
    }
    if let Some(filter) = &selection.filter {
        let filter = Filter::new(filter)?;
        chosen.retain(|&index| record(dataset, index).is_some_and(|record| filter.matches(record)));
    }
    if chosen.is_empty() {
        return Err(DatasetError::NothingSelected {
            origin: dataset.source.clone(),
        });
    }
    if selection.shuffle {
        shuffle(&mut chosen, selection.seed);
    }
    if let Some(n) = selection.n {
        chosen.truncate(n);
    }
    Ok(chosen)
}

impl Dataset {
    /// The dataset with only these records, in this order. Positions beyond the end are ignored.
    /// Source and hash stay those of the whole file, because a run is identified by its file.
    pub fn pick(&self, positions: &[usize]) -> Self {
        Self {
            source: self.source.clone(),
            hash: self.hash.clone(),
            invented: self.invented,
            records: positions
                .iter()
                .filter_map(|&index| self.records.get(index).cloned())
                .collect(),
            computed: self.computed.clone(),
            notes: self.notes.clone(),
        }
    }
}

fn record(dataset: &Dataset, index: usize) -> Option<&Record> {
    dataset.records.get(index)
}

/// The positions of the records of a range; without a range, of all.
///
/// # Errors
/// [`DatasetError::RangeBeyondEnd`] if the range begins or ends behind the last record.
fn positions(
    dataset: &Dataset,
    range: Option<RecordRange>,
) -> Result<std::ops::Range<usize>, DatasetError> {
    let records = dataset.records.len();
    let Some(range) = range else {
        return Ok(0..records);
    };
    let end = range.end.unwrap_or(records);
    if range.start >= records || end > records {
        return Err(DatasetError::RangeBeyondEnd {
            origin: dataset.source.clone(),
            range: range.to_string(),
            records,
        });
    }
    Ok(range.start..end)
}

/// These ids as a set; an error if the dataset lacks one of them.
fn known_ids<'a>(dataset: &Dataset, ids: &'a [String]) -> Result<HashSet<&'a str>, DatasetError> {
    let known: HashSet<&str> = dataset.records.iter().map(Record::id).collect();
    for id in ids {
        if !known.contains(id.as_str()) {
            return Err(DatasetError::UnknownId {
                origin: dataset.source.clone(),
                id: id.clone(),
            });
        }
    }
    Ok(ids.iter().map(String::as_str).collect())
}

/// A regular expression that also matches its own text literally, so that `s&p 500 (a)` finds that
/// text although its brackets are a group.
struct Filter {
    regex: Regex,
    text: String,
}

impl Filter {
    /// Reads a filter, which is compared without regard to case.
    ///
    /// # Errors
    /// [`DatasetError::Filter`] if the text is not a regular expression.
    fn new(filter: &str) -> Result<Self, DatasetError> {
        let regex = RegexBuilder::new(filter)
            .case_insensitive(true)
            .build()
            .map_err(|error| DatasetError::Filter {
                filter: filter.to_owned(),
                // The message is several lines long, because it marks the position in the pattern;
                // the last line alone says what is wrong.
                reason: error
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned(),
            })?;
        Ok(Self {
            regex,
            text: filter.to_lowercase(),
        })
    }

    fn matches(&self, record: &Record) -> bool {
        let questions = record.cases().map(|case| case.question.text.as_str());
        std::iter::once(record.id())
            .chain(questions)
            .any(|text| self.regex.is_match(text) || text.to_lowercase().contains(&self.text))
    }
}

/// Shuffles by Fisher–Yates with ChaCha8. The loop and the expansion of the seed to a key are
/// written out here, because `rand` does not promise to keep either of them in its next version.
fn shuffle(positions: &mut [usize], seed: u64) {
    let mut key = [0_u8; 32];
    for (byte, of_seed) in key.iter_mut().zip(seed.to_le_bytes()) {
        *byte = of_seed;
    }
    let mut rng = ChaCha8Rng::from_seed(key);
    for last in (1..positions.len()).rev() {
        let choices = last as u128 + 1;
        // Scales 64 random bits to 0..choices; the bias is below 2^-40 for any file.
        let scaled = (u128::from(rng.next_u64()) * choices) >> 64;
        positions.swap(last, usize::try_from(scaled).unwrap_or(last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_order() {
        let mut order: Vec<usize> = (0..8).collect();
        shuffle(&mut order, 7);
        assert_eq!(order, [2, 5, 7, 4, 1, 0, 3, 6]);
    }
}
