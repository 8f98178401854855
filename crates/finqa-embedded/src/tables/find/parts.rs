//! Computes amounts that a report prints only in parts: the current and the non-current part of a
//! balance, the rows under a heading without a total, and a whole minus one of its parts.

use std::collections::HashSet;

use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::fit::FitFigure;
use super::statements::rounds_alike;
use super::{Amount, AmountKind, spelled};
use crate::operations;
use crate::tables::page::table::ReportRow;
use crate::tables::page::{TableResult, Tables, missing};
use crate::tables::question::operand::Operand;
use crate::tables::question::operands::AND;
use crate::tables::words::{SaidWord, is_light, lists_stem, plain_stems};

/// Words that distinguish the part of a balance that is due within a year from the rest.
const TERMS: &str = "current noncurrent non long short term due within after one year portion";

/// Words of a heading that do not name a figure.
const VAGUE: &str = "total net expense cost obligation liability";

/// The stems that name a figure: `words` without light words, terms and `vague` ones. Two names are
/// equal if they have the same words in any order.
fn core(words: &[String], vague: &str) -> HashSet<String> {
    let named =
        |word: &&String| !is_light(word) && !lists_stem(TERMS, word) && !lists_stem(vague, word);
    words.iter().filter(named).cloned().collect()
}

impl Tables {
    /// The amount of an operand that is printed only in parts; `None` if its parts are uncertain.
    pub(crate) fn in_parts(&self, of: &Operand, asked: Option<Period>) -> Option<Amount> {
        let readings: Vec<Vec<String>> = of.readings().into_iter().map(|one| one.words).collect();
        self.both_terms(of, &readings, asked)
            .or_else(|| self.under_heading(&readings, asked))
    }

    /// The sum of the current and the non-current row of a balance.
    fn both_terms(
        &self,
        of: &Operand,
        readings: &[Vec<String>],
        asked: Option<Period>,
    ) -> Option<Amount> {
        let says_term = |words: &[String]| words.iter().any(|word| lists_stem(TERMS, word));
        let names = readings
            .iter()
            .filter(|one| of.both_terms || !says_term(one));
        let names = names.map(|one| core(one, "total"));
        let names: Vec<HashSet<String>> = names.filter(|one| !one.is_empty()).collect();
        self.statements(Statement::Balances).find_map(|table| {
            let rows = table.body();
            let named = |row: &ReportRow| {
                let words = &row.label.words;
                let of_term = of.both_terms || says_term(words);
                of_term && !row.label.total && names.contains(&core(words, "total"))
            };
            let found: Vec<(usize, &ReportRow)> = rows.filter(|(_, row)| named(row)).collect();
            let [one, other] = found.as_slice() else {
                return None;
            };
            // A row is current if its label says so, or otherwise if the next total below it does.
            let is_current = |(at, row): &(usize, &ReportRow)| {
                let says = |row: &ReportRow, list: &str| {
                    row.label.words.iter().any(|word| lists_stem(list, word))
                };
                let later = table.rows.iter().skip(at + 1).find(|row| row.label.total);
                !says(row, "noncurrent non long after")
                    && (says(row, "current short within")
                        || later.is_some_and(|total| says(total, "current")))
            };
            // A total of a side of the balance sheet between the rows means that one is an asset
            // and the other a liability, and these are not added.
            let is_side = |row: &ReportRow| {
                let mut meant = row.label.words.iter().filter(|word| *word != "total");
                row.label.total && meant.all(|word| lists_stem("assets liabilities equity", word))
            };
            let between = table.rows.get(one.0..other.0)?;
            if is_current(one) == is_current(other) || between.iter().any(is_side) {
                return None;
            }
            let figures = |row: usize| self.of_period(table.figures_of(row), asked);
            let figure = |row: usize| figures(row).into_iter().next();
            self.added(&[figure(one.0)?, figure(other.0)?])
        })
    }

