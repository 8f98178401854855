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
    pub(super) words: Vec<String>,
    /// Those that labels need not have: nouns such as "cost".
    loose: Vec<String>,
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

    /// The words of an operand that labels have. One that nothing has is an error; one of a
    /// heading is about all cells.
    pub(super) fn known(&self, operand: &Operand) -> Reading<KnownWords> {
        let mut out = KnownWords::default();
        for (word, spelled) in &operand.words {
            let others = || synonyms(word).iter();
            let heading = || others().any(|other| self.table.is_heading(other));
            if self.table.says(word) {
                let list = if is_loose(word) {
                    &mut out.loose
                } else {
                    &mut out.words
                };
                list.push(word.clone());
            } else if is_loose(word) {
                out.spent |= lists_stem(SPENT, word);
            } else if self.table.is_heading(word) {
            } else if let Some(other) = others().find(|other| self.table.says(other)) {
                out.words.push(other.clone());
                out.synonym = true;
            } else if heading() {
            } else if self.table.facts.vocabulary.get(word).is_some() {
                let why = format!("the table does not mention {spelled:?}");
                return Err(NoReading::InText(why));
            } else {
                return missing(format!("the page does not mention {spelled:?}"));
            }
        }
        Ok(out)
    }

    /// The cells of a period whose labels have all words together. Loose words are left out if
    /// no cell has them.
    pub(super) fn candidates(
        &self,
        known: &KnownWords,
        span: Option<CalendarSpan>,
    ) -> Vec<Candidate> {
        let table = &self.table;
        let of_words = |words: &[String]| -> Vec<Candidate> {
            let fits = |place: Place| {
                let of_span = |span| table.span_of(place).is_some_and(|of| of.covers(span));
                let says = |word: &String| table.labels_of(place).any(|label| label.says(word));
                let mut fits = table.labels_of(place).map(|label| label.fit(words));
                let (row, column) = (fits.next()?, fits.next()?);
                let fits = span.is_none_or(of_span) && words.iter().all(says);
                fits.then_some(Candidate { place, row, column })
            };
            table
                .cells
                .keys()
                .filter_map(|place| fits(*place))
                .collect()
        };
        // "Net sales of A": what only "Total net sales" says is about all rows.
        let of_item = |word: &&String| {
            let mut items = table.labels().filter(|label| !label.total);
            items.any(|label| label.says(word))
        };
        let items: Vec<String> = known.words.iter().filter(of_item).cloned().collect();
        let all = [known.words.as_slice(), &known.loose].concat();
        let found = of_words(&all);
        let others = [known.words.clone(), items]
            .into_iter()
            .filter(|words| !words.is_empty());
        let mut others = others
            .map(|words| of_words(&words))
            .filter(|found| !found.is_empty());
        if found.is_empty() {
            others.next().unwrap_or_default()
        } else {
            found
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
        let printed = |known: &KnownWords| !self.candidates(known, None).is_empty();
        if (of.percent || !known.as_ref().is_ok_and(printed))
            && let Some(margin) = self.margin(of, asked)
        {
            return Ok(margin);
        }
        let known = known?;
        let cells = self.candidates(&known, None);
        if cells.is_empty() {
            let words: Vec<&str> = of.words.iter().map(|(_, text)| text.as_str()).collect();
            return missing(format!(
                "no figure of the table is of {:?}",
                words.join(" ")
            ));
        }
        let best = self.best(of, cells.clone(), near);
        let spans = best.iter().map(|one| self.table.span_of(one.place));
        let (spans, undated): (Vec<_>, Vec<_>) = spans.partition(Option::is_some);
        let latest = spans
            .iter()
            .flatten()
            .max_by_key(|span| span.order())
            .copied();
        let period = match (asked, latest) {
            (Some(asked), _) if spans.is_empty() && !undated.is_empty() => {
                self.doubt(format!(
                    "the table has it for no period, and so not for {asked}"
                ));
                None
            }
            (Some(asked), _) => {
                let period = self.table.period(asked)?;
                let unclear = self.table.unclear(asked, period);
                self.doubts.extend(unclear);
                Some(period)
            }
            (None, Some(latest)) => {
                if !undated.is_empty() || spans.iter().any(|span| *span != Some(latest)) {
                    self.doubt(format!("the question names no period; this is {latest}"));
                }
                Some(latest)
            }
            (None, None) => None,
        };
        let best = self.best(of, self.candidates(&known, period), near);
        match (best.as_slice(), period) {
            ([one], _) => self.sure_of(one, &known),
            ([], Some(period)) => {
                let name = cells.first().map(|one| self.table.name_of(one.place));
                missing(format!(
                    "{} has no figure of {period}",
                    name.unwrap_or_default()
                ))
            }
            (several, _) => {
                let names = several
                    .iter()
                    .take(3)
                    .map(|one| self.table.full_name(one.place));
                let names: Vec<String> = names.collect();
                missing(format!("several figures fit: {}", names.join(" and ")))
            }
        }
    }

    /// The amount of the only cell that fits best, with a doubt if its labels say more than the
    /// question.
    fn sure_of(&mut self, one: &Candidate, known: &KnownWords) -> Reading<Amount> {
        let spent = self.table.labels_of(one.place).any(is_cost);
        let more = one.row.says_more() || one.column.says_more();
        if more || known.spent && !spent || known.synonym && one.cost() > 0 {
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
        let named = |names: &str| {
            let mut words: Vec<(String, String)> = names
                .split(' ')
                .map(|word| (stem(word).into_owned(), word.to_owned()))
                .collect();
            let of_name = |text: &str| PROFITS.iter().any(|(_, profit)| profit.contains(text));
            let others = of
                .words
                .iter()
                .filter(|(_, text)| text != "margin" && !of_name(text));
            words.extend(others.cloned());
            Operand {
                words,
                percent: false,
                ..of.clone()
            }
        };
        let profits = PROFITS
            .iter()
            .filter(|(name, _)| says(name) && says("margin"));
        let own = Operand {
            percent: false,
            ..of.clone()
        };
        // "Gross margin" may also be how the page calls the amount.
        let own = of.percent.then_some(own);
        let doubts = self.doubts.len();
        for profit in own
            .into_iter()
            .chain(profits.map(|(_, profit)| named(profit)))
        {
            if !says("margin") {
                return None;
            }
            for revenue in REVENUES {
                let part = self.figure(&profit, span, None).ok();
                let place = part.as_ref().and_then(|part| part.place);
                let whole = place.and_then(|_| self.figure(&named(revenue), span, place).ok());
                let sure = self.doubts.len() == doubts;
                self.doubts.truncate(doubts);
                let plain = |one: &Amount| one.kind == AmountKind::Plain;
                if let (Some(part), Some(whole), true) = (part, whole, sure)
                    && plain(&part)
                    && plain(&whole)
                    && whole.number > 0.0
                    && part.place != whole.place
                {
                    return Some(Amount {
                        number: part.number / whole.number,
                        expr: operations::ratio(part.expr, whole.expr),
                        kind: AmountKind::Share,
                        place: None,
                        turned: false,
                    });
                }
            }
        }
        None
    }
}
