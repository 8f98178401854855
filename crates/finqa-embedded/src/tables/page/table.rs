//! Reads a table's labels into words and periods, so that questions can be compared with them.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use finqa_core::page::period::{DayOrder, Period, Times};
use finqa_core::page::{Cell, CellKind, CellNumber, FigureTag, Statement, Table, without_unit};
use finqa_core::pattern;
use finqa_core::text::{Pattern, single_spaced};

use super::days::is_same_day;
use crate::tables::words::{
    Stems, brackets, has_one_of, in_one_script, lists, plain_stems, same_word, stems,
};

/// Words for the group and its parent. They name figures only in a table with columns of both.
pub(crate) const SCOPES: [&str; 2] = ["group", "company"];

/// A table whose labels are read, so that a question can be compared with them.
#[derive(Debug)]
pub(crate) struct ReportTable {
    /// True if it is the only table of a user's page. Its labels then name each figure in full.
    pub(crate) single: bool,
    /// Its index among the tables of the page.
    pub(crate) index: usize,
    /// The row of the page that has this table's header.
    pub(crate) first_row: usize,
    /// The words of the title and the upper left cell, which describe all figures.
    pub(crate) title: HashSet<String>,
    /// The texts above the table; empty for a single table.
    pub(crate) above: String,
    /// Words of the title by which the figures are not the whole company's: "parent", "pro forma".
    pub(crate) qualifiers: Vec<String>,
    /// The kind of primary statement, if the title is the name of one.
    pub(crate) statement: Option<Statement>,
    /// All columns; the first has the labels of the rows.
    pub(crate) columns: Vec<ReportColumn>,
    /// All rows; the first is the header.
    pub(crate) rows: Vec<ReportRow>,
    /// The name of the workbook sheet; empty in other documents.
    pub(crate) sheet: String,
    /// The result of `is_schedule`, computed on first use, because many cells ask for it.
    pub(super) schedule: OnceLock<bool>,
    /// True if the caption states a scale, such as thousands or millions.
    pub(crate) scaled: bool,
}

/// The position of a cell: its table, row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) table: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

