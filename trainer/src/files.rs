//! Reads files of questions in three formats: those of FinQA and ConvFinQA, pages with a list of
//! questions each, and TAT-QA's files. Each may be compressed with gzip.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use finqa_core::number::{Value, round5};
use finqa_core::program::official;
use finqa_core::question::Document;
use serde_json::Value as Json;

use crate::derivation::program_of_answer;

/// A question with its gold.
pub struct Case {
    pub text: String,
    pub program: Option<String>,
    pub value: Option<Value>,
    /// The printed answer, by which answers to TAT-QA's questions are judged; `None` in other
    /// files.
    pub answer: Option<PrintedAnswer>,
}

/// A number as TAT-QA's annotators wrote it.
pub struct PrintedAnswer {
    pub number: f64,
    /// Half a unit of the last decimal that was written.
    pub half: f64,
    pub percent: bool,
}

impl PrintedAnswer {
    fn new(number: f64, percent: bool) -> Self {
        let written = number.to_string();
        let decimals = written
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        Self {
            number,
            half: 0.5 * libm::pow(10.0, -(decimals as f64)),
            percent,
        }
    }

    /// True if a value is the answer within the decimals that were written. For a percentage, the
    /// fraction counts as well.
    pub fn is(&self, value: &Value) -> bool {
        // A little more than half a unit, so that a difference of exactly half a unit counts.
        let near = |x: f64| (x - self.number).abs() <= self.half * 1.000_001;
        value
            .number()
            .is_some_and(|x| near(x) || self.percent && (near(100.0 * x)))
    }
}

/// A page and the questions about it.
pub struct Record {
    pub document: Arc<Document>,
    /// Stand-alone questions, or the turns of a conversation.
    pub cases: Vec<Case>,
    pub stand_alone: bool,
    /// True if the page has only the facts that were retrieved for the question.
    pub abridged: bool,
    /// True if the programs were found by a search instead of written by hand.
    pub silver: bool,
}

/// The records of a file.
pub struct File {
    /// The file's folder and its name up to the first dot: `finqa/dev`.
    pub name: String,
    pub records: Vec<Record>,
}

type Failure = Box<dyn std::error::Error>;

impl File {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, has no questions in one of the formats, or has the name of a
    /// test file, because nothing may be learned from the datasets' test files or chosen by them.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        if is_test(path) {
            return Err(format!(
                "{}: a test file; nothing is learned from it",
                path.display()
            )
            .into());
        }
        let bytes = std::fs::read(path)?;
        let mut text = String::new();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
        } else {
            text = String::from_utf8(bytes)?;
        }
        let file = Self::of(set_name(path), &text)?;
        match file.records.is_empty() {
            true => Err(format!("{}: no questions", path.display()).into()),
            false => Ok(file),
        }
    }

    /// Parses a file. Only TAT-QA's questions have an "answer_type".
    fn of(name: String, text: &str) -> Result<Self, Failure> {
        let pages: Vec<Json> = serde_json::from_str(text)?;
        let of_tatqa = text.contains("\"answer_type\"");
        let mut records = Vec::new();
        for (number, page) in pages.iter().enumerate() {
            if of_tatqa {
                records.extend(tatqa_record(&format!("{name} {number}"), page));
            } else {
                records_of_page(page, &mut records);
            }
        }
        Ok(Self { name, records })
    }
}

/// Adds up to three records of a page: its stand-alone questions, those whose programs were found
/// by a search, and its conversation.
fn records_of_page(page: &Json, out: &mut Vec<Record>) {
    let filename = text(&page["filename"]);
    let document = Arc::new(Document {
        id: match page["id"].as_str() {
            Some(id) => id.to_owned(),
            None => format!("{filename}-0"),
        },
        filename,
        pre_text: texts(&page["pre_text"]),
        post_text: texts(&page["post_text"]),
        table: list(&page["table"]).iter().map(texts).collect(),
        table_ori: page["table_ori"]
            .as_array()
            .map(|rows| rows.iter().map(texts).collect()),
        ..Document::default()
    });
    let mut add = |cases: Vec<Case>, stand_alone, silver| {
        if !cases.is_empty() {
            out.push(Record {
                document: Arc::clone(&document),
                cases,
                stand_alone,
                abridged: page["_page"].as_str().is_some_and(|of| of != "whole"),
                silver,
            });
        }
    };
    let single = ["qa", "qa_0", "qa_1"].map(|part| &page[part]);
    let questions = list(&page["questions"]).iter().chain(single);
    let (mut gold, mut silver) = (Vec::new(), Vec::new());
    for question in questions.filter(|question| question.is_object()) {
        let searched = question["silver_program"].as_str();
        let program = question["program"]
            .as_str()
            .filter(|program| !program.is_empty());
        let case = Case {
            text: question_text(&question["question"]),
            program: program.or(searched).map(str::to_owned),
            value: value(&question["exe_ans"]),
            answer: None,
        };
        match program.is_none() && searched.is_some() {
            true => silver.push(case),
            false => gold.push(case),
        }
    }
    add(gold, true, false);
    add(silver, true, true);
    let dialogue = &page["annotation"];
    let (programs, values) = (&dialogue["turn_program"], &dialogue["exe_ans_list"]);
    let turns = list(&dialogue["dialogue_break"]).iter().enumerate();
    let turns = turns.map(|(turn, question)| Case {
        text: question_text(question),
        program: programs[turn].as_str().map(str::to_owned),
        value: value(&values[turn]),
        answer: None,
    });
    add(turns.collect(), false, false);
}

