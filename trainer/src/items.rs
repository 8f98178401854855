//! Makes one list of the questions of all files, each with the gold of the turns before it and the
//! fold of its page.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use finqa_core::number::{Value, round5};
use finqa_core::program::official;
use finqa_core::question::{
    Document, HistoryEntry, HistorySource, Question, QuestionKey, QuestionKind, page_of_record,
};
use finqa_embedded::{EmbeddedAnalyst, PageIndex};

use crate::files::{File, PrintedAnswer, Record};

/// Number of parts into which the pages are divided for cross-validation, the usual one.
pub const FOLDS: usize = 5;

/// A question with the gold of the turns before it, and its gold program.
pub struct Item {
    pub question: Question,
    pub program: Option<String>,
    pub gold: Option<Value>,
    /// The printed answer, by which answers to TAT-QA's questions are judged; `None` in other
    /// files.
    pub answer: Option<PrintedAnswer>,
    /// True for the first turn of a conversation, and for a stand-alone question.
    pub first: bool,
    pub stand_alone: bool,
    pub fold: usize,
    /// The name of the file that it is from.
    pub file: String,
    /// True if its page is not in the file of the first hundred records.
    pub new: bool,
    /// True if `question` has the complete page, from whichever file.
    pub whole: bool,
    /// True if the page in its own file has only the facts that were retrieved for the question.
    pub abridged: bool,
    /// True if its program was found by a search.
    pub silver: bool,
    /// True if its page is in the file that is held out, or counts as one of that file's pages.
    pub held_out: bool,
    /// True if nothing is learned from it.
    pub only_tested: bool,
}

impl Item {
    /// True if the value of a program is the gold value, or for TAT-QA the printed answer.
    pub fn is_right(&self, program: &str) -> bool {
        let value = self.value(program);
        value.is_some_and(|value| match &self.answer {
            Some(answer) => answer.is(&value),
            None => self.gold.as_ref() == Some(&value),
        })
    }

    /// The value of a program for this question by the official rules; `None` if it has none.
    pub fn value(&self, program: &str) -> Option<Value> {
        let table = &self.question.document.table;
        match official::evaluate(program, table, official::Evaluator::ConvFinQa) {
            (true, value) => value,
            _ => None,
        }
    }

    /// The name of the page, which consists of its report and its number.
    pub fn page(&self) -> &str {
        &self.question.document.filename
    }
}

/// The ASCII letters and digits of a text, so that files that differ in spacing still agree.
fn squeezed(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The letters and digits of a table's cells, equal for tables that differ only in spacing and
/// punctuation.
fn table_key(document: &Document) -> String {
    let cells = document.table.iter().flatten().map(|cell| squeezed(cell));
    cells.collect::<Vec<_>>().join("|")
}

/// Keys of a record's page and table. Records that share one are in the same fold, so that no
/// question is about a page or table that was trained on.
fn keys(record: &Record) -> [String; 3] {
    let document = &record.document;
    let table = blake3::hash(table_key(document).as_bytes()).to_hex();
    [
        format!("page {}", document.filename),
        format!("page {}", page_of_record(&document.id)),
        format!("table {table}"),
    ]
}

/// Sets of records that can be joined (union-find). An entry is another record of the same set, or
/// the record itself if it represents the set.
struct Groups(Vec<usize>);

impl Groups {
    /// The record that represents the set of a record.
    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a] = b;
    }
}

/// Number of words of the sequences by which pages are compared. Set by hand, like the part below.
const SEQUENCE: usize = 20;
/// Two pages count as one if they share at least this part of the sequences of the shorter page.
const SHARED: f64 = 0.3;

/// The pairs of records whose pages count as one because of their text.
fn alike(records: &[&Record]) -> Vec<(usize, usize)> {
    let mut pages: HashMap<&str, usize> = HashMap::new();
    let mut having: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut sizes = vec![0_usize; records.len()];
    for (i, record) in records.iter().enumerate() {
        if *pages.entry(&record.document.filename).or_insert(i) != i {
            continue;
        }
        let text: Vec<&str> = record.document.sentences().collect();
        let text = text.join(" ").to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let hash = |words: &[&str]| {
            let mut hasher = DefaultHasher::new();
            words.hash(&mut hasher);
            hasher.finish()
        };
        let sequences: HashSet<u64> = words.windows(SEQUENCE).map(hash).collect();
        sizes[i] = sequences.len();
        for sequence in sequences {
            having.entry(sequence).or_default().push(i);
        }
    }
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for pages in having.values() {
        for (k, a) in pages.iter().enumerate() {
            for b in &pages[k + 1..] {
                *shared.entry((*a, *b)).or_default() += 1;
            }
        }
    }
    let enough = |((a, b), n): &(&(usize, usize), &usize)| {
        **n as f64 >= SHARED * sizes[*a].min(sizes[*b]) as f64
    };
    shared
        .iter()
        .filter(enough)
        .map(|(pair, _)| *pair)
        .collect()
}

/// The fold of each record, and whether it is held out. Records that share a key or much of their
/// text are in the same fold. The page name in the group that sorts first decides the fold. A group
/// is held out if one of its records is one of the `held_out` ones.
fn folds(records: &[&Record], held_out: &[bool]) -> Vec<(usize, bool)> {
    let mut group = Groups((0..records.len()).collect());
    let mut known: HashMap<String, usize> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        for key in keys(record) {
            group.join(i, *known.entry(key).or_insert(i));
        }
    }
    for (a, b) in alike(records) {
        group.join(a, b);
    }
    let mut name: HashMap<usize, &str> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        let page = record.document.filename.as_str();
        let least = name.entry(group.root(i)).or_insert(page);
        *least = page.min(*least);
    }
    let held_out = (0..records.len()).filter(|i| held_out[*i]);
    let held_out: HashSet<usize> = held_out.map(|i| group.root(i)).collect();
    (0..records.len())
        .map(|i| {
            let root = group.root(i);
            (fold_of(name[&root]), held_out.contains(&root))
        })
        .collect()
}

