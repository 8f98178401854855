//! Reads all tables of a page once for all its questions, and defines the reasons for doubt.

mod cells;
pub(super) mod days;
pub(super) mod table;
pub(super) mod tags;
pub(super) mod totals;
mod unlabelled;
pub(super) mod word_weights;

use std::collections::{BTreeMap, HashSet};

use finqa_core::page::period::{FiscalYears, Period};
use finqa_core::page::{Cell, Cover, Statement, Table};
use finqa_core::pattern;
use finqa_core::question::Document;
use finqa_core::text::Pattern;

use crate::reading::cues::{Cue, cue_at};
use crate::reading::outflow::names_cost;
use crate::tables::words::{Stems, has_one_of, is_light, lists, lists_stem, plain_stems, stems};
use table::{Label, Place, ReportTable, SCOPES};
use tags::Tag;
use word_weights::Weights;

/// The tables of a page, and everything else of the page that questions need.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) tables: Vec<ReportTable>,
    pub(crate) weights: Weights,
    pub(crate) years: FiscalYears,
    /// Stems of the sentences on a page with a single table; empty for a report.
    pub(crate) text: HashSet<String>,
    single: bool,
    /// Stems that say what all figures of a single table are, such as its file's name: `headcount`.
    subject: HashSet<String>,
    /// The names of a single table, without what only says that it is one.
    pub(crate) names: Vec<String>,
    /// True for a single table whose figures can be what was spent ([`shows_costs`]).
    pub(crate) shows_costs: bool,
    /// The first texts of a report, which may name the company.
    pub(crate) head: String,
    /// True if a table has columns of the group and of the company.
    has_scopes: bool,
    /// True for a single table that lists transactions, as banks and apps export them.
    pub(crate) is_list: bool,
    /// The tags of cells with standard elements (us-gaap, IFRS).
    pub(crate) tags: BTreeMap<Place, Tag>,
}

/// Why a question is not answered from the labels, or not surely.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Doubt {
    /// The question is not understood in full. Another reader can still answer it.
    Open,
    /// The page lacks what the question asks for, or has it several times; the text says which.
    Missing(String),
    /// The table lacks it, but a sentence can have it; the text says what is missing.
    InText(String),
}

/// A result, or the reason why there is none.
pub(crate) type TableResult<T> = Result<T, Doubt>;

pub(crate) fn missing<T>(why: impl Into<String>) -> TableResult<T> {
    Err(Doubt::missing(why))
}

/// The doubt `why` if it applies.
pub(crate) fn missing_if(applies: bool, why: &str) -> TableResult<()> {
    if applies { missing(why) } else { Ok(()) }
}

/// Leaves a question open that the tables cannot answer.
pub(crate) fn open_if(applies: bool) -> TableResult<()> {
    if applies { Err(Doubt::Open) } else { Ok(()) }
}

impl Doubt {
    pub(crate) fn missing(why: impl Into<String>) -> Self {
        Self::Missing(why.into())
    }

    /// What the page lacks or has several times; `None` for a question that is not understood.
    pub(crate) fn why(self) -> Option<String> {
        match self {
            Self::Missing(why) | Self::InText(why) => Some(why),
            Self::Open => None,
        }
    }
}

impl Tables {
    /// Reads the tables of a page. Without entries in `document.tables`, it has a single table.
    pub(crate) fn read(document: &Document) -> Self {
        let page = document.page();
        let single = document.tables.is_empty();
        let above = document.tables.iter().map(|start| start.above.as_slice());
        let above = above.chain(single.then_some([].as_slice()));
        let read = |(at, (table, above))| ReportTable::read(at, table, above, single);
        let tables = page.tables().zip(above).enumerate();
        let mut tables: Vec<ReportTable> = tables.map(read).collect();
        for (table, start) in tables.iter_mut().zip(&document.tables) {
            table.sheet.clone_from(&start.places.sheet);
            table.date_by_tags(&start.tags);
        }
        let cover = document.cover.clone().unwrap_or_default();
        let columns = || tables.iter().flat_map(|table| &table.columns);
        let periods: Vec<Period> = columns().filter_map(|one| one.label.period).collect();
        let company = (!single).then(|| company(&cover, document, &tables));
        let text = document.sentences().filter(|_| single);
        let head = document.pre_text.iter().take(HEAD);
        Self {
            weights: Weights::read(&tables, company.unwrap_or_default()),
            years: FiscalYears::read(&cover, &periods, weekly(document)),
            text: text.flat_map(stems).collect(),
            single,
            subject: subject(document, &tables),
            names: names(document).filter(|_| single).collect(),
            shows_costs: shows_costs(document, &tables),
            is_list: single && page.tables().any(lists_transactions),
            head: head.fold(String::new(), |all, text| all + " " + text),
            tags: tags::read(document, page.tables()),
            // A filler word elsewhere: `ReportTable::read` adds it to such columns only.
            has_scopes: columns().any(|one| one.label.has(SCOPES[1])),
            tables,
        }
    }