/// The label of a row or a column, as questions name it.
#[derive(Debug, Default)]
pub(crate) struct Label {
    /// The label without its period ("Sales" for "Sales 2031"), or the period if it has no words.
    pub(crate) name: String,
    /// Stems of the label outside of its brackets.
    pub(crate) words: Vec<String>,
    /// Stems of the words in brackets.
    pub(crate) aside: Vec<String>,
    /// Stems of what the figure is net of: `allowance` for "Receivables, net of allowance".
    pub(crate) deducted: Vec<String>,
    pub(crate) period: Option<Period>,
    pub(crate) total: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ReportColumn {
    pub(crate) label: Label,
    /// The heading as it is printed.
    pub(crate) printed: String,
    /// True for a column of a budget or a forecast.
    pub(crate) plan: bool,
    /// True if only the table's title has the column's period.
    pub(crate) is_dated_by_title: bool,
}

/// A row with its labels and figures.
#[derive(Debug, Default)]
pub(crate) struct ReportRow {
    pub(crate) printed: String,
    pub(crate) label: Label,
    /// The text of the section headings above the row; `section` has its stems.
    pub(crate) section_text: Arc<str>,
    pub(crate) section: Arc<[String]>,
    /// True for a row of a budget or a forecast.
    pub(crate) plan: bool,
    /// True if nothing shows that "Total …" is a total and no name: "Total Energies" in a single
    /// table.
    pub(crate) may_be_name: bool,
    /// True for a total that is the sum of the rows since the last heading, or of all rows.
    pub(super) sums_section: bool,
    /// The entry of a column "Unit" or "Currency" in this row; empty without one.
    pub(crate) unit: String,
    /// The figures, with the percentage and the scale that labels and captions state.
    pub(crate) cells: Vec<Option<CellNumber>>,
    /// The texts in the cells of a single table that are no labels, each with its column.
    pub(crate) texts: Vec<(usize, Box<str>)>,
    /// Columns of cells with a dash, which means that there is no amount.
    pub(crate) dashes: Vec<usize>,
    /// Columns of cells that look like figures but could not be read, each with the reason.
    pub(crate) unread: Vec<(usize, Box<str>)>,
}

/// Words of a total, in English and German.
static TOTALS: Stems = Stems::new("total subtotal gesamt summe all");

/// Words of a sum in a cash flow statement: "Net cash from operating activities".
static CASH_OF_ACTIVITIES: Stems = Stems::new("cash activities");

/// Words of a title that show that the figures are not those of the whole company.
const QUALIFIERS: &str = "parent forma discontinued predecessor guarantor guarantors consolidating";

/// Headings of figures that have not happened yet: "Budget 2032", "2032E", "FY32F", "1Q32E". "Goals"
/// can be those of a match.
static PLAN: Pattern = pattern!(
    r"\b(?:budget(?:ed)?|plan(?:ned)?|forecast|outlook|guidance|targets?|goal|objective|proj(?:ected|ections?)?|est(?:imated?)?|fcst|expected|(?:[fc]y ?'?|f|[qh][1-4]|[1-4][qh])?(?:19|20)?\d\d[befp])\b"
);

/// Left out of a title: "Amortization included in cost of sales" is not about the cost of sales.
static INCLUDED: Pattern = pattern!(
    r"(?i)\b(?:included|recorded|recognized|reported|classified) (?:in|within|under)\b[^.;:]*"
);

/// A unit in the brackets of a heading: "(in millions)".
static UNIT: Pattern = pattern!(r"\([^()]*(?:million|thousand|billion|percent)[^()]*\)");

/// A word in brackets for the opposite of what a heading names: "Profit (loss)".
static LOSS: Pattern = pattern!(r"\((?:loss|losses|deficit|decrease)\)");

impl ReportTable {
    /// Reads a table. `above` has the texts above it, and is empty for a single table.
    pub(crate) fn read(index: usize, table: &Table, above: &[String], single: bool) -> Self {
        let title = above.join(" ");
        let lower = title.to_lowercase();
        let header = table.cells().first().map(Vec::as_slice).unwrap_or_default();
        let corner = table.rows().first().map_or("", |row| &*row.label);
        let first = table.cells().iter().filter_map(|row| row.first());
        let days = DayOrder::of(header.iter().chain(first).map(|cell| &*cell.raw));
        let (over, _) = Times::heading_in(&title, days);
        let over = Times::heading_in(corner, days).0.or(over);
        let over = over.filter(|_| !single).unwrap_or_default();
        let read = |cell: &Cell| ReportColumn::read(&cell.raw, single, days);
        let mut columns: Vec<ReportColumn> = header.iter().map(read).collect();
        if single {
            date_repeated(&mut columns);
            read_as_years(&mut columns);
        } else {
            date_spanned(&mut columns);
            add_scopes(&mut columns);
        }
        for column in &mut columns {
            column.is_dated_by_title = column.label.period.is_none();
            let period = column.label.period.unwrap_or_default().or(over);
            column.label.period = (period != Period::default()).then_some(period);
        }
        let mut names = above.iter().map(String::as_str).chain([corner]);
        let statement = names.find_map(Statement::named);
        let said = lower.split(|c: char| !c.is_alphabetic());
        let qualifiers = said.filter(|word| lists(QUALIFIERS, word));
        let mut out = Self {
            single,
            index,
            first_row: table.first_row(),
            title: plain_stems(&INCLUDED.replace_all(&format!("{title} {corner}"), " "))
                .into_iter()
                .collect(),
            qualifiers: qualifiers.flat_map(plain_stems).collect(),
            statement,
            columns,
            rows: Vec::new(),
            schedule: OnceLock::new(),
            sheet: String::new(),
            above: title,
            scaled: table.caption().is_some_and(|unit| unit.scale.is_some()),
        };
        let mut rows = out.read_rows(table, days);
        if single {
            out.settle_totals(&mut rows);
        }
        out.add_sections(&mut rows);
        if !single {
            out.name_unlabelled(&mut rows, days);
        }
        out.rows = rows;
        out
    }

