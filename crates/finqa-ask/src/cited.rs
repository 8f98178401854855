//! Finds the table and the tag of each figure that an answer cites, and reads the figure's unit.

use finqa_core::number::{self, Scale, currency_in, currency_of_label};
use finqa_core::page::{
    FigureTag, Statement, Table, has_no_scale, is_count, position, without_unit,
};
use finqa_core::question::{CitedEvidence, Question};
use finqa_embedded::names_amount;

/// A row counts shares if its label has one of these words and its label or section has "shares",
/// as in "Weighted average shares".
const SHARE_COUNTS: [&str; 5] = [
    "weighted", "outstanding", "used in", "number of", "dilutive",
];

/// A sentence with one of these words may state the currency of all amounts: "Amounts in CHF."
const AMOUNTS: [&str; 3] = ["amounts", "figures", "values"];

/// A sentence with more words than this is not taken to state the currency of all amounts. Set by
/// hand.
const SHORT: usize = 12;

/// The unit of a figure: its currency and scale, and what it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FigureUnit {
    /// The currency as it is printed before a number: `$`, `CHF`.
    pub(super) currency: Option<String>,
    pub(super) per_share: bool,
    /// True if the figure is a number of shares.
    pub(super) shares: bool,
    pub(super) percent: bool,
    pub(super) scale: Option<Scale>,
}

/// The table that contains a cell, and the row within that table. `place` is the row and the
/// column on the page, counted from 0.
pub fn cited_table(question: &Question, place: (usize, usize)) -> Option<(&Table, usize)> {
    question.document.page().table_of_row(place.0)
}

/// The inline XBRL tag of a cell; `None` without one. `place` is as for [`cited_table`].
pub fn cited_tag(question: &Question, place: (usize, usize)) -> Option<&FigureTag> {
    let starts = question.document.tables.iter();
    let mut tags = starts.flat_map(|start| &start.tags);
    tags.find(|tag| (tag.row, tag.column) == place)
}

impl FigureUnit {
    /// The unit of a cited figure; `None` if the page does not have the figure at the cited place,
    /// as with the answer to an earlier question.
    pub(super) fn of(question: &Question, cited: &CitedEvidence) -> Option<Self> {
        match position(&cited.id) {
            Some(place) => Self::of_cell(question, place),
            None => Self::in_sentence(question.document.evidence(&cited.id)?, &cited.literal),
        }
    }

    /// The unit of a figure in a table. It is read from the tag; without a tag, from the cell and
    /// its labels. `None` if the cell has no number.
    fn of_cell(question: &Question, place: (usize, usize)) -> Option<Self> {
        let (table, row) = cited_table(question, place)?;
        let cell = table.cell(row, place.1)?;
        let number = cell.number.as_ref()?;
        let bare = Self {
            percent: number.percent || table.is_of_percent(place.1),
            scale: table.scale_at(row, place.1),
            ..Self::default()
        };
        // A percentage has no currency and counts no shares.
        if bare.percent {
            return Some(bare);
        }
        // The tag states the unit of its cell, so the labels are not read.
        if let Some(tag) = cited_tag(question, place) {
            let (measure, per) = tag.unit.split_once('/').unwrap_or((&tag.unit, ""));
            return Some(Self {
                currency: currency_in(measure),
                per_share: per == "shares",
                shares: measure == "shares",
                ..bare
            });
        }
        let of_row = table.rows().get(row)?;
        let label = of_row.label.to_lowercase();
        let section = of_row.section.as_deref().unwrap_or_default().to_lowercase();
        let column = table.columns().get(place.1)?.label.as_str();
        let is_rate = has_no_scale(&label) || has_no_scale(column) || of_row.is_of_rates();
        let per_share = is_rate
            && [label.as_str(), &section, column].iter().any(|name| {
                // "In millions, except per share amounts" does not make the figure one per share.
                let name = name.split("except").next().unwrap_or_default();
                let mut words = name.split(|c: char| !c.is_alphanumeric());
                name.contains("per share") || words.any(|word| matches!(word, "eps" | "dps"))
            });
        let counted = |name: &str| name.contains("shares");
        let shares = SHARE_COUNTS.iter().any(|word| label.contains(word))
            && (counted(&label) || counted(&section));
        let is_money = (!is_rate || per_share)
            && !shares
            && !is_count(&label)
            && !is_count(column)
            && !label.contains("number of")
            && !counts_by_scale(&of_row.label);
        // A currency that the cell itself prints counts even if the labels name something else.
        let own = currency_in(&cell.raw);
        let currency =
            own.or_else(|| is_money.then(|| stated(question, table, (row, place.1), place.0))?);
        Some(Self {
            currency,
            per_share,
            shares,
            ..bare
        })
    }

