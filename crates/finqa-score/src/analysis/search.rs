//! Searches for a change of gold's program that gives the answer: a part of the program, swapped
//! numbers, another divisor, another operation, another cell. The first change that fits is the
//! cause, so the most frequent mistakes are tried first.

use finqa_core::number;
use finqa_core::program::Op;

use super::cause::{Cause, CauseFound};
use super::expression::{Expression, Formula, Leaf, operations, value, with_operation};
use super::places::{PageFigure, PageFigures};
use super::target::TargetNumber;

/// The operations that [`ProgramSearch::operation`] tries, with their signs in messages.
const OPERATIONS: [(Op, &str); 4] = [
    (Op::Add, "+"),
    (Op::Subtract, "-"),
    (Op::Multiply, "×"),
    (Op::Divide, "/"),
];

/// Returns the first change that fits; `None` if none fits or the answer has too few digits. The
/// more changes a step tries, the more likely one of them gives a short number by chance. A step
/// with many changes therefore requires a more precise answer. The shares are set by hand.
pub(super) fn search(
    formula: &Formula,
    places: Option<&PageFigures>,
    target: &TargetNumber,
) -> Option<CauseFound> {
    let search = ProgramSearch {
        formula,
        places,
        target,
        values: formula.values(),
    };
    let few = || search.answers_part().or_else(|| search.swapped_numbers());
    let many = || {
        search
            .other_divisor()
            .or_else(|| search.operation())
            .or_else(|| search.cells())
    };
    let found = target.is_sharp(0.05).then(few).flatten();
    found.or_else(|| target.is_sharp(0.01).then(many).flatten())
}

/// Gold's program, whose numbers and operations the search changes, and the answer to reach.
struct ProgramSearch<'s> {
    formula: &'s Formula,
    places: Option<&'s PageFigures>,
    target: &'s TargetNumber,
    values: Vec<f64>,
}

/// A number of the program: the leaves that use it, and its first place on the page.
struct EvidenceSlot<'s> {
    leaves: Vec<&'s Leaf>,
    value: f64,
    text: &'s str,
    place: Option<&'s PageFigure>,
}

