//! Computes how likely an answer from labels is right, and rejects guesses about another figure.

use std::collections::BTreeSet;

use super::compute::direct_answer::DirectAnswer;
use super::find::FigureExpr;
use super::page::table::Place;
use super::page::{TableResult, Tables};
use super::question::operand::Operand;
use super::question::request::Asked;
use super::words::{is_light, plain_stems};

/// Probability that a figure without a doubt is right: in a primary statement, in any other table
/// of a report, and on a page with a single table (docs/embedded-analyst.md, "The user's own
/// tables" and "Reports as filed").
const OF_STATEMENT: f64 = 0.99;
const OF_NOTE: f64 = 0.97;
const OF_SINGLE: f64 = 0.95;

/// A guess is rejected if its labels have less than this share, by weight, of the question's names.
/// Set by hand, because guesses about other figures misled readers.
const OF_CONCEPT: f64 = 0.4;

/// Probability that a guess is right if its labels have all names of the question. Set by hand;
/// `.ci/questions` prints how many answers are right at each confidence.
const GUESS: f64 = 0.5;

impl Tables {
    /// Adds the confidence to an answer. Returns the doubt instead of a guess if the labels of the
    /// guess have too few of the question's names, or if the guess is one printed figure although
    /// unused words of the question may ask for an operation.
    pub(super) fn weighed(&self, asked: &Asked, answer: DirectAnswer) -> TableResult<DirectAnswer> {
        let cells: BTreeSet<Place> = answer.places().collect();
        let confidence = match &answer.doubt {
            None => self.reliability(&cells),
            Some(why) => {
                let met = self.met(asked, &cells);
                let looked_up = matches!(answer.expr, FigureExpr::Leaf(_));
                if met < OF_CONCEPT || looked_up && !asked.unused.is_empty() {
                    return Err(why.clone());
                }
                GUESS * met
            }
        };
        Ok(DirectAnswer {
            confidence,
            ..answer
        })
    }

    /// The probability that every one of these cells is the one the question means, from 0 to 1.
    pub(super) fn reliability(&self, cells: &BTreeSet<Place>) -> f64 {
        let of = |cell: &Place| match self.table(*cell) {
            Some(table) if table.single => OF_SINGLE,
            Some(table) if table.statement.is_some() => OF_STATEMENT,
            _ => OF_NOTE,
        };
        cells.iter().map(of).product()
    }

    /// The share, by weight, of the question's names that the labels of these cells have, from 0 to
    /// 1. For several operands, the smallest share.
    fn met(&self, asked: &Asked, cells: &BTreeSet<Place>) -> f64 {
        let named = asked.operands.iter().filter(|of| of.rows.is_empty());
        let met = |of: &Operand| {
            let parts: Vec<Operand> = match (of.quotient(), of.formula()) {
                (Some((part, whole)), _) => vec![part, whole.without_words()],
                (None, Some((formula, rest))) => {
                    let terms = formula.terms().filter(|term| !term.optional);
                    terms.map(|term| rest.of_term(term.name)).collect()
                }
                (None, None) => return self.said_of(of, cells),
            };
            let parts = parts.iter().map(|part| self.said_of(part, cells));
            self.said_of(of, cells).max(parts.fold(1.0, f64::min))
        };
        named.map(met).fold(1.0, f64::min)
    }

    /// The share of an operand's names that the labels of one cell have. For several cells, the
    /// largest share.
    fn said_of(&self, of: &Operand, cells: &BTreeSet<Place>) -> f64 {
        let mut readings = of.meant_readings();
        // Only words that a label cannot omit distinguish a figure.
        let names = |word: &String| !is_light(word) && !self.weights.is_soft(word);
        readings.iter_mut().for_each(|words| words.retain(names));
        // A reading without such words has none that the labels could lack.
        if readings.iter().any(Vec::is_empty) {
            return 1.0;
        }
        let share = |cell: &Place| {
            let table = self.table(*cell)?;
            let sheet = plain_stems(&table.sheet);
            let said = |word: &String| {
                let above = table.title.contains(word) || sheet.contains(word);
                above || self.is_labelled(*cell, word)
            };
            Some(self.weights.share(&readings, &said).0)
        };
        cells.iter().filter_map(share).fold(0.0, f64::max)
    }
}