    /// The unit of a number as it is written in a sentence; `None` if the sentence lacks the
    /// number. Signs are ignored. A number of shares is recognized only in tables.
    fn in_sentence(sentence: &str, literal: &str) -> Option<Self> {
        let meant = number::answer(literal).ok()?.value.abs();
        let mut found = number::readings(sentence);
        // Equal: `==` on floats would need an exception from clippy.
        let found = found.find(|one| (one.value.abs() - meant).abs() <= 0.0)?;
        let written = sentence.get(found.span.clone()).unwrap_or_default();
        let behind = sentence.get(found.span.end..).unwrap_or_default();
        Some(Self {
            currency: currency_in(written),
            per_share: behind.trim_start().starts_with("per share"),
            percent: found.percent,
            scale: found.scale,
            shares: false,
        })
    }
}

/// True if a row's label states a scale but no currency, and does not name an amount: "Passengers
/// (millions)". Its figures are not money, even if the caption states a currency.
fn counts_by_scale(label: &str) -> bool {
    let name = without_unit(label).filter(|_| currency_of_label(label).is_none());
    name.is_some_and(|name| !names_amount(&name))
}

/// The currency that a table states for a cell that prints none. The places are tried from the
/// closest to the farthest: a column "Unit" in the same row, the labels of the row and the column,
/// the corner, the caption, the lines above the table, other figures of the row and of the column,
/// and, on a page with one plain table, the text.
///
/// A column of amounts may also contain numbers of things. The currency of another figure in the
/// column is therefore used only in a primary statement, or if the row's label names an amount.
fn stated(
    question: &Question,
    table: &Table,
    (row, column): (usize, usize),
    row_on_page: usize,
) -> Option<String> {
    let label = |at: usize| table.columns().get(at).map(|one| one.label.as_str());
    let is_unit = |at: &usize| {
        let name = label(*at).unwrap_or_default().trim().to_lowercase();
        matches!(name.as_str(), "unit" | "units" | "currency")
    };
    let unit_column = (0..table.columns().len()).find(is_unit);
    let of_unit = || currency_in(&table.cell(row, unit_column?)?.raw);
    let of_row = || currency_of_label(&table.rows().get(row)?.label);
    let of_column = || currency_of_label(label(column)?);
    let corner = || currency_of_label(label(0)?);
    let caption = || currency_of_label(&table.caption()?.text);
    let lines = || {
        let starts = question.document.tables.iter().rev();
        // In reverse order, the first table that begins at or above the row contains it.
        let mut starts = starts.filter(|start| start.row <= row_on_page);
        starts.next().into_iter().flat_map(|start| &start.above)
    };
    // From the line directly above the table upwards.
    let above = || lines().rev().find_map(|line| currency_of_label(line));
    let known = || {
        let mut titles = lines().map(String::as_str).chain(label(0));
        let row = table.rows().get(row);
        titles.any(|title| Statement::named(title).is_some())
            || row.is_some_and(|row| names_amount(&row.label))
    };
    let beside = || {
        let cells = table.cells();
        let of_column = cells.iter().skip(1).filter_map(|cells| cells.get(column));
        let known = known();
        let of_column = of_column.filter(|_| known);
        let of_row = cells.get(row).into_iter().flatten().skip(1);
        let mut figures = of_row.chain(of_column).filter(|cell| cell.number.is_some());
        figures.find_map(|cell| currency_in(&cell.raw))
    };
    let of_text = || {
        let plain = question.document.tables.is_empty();
        let mut sentences = question.document.sentences().filter(|_| plain);
        sentences.find_map(|sentence| {
            let lower = sentence.to_lowercase();
            let short = lower.split_whitespace().count() <= SHORT;
            let of_all = short && AMOUNTS.iter().any(|word| lower.contains(word));
            currency_of_label(sentence).filter(|_| of_all)
        })
    };
    of_unit()
        .or_else(of_row)
        .or_else(of_column)
        .or_else(corner)
        .or_else(caption)
        .or_else(above)
        .or_else(beside)
        .or_else(of_text)
}
