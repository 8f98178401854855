//! Compares or adds up the figures of all rows or all columns of a single table. In a report, it is
//! not known which rows are meant.

use std::collections::HashSet;
use std::slice::from_ref;

use crate::reading::outflow::names_cost;
use crate::tables::find::fit::FitFigure;
use crate::tables::find::{Amount, common_period, keep, spelled};
use crate::tables::page::table::{Label, ReportRow, ReportTable};
use crate::tables::page::{
    Doubt, EARNED, TableResult, Tables, is_expense, missing, missing_if, open_if,
};
use crate::tables::question::operand::Operand;
use crate::tables::question::request::Which;
use crate::tables::words::{SaidWord, is_light, is_loose, lists_stem, plain_stems, same_word};

/// Words of a corner that do not say what the rows are, so that any noun may mean them.
const GENERIC: &str = "item line name description category million thousand billion usd eur tsd";

/// Maximum number of figures that are added or compared. The program of a sum nests one level
/// deeper for each figure (160,000 rows overflowed the stack), and each figure is compared with
/// sums of its neighbours.
const MOST_FIGURES: usize = 5000;

/// The figures of one column (`by_rows`) or of one row, without totals.
struct Line {
    by_rows: bool,
    /// The number of words in the line's own label that the question lacks.
    unasked: usize,
    figures: Vec<FitFigure>,
}

impl Tables {
    /// The figures of all rows in a column, or of all columns in a row, without totals. The line
    /// must be the only one that fits so well.
    pub(crate) fn in_labels(
        &self,
        of: &Operand,
        which: Option<&Which>,
    ) -> TableResult<Vec<Amount>> {
        let table = self.tables.first().filter(|table| table.single);
        let table = table.ok_or(Doubt::Open)?;
        open_if(of.spans.len() > 1)?;
        self.check_words(of)?;
        let mut lines = self.lines(table, of);
        if let Some(Which::Label(noun)) = which {
            self.retain_rows_of(noun, table, &mut lines)?;
        }
        let least = lines.iter().map(|line| line.unasked).min();
        lines.retain(|line| Some(line.unasked) == least);
        let line = match (lines.as_slice(), of.spans.first()) {
            ([line], _) => line,
            ([], Some(period)) => return missing(format!("the page has no {period}")),
            ([a, b, ..], _) if a.by_rows == b.by_rows => {
                return missing("the question names no period");
            }
            _ => return Err(Doubt::Open),
        };
        if line.by_rows {
            self.check_rows(table, line, which)?;
        }
        if line.figures.len() > MOST_FIGURES {
            return missing(format!("these are more than {MOST_FIGURES} figures"));
        }
        let out = self.amounts_of(line)?;
        match line.figures.first() {
            Some(first) if line.unasked > 0 => return Err(self.unclear(first.place)),
            _ => self.check_comparable(&out)?,
        }
        Ok(out)
    }

    /// Checks that the rows of a line are of one kind, and that no other row may be one of them.
    fn check_rows(
        &self,
        table: &ReportTable,
        line: &Line,
        which: Option<&Which>,
    ) -> TableResult<()> {
        if let Some((_, row)) = table.body().find(|(_, row)| row.may_be_name) {
            return missing(format!("{:?} may be a total or a name", row.printed));
        }
        let rows = || line.figures.iter().filter_map(|one| self.row(one.place));
        let earned = |row: &ReportRow| row.label.words.iter().any(|word| EARNED.contains(word));
        let cost = |row: &ReportRow| names_cost(&row.printed) || is_expense(&row.label);
        let net = which.is_none() && rows().any(earned) && rows().any(cost);
        missing_if(net, "the rows are income and costs")?;
        let mut sections = rows().map(|row| &row.section);
        let first = sections.next();
        let mixed = which.is_none() && sections.any(|section| Some(section) != first);
        missing_if(mixed, "the rows are under several headings")
    }

    /// Checks that a question for the average or the largest of totals does not mean the totals of
    /// groups, because the figures of a line are without totals.
    pub(crate) fn check_totals(&self, of: &Operand) -> TableResult<()> {
        let rows = self.tables.iter().flat_map(ReportTable::body);
        let totals = rows.filter(|(_, row)| row.label.total).count();
        let several = of.total && of.spans.len() < 2 && totals > 1 && self.is_single_table();
        missing_if(several, "the table has several totals")
    }

    /// The figures of a line that several groups of a single table have: "total wages" for "IT,
    /// Wages" and "HR, Wages". The question may name what the groups are: "across all departments".
    pub(crate) fn in_groups(&self, of: &Operand) -> TableResult<Vec<Amount>> {
        let table = self.tables.first().filter(|table| table.single);
        let table = table.ok_or(Doubt::Open)?;
        let groups = table.columns.first().map(|first| &first.label);
        let mut of = of.without_total();
        of.words
            .retain(|word| !groups.is_some_and(|first| first.says(&word.stem)));
        self.check_words(&of)?;
        let readings = of.meant_readings();
        let period = common_period([&of]);
        let line = |row: usize| {
            let (_, line) = table.rows.get(row)?.printed.split_once(", ")?;
            Some(line)
        };
        // All words of the line are asked for, and none of the group.
        let named = |one: &FitFigure| {
            let column = table.columns.get(one.place.column);
            let words = plain_stems(line(one.place.row).unwrap_or_default());
            let met = |asked: &Vec<String>| {
                let said = |word: &String| {
                    words.contains(word) || column.is_some_and(|column| column.label.says(word))
                };
                asked.iter().all(said) && words.iter().all(|word| asked.contains(word))
            };
            !words.is_empty() && self.fits(one.period, period) && readings.iter().any(met)
        };
        let found: Vec<FitFigure> = table.figures().filter(named).collect();
        let first = *found.first().ok_or(Doubt::Open)?;
        let alike = |one: &FitFigure| {
            one.place.column == first.place.column && line(one.place.row) == line(first.place.row)
        };
        let rows = || (1..table.rows.len()).filter(|row| line(*row) == line(first.place.row));
        let is_total = |row: &ReportRow| row.label.total || row.may_be_name;
        let totals = rows().any(|row| table.rows.get(row).is_some_and(is_total));
        // A group without a figure may be missing, and one that is a total has the others.
        if totals || !found.iter().all(alike) || rows().count() != found.len() || found.len() < 2 {
            return Err(Doubt::Open);
        }
        let amounts = found
            .into_iter()
            .map(|one| self.amount(one).ok_or(Doubt::Open));
        amounts.collect()
    }

