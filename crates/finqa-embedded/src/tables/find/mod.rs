//! Finds the figure that an operand names, or the reason why no figure is sure. This file chooses
//! between a printed figure, a quotient, a measure and a sum of parts.
//!
//! Names in this folder: `of` is an operand, `asked` the period asked for (in `compute`, an
//! `Asked`), `one` a figure or an amount, `at` a figure or its place, `near` a cell in whose row or
//! column the figure should be, `single` the only table of a user's page, `part` the numerator.

pub(super) mod categories;
pub(super) mod fit;
pub(super) mod groups;
pub(super) mod label_fit;
pub(super) mod measure;
pub(super) mod over_time;
pub(super) mod parts;
pub(super) mod periods;
pub(super) mod printed;
pub(super) mod sentences;
pub(super) mod statements;
pub(super) mod sums;
pub(super) mod together;
pub(super) mod whole_label;
pub(super) mod witnesses;

use finqa_core::number::Scale;
use finqa_core::page::period::Period;
use finqa_core::page::{CellNumber, Statement};
use finqa_core::program::{Expression, Leaf};

use crate::expr::{literal_value, turn_sign};
use crate::operations;
use crate::reading::outflow::names_cost;
use crate::tables::page::table::{Label, Place};
use crate::tables::page::{Doubt, TableResult, Tables};
use crate::tables::question::operand::Operand;
use crate::tables::words::{SaidWord, is_loose};
use fit::FitFigure;

/// An expression over the cells of tables.
pub(crate) type FigureExpr = Expression<Option<Place>>;

/// The cells that an expression is computed from.
pub(crate) fn places(of: &FigureExpr) -> impl Iterator<Item = Place> {
    of.leaves().into_iter().filter_map(|leaf| leaf.source)
}

impl Place {
    /// True if both cells are in one row or in one column of a table.
    fn is_in_line(self, other: Self) -> bool {
        self.table == other.table && (self.row == other.row || self.column == other.column)
    }
}

/// The number of a cell in an expression; `None` unless it is finite.
pub(crate) fn leaf(literal: &str, source: Place) -> Option<Leaf<Option<Place>>> {
    Some(Leaf {
        value: literal_value(literal)?,
        literal: literal.into(),
        source: Some(source),
    })
}

/// A figure, or the result of a calculation with figures, that can answer a question.
#[derive(Clone, Debug)]
pub(crate) struct Amount {
    pub(crate) expr: FigureExpr,
    pub(crate) kind: AmountKind,
    /// The cell; `None` for computed amounts.
    pub(crate) at: Option<FitFigure>,
    /// True if `expr` is a cost without the minus sign that the page prints.
    pub(crate) turned: bool,
    pub(crate) scale: Option<Scale>,
    /// What distinguishes it from the other figures of a series: a label or a period.
    pub(crate) name: String,
    /// The reason why it may not be the figure that is meant; `None` if it is sure.
    pub(crate) doubt: Option<Doubt>,
}

impl Amount {
    /// An amount that is computed from others.
    fn computed(expr: FigureExpr, kind: AmountKind, scale: Option<Scale>) -> Self {
        Self {
            expr,
            kind,
            at: None,
            turned: false,
            scale,
            name: String::new(),
            doubt: None,
        }
    }

    /// The printed number, or the result of the calculation; 0 if it cannot be computed. Only for
    /// comparisons: an answer takes its value from `expr`, and there is none without a value.
    pub(crate) fn number(&self) -> f64 {
        self.expr.number().unwrap_or_default()
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.at.map(|at| at.place)
    }

    /// The amount with this doubt, unless it has another one.
    pub(crate) fn or_doubt(mut self, doubt: Option<Doubt>) -> Self {
        self.doubt = self.doubt.or(doubt);
        self
    }
}

/// The kind of number that an amount is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AmountKind {
    /// Any number that is neither a percentage nor a quotient.
    Number,
    /// A percentage as the page prints it.
    Percent,
    /// A quotient that is shown as a percentage.
    Share,
    /// A quotient that is shown as a plain number.
    Ratio,
}

/// Score gap below which two figures count as tied. A larger one would make more answers unsure.
const CLOSE: f64 = 0.03;

/// Largest relative difference between two printed figures that can be one amount, rounded to
/// different scales.
const ROUNDED: f64 = 0.006;

pub(crate) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDED * a.abs().max(b.abs())
}

/// Keeps the items for which `is` is true, unless there are none.
pub(crate) fn keep<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool) {
    if all.iter().any(&is) {
        all.retain(is);
    }
}

