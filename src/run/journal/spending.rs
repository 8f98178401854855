//! The spending of a run's requests. A run with a limit stores an upper bound before it
//! sends a request, and the actual amount afterwards, so that requests in flight when a
//! process is killed count at their bound.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use finqa_agents::llm::{Cost, Spending};
use finqa_agents::pair::Call;

use super::{Journal, JournalError};

/// The spending of a run's earlier processes.
pub(crate) struct EarlierSpending {
    pub spent: Spending,
    /// The last request that is counted.
    pub last_id: u64,
}

impl Journal {
    /// The spending of earlier processes. Requests sent without a limit are counted from
    /// the replies in the journal; `None` if the tokens of one are unknown.
    pub(crate) fn begin_spending(&self) -> Result<Option<EarlierSpending>, JournalError> {
        self.sqlite(|connection| {
            connection.execute_batch(
                "CREATE TABLE IF NOT EXISTS spending
                 (id INTEGER PRIMARY KEY, dollars TEXT, tokens INTEGER NOT NULL) STRICT;",
            )
        })?;
        let amounts = self.amounts()?;
        if let Some(last_id) = amounts.keys().max().copied() {
            let mut spent = Spending::NONE;
            amounts.values().for_each(|amount| spent += *amount);
            return Ok(Some(EarlierSpending { spent, last_id }));
        }
        let Some(spent) = self.spent_without_limit()? else {
            return Ok(None);
        };
        self.sqlite(|connection| store(connection, 0, spent))?;
        Ok(Some(EarlierSpending { spent, last_id: 0 }))
    }

    /// The amount counted for each request of a run with a limit; empty without.
    pub(crate) fn amounts(&self) -> Result<HashMap<u64, Spending>, JournalError> {
        if !self.has_table("spending")? {
            return Ok(HashMap::new());
        }
        self.sqlite(|connection| {
            let mut statement = connection.prepare("SELECT id, dollars, tokens FROM spending")?;
            let rows = statement.query_map([], |row| {
                let dollars: Option<String> = row.get(1)?;
                let amount = Spending {
                    dollars: dollars.and_then(|amount| amount.parse().ok()),
                    tokens: row.get(2)?,
                };
                Ok((row.get(0)?, amount))
            });
            rows?.collect()
        })
    }

    /// The number of requests of a run with a limit that were billed, or may have been; 0
    /// if some were sent without a limit.
    pub(in crate::run) fn billed_requests(&self) -> Result<u64, JournalError> {
        if !self.has_table("spending")? {
            return Ok(0);
        }
        let sql = "SELECT count(*) FROM spending WHERE tokens > 0
                   AND NOT EXISTS (SELECT 1 FROM spending WHERE id = 0 AND tokens > 0)";
        self.sqlite(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }

    /// The spending of the calls made without a limit.
    fn spent_without_limit(&self) -> Result<Option<Spending>, JournalError> {
        let mut tokens = Some(0_u64);
        let mut cost = Cost::default();
        let mut count = |call: &Call| {
            cost += call.cost;
            let usage = call.usage();
            let known = usage.lost == 0 && usage.without_usage == 0;
            tokens = tokens
                .filter(|_| known)
                .map(|sum| sum.saturating_add(usage.tokens.total()));
        };
        self.for_each_result(|row| row.solution.calls.iter().for_each(&mut count))?;
        self.open_calls()?.values().flatten().for_each(&mut count);
        Ok(tokens.map(|tokens| Spending {
            dollars: cost.total(),
            tokens,
        }))
    }
}

/// Stores what a request may have spent; the last amount of an id is valid.
pub(super) fn store(connection: &Connection, id: u64, amount: Spending) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO spending VALUES (?1, ?2, ?3)")?
        .execute(params![
            id,
            amount.dollars.map(|dollars| dollars.to_string()),
            i64::try_from(amount.tokens).unwrap_or(i64::MAX),
        ])
        .map(drop)
}
