//! Reads the files of questions: the dataset's records, pages with many questions each, TAT-QA's,
//! and all of them compressed.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;

use convfinqa::dataset::{Dataset, from_str, sample};
use finqa_core::program::official;
use serde_json::{Value, json};

use crate::derivation::program_of_answer;

/// The records of a file.
pub struct File {
    /// Its folder and its stem.
    pub name: String,
    pub records: Dataset,
    /// The ids of records whose page has only the facts that were retrieved for the question.
    pub abridged: HashSet<String>,
    /// The ids of records whose program was found by a search, not written by hand.
    pub silver: HashSet<String>,
    /// It is TAT-QA's: its answers are the gold, not the values of its derivations.
    pub of_tatqa: bool,
}

impl File {
    /// # Errors
    ///
    /// A file that cannot be read, or is none of these.
    pub fn read(path: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let mut text = String::new();
        let bytes = std::fs::read(path)?;
        if bytes.starts_with(&[0x1f, 0x8b]) {
            flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
        } else {
            text = String::from_utf8(bytes)?;
        }
        let mut file = Self {
            name: set_name(path),
            records: sample()?,
            abridged: HashSet::new(),
            silver: HashSet::new(),
            of_tatqa: text.contains("\"answer_type\""),
        };
        let pages: Vec<Value> = serde_json::from_str(&text)?;
        let mut records = Vec::new();
        for (number, page) in pages.into_iter().enumerate() {
            let id = page["id"].as_str().unwrap_or_default();
            if page["_page"].as_str().is_some_and(|of| of != "whole") {
                file.abridged.insert(id.to_owned());
            }
            match page["questions"].as_array() {
                None => records.push(page),
                Some(questions) if file.of_tatqa => {
                    let page = tatqa_page(&format!("tatqa {}/{number}", file.name), &page);
                    records.extend(questions.iter().enumerate().filter_map(|(k, question)| {
                        Some(with_question(&page, &format!("{number}-{k}"), tatqa_question(question)?))
                    }));
                }
                Some(questions) => records.extend(questions.iter().filter_map(|question| {
                    let searched = question["silver_program"].as_str();
                    let program = question["program"].as_str().or(searched)?;
                    let id = question["id"].as_str()?;
                    if question["program"].is_null() {
                        file.silver.insert(id.to_owned());
                    }
                    let mut question = question.clone();
                    question["program"] = program.into();
                    Some(with_question(&page, id, question))
                })),
            }
        }
        let origin = path.display().to_string();
        file.records = from_str(&origin, &Value::from(records).to_string())?;
        Ok(file)
    }
}

/// A record of the dataset with a page and one of its questions.
fn with_question(page: &Value, id: &str, question: Value) -> Value {
    json!({
        "id": id,
        "filename": page["filename"],
        "pre_text": page["pre_text"],
        "post_text": page["post_text"],
        "table": page["table"],
        "qa": question,
    })
}

/// A page of TAT-QA, whose official files have paragraphs around the table in no order.
fn tatqa_page(name: &str, page: &Value) -> Value {
    let table = page["table"]["table"].as_array().or(page["table"].as_array());
    let blank = |row: &&Value| {
        let cells = row.as_array().into_iter().flatten();
        cells.filter_map(Value::as_str).all(|cell| cell.trim().is_empty())
    };
    let rows: Vec<Value> = table.into_iter().flatten().skip_while(blank).cloned().collect();
    let width = rows.iter().filter_map(|row| Some(row.as_array()?.len())).max();
    let full = |mut row: Value| {
        if let Some(cells) = row.as_array_mut() {
            cells.resize(width.unwrap_or_default(), "".into());
        }
        row
    };
    let paragraphs = page["paragraphs"].as_array().into_iter().flatten();
    let texts: Vec<Value> = paragraphs.map(|paragraph| paragraph["text"].clone()).collect();
    json!({
        "filename": name,
        "pre_text": if texts.is_empty() { page["pre_text"].clone() } else { texts.into() },
        "post_text": page["post_text"],
        "table": rows.into_iter().map(full).collect::<Vec<_>>(),
    })
}

/// A question of TAT-QA that asks for one number to calculate.
fn tatqa_question(question: &Value) -> Option<Value> {
    let answer = &question["answer"];
    let answer = answer.as_f64().or_else(|| answer.as_str()?.parse().ok());
    let answer = answer.filter(|_| question["answer_type"] == "arithmetic")?;
    let percent = question["scale"] == "percent";
    let derivation = question["derivation"].as_str()?;
    let program = program_of_answer(derivation, answer, percent);
    let value = program.as_deref().and_then(|program| {
        match official::evaluate(program, &[], official::Dialect::ConvFinQa) {
            (true, value) => value?.number(),
            _ => None,
        }
    });
    Some(json!({
        "question": question["question"],
        "answer": format!("{answer}{}", if percent { "%" } else { "" }),
        "program": program,
        "exe_ans": value.unwrap_or(answer),
    }))
}

/// A file's folder and its stem.
fn set_name(path: &Path) -> String {
    let part = |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
    let folder = part(path.parent().and_then(Path::file_name));
    let name = part(path.file_name());
    format!("{folder}/{}", name.split('.').next().unwrap_or_default())
}
