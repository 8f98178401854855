//! Finds figures of a report that have one name but differ: in two primary statements, in two
//! sheets of a workbook, or as a balance and its change.

use std::collections::HashSet;

use finqa_core::number::within;
use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::fit::{CHANGES, FitFigure};
use crate::reading::outflow::names_cost;
use crate::tables::page::table::{Place, ReportTable};
use crate::tables::page::{Doubt, Tables};
use crate::tables::question::named_statement::NamedStatement;
use crate::tables::question::operand::{Operand, Phrasing};
use crate::tables::words::{Stems, is_light, plain_stems};

/// Largest relative difference between two figures that count as one figure rounded in two ways.
const ROUNDED_ALIKE: f64 = 0.0005;

/// Words of amounts that belong to a period: "revenue".
pub(crate) static FLOWS: Stems = Stems::new(
    "profit income earning loss result ebit ebitda flow revenue sales turnover margin provided used",
);
/// Words of balances. They count before [`FLOWS`]: "deferred revenue" is a balance.
pub(crate) static BALANCES: Stems = Stems::new(
    "deferred prepaid accrued unearned receivable payable allowance reserve retained accumulated \
        liability asset investment",
);

/// True if two figures of a report can be one figure that was rounded in two ways.
pub(crate) fn rounds_alike(a: f64, b: f64) -> bool {
    within(a, b, ROUNDED_ALIKE)
}

impl NamedStatement {
    /// True if the table is this statement. The word "cash" in the title distinguishes the cash
    /// flow statement from the income statement.
    pub(crate) fn is(self, table: &ReportTable) -> bool {
        let of_cash = table.title.contains("cash");
        match (self, table.statement) {
            (Self::Balances, Some(Statement::Balances)) => true,
            (Self::CashFlows, Some(Statement::Flows)) => of_cash,
            (Self::Income, Some(Statement::Flows)) => !of_cash,
            _ => false,
        }
    }
}

impl Tables {
    /// The primary statement that contains the figure; `None` for a note.
    pub(crate) fn statement_of(&self, one: &FitFigure) -> Option<Statement> {
        self.table(one.place)?.statement
    }

    /// The primary statements of a kind.
    pub(crate) fn statements(&self, of: Statement) -> impl Iterator<Item = &ReportTable> {
        let tables = self.tables.iter();
        tables.filter(move |table| table.statement == Some(of))
    }

    /// True if the cell is in this statement.
    pub(crate) fn is_in(&self, named: NamedStatement, place: Place) -> bool {
        self.table(place).is_some_and(|table| named.is(table))
    }

    /// True for a balance in a statement of a period, such as cash at the end of the year.
    pub(crate) fn is_closing(&self, place: Place) -> bool {
        let table = self.table(place);
        table.is_some_and(|table| table.statement == Some(Statement::Flows))
            && self.name_of(place).to_lowercase().contains("end of")
    }

    /// The reason for doubt if the question asks for a balance, but the figure may be a change.
    /// "Inventories" in a statement of cash flows are always changes, but "net income at the end of
    /// 2031" means that of the year.
    pub(crate) fn may_be_change(
        &self,
        of: &Operand,
        one: &FitFigure,
        asked: Option<Period>,
    ) -> Option<Doubt> {
        let is_balance = of.balance || asked.is_some_and(|asked| asked.instant);
        let place = one.place;
        if self.is_single_table()
            || !is_balance
            || self.statement_of(one) != Some(Statement::Flows)
            || self.is_closing(place)
            || self.is_of_equity(one)
        {
            return None;
        }
        let row = self.row(place)?;
        let flows = row.label.is_one_of(&FLOWS) || names_cost(&row.printed);
        let changes = row.section.iter().any(|word| CHANGES.contains(word));
        let lasts = row.label.is_one_of(&BALANCES) || changes || of.balance;
        (lasts || !flows).then(|| self.doubt_about(place, "is of a period, and no balance"))
    }

    /// The reason for doubt if a change is asked for, and the figure is itself a change:
    /// "inventories" among the changes in working capital of a statement of cash flows. `None` for
    /// other figures.
    pub(crate) fn may_be_own_change(&self, one: &FitFigure) -> Option<Doubt> {
        let row = self.row(one.place)?;
        let changes = row.section.iter().any(|word| CHANGES.contains(word));
        let own = changes || row.label.is_one_of(&CHANGES);
        let why = "is a change by itself, as it affects cash";
        (own && self.is_in(NamedStatement::CashFlows, one.place))
            .then(|| self.doubt_about(one.place, why))
    }

    /// True for a figure in a statement of equity. It repeats figures of the other statements.
    pub(crate) fn is_of_equity(&self, one: &FitFigure) -> bool {
        let table = self.table(one.place);
        table.is_some_and(|table| table.statement.is_some() && table.title.contains("equity"))
    }

