//! The evaluation table: one row a question, in the form of MLflow's
//! `log_table`, which its pages show side by side for several runs.

use serde_json::{Value, json};

use crate::output::OutputError;
use crate::run::{Journal, Row};

/// Its name among the files, which the tag `mlflow.loggedArtifacts` repeats.
pub(super) const TABLE: &str = "eval_results_table.json";

const COLUMNS: &[&str] = &[
    "id",
    "part",
    "epoch",
    "question",
    "ground_truth",
    "prediction",
    "financial_equivalence",
    "fe_reason",
    "numerical_match",
    "exact_match",
    "execution_accuracy",
    "program",
    "gold_program",
    "outcome",
    "stop",
    "rounds",
    "first_draft",
    "critic",
    "latency",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "filename",
];

/// The table as JSON in pandas' `split` form.
pub(super) fn table(journal: &Journal) -> Result<String, OutputError> {
    let mut table = format!(r#"{{"columns":{},"data":["#, json!(COLUMNS));
    let start = table.len();
    journal.for_each_row(|row| {
        if table.len() > start {
            table.push(',');
        }
        table.push_str(&Value::from(cells(&row)).to_string());
    })?;
    table.push_str("]}");
    Ok(table)
}

fn cells(row: &Row) -> Vec<Value> {
    let solution = &row.solution;
    let scores = &row.scores;
    let equivalence = scores.financial_equivalence.as_ref();
    let answer = solution.answer.as_ref();
    let (input, output) = solution.tokens();
    vec![
        json!(row.key.id),
        json!(row.key.part),
        json!(row.epoch),
        json!(row.question),
        json!(row.ground_truth()),
        json!(row.prediction()),
        json!(equivalence.map(|found| found.accepted)),
        json!(equivalence.and_then(|found| found.reason)),
        json!(scores.numerical_match),
        json!(scores.exact_match),
        json!(scores.execution_accuracy),
        json!(answer.and_then(|answer| answer.program.as_ref())),
        json!(row.gold.program),
        json!(solution.outcome.name()),
        json!(solution.stop),
        json!(solution.rounds.len()),
        json!(solution.rounds.first().map(|round| &round.answer.printed)),
        json!(solution.rounds.last().map(|round| round.verdict.name())),
        json!(row.latency),
        json!(input),
        json!(output),
        json!(row.cost.map(|cost| cost.to_string())),
        json!(row.filename),
    ]
}
