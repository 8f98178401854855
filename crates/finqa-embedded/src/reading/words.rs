//! The word lists of reading and planning: `weights/words.json`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use serde::Deserialize;

use super::text::stem;

const EMBEDDED: &str = include_str!("../../weights/words.json");

/// The version of the file's format.
const VERSION: u32 = 1;

/// The file; all its words are stemmed when it is read.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsFile {
    version: u32,
    /// Words that never name the quantity in question.
    stop: Vec<String>,
    /// Words that name an operation rather than a quantity: they have little weight in a slot.
    weak: Vec<String>,
    /// Groups of synonyms from the vocabulary of financial reports.
    synonyms: Vec<Vec<String>>,
    /// The long forms of abbreviations.
    abbreviations: BTreeMap<String, Vec<String>>,
}

#[derive(Default)]
struct WordLists {
    stop: HashSet<String, RandomState>,
    weak: HashSet<String, RandomState>,
    synonyms: HashMap<String, Vec<String>>,
}

// A test reads the file, so the empty lists of a broken one never ship.
static WORDS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::from_json(EMBEDDED).unwrap_or_default());

/// Whether a stem never names the quantity in question.
pub(crate) fn is_stop(stem: &str) -> bool {
    WORDS.stop.contains(stem)
}

/// Whether a stem names an operation rather than a quantity.
pub(crate) fn is_weak(stem: &str) -> bool {
    WORDS.weak.contains(stem)
}

/// Synonyms of a stem, nearest first. They are used only for a word that the page lacks:
/// the page's own words come first.
pub(crate) fn synonyms(stem: &str) -> &'static [String] {
    WORDS.synonyms.get(stem).map_or(&[], Vec::as_slice)
}

impl WordLists {
    fn from_json(text: &str) -> Result<Self, String> {
        let file: WordsFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.version != VERSION {
            return Err(format!("words of version {}", file.version));
        }
        let stems = |words: &[String]| -> Vec<String> {
            words.iter().map(|word| stem(word).into_owned()).collect()
        };
        let mut synonyms: HashMap<String, Vec<String>> = HashMap::new();
        let mut add = |word: &str, other: &String| {
            let others = synonyms.entry(word.to_owned()).or_default();
            if word != other && !others.contains(other) {
                others.push(other.clone());
            }
        };
        for (short, long) in &file.abbreviations {
            for word in stems(long) {
                add(short, &word);
            }
        }
        for group in &file.synonyms {
            let stems = stems(group);
            for one in &stems {
                for other in &stems {
                    add(one, other);
                }
            }
        }
        Ok(Self {
            stop: stems(&file.stop).into_iter().collect(),
            weak: stems(&file.weak).into_iter().collect(),
            synonyms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_lists_are_read_and_a_later_version_is_refused() {
        let lists = WordLists::from_json(EMBEDDED).unwrap();
        assert!(lists.stop.len() > 60 && lists.weak.len() > 60);
        let later = EMBEDDED.replacen("\"version\": 1", "\"version\": 2", 1);
        assert_eq!(
            WordLists::from_json(&later).err().as_deref(),
            Some("words of version 2")
        );
    }

    #[test]
    fn synonyms_lead_to_each_other() {
        assert!(synonyms(&stem("buyback")).contains(&stem("repurchases").into_owned()));
        assert!(synonyms(&stem("turnover")).contains(&stem("sales").into_owned()));
        assert_eq!(synonyms("r&d"), [stem("research"), stem("development")]);
        assert!(synonyms("zeppelin").is_empty());
    }
}
