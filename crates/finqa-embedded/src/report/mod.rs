//! Questions about a page of many tables: a report, or an excerpt of one. The figures whose
//! labels, sections, headings and periods fit best answer; they are sure if these have all words
//! of the question, and no other figure that fits as well differs.
//!
//! In the order of reading: `period`; `question`, with `concepts.txt`; `table`; `fit`; here the
//! operations; and `answer`.

mod answer;
mod fit;
mod period;
mod question;
mod table;

use std::collections::HashSet;

use finqa_core::page::Cover;
use finqa_core::question::Document;

use crate::operations;
pub(crate) use answer::ReportAnswer;
use fit::{FitFigure, Weights, candidates};
use period::{FiscalYears, Period};
use question::{AskedFor, FigureName, ReportQuestion, plain_stems};
use table::ReportTable;

/// A page of several tables, read for all its questions.
#[derive(Debug)]
pub(crate) struct ReportTables {
    tables: Vec<ReportTable>,
    weights: Weights,
    years: FiscalYears,
    /// Each table by itself.
    alone: Vec<Document>,
}

/// What another figure may score less and still be as likely.
const CLOSE: f64 = 0.03;

/// How far two figures may differ that are the same in other scales.
const ROUNDED: f64 = 0.006;

/// What two figures count more that are in one column.
const TOGETHER: f64 = 0.3;

/// The best figures that are paired.
const PAIRED: usize = 40;

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDED * a.abs().max(b.abs())
}

struct Picked {
    best: FitFigure,
    doubt: Option<String>,
}

impl ReportTables {
    pub(crate) fn read(document: &Document) -> Self {
        let page = document.page();
        let starts = document.tables.iter();
        let tables: Vec<ReportTable> = page
            .tables()
            .zip(starts.clone())
            .map(|(table, start)| ReportTable::read(table, start))
            .collect();
        let ends = starts.clone().skip(1).map(|start| start.row);
        let ends = ends.chain([document.table.len()]);
        let alone = starts.zip(ends).map(|(start, end)| Document {
            pre_text: start.above.clone(),
            table: document
                .table
                .get(start.row..end)
                .unwrap_or_default()
                .to_vec(),
            cover: Some(Cover::default()),
            own: true,
            ..Document::default()
        });
        let cover = document.cover.clone().unwrap_or_default();
        let columns = tables.iter().flat_map(|table| &table.columns);
        let periods: Vec<Period> = columns.filter_map(|column| column.period).collect();
        Self {
            weights: Weights::read(&tables, company(&cover, &document.filename)),
            years: FiscalYears::read(&cover, &periods, weekly(document)),
            alone: alone.collect(),
            tables,
        }
    }

