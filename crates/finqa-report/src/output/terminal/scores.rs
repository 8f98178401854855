//! Shows scores as tables for a terminal of at least 80 columns.

use comfy_table::{CellAlignment, Table};

use finqa_core::stats::Rate;
use finqa_core::text::counted;
use finqa_score::score::{Rule, Scorecard};

use super::style::{TerminalStyle, spaced, unbroken};

/// The scores of a run or of a file.
pub fn scorecard_tables(scores: &Scorecard, style: TerminalStyle) -> String {
    let is_scored = scores.rates.iter().next().is_some();
    let mut lines = vec![match (is_scored, scores.questions) {
        (true, _) => rules(scores, style),
        (false, 0) => "No question was answered, so nothing is scored".to_owned(),
        (false, n) => {
            let questions = counted(n, "question");
            style.wrap(&format!("No gold for {questions}, so nothing is scored"))
        }
    }];
    let golds = scores.gold_line();
    lines.extend(golds.map(|line| format!("Scored: {line}")));
    lines.extend(trusted_line(scores).map(|line| style.wrap(&line)));
    lines.extend(outcome_line(scores, style));
    lines.join("\n")
}

fn rules(scores: &Scorecard, style: TerminalStyle) -> String {
    let mut table = style.table(&["rule", "right", "of", "%", "95 % CI", "note"]);
    for (rule, rate) in scores.rates.iter() {
        // Numeric match is never shown without its floor, the score of the best constant answer.
        let floor = scores.rates.floor();
        let floor = floor.filter(|_| rule == Rule::NumericalMatch);
        let floor = floor.map(|floor| format!("floor {:.1} %", 100.0 * floor.rate));
        // Printed answers seldom have five decimals, so this rate is low without programs.
        let is_of_texts =
            rule == Rule::ExecutionAccuracy && scores.rates.get(Rule::ProgramExecution).is_none();
        let of_texts = is_of_texts.then(|| "no programs: of the printed answers".to_owned());
        let notes = [judged_note(scores, &rate), floor, of_texts];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        table.add_row([
            rule.title().to_owned(),
            rate.hits.to_string(),
            rate.n.to_string(),
            format!("{:.1}", 100.0 * rate.rate),
            interval(&rate),
            notes.join("; "),
        ]);
    }
    align(&mut table, &[1, 2, 3]);
    spaced(&table.to_string())
}

/// A note with the number of rows that a rule can judge, if it cannot judge all; the other rows
/// lack its gold.
pub(super) fn judged_note(scores: &Scorecard, rate: &Rate) -> Option<String> {
    (rate.n < scores.questions).then(|| {
        format!(
            "n {} of {}: the others lack its gold",
            rate.n, scores.questions
        )
    })
}

pub(super) fn align(table: &mut Table, right: &[usize]) {
    for index in right {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// `[69.1, 83.9]`, which is not broken into two lines.
pub(super) fn interval(rate: &Rate) -> String {
    format!("[{:.1},\u{a0}{:.1}]", 100.0 * rate.low, 100.0 * rate.high)
}

/// `77.4 % [69.1, 83.9]`, which is not broken into two lines.
pub(super) fn with_interval(rate: &Rate) -> String {
    unbroken(&format!("{:.1} % {}", 100.0 * rate.rate, interval(rate)))
}

/// The score without questions whose gold is suspect; `None` if no gold is.
fn trusted_line(scores: &Scorecard) -> Option<String> {
    let trusted = scores.without_suspects.as_ref()?;
    let rate = trusted.rates.get(Rule::FinancialEquivalence)?;
    Some(format!(
        "Without {} (n {}): FE {}",
        counted(trusted.suspects, "suspect gold"),
        rate.n,
        with_interval(&rate)
    ))
}

/// The number of questions without an answer, by outcome; `None` if all have one.
pub(super) fn outcome_line(scores: &Scorecard, style: TerminalStyle) -> Option<String> {
    let others = scores.outcomes.iter().filter(|it| it.name != "answered");
    let others = others.map(|it| format!("{} {}", it.count, it.name.replace('_', " ")));
    let others: Vec<String> = others.collect();
    let answered = scores.answered.get(Rule::FinancialEquivalence);
    (!others.is_empty()).then(|| {
        let of_answered = answered
            .map(|rate| format!("; of the {} answered, FE {}", rate.n, with_interval(&rate)))
            .unwrap_or_default();
        style.wrap(&format!(
            "Without an answer (counted as wrong): {}{of_answered}",
            others.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_answered_nothing_does_not_speak_of_gold() {
        let text = scorecard_tables(&Scorecard::of(&[]), TerminalStyle::default());
        assert_eq!(text, "No question was answered, so nothing is scored");
    }
}