    /// Dates a column without a printed period by its tags, if all of them have one period.
    pub(crate) fn date_by_tags(&mut self, tags: &[FigureTag]) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            let mut periods = tags.iter().filter(|tag| tag.column == at);
            let Some(first) = periods.next().filter(|_| column.label.period.is_none()) else {
                continue;
            };
            if periods.all(|tag| tag.period == first.period) {
                column.label.period = Period::of_tag(&first.period);
            }
        }
    }

    /// The rows, with their figures and units and without sections.
    fn read_rows(&self, table: &Table, days: DayOrder) -> Vec<ReportRow> {
        let is_of_percent = |at: usize| !self.single && table.is_of_percent(at);
        let percent: Vec<bool> = (0..self.columns.len()).map(is_of_percent).collect();
        let is_unit =
            |column: &ReportColumn| lists("unit units currency", &column.printed.to_lowercase());
        let unit = self.columns.iter().position(is_unit);
        // Where only a period heads the columns, all figures of a row have one unit.
        let heads = &self.columns;
        let headed = |c: usize| heads.get(c).is_some_and(ReportColumn::is_headed_by_period);
        let mut rows = Vec::with_capacity(table.rows().len());
        for (at, (row, cells)) in table.rows().iter().zip(table.cells()).enumerate() {
            let mut read = ReportRow::read(&row.label, self, days);
            let of_percent = !self.single && at > 0 && table.is_row_of_percent(at, &headed);
            let figure = |(c, cell): (usize, &Cell)| {
                let number = cell.number.as_ref();
                // In a single table, a text such as "6 months" is a figure too.
                let number = number
                    .filter(|_| cell.kind == CellKind::Number || self.single && at > 0 && c > 0)?;
                let mut figure = number.clone();
                figure.percent |= of_percent || percent.get(c).copied().unwrap_or_default();
                figure.scale = table.scale_at(at, c).filter(|_| !figure.percent);
                Some(figure)
            };
            read.texts = self.texts_of(row, cells, unit);
            let dashes = cells.iter().enumerate();
            let dashes = dashes.filter(|(_, cell)| cell.kind == CellKind::Dash);
            read.dashes = dashes.map(|(c, _)| c).collect();
            read.cells = cells.iter().enumerate().map(figure).collect();
            let unread = cells.iter().enumerate();
            let unread = unread.filter_map(|(c, cell)| Some((c, cell.unread()?.into())));
            read.unread = unread.collect();
            let unit = unit.and_then(|at| cells.get(at));
            let unit = unit.filter(|cell| cell.number.is_none());
            read.unit = unit.map_or_else(String::new, |cell| cell.raw.to_string());
            rows.push(read);
        }
        rows
    }

    /// Adds the section headings above each row. A heading is a row without figures.
    fn add_sections(&self, rows: &mut [ReportRow]) {
        let stems = |heading: &str| plain_stems(&heading.replace("[Line Items]", "")).into();
        let mut section: (Arc<str>, Arc<[String]>) = Default::default();
        let mut after_heading = false;
        for (at, row) in rows.iter_mut().enumerate() {
            // "Total assets" below "Current assets" does not belong to that section, and "Net cash
            // from operating activities" not to the section of working capital above it.
            let words = &row.label.words;
            let apart = match self.statement {
                _ if self.single => row.label.total && (words.len() > 1 || !row.sums_section),
                Some(Statement::Flows) => {
                    CASH_OF_ACTIVITIES.iter().all(|word| words.contains(word))
                }
                _ => false,
            };
            if !apart {
                (row.section_text, row.section) = section.clone();
            }
            let heading = at > 0 && row.is_heading();
            if heading {
                // A heading directly below another one is a part of it, so its name has both.
                let name: Arc<str> = if after_heading && !self.single {
                    format!("{} {}", section.0, row.printed).into()
                } else {
                    row.printed.as_str().into()
                };
                section = (Arc::clone(&name), stems(&name));
            }
            after_heading = heading;
        }
    }

    /// The stems of all labels and of the title.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let rows = self.rows.iter().map(|row| &row.label);
        let labels = rows.chain(self.columns.iter().map(|column| &column.label));
        let words = labels.flat_map(Label::all_words);
        words.chain(self.title.iter().map(String::as_str))
    }

    /// True if the row has amounts of money in a table with a scale, and not numbers of things.
    pub(crate) fn is_money(&self, row: usize) -> bool {
        let things = ["share", "unit", "employee", "store", "number", "warehouse"];
        let of_things = |row: &ReportRow| {
            let section = row.section.iter().map(String::as_str);
            let mut words = row.label.all_words().chain(section);
            words.any(|word| things.contains(&word))
        };
        self.scaled && !self.rows.get(row).is_some_and(of_things)
    }
}