/// A page of TAT-QA with those of its questions that ask for one number to calculate; `None` if it
/// has none. In the official files, the paragraphs are in no order, so all of them become text
/// before the table, and tables may begin with blank rows.
fn tatqa_record(name: &str, page: &Json) -> Option<Record> {
    let table = page["table"]["table"]
        .as_array()
        .or(page["table"].as_array());
    let rows = table.into_iter().flatten().map(texts);
    let blank = |row: &Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
    let mut table: Vec<Vec<String>> = rows.skip_while(blank).collect();
    let width = table.iter().map(Vec::len).max()?;
    table
        .iter_mut()
        .for_each(|row| row.resize(width, String::new()));
    let paragraphs = list(&page["paragraphs"]).iter();
    let paragraphs = paragraphs.map(|paragraph| text(&paragraph["text"]));
    let document = Arc::new(Document {
        id: name.to_owned(),
        filename: name.to_owned(),
        pre_text: texts(&page["pre_text"])
            .into_iter()
            .chain(paragraphs)
            .collect(),
        post_text: texts(&page["post_text"]),
        table,
        ..Document::default()
    });
    let cases: Vec<Case> = list(&page["questions"])
        .iter()
        .filter_map(tatqa_case)
        .collect();
    (!cases.is_empty()).then_some(Record {
        document,
        cases,
        stand_alone: true,
        abridged: false,
        silver: false,
    })
}

/// A question of TAT-QA; `None` unless it asks for one number to calculate. If its derivation
/// cannot be read as a program, the case has no program, and its value is the printed answer.
fn tatqa_case(question: &Json) -> Option<Case> {
    let answer = &question["answer"];
    let answer = answer.as_f64().or_else(|| answer.as_str()?.parse().ok());
    let answer = answer.filter(|_| question["answer_type"] == "arithmetic")?;
    let percent = question["scale"] == "percent";
    let program = program_of_answer(question["derivation"].as_str()?, answer, percent);
    let value = program.as_deref().and_then(|program| {
        match official::evaluate(program, &[], official::Evaluator::ConvFinQa) {
            (true, value) => value?.number(),
            _ => None,
        }
    });
    Some(Case {
        text: question_text(&question["question"]),
        program,
        value: Some(Value::Number(round5(value.unwrap_or(answer)))),
        answer: Some(PrintedAnswer::new(answer, percent)),
    })
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a JSON value: null is empty, and a number is written out.
fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn texts(value: &Json) -> Vec<String> {
    list(value).iter().map(text).collect()
}

/// The text of a question without the literal `\n` in which some end.
fn question_text(value: &Json) -> String {
    text(value)
        .trim()
        .trim_end_matches("\\n")
        .trim_end()
        .to_owned()
}

/// A gold value: a number, also if it is written as a text, or words such as "yes".
fn value(exe_ans: &Json) -> Option<Value> {
    match exe_ans {
        Json::Number(number) => number.as_f64().map(Value::Number),
        Json::String(text) if !text.is_empty() => match text.parse::<f64>() {
            Ok(number) => Some(Value::Number(number)),
            Err(_) => Some(Value::Text(text.clone())),
        },
        _ => None,
    }
}

/// True if a file's name has the word "test": `test.json`, `test_turn_private.json`,
/// `private_test.json`, `tatqa_dataset_test_gold.json`.
fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphabetic());
    words.any(|word| word == "test")
}