    /// The answer that the tables give, if any figure fits.
    pub(crate) fn answer(&self, question: &str, earlier: &[&str]) -> Option<ReportAnswer<'_>> {
        let asked = earlier.iter().chain([&question]).fold(
            None,
            |before: Option<ReportQuestion>, text| {
                let asked = ReportQuestion::read(text);
                Some(match before {
                    Some(before) if asked.leans => asked.after(&before),
                    _ => asked,
                })
            },
        )?;
        let mut answer = match asked.operation {
            AskedFor::Figure => self.figure(&asked),
            AskedFor::Change { .. } => self.change(&asked),
            AskedFor::Share | AskedFor::Ratio | AskedFor::Difference => self.share(&asked),
            AskedFor::Sum => self.sum(&asked),
            AskedFor::Larger { largest } => self.larger(&asked, largest),
            AskedFor::Extreme { largest } => self.extreme(&asked, largest),
        }?;
        if let Some(words) = &asked.relative_time {
            let periods = self.periods_of(&answer);
            answer.doubt = Some(format!("{words:?} may be any of {periods}"));
        }
        Some(answer)
    }

    fn answer_of(
        &self,
        cells: &[FitFigure],
        asked: &ReportQuestion,
        operation: AskedFor,
        doubt: Option<String>,
    ) -> Option<ReportAnswer<'_>> {
        let at = cells.first()?.table;
        let doubt = doubt.or_else(|| self.left_out(cells, asked));
        Some(ReportAnswer {
            document: self.alone.get(at)?,
            first_row: self.tables.get(at)?.first_row,
            cells: cells.iter().map(|one| (one.row, one.column)).collect(),
            operation,
            label: None,
            doubt,
        })
    }

    /// What the question says that neither the operation nor the labels of its figures do.
    fn left_out(&self, cells: &[FitFigure], asked: &ReportQuestion) -> Option<String> {
        let says = |word: &String| {
            let stems = plain_stems(word);
            cells.iter().any(|one| {
                let name = plain_stems(&self.name(one));
                stems.iter().all(|stem| name.contains(stem))
            })
        };
        if let Some(word) = asked.unused.iter().find(|word| !says(word)) {
            return Some(format!("the question also says {word:?}"));
        }
        let joins = |one: &FitFigure| {
            let label = self.label(one).unwrap_or_default().to_lowercase();
            label.contains(" and ") || label.contains('&') || label.contains('/')
        };
        if asked.joins && !cells.iter().all(joins) {
            return Some("the question names two figures".to_owned());
        }
        let of_all = |one: &FitFigure| {
            let mut periods = asked.periods.iter();
            periods.all(|period| self.fits(one.period.as_ref(), Some(period)))
        };
        let change = matches!(asked.operation, AskedFor::Change { .. });
        (!change && !cells.iter().all(of_all))
            .then(|| "the question names several periods".to_owned())
    }

    /// The headings of the columns of an answer's table.
    fn periods_of(&self, answer: &ReportAnswer<'_>) -> String {
        let heads = answer.document.table.iter().take(1).flatten().skip(1);
        let heads: Vec<&str> = heads
            .map(String::as_str)
            .filter(|head| !head.is_empty())
            .collect();
        heads.join("; ")
    }

    fn name(&self, one: &FitFigure) -> String {
        let table = self.alone.get(one.table).map(|document| &document.table);
        let cell = |row: usize, column: usize| {
            let cell = table.and_then(|table| table.get(row)?.get(column));
            cell.map_or("", String::as_str)
        };
        format!("{} · {}", cell(one.row, 0), cell(0, one.column))
    }

    /// Whether a column is of the period that is asked for; any if none is.
    fn fits(&self, period: Option<&Period>, asked: Option<&Period>) -> bool {
        asked.is_none_or(|asked| period.is_some_and(|period| self.years.fits(period, asked)))
    }

    fn candidates(&self, operand: &FigureName, asked: Option<&Period>) -> Vec<FitFigure> {
        let wanted = |period: Option<&Period>| self.fits(period, asked);
        candidates(&self.tables, operand, &self.weights, &wanted)
    }

    /// The figure of an operand in a period.
    fn pick(&self, operand: &FigureName, asked: Option<&Period>) -> Option<Picked> {
        let mut all = self.candidates(operand, asked);
        let mut doubt = None;
        if all.is_empty() {
            all = self.candidates(operand, None);
            doubt = Some("no table has it for the period that the question names".to_owned());
        }

        let first = *all.first()?;
        all.retain(|one| one.score >= first.score - CLOSE);
        if asked.is_none_or(|asked| asked.end.year.is_none()) {
            let latest = all.iter().filter_map(|one| Some(one.period?.end)).max();
            all.retain(|one| one.period.is_none_or(|period| Some(period.end) == latest));
        }
        let best = *all.first()?;
        let other = all
            .iter()
            .find(|one| !same(one.value, best.value) && one.full >= best.full);
        doubt = doubt.or_else(|| {
            if !best.plain {
                Some(format!("{} may not be what is meant", self.name(&best)))
            } else {
                other.map(|other| {
                    format!(
                        "several figures fit: {} and {}",
                        self.name(&best),
                        self.name(other)
                    )
                })
            }
        });
        Some(Picked { best, doubt })
    }

    fn figure(&self, asked: &ReportQuestion) -> Option<ReportAnswer<'_>> {
        let operand = asked.operands.first()?;
        let period = asked.periods.iter().max_by_key(|one| one.end.day.is_some());
        let printed = self.pick(operand, period);
        let sure = printed
            .as_ref()
            .is_some_and(|one| one.best.plain && one.best.percent == operand.percent);
        if !sure && let Some((part, whole)) = operand.quotient() {
            // What is divided may have words of its own.
            let wholes = [whole.without_words(), whole];
            let quotients = wholes.map(|whole| {
                let operands = vec![part.clone(), whole];
                self.share(&ReportQuestion {
                    operands,
                    ..asked.clone()
                })
            });
            let [plain, named] = quotients;
            let sure = |answer: &ReportAnswer<'_>| answer.doubt.is_none();
            if let Some(answer) = named.filter(sure).or(plain) {
                return Some(answer);
            }
        }
        let Picked { best, mut doubt } = printed?;
        let table = self.tables.get(best.table)?;
        if asked.counts && table.is_money(best.row) {
            doubt = doubt.or_else(|| Some("the question asks for a number of things".to_owned()));
        }
        if operand.percent && !best.percent {
            doubt = doubt.or_else(|| Some("the question asks for a percentage".to_owned()));
        }
        self.answer_of(&[best], asked, AskedFor::Figure, doubt)
    }

    fn change(&self, asked: &ReportQuestion) -> Option<ReportAnswer<'_>> {
        let operand = asked.operands.first()?;
        let mut named = asked.periods.clone();
        named.sort_by_key(|period| period.end);
        let (early, late) = match named.as_slice() {
            [only] if asked.since => (Some(*only), None),
            [only] => (None, Some(*only)),
            [early, .., late] => (Some(*early), Some(*late)),
            [] => (None, None),
        };
        let Picked {
            best: late,
            mut doubt,
        } = self.pick(operand, late.as_ref())?;
        let row = self.candidates(operand, None).into_iter();
        let mut row: Vec<FitFigure> = row
            .filter(|one| {
                one.table == late.table && one.row == late.row && one.column != late.column
            })
            .collect();
        row.retain(|one| one.percent == late.percent);
        let before = early.or_else(|| late.period.map(Period::year_before));
        let fits_before = |one: &&FitFigure| {
            let same_length =
                one.period.map(|period| period.months) == late.period.map(|period| period.months);
            same_length && before.is_none_or(|before| self.fits(one.period.as_ref(), Some(&before)))
        };
        let early = match row.iter().find(fits_before) {
            Some(early) => *early,
            None => {
                doubt = Some("no column is of the year before".to_owned());
                *row.first()?
            }
        };
        if early.value <= 0.0 {
            doubt = doubt.or_else(|| Some("growth needs a value above zero".to_owned()));
        }
        self.answer_of(&[late, early], asked, asked.operation, doubt)
    }

    /// A share, a ratio or a difference, of two figures of one table.
    fn share(&self, asked: &ReportQuestion) -> Option<ReportAnswer<'_>> {
        let [part, whole] = asked.operands.as_slice() else {
            return None;
        };
        let period = asked.periods.iter().max_by_key(|one| one.end.day.is_some());
        let mut parts = self.candidates(part, period);
        let mut wholes = self.candidates(whole, period);
        parts.truncate(PAIRED);
        wholes.truncate(PAIRED);
        let latest = parts.iter().filter_map(|one| Some(one.period?.end)).max();
        if period.is_none() {
            parts.retain(|one| one.period.is_none_or(|period| Some(period.end) == latest));
        }
        let pairs = parts
            .iter()
            .flat_map(|part| wholes.iter().map(move |whole| (part, whole)));
        let pairs = pairs.filter(|(part, whole)| {
            part.table == whole.table && (part.row, part.column) != (whole.row, whole.column)
        });
        let score = |(part, whole): &(&FitFigure, &FitFigure)| {
            let together = part.column == whole.column || part.row == whole.row;
            part.score + whole.score + if together { TOGETHER } else { 0.0 }
        };
        let (part, whole) = pairs.max_by(|a, b| score(a).total_cmp(&score(b)))?;
        let rival = |all: &[FitFigure], one: &FitFigure| {
            let close = all
                .iter()
                .filter(|other| other.full && other.score >= one.score - CLOSE);
            close
                .filter(|other| other.period == one.period)
                .any(|other| !same(other.value, one.value))
        };
        let doubt = if !part.plain || !whole.plain {
            Some(format!(
                "{} and {} may not be what is meant",
                self.name(part),
                self.name(whole)
            ))
        } else if rival(&parts, part) || rival(&wholes, whole) {
            Some(format!(
                "several figures fit as well as {} and {}",
                self.name(part),
                self.name(whole)
            ))
        } else if whole.value <= 0.0 && asked.operation != AskedFor::Difference {
            Some("the whole is not above zero".to_owned())
        } else {
            None
        };
        let operation = match asked.operation {
            AskedFor::Ratio | AskedFor::Difference => asked.operation,
            _ => AskedFor::Share,
        };
        self.answer_of(&[*part, *whole], asked, operation, doubt)
    }

    fn sum(&self, asked: &ReportQuestion) -> Option<ReportAnswer<'_>> {
        let period = asked.periods.first();
        let picked: Option<Vec<Picked>> = asked
            .operands
            .iter()
            .map(|of| self.pick(of, period))
            .collect();
        let picked = picked?;
        let table = picked.first()?.best.table;
        let cells: Vec<FitFigure> = picked.iter().map(|one| one.best).collect();
        let doubt = picked.into_iter().find_map(|one| one.doubt).or_else(|| {
            (cells.len() < 2).then(|| "the question names one figure to add up".to_owned())
        });
        let all = cells.iter().all(|one| one.table == table);
        all.then(|| self.answer_of(&cells, asked, AskedFor::Sum, doubt))?
    }

    fn larger(&self, asked: &ReportQuestion, largest: bool) -> Option<ReportAnswer<'_>> {
        let period = asked.periods.first();
        let [a, b] = asked.operands.as_slice() else {
            return None;
        };
        let (a, b) = (self.pick(a, period)?, self.pick(b, period)?);
        let first = (a.best.value > b.best.value) == largest;
        let (one, other) = if first { (a, b) } else { (b, a) };
        let doubt = one.doubt.or(other.doubt);
        let mut answer = self.answer_of(&[one.best], asked, AskedFor::Figure, doubt)?;
        answer.label = self.label(&one.best);
        Some(answer)
    }

    fn label(&self, one: &FitFigure) -> Option<String> {
        let row = self.tables.get(one.table)?.rows.get(one.row)?;
        Some(row.label.clone())
    }

    /// The largest of the rows of a table that the words of the question are about.
    fn extreme(&self, asked: &ReportQuestion, largest: bool) -> Option<ReportAnswer<'_>> {
        let operand = asked.operands.first()?;
        let period = asked.periods.first();
        let series = self.tables.iter().enumerate().filter_map(|(at, table)| {
            let wanted = |one: Option<&Period>| self.fits(one, period);
            table.series(at, &operand.readings(), &self.weights, &wanted)
        });
        let (_, cells) = series.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let numbers: Vec<f64> = cells.iter().map(|one| one.value).collect();
        let place = operations::extremes(&numbers, largest).first().copied()?;
        let best = *cells.get(place)?;
        let doubt = Some("the rows that are compared may not be those that are meant".to_owned());
        let mut answer = self.answer_of(&[best], asked, AskedFor::Figure, doubt)?;
        // Rows with the same label belong to the headings above them.
        let rows = self.tables.get(best.table).map(|table| &table.rows)?;
        let row = |one: &FitFigure| rows.get(one.row);
        let labels: HashSet<_> = cells.iter().filter_map(row).map(|row| &row.label).collect();
        answer.label = match labels.len() {
            1 => row(&best).map(|row| row.heading.clone()),
            _ => self.label(&best),
        };
        Some(answer)
    }
}

/// Whether periods are counted in weeks, as retailers do.
fn weekly(document: &Document) -> bool {
    let heads = document
        .tables
        .iter()
        .filter_map(|start| document.table.get(start.row));
    heads
        .flatten()
        .any(|head| head.to_lowercase().contains(" weeks "))
}

/// The words of a company's name, from the cover or the name of the file.
fn company(cover: &Cover, filename: &str) -> Vec<String> {
    let named: HashSet<String> = plain_stems(&cover.company).into_iter().collect();
    let file = filename.rsplit_once('.').map_or(filename, |(name, _)| name);
    let of_file = plain_stems(&file.replace(['_', '.'], " "));
    let of_file = of_file
        .into_iter()
        .filter(|word| word.chars().all(char::is_alphabetic));
    named.into_iter().chain(of_file).collect()
}
