//! Finds text that a changed prompt has taken from the data. Such a prompt would memorise an answer
//! instead of stating a rule.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::dataset::{Dataset, Record};

use super::split::PageSplit;

/// Minimum number of words of a row label that may be specific to one company. Labels with fewer
/// words are never refused. Set by hand, like the two numbers below.
const LABEL_WORDS: usize = 3;
/// A row label that at least this many companies use is common, so a prompt may contain it.
const COMPANIES: usize = 5;
/// Minimum number of digits of a number that counts as a figure of a page. Shorter numbers are
/// refused only if they are golds.
const DIGITS: usize = 4;

/// `None` cannot happen, because the pattern never changes and a test finds numbers with it.
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d[\d,]*(?:\.\d+)?").ok());

/// The text of the data that a candidate must not add to a prompt.
pub struct DataText {
    /// Record ids and the file names of pages.
    ids: BTreeSet<String>,
    /// Gold programs of the propose pages. The proposer sees misses on these pages only.
    programs: BTreeSet<String>,
    /// Numbers in the golds of the propose pages.
    golds: HashSet<String>,
    /// Numbers of at least [`DIGITS`] digits on the propose pages.
    figures: HashSet<String>,
    /// Row labels of at least [`LABEL_WORDS`] words that fewer than [`COMPANIES`] companies use.
    labels: BTreeSet<String>,
}

impl DataText {
    /// Collects the ids and row labels of all pages; programs, golds and figures of the propose
    /// pages only.
    pub fn of(dataset: &Dataset, split: &PageSplit) -> Self {
        let mut text = Self {
            ids: BTreeSet::new(),
            programs: BTreeSet::new(),
            golds: HashSet::new(),
            figures: HashSet::new(),
            labels: BTreeSet::new(),
        };
        let propose: HashSet<&str> = split.propose.iter().map(String::as_str).collect();
        let mut companies: BTreeMap<String, HashSet<&str>> = BTreeMap::new();
        for record in &dataset.records {
            let page = &record.document;
            text.ids.extend([page.id.clone(), page.filename.clone()]);
            // The path of a page begins with its company.
            let company = page.filename.split('/').next().unwrap_or_default();
            for row in &page.table {
                let label = words(row.first().map_or("", String::as_str));
                if label.split(' ').count() >= LABEL_WORDS {
                    companies.entry(label).or_default().insert(company);
                }
            }
            if propose.contains(record.id()) {
                text.add_page(record);
            }
        }
        let rare = companies.into_iter();
        let rare = rare.filter(|(_, companies)| companies.len() < COMPANIES);
        text.labels.extend(rare.map(|(label, _)| label));
        text
    }

    /// Adds the programs, golds and figures of a propose page.
    fn add_page(&mut self, record: &Record) {
        let page = &record.document;
        let cells = page.table.iter().flatten().map(String::as_str);
        let figures = cells.chain(page.sentences()).flat_map(numbers);
        let is_long =
            |number: &String| number.chars().filter(char::is_ascii_digit).count() >= DIGITS;
        self.figures.extend(figures.filter(is_long));
        for gold in record.cases().map(|case| &case.gold) {
            let value = gold.exe_ans.as_ref().map(ToString::to_string);
            let texts = value.iter().chain(&gold.answer);
            self.golds.extend(texts.flat_map(|text| numbers(text)));
            let program = gold.program.iter().filter(|program| program.contains('('));
            self.programs.extend(program.cloned());
        }
    }

    /// Names the first text of the data that is in `new` but not in `old`; `None` if there is none.
    pub fn added(&self, old: &str, new: &str) -> Option<String> {
        let is_new = |text: &&String| new.contains(text.as_str()) && !old.contains(text.as_str());
        if let Some(id) = self.ids.iter().find(is_new) {
            return Some(format!("the id {id}"));
        }
        if let Some(program) = self.programs.iter().find(is_new) {
            return Some(format!("the gold program {program}"));
        }
        let known: HashSet<String> = numbers(old).collect();
        for number in numbers(new).filter(|number| !known.contains(number)) {
            if self.golds.contains(&number) {
                return Some(format!("the gold answer {number}"));
            }
            if self.figures.contains(&number) {
                return Some(format!("the figure {number} of a page"));
            }
        }
        let [old, new] = [old, new].map(|text| format!(" {} ", words(text)));
        let is_new = |label: &&String| {
            let label = format!(" {label} ");
            new.contains(&label) && !old.contains(&label)
        };
        let label = self.labels.iter().find(is_new)?;
        Some(format!(
            "the row label `{label}`, which fewer than {COMPANIES} companies use"
        ))
    }
}

/// The numbers of a text, without thousands separators and trailing zeros. Leaves out years, powers
/// of ten and numbers up to ten, because these are common words or constants of the dataset's
/// language.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    let found = NUMBER.iter().flat_map(|number| number.find_iter(text));
    found.filter_map(|found| {
        let number = found.as_str().replace(',', "");
        let number = if number.contains('.') {
            number.trim_end_matches('0').trim_end_matches('.')
        } else {
            number.as_str()
        };
        let whole: Option<u64> = number.parse().ok();
        let is_plain = whole.is_some_and(|whole| {
            let is_power = number.trim_end_matches('0') == "1";
            whole <= 10 || is_power || (1900..2100).contains(&whole)
        });
        (!is_plain).then(|| number.to_owned())
    })
}

/// The words of a text, in lower case with single spaces between them. A word consists of letters
/// and digits.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_data_is_found_and_rules_are_not() {
        let record = |company: &str, label: &str| {
            format!(
                r#"{{"id": "Single_{company}/2009/page_1.pdf-1", "filename": "{company}/2009/page_1.pdf",
                "pre_text": ["sold 12,345 units in 2009 ."], "post_text": [],
                "table": [["", "2009"], ["{label}", "61.7"]],
                "qa": {{"question": "q", "answer": "61.70", "program": "divide(617, 10)", "exe_ans": 61.7}}}}"#
            )
        };
        let rare = record("AA", "Fees (net) of piers");
        let common: Vec<String> = ["B", "C", "D", "E", "F"]
            .iter()
            .map(|company| record(company, "net cash used"))
            .collect();
        let json = format!("[{rare}, {}]", common.join(", "));
        let dataset = crate::dataset::from_str("test", &json).unwrap();
        let split = PageSplit {
            propose: vec!["Single_AA/2009/page_1.pdf-1".to_owned()],
            ..PageSplit::default()
        };
        let data = DataText::of(&dataset, &split);
        let old = "Divide by 5829.";
        for (new, found) in [
            ("see AA/2009/page_1.pdf", Some("the id AA")),
            ("as in divide(617, 10)", Some("gold program")),
            ("about 61.70 %", Some("gold answer 61.7")),
            ("not 12345", Some("figure 12345")),
            (
                "mind fees net of piers",
                Some("row label `fees net of piers`"),
            ),
            (
                "net cash used in 2009, times 1,000,000 or 100, by 5829, 7 times, 9876",
                None,
            ),
        ] {
            let added = data.added(old, new);
            match found {
                Some(words) => assert!(added.as_ref().unwrap().contains(words), "{new}: {added:?}"),
                None => assert_eq!(added, None),
            }
        }
        assert_eq!(data.added("not 12345", "not 12,345 then"), None);
    }
}
