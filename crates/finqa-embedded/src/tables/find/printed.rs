//! Finds the printed figure that fits an operand best, with a doubt if another one fits as well.

use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::fit::FitFigure;
use super::label_fit::Misfit;
use super::periods::{asks_for_latest, keep_latest};
use super::statements::{FLOWS, rounds_alike};
use super::{Amount, CLOSE, keep, same, spelled};
use crate::tables::page::table::{Label, Place, ReportRow};
use crate::tables::page::{Doubt, TableResult, Tables, missing_if};
use crate::tables::question::names::NamedConcept;
use crate::tables::question::operand::{Operand, Phrasing};
use crate::tables::words::{SaidWord, is_light, lists_stem, plain_stems, same_word};

/// Stems of a corner that says that the rows are parts of an organization.
const OWNERS: &str = "department team centre center division unit office branch function";

impl Tables {
    /// The best printed figure of an operand, with a doubt if another one fits as well.
    pub(crate) fn printed(
        &self,
        of: &Operand,
        asked: Option<Period>,
        near: Option<Place>,
    ) -> TableResult<Amount> {
        self.check_words(of)?;
        asked.map_or(Ok(()), |asked| self.check_period(asked))?;
        let mut all = self.fitting_figures(of, asked);
        keep(&mut all, |one| self.names_sheet(of, one));
        self.check_read(of, asked, &all)?;
        if let Some(named) = of.statement
            && self.tables.iter().any(|table| named.is(table))
        {
            all.retain(|one| self.is_in(named, one.place));
        }
        let mut doubt = None;
        if all.is_empty() {
            all = self.fitting_figures(of, None);
            let Some(first) = all.first() else {
                return self.by_tag(of, asked, near).ok_or_else(|| no_figure(of));
            };
            doubt = self.why_elsewhere(of, asked, first);
        }
        let everywhere = all.clone();
        if let Some(near) = near {
            // The figure must be in the table of `near`, and in its row or column if any is there.
            all.retain(|one| one.place.table == near.table);
            keep(&mut all, |one| one.place.is_in_line(near));
        }
        if self.is_single_table() && of.total {
            let total = |one: &FitFigure| self.labels_of(one.place).any(|label| label.total);
            keep(&mut all, total);
            // "The total" is not one of the subtotals.
            let part = |one: &FitFigure| {
                self.labels_of(one.place)
                    .any(|label| label.says("subtotal"))
            };
            if !of.says("subtotal") {
                keep(&mut all, |one| !part(one));
            }
        }
        // Another statement may have "Depreciation, excluding ..." with another value.
        let every = if of.rows.is_empty() || of.statement.is_some() {
            all.clone()
        } else {
            let full = true;
            self.figures()
                .map(|one| FitFigure { full, ..one })
                .collect()
        };
        let best = self.retain_best(&mut all, asked)?;
        let doubt = doubt
            .or_else(|| self.beside_empty(of, asked, &best))
            .or_else(|| self.why_unclear(of, &best, &all, [&every, &everywhere]))
            .or_else(|| self.misnamed(of, &best))
            .or_else(|| self.contradiction(of, &best))
            .or_else(|| self.may_be_change(of, &best, asked));
        if doubt.is_some()
            && let Some(amount) = self.by_tag(of, asked, near)
        {
            return Ok(amount);
        }
        // No tag settles this doubt.
        let doubt = doubt.or_else(|| self.unclear_year(&best, asked));
        if let Some(doubt) = doubt.clone().filter(|_| self.is_single_table()) {
            return Err(doubt);
        }
        Ok(self.amount(best).ok_or(Doubt::Open)?.or_doubt(doubt))
    }

    /// Why the figure is not in the statement or the period asked for, although `first` is a figure
    /// of the operand.
    fn why_elsewhere(
        &self,
        of: &Operand,
        asked: Option<Period>,
        first: &FitFigure,
    ) -> Option<Doubt> {
        // The rows of a whole label are in the statement that the question names.
        let Some(named) = of.statement.filter(|_| of.rows.is_empty()) else {
            return asked.map(|asked| self.no_period(first, asked));
        };
        let (named, said) = (named.name(), of.spelled());
        let why = format!("the {named} has no figure of {said:?}");
        Some(Doubt::missing(why))
    }

