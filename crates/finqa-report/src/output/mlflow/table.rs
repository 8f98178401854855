//! The evaluation table, with one row per question. It has the format of MLflow's `log_table`, so
//! that MLflow's pages can show several runs side by side.

use serde_json::{Value, json};

use crate::output::OutputError;
use finqa_journal::run::Journal;
use finqa_score::score::Row;

/// The table's file name. The tag `mlflow.loggedArtifacts` names it too.
pub(super) const TABLE: &str = "eval_results_table.json";

/// A column: its name, and the function that returns its value for a row.
type EvaluationColumn = (&'static str, fn(&Row) -> Value);

const COLUMNS: [EvaluationColumn; 24] = [
    ("id", |row| json!(row.key.id)),
    ("part", |row| json!(row.key.part)),
    ("epoch", |row| json!(row.epoch)),
    ("question", |row| json!(row.question)),
    ("ground_truth", |row| json!(row.ground_truth())),
    ("prediction", |row| json!(row.prediction())),
    ("financial_equivalence", |row| json!(row.accepted())),
    ("fe_reason", |row| {
        let verdict = row.scores.financial_equivalence.as_ref();
        json!(verdict.and_then(|verdict| verdict.reason))
    }),
    ("numerical_match", |row| json!(row.scores.numerical_match)),
    ("exact_match", |row| json!(row.scores.exact_match)),
    ("execution_accuracy", |row| {
        json!(row.scores.execution_accuracy)
    }),
    ("program_execution", |row| {
        json!(row.scores.program_execution)
    }),
    ("program", |row| json!(row.program())),
    ("gold_program", |row| json!(row.gold.program)),
    ("outcome", |row| json!(row.outcome().name())),
    ("stop", |row| json!(row.solution.stop)),
    ("rounds", |row| json!(row.solution.rounds.len())),
    ("first_draft", |row| {
        json!(
            row.solution
                .rounds
                .first()
                .map(|round| &round.answer.printed)
        )
    }),
    ("critic", |row| {
        json!(row.solution.rounds.last().map(|round| round.verdict.name()))
    }),
    ("latency", |row| json!(row.latency)),
    ("input_tokens", |row| json!(row.solution.tokens().0)),
    ("output_tokens", |row| json!(row.solution.tokens().1)),
    ("cost_usd", |row| {
        json!(row.cost.map(|cost| cost.to_string()))
    }),
    ("filename", |row| json!(row.filename)),
];

/// Returns the table as JSON in pandas' `split` format, and the time of the last answer in
/// milliseconds since 1970 UTC.
pub(super) fn table(journal: &Journal) -> Result<(String, i64), OutputError> {
    let mut table = format!(
        r#"{{"columns":{},"data":["#,
        json!(COLUMNS.map(|(name, _)| name))
    );
    let start = table.len();
    let mut last = 0;
    journal.for_each_row(|row| {
        if table.len() > start {
            table.push(',');
        }
        let cells = COLUMNS.map(|(_, value)| value(&row));
        table.push_str(&Value::from(cells.to_vec()).to_string());
        last = last.max(row.stamp.map_or(0, |stamp| stamp.at));
    })?;
    table.push_str("]}");
    Ok((table, last))
}
