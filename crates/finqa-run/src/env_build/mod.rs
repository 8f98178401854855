//! Builds an environment's data from `ConvFinQA` records: tables, sentences and stand-alone
//! questions.
//!
//! The name of a company is the ticker of its report pages. Each page becomes two tables: the
//! published one and one with its sentences. Questions without gold are left out. `env build`
//! writes the result to a folder ([`build`]); [`catalog`] and [`builtin`] keep it in memory.

mod expected_answer;
mod folder;
mod page;

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use finqa_env::data::{BuildNote, COMPANIES, Catalog, DataFiles, EnvError, METADATA, QUESTIONS};

use expected_answer::ExpectedAnswer;
use finqa_core::program::Program;
use finqa_core::text::counted;
use finqa_score::dataset::{Case, Dataset, QuestionKey};
use page::PageTables;

/// The counts of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    pub companies: usize,
    /// Number of tables, including those with sentences.
    pub tables: usize,
    pub questions: usize,
    /// Number of stand-alone questions that were left out because they have no gold.
    pub without_gold: usize,
}

/// The key of the dataset's question from which the environment's question `id` was built. `None`
/// if no build made this id.
pub fn question_key(id: &str) -> Option<QuestionKey> {
    let (id, part) = id.rsplit_once('#')?;
    Some(QuestionKey {
        id: id.to_owned(),
        part: part.to_owned(),
    })
}

/// Writes the environment of a dataset to the folder `out`. Creates the folder if it does not
/// exist. Replaces the files of an earlier build.
pub fn build(dataset: &Dataset, out: &Path) -> Result<BuildReport, EnvError> {
    let (files, report) = files(dataset, out)?;
    let (source, hash) = (dataset.source.clone(), dataset.hash.clone());
    folder::claim(out, &BuildNote::new(source, hash, dataset.invented))?;
    let metadata = Value::Object(files.metadata).to_string();
    folder::write(out, METADATA, metadata.as_bytes())?;
    for (company, tables) in &files.companies {
        for (file, table) in tables {
            // Always `Ok`: `Err` is for a table that could not be read from a file.
            if let Ok(table) = table {
                let path = format!("{COMPANIES}/{company}/{file}");
                folder::write(out, &path, table.to_string().as_bytes())?;
            }
        }
    }
    folder::finish(out, &files.questions)?;
    Ok(report)
}

/// Builds the environment of a dataset in memory.
pub fn catalog(dataset: &Dataset) -> Result<Catalog, EnvError> {
    let path = Path::new(&dataset.source);
    let (files, _) = files(dataset, path)?;
    Catalog::from_files(dataset.source.clone(), dataset.invented, files)
}

/// Builds the environment of the built-in sample, the default if no directory is named.
///
/// # Errors
/// The built-in sample is damaged, which a test rules out.
pub fn builtin() -> Result<Catalog, EnvError> {
    let sample = finqa_score::dataset::sample().map_err(|error| EnvError::Data {
        path: "sample".into(),
        reason: error.to_string(),
    })?;
    catalog(&sample)
}

/// The columns in the file of questions.
const HEADINGS: [&str; 10] = [
    "id", "user_query", "company", "question", "answer", "question_type", "explanation",
    // OpenEnv's data does not have these columns. With them, episodes are scored like the questions
    // of a run.
    "typed_answer", "exe_ans", "difficulty",
];

