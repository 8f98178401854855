//! The primary statements as questions name them.

/// A primary statement as a question names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedStatement {
    Balances,
    CashFlows,
    Income,
}

impl NamedStatement {
    /// Reads a name that the pattern of `marks` found, so any other name is one of the income
    /// statement.
    pub(crate) fn read(name: &str) -> Self {
        match name {
            _ if name.contains("balance") || name.contains("position") => Self::Balances,
            _ if name.contains("cash") => Self::CashFlows,
            _ => Self::Income,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Balances => "balance sheet",
            Self::CashFlows => "cash flow statement",
            Self::Income => "income statement",
        }
    }
}
