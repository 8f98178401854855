//! Checks raw records and turns them into [`Record`]s.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::cleaned::move_page;
use super::keys::is_missing;
use super::raw::{Half, RawAnnotation, RawQa, RawRecord, Scalar};
use super::{
    Case, Dataset, DatasetError, Document, Gold, Question, QuestionKey, QuestionKind, Record,
    RecordKind,
};
use finqa_core::number::Value;
use finqa_core::program::Program;
use finqa_core::question::page_of_record;
use finqa_core::text::counted;

/// Collects the records of one file.
pub(super) struct Assembler<'a> {
    origin: &'a str,
    /// The number (from 1) of each record by its id.
    numbers: HashMap<String, usize>,
    records: Vec<Record>,
    /// Questions whose gold is only a program, from which its value was computed.
    computed: HashSet<QuestionKey>,
    /// Questions whose gold is only a program that cannot be executed.
    unscored: Vec<QuestionKey>,
}

/// 2^53. Larger whole numbers are not exact as `f64`, so two different ids could become equal.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// The path of a wrong field, and a text that says what is wrong with it and what to do.
struct WrongField(String, String);

impl<'a> Assembler<'a> {
    pub(crate) fn new(origin: &'a str) -> Self {
        Self {
            origin,
            numbers: HashMap::new(),
            records: Vec::new(),
            computed: HashSet::new(),
            unscored: Vec::new(),
        }
    }

    /// Checks the record with this number (from 1) and adds it.
    pub(crate) fn add(&mut self, number: usize, raw: RawRecord) -> Result<(), DatasetError> {
        let id = raw.id.clone().map(Scalar::into_text).unwrap_or_default();
        let id = id.trim();
        let is_cleaned = raw.doc.is_some();
        let mut record = checked(raw, id).map_err(|WrongField(field, reason)| {
            let record = record_name(number, id);
            let origin = self.origin.to_owned();
            let named = |text: String| {
                if is_cleaned {
                    cleaned_names(&text)
                } else {
                    text
                }
            };
            DatasetError::Record {
                origin,
                record,
                field: named(field),
                reason: named(reason),
            }
        })?;
        if let Some(first) = self.numbers.insert(id.to_owned(), number) {
            return Err(DatasetError::DuplicateId {
                origin: self.origin.to_owned(),
                id: id.to_owned(),
                first,
                second: number,
            });
        }
        for case in record.questions.iter_mut().chain(&mut record.turns) {
            // Always succeeds, because nothing shares a new case yet.
            if let Some(case) = Arc::get_mut(case) {
                self.compute(case);
            }
        }
        self.records.push(record);
        Ok(())
    }

    /// Computes `exe_ans` for a gold that is only a program.
    fn compute(&mut self, case: &mut Case) {
        let Question { key, document, .. } = &case.question;
        let gold = &mut case.gold;
        let (Some(program), None, None) = (&gold.program, &gold.answer, &gold.exe_ans) else {
            return;
        };
        // A program that cannot be executed is not an error: `finish` makes a note of it.
        let program = Program::parse(program);
        gold.exe_ans = program
            .and_then(|program| program.execute(&document.table))
            .ok();
        match gold.exe_ans {
            Some(_) => _ = self.computed.insert(key.clone()),
            None => self.unscored.push(key.clone()),
        }
    }

    /// The records in file order, with notes about golds that were computed or cannot be scored. It
    /// is an error if there are none.
    pub(crate) fn finish(self) -> Result<Dataset, DatasetError> {
        let source = self.origin.to_owned();
        if self.records.is_empty() {
            return Err(DatasetError::Empty { origin: source });
        }
        let computed = (!self.computed.is_empty()).then(|| {
            let golds = counted(self.computed.len(), "gold");
            format!("{golds} without `exe_ans` computed from the program")
        });
        let unscored = self.unscored.first().map(|first| {
            let golds = counted(self.unscored.len(), "gold");
            format!(
                "{golds} not scored: no `exe_ans`, and the program cannot be executed ({first})"
            )
        });
        Ok(Dataset {
            source,
            records: self.records,
            computed: self.computed,
            notes: computed.into_iter().chain(unscored).collect(),
            ..Dataset::default()
        })
    }
}

