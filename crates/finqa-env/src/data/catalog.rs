//! The catalog: everything a data directory contains, read once.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::frame::{RawFrame, frame};
use super::note::BuildNote;
use super::questions::{self, EnvQuestion};
use super::splits::TaskSplits;
use super::typed::{self, TypedColumn};
use super::{EnvError, info};
use crate::python;
use finqa_core::files;

/// The path of the questions' file in a data directory.
pub const QUESTIONS: &str = "benchmark_questions/finqa.csv";
/// The folder of the questions.
pub const QUESTIONS_FOLDER: &str = "benchmark_questions";
/// The folder that contains the companies' folders.
pub const COMPANIES: &str = "input_companies";
/// The metadata of all tables.
pub const METADATA: &str = "input_companies/tables_cleaned_all_companies.json";

/// One table: a JSON file of a company.
#[derive(Debug)]
pub struct CompanyTable {
    /// File name without `.json` and `.txt`.
    pub name: String,
    /// File name, for messages.
    file: String,
    /// The columns, or the reason why the table cannot be queried.
    pub columns: Result<Vec<TypedColumn>, String>,
    /// Index among all tables of the catalog; the key of its databases in the pool.
    pub(crate) number: usize,
}

/// The tables of a company by name, sorted.
type CompanyTables = BTreeMap<String, CompanyTable>;

/// The findings of [`Catalog::check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogReport {
    /// Companies with a folder.
    pub companies: usize,
    /// Tables that can be queried.
    pub tables: usize,
    /// Questions that can be asked.
    pub questions: usize,
    /// One line for each problem.
    pub problems: Vec<String>,
}

/// Everything a data directory contains. It is immutable, so sessions share it without locks.
#[derive(Debug)]
pub struct Catalog {
    source: String,
    invented: bool,
    companies: BTreeMap<String, CompanyTables>,
    /// The text of `get_table_info` for each `company/table`.
    info: HashMap<String, String>,
    questions: Vec<EnvQuestion>,
    splits: TaskSplits,
    problems: Vec<String>,
}

/// The contents of a data directory, read from a folder or built in memory.
#[derive(Debug, Default)]
pub struct DataFiles {
    /// The bytes of the questions' CSV.
    pub questions: Vec<u8>,
    /// The description of each table, by `company/table`.
    pub metadata: Map<String, Value>,
    /// The tables of each company.
    pub companies: BTreeMap<String, Vec<TableFile>>,
}

/// The name of a table's file, and its content or the reason why it cannot be read.
type TableFile = (String, Result<Value, String>);

impl Catalog {
    /// Reads a data directory in OpenEnv's layout.
    ///
    /// # Errors
    /// If the questions or the metadata cannot be read. A single damaged table
    /// is not an error here: [`Catalog::check`] and queries report it.
    pub fn load(path: &Path) -> Result<Self, EnvError> {
        let questions = read(&path.join(QUESTIONS))?;
        let described = path.join(METADATA);
        let metadata = python::read_json(&read(&described)?);
        let metadata = metadata.and_then(serde_json::from_value);
        let metadata = metadata.map_err(|error| EnvError::Data {
            reason: format!("not the expected table metadata: {error}"),
            path: described,
        })?;
        let mut companies = BTreeMap::new();
        for (company, folder) in entries(&path.join(COMPANIES))? {
            // The metadata of all tables is a file in this folder.
            if !folder.is_dir() {
                continue;
            }
            let tables: &mut Vec<_> = companies.entry(company).or_default();
            for (name, file) in entries(&folder)? {
                if name.ends_with(".json") {
                    let parsed = python::read_json(&read(&file)?);
                    tables.push((name, parsed.map_err(|e| e.to_string())));
                }
            }
        }
        let invented = BuildNote::read(path)?.is_some_and(|note| note.invented);
        let files = DataFiles {
            questions,
            metadata,
            companies,
        };
        Self::from_files(path.display().to_string(), invented, files)
    }

    /// Builds the catalog from files already read. `source` names them in messages.
    ///
    /// # Errors
    /// If the questions cannot be read, or none of them can be asked.
    pub fn from_files(source: String, invented: bool, files: DataFiles) -> Result<Self, EnvError> {
        let csv = Path::new(&source).join(QUESTIONS);
        let (questions, rows) = questions::read(&csv, &files.questions)?;
        if questions.is_empty() {
            return Err(EnvError::Data {
                path: source.into(),
                reason: format!("no questions in {QUESTIONS}"),
            });
        }
        let mut problems: Vec<String> = rows
            .into_iter()
            .map(|row| format!("{QUESTIONS}: {row}"))
            .collect();
        let mut companies: BTreeMap<String, CompanyTables> = BTreeMap::new();
        let mut numbers = 0..;
        for (company, tables) in files.companies {
            let kept = companies.entry(company.clone()).or_default();
            for ((file, value), number) in tables.into_iter().zip(&mut numbers) {
                let name = table_name(&file);
                // The first is the file that `finqa_env` reads: `x.json` is before `x.txt.json`.
                if kept.contains_key(&name) {
                    problems.push(format!(
                        "{COMPANIES}/{company}: several files have the table name `{name}`, and \
                         only the first is used; rename the others"
                    ));
                    continue;
                }
                let frame = value.and_then(|value| frame(&value));
                let columns = frame.and_then(|frame| typed::columns(&frame));
                if let Err(reason) = &columns {
                    problems.push(format!("{COMPANIES}/{company}/{file}: {reason}"));
                }
                let table = CompanyTable {
                    name: name.clone(),
                    file,
                    columns,
                    number,
                };
                kept.insert(name, table);
            }
        }
        Ok(Self {
            source,
            invented,
            companies,
            info: table_infos(files.metadata, &mut problems),
            splits: TaskSplits::new(&questions),
            questions,
            problems,
        })
    }