    /// All figures of all tables, before they are compared with a question.
    pub(crate) fn figures(&self) -> impl Iterator<Item = FitFigure> {
        self.tables.iter().flat_map(ReportTable::figures)
    }

    /// The figures in the row of a cell.
    pub(crate) fn figures_of(&self, place: Place) -> impl Iterator<Item = FitFigure> {
        let table = self.table(place).into_iter();
        table.flat_map(move |table| table.figures_of(place.row))
    }

    /// True if the row's own label, without its section, has all words of one of the readings,
    /// apart from light words and figures ([`is_light`]).
    pub(crate) fn is_named_by_label(&self, one: &FitFigure, readings: &[Phrasing]) -> bool {
        let row = self.row(one.place);
        let says = |reading: &Phrasing| {
            let mut words = reading.words.iter().filter(|word| !is_light(word));
            row.is_some_and(|row| words.all(|word| row.label.words.contains(word)))
        };
        readings.iter().any(says)
    }

    /// True if the operand names the workbook sheet of the figure.
    pub(crate) fn names_sheet(&self, of: &Operand, one: &FitFigure) -> bool {
        let words = self.table(one.place).map(|table| plain_stems(&table.sheet));
        words.is_some_and(|words| !words.is_empty() && words.iter().all(|word| of.says(word)))
    }

    /// The names of figures that fit equally well; with their sheets if these differ, otherwise with
    /// their sections if two have one name.
    pub(crate) fn names_of<'f>(&self, all: impl Iterator<Item = &'f FitFigure>) -> Vec<String> {
        let sheet = |one: &FitFigure| self.table(one.place).map(|table| table.sheet.as_str());
        let named: Vec<(&FitFigure, &str)> =
            all.filter_map(|one| Some((one, sheet(one)?))).collect();
        let sheets: HashSet<&str> = named.iter().map(|(_, sheet)| *sheet).collect();
        let full: HashSet<String> = named
            .iter()
            .map(|(one, _)| self.full_name(one.place))
            .collect();
        let section = |one: &FitFigure| {
            let row = self.row(one.place).filter(|_| full.len() < named.len());
            row.map_or("", |row| row.section_text.trim_end_matches([':', ' ']))
        };
        let name =
            |(one, sheet): &(&FitFigure, &str)| match (self.full_name(one.place), section(one)) {
                (name, _) if sheets.len() > 1 => format!("{name} ({sheet})"),
                (name, "") => name,
                (name, section) => format!("{section}: {name}"),
            };
        named.iter().map(name).collect()
    }

    /// True if the same table on another sheet has another value, as for a base case and a bull
    /// case.
    fn is_scenario(&self, one: &FitFigure, best: &FitFigure) -> bool {
        let Some((a, b)) = self.table(one.place).zip(self.table(best.place)) else {
            return false;
        };
        let row = |one: &FitFigure| self.row(one.place).map(|row| &row.printed);
        let [heads, other_heads] =
            [a, b].map(|table| table.columns.iter().skip(1).map(|column| &column.printed));
        let alike = || {
            let [labels, others] = [a, b].map(|table| table.rows.iter().map(|row| &row.printed));
            let labels: HashSet<&String> = labels.collect();
            let shared = others.filter(|label| labels.contains(label)).count();
            2 * shared > a.rows.len().max(b.rows.len())
        };
        a.sheet != b.sheet
            && row(one) == row(best)
            && one.place.column == best.place.column
            // Not equal: `!=` on floats would need an exception from clippy.
            && (one.value - best.value).abs() > 0.0
            && heads.eq(other_heads)
            && alike()
    }

    /// True if `one` has the name and the period of `best` but another value: in the same table on
    /// another sheet, or in a primary statement of the same kind, such as depreciation by function
    /// and in total. False for a statement of equity, which repeats figures of the others.
    pub(crate) fn is_rival(&self, one: &FitFigure, best: &FitFigure) -> bool {
        let (Some(row), Some(of_best)) = (self.row(one.place), self.row(best.place)) else {
            return false;
        };
        // "Depreciation, excluding that of leased assets" has the name "Depreciation" too.
        let is_part = || {
            let name = row.printed.to_lowercase();
            let more = name.strip_prefix(of_best.printed.to_lowercase().trim());
            let more = more.map(|more| more.trim_start_matches([',', '(', ' ']));
            let parts = ["excluding", "including"];
            more.is_some_and(|more| parts.iter().any(|part| more.starts_with(part)))
        };
        let statement = self.statement_of(best);
        let is_stated_otherwise = || {
            statement.is_some()
                && self.statement_of(one) == statement
                && one.place.table != best.place.table
                // Values that differ only by rounding do not compete.
                && !rounds_alike(one.value.abs(), best.value.abs())
                && one.period.map(Period::order) == best.period.map(Period::order)
                && (row.label.words == of_best.label.words && one.full >= best.full || is_part())
        };
        !self.is_of_equity(one) && (self.is_scenario(one, best) || is_stated_otherwise())
    }
}