    /// The scope that a word names ("the group's"), if a table has columns of both scopes.
    pub(crate) fn scope(&self, word: &str) -> Option<&'static str> {
        let word = word.trim_end_matches("'s");
        let scope = SCOPES.into_iter().find(|scope| *scope == word);
        scope.filter(|_| self.has_scopes)
    }

    /// The word for all years after `year` ("thereafter"), if a schedule ends with that year and
    /// such a word.
    pub(crate) fn after_last(&self, year: u16) -> Option<String> {
        self.tables.iter().find_map(|table| {
            let mut first = labels(table).filter_map(|label| label.words.first());
            let word = first.find(|word| lists_stem(AFTERWARDS, word))?;
            let years = labels(table).filter_map(|label| label.period?.end.year);
            (years.max() == Some(year)).then(|| word.clone())
        })
    }

    /// True if the page is the user's own with one table, and not a report.
    pub(crate) fn is_single_table(&self) -> bool {
        self.single
    }

    /// True if words say no more than what all figures of a single table are.
    pub(crate) fn is_subject(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.subject.contains(word))
    }

    /// True if the page is a report, an excerpt of one, or has several tables.
    pub(crate) fn is_report(&self) -> bool {
        !self.single
    }

    /// True if a question is answered from the labels or not at all: in a report, whose guesses are
    /// made by the labels too, and in a list of transactions, because one of its figures is not a
    /// guess at a sum.
    pub(crate) fn has_no_guess(&self) -> bool {
        self.is_report() || self.is_list
    }

    /// True if a label or a title has the word.
    pub(crate) fn says(&self, word: &str) -> bool {
        let of_label = |table: &ReportTable| {
            let mut rows = table.rows.iter().skip(1);
            rows.any(|row| row.says(word)) || labels(table).any(|label| label.says(word))
        };
        if self.is_single_table() {
            self.tables.iter().any(of_label)
        } else {
            self.weights.knows(word)
        }
    }

    /// The labels that a question can repeat in full without asking for an operation: all labels of
    /// a single table, and in a report the names of ratios, of averages, of places such as "Greater
    /// China", and of changes in the statement of cash flows. "The increase in inventories" is then
    /// a row and not a difference of two balances.
    pub(crate) fn label_names(&self) -> impl Iterator<Item = &str> {
        let tables = self.tables.iter();
        let labels = tables.flat_map(|table| labels(table).map(move |label| (table, label)));
        let whole = |(table, label): &(&ReportTable, &Label)| {
            let name = label.name.to_lowercase();
            let changes = ["change in ", "changes in ", "increase in ", "decrease in "];
            let flow = table.statement == Some(Statement::Flows)
                && changes.iter().any(|change| name.starts_with(change));
            let averages = ["average ", "weighted average ", "weighted-average "];
            let average = averages.iter().any(|average| name.starts_with(average));
            let words: Vec<&str> = name.split_whitespace().collect();
            let more = matches!(cue_at(&words), Some((Cue::More, _)));
            let whole = table.single || name.ends_with(" ratio") || flow || average || more;
            !label.words.is_empty() && whole
        };
        labels.filter(whole).map(|(_, label)| label.name.as_str())
    }

    /// True if new words can replace an old word in a follow-up. In a single table, both must name
    /// rows or both columns. In a report, no table may have one only in its rows and the other only
    /// in its columns.
    pub(crate) fn is_alike(&self, new: &[String], old: &str) -> bool {
        let alike = |table: &ReportTable| {
            let rows = table.rows.iter().skip(1).map(|row| &row.label);
            let columns = table.columns.iter().skip(1).map(|column| &column.label);
            let new = |label: &Label| new.iter().all(|word| label.says(word));
            let old = |label: &Label| label.says(old);
            let rows = (rows.clone().any(new), rows.clone().any(old));
            let columns = (columns.clone().any(new), columns.clone().any(old));
            if table.single {
                rows == (true, true) || columns == (true, true)
            } else {
                ![[rows, columns], [columns, rows]].contains(&[(true, false), (false, true)])
            }
        };
        self.tables.iter().all(alike)
    }
}