    /// The lines of a single table whose labels have the operand's words. Plans are dropped from a
    /// line, unless it has nothing else.
    fn lines(&self, table: &ReportTable, of: &Operand) -> Vec<Line> {
        let readings = of.without_total().meant_readings();
        let period = of.spans.first().copied();
        let figure = |row: usize, column: usize| {
            let figure = table.figure(row, column)?;
            self.fits(figure.period, period).then_some(figure)
        };
        let line =
            |by_rows: bool, mut figures: Vec<FitFigure>, label: &Label, section: &[String]| {
                keep(&mut figures, |one| !one.plan);
                let said = |word: &String| {
                    label.says(word)
                        || section.contains(word)
                        || table.title.contains(word)
                        || is_loose(word)
                };
                let unasked = |asked: &Vec<String>| {
                    let meant = label.words.iter().filter(|own| !is_light(own));
                    let unasked =
                        meant.filter(|own| !asked.iter().any(|word| same_word(own, word)));
                    unasked.count()
                };
                let full = readings.iter().any(|words| words.iter().all(said));
                (figures.len() > 1 && full).then(|| Line {
                    by_rows,
                    unasked: readings.iter().map(unasked).min().unwrap_or_default(),
                    figures,
                })
            };
        let rows = table.body();
        let mut bare = rows.filter(|(_, row)| row.label.total && row.label.words.len() <= 1);
        // Rows below the only bare "Total" are of another kind: "of which", or a cost. A total needs
        // at least two rows above it.
        let end = match (bare.next(), bare.next()) {
            (Some((only, _)), None) if only > 2 => only,
            _ => table.rows.len(),
        };
        let parts = table.body().take(end).filter(|(_, row)| !row.label.total);
        let by_rows = table.figure_columns().filter_map(|(column, head)| {
            let figures = parts.clone().filter_map(|(row, _)| figure(row, column));
            line(true, figures.collect(), &head.label, &[])
        });
        let by_columns = table.body().filter_map(|(row, of)| {
            let columns = table.figure_columns();
            let columns = columns.filter(|(_, column)| !column.label.total);
            let figures = columns.filter_map(|(column, _)| figure(row, column));
            line(false, figures.collect(), &of.label, &of.section)
        });
        by_rows.chain(by_columns).collect()
    }

    /// Keeps the lines of rows if the corner has a word of the noun: the rows are what the noun
    /// names. A doubt if the page does not have all of its words, or if the corner names something
    /// else.
    fn retain_rows_of(
        &self,
        noun: &[SaidWord],
        table: &ReportTable,
        lines: &mut Vec<Line>,
    ) -> TableResult<()> {
        let in_corner = |word: &SaidWord| table.is_in_corner(&word.stem);
        if noun.iter().any(in_corner) {
            lines.retain(|line| line.by_rows);
            let mut unknown = noun.iter().filter(|word| !in_corner(word));
            return match unknown.find(|word| !self.says(&word.stem)) {
                Some(word) => missing(format!("the page does not mention {:?}", word.text)),
                None => Ok(()),
            };
        }
        // "Which paint" asks for a row of the kind "Paint".
        let mut words = noun.iter();
        let as_text = words.find_map(|word| self.only_as_text(from_ref(&word.stem), &word.text));
        if let Some(as_text) = as_text {
            return Err(as_text);
        }
        // The first column has groups, of which the rows are lines, and other texts can be groups.
        let mut columns = table.columns.iter().enumerate();
        if columns.any(|(at, column)| {
            let named = noun.iter().any(|word| column.label.says(&word.stem));
            named && (at == 0 || table.texts().any(|(of_text, _)| of_text == at))
        }) {
            return missing(format!("several rows are of one {:?}", spelled(noun)));
        }
        if table.title.iter().all(|word| lists_stem(GENERIC, word)) {
            return Ok(());
        }
        let noun = spelled(noun);
        missing(format!(
            "the table does not say which labels are of {noun:?}"
        ))
    }

    /// The figures of a line with their names, which must differ.
    fn amounts_of(&self, line: &Line) -> TableResult<Vec<Amount>> {
        let mut names = HashSet::new();
        let named = line.figures.iter().map(|one| {
            let label = self.labels_of(one.place).nth(usize::from(!line.by_rows));
            let name = label.map_or_else(String::new, |label| label.name.clone());
            if !names.insert(name.clone()) {
                return missing(format!("several rows are of {name}"));
            }
            let amount = self.amount(*one).ok_or(Doubt::Open)?;
            Ok(Amount { name, ..amount })
        });
        named.collect()
    }
}
