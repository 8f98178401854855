//! `ConvFinQA` records as an environment: tables, sentences, stand-alone questions.
//!
//! The company is the ticker of the report page; a page is two tables, the published one
//! and its sentences. Questions without gold are left out. `env build` writes the result to a
//! folder; the built-in data are made in memory.

mod folder;
mod page;
mod truth;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use finqa_env::data::{BuildNote, COMPANIES, Catalog, DataFiles, EnvError, METADATA, QUESTIONS};

use crate::dataset::{Case, Dataset, QuestionKey};
use folder::Folder;
use page::PageTables;
use truth::Truth;

/// The content of the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Only questions whose program's numbers are all in cells of the table.
    pub tables_only: bool,
}

/// The result of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    pub companies: usize,
    /// Tables, those of sentences among them.
    pub tables: usize,
    pub questions: usize,
    /// Stand-alone questions left out because they have no gold.
    pub without_gold: usize,
    /// Questions left out by [`BuildOptions::tables_only`].
    pub not_in_cells: usize,
}

/// The key of the dataset's question that an environment's question was built
/// from; `None` if its id has another form.
pub fn question_key(id: &str) -> Option<QuestionKey> {
    let (id, part) = id.rsplit_once('#')?;
    Some(QuestionKey {
        id: id.to_owned(),
        part: part.to_owned(),
    })
}

/// Writes the environment of a dataset to `out`, which is created if
/// it does not exist; files of an earlier build are replaced.
pub fn build(
    dataset: &Dataset,
    out: &Path,
    options: BuildOptions,
) -> Result<BuildReport, EnvError> {
    let (files, report) = files(dataset, out, options)?;
    let folder = Folder::claim(out, &note(dataset, options))?;
    folder.write(QUESTIONS, &files.questions)?;
    let metadata = Value::Object(files.metadata).to_string();
    folder.write(METADATA, metadata.as_bytes())?;
    for (company, name, table) in &files.tables {
        if let Ok(table) = table {
            let path = Path::new(COMPANIES).join(company);
            let path = path.join(format!("{name}.json"));
            folder.write(path, table.to_string().as_bytes())?;
        }
    }
    folder.finish()?;
    Ok(report)
}

/// The environment of a dataset, without a directory.
pub fn catalog(dataset: &Dataset, options: BuildOptions) -> Result<Catalog, EnvError> {
    let path = Path::new(&dataset.source);
    let (files, _) = files(dataset, path, options)?;
    Catalog::from_files(dataset.source.clone(), dataset.invented, path, files)
}

/// The data served when no directory is given, made from the built-in sample.
///
/// # Errors
/// If the built-in sample is damaged, which a test rules out.
pub fn builtin() -> anyhow::Result<Catalog> {
    Ok(catalog(
        &crate::dataset::sample()?,
        BuildOptions::default(),
    )?)
}

fn note(dataset: &Dataset, options: BuildOptions) -> BuildNote {
    BuildNote::new(
        dataset.source.clone(),
        dataset.hash.clone(),
        dataset.invented,
        options.tables_only,
    )
}

/// The columns of the questions' file.
const HEADINGS: [&str; 9] = [
    "id", "user_query", "company", "question", "answer", "question_type", "explanation",
    // Not in OpenEnv's data: for scoring an agent as a run is scored.
    "typed_answer", "exe_ans",
];

