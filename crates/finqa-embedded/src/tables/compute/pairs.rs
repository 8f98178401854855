//! Finds the two figures of a share or a ratio.

use finqa_core::page::period::Period;

use crate::tables::find::fit::FitFigure;
use crate::tables::find::statements::rounds_alike;
use crate::tables::find::{Amount, AmountKind, common_period};
use crate::tables::page::table::{Label, Place};
use crate::tables::page::{Doubt, TableResult, Tables, missing_if, open_if};
use crate::tables::question::names::NamedConcept;
use crate::tables::question::operand::Operand;
use crate::tables::words::is_light;

impl Tables {
    /// The part and the whole of a share, or the two sides of a ratio: the first of these pairs
    /// that is found.
    ///
    /// 1. In a report, two sure figures of one part of the company (`of_one_part`).
    /// 2. Two figures found together (`pair_together`). In a report, both must be sure, and neither
    ///    operand a measure with a formula.
    /// 3. In a report (`surer_pair`): a part of a group that adds up to the sure whole (`part_of`);
    ///    two figures found one by one; or the pair of 2 with its doubt.
    /// 4. In a single table, for a total without a row of its own, the sum of all rows.
    ///
    /// In a single table, the part must not be below zero and the whole must be above zero.
    pub(crate) fn share_operands(
        &self,
        operands: &[Operand],
        relative: bool,
    ) -> TableResult<[Amount; 2]> {
        let period = common_period(operands);
        if let Some(pair) = self.of_one_part(operands, period) {
            self.check_comparable(&pair)?;
            return Ok(pair);
        }
        let mut pair = match (self.pair_together(operands), operands) {
            // A whole without a row of its own is the sum of all rows.
            (Err(_), [part, whole]) if whole.total && self.is_single_table() => {
                let all = self.in_labels(whole, None)?;
                let near = all.first().and_then(|one| one.at);
                let place = near.map(|at| at.place);
                let period = near.and_then(|at| at.period);
                [self.figure_near(part, period, place)?, self.sum(&all)?]
            }
            // In a report, the two figures can be in different statements.
            (found, [part, whole]) if self.is_report() => {
                self.surer_pair(found, [part, whole], period)?
            }
            (found, _) => found?,
        };
        self.check_comparable(&pair)?;
        let [a, b] = &mut pair;
        if self.is_report() {
            // An allowance is printed as a negative number, but its share is positive, so the sign
            // is doubtful.
            let loses = |at| format!(" {} ", self.name_of(at).to_lowercase()).contains(" loss ");
            let odd = |at: &Place| !self.is_signed(*at) && !loses(*at);
            let odd = a.place().filter(|at| a.number() < 0.0 && odd(at));
            let why = odd.map(|at| self.doubt_about(at, "is below zero"));
            a.doubt = a.doubt.take().or(why);
            return Ok(pair);
        }
        // No share is computed from percentages, nor from amounts of two kinds.
        open_if(a.kind != b.kind || a.kind == AmountKind::Share)?;
        let below = a.number() < 0.0 || b.number() <= 0.0;
        missing_if(below, "a part of it is zero or below")?;
        // "Share of sales in the North" names no total, so the total is not the part.
        let bare = |label: &Label| label.total && label.words.len() < 2;
        let total = a.place().is_some_and(|at| self.labels_of(at).any(bare));
        let unnamed = operands.first().is_some_and(|of| !of.total);
        missing_if(relative && total && unnamed, "the part would be a total")?;
        let larger = relative && a.number() > b.number() && operands.iter().any(|of| of.total);
        missing_if(larger, "the part is larger than the whole")?;
        Ok(pair)
    }