    /// Keeps the figures that fit as well as the first, and returns the best of them. An error if a
    /// page with a single table has them for several periods and the question names no year.
    fn retain_best(
        &self,
        all: &mut Vec<FitFigure>,
        asked: Option<Period>,
    ) -> TableResult<FitFigure> {
        let best = *all.first().ok_or(Doubt::Open)?;
        all.retain(|one| one.score >= best.score - CLOSE);
        if best.full {
            all.retain(|one| one.full);
            // A note repeats a figure of a statement, or has only a part of it.
            keep(all, |one| self.statement_of(one).is_some());
            // Then prefer balances to changes, the question's name, and the label that adds least.
            keep(all, |one| !self.is_of_equity(one));
            let of_balances = |one: &FitFigure| self.statement_of(one) == Some(Statement::Balances);
            keep(all, of_balances);
            keep(all, |one| one.said);
            keep(all, |one| one.within);
            // "Diluted" under "Earnings per share" and not under "Shares used for diluted earnings".
            if best.in_plain_section {
                keep(all, |one| one.in_plain_section);
            }
            let least = all.iter().map(|one| one.extra).min();
            all.retain(|one| Some(one.extra) == least);
        }
        // December, and not the year that ends with it.
        let month = asked.is_some_and(|of| of.end.month.is_some() && of.end.day.is_none());
        if self.is_single_table() && month {
            keep(all, |one| {
                one.period.map(Period::length) == asked.map(Period::length)
            });
        }
        let longer = |one: &FitFigure| one.period.is_some_and(|period| period.end.month.is_none());
        let only_longer = self.is_single_table() && month && all.iter().all(longer);
        missing_if(only_longer, "the page has no figure of this month alone")?;
        let day = asked.and_then(|of| of.end.day).is_some_and(|day| day < 28);
        let dated = |one: &FitFigure| one.period.is_some_and(|period| period.end.day.is_some());
        let undated = self.is_single_table() && day && !all.iter().any(dated);
        missing_if(undated, "the page has no figure of this day")?;
        let order = |one: &FitFigure| one.period.map(Period::order);
        let differ = all.iter().any(|one| order(one) != order(&best));
        let unclear = self.is_single_table() && asks_for_latest(asked) && differ;
        missing_if(unclear, "the question names no period")?;
        keep_latest(all, asked);
        all.first().copied().ok_or(Doubt::Open)
    }

    /// The doubt that another figure than the best may be meant. `tied` are those that fit as well,
    /// `every` all that may be rivals, `everywhere` all that may confirm the best.
    fn why_unclear(
        &self,
        of: &Operand,
        best: &FitFigure,
        tied: &[FitFigure],
        [every, everywhere]: [&[FitFigure]; 2],
    ) -> Option<Doubt> {
        let differs = |one: &&FitFigure| {
            if self.is_single_table() {
                one.place != best.place && one.percent == best.percent
            } else {
                let alike = if of.rows.is_empty() {
                    same
                } else {
                    rounds_alike
                };
                !alike(one.value, best.value) && one.full >= best.full
            }
        };
        let rivals = every.iter().filter(|one| self.is_rival(one, best));
        // If the heading of the best figure says more than the question, a figure of the same value
        // whose labels do not confirms it.
        let confirms = |one: &&FitFigure| {
            let order = |one: &FitFigure| one.period.map(Period::order);
            one.unqualified && one.percent == best.percent && order(one) == order(best)
        };
        let mut plain = everywhere.iter().filter(confirms).peekable();
        let is_confirmed = self.is_report()
            && plain.peek().is_some_and(|one| one.place != best.place)
            && plain.all(|one| rounds_alike(one.value, best.value));
        // If only the heading of the best figure has a word ("Total equity" under "Stockholders"),
        // a row with the word in its own label may be meant.
        let readings = of.readings();
        let is_named = |one: &FitFigure| self.is_named_by_label(one, &readings);
        let lent = self.is_report() && !is_named(best);
        let named = every.iter().filter(|one| {
            let line = |one: &FitFigure| (one.place.table, one.place.column);
            let beside = line(one) == line(best);
            lent && beside
                && (one.full || !is_confirmed)
                && one.percent == best.percent
                && !rounds_alike(one.value, best.value)
                && is_named(one)
        });
        let others = tied.iter().filter(differs).chain(rivals).chain(named);
        let net_only = self.is_net_only(best, &readings);
        let net = every.iter().filter(|one| {
            net_only && one.place.column == best.place.column && one.place.row != best.place.row
        });
        let others: Vec<&FitFigure> = others.chain(net).collect();
        match others.as_slice() {
            [] if best.unqualified || is_confirmed => None,
            [_, ..] if best.unqualified || self.is_single_table() => {
                let names = [best].into_iter().chain(others.iter().copied());
                // Three names keep the reason short.
                let names = self.names_of(names.take(3)).join(" and ");
                Some(Doubt::missing(format!("several figures fit: {names}")))
            }
            _ => Some(self.misfitting(of, best.place)),
        }
    }