    /// The sum of the rows under a heading of the cash flow statement that names the operand:
    /// "Debt" and "Finance lease" under "Interest". The rows end before one whose label has the
    /// words of the heading, such as "Interest income". That row or a later total must be the sum
    /// of all rows before it, from the first under the heading, because otherwise their signs are
    /// unknown.
    fn under_heading(&self, readings: &[Vec<String>], asked: Option<Period>) -> Option<Amount> {
        let names: Vec<HashSet<String>> = readings.iter().map(|one| core(one, VAGUE)).collect();
        self.statements(Statement::Flows).find_map(|table| {
            let (start, first) = table.body().find(|(_, row)| {
                let section = core(&plain_stems(&row.section_text), VAGUE);
                !section.is_empty() && names.contains(&section)
            })?;
            let section = &first.section;
            let repeats =
                |row: &ReportRow| section.iter().all(|word| row.label.words.contains(word));
            let run = table.rows.get(start..)?;
            // A single row is not a sum.
            let end = run.iter().position(repeats).filter(|length| *length > 1)?;
            let mut rows = run.iter().take(end);
            let of_section = rows.all(|row| row.section == *section && !row.label.total);
            let figures = |row: usize| self.of_period(table.figures_of(row), asked);
            let figure = |row: usize| figures(row).into_iter().next();
            let parts = (start..start + end).map(figure);
            let parts = parts.collect::<Option<Vec<FitFigure>>>()?;
            let mut sum: f64 = parts.iter().map(|one| one.value).sum();
            let mut below = run.iter().zip(start..).skip(end);
            let adds_up = below.any(|(row, place)| {
                let value = figure(place).map_or(f64::NAN, |one| one.value);
                let is_sum = rounds_alike(value, sum) && (row.label.total || repeats(row));
                sum += value;
                is_sum
            });
            self.added(&parts).filter(|_| of_section && adds_up)
        })
    }

    /// The sum of the parts as an amount without a cell of its own; `None` if they do not add up.
    fn added(&self, parts: &[FitFigure]) -> Option<Amount> {
        let parts = parts.iter().map(|part| self.amount(*part));
        let sum = self.sum(&parts.collect::<Option<Vec<Amount>>>()?).ok()?;
        Some(Amount { at: None, ..sum })
    }

    /// A figure without what the question leaves out: a row whose label says so ("Sales outside the
    /// US"), or the whole minus that part.
    pub(crate) fn without(&self, of: &Operand, asked: Option<Period>) -> TableResult<Amount> {
        let words = of.except.iter().filter(|word| word.stem != AND);
        let words: Vec<SaidWord> = words.cloned().collect();
        let whole = Operand {
            except: Vec::new(),
            ..of.clone()
        };
        let mut named = whole.clone();
        named.words.extend_from_slice(&words);
        let printed = self.figure(&named, asked);
        let is_meant = |one: &Amount| {
            let name = one.place().map(|at| plain_stems(&self.full_name(at)));
            let says = |name: Vec<String>| words.iter().all(|word| name.contains(&word.stem));
            one.doubt.is_none() && name.is_some_and(says)
        };
        if printed.as_ref().is_ok_and(is_meant) {
            return printed;
        }
        let all = self.figure(&whole, asked)?;
        // The first word is the cue of the exclusion: "outside".
        // "Latin America and Canada" can be the name of one part or of two; one is tried first.
        let one = words.get(1..).unwrap_or_default();
        let several = of.except.get(1..).unwrap_or_default();
        let several = several.split(|word| word.stem == AND);
        let several: Vec<&[SaidWord]> = several.filter(|one| !one.is_empty()).collect();
        let parts = [vec![one], several].into_iter().find_map(|names| {
            let parts = names.into_iter().map(|name| self.part_of(&all, name));
            parts.collect::<Option<Vec<FitFigure>>>()
        });
        // Only a sure whole is divided. Two names can find the same part.
        let mut parts = parts.filter(|_| all.doubt.is_none()).unwrap_or_default();
        parts.dedup_by_key(|one| one.place);
        let parts = parts.into_iter().filter_map(|one| self.amount(one));
        let parts: Vec<Amount> = parts.filter(|part| part.scale == all.scale).collect();
        if !parts.is_empty() {
            let parts = parts.into_iter().map(|part| part.expr);
            return Ok(Amount {
                expr: parts.fold(all.expr, operations::difference),
                kind: AmountKind::Number,
                at: None,
                ..all
            });
        }
        missing(format!("the page has no figure {}", spelled(&of.except)))
    }
}