    /// Looks for a surer pair than the one found together, by the first of these cases:
    ///
    /// 1. The pair is sure, and no operand is a measure with a formula: keep it.
    /// 2. The part has no name of its own: it adds up to the sure whole with others (`part_of`).
    /// 3. The part is a line of a segment: the whole of that segment, or the pair is in doubt.
    /// 4. The two figures found one by one, if these are surer.
    /// 5. Otherwise keep the pair with its doubt.
    fn surer_pair(
        &self,
        together: TableResult<[Amount; 2]>,
        of: [&Operand; 2],
        period: Option<Period>,
    ) -> TableResult<[Amount; 2]> {
        let formula = of.iter().any(|of| of.formula().is_some());
        let [part, whole] = of;
        let whole_alone = self.figure(whole, period);
        if !formula
            && let Ok(pair) = &together
            && is_sure(pair)
        {
            let doubt = self.may_be_of_segment(&pair[1], &whole_alone);
            return together.map(|[a, b]| [a, b.or_doubt(doubt)]);
        }
        let of_whole =
            |name: &NamedConcept| whole.names.iter().any(|one| one.concept == name.concept);
        let own_name = !part.names.iter().all(of_whole);
        // "What share of sales came from the North?" asks for a part that adds up to the sales.
        if !own_name
            && let Ok(all) = &whole_alone
            && all.doubt.is_none()
            && let Some(part) = self.part_of(all, &part.words)
        {
            return Ok([self.amount(part).ok_or(Doubt::Open)?, all.clone()]);
        }
        let (Ok(a), Ok(b)) = (self.figure(part, period), whole_alone) else {
            return together;
        };
        if own_name && !whole.is_of_company() && self.is_line_of_segment(&a, part) {
            let pair = self.of_segment([part, whole], period);
            // Without its own whole, the line may be compared with that of the company.
            return Ok(pair.unwrap_or_else(|| {
                let doubt = b.place().map(|at| self.unclear(at));
                [a, b.or_doubt(doubt)]
            }));
        }
        let alike = a.kind == b.kind && (formula || self.is_part_by_title(&a, &b, whole));
        let pair = [a, b];
        if alike && (is_sure(&pair) || formula || together.is_err()) {
            return Ok(pair);
        }
        together
    }

    /// The doubt about a whole of a note that differs from the sure one of a statement: the net
    /// sales of a note may be those of one segment.
    fn may_be_of_segment(&self, found: &Amount, all: &TableResult<Amount>) -> Option<Doubt> {
        let stated = |at: FitFigure| self.statement_of(&at).is_some();
        let all = all.as_ref().ok().filter(|all| all.doubt.is_none())?;
        let differs = !rounds_alike(all.number(), found.number());
        let other = all.at.is_some_and(stated) && differs && !found.at.is_some_and(stated);
        found.place().filter(|_| other).map(|at| self.unclear(at))
    }

    /// True if both figures are in statements, or in notes whose title or labels name the whole: only
    /// then is a figure of a note a part of it.
    fn is_part_by_title(&self, part: &Amount, all: &Amount, whole: &Operand) -> bool {
        let readings = whole.readings();
        let stated = |at: FitFigure| {
            let (table, row) = (self.table(at.place), self.row(at.place));
            let column = self.column(at.place);
            let says = |word: &String| {
                table.is_some_and(|table| table.title.contains(word))
                    || row.is_some_and(|row| row.section.contains(word))
                    || column.is_some_and(|column| column.label.words.contains(word))
            };
            let mut names = readings.iter();
            self.statement_of(&at).is_some() || names.any(|one| one.words.iter().all(says))
        };
        part.at.is_none_or(stated) && all.at.is_none_or(stated)
    }

    /// True if a figure of a note is a line of a segment: the row "R&D" in the column or the section
    /// "North", or the row "North" in a table "R&D by segment".
    fn is_line_of_segment(&self, found: &Amount, of: &Operand) -> bool {
        let at = found.at.filter(|at| self.statement_of(at).is_none());
        let Some(row) = at.and_then(|at| self.row(at.place)) else {
            return false;
        };
        let mut words = of.words.iter();
        let in_row = words.all(|word| row.label.words.contains(&word.stem));
        let is_own = |own: &str| of.words.iter().any(|word| word.stem == own);
        let mut label = row.label.words.iter();
        !in_row || !of.words.is_empty() && label.all(|own| is_light(own) || is_own(own))
    }

    /// A line of a segment over the figure of the segment that the whole names: the R&D of the North
    /// over its sales. `None` unless both are sure.
    fn of_segment(
        &self,
        [part, whole]: [&Operand; 2],
        period: Option<Period>,
    ) -> Option<[Amount; 2]> {
        let whole = Operand {
            words: part.words.clone(),
            ..whole.clone()
        };
        let line = Operand {
            whole: None,
            ..part.clone()
        };
        self.of_same_words(&[line, whole], period).filter(is_sure)
    }
}

fn is_sure(pair: &[Amount; 2]) -> bool {
    pair.iter().all(|one| one.doubt.is_none())
}