/// Words as the question spells them. A name of several words occurs once for each of its stems.
pub(crate) fn spelled(words: &[SaidWord]) -> String {
    let mut said: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    said.dedup();
    said.join(" ")
}

/// The one period for which operands are looked up: the last with a day, otherwise the last.
pub(crate) fn common_period<'o>(of: impl IntoIterator<Item = &'o Operand>) -> Option<Period> {
    let spans = of.into_iter().flat_map(|of| &of.spans).copied();
    spans.max_by_key(|one| one.end.day.is_some())
}

impl Tables {
    /// The only dash that fits an operand in full, as an amount of zero; `None` otherwise.
    pub(crate) fn dash(&self, of: &Operand) -> Option<Amount> {
        let dashes = self.tables.iter().flat_map(|table| {
            let rows = table.body();
            rows.flat_map(move |(r, row)| row.dashes.iter().map(move |c| table.unknown(r, *c)))
        });
        let mut found = self.fitting(dashes, &of.readings(), common_period([of]));
        found.retain(|one| one.full && one.unqualified);
        let [only] = found[..] else { return None };
        let zero = FigureExpr::Leaf(leaf("0", only.place)?);
        let at = Some(only);
        Some(Amount {
            at,
            ..Amount::computed(zero, AmountKind::Number, None)
        })
    }

    /// A doubt about a cell, in which `why` follows the cell's name.
    pub(crate) fn doubt_about(&self, place: Place, why: &str) -> Doubt {
        Doubt::missing(format!("{} {why}", self.full_name(place)))
    }

    /// The doubt that another cell may be meant.
    pub(crate) fn unclear(&self, place: Place) -> Doubt {
        self.doubt_about(place, "may not be what is meant")
    }

    /// Checks that the labels of a single table have all words of the operand. A word of the corner
    /// counts for all cells. A report is not checked.
    pub(crate) fn check_words(&self, of: &Operand) -> TableResult<()> {
        let Some(table) = self.tables.first().filter(|table| table.single) else {
            return Ok(());
        };
        let says = |word: &String| self.says(word) || is_loose(word) || table.is_in_corner(word);
        let word = of.words.iter().find(|word| !says(&word.stem));
        let unnamed = of.names.iter().find(|one| {
            let mut names = one.concept.names.iter();
            !names.any(|name| name.stems.iter().all(says))
        });
        let (unknown, said) = match (word, unnamed) {
            (Some(word), _) => (std::slice::from_ref(&word.stem), word.text.as_str()),
            (None, Some(one)) => (one.name.stems.as_slice(), one.name.written),
            (None, None) => return Ok(()),
        };
        let why = |of: &str| format!("the {of} does not mention {said:?}");
        Err(if unknown.iter().all(|word| self.text.contains(word)) {
            Doubt::InText(why("table"))
        } else {
            let as_text = self.only_as_text(unknown, said);
            as_text.unwrap_or_else(|| Doubt::missing(why("page")))
        })
    }

    /// The figure of an operand in the operand's own period, or else in `asked`. A printed figure
    /// whose labels say no more than the operand precedes a quotient, a measure and a sum of parts,
    /// in this order.
    pub(crate) fn figure(&self, of: &Operand, asked: Option<Period>) -> TableResult<Amount> {
        self.figure_near(of, asked, None)
    }

    /// The figure that [`Self::figure`] finds; if several printed figures fit, the one in the row
    /// or the column of `near`. Operands that leave out a part (`except`), or are the current and the
    /// non-current part together (`both_terms`) come first and do not use `near`.
    pub(crate) fn figure_near(
        &self,
        of: &Operand,
        asked: Option<Period>,
        near: Option<Place>,
    ) -> TableResult<Amount> {
        let asked = common_period([of]).or(asked);
        let asked = asked.map(|asked| of.on_its_day(asked));
        if !of.except.is_empty() {
            return self.without(of, asked);
        }
        if of.both_terms
            && let Some(sum) = self.in_parts(of, asked)
        {
            return Ok(sum);
        }
        let printed = self.printed_in(of, asked, near);
        let quotient = of.quotient();
        let best = printed.as_ref().ok().and_then(|one| one.at);
        let other_name = quotient.is_some() && best.is_some_and(|one| !one.said);
        let is_meant = |one: FitFigure| one.unqualified && one.percent == of.wants_percent();
        let lent = best.filter(|one| self.is_lent(of, one));
        if let Some(sum) = best.and_then(|one| self.with_term(of, asked, one.place)) {
            return Ok(sum);
        }
        if !other_name && lent.is_none() && best.is_some_and(is_meant) {
            return self.unless_computed(of, asked, printed);
        }
        if let Some((part, whole)) = quotient
            && let Some(share) = self.quotient(&part, &whole, asked)
        {
            return Ok(share);
        }
        if of.formula().is_some() {
            let unclear = lent.map(|one| self.unclear(one.place));
            let printed = printed.map(|one| one.or_doubt(unclear));
            return self.measure(of, asked).map_or(printed, Ok);
        }
        let unsure = printed.as_ref().map_or(true, |one| one.doubt.is_some());
        if self.is_report()
            && unsure
            && near.is_none()
            && let Some(sum) = self.in_parts(of, asked)
        {
            return Ok(sum);
        }
        // A margin that cannot be computed must not be answered by a profit.
        let printed = printed?;
        let other = printed.place().filter(|_| other_name);
        let doubt = other.map(|place| self.unclear(place));
        Ok(printed.or_doubt(doubt))
    }