/// The fold of a page, by the hash of its name.
pub fn fold_of(page: &str) -> usize {
    usize::from(blake3::hash(page.as_bytes()).as_bytes()[0]) % FOLDS
}

/// The questions of all files, each once. If several files have a question, that of the first file
/// is kept, but with the complete page if any of them has it. The pages of the file `held_out` are
/// marked in all files.
pub fn items(files: Vec<File>, held_out: Option<&str>) -> Vec<Item> {
    let all: Vec<&Record> = files.iter().flat_map(|file| &file.records).collect();
    let is_held_out = files.iter().flat_map(|file| {
        file.records
            .iter()
            .map(move |_| held_out == Some(&*file.name))
    });
    let mut folds = folds(&all, &is_held_out.collect::<Vec<_>>()).into_iter();
    let first = files.iter().filter(|file| file.name.contains("first100"));
    let first = first.flat_map(|file| &file.records);
    let first: HashSet<String> = first.map(|r| r.document.filename.clone()).collect();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut out: Vec<Item> = Vec::new();
    for file in files {
        for record in file.records {
            // Always found: `folds` has one entry for each record, in this order.
            let (fold, held_out) = folds.next().unwrap_or_default();
            let document = record.document;
            let table = table_key(&document);
            let mut history = Vec::new();
            let asked = record.cases.iter().map(|case| squeezed(&case.text));
            let asked: Vec<String> = asked.collect();
            for (turn, case) in record.cases.into_iter().enumerate() {
                let key = match record.stand_alone {
                    true => format!("{}|{table}", asked[turn]),
                    // Two conversations may begin with the same turns, so the key has all turns.
                    false => format!("{turn}|{}|{table}", asked.join("|")),
                };
                if let Some(at) = known.get(&key) {
                    let item = &mut out[*at];
                    if !record.abridged && !item.whole {
                        item.question.document = Arc::clone(&document);
                        item.whole = true;
                    }
                    continue;
                }
                known.insert(key, out.len());
                let (kind, part) = match record.stand_alone {
                    true => (QuestionKind::StandAlone, format!("qa_{turn}")),
                    false => (QuestionKind::Turn, turn.to_string()),
                };
                let question = Question {
                    key: QuestionKey {
                        id: document.id.clone(),
                        part,
                    },
                    kind,
                    document: Arc::clone(&document),
                    text: case.text,
                    history: match record.stand_alone {
                        true => Vec::new(),
                        false => history.clone(),
                    },
                };
                history.push(HistoryEntry {
                    question: question.text.clone(),
                    value: case.value.clone(),
                    program: case.program.clone(),
                    label: None,
                    source: HistorySource::Gold,
                });
                out.push(Item {
                    first: question.history.is_empty(),
                    question,
                    program: case.program,
                    gold: case.value,
                    answer: case.answer,
                    stand_alone: record.stand_alone,
                    fold,
                    file: file.name.clone(),
                    new: !first.contains(&document.filename),
                    whole: !record.abridged,
                    abridged: record.abridged,
                    silver: record.silver,
                    held_out,
                    only_tested: false,
                });
            }
        }
    }
    out
}

/// The analyst's answer to the question of an item.
pub struct Answer<'a> {
    pub item: &'a Item,
    /// The item's question, with the history that the analyst saw.
    pub question: Question,
    /// `gold` or `own` for a turn; empty for a stand-alone question.
    pub history: &'static str,
    pub right: bool,
    /// True if a candidate is right. Not measured with own history.
    pub possible: bool,
    /// True if the network compares a right candidate. Not measured with own history.
    pub compared: bool,
    /// The program of the answer; `None` without an answer.
    pub program: Option<String>,
    /// The inputs of the confidence; empty without an answer.
    pub signals: Vec<f64>,
}

impl<'a> Answer<'a> {
    /// Answers a question of an item. `possible` and `compared` are not measured.
    pub fn new(
        analyst: &EmbeddedAnalyst,
        page: &PageIndex,
        item: &'a Item,
        question: Question,
        history: &'static str,
    ) -> Self {
        let guess = analyst.answer(page, &question);
        let (program, signals) = guess.map(|g| (g.best.program, g.signals)).unzip();
        Self {
            item,
            question,
            history,
            right: program.as_deref().is_some_and(|p| item.is_right(p)),
            possible: false,
            compared: false,
            program,
            signals: signals.unwrap_or_default(),
        }
    }
}

/// Answers the turns among the items, in order. The history of each is the analyst's own answers
/// since the last item that is the first of its conversation.
pub fn converse<'a>(analyst: &EmbeddedAnalyst, items: &[&'a Item]) -> Vec<Answer<'a>> {
    let mut own: Vec<HistoryEntry> = Vec::new();
    let mut out = Vec::new();
    for item in items.iter().filter(|item| !item.stand_alone) {
        if item.first {
            own.clear();
        }
        let mut question = item.question.clone();
        question.history.clone_from(&own);
        let page = analyst.index(&question.document);
        let answer = Answer::new(analyst, &page, item, question, "own");
        let value = answer.program.as_deref().and_then(|p| item.value(p));
        let rounded = |v: Value| v.number().map_or(v, |x| Value::Number(round5(x)));
        own.push(HistoryEntry {
            question: answer.question.text.clone(),
            value: value.map(rounded),
            program: answer.program.clone(),
            label: None,
            source: HistorySource::Own,
        });
        out.push(answer);
    }
    out
}