/// Replaces the original file's field names by those of the cleaned file, in a message about a
/// cleaned record.
fn cleaned_names(text: &str) -> String {
    text.replace("annotation.", "dialogue.")
        .replace("dialogue_break", "conv_questions")
        .replace("exe_ans_list", "executed_answers")
        .replace("table", "doc.table")
}

/// Turns a raw record into a record.
///
/// # Errors
/// The id is missing or not exact, the record is a single turn of a file of turns, it has no
/// question, or one of its fields is wrong.
fn checked(mut raw: RawRecord, id: &str) -> Result<Record, WrongField> {
    if let Some(page) = raw.doc.take() {
        move_page(page, &mut raw);
    }
    if id.is_empty() {
        return Err(wrong(
            "id",
            "is missing; every record needs an id of its own",
        ));
    }
    if matches!(raw.id, Some(Scalar::Number(number)) if number.abs() >= INEXACT) {
        return Err(wrong(
            "id",
            "is a number too large to be exact; write the id in quotes",
        ));
    }
    let annotation = raw.annotation.take().unwrap_or_default();
    if annotation.turn_ind.is_some() {
        return Err(wrong(
            "annotation.turn_ind",
            "this is a file of single turns; name the file of whole conversations, such as train.json",
        ));
    }
    let mut record = record(&mut raw, id)?;
    record.turns = conversation(annotation, &record.document)?;
    if record.questions.is_empty() && record.turns.is_empty() {
        return Err(wrong(
            "annotation.dialogue_break",
            "is missing and so are `qa`, `qa_0` and `qa_1`: the record has no question; add one",
        ));
    }
    Ok(record)
}

/// `record 4 (Single_…)`, or `record 4`.
pub(super) fn record_name(number: usize, id: &str) -> String {
    if id.is_empty() {
        format!("record {number}")
    } else {
        format!("record {number} ({id})")
    }
}

/// Trims a question; some end in a literal `\n`.
pub(super) fn question_text(text: &str) -> String {
    let mut text = text.trim();
    while let Some(shorter) = text.strip_suffix("\\n") {
        text = shorter.trim_end();
    }
    text.to_owned()
}

/// Reads the page, the kind and the stand-alone questions of a record.
fn record(raw: &mut RawRecord, id: &str) -> Result<Record, WrongField> {
    let table = rows(raw.table.take().unwrap_or_default());
    check_table(&table)?;
    let document = Arc::new(Document {
        id: id.to_owned(),
        filename: match raw.filename.take().and_then(non_blank) {
            Some(filename) => filename,
            None => page_of_record(id).to_owned(),
        },
        pre_text: texts(raw.pre_text.take()),
        post_text: texts(raw.post_text.take()),
        table,
        table_ori: raw.table_ori.take().map(rows),
        ..Document::default()
    });
    let mut questions = Vec::new();
    for (part, qa) in [
        ("qa", raw.qa.take()),
        ("qa_0", raw.qa_0.take()),
        ("qa_1", raw.qa_1.take()),
    ] {
        if let Some(qa) = qa {
            questions.push(stand_alone(part, qa, &document)?);
        }
    }
    let double = id.starts_with("Double_") || questions.iter().any(|c| c.question.key.part != "qa");
    Ok(Record {
        document,
        kind: if double {
            RecordKind::Double
        } else {
            RecordKind::Single
        },
        questions,
        turns: Vec::new(),
    })
}

/// Checks that a table has a header that is not blank, and that all rows are as long as the header.
fn check_table(table: &[Vec<String>]) -> Result<(), WrongField> {
    let Some(header) = table.first() else {
        return Err(wrong(
            "table",
            "is missing or empty; it must have a header and rows",
        ));
    };
    if header.iter().all(|cell| cell.trim().is_empty()) {
        return Err(wrong(
            "table[0]",
            "is blank; row 0 must be the header with the column labels",
        ));
    }
    for (index, row) in table.iter().enumerate() {
        let (cells, columns) = (row.len(), header.len());
        let fix = match cells.cmp(&columns) {
            Ordering::Equal => continue,
            Ordering::Less => "fill the row up with \"\" or fix it".to_owned(),
            Ordering::Greater => format!("remove {} or extend the header", cells - columns),
        };
        let cells = counted(cells, "cell");
        return Err(wrong(
            &format!("table[{index}]"),
            &format!("has {cells} where the header has {columns}; {fix}"),
        ));
    }
    Ok(())
}

