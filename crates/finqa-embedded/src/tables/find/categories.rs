//! Adds up the rows of a single table that share a text: those of "Paint" in a column "Category".

use std::collections::BTreeSet;

use finqa_core::number::within;

use super::Amount;
use super::fit::FitFigure;
use crate::tables::page::table::{ReportRow, ReportTable};
use crate::tables::page::totals::ROUNDED;
use crate::tables::page::{Doubt, Tables};
use crate::tables::question::operand::Operand;
use crate::tables::question::rank_question::is_any_noun;
use crate::tables::words::{is_light, is_loose, plain_stems};

/// A text that several rows can share, as its column and its stems.
type SharedText = (usize, Vec<String>);

impl Tables {
    /// The doubt that the page has words of the question only as a text, which is not a label.
    pub(crate) fn only_as_text(&self, words: &[String], said: &str) -> Option<Doubt> {
        let table = self.tables.first()?;
        let (at, _) = table.texts().find(|(_, text)| {
            let stems = plain_stems(text);
            words.iter().all(|word| stems.contains(word))
        })?;
        let heading = &table.columns.get(at)?.printed;
        let why = format!("the page has {said:?} only as a text in the column {heading:?}");
        Some(Doubt::Missing(why))
    }

    /// True for "regions" behind "all" or "both", unless the regions are those of a text: the noun
    /// can be said of all rows of a table.
    pub(crate) fn are_all_rows(&self, before: Option<&str>, noun: &str, stems: &[String]) -> bool {
        let all = matches!(before, Some("both" | "all")) && is_any_noun(noun);
        all && self.only_as_text(stems, noun).is_none()
    }

    /// True for the row "Boats" in a table with other rows of the kind "Boats".
    pub(crate) fn is_text_of_others(&self, table: &ReportTable, at: usize) -> bool {
        let words = table.rows.get(at).map(|row| &row.label.words);
        let mut others = table.body().filter(|(other, _)| *other != at);
        others.any(|(_, other)| {
            let mut texts = other.texts.iter();
            texts.any(|(_, text)| words == Some(&plain_stems(text)))
        })
    }

    /// The sum of the rows with a text that the operand names, in the only column that its other
    /// words name: the stock value of all paint. `None` unless the column adds up to a total of the
    /// table or, in a table without totals, the question asks for one.
    pub(crate) fn of_category(&self, of: &Operand) -> Option<Amount> {
        let table = self.tables.first().filter(|table| table.single)?;
        let other = of.joins || of.counts || of.through || of.both_terms || of.wants_percent();
        let asked = of.spans.first().copied();
        if other || of.spans.len() > 1 || !of.rows.is_empty() || !of.except.is_empty() {
            return None;
        }
        let (text_column, text) = self.shared_text(table, of)?;
        let readings = of.without_total().meant_readings();
        let is_headed = |at: usize, words: &[String]| {
            let label = table.columns.get(at).map(|column| &column.label);
            label.is_some_and(|label| {
                let asked = |own: &String| is_light(own) || words.contains(own);
                let said = |word: &String| text.contains(word) || label.says(word);
                label.words.iter().all(asked) && words.iter().all(said)
            })
        };
        let figure = |row: usize, column: usize| {
            let figure = table.figure(row, column);
            figure.filter(|one| self.fits(one.period, asked))
        };
        let mut columns = table.figure_columns().map(|(at, _)| at).filter(|at| {
            readings.iter().any(|words| is_headed(*at, words))
                && table.body().any(|(row, _)| figure(row, *at).is_some())
        });
        let (column, None) = (columns.next()?, columns.next()) else {
            return None;
        };
        let lines = || table.body().filter(|(_, row)| !row.is_heading());
        let has_text = |row: &ReportRow| {
            let mut texts = row.texts.iter();
            texts.any(|(at, own)| *at == text_column && plain_stems(own) == text)
        };
        // A blank can repeat the text above it, and "Spray paint" can be paint too.
        let is_clear = |row: &ReportRow| {
            let blank = row.texts.iter().all(|(at, _)| *at != text_column);
            let like = row.texts.iter().any(|(_, own)| {
                let own = plain_stems(own);
                text.iter().all(|word| own.contains(word))
            });
            row.label.total || has_text(row) || !blank && !like
        };
        let of_text = table.body().filter(|(_, row)| has_text(row));
        let parts: Option<Vec<FitFigure>> = of_text.map(|(at, _)| figure(at, column)).collect();
        let parts: Option<Vec<Amount>> = parts?.into_iter().map(|one| self.amount(one)).collect();
        let value = |at: usize| figure(at, column).map_or(0.0, |one| one.value);
        let (totals, others): (Vec<_>, Vec<_>) = lines().partition(|(_, row)| row.label.total);
        let sum: f64 = others.iter().map(|(at, _)| value(*at)).sum();
        let mut totalled = totals.iter().map(|(at, _)| value(*at));
        let adds_up = if totals.is_empty() {
            of.total
                && table
                    .columns
                    .get(column)
                    .is_some_and(|one| !one.label.has("unit"))
        } else {
            totalled.any(|total| total.abs() > 0.0 && within(sum, total, ROUNDED))
        };
        let apart = totals.iter().all(|(_, row)| !has_text(row));
        let sum = self.sum(&parts?).ok()?;
        (adds_up && apart && lines().all(|(_, row)| is_clear(row))).then_some(sum)
    }

    /// The only text with all words of the operand that no label has, and no words besides the
    /// operand's.
    fn shared_text(&self, table: &ReportTable, of: &Operand) -> Option<SharedText> {
        let words = of.without_total().meant_readings().into_iter().next()?;
        let known = |word: &&String| self.says(word) || is_loose(word) || table.is_in_corner(word);
        let unknown: Vec<&String> = words.iter().filter(|word| !known(word)).collect();
        let texts = table.texts().map(|(at, text)| (at, plain_stems(text)));
        let named = texts.filter(|(_, stems)| {
            let all = unknown.iter().all(|word| stems.contains(word));
            !unknown.is_empty() && all && stems.iter().all(|word| words.contains(word))
        });
        let named: BTreeSet<SharedText> = named.collect();
        let mut named = named.into_iter();
        named.next().filter(|_| named.next().is_none())
    }
}