/// The files of an environment, and their counts. `out` only names them in errors. A dataset
/// without a stand-alone question with gold is an error.
fn files(dataset: &Dataset, out: &Path) -> Result<(DataFiles, BuildReport), EnvError> {
    let mut report = BuildReport::default();
    let mut files = DataFiles::default();
    let mut names = PageNames::default();
    let mut csv = csv::Writer::from_writer(Vec::new());
    let unwritten = |e: csv::Error| EnvError::Data {
        path: out.join(QUESTIONS),
        reason: e.to_string(),
    };
    csv.write_record(HEADINGS).map_err(unwritten)?;
    for record in &dataset.records {
        let page = PageTables::new(&record.document);
        let cases = record.questions.iter();
        let asked: Vec<_> = cases
            .filter_map(|case| Some((case, expected_answer::boxed(&case.gold)?)))
            .collect();
        report.without_gold += record.questions.len() - asked.len();
        if asked.is_empty() {
            continue;
        }
        let (name, is_new) = names.of(&page);
        if is_new {
            add_tables(&mut files, &page, &name);
        }
        report.questions += asked.len();
        for (case, truth) in asked {
            let row = question_row(case, truth, &page.company, &name);
            csv.write_record(row).map_err(unwritten)?;
        }
    }
    if report.questions == 0 {
        let turns = counted(dataset.turn_count(), "turn");
        return Err(EnvError::Data {
            path: dataset.source.clone().into(),
            reason: format!(
                "no stand-alone question to build from: {} without gold, and {turns} of \
                 conversations cannot be asked alone",
                report.without_gold
            ),
        });
    }
    files.questions = csv.into_inner().map_err(|e| EnvError::Io {
        path: out.join(QUESTIONS),
        source: e.into_error(),
    })?;
    report.companies = files.companies.len();
    report.tables = files.companies.values().map(Vec::len).sum();
    Ok((files, report))
}

/// Adds the tables of a page to the files of its company.
fn add_tables(files: &mut DataFiles, page: &PageTables, name: &str) {
    let company = &page.company;
    for (name, table, description) in page.tables(name) {
        // The fields have the order of OpenEnv's finqa_env.
        let entry = json!({
            "table": Value::Object(table.clone()).to_string(),
            "description": description,
            "column_names": table.keys().collect::<Vec<_>>(),
            // `get_table_info` fills it in.
            "unique_vals_per_col": {},
            "company": company,
        });
        files.metadata.insert(format!("{company}/{name}"), entry);
        let tables = files.companies.entry(company.clone()).or_default();
        tables.push((format!("{name}.json"), Ok(Value::Object(table))));
    }
}

/// The row of a question about the page `name`, with the columns of [`HEADINGS`]. The difficulty is
/// the number of steps of gold's program; it is empty without a program that can be read. So is the
/// cell of any other part that gold lacks.
fn question_row(case: &Case, truth: ExpectedAnswer, company: &str, name: &str) -> [String; 10] {
    let question = &case.question;
    let key = &question.key;
    let gold = &case.gold;
    let program = gold
        .program
        .as_deref()
        .and_then(|it| Program::parse(it).ok());
    let difficulty = program.map(|it| it.steps().len().to_string());
    [
        format!("{}#{}", key.id, key.part),
        format!(
            "For company `{company}`, report page `{name}`, here is the question:\n{}",
            question.text
        ),
        company.to_owned(),
        question.text.clone(),
        truth.boxed,
        truth.kind.to_owned(),
        gold.program.clone().unwrap_or_default(),
        gold.answer.clone().unwrap_or_default(),
        gold.exe_ans
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        difficulty.unwrap_or_default(),
    ]
}

/// The pages by their names in lower case, because a file system may ignore case. The name of a
/// page's table of sentences is taken too; it has `None` instead of a page. Records about one page
/// share its tables. Two different pages never share a name.
#[derive(Default)]
struct PageNames(HashMap<String, Option<PageTables>>);

impl PageNames {
    /// Returns a name for the page, and true if the page is new, so that its tables must be added.
    fn of(&mut self, page: &PageTables) -> (String, bool) {
        let mut name = page.name.clone();
        let mut n = 2;
        loop {
            let key = name.to_lowercase();
            let text = page::sentences_of(&key);
            match self.0.get(&key) {
                Some(Some(known)) if known == page => return (name, false),
                None if !self.0.contains_key(&text) => {
                    self.0.insert(key, Some(page.clone()));
                    self.0.insert(text, None);
                    return (name, true);
                }
                _ => name = format!("{}_{n}", page.name),
            }
            n += 1;
        }
    }
}