/// Makes the question `part` of a record.
///
/// # Errors
/// The text of the question is missing or blank. Missing gold is not an error.
fn stand_alone(part: &str, qa: RawQa, document: &Arc<Document>) -> Result<Arc<Case>, WrongField> {
    let text = question_text(&qa.question.unwrap_or_default());
    if text.is_empty() {
        return Err(wrong(
            &format!("{part}.question"),
            "is missing or blank; write the question",
        ));
    }
    let gold = Gold {
        answer: qa.answer.map(Scalar::into_text).and_then(present),
        program: qa.program.and_then(non_blank),
        exe_ans: qa.exe_ans.and_then(value),
        split: None,
    };
    let kind = QuestionKind::StandAlone;
    Ok(case(document, part.to_owned(), kind, text, gold))
}

/// The turns of a conversation record, with their gold if the record has it.
fn conversation(
    raw: RawAnnotation,
    document: &Arc<Document>,
) -> Result<Vec<Arc<Case>>, WrongField> {
    let questions = raw.dialogue_break.unwrap_or_default();
    let count = questions.len();
    let same_length = |field: &str, length: usize| {
        if length == 0 || length == count {
            Ok(())
        } else {
            Err(wrong(
                &format!("annotation.{field}"),
                &format!(
                    "has {} where dialogue_break has {}; give one a turn, or none at all",
                    counted(length, "entry"),
                    counted(count, "question")
                ),
            ))
        }
    };
    let programs = raw.turn_program.unwrap_or_default();
    let values = raw.exe_ans_list.unwrap_or_default();
    let split = raw.qa_split.unwrap_or_default();
    same_length("turn_program", programs.len())?;
    same_length("exe_ans_list", values.len())?;
    same_length("qa_split", split.len())?;
    let mut programs = programs.into_iter();
    let mut values = values.into_iter();
    let mut split = split.into_iter();
    let mut turns = Vec::with_capacity(count);
    for (turn, question) in questions.iter().enumerate() {
        let text = question_text(question);
        if text.is_empty() {
            return Err(wrong(
                &format!("annotation.dialogue_break[{turn}]"),
                "is blank; write the question",
            ));
        }
        let gold = Gold {
            answer: None,
            program: programs.next().flatten().and_then(non_blank),
            exe_ans: values.next().and_then(value),
            split: split.next().map(Half::number),
        };
        let part = turn.to_string();
        turns.push(case(document, part, QuestionKind::Turn, text, gold));
    }
    Ok(turns)
}

fn case(
    document: &Arc<Document>,
    part: String,
    kind: QuestionKind,
    text: String,
    gold: Gold,
) -> Arc<Case> {
    Arc::new(Case {
        question: Question {
            key: QuestionKey {
                id: document.id.clone(),
                part,
            },
            kind,
            document: Arc::clone(document),
            text,
            history: Vec::new(),
        },
        gold,
    })
}

/// The value of a scalar. A number may be a string in the file. `None` for a blank text or null.
fn value(scalar: Scalar) -> Option<Value> {
    match scalar {
        Scalar::Number(x) => Some(Value::Number(x)),
        Scalar::Null => None,
        Scalar::Text(text) => {
            let text = present(text)?;
            // The text `inf` is a word, not a number.
            match text.parse::<f64>() {
                Ok(x) if x.is_finite() => Some(Value::Number(x)),
                _ => Some(Value::Text(text)),
            }
        }
    }
}

fn non_blank(text: String) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The text, unless it says that there is no value, as `nan` does.
fn present(text: String) -> Option<String> {
    non_blank(text).filter(|text| !is_missing(text))
}

fn texts(raw: Option<Vec<Scalar>>) -> Vec<String> {
    collect_exactly(raw.unwrap_or_default(), Scalar::into_text)
}

fn rows(raw: Vec<Vec<Scalar>>) -> Vec<Vec<String>> {
    collect_exactly(raw, |row| collect_exactly(row, Scalar::into_text))
}

/// Collects without spare capacity, because records stay in memory for the whole run. A plain
/// `collect` reuses the parser's vector together with its capacity.
fn collect_exactly<T, U>(items: Vec<T>, map: impl FnMut(T) -> U) -> Vec<U> {
    let mut items: Vec<U> = items.into_iter().map(map).collect();
    items.shrink_to_fit();
    items
}

fn wrong(field: &str, reason: &str) -> WrongField {
    WrongField(field.to_owned(), reason.to_owned())
}