    /// The doubt that a figure of a single table is only next to the cell that the question names,
    /// which is empty: it is in the column "Target 2032", and that of "2032" is meant.
    fn beside_empty(&self, of: &Operand, asked: Option<Period>, best: &FitFigure) -> Option<Doubt> {
        let table = self.table(best.place).filter(|table| table.single)?;
        let readings = of.readings();
        let is_said = |label: &Label| {
            let said = |own: &String| {
                let mut words = readings.iter().flat_map(|one| &one.words);
                is_light(own) || words.any(|word| same_word(own, word))
            };
            label.words.iter().chain(&label.aside).all(said)
        };
        // A plan that the question does not ask for is next to every line of actual figures.
        let means = |other: (&Label, bool), own: (&Label, bool)| {
            let mut words = other.0.words.iter();
            let named = words.any(|word| !is_light(word)) || other.0.period.is_some();
            !is_said(own.0) && (named && is_said(other.0) || own.1 && !other.1)
        };
        let of_row = |row: usize| table.rows.get(row).map(|row| (&row.label, row.plan));
        let of_column = |at: usize| table.columns.get(at).map(|one| (&one.label, one.plan));
        let Place { row, column, .. } = best.place;
        let rows = table.body().filter(|(at, other)| {
            let both = of_row(*at).zip(of_row(row));
            !other.is_heading() && both.is_some_and(|(other, own)| means(other, own))
        });
        let columns = table.figure_columns().filter(|(at, _)| {
            let both = of_column(*at).zip(of_column(column));
            both.is_some_and(|(other, own)| means(other, own))
                && table.figures().any(|one| one.place.column == *at)
        });
        let rows = rows.map(|(at, _)| table.place(at, column));
        let mut cells = rows.chain(columns.map(|(at, _)| table.place(row, at)));
        let empty = cells.find(|at| {
            let fits = self.fits(table.period_of(at.row, at.column), asked);
            fits && table.figure(at.row, at.column).is_none() && self.why_unread(*at).is_none()
        })?;
        Some(self.doubt_about(empty, "is an empty cell"))
    }

