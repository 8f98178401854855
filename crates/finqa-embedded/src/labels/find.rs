//! From an operand to the figure of the table that it names, or the reason why none is sure.

use super::asked::Operand;
use super::label::{HEAVY, NameFit};
use super::table::{Amount, AmountKind, LabelledTable, Place};
use super::words::{LOOSE, lists, lists_stem};
use super::{NoReading, Reading, missing};
use crate::operations;
use crate::reading::text::stem;
use finqa_core::page::period::CalendarSpan;

/// A cell, and how its labels fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct FitCell {
    pub(super) place: Place,
    pub(super) row: NameFit,
    pub(super) column: NameFit,
}

impl FitCell {
    fn cost(&self) -> usize {
        self.row.cost + self.column.cost
    }

    /// Whether its labels say more than the question.
    pub(super) fn says_more(&self) -> bool {
        let mut fits = [self.row, self.column].into_iter();
        fits.any(|fit| fit.named && fit.cost >= HEAVY)
    }
}

/// What tells the profit of a margin from others.
const PROFITS: &str = "contribution gross operating net ebit ebitda profit income";

/// What it is a share of.
const REVENUES: [&str; 5] = ["revenue", "revenues", "net sales", "sales", "turnover"];

fn keep(all: &mut Vec<FitCell>, is: impl Fn(&FitCell) -> bool) {
    if all.iter().any(&is) {
        all.retain(is);
    }
}

impl LabelledTable<'_> {
    /// The reason why a cell may not be what is meant.
    pub(super) fn is_unclear<T>(&self, place: Place) -> Reading<T> {
        let name = self.full_name(place);
        missing(format!("{name} may not be what is meant"))
    }

    /// The words of an operand that labels have; one of the heading of the rows is about all cells.
    pub(super) fn known(&self, operand: &Operand) -> Reading<Vec<String>> {
        let mut out = Vec::new();
        for (word, spelled) in &operand.words {
            if self.says(word) {
                out.push(word.clone());
            } else if !lists_stem(LOOSE, word) && !self.is_heading(word) {
                let why = |of: &str| format!("the {of} does not mention {spelled:?}");
                return Err(match self.facts.vocabulary.get(word) {
                    Some(_) => NoReading::InText(why("table")),
                    None => NoReading::Missing(why("page")),
                });
            }
        }
        Ok(out)
    }

    /// The cells of a period whose labels have all words together.
    pub(super) fn cells_of(&self, words: &[String], span: Option<CalendarSpan>) -> Vec<FitCell> {
        let candidate = |place: Place| {
            let mut fits = self.labels_of(place).map(|label| label.fit(words));
            let (row, column) = (fits.next()?, fits.next()?);
            Some(FitCell { place, row, column })
        };
        let fits = |place: &Place| {
            let of_span = |span| self.span_of(*place).is_some_and(|of| of.covers(span));
            let says = |word: &String| self.labels_of(*place).any(|label| label.says(word));
            span.is_none_or(of_span) && words.iter().all(says)
        };
        let places = self.cells.keys().copied().filter(fits);
        places.filter_map(candidate).collect()
    }

    /// The figure of an operand; its own period comes before the one given. Of several that
    /// fit, the one in the row or the column of another figure.
    pub(super) fn figure(
        &self,
        of: &Operand,
        span: Option<CalendarSpan>,
        near: Option<Place>,
    ) -> Reading<Amount> {
        let asked = of.spans.first().copied().or(span);
        let known = self.known(of);
        let cells = known.as_ref().map(|known| self.cells_of(known, None));
        let cells = cells.unwrap_or_default();
        if (of.percent || cells.is_empty())
            && let Some(margin) = self.margin(of, asked)
        {
            return Ok(margin);
        }
        let known = known?;
        let best = self.best(of, cells, near);
        let Some(name) = best.first().map(|one| self.name_of(one.place)) else {
            let words: Vec<&str> = of.words.iter().map(|(_, text)| text.as_str()).collect();
            let words = words.join(" ");
            return missing(format!("no figure of the table is of {words:?}"));
        };
        let spans: Vec<_> = best.iter().map(|one| self.span_of(one.place)).collect();
        let latest = spans.iter().flatten().max_by_key(|span| span.order());
        let period = match (asked, latest) {
            (Some(asked), None) => return missing(format!("the table has it for no {asked}")),
            (Some(asked), Some(_)) => Some(self.period(asked)?),
            (None, Some(latest)) if spans.iter().any(|span| *span != Some(*latest)) => {
                return missing("the question names no period");
            }
            (None, latest) => latest.copied(),
        };
        let best = self.best(of, self.cells_of(&known, period), near);
        match (best.as_slice(), period) {
            // Its labels say more than the question.
            ([one], _) if one.says_more() => self.is_unclear(one.place),
            ([one], _) => self.amount(one.place).ok_or(NoReading::Open),
            ([], Some(period)) => missing(format!("{name} has no figure of {period}")),
            (several, _) => {
                let names = several.iter().take(3);
                let names: Vec<String> = names.map(|one| self.full_name(one.place)).collect();
                missing(format!("several figures fit: {}", names.join(" and ")))
            }
        }
    }

    /// Those that fit best.
    fn best(&self, of: &Operand, mut all: Vec<FitCell>, near: Option<Place>) -> Vec<FitCell> {
        if let Some((row, column)) = near {
            keep(&mut all, |one| one.place.0 == row || one.place.1 == column);
        }
        if of.total {
            let total = |place: Place| self.labels_of(place).any(|label| label.total);
            keep(&mut all, |one| total(one.place));
        }
        if of.percent {
            keep(&mut all, |one| self.is_percent(one.place));
        }
        let least = all.iter().map(FitCell::cost).min().unwrap_or_default();
        all.retain(|one| one.cost() == least);
        // Of a figure and the same in percent, the one that is asked for.
        keep(&mut all, |one| self.is_percent(one.place) == of.percent);
        all
    }

    /// The margin that an operand names, if it does: a profit as a share of sales.
    fn margin(&self, of: &Operand, span: Option<CalendarSpan>) -> Option<Amount> {
        let says = |list: &str| of.words.iter().any(|(_, text)| lists(list, text));
        if !says("margin") || !says(PROFITS) {
            return None;
        }
        let named = |without: &[&str], name: &str| {
            let kept = |text: &str| !without.iter().any(|list| lists(list, text));
            let words = of.words.iter().filter(|(_, text)| kept(text)).cloned();
            let name = name.split_whitespace();
            let name = name.map(|word| (stem(word).into_owned(), word.to_owned()));
            Operand {
                words: words.chain(name).collect(),
                percent: false,
                ..of.clone()
            }
        };
        // "Gross margin" may also be how the page calls the amount.
        let own = of.percent.then_some("margin");
        let mut profits = own.into_iter().chain(["profit", "income", ""]);
        let margin = |name: &str| {
            let part = self.figure(&named(&["margin"], name), span, None).ok()?;
            let sales = |name: &str| named(&["margin", PROFITS], name);
            let of_part = |name: &str| self.figure(&sales(name), span, part.place).ok();
            let is_whole = |whole: &Amount| {
                let plain = [part.kind, whole.kind] == [AmountKind::Plain; 2];
                let apart = part.place != whole.place && part.scale == whole.scale;
                plain && apart && whole.number() > 0.0
            };
            let whole = REVENUES.into_iter().filter_map(of_part).find(is_whole)?;
            Some(Amount {
                expr: operations::ratio(part.expr, whole.expr.clone()),
                kind: AmountKind::Share,
                place: None,
                ..whole
            })
        };
        profits.find_map(margin)
    }
}
