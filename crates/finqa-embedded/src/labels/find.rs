//! From an operand to the figure of the table that it names, or the reason why none is sure.

use super::answer::{NoReading, Reading, missing};
use super::asked::Operand;
use super::label::LabelFit;
use super::table::{Amount, AmountKind, LabelledTable, Place, is_cost};
use super::words::{SPENT, is_loose, lists_stem};
use crate::operations;
use crate::reading::text::stem;
use crate::reading::words::synonyms;
use finqa_core::page::period::CalendarSpan;

/// A table, and the doubts that reading a question about it has left.
pub(super) struct Finder<'a> {
    pub(super) table: LabelledTable<'a>,
    pub(super) doubts: Vec<String>,
}

/// Words of a question as labels have them.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownWords {
    words: Vec<String>,
    /// Some are only synonyms of what the question says.
    synonym: bool,
    /// It asks for something that is spent, and no label says so.
    spent: bool,
}

/// A cell, and how its labels fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) place: Place,
    pub(super) row: LabelFit,
    pub(super) column: LabelFit,
}

impl Candidate {
    fn cost(&self) -> usize {
        self.row.cost + self.column.cost
    }

    /// Whether its labels say more than the question.
    pub(super) fn says_more(&self) -> bool {
        self.row.says_more() || self.column.says_more()
    }
}

/// What the profit of a margin is called.
const PROFITS: [(&str, &str); 8] = [
    ("contribution", "contribution"),
    ("gross", "gross profit"),
    ("operating", "operating profit"),
    ("operating", "operating income"),
    ("net", "net profit"),
    ("net", "net income"),
    ("ebit", "ebit"),
    ("ebitda", "ebitda"),
];

/// What it is a share of.
const REVENUES: [&str; 5] = ["revenue", "revenues", "net sales", "sales", "turnover"];

fn keep(all: &mut Vec<Candidate>, is: impl Fn(&Candidate) -> bool) {
    if all.iter().any(&is) {
        all.retain(is);
    }
}