    /// The printed figure of an operand in a period. "Net income at the end of 2031" means that of
    /// the year.
    fn printed_in(
        &self,
        of: &Operand,
        asked: Option<Period>,
        near: Option<Place>,
    ) -> TableResult<Amount> {
        let printed = self.printed(of, asked, near);
        let sure = printed.as_ref().is_ok_and(|one| one.doubt.is_none());
        let Some(day) = asked.filter(|asked| asked.instant && !sure) else {
            return printed;
        };
        let year = Period {
            instant: false,
            ..day
        };
        let is_flow = |at: FitFigure| {
            self.statement_of(&at) != Some(Statement::Balances)
                && self.may_be_change(of, &at, Some(day)).is_none()
        };
        match self.printed(of, Some(year), near) {
            Ok(of_year) if of_year.doubt.is_none() && of_year.at.is_some_and(is_flow) => {
                Ok(of_year)
            }
            _ => printed,
        }
    }

    /// A part divided by a whole, as a percentage: an operating margin. `None` if it cannot be
    /// computed.
    fn quotient(&self, part: &Operand, whole: &Operand, asked: Option<Period>) -> Option<Amount> {
        // `pair_together` takes the period from the operands, and `asked` may be that of another
        // one.
        let spans = asked.into_iter().collect();
        let pair = [part.of_spans(spans), whole.clone()];
        let [part, whole] = self.of_same_words(&pair, asked)?;
        let doubt = part.doubt.clone().or_else(|| whole.doubt.clone());
        let doubt = doubt.or_else(|| self.may_be_credit(&part));
        let plain = [part.kind, whole.kind] == [AmountKind::Number; 2];
        // Two scales would give a quotient that is wrong by a power of ten.
        let comparable = part.place() != whole.place() && part.scale == whole.scale;
        (plain && comparable && whole.number() > 0.0).then(|| {
            let share = operations::ratio(part.expr, whole.expr);
            Amount::computed(share, AmountKind::Share, None).or_doubt(doubt)
        })
    }

    /// A figure as an amount. If all figures of a cost's row are printed below zero, the sign only
    /// repeats the name and is dropped. A loss in a report keeps its sign. `None` if the cell has
    /// no number.
    pub(crate) fn amount(&self, at: FitFigure) -> Option<Amount> {
        let place = at.place;
        let cell = self.cell(place)?;
        let loses = |label: &Label| label.has("loss");
        let cost =
            |label: &Label| names_cost(&label.name) && (self.is_single_table() || !loses(label));
        let kind = if cell.percent {
            AmountKind::Percent
        } else {
            AmountKind::Number
        };
        let mut leaf = leaf(cell.bare(), place)?;
        let turned = self.is_below_zero(place, cost);
        if turned {
            turn_sign(&mut leaf);
        }
        Some(Amount {
            at: Some(at),
            turned,
            ..Amount::computed(FigureExpr::Leaf(leaf), kind, cell.scale)
        })
    }

    /// True if `kind` is true for the label of the cell's row or column, and all figures there are
    /// below zero, apart from zeros.
    pub(crate) fn is_below_zero(&self, place: Place, kind: impl Fn(&Label) -> bool) -> bool {
        let Some(table) = self.table(place) else {
            return false;
        };
        let all = |line: &mut dyn Iterator<Item = &CellNumber>| {
            let mut numbers = line
                .map(|cell| cell.value)
                .filter(|x| x.abs() > 0.0)
                .peekable();
            numbers.peek().is_some() && numbers.all(|x| x < 0.0)
        };
        let (row, rows) = (self.row(place), table.rows.iter().skip(1));
        row.is_some_and(|row| kind(&row.label) && all(&mut row.cells.iter().flatten()))
            || self.column(place).is_some_and(|column| kind(&column.label))
                && all(&mut rows.filter_map(|row| row.cells.get(place.column)?.as_ref()))
    }
}
