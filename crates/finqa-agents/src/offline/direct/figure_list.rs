//! The figures that go by a name, and the lines that they are computed from. Lines are given by
//! their words; those that follow the first are other ways to call it.

use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// A figure: its names, the lines that it is computed from (the first that the table has), and
/// what joins them.
pub(super) struct Figure {
    pub(super) names: &'static [&'static str],
    pub(super) first: &'static [&'static str],
    pub(super) op: Op,
    pub(super) second: &'static [&'static str],
    pub(super) kind: UnitKind,
}

pub(super) const REVENUE: &[&str] = &[
    "total revenue", "net revenue", "net sale", "total net sale", "total sale", "revenue", "sale",
    "turnover", "umsatz", "umsatzerlös",
];
const COST_OF_SALES: &[&str] = &["cost revenue", "cost sale", "cost good sold", "cogs"];
const OPERATING: &[&str] = &[
    "operating income", "operating profit", "ebit", "operating earning",
];
const NET: &[&str] = &[
    "net income", "net profit", "net earning", "profit after tax", "profit year",
];
const CAPEX: &[&str] = &[
    "capital expenditure", "capex", "purchase equipment", "purchase property plant equipment",
];
const TAX: &[&str] = &[
    "income tax", "income tax expense", "tax expense", "tax", "taxation",
];
const BEFORE_TAX: &[&str] = &[
    "profit before tax", "income before tax", "earning before tax", "pretax income",
    "pretax profit",
];
const ASSETS: &[&str] = &["total asset"];
const LIABILITIES: &[&str] = &["total liability"];
const EQUITY: &[&str] = &["total equity", "equity"];
const DEBT: &[&str] = &["total debt", "debt", "total borrowing", "borrowing"];
const PRICE: &[&str] = &[
    "list price", "unit price", "selling price", "sale price", "price",
];
const COST_OF_ONE: &[&str] = &["unit cost", "cost price", "purchase price", "cost unit"];
const SHARES: &[&str] = &[
    "share outstanding", "diluted share", "weighted average share", "average share", "share",
    "number share", "weighted average diluted share", "share issue", "diluted share outstanding",
    "average share outstanding", "weighted average share outstanding",
];

const fn figure(
    names: &'static [&'static str],
    first: &'static [&'static str],
    op: Op,
    second: &'static [&'static str],
    kind: UnitKind,
) -> Figure {
    Figure {
        names,
        first,
        op,
        second,
        kind,
    }
}

