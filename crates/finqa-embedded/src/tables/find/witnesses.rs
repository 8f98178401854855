//! Uses the tags of a report to confirm or contradict which figure a question means.
//!
//! A tag counts only if it has no dimension, or exactly those that the question names. It decides
//! between figures whose labels fit equally well, and it makes an answer doubtful if it contradicts
//! the name.

use finqa_core::page::period::Period;

use super::fit::FitFigure;
use super::statements::rounds_alike;
use super::{Amount, keep};
use crate::reading::outflow::names_credit;
use crate::tables::page::table::{Place, ReportRow};
use crate::tables::page::tags::{Meaning, Tag};
use crate::tables::page::{Doubt, Tables};
use crate::tables::question::names::amount_named;
use crate::tables::question::operand::Operand;

impl ReportRow {
    /// True if the label excludes something that the tag includes.
    fn is_part(&self) -> bool {
        self.printed.to_lowercase().contains("excluding")
    }

    /// The words of the label, and the other names of the figure that it names.
    fn label_readings(&self) -> Vec<Vec<String>> {
        let named = amount_named(&self.label.words).into_iter();
        let names = named.flat_map(|one| one.concept.names.iter().map(|name| name.stems.clone()));
        [self.label.words.clone()]
            .into_iter()
            .chain(names)
            .collect()
    }
}

/// The first figure, if all have the same value apart from sign and rounding. Otherwise `None`.
fn agreed(all: &[FitFigure]) -> Option<FitFigure> {
    let first = *all.first()?;
    let alike = |one: &FitFigure| rounds_alike(one.value.abs(), first.value.abs());
    all.iter().all(alike).then_some(first)
}

impl Tables {
    /// The meaning of an operand's name or whole label in `tags.txt`, and its words that are not in
    /// that name. `None` if `tags.txt` lacks the name.
    fn meaning(&self, of: &Operand) -> Option<(&'static Meaning, Vec<String>)> {
        let mut readings = match of.rows.first() {
            Some(row) => self.row(*row)?.label_readings(),
            None => of.meant_readings(),
        };
        for words in &mut readings {
            words.retain(|word| !self.weights.is_of_company(word));
        }
        Meaning::of(&readings)
    }

    /// The amount whose tag has the operand's meaning, with a doubt if its year or its sign is
    /// unclear. If `near` is given, `None` for an amount in any other table.
    pub(crate) fn by_tag(
        &self,
        of: &Operand,
        asked: Option<Period>,
        near: Option<Place>,
    ) -> Option<Amount> {
        let tagged = self.tagged(of, asked)?;
        if near.is_some_and(|near| near.table != tagged.place.table) {
            return None;
        }
        let doubt = self.unclear_year(&tagged, asked);
        // The sign of a cost that is called a credit ("tax benefit") is uncertain.
        let row = self.row(tagged.place)?;
        let sides = ["expense", "provision", "charge"];
        let label = row.printed.to_lowercase();
        let of_both = sides.iter().any(|word| label.contains(word));
        let credit = names_credit(&label) && !of_both && !of.says("benefit");
        let doubt = doubt.or_else(|| credit.then(|| self.unclear(tagged.place)));
        Some(self.amount(tagged)?.or_doubt(doubt))
    }

    /// The figure of a period whose tag has the operand's meaning, if all such figures have one
    /// value. Figures without a period are left out.
    pub(crate) fn tagged(&self, of: &Operand, asked: Option<Period>) -> Option<FitFigure> {
        let (meaning, more) = self.meaning(of)?;
        let meant = |tag: &Tag| meaning.means.contains(&tag.element.as_str()) && tag.is_of(&more);
        let tags = self.tags.iter().filter(|(_, tag)| meant(tag));
        let figures = tags.filter_map(|(at, _)| self.table(*at)?.figure(at.row, at.column));
        let figures = figures.filter(|one| {
            one.percent == of.wants_percent()
                && !self.row(one.place).is_some_and(ReportRow::is_part)
                && of
                    .statement
                    .is_none_or(|named| self.is_in(named, one.place))
        });
        let mut all = self.of_period(figures, asked);
        // A note or the statement of equity repeats figures of the other statements.
        keep(&mut all, |one| {
            self.statement_of(one).is_some() && !self.is_of_equity(one)
        });
        agreed(&all)
    }

    /// The reason for doubt if the tag of a figure contradicts the operand's name.
    pub(crate) fn contradiction(&self, of: &Operand, one: &FitFigure) -> Option<Doubt> {
        let tag = self.tags.get(&one.place)?;
        // The words of a whole label are not interpreted.
        let meaning = self.meaning(of).filter(|_| of.rows.is_empty());
        let (meaning, _) = meaning.filter(|(_, more)| more.is_empty())?;
        let other = meaning.contradicts.contains(&tag.element.as_str());
        other.then(|| {
            let name = self.full_name(one.place);
            Doubt::missing(format!("the tag of {name} is {}", tag.element))
        })
    }
}