impl Finder<'_> {
    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    /// The page's period that a question names, with a doubt if that may not be what is meant.
    pub(super) fn period(&mut self, asked: CalendarSpan) -> Reading<CalendarSpan> {
        let found = self.table.period(asked)?;
        let bare = asked.months.is_none() && !asked.season;
        if bare && self.table.periods.iter().any(|span| span.season) {
            self.doubt(format!("{asked} is a part of two seasons"));
        }
        let alike = |of: &&CalendarSpan| of.range() == found.range();
        if asked.year.is_none() && self.table.periods.iter().filter(alike).count() > 1 {
            self.doubt(format!("the question names no year; this is {found}"));
        }
        Ok(found)
    }

    /// The words of an operand that labels have. One that nothing has is an error; one of a
    /// heading is about all cells.
    pub(super) fn known(&self, operand: &Operand) -> Reading<KnownWords> {
        let table = &self.table;
        let mut out = KnownWords::default();
        for (word, spelled) in &operand.words {
            let mut others = synonyms(word).iter();
            if table.says(word) {
                out.words.push(word.clone());
            } else if is_loose(word) {
                out.spent |= lists_stem(SPENT, word);
            } else if table.is_heading(word) {
            } else if let Some(other) = others.clone().find(|other| table.says(other)) {
                out.words.push(other.clone());
                out.synonym = true;
            } else if others.any(|other| table.is_heading(other)) {
            } else if table.facts.vocabulary.get(word).is_some() {
                let why = format!("the table does not mention {spelled:?}");
                return Err(NoReading::InText(why));
            } else {
                return missing(format!("the page does not mention {spelled:?}"));
            }
        }
        Ok(out)
    }

    /// The cells of a period whose labels have all words together.
    pub(super) fn candidates(
        &self,
        known: &KnownWords,
        span: Option<CalendarSpan>,
    ) -> Vec<Candidate> {
        let table = &self.table;
        let of_words = |words: &[String]| -> Vec<Candidate> {
            let fits = |place: &Place| {
                let of_span = |span| table.span_of(*place).is_some_and(|of| of.covers(span));
                let says = |word: &String| table.labels_of(*place).any(|label| label.says(word));
                let mut fits = table.labels_of(*place).map(|label| label.fit(words));
                let (row, column) = (fits.next()?, fits.next()?);
                let place = *place;
                let fits = span.is_none_or(of_span) && words.iter().all(says);
                fits.then_some(Candidate { place, row, column })
            };
            table.cells.keys().filter_map(fits).collect()
        };
        let found = of_words(&known.words);
        // "Net sales of A": what only "Total net sales" says is about all rows.
        let of_item = |word: &&String| {
            let mut items = table.labels().filter(|label| !label.total);
            items.any(|label| label.says(word))
        };
        let items: Vec<String> = known.words.iter().filter(of_item).cloned().collect();
        match found.is_empty() && !items.is_empty() {
            true => of_words(&items),
            false => found,
        }
    }

    /// The figure of an operand; its own period comes before the one given. Of several that
    /// fit, the one in the row or the column of another figure.
    pub(super) fn figure(
        &mut self,
        of: &Operand,
        span: Option<CalendarSpan>,
        near: Option<Place>,
    ) -> Reading<Amount> {
        let asked = of.spans.first().copied().or(span);
        let known = self.known(of);
        let cells = known.as_ref().map(|known| self.candidates(known, None));
        let cells = cells.unwrap_or_default();
        if (of.percent || cells.is_empty())
            && let Some(margin) = self.margin(of, asked)
        {
            return Ok(margin);
        }
        let known = known?;
        let best = self.best(of, cells, near);
        let Some(name) = best.first().map(|one| self.table.name_of(one.place)) else {
            let words: Vec<&str> = of.words.iter().map(|(_, text)| text.as_str()).collect();
            let words = words.join(" ");
            return missing(format!("no figure of the table is of {words:?}"));
        };
        let spans = best.iter().map(|one| self.table.span_of(one.place));
        let spans: Vec<Option<CalendarSpan>> = spans.collect();
        let latest = spans.iter().flatten().max_by_key(|span| span.order());
        let latest = latest.copied();
        let period = match (asked, latest) {
            (Some(asked), None) => {
                let why = "the table has it for no period, and so not for";
                self.doubt(format!("{why} {asked}"));
                None
            }
            (Some(asked), Some(_)) => Some(self.period(asked)?),
            (None, latest) => {
                if let Some(latest) = latest
                    && spans.iter().any(|span| *span != Some(latest))
                {
                    self.doubt(format!("the question names no period; this is {latest}"));
                }
                latest
            }
        };
        let best = self.best(of, self.candidates(&known, period), near);
        match (best.as_slice(), period) {
            ([one], _) => self.sure_of(one, &known),
            ([], Some(period)) => missing(format!("{name} has no figure of {period}")),
            (several, _) => {
                let names = several.iter().take(3);
                let names: Vec<String> = names.map(|one| self.table.full_name(one.place)).collect();
                missing(format!("several figures fit: {}", names.join(" and ")))
            }
        }
    }

    /// The amount of the only cell that fits best, with a doubt if its labels say more than the
    /// question.
    fn sure_of(&mut self, one: &Candidate, known: &KnownWords) -> Reading<Amount> {
        let spent = self.table.labels_of(one.place).any(is_cost);
        if one.says_more() || known.spent && !spent || known.synonym && one.cost() > 0 {
            let name = self.table.full_name(one.place);
            self.doubt(format!("{name} may not be what is meant"));
        }
        self.table.amount(one.place).ok_or(NoReading::Open)
    }

    /// Those that fit best.
    fn best(&self, of: &Operand, mut all: Vec<Candidate>, near: Option<Place>) -> Vec<Candidate> {
        let table = &self.table;
        if let Some((row, column)) = near {
            keep(&mut all, |one| one.place.0 == row || one.place.1 == column);
        }
        if of.total {
            keep(&mut all, |one| {
                table.labels_of(one.place).any(|label| label.total)
            });
        }
        if of.percent {
            keep(&mut all, |one| table.is_percent(one.place));
        }
        let least = all.iter().map(Candidate::cost).min().unwrap_or_default();
        all.retain(|one| one.cost() == least);
        // Of a figure and the same in percent, the one that is asked for.
        let mut names: Vec<String> = all.iter().map(|one| table.full_name(one.place)).collect();
        names.sort();
        names.dedup();
        if names.len() == all.len() {
            keep(&mut all, |one| table.is_percent(one.place) == of.percent);
        }
        all
    }

    /// The margin that an operand names, if it does: a profit as a share of sales.
    fn margin(&mut self, of: &Operand, span: Option<CalendarSpan>) -> Option<Amount> {
        let says = |word: &str| of.words.iter().any(|(_, text)| text == word);
        if !says("margin") {
            return None;
        }
        let plain = Operand {
            percent: false,
            ..of.clone()
        };
        let named = |names: &str| {
            let of_name = |text: &str| PROFITS.iter().any(|(_, profit)| profit.contains(text));
            let words = names
                .split(' ')
                .map(|word| (stem(word).into_owned(), word.to_owned()));
            let others = of.words.iter().cloned();
            let others = others.filter(|(_, text)| text != "margin" && !of_name(text));
            Operand {
                words: words.chain(others).collect(),
                ..plain.clone()
            }
        };
        let profits = PROFITS.iter().filter(|(name, _)| says(name));
        let profits = profits.map(|(_, profit)| named(profit));
        // "Gross margin" may also be how the page calls the amount.
        let own = of.percent.then(|| plain.clone());
        let doubts = self.doubts.len();
        for profit in own.into_iter().chain(profits) {
            for revenue in REVENUES {
                let part = self.figure(&profit, span, None).ok();
                let place = part.as_ref().and_then(|part| part.place);
                let whole = place.and_then(|_| self.figure(&named(revenue), span, place).ok());
                let sure = self.doubts.len() == doubts;
                self.doubts.truncate(doubts);
                let (Some(part), Some(whole), true) = (part, whole, sure) else {
                    continue;
                };
                let alike = part.kind == AmountKind::Plain && part.is_like(&whole);
                if alike && whole.number > 0.0 && part.place != whole.place {
                    return Some(Amount {
                        number: part.number / whole.number,
                        expr: operations::ratio(part.expr, whole.expr),
                        kind: AmountKind::Share,
                        place: None,
                        ..whole
                    });
                }
            }
        }
        None
    }
}