    /// The doubt that the label of a row in a single table is not what the question means by it: a
    /// payee "Total Energies", a department "Sales" for turnover, a line "Paid" in a column "Paid", or
    /// one of several rows for their total.
    fn misnamed(&self, of: &Operand, best: &FitFigure) -> Option<Doubt> {
        let table = self.table(best.place).filter(|table| table.single)?;
        let (row, column) = (self.row(best.place)?, self.column(best.place)?);
        let readings = of.readings();
        let is_said = |word: &String| readings.iter().any(|one| one.words.contains(word));
        let mut named = row.label.words.iter().filter(|word| !is_light(word));
        let of_name = |one: &NamedConcept| {
            let mut names = one.concept.names.iter();
            let says = |word: &String| row.label.says(word);
            names.any(|name| name.stems.iter().all(says))
        };
        // A row that is named by two columns: "Ferris, paid", or "paid (Ferris)", which shares a name
        // with other rows.
        let parts = |row: &ReportRow| -> Vec<Vec<String>> {
            let parts = row.printed.split([',', '(', ')']).map(plain_stems);
            parts.filter(|words| !words.is_empty()).collect()
        };
        let twice = |part: &Vec<String>| {
            let mut rows = table.body().filter(|(at, _)| *at != best.place.row);
            let own = parts(row);
            let shared = |other: &Vec<String>| other != part && own.contains(other);
            part.iter().all(|word| column.label.has(word))
                && (row.printed.contains(", ")
                    || rows.any(|(_, other)| parts(other).iter().any(shared)))
        };
        let mut labels = self.labels_of(best.place);
        let why = if row.may_be_name && !named.any(is_said) {
            "may be a total or a name"
        } else if !best.said
            && table.title.iter().any(|word| lists_stem(OWNERS, word))
            && of.names.iter().any(of_name)
        {
            "may be a name and not what is meant"
        } else if self.is_text_of_others(table, best.place.row) {
            "may be one of several that have this text"
        } else if parts(row).iter().any(twice) {
            "has one word of the question in two labels"
        } else if of.total && !labels.any(|label| label.total) {
            return self.lacks_similar(&[best.place], false);
        } else {
            return None;
        };
        Some(self.doubt_about(best.place, why))
    }

    /// The doubt that a figure is not the one asked for, because its labels lack words of the
    /// question or say more.
    fn misfitting(&self, of: &Operand, place: Place) -> Doubt {
        let readings = of.readings();
        let misfits = readings.iter().filter_map(|reading| {
            let table = self.table(place)?;
            table.misfit(place, &reading.words, &self.weights)
        });
        // On a tie, the first reading is the question's own.
        let why = match misfits.min_by_key(Misfit::lacking) {
            Some(Misfit::Lacks(stems)) => {
                let lacks = |word: &&SaidWord| stems.contains(&word.stem);
                let words: Vec<SaidWord> = of.words.iter().filter(lacks).cloned().collect();
                let name = of.names.iter().find(|one| {
                    let mut of_name = one.name.stems.iter();
                    of_name.any(|stem| stems.contains(stem))
                });
                match (words.as_slice(), name) {
                    ([], None) => return self.unclear(place),
                    ([], Some(one)) => format!("its labels do not say {:?}", one.name.written),
                    (words, _) => format!("its labels do not say {:?}", spelled(words)),
                }
            }
            Some(Misfit::SaysMore(label)) => format!("{label:?} says more than the question"),
            Some(Misfit::Under(heading)) => format!("it is under {heading:?}"),
            Some(Misfit::Titled(word)) => format!("the title of its table says {word:?}"),
            None => return self.unclear(place),
        };
        self.doubt_about(place, &format!("may not be what is meant: {why}"))
    }

    /// True if a figure of a single table is "net" and the question is not: "Net interest income"
    /// for interest income, but not "Net sales" for sales.
    fn is_net_only(&self, one: &FitFigure, readings: &[Phrasing]) -> bool {
        let Some(row) = self.row(one.place).filter(|_| self.is_single_table()) else {
            return false;
        };
        let mut words = row.label.words.iter();
        let leads = words.next().is_some_and(|word| word == "net");
        leads
            && !readings
                .iter()
                .any(|reading| reading.words.iter().any(|word| word == "net"))
            && !words.all(|word| FLOWS.contains(word))
    }
}

/// The doubt about an operand that no label of the tables names.
fn no_figure(of: &Operand) -> Doubt {
    let spelled = of.spelled();
    Doubt::missing(match spelled.trim() {
        "" => "the question names no figure".to_owned(),
        spelled => format!("no figure of the tables is of {spelled:?}"),
    })
}