/// The later may be computed from the earlier.
pub(super) const FIGURES: [Figure; 30] = {
    use Op::{Add, Divide, Multiply, Subtract};
    use UnitKind::{Number, Percent, Ratio};
    [
        figure(&["gross profit"], REVENUE, Subtract, COST_OF_SALES, Number),
        figure(
            &["ebitda"],
            OPERATING,
            Add,
            &[
                "depreciation amortization", "depreciation amortisation", "d&a",
                "total depreciation amortization",
            ],
            Number,
        ),
        figure(
            &["profit before tax", "pretax profit"],
            NET,
            Add,
            TAX,
            Number,
        ),
        figure(
            &["working capital", "net working capital"],
            &["current asset", "total current asset"],
            Subtract,
            &["current liability", "total current liability"],
            Number,
        ),
        figure(
            &["net debt"],
            DEBT,
            Subtract,
            &["cash", "cash cash equivalent", "cash equivalent"],
            Number,
        ),
        figure(
            &["free cash flow", "fcf"],
            &[
                "operating cash flow", "cash flow operating activity",
                "net cash provided operating activity", "cash provided operating activity",
                "cash operation", "cash flow operation", "net cash operating activity",
                "cash generated operation", "cash operating activity",
            ],
            Subtract,
            CAPEX,
            Number,
        ),
        figure(
            &["gross margin", "gross profit margin"],
            &["gross profit"],
            Divide,
            REVENUE,
            Percent,
        ),
        figure(
            &[
                "operating margin", "operating profit margin", "operating income margin",
                "ebit margin",
            ],
            OPERATING,
            Divide,
            REVENUE,
            Percent,
        ),
        figure(&["ebitda margin"], &["ebitda"], Divide, REVENUE, Percent),
        figure(
            &[
                "net margin", "net profit margin", "net income margin", "profit margin",
            ],
            NET,
            Divide,
            REVENUE,
            Percent,
        ),
        figure(
            &["pretax margin", "pre-tax margin"],
            BEFORE_TAX,
            Divide,
            REVENUE,
            Percent,
        ),
        figure(
            &["current ratio"],
            &["current asset", "total current asset"],
            Divide,
            &["current liability", "total current liability"],
            Ratio,
        ),
        figure(
            &["debt ratio", "debt to assets ratio"],
            LIABILITIES,
            Divide,
            ASSETS,
            Ratio,
        ),
        figure(
            &[
                "debt to equity ratio", "debt to equity", "debt-to-equity ratio", "debt-to-equity",
                "debt/equity ratio", "d/e ratio",
            ],
            DEBT,
            Divide,
            EQUITY,
            Ratio,
        ),
        figure(&["equity ratio"], EQUITY, Divide, ASSETS, Percent),
        figure(
            &["return on assets", "return on total assets", "roa"],
            NET,
            Divide,
            ASSETS,
            Percent,
        ),
        figure(&["return on equity", "roe"], NET, Divide, EQUITY, Percent),
        figure(
            &["asset turnover", "asset turnover ratio"],
            REVENUE,
            Divide,
            ASSETS,
            Ratio,
        ),
        figure(
            &[
                "interest cover", "interest coverage", "interest coverage ratio",
                "interest cover ratio",
            ],
            OPERATING,
            Divide,
            &[
                "interest expense", "interest", "interest cost", "finance cost",
                "net interest expense",
            ],
            Ratio,
        ),
        figure(
            &["effective tax rate", "tax rate"],
            TAX,
            Divide,
            BEFORE_TAX,
            Percent,
        ),
        figure(&["earnings per share", "eps"], NET, Divide, SHARES, Ratio),
        figure(
            &["payout ratio", "dividend payout ratio", "dividend payout"],
            &["dividend paid", "dividend", "total dividend"],
            Divide,
            NET,
            Percent,
        ),
        figure(
            &["payout ratio", "dividend payout ratio", "dividend payout"],
            &["dividend share"],
            Divide,
            &[
                "earning share", "eps", "basic eps", "diluted eps", "basic earning share",
                "diluted earning share",
            ],
            Percent,
        ),
        figure(
            &[
                "net debt to ebitda", "net debt to ebitda ratio", "net debt/ebitda",
            ],
            &["net debt"],
            Divide,
            &["ebitda"],
            Ratio,
        ),
        figure(
            &["debt to ebitda", "debt to ebitda ratio", "debt/ebitda"],
            DEBT,
            Divide,
            &["ebitda"],
            Ratio,
        ),
        figure(
            &["capex intensity", "capex to sales ratio"],
            CAPEX,
            Divide,
            REVENUE,
            Percent,
        ),
        figure(
            &[
                "profit per unit", "unit margin", "margin per unit", "gross profit per unit",
            ],
            PRICE,
            Subtract,
            COST_OF_ONE,
            Number,
        ),
        figure(
            &["gross margin", "profit margin", "percent margin"],
            &["profit per unit"],
            Divide,
            PRICE,
            Percent,
        ),
        figure(
            &[
                "annual interest", "year's interest", "yearly interest", "interest for a year",
            ],
            &["balance", "principal", "outstanding balance", "outstanding"],
            Multiply,
            &["interest rate", "rate"],
            Number,
        ),
        figure(
            &["dividend income", "annual dividend", "annual dividends"],
            &["market value", "value"],
            Multiply,
            &["dividend yield", "yield"],
            Number,
        ),
    ]
};

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