/// Stems of labels whose figures are not what was spent.
static UNSPENT: Stems = Stems::new(
    "budget plan target forecast price rate quantity qty stock unit hour headcount staff remaining \
     left open paid unpaid due invoice",
);

/// Stems of names of tables whose figures are not what was spent.
pub(crate) static EARNED: Stems = Stems::new("sale revenue income turnover takings earning profit");

/// Stems of names of costs that do not say that they are costs.
static EXPENSES: Stems = Stems::new(
    "rent travel trip insurance heating electricity fuel petrol grocery groceries food repair \
     maintenance utility postage phone internet licence license hosting subscription",
);

/// True for the name of a typical expense, such as rent.
pub(crate) fn is_expense(label: &Label) -> bool {
    let mut words = label.words.iter();
    words.any(|word| EXPENSES.contains(word))
}

/// True if a label names a cost, unless the table's name, or a label that says no more, names
/// figures that were not spent.
fn shows_costs(document: &Document, tables: &[ReportTable]) -> bool {
    let is_unspent = |label: &Label| {
        let mut words = label.words.iter().filter(|word| !is_light(word)).peekable();
        words.peek().is_some() && words.all(|word| UNSPENT.contains(word))
    };
    let is_cost = |label: &Label| is_expense(label) || names_cost(&label.name);
    let costs = tables.iter().flat_map(labels).any(is_cost);
    let costs = costs || names(document).any(|name| names_cost(&name));
    let mut named = names(document).flat_map(|name| plain_stems(&name));
    let other = named.any(|word| UNSPENT.contains(&word) || EARNED.contains(&word));
    costs && !other && !tables.iter().flat_map(labels).any(is_unspent)
}

/// Words of names of files that do not say what the figures are.
const OF_FILES: &str = "table list data export overview report sheet statement file copy final";

/// The name of a page's file, and the heading above its table, as words without digits.
fn names(document: &Document) -> impl Iterator<Item = String> {
    let filename = document.filename.as_str();
    let file = filename.rsplit_once('.').map_or(filename, |(name, _)| name);
    let heading = document
        .pre_text
        .first()
        .filter(|text| !text.ends_with('.'));
    let names = [file, heading.map_or("", String::as_str)];
    names.into_iter().map(|name| {
        let words = name.split(|c: char| !c.is_alphanumeric());
        let plain = |word: &&str| {
            let digits = word.contains(|c: char| c.is_ascii_digit());
            !digits && !word.is_empty() && !lists(OF_FILES, &word.to_lowercase())
        };
        words.filter(plain).collect::<Vec<&str>>().join(" ")
    })
}

/// The words of a single table's title and of its file's name, if its rows or its columns have
/// nothing but periods and totals. Otherwise, a label may name another figure than the title does:
/// the prices in a file named "sales.csv". "Sales and costs" are two figures, so such a title does
/// not count.
fn subject(document: &Document, tables: &[ReportTable]) -> HashSet<String> {
    let [table] = tables else {
        return HashSet::new();
    };
    let timed = |label: &Label| {
        label.period.is_some() && label.words.is_empty() || label.total && label.words.len() < 2
    };
    let has_figure = |at: usize| {
        let mut rows = table.body();
        rows.any(|(_, row)| row.cells.get(at).is_some_and(Option::is_some))
    };
    let columns = table.figure_columns().filter(|(at, _)| has_figure(*at));
    let mut columns = columns.map(|(_, column)| &column.label);
    let mut rows = table.body().map(|(_, row)| &row.label);
    if !table.single || !(columns.all(timed) || rows.all(timed)) {
        return HashSet::new();
    }
    let names = names(document).filter(|name| !has_one_of("and vs versus or by und", name));
    let words = names.flat_map(|name| plain_stems(&name));
    words.filter(|word| !is_light(word)).collect()
}

/// True if most rows of a table have a day and a text, such as a shop or a payee.
fn lists_transactions(table: &Table) -> bool {
    let rows = table.cells().get(1..).unwrap_or_default();
    let is_day = |cell: &Cell| days::is_day(&cell.raw);
    let is_text = |cell: &Cell| cell.number.is_none() && cell.raw.contains(char::is_alphabetic);
    let is_listed = |row: &&Vec<Cell>| {
        row.iter().any(is_day) && row.iter().any(|cell| is_text(cell) && !is_day(cell))
    };
    2 * rows.iter().filter(is_listed).count() > rows.len()
}

