//! Finds what a question asks for and its figures do not provide: a word, both parts of a balance,
//! a second figure, a period, money.

use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use crate::tables::find::fit::FitFigure;
use crate::tables::find::{Amount, places};
use crate::tables::page::{Doubt, Tables};
use crate::tables::question::names::NamedConcept;
use crate::tables::question::operand::Operand;
use crate::tables::question::request::{Asked, Operation};
use crate::tables::words::is_light;

impl Tables {
    /// The doubt if the question asks for something that neither its operation nor its figures
    /// provide.
    pub(crate) fn unmet(&self, amounts: &[Amount], asked: &Asked) -> Option<Doubt> {
        let figures: Vec<&FitFigure> = amounts.iter().filter_map(|one| one.at.as_ref()).collect();
        let why = |why: &str| Some(Doubt::missing(why));
        if let Some(unread) = self.unread(asked, &figures) {
            return Some(unread);
        }
        if let Some(lacking) = self.lacks_part(asked, &figures) {
            return Some(lacking);
        }
        let mut operands = asked.operands.iter();
        if let Some(two) = operands.find_map(|of| self.may_be_two(of, &figures)) {
            return Some(two);
        }
        // Each figure is of the periods of its operand: "sales in 2031 over those in 2030".
        let of_all = |(at, one): (usize, &Amount)| {
            let own = asked.operands.get(at).or_else(|| asked.operands.first());
            let mut periods = own.into_iter().flat_map(|of| &of.spans);
            periods.all(|period| one.at.is_none_or(|one| self.is_of(one.period, period)))
        };
        let once = matches!(asked.operation, Operation::Figure | Operation::Ratio);
        let unmet = once && !amounts.iter().enumerate().all(of_all);
        let unmet = unmet || !self.has_periods(amounts, asked);
        if unmet && self.is_report() {
            return why("the question names several periods");
        }
        amounts.iter().find_map(|one| self.scale_doubt(one))
    }

    /// The doubt that the question has a word that was not read and that no figure is named by.
    pub(crate) fn unread(&self, asked: &Asked, figures: &[&FitFigure]) -> Option<Doubt> {
        // "Quarterly sales" are those of a quarter.
        let of_part = |word: &str| {
            let unit = word.trim_start_matches("per ").trim_start_matches("a ");
            let months = match unit {
                "quarterly" | "quarter" => 3,
                "monthly" | "month" => 1,
                _ => return false,
            };
            let mut periods = figures.iter().map(|one| one.period);
            periods.all(|period| period.is_some_and(|period| period.length() == months))
        };
        let name = |one: &&FitFigure| self.full_name(one.place).to_lowercase();
        let says = |word: &String| figures.iter().any(|one| name(one).contains(word));
        let mut unused = asked.unused.iter().filter(|word| !of_part(word));
        let word = unused.find(|word| !says(word))?;
        let why = format!("the question also says {:?}", word.trim());
        Some(Doubt::missing(&why))
    }

    /// The doubt that a figure is only the current or the non-current part of a balance whose parts
    /// are both asked for.
    pub(crate) fn lacks_part(&self, asked: &Asked, figures: &[&FitFigure]) -> Option<Doubt> {
        // A row of the balance sheet that is not a total may be only one of the two parts. In a
        // note, its label says so.
        let is_part = |one: &&FitFigure| {
            let total = self.labels_of(one.place).any(|label| label.total);
            let is_balance = self.statement_of(one) == Some(Statement::Balances);
            let mut labels = self.labels_of(one.place);
            !total && (is_balance || labels.any(|label| label.says("current")))
        };
        let both = asked.operands.iter().any(|of| of.both_terms);
        let lacks = both && figures.iter().any(is_part);
        lacks.then(|| Doubt::missing("the current and the non-current part are not both known"))
    }

    /// The doubt that an operand with "and" names two figures. It names one if the label of one of
    /// these has "and" too, and each known name that the operand has besides others.
    pub(crate) fn may_be_two(&self, of: &Operand, figures: &[&FitFigure]) -> Option<Doubt> {
        let is_one = |one: &&FitFigure| {
            let name = self.full_name(one.place).to_lowercase();
            let joins = name.contains(" and ") || name.contains(['&', '/']);
            let says = |word: &String| {
                let mut labels = self.labels_of(one.place);
                is_light(word) || labels.any(|label| label.says(word))
            };
            let has = |named: &NamedConcept| {
                let mut names = named.concept.names.iter();
                names.any(|name| name.stems.iter().all(says))
            };
            joins && (of.names.len() < 2 || of.names.iter().all(has))
        };
        let two = of.joins && !figures.iter().any(is_one);
        two.then(|| Doubt::missing("the question names two figures"))
    }

    /// True if each period of the question is the period of a cell that the answer uses. For a
    /// range of periods, the first and the last suffice.
    fn has_periods(&self, amounts: &[Amount], asked: &Asked) -> bool {
        let mut spans = asked.operands.iter().flat_map(|of| &of.spans);
        spans.all(|span| {
            let mut cells = amounts.iter().flat_map(|one| places(&one.expr));
            cells.any(|at| self.is_of(self.period_at(at), span))
        })
    }

    /// True if a cell is of the period asked for. Whether a day that is asked for may be the end of
    /// a period was decided when the cell was found.
    fn is_of(&self, period: Option<Period>, asked: &Period) -> bool {
        [asked.instant, false]
            .into_iter()
            .any(|instant| self.fits(period, Some(Period { instant, ..*asked })))
    }
}
