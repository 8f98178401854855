//! The questions to train on, each with the gold of the turns before it, and the fold of
//! its page.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use convfinqa::dataset::{Dataset, HistoryEntry, HistorySource, Question, Record};
use finqa_core::number::{Value, round5};
use finqa_core::program::official;
use finqa_embedded::EmbeddedAnalyst;

/// How many parts the pages are divided into.
pub const FOLDS: usize = 5;

/// A question with the gold of the turns before it, and its gold program.
pub struct Item {
    pub question: Question,
    pub program: Option<String>,
    pub gold: Option<Value>,
    /// The first turn of its conversation, or a question by itself.
    pub first: bool,
    /// A question by itself.
    pub stand_alone: bool,
    pub fold: usize,
    /// The file it is from.
    pub file: String,
    /// No page of the file of the first hundred records has it.
    pub new: bool,
    /// Its page is complete, not only the facts that were retrieved.
    pub whole: bool,
}

impl Item {
    /// Whether a value is the gold.
    pub fn right(&self, value: &Value) -> bool {
        self.gold.as_ref() == Some(value)
    }

    /// The official value of a program of this question.
    pub fn value(&self, program: &str) -> Option<Value> {
        let table = &self.question.document.table;
        match official::evaluate(program, table, official::Dialect::ConvFinQa) {
            (true, value) => value,
            _ => None,
        }
    }

    /// The page's report and number.
    pub fn page(&self) -> &str {
        &self.question.document.filename
    }
}

/// What two records must not share if one is trained on and the other asked: the page, the
/// table, or the conversation.
fn keys(record: &Record) -> Vec<String> {
    let document = &record.document;
    let cells: Vec<String> = document
        .table
        .iter()
        .flatten()
        .map(|cell| cell.chars().filter(char::is_ascii_alphanumeric).collect())
        .collect();
    let table = blake3::hash(cells.join("|").as_bytes()).to_hex();
    vec![
        format!("page {}", document.filename),
        format!("page {}", page_of(&document.id)),
        format!("table {table}"),
    ]
}

/// The fold of each record: records that share a key are in one fold, which depends on
/// nothing but the names of their pages.
fn folds(records: &[&Record]) -> Vec<usize> {
    let mut group: Vec<usize> = (0..records.len()).collect();
    let mut known: HashMap<String, usize> = HashMap::new();
    fn root(group: &mut [usize], mut i: usize) -> usize {
        while group[i] != i {
            group[i] = group[group[i]];
            i = group[i];
        }
        i
    }
    for (i, record) in records.iter().enumerate() {
        for key in keys(record) {
            let other = *known.entry(key).or_insert(i);
            let (a, b) = (root(&mut group, i), root(&mut group, other));
            group[a] = b;
        }
    }
    let mut name: HashMap<usize, &str> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        let root = root(&mut group, i);
        let page = record.document.filename.as_str();
        let least = name.entry(root).or_insert(page);
        *least = page.min(*least);
    }
    (0..records.len())
        .map(|i| {
            let root = root(&mut group, i);
            fold_of(name[&root])
        })
        .collect()
}

/// The page that a record's id names.
pub fn page_of(id: &str) -> &str {
    let page = match id.split_once('_') {
        Some(("Single" | "Double", page)) => page,
        _ => id,
    };
    page.rsplit_once('-').map_or(page, |(page, _)| page)
}

/// The fold of a page that shares nothing with another.
pub fn fold_of(page: &str) -> usize {
    usize::from(blake3::hash(page.as_bytes()).as_bytes()[0]) % FOLDS
}

/// The records of which a file says that they have only the facts that were retrieved.
fn abridged(files: &[PathBuf]) -> Result<HashSet<String>, Box<dyn std::error::Error>> {
    let mut out = HashSet::new();
    for file in files {
        let all: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(file)?)?;
        let some = all
            .iter()
            .filter(|r| r["_page"].as_str().is_some_and(|p| p != "whole"));
        out.extend(some.filter_map(|r| Some(r["id"].as_str()?.to_owned())));
    }
    Ok(out)
}

/// The questions of all files.
pub fn items(
    files: &[(String, Dataset)],
    paths: &[PathBuf],
) -> Result<Vec<Item>, Box<dyn std::error::Error>> {
    let abridged = abridged(paths)?;
    let records: Vec<(&str, &Record)> = files
        .iter()
        .flat_map(|(file, data)| data.records.iter().map(move |r| (file.as_str(), r)))
        .collect();
    let folds = folds(
        &records
            .iter()
            .map(|(_, record)| *record)
            .collect::<Vec<_>>(),
    );
    let first: Vec<&str> = records
        .iter()
        .filter(|(file, _)| file.contains("first100"))
        .map(|(_, record)| record.document.filename.as_str())
        .collect();
    let mut out = Vec::new();
    for ((file, record), fold) in records.into_iter().zip(folds) {
        let new = !first.contains(&record.document.filename.as_str());
        for cases in [&record.questions, &record.turns] {
            let mut history = Vec::new();
            for case in cases {
                let mut question = case.question.clone();
                let stand_alone = question.key.part.starts_with("qa");
                if !stand_alone {
                    question.history.clone_from(&history);
                }
                history.push(HistoryEntry {
                    question: question.text.clone(),
                    value: case.gold.exe_ans.clone(),
                    program: case.gold.program.clone(),
                    label: None,
                    source: HistorySource::Gold,
                });
                out.push(Item {
                    first: question.history.is_empty(),
                    question,
                    program: case.gold.program.clone(),
                    gold: case.gold.exe_ans.clone(),
                    stand_alone,
                    fold,
                    file: file.to_owned(),
                    new,
                    whole: !abridged.contains(&record.document.id),
                });
            }
        }
    }
    Ok(out)
}

/// The name of a file's set: its folder and its stem.
pub fn set_name(path: &Path) -> String {
    let part =
        |p: Option<&std::ffi::OsStr>| p.map_or(String::new(), |s| s.to_string_lossy().into());
    let folder = part(path.parent().and_then(Path::file_name));
    format!("{folder}/{}", part(path.file_stem()))
}

/// A conversation turn over our own history, as the analyst answers it.
pub struct Answered<'a> {
    pub item: &'a Item,
    /// With its own earlier answers as history.
    pub question: Question,
    pub right: bool,
    pub program: Option<String>,
    pub signals: Vec<f64>,
}

/// Answers the items in order, each over the analyst's own history.
pub fn converse<'a>(analyst: &EmbeddedAnalyst, items: &[&'a Item]) -> Vec<Answered<'a>> {
    let mut own: Vec<HistoryEntry> = Vec::new();
    let mut out = Vec::new();
    for item in items {
        if item.first {
            own.clear();
        }
        let mut question = item.question.clone();
        question.history.clone_from(&own);
        let page = analyst.index(&question.document);
        let guess = analyst.answer(&page, &question);
        let program = guess.as_ref().map(|g| g.best.program.clone());
        let value = program.as_deref().and_then(|p| item.value(p));
        let rounded = |v: &Value| v.number().map_or(v.clone(), |x| Value::Number(round5(x)));
        own.push(HistoryEntry {
            question: question.text.clone(),
            value: value.as_ref().map(rounded),
            program: program.clone(),
            label: None,
            source: HistorySource::Own,
        });
        out.push(Answered {
            item,
            question,
            program,
            right: value.as_ref().is_some_and(|v| item.right(v)),
            signals: guess.map(|g| g.signals).unwrap_or_default(),
        });
    }
    out
}
