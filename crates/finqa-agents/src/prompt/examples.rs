//! Worked examples for the analyst's prompt: labelled questions about other companies'
//! reports, the most similar ones first.
//!
//! An [`ExampleStore`] gives examples away only through [`OtherCompanies`], which is made for
//! an asked page and leaves out its company and the same page under another name: the labels
//! of the asked record cannot occur in it.

use std::collections::{BTreeMap, BTreeSet};

use finqa_core::question::Document;
use serde::Serialize;

/// A term that fewer questions have names what one report is about, not how to compute.
const MIN_QUESTIONS: u32 = 3;

/// A labelled question in the words of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkedExample {
    pub question: String,
    /// The figures of its program with their rows and columns: `48300 (harbour fees, 2031)`.
    pub figures: Vec<String>,
    /// In the dataset's language.
    pub program: String,
}

#[derive(Debug)]
struct StoredExample {
    company: String,
    page: blake3::Hash,
    /// The indexes of its terms with a weight, ascending.
    terms: Vec<usize>,
    /// The sum over its terms.
    weight: f64,
    example: WorkedExample,
}

/// Labelled questions, each with the company and the page that it is about.
#[derive(Debug, Default)]
pub struct ExampleStore {
    stored: Vec<StoredExample>,
    /// Terms by their place among [`Self::weights`]; those of fewer than [`MIN_QUESTIONS`]
    /// questions are left out.
    terms: BTreeMap<String, usize>,
    /// The inverse of the root of how many questions have a term: a quotient is the same on
    /// every platform, which a logarithm need not be.
    weights: Vec<f64>,
}

impl<'d> FromIterator<(&'d Document, WorkedExample)> for ExampleStore {
    fn from_iter<I: IntoIterator<Item = (&'d Document, WorkedExample)>>(examples: I) -> Self {
        let mut store = Self::default();
        let mut frequencies = BTreeMap::<String, u32>::new();
        for (document, example) in examples {
            for term in terms(&example.question) {
                *frequencies.entry(term).or_default() += 1;
            }
            store.stored.push(StoredExample {
                company: company(document).to_owned(),
                page: page(document),
                terms: Vec::new(),
                weight: 0.0,
                example,
            });
        }
        frequencies.retain(|_, questions| *questions >= MIN_QUESTIONS);
        let weights = frequencies.values();
        store.weights = weights.map(|n| f64::from(*n).sqrt().recip()).collect();
        store.terms = frequencies.into_keys().zip(0..).collect();
        let mut stored = std::mem::take(&mut store.stored);
        for stored in &mut stored {
            stored.terms = store.known_terms(&stored.example.question);
            stored.weight = store.weight(stored.terms.iter());
        }
        store.stored = stored;
        store
    }
}

impl ExampleStore {
    /// The terms of a question that weigh anything.
    fn known_terms(&self, question: &str) -> Vec<usize> {
        let terms = terms(question);
        terms
            .iter()
            .filter_map(|term| self.terms.get(term).copied())
            .collect()
    }

    fn weight<'t>(&self, terms: impl Iterator<Item = &'t usize>) -> f64 {
        terms.filter_map(|term| self.weights.get(*term)).sum()
    }

    /// The hash of the examples, as a part of the prompts' hash.
    pub(super) fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        for stored in &self.stored {
            hasher.update(stored.company.as_bytes());
            hasher.update(stored.page.as_bytes());
            hasher.update(format!("{:?}", stored.example).as_bytes());
        }
        hasher.finalize()
    }

    /// The examples that a question about this page may be shown.
    pub(crate) fn other_companies(&self, asked: &Document) -> OtherCompanies<'_> {
        let (own, same) = (company(asked), page(asked));
        let others = self.stored.iter();
        OtherCompanies {
            store: self,
            stored: others
                .filter(|stored| stored.company != own && stored.page != same)
                .collect(),
        }
    }
}

/// Examples about other companies than that of an asked page.
#[derive(Debug)]
pub struct OtherCompanies<'s> {
    store: &'s ExampleStore,
    stored: Vec<&'s StoredExample>,
}

