//! The word lists in `weights/words.json`: stop words, words for operations, synonyms, and
//! abbreviations.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use serde::Deserialize;

use super::text::stem;

const EMBEDDED: &str = include_str!("../../weights/words.json");

/// The only version of the format that is read.
const VERSION: u32 = 1;

/// The contents of the file. Its words are written in full and are stemmed when it is read.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsFile {
    version: u32,
    /// Words that never name the quantity in question.
    stop: Vec<String>,
    /// Words that name an operation rather than a quantity. They have little weight in a slot.
    weak: Vec<String>,
    /// Groups of words that financial reports use for the same thing.
    synonyms: Vec<Vec<String>>,
    /// What each abbreviation means: "research and development" for "r&d".
    abbreviations: BTreeMap<String, String>,
}

/// The lists by stem, as the functions below search them.
#[derive(Default)]
struct WordLists {
    stop: HashSet<String, RandomState>,
    weak: HashSet<String, RandomState>,
    synonyms: HashMap<String, Vec<String>>,
    abbreviations: BTreeMap<String, String>,
}

// A test reads the embedded file, so the default for an unreadable file is never used.
static WORDS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::from_json(EMBEDDED).unwrap_or_default());

/// True for a stop word, which never names the quantity in question.
pub(crate) fn is_stop(stem: &str) -> bool {
    WORDS.stop.contains(stem)
}

/// True for a word that names an operation rather than a quantity.
pub(crate) fn is_weak(stem: &str) -> bool {
    WORDS.weak.contains(stem)
}

/// The synonyms of a stem, those of its abbreviation first. Use them only for a word that the page
/// lacks, because the page's own word fits better.
pub(crate) fn synonyms(stem: &str) -> &'static [String] {
    WORDS.synonyms.get(stem).map_or(&[], Vec::as_slice)
}

/// What a word or two in lower case are short for: "revenues" for "revs".
pub(crate) fn long_form(short: &str) -> Option<&'static str> {
    WORDS.abbreviations.get(short).map(String::as_str)
}

impl WordLists {
    /// Reads the text of the file. An error, which only a test sees, if it has another form or
    /// version.
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
        let stop: HashSet<String, RandomState> = stems(&file.stop).into_iter().collect();
        for (short, long) in &file.abbreviations {
            let words = long.split(' ').map(|word| stem(word).into_owned());
            for word in words.filter(|word| !stop.contains(word)) {
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
            stop,
            weak: stems(&file.weak).into_iter().collect(),
            synonyms,
            abbreviations: file.abbreviations,
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