impl<'s> ProgramSearch<'s> {
    fn root(&self) -> &'s Expression {
        &self.formula.root
    }

    fn gives_answer(&self, values: &[f64]) -> bool {
        value(self.root(), values).is_some_and(|x| self.target.matches_scaled(x))
    }

    /// The numbers of the program that are not constants, each once.
    fn slots(&self) -> Vec<EvidenceSlot<'s>> {
        let slots = self.formula.slots().into_iter().filter_map(|leaves| {
            let leaf = *leaves.first()?;
            Some(EvidenceSlot {
                place: self
                    .places
                    .and_then(|places| places.find(leaf.value).first().copied()),
                leaves,
                value: leaf.value,
                text: &leaf.literal,
            })
        });
        slots.collect()
    }

    /// The values of all leaves, with the values of these slots replaced.
    fn with(&self, changes: &[(&EvidenceSlot<'_>, f64)]) -> Vec<f64> {
        let mut values = self.values.clone();
        for (slot, value) in changes {
            for leaf in &slot.leaves {
                if let Some(at) = values.get_mut(leaf.source) {
                    *at = *value;
                }
            }
        }
        values
    }

    /// The cause if the answer is the result of an earlier step of gold's program, or one of its
    /// numbers that is not a constant. Otherwise `None`.
    fn answers_part(&self) -> Option<CauseFound> {
        let root = self.root();
        let above = self.formula.quotient().map(|(above, _)| above);
        // The first part is the whole program.
        for part in root.parts().into_iter().skip(1) {
            let leaf = match part {
                Expression::Leaf(leaf) => Some(leaf),
                Expression::Step(..) => None,
            };
            let value = value(part, &self.values);
            let constant = leaf.is_some_and(|leaf| leaf.is_constant());
            if constant || !value.is_some_and(|x| self.target.matches(x)) {
                continue;
            }
            // Compared by address, because an equal expression elsewhere is not the numerator.
            return Some(if above.is_some_and(|above| std::ptr::eq(above, part)) {
                CauseFound::new(
                    Cause::AbsoluteForRelative,
                    "gives the amount, not divided by the base",
                )
            } else if let Some(leaf) = leaf {
                let detail = format!("answers with the operand {}", leaf.literal);
                CauseFound::new(Cause::Steps, detail)
            } else {
                CauseFound::new(Cause::Steps, "stops before the last step")
            });
        }
        None
    }

    /// The cause if the program gives the answer after two of its numbers are exchanged; otherwise
    /// `None`.
    fn swapped_numbers(&self) -> Option<CauseFound> {
        let slots = self.slots();
        for (at, one) in slots.iter().enumerate() {
            for other in slots.iter().skip(at + 1) {
                if self.gives_answer(&self.with(&[(one, other.value), (other, one.value)])) {
                    let detail = format!("{} and {} swapped", one.text, other.text);
                    return Some(CauseFound::new(Cause::SwappedOperands, detail));
                }
            }
        }
        None
    }

    /// The cause if the answer is the program's dividend divided by another of its numbers;
    /// otherwise `None`.
    fn other_divisor(&self) -> Option<CauseFound> {
        let (above, below) = self.formula.quotient()?;
        let (above, old) = (value(above, &self.values)?, value(below, &self.values)?);
        let mut leaves = self.formula.leaves().into_iter();
        let base = leaves.find(|leaf| {
            let is_other = !leaf.is_constant() && !number::same(leaf.value, old);
            is_other && self.target.matches_scaled(above / leaf.value)
        })?;
        let detail = format!("divided by {} instead of {old}", base.literal);
        Some(CauseFound::new(Cause::WrongBase, detail))
    }

    /// The cause if the program gives the answer with one other operation, or if one of the usual
    /// operations on two of its numbers does. Otherwise `None`.
    fn operation(&self) -> Option<CauseFound> {
        for (nth, is) in operations(self.root()).into_iter().enumerate() {
            for (op, sign) in OPERATIONS {
                let other = with_operation(self.root(), nth, op);
                if op != is
                    && value(&other, &self.values).is_some_and(|x| self.target.matches_scaled(x))
                {
                    let detail = format!("{sign} instead of {}", is.name());
                    return Some(CauseFound::new(Cause::Operator, detail));
                }
            }
        }
        let slots = self.slots();
        for (at, one) in slots.iter().enumerate() {
            for other in slots.iter().skip(at + 1) {
                if let Some(form) = self.form(one.value, other.value) {
                    let form = form.replace("{a}", one.text).replace("{b}", other.text);
                    return Some(CauseFound::new(Cause::Operator, form));
                }
            }
        }
        None
    }

    /// The usual operation on two numbers that gives the answer up to its sign; `None` if none
    /// does.
    fn form(&self, a: f64, b: f64) -> Option<&'static str> {
        let forms = [
            (a + b, "{a} + {b}"),
            (a - b, "{a} - {b}"),
            (b - a, "{b} - {a}"),
            (a / b, "{a} / {b}"),
            (b / a, "{b} / {a}"),
            ((a - b) / b, "({a} - {b}) / {b}"),
            ((b - a) / a, "({b} - {a}) / {a}"),
            ((a + b) / 2.0, "({a} + {b}) / 2"),
        ];
        let hit = |x: f64| {
            x.is_finite() && (self.target.matches_scaled(x) || self.target.matches_scaled(-x))
        };
        forms
            .into_iter()
            .find_map(|(x, form)| hit(x).then_some(form))
    }

    /// The cause if the program gives the answer with other numbers of the page. Tried in this
    /// order: a number of the same row, all numbers moved ([`Self::other_row_or_column`]), a number
    /// of the same column, a number anywhere. Otherwise `None`.
    fn cells(&self) -> Option<CauseFound> {
        let places = self.places?;
        let slots = self.slots();
        let in_row = |slot: &EvidenceSlot<'_>| {
            self.other_number(slot, places.row(slot.cell()?), Cause::WrongColumn)
        };
        let in_column = |slot: &EvidenceSlot<'_>| {
            self.other_number(slot, places.column(slot.cell()?), Cause::WrongRow)
        };
        let anywhere = |slot: &EvidenceSlot<'_>| {
            // A page has many numbers, so a short answer would match one of them by chance.
            let is_sharp = self.target.is_sharp(0.002);
            is_sharp.then(|| self.other_number(slot, places.all().iter(), Cause::WrongRow))?
        };
        let found = slots.iter().find_map(in_row);
        found
            .or_else(|| self.other_row_or_column(places, &slots))
            .or_else(|| slots.iter().find_map(in_column))
            .or_else(|| slots.iter().find_map(anywhere))
    }

    /// The cause if the program gives the answer with a number in `from` in place of that of
    /// `slot`: `cause`, or [`Cause::DashAsNumber`] if this number is a dash. Otherwise `None`.
    fn other_number<'p>(
        &self,
        slot: &EvidenceSlot<'_>,
        mut from: impl Iterator<Item = &'p PageFigure>,
        cause: Cause,
    ) -> Option<CauseFound> {
        from.find_map(|place| {
            let hit = slot
                .readings(place)
                .into_iter()
                .any(|value| self.gives_answer(&self.with(&[(slot, value)])));
            hit.then(|| slot.misread_as(place, cause))
        })
    }

    /// The cause if all numbers of the program are in one row, and the program gives the answer
    /// with those of another row; likewise for columns. Otherwise `None`.
    fn other_row_or_column(
        &self,
        places: &PageFigures,
        slots: &[EvidenceSlot<'_>],
    ) -> Option<CauseFound> {
        let located: Vec<(&EvidenceSlot<'_>, (usize, usize))> = slots
            .iter()
            .filter_map(|slot| Some((slot, slot.cell()?)))
            .collect();
        let (first, (row, column)) = *located.first()?;
        // A single number is tried by `other_number`.
        if located.len() != slots.len() || located.len() < 2 {
            return None;
        }
        let moved = |to: &dyn Fn((usize, usize)) -> Option<(usize, usize)>| {
            let changes: Option<Vec<_>> = located
                .iter()
                .map(|(slot, cell)| {
                    let place = places.at(to(*cell)?)?;
                    Some((*slot, slot.readings(place).first().copied()?))
                })
                .collect();
            changes.is_some_and(|changes| self.gives_answer(&self.with(&changes)))
        };
        let one_row = located.iter().all(|(_, cell)| cell.0 == row);
        let one_column = located.iter().all(|(_, cell)| cell.1 == column);
        for place in places.column((row, column)) {
            let (to, _) = place.cell?;
            if one_row && moved(&|(_, column)| Some((to, column))) {
                return Some(first.misread_as(place, Cause::WrongRow));
            }
        }
        for place in places.row((row, column)) {
            let (_, to) = place.cell?;
            if one_column && moved(&|(row, _)| Some((row, to))) {
                return Some(first.misread_as(place, Cause::WrongColumn));
            }
        }
        None
    }
}

impl EvidenceSlot<'_> {
    fn cell(&self) -> Option<(usize, usize)> {
        self.place?.cell
    }

    fn name(&self) -> String {
        match self.place {
            Some(place) => format!("{} ({})", self.text, place.id),
            None => self.text.to_owned(),
        }
    }

    /// The values that the program would have used for the number at another place. They get the
    /// sign and the factor of 100 that the program applies to this slot's number. For a negative
    /// number, other signs are tried too.
    fn readings(&self, place: &PageFigure) -> Vec<f64> {
        let own = self.place.map_or(self.value, |own| own.value);
        // From a slot of 0, no factor can be computed.
        let factor = if own.abs() <= 0.0 {
            1.0
        } else {
            self.value / own
        };
        let mut readings = vec![place.value * factor];
        if place.value < 0.0 {
            readings.push(place.value.abs() * factor.abs());
            readings.push(place.value * factor.abs());
        }
        readings
    }

    /// The finding that the program used the number at `place` for this slot. A dash has its own
    /// cause.
    fn misread_as(&self, place: &PageFigure, cause: Cause) -> CauseFound {
        let cause = if place.dash {
            Cause::DashAsNumber
        } else {
            cause
        };
        let detail = format!("{} ({}) instead of {}", place.value, place.id, self.name());
        CauseFound::new(cause, detail)
    }
}