fn files(
    dataset: &Dataset,
    out: &Path,
    options: BuildOptions,
) -> Result<(DataFiles, BuildReport), EnvError> {
    let mut report = BuildReport::default();
    let mut files = DataFiles::default();
    let mut names = PageNames::default();
    let mut companies = BTreeSet::new();
    let mut csv = csv::Writer::from_writer(Vec::new());
    let unwritten = |e: csv::Error| EnvError::Questions {
        path: out.join(QUESTIONS),
        reason: e.to_string(),
    };
    csv.write_record(HEADINGS).map_err(unwritten)?;
    for record in &dataset.records {
        let page = PageTables::new(&record.document);
        let mut asked = Vec::new();
        for case in &record.questions {
            match truth::boxed(&case.gold) {
                None => report.without_gold += 1,
                Some(_) if options.tables_only && !reads_only_cells(case) => {
                    report.not_in_cells += 1
                }
                Some(truth) => asked.push((case, truth)),
            }
        }
        if asked.is_empty() {
            continue;
        }
        companies.insert(page.company.clone());
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
        return Err(EnvError::NothingToBuild {
            from: dataset.source.clone(),
            without_gold: report.without_gold,
            not_in_cells: report.not_in_cells,
            turns: dataset.turn_count(),
        });
    }
    files.questions = csv.into_inner().map_err(|e| EnvError::Io {
        path: out.join(QUESTIONS),
        source: e.into_error(),
    })?;
    report.companies = companies.len();
    report.tables = files.tables.len();
    files.companies = companies.into_iter().collect();
    Ok((files, report))
}

fn add_tables(files: &mut DataFiles, page: &PageTables, name: &str) {
    let company = &page.company;
    for (name, table, description) in page.tables(name) {
        let entry = table_description(company, &description, &table);
        files.metadata.insert(format!("{company}/{name}"), entry);
        let table = Ok(Value::Object(table));
        files.tables.push((company.clone(), name, table));
    }
}

/// A question on the page `name`, in the order of [`HEADINGS`].
fn question_row(case: &Case, truth: Truth, company: &str, name: &str) -> [String; 9] {
    let question = &case.question;
    let key = &question.key;
    let gold = &case.gold;
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
    ]
}

/// An entry of the metadata, its keys in the order of OpenEnv's finqa_env.
fn table_description(company: &str, description: &str, table: &Map<String, Value>) -> Value {
    let columns: Vec<&String> = table.keys().collect();
    json!({
        "table": Value::Object(table.clone()).to_string(),
        "description": description,
        "column_names": columns,
        "unique_vals_per_col": {},
        "company": company,
    })
}

/// True if every number of the program but the constants is a cell's, and every row it
/// reads is the table's.
fn reads_only_cells(case: &Case) -> bool {
    let Some(program) = case.gold.program.as_deref() else {
        return false;
    };
    let Ok(program) = finqa_core::program::Program::parse(program) else {
        return false;
    };
    let table = &case.question.document.table;
    let cells: Vec<f64> = table
        .iter()
        .flat_map(|row| row.iter().skip(1))
        .flat_map(|cell| finqa_core::number::readings(cell))
        .map(|reading| reading.fraction().abs())
        .collect();
    program
        .literals()
        .filter(|literal| !literal.starts_with("const_"))
        .all(|literal| {
            let value = finqa_core::number::literal(literal).map(f64::abs);
            value.is_some_and(|v| cells.iter().any(|c| finqa_core::number::same(*c, v)))
        })
}

/// Names of pages: records of one page share its tables, two different pages
/// never share a name.
#[derive(Default)]
struct PageNames {
    /// By the name that a page would have alone: its pages and their names.
    pages: HashMap<String, Vec<(PageTables, String)>>,
    /// Lower case, because a file system may not distinguish case.
    taken: HashSet<String>,
}

impl PageNames {
    /// The page's name, and whether its tables are yet to be written.
    fn of(&mut self, page: &PageTables) -> (String, bool) {
        let mut alike = self.pages.get(&page.name).into_iter().flatten();
        if let Some((_, name)) = alike.find(|(known, _)| known == page) {
            return (name.clone(), false);
        }
        let mut name = page.name.clone();
        let mut n = 2;
        while self.is_taken(&name) || self.is_taken(&page::sentences_of(&name)) {
            name = format!("{}_{n}", page.name);
            n += 1;
        }
        for name in [&name, &page::sentences_of(&name)] {
            self.taken.insert(name.to_lowercase());
        }
        let alike = self.pages.entry(page.name.clone()).or_default();
        alike.push((page.clone(), name.clone()));
        (name, true)
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(&name.to_lowercase())
    }
}