impl<'s> OtherCompanies<'s> {
    /// The examples whose questions are most similar, the most similar one first and at most
    /// one a page: the cosine of their words and pairs of words, rare ones weighing more.
    pub(crate) fn most_similar(&self, question: &str, count: usize) -> Vec<&'s WorkedExample> {
        let asked = self.store.known_terms(question);
        let asked_weight = self.store.weight(asked.iter());
        let mut ranked: Vec<(f64, &StoredExample)> = self
            .stored
            .iter()
            .map(|stored| {
                let shared = asked
                    .iter()
                    .filter(|term| stored.terms.binary_search(term).is_ok());
                let lengths = asked_weight * stored.weight;
                let shared = self.store.weight(shared);
                (shared / lengths.sqrt().max(f64::MIN_POSITIVE), *stored)
            })
            .filter(|(similarity, _)| *similarity > 0.0)
            .collect();
        // Stable, so that equals keep the order of the file.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut pages = BTreeSet::new();
        let fresh = ranked
            .into_iter()
            .filter(|(_, stored)| pages.insert(*stored.page.as_bytes()));
        fresh
            .take(count)
            .map(|(_, stored)| &stored.example)
            .collect()
    }
}

/// The company that a page is about: what its file name begins with.
fn company(document: &Document) -> &str {
    document.filename.split('/').next().unwrap_or_default()
}

/// The identity of a page filed under two names: its table.
fn page(document: &Document) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for cell in document.table.iter().flatten() {
        hasher.update(cell.trim().to_lowercase().as_bytes());
        hasher.update(b"\n");
    }
    if document.table.is_empty() {
        document.sentences().for_each(|sentence| {
            hasher.update(sentence.trim().as_bytes());
        });
    }
    hasher.finalize()
}

/// Words without figures, and their neighbours in pairs.
fn terms(question: &str) -> BTreeSet<String> {
    let lower = question.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphabetic());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let pairs = words.windows(2).map(|pair| pair.join(" "));
    let pairs: Vec<String> = pairs.collect();
    words.into_iter().map(str::to_owned).chain(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(filename: &str, cell: &str) -> Document {
        Document {
            filename: filename.to_owned(),
            table: vec![vec![cell.to_owned()]],
            ..Document::default()
        }
    }

    fn store(questions: &[(&str, &str)]) -> ExampleStore {
        let pages: Vec<Document> = questions
            .iter()
            .map(|(name, _)| document(name, name))
            .collect();
        let examples = questions.iter().map(|(_, question)| WorkedExample {
            question: (*question).to_owned(),
            ..WorkedExample::default()
        });
        pages.iter().zip(examples).collect()
    }

    const QUESTIONS: [(&str, &str); 6] = [
        (
            "AAA/1/p",
            "what was the percentage change in sales from 2001 to 2002?",
        ),
        (
            "BBB/1/p",
            "what was the percentage change in rent from 2003 to 2004?",
        ),
        (
            "CCC/1/p",
            "what was the percentage change in fees from 2005 to 2006?",
        ),
        ("DDD/1/p", "what is the total of fees in 2005 and 2006?"),
        ("EEE/1/p", "what is the total of rent in 2005 and 2006?"),
        ("FFF/1/p", "what is the total of sales in 2005 and 2006?"),
    ];

    #[test]
    fn the_wording_of_the_operation_decides_and_not_the_item() {
        let store = store(&QUESTIONS);
        let asked = document("ZZZ/1/p", "z");
        let others = store.other_companies(&asked);
        let found = others.most_similar(
            "what was the percentage change in total from 2010 to 2011?",
            3,
        );
        let found: Vec<&str> = found
            .iter()
            .map(|example| example.question.as_str())
            .collect();
        assert_eq!(found, [QUESTIONS[0].1, QUESTIONS[1].1, QUESTIONS[2].1]);
        assert!(others.most_similar("zzz", 3).is_empty());
    }

    #[test]
    fn examples_never_name_the_company_or_the_page() {
        let store = store(&QUESTIONS);
        let shown = |asked: &Document| {
            let others = store.other_companies(asked);
            others.most_similar(QUESTIONS[0].1, 10).len()
        };
        assert_eq!(shown(&document("ZZZ/1/p", "z")), 6);
        assert_eq!(shown(&document("AAA/9/other", "z")), 5, "the same company");
        assert_eq!(
            shown(&document("copy.csv", " aaa/1/P")),
            5,
            "the same table"
        );
    }
}