/// Dates repeated columns: if several columns without a period have one name, such as "% of total"
/// after each year's amounts, each gets the period of the column to its left.
fn date_repeated(columns: &mut [ReportColumn]) {
    let names = columns.iter().map(|column| column.printed.clone());
    let names: Vec<String> = names.collect();
    let mut left = None;
    for column in columns.iter_mut().skip(1) {
        let repeated = names.iter().filter(|name| **name == column.printed).count() > 1;
        match column.label.period {
            None if repeated => column.label.period = left,
            period => left = period,
        }
    }
}

/// Reads columns such as "Dec 2030" and "Dec 2031" as years that end with that month, not as single
/// months, if all columns have the same month and each has another year than its neighbour.
fn read_as_years(columns: &mut [ReportColumn]) {
    let dated = || columns.iter().filter_map(|column| column.label.period);
    let mut years: Vec<Option<u16>> = dated().map(|period| period.end.year).collect();
    years.dedup();
    let first = dated().map(|period| period.end.month).next();
    let alike = |one: Period| {
        let of_month = one.months == Some(1) && one.end.day.is_none() && one.start.is_none();
        of_month && Some(one.end.month) == first && one.end.year.is_some()
    };
    if years.len() < 2 || years.len() < dated().count() || !dated().all(alike) {
        return;
    }
    let columns = columns.iter_mut();
    let periods = columns.filter_map(|column| column.label.period.as_mut());
    periods.for_each(|period| period.months = Some(12));
}

/// Dates columns below a heading that spans several, but is printed only above the first or last.
fn date_spanned(columns: &mut [ReportColumn]) {
    let mut left: Option<Period> = None;
    for column in columns.iter_mut().skip(1) {
        match &mut column.label.period {
            Some(period) if period.months.is_none() && period.end.day.is_some() => {
                let same = left.filter(|left| is_same_day(left.end, period.end));
                period.months = same.and_then(|left| left.months);
            }
            period => left = *period,
        }
    }
    let period = |at: usize| columns.get(at).and_then(|column| column.label.period);
    if columns.len() < 3 || period(1).is_some() || period(columns.len() - 1).is_none() {
        return;
    }
    let mut right: Option<Period> = None;
    for column in columns.iter_mut().skip(1).rev() {
        let period = &mut column.label.period;
        right = period.filter(|one| one.months.is_some()).or(right);
        *period = period.or(right);
    }
}

/// Adds the scope that a heading names to the words of its column, if both scopes have columns.
fn add_scopes(columns: &mut [ReportColumn]) {
    let names =
        |column: &ReportColumn, scope: &str| has_one_of(scope, &column.printed.to_lowercase());
    let has = |scope: &&str| columns.iter().any(|column| names(column, scope));
    if SCOPES.iter().all(has) {
        for column in columns {
            let mut own = SCOPES.to_vec();
            own.retain(|scope| names(column, scope));
            let own = own.into_iter().map(str::to_owned);
            column.label.words.extend(own);
        }
    }
}

/// The parts of a label in a single table without which it would be another row's, although they
/// have no stems: "IT" in "IT wages", and "Business" in "Business, Revenue" or "Water, Business".
fn unnamed(printed: &str) -> Vec<String> {
    let capitals = |word: &&str| word.len() > 1 && word.chars().all(char::is_uppercase);
    let groups = printed.split(", ").filter(|_| printed.contains(", "));
    let parts = printed.split(' ').map(|word| word.trim_end_matches(','));
    let parts = parts.filter(capitals).chain(groups);
    let mut out: Vec<String> = parts
        .filter(|part| stems(part).is_empty())
        .map(str::to_owned)
        .collect();
    out.dedup();
    out
}