/// A file's folder and its name up to the first dot.
fn set_name(path: &Path) -> String {
    let part = |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
    let folder = part(path.parent().and_then(Path::file_name));
    let name = part(path.file_name());
    format!("{folder}/{}", name.split('.').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn test_files_are_refused_by_name() {
        for name in [
            "FinQA/dataset/test.json", "private_test.json", "test_turn_private.json",
            "tatqa_dataset_test_gold.json", "Test.json.gz",
        ] {
            let error = File::read(Path::new(name)).err().unwrap().to_string();
            let expected = format!("{name}: a test file; nothing is learned from it");
            assert_eq!(error, expected);
        }
        for name in ["train.json", "dev.json", "tested.json", "latest.json"] {
            assert!(!is_test(Path::new(name)), "{name}");
        }
    }

    /// A question with its program and its value.
    type Asked = (String, Option<String>, Option<Value>);

    /// The records of a file with this page: whether each stands alone, and its questions.
    fn read(page: &Json) -> Vec<(bool, Vec<Asked>)> {
        let file = File::of(String::new(), &json!([page]).to_string()).unwrap();
        let of = |record: Record| {
            let cases = record.cases.into_iter();
            let cases = cases.map(|case| (case.text, case.program, case.value));
            (record.stand_alone, cases.collect())
        };
        file.records.into_iter().map(of).collect()
    }

    fn case(text: &str, program: &str, value: f64) -> Asked {
        let value = Value::Number(value);
        (text.to_owned(), Some(program.to_owned()), Some(value))
    }

    /// A page as FinQA and ConvFinQA publish it.
    fn page() -> Json {
        json!({
            "pre_text": ["sales grew ."], "post_text": ["."], "filename": "X/2019/page_1.pdf",
            "table_ori": [["", "2019", "2018"], ["Sales", "$120", "$100"]],
            "table": [["", "2019", "2018"], ["sales", "$ 120", "$ 100"]],
            "id": "X/2019/page_1.pdf-2",
        })
    }

    #[test]
    fn the_published_form_of_finqa_is_read() {
        let mut finqa = page();
        finqa["qa"] = json!({
            "question": "what was the growth of sales?", "answer": "20%", "explanation": "",
            "ann_table_rows": [1], "ann_text_rows": [], "steps": [],
            "program": "subtract(120, 100), divide(#0, 100)", "exe_ans": 0.2,
            "gold_inds": {"table_1": "sales the 2019 is $ 120"}, "program_re": "",
        });
        let program = "subtract(120, 100), divide(#0, 100)";
        let asked = case("what was the growth of sales?", program, 0.2);
        assert_eq!(read(&finqa), [(true, vec![asked])]);
    }

    #[test]
    fn the_published_form_of_convfinqa_is_read() {
        let mut conversation = page();
        conversation["qa"] = json!({
            "question": "what was the change in sales?", "answer": "20",
            "program": "subtract(120, 100)", "exe_ans": 20.0,
        });
        conversation["annotation"] = json!({
            "original_program": "subtract(120, 100)", "dialogue_break": ["sales in 2019?", "less 2018?"],
            "turn_program": ["120", "subtract(120, 100)"], "exe_ans_list": [120.0, 20.0],
            "qa_split": [0, 0], "answer_list": ["A0", "B0"],
        });
        let single = case("what was the change in sales?", "subtract(120, 100)", 20.0);
        let turns = [
            case("sales in 2019?", "120", 120.0),
            case("less 2018?", "subtract(120, 100)", 20.0),
        ];
        assert_eq!(
            read(&conversation),
            [(true, vec![single]), (false, turns.to_vec())]
        );
    }

    #[test]
    fn the_published_form_of_tatqa_is_read() {
        let tatqa = json!({
            "table": {"uid": "t", "table": [["", ""], ["", "2019", "2018"], ["Sales", "120", "100"]]},
            "paragraphs": [{"uid": "p", "order": 1, "text": "Sales grew."}],
            "questions": [
                {"uid": "a", "order": 1, "question": "What was the change in sales?", "answer": 20,
                 "derivation": "120 - 100", "answer_type": "arithmetic", "answer_from": "table",
                 "rel_paragraphs": [], "req_comparison": false, "scale": ""},
                {"uid": "b", "order": 2, "question": "What grew?", "answer": ["Sales"],
                 "derivation": "", "answer_type": "span", "answer_from": "text",
                 "rel_paragraphs": ["1"], "req_comparison": false, "scale": ""},
            ],
        });
        let asked = case("What was the change in sales?", "subtract(120, 100)", 20.0);
        assert_eq!(read(&tatqa), [(true, vec![asked])]);
    }
}
