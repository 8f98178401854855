//! The figures that go by a name, and the lines that they are computed from. Lines are given by
//! their words; those that follow the first are other ways to call it.

use std::sync::LazyLock;

use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// A figure: its names, the lines that it is computed from (the first that the table has), and
/// what joins them.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) names: Vec<&'static str>,
    pub(super) first: Vec<&'static str>,
    pub(super) op: Op,
    pub(super) second: Vec<&'static str>,
    pub(super) kind: UnitKind,
}

/// Lists of such lines by a name in capitals: those that figures share, and long ones.
const LINES: &str = "\
REVENUE = total revenue, net revenue, net sale, total net sale, total sale, revenue, sale, \
    turnover, umsatz, umsatzerlös
COST OF SALES = cost revenue, cost sale, cost good sold, cogs
OPERATING = operating income, operating profit, ebit, operating earning
DEPRECIATION = depreciation amortization, depreciation amortisation, d&a, \
    total depreciation amortization
INTEREST = interest expense, interest, interest cost, finance cost, net interest expense
BEFORE TAX = profit before tax, income before tax, earning before tax, pretax income, pretax profit
TAX = income tax, income tax expense, tax expense, tax, taxation
NET = net income, net profit, net earning, profit after tax, profit year
OPERATING CASH = operating cash flow, cash flow operating activity, \
    net cash provided operating activity, cash provided operating activity, cash operation, \
    cash flow operation, net cash operating activity, cash generated operation, \
    cash operating activity
CAPEX = capital expenditure, capex, purchase equipment, purchase property plant equipment
ASSETS = total asset
CURRENT ASSETS = current asset, total current asset
LIABILITIES = total liability
CURRENT LIABILITIES = current liability, total current liability
EQUITY = total equity, equity
DEBT = total debt, debt, total borrowing, borrowing
SHARES = share outstanding, diluted share, weighted average share, average share, share, \
    number share, weighted average diluted share, share issue, diluted share outstanding, \
    average share outstanding, weighted average share outstanding
EPS = earning share, eps, basic eps, diluted eps, basic earning share, diluted earning share
PRICE = list price, unit price, selling price, sale price, price
COST OF ONE = unit cost, cost price, purchase price, cost unit";

/// One figure a line: its kind, its names, and what it is computed from. The later may be computed
/// from the earlier.
const TABLE: &str = "\
number | gross profit = REVENUE - COST OF SALES
number | ebitda = OPERATING + DEPRECIATION
number | profit before tax, pretax profit = NET + TAX
number | working capital, net working capital = CURRENT ASSETS - CURRENT LIABILITIES
number | net debt = DEBT - cash, cash cash equivalent, cash equivalent
number | free cash flow, fcf = OPERATING CASH - CAPEX
percent | gross margin, gross profit margin = gross profit / REVENUE
percent | operating margin, operating profit margin, operating income margin, ebit margin \
    = OPERATING / REVENUE
percent | ebitda margin = ebitda / REVENUE
percent | net margin, net profit margin, net income margin, profit margin = NET / REVENUE
percent | pretax margin, pre-tax margin = BEFORE TAX / REVENUE
ratio | current ratio = CURRENT ASSETS / CURRENT LIABILITIES
ratio | debt ratio, debt to assets ratio = LIABILITIES / ASSETS
ratio | debt to equity ratio, debt to equity, debt-to-equity ratio, debt-to-equity, \
    debt/equity ratio, d/e ratio = DEBT / EQUITY
percent | equity ratio = EQUITY / ASSETS
percent | return on assets, return on total assets, roa = NET / ASSETS
percent | return on equity, roe = NET / EQUITY
ratio | asset turnover, asset turnover ratio = REVENUE / ASSETS
ratio | interest cover, interest coverage, interest coverage ratio, interest cover ratio \
    = OPERATING / INTEREST
percent | effective tax rate, tax rate = TAX / BEFORE TAX
ratio | earnings per share, eps = NET / SHARES
percent | payout ratio, dividend payout ratio, dividend payout \
    = dividend paid, dividend, total dividend / NET
percent | payout ratio, dividend payout ratio, dividend payout = dividend share / EPS
ratio | net debt to ebitda, net debt to ebitda ratio, net debt/ebitda = net debt / ebitda
ratio | debt to ebitda, debt to ebitda ratio, debt/ebitda = DEBT / ebitda
percent | capex intensity, capex to sales ratio = CAPEX / REVENUE
number | profit per unit, unit margin, margin per unit, gross profit per unit = PRICE - COST OF ONE
percent | gross margin, profit margin, percent margin = profit per unit / PRICE
number | annual interest, year's interest, yearly interest, interest for a year \
    = balance, principal, outstanding balance, outstanding * interest rate, rate
number | dividend income, annual dividend, annual dividends \
    = market value, value * dividend yield, yield";

pub(super) static FIGURES: LazyLock<Vec<Figure>> =
    LazyLock::new(|| TABLE.lines().filter_map(figure).collect());

fn figure(line: &'static str) -> Option<Figure> {
    let (kind, line) = line.split_once(" | ")?;
    let (names, lines) = line.split_once(" = ")?;
    let ops = [
        (" + ", Op::Add),
        (" - ", Op::Subtract),
        (" * ", Op::Multiply),
        (" / ", Op::Divide),
    ];
    let (first, op, second) = ops.into_iter().find_map(|(sign, op)| {
        let (first, second) = lines.split_once(sign)?;
        Some((first, op, second))
    })?;
    Some(Figure {
        names: names.split(", ").collect(),
        first: lines_called(first)?,
        op,
        second: lines_called(second)?,
        kind: match kind {
            "number" => UnitKind::Number,
            "percent" => UnitKind::Percent,
            "ratio" => UnitKind::Ratio,
            _ => return None,
        },
    })
}

/// The names of lines, written out or by the name in capitals that they have together.
fn lines_called(names: &'static str) -> Option<Vec<&'static str>> {
    let mut lists = LINES.lines().filter_map(|line| line.split_once(" = "));
    let names = match names.contains(char::is_uppercase) {
        true => lists.find(|(list, _)| *list == names)?.1,
        false => names,
    };
    Some(names.split(", ").collect())
}

/// The lines of the revenue.
pub(super) fn revenue() -> Vec<&'static str> {
    lines_called("REVENUE").unwrap_or_default()
}

/// Words of the profits that margins are named after.
pub(super) const PROFITS: [&str; 8] = [
    "profit", "income", "earnings", "result", "ebit", "ebitda", "contribution", "margin",
];

/// What the share of revenue that a profit is goes by.
pub(super) fn margin_names(profit: &str) -> Vec<String> {
    if profit.ends_with(" margin") {
        let units = ["percent", "percentage", "%", "ratio"];
        return units.map(|unit| format!("{profit} {unit}")).to_vec();
    }
    let short = PROFITS.iter().find_map(|word| profit.strip_suffix(word));
    let short = short.map(str::trim).filter(|short| !short.is_empty());
    let names = [Some(profit), short].into_iter().flatten();
    names.map(|name| format!("{name} margin")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_figure() {
        assert_eq!(FIGURES.len(), 30);
        assert_eq!(FIGURES.len(), TABLE.lines().count());
    }

    #[test]
    fn every_list_of_lines_is_used() {
        let sides: Vec<&str> = TABLE.split(['=', '+', '-', '*', '/', '\n']).collect();
        let used = |list: &str| sides.iter().any(|side| side.trim() == list);
        for line in LINES.lines() {
            let (list, _) = line.split_once(" = ").unwrap();
            assert!(used(list), "{list}");
        }
    }
}