    /// The source, for messages: a path, or `built-in sample`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// True if the pages and questions are invented. Rewards then say nothing about real ones.
    pub fn invented(&self) -> bool {
        self.invented
    }

    /// BLAKE3 hash of the questions, the tables and their descriptions, in hex. If two hashes are
    /// equal, the episodes were played on the same data. Columns of the questions that do not
    /// change an episode are left out.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // The length separates a text from the next one, because `ab` and `c` must not hash like
        // `a` and `bc`.
        let mut put = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        for question in &self.questions {
            for text in [
                &question.id, &question.question, &question.company, &question.answer,
            ] {
                put(text);
            }
        }
        // Sort the entries, because the order of a hash map differs between processes.
        let mut info: Vec<_> = self.info.iter().collect();
        info.sort();
        for (table, text) in info {
            put(table);
            put(text);
        }
        for (company, tables) in &self.companies {
            put(company);
            for table in tables.values() {
                put(&table.name);
                // Rust's debug format prints a float with the fewest digits that read back as the
                // same float.
                put(&format!("{:?}", table.columns));
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The companies by name, sorted.
    pub fn companies(&self) -> &BTreeMap<String, CompanyTables> {
        &self.companies
    }

    /// The questions that can be asked, in file order; never empty.
    pub fn questions(&self) -> &[EnvQuestion] {
        &self.questions
    }

    pub(crate) fn splits(&self) -> &TaskSplits {
        &self.splits
    }

    /// A table by company and name. Names are looked up, never joined to a path.
    pub fn table(&self, company: &str, table: &str) -> Option<&CompanyTable> {
        self.companies.get(company)?.get(table)
    }

    /// The text of `get_table_info`; `None` if the metadata do not describe the table.
    pub(crate) fn table_info(&self, company: &str, table: &str) -> Option<&str> {
        self.info
            .get(&format!("{company}/{table}"))
            .map(String::as_str)
    }

    /// Checks that every table is readable and described, and that every question's company has
    /// tables.
    pub fn check(&self) -> CatalogReport {
        let mut problems = self.problems.clone();
        let mut readable = 0;
        for (company, found) in &self.companies {
            for table in found.values() {
                readable += usize::from(table.columns.is_ok());
                if self.table_info(company, &table.name).is_none() {
                    problems.push(format!(
                        "{COMPANIES}/{company}/{}: not described in the metadata, \
                         so that get_table_info does not find it",
                        table.file
                    ));
                }
            }
        }
        for key in self.info.keys() {
            let named = key.split_once('/');
            if named.is_none_or(|(company, name)| self.table(company, name).is_none()) {
                problems.push(format!("{METADATA}: {key}: there is no such table"));
            }
        }
        for question in &self.questions {
            let (id, company) = (&question.id, &question.company);
            match self.companies.get(company).map(BTreeMap::len) {
                None => problems.push(format!("question {id}: there is no company `{company}`")),
                Some(0) => problems.push(format!("question {id}: `{company}` has no tables")),
                Some(_) => {}
            }
        }
        // The order of the hash map `info` differs between processes.
        problems.sort();
        CatalogReport {
            companies: self.companies.len(),
            tables: readable,
            questions: self.questions.len(),
            problems,
        }
    }
}

/// The name by which a table is found: the name of its file, or the name that an agent sends,
/// without every `.json` and `.txt` in it, as OpenEnv's `finqa_env` looks it up.
pub(crate) fn table_name(name: &str) -> String {
    name.replace(".json", "").replace(".txt", "")
}

/// The text of `get_table_info` for each entry of the metadata. If the `table` of an entry is
/// damaged, the other keys of the entry are still shown.
fn table_infos(
    metadata: Map<String, Value>,
    problems: &mut Vec<String>,
) -> HashMap<String, String> {
    let mut infos = HashMap::with_capacity(metadata.len());
    for (key, entry) in metadata {
        let frame = described_frame(&entry).unwrap_or_else(|reason| {
            problems.push(format!("{METADATA}: {key}: {reason}"));
            RawFrame::new()
        });
        if let Some(entry) = entry.as_object() {
            infos.insert(key, info::table_info(entry, &frame));
        }
    }
    infos
}

/// Reads the table in the metadata entry's key `table`, which is a JSON text.
fn described_frame(entry: &Value) -> Result<RawFrame, String> {
    let text = entry.get("table").and_then(Value::as_str);
    let text = text.ok_or("the entry has no `table` text")?;
    let value = python::read_json(text.as_bytes()).map_err(|e| e.to_string())?;
    frame(&value)
}

fn read(path: &Path) -> Result<Vec<u8>, EnvError> {
    files::read(path).map_err(EnvError::reading(path))
}

/// The entries of a folder by name. They are sorted, so that nothing depends on the order of the
/// file system. Names that are not UTF-8 are left out.
fn entries(folder: &Path) -> Result<BTreeMap<String, PathBuf>, EnvError> {
    let listed = || {
        let entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        entries.collect::<std::io::Result<Vec<PathBuf>>>()
    };
    let paths = listed().map_err(EnvError::reading(folder))?;
    let named = |path: PathBuf| Some((path.file_name()?.to_str()?.to_owned(), path));
    Ok(paths.into_iter().filter_map(named).collect())
}