impl Label {
    /// Splits a printed label into its words, its period and the words in brackets.
    fn read(printed: &str, single: bool, days: DayOrder) -> Self {
        let (mut period, rest) = Times::heading_in(printed, days);
        if let Some(month) = period
            .as_mut()
            .filter(|period| single && period.length() == 1)
        {
            month.months = Some(1);
        }
        let (text, inside) = brackets(&rest);
        // A unit does not say what the figures are.
        let mut words = plain_stems(&without_unit(&text).unwrap_or(text));
        // "IT" has no stems, because "it" is a filler word. It is kept in capitals, so that no word
        // of a question in lower case meets it.
        if single && words.is_empty() && period.is_none() && !printed.is_empty() {
            words.push(printed.to_owned());
        } else if single {
            words.extend(unnamed(printed));
        }
        let name = if words.is_empty() { printed } else { &rest };
        let name = single_spaced(name);
        Self {
            // "% of total" is a share and not a total.
            total: !name.contains('%') && words.iter().any(|word| TOTALS.contains(word))
                || single && name == "Group",
            name,
            words,
            deducted: Vec::new(),
            aside: plain_stems(inside),
            period,
        }
    }

    /// The stems outside of its brackets and in them.
    fn all_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().chain(&self.aside).map(String::as_str)
    }

    /// True if the label, without its brackets, has exactly this word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }

    pub(crate) fn says(&self, word: &str) -> bool {
        self.all_words().any(|own| same_word(own, word))
    }

    /// True if the label, without its brackets, has one of these words.
    pub(crate) fn is_one_of(&self, list: &HashSet<String>) -> bool {
        self.words.iter().any(|own| list.contains(own))
    }
}

impl ReportColumn {
    /// Reads the heading of a column. In a report, the words of [`Label::read`] are read again with
    /// those in brackets, which say which figures these are ("2031 (restated)"), except a unit.
    fn read(printed: &str, single: bool, days: DayOrder) -> Self {
        let mut label = Label::read(printed, single, days);
        if !single {
            let (_, rest) = Times::heading_in(printed, days);
            let rest = UNIT.replace_all(&rest.to_lowercase(), " ").into_owned();
            // "Profit (loss)" is the profit, whichever sign it has.
            let found = LOSS.find(&rest);
            label.aside = plain_stems(found.map_or("", |found| found.as_str()));
            let rest = LOSS.replace_all(&rest, " ").into_owned();
            label.words = plain_stems(&without_unit(&rest).unwrap_or(rest));
        }
        Self {
            label,
            is_dated_by_title: false,
            plan: PLAN.is_match(&printed.to_lowercase()),
            printed: printed.trim().to_owned(),
        }
    }
}

impl ReportRow {
    /// Reads the label of a row. The caller fills in the cells and the section. In a report, the
    /// words of a label without a year are read again and its period is dropped, because
    /// "12 months" is then a part of the row's name.
    pub(super) fn read(printed: &str, table: &ReportTable, days: DayOrder) -> Self {
        let mut label = Label::read(printed, table.single, days);
        if !table.single && label.period.is_none_or(|period| period.end.year.is_none()) {
            let (plain, inside) = brackets(printed);
            let (plain, other) = in_one_script(&plain).unwrap_or((plain, String::new()));
            let lower = plain.to_lowercase();
            label.words = plain_stems(&without_unit(&plain).unwrap_or(plain));
            label.aside = plain_stems(&format!("{inside} {other}"));
            let mut marks = [" net of ", ", less "].into_iter();
            if let Some((own, deducted)) = marks.find_map(|mark| lower.split_once(mark)) {
                let own = plain_stems(own);
                label.deducted = plain_stems(&format!("less {deducted}"));
                label.deducted.retain(|word| !own.contains(word));
            }
            label.period = None;
        }
        // "All wards" is a total only under the heading "Ward".
        if label.words.first().is_some_and(|word| word == "all") {
            let mut rest = label.words.iter().skip(1);
            label.total &= label.words.len() > 1 && rest.all(|word| table.title.contains(word));
        }
        Self {
            plan: label.period.is_some() && PLAN.is_match(&printed.to_lowercase()),
            printed: printed.to_owned(),
            label,
            ..Self::default()
        }
    }
}