impl ReportTable {
    /// True for a schedule of years ahead, which ends with a row or column for all later years.
    pub(crate) fn is_schedule(&self) -> bool {
        let is_last = |label: &Label| {
            let first = label.words.first();
            first.is_some_and(|word| lists_stem(AFTERWARDS, word))
                || label.period.is_some() && label.name.to_lowercase().starts_with("after ")
        };
        let years = || labels(self).filter(|label| label.period.is_some());
        let read = || years().count() > 1 && labels(self).any(is_last);
        *self.schedule.get_or_init(read)
    }
}

/// Stems with which a schedule names all later years.
const AFTERWARDS: &str = "thereafter later beyond";

/// The labels of the rows and the columns, without the corner.
pub(crate) fn labels(table: &ReportTable) -> impl Iterator<Item = &Label> {
    let rows = table.rows.iter().skip(1).map(|row| &row.label);
    rows.chain(table.columns.iter().skip(1).map(|column| &column.label))
}

/// True if a heading counts in weeks, as those of retailers do.
fn weekly(document: &Document) -> bool {
    let starts = document.tables.iter();
    let heads = starts.filter_map(|start| document.table.get(start.row));
    let mut heads = heads.flatten();
    heads.any(|head| head.to_lowercase().contains(" weeks "))
}

/// Number of texts at the top of a report that are searched for the company's name. Set by hand.
const HEAD: usize = 5;

/// A line that begins with a name and the form of a company.
static LEGAL_NAME: Pattern = pattern!(
    r"^(?P<name>(?:[A-Z][\w'-]*,? (?:& |and )?){1,5}?)(?i:inc|corp|corporation|ag|se|plc|ltd|limited|gmbh|nv|llc|co)\b"
);

/// Words for the form of a company, which may be in the names of others too.
pub(crate) const LEGAL_FORMS: &str = "inc incorporated corporation corp plc ltd limited holdings";

/// The words of the company's name, from the cover and the file's name. A user can give a file any
/// name, so a word of it counts only if the top of the report has it too and no label does.
fn company(cover: &Cover, document: &Document, tables: &[ReportTable]) -> Vec<String> {
    let mut out = plain_stems(&cover.company);
    out.extend(plain_stems(&cover.company.replace('.', " ")));
    // "Total Acme Incorporated equity", where the cover has "Acme Inc."
    out.extend(plain_stems(LEGAL_FORMS));
    // "P&G" or "PnG" for "Procter & Gamble".
    let words: Vec<&str> = cover.company.split_whitespace().collect();
    for three in words.windows(3) {
        if let [before, "&", after] = three {
            let initial = |word: &str| word.chars().take(1).collect::<String>();
            for and in ["&", "n"] {
                let short = initial(before) + and + &initial(after);
                let short = short.to_lowercase();
                out.extend(plain_stems(&short));
                out.push(short);
            }
        }
    }
    let is_label = |word: &str| tables.iter().flat_map(labels).any(|label| label.says(word));
    // "HD" for "The Home Depot, Inc."
    let named = words.iter().filter_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let word = word.to_lowercase();
        let plain = !lists("the company", &word) && !lists(LEGAL_FORMS, &word);
        word.chars().next().filter(|_| plain)
    });
    let initials: String = named.collect();
    if initials.len() > 1 && !is_label(&initials) {
        out.extend(plain_stems(&initials));
    }
    let filename = document.filename.as_str();
    let file = filename.rsplit_once('.').map_or(filename, |(name, _)| name);
    let mut of_file = plain_stems(&file.replace(['_', '.'], " "));
    let head_texts = || document.pre_text.iter().take(HEAD);
    let head: HashSet<String> = head_texts().flat_map(|text| plain_stems(text)).collect();
    // A ticker may begin the name: "MA" for "Mastercard".
    let name = cover.company.to_lowercase();
    of_file.retain(|word| {
        let of_company = head.contains(word) || word.len() > 1 && name.starts_with(word.as_str());
        word.chars().all(char::is_alphabetic) && of_company
    });
    out.extend(of_file.into_iter().filter(|word| !is_label(word)));
    // Without a cover, use the line that begins with a legal name. A word that the text also has in
    // small letters is an ordinary word.
    let line = head_texts().find_map(|text| LEGAL_NAME.captures(text));
    if let Some(line) = line.filter(|_| cover.company.is_empty()) {
        let has_small = |word: &String| {
            let small = |part: &str| {
                part.starts_with(char::is_lowercase) && plain_stems(part).contains(word)
            };
            let mut texts = document.sentences();
            texts.any(|text| text.split(|c: char| !c.is_alphanumeric()).any(small))
        };
        let of_line = plain_stems(&line["name"]).into_iter();
        out.extend(of_line.filter(|word| !is_label(word) && !has_small(word)));
    }
    out
}
