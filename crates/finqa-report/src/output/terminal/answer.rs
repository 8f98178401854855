//! Shows one answer on a terminal of 80 columns (`ask`).

use crate::output::AnswerView;
use finqa_agents::pair::Solution;
use finqa_core::number::Unit;
use finqa_core::text::{counted, single_spaced};

use super::style::{broken, harmless};

/// Width of the text, in columns.
const WIDTH: usize = 80;
/// Width of the column with the titles, in columns of the terminal. The longest title, `Evidence`,
/// fits.
const INDENT: usize = 10;

/// The answer with its steps, evidence and program, the critic's verdicts and the second opinion.
pub fn answer_text(view: &AnswerView<'_>) -> String {
    let solution = view.solution;
    let one_line = |text: &String| single_spaced(text);
    let answer = solution.answer.as_ref();
    let error = solution.error.iter().filter(|_| !is_embedded(solution));
    let steps = answer.map_or(&[][..], |answer| &answer.steps);
    let program = answer.and_then(|answer| answer.program.as_ref());
    let refused = answer.and_then(|answer| answer.program_error.as_ref());
    let refused = refused.map(|error| format!("(not executed: {error})"));
    let program = program.map(one_line).into_iter().chain(refused);
    let (input, output) = solution.tokens();
    let calls = counted(solution.calls.len(), "call");
    let took = format!("{calls}, {input} tokens in, {output} out");
    let took = (!is_embedded(solution)).then_some(took);
    let parts = [
        ("Answer", vec![headline(solution)]),
        ("Error", error.map(one_line).collect()),
        ("Formula", view.formula().into_iter().collect()),
        ("Steps", steps.iter().map(one_line).collect()),
        ("Evidence", evidence(view)),
        ("Program", program.collect()),
        ("Critic", critic(view)),
        (
            "Votes",
            solution.votes.iter().map(ToString::to_string).collect(),
        ),
        ("Opinion", opinion(solution).into_iter().collect()),
        ("Trust", probability_text(view).into_iter().collect()),
        ("Took", took.into_iter().collect()),
    ];
    let mut out = String::new();
    for (title, lines) in parts {
        for (index, line) in lines.iter().enumerate() {
            let title = if index == 0 { title } else { "" };
            let text = broken(line, INDENT, INDENT + 2, WIDTH);
            out.push_str(&format!("{title:INDENT$}{text}\n"));
        }
    }
    harmless(&out).into_owned()
}

/// True if no model was called. The name of the outcome is not shown then, because it is about a
/// model's reply.
fn is_embedded(solution: &Solution) -> bool {
    solution.calls.is_empty()
}

/// The answer alone, on one line.
pub fn short_answer(solution: &Solution) -> String {
    let Some(answer) = &solution.answer else {
        return if is_embedded(solution) {
            "none".to_owned()
        } else {
            format!("none ({})", solution.outcome.name().replace('_', " "))
        };
    };
    harmless(&single_spaced(&with_scale(&answer.printed, answer.unit))).into_owned()
}

/// The answer with its label and confidence in one line, or why there is none.
fn headline(solution: &Solution) -> String {
    let mut line = short_answer(solution);
    let Some(answer) = &solution.answer else {
        // With a chat model, the error has the line `Error` of its own.
        return match &solution.error {
            Some(error) if is_embedded(solution) => format!("{line}: {}", single_spaced(error)),
            _ => line,
        };
    };
    if let Some(doubt) = &answer.doubt {
        line = format!("not sure ({doubt}); best guess: {line}");
    }
    let label = single_spaced(answer.label.as_deref().unwrap_or_default());
    if !label.is_empty() {
        line.push_str(&format!("  ({label})"));
    }
    // A guess is shown without its confidence, because "not sure" and "confidence 0.91" contradict
    // each other.
    if let Some(confidence) = answer.confidence.filter(|_| answer.doubt.is_none()) {
        line.push_str(&format!(", confidence {confidence:.2}"));
    }
    line
}

/// Appends the scale word, as in `56.9 million`, unless the answer already has it.
fn with_scale(answer: &str, unit: Unit) -> String {
    match unit.scale {
        Some(scale) if !answer.to_lowercase().contains(scale.word()) => {
            format!("{answer} {}", scale.word())
        }
        _ => answer.to_owned(),
    }
}

/// One line for each cited figure: its place, the figure, and what it is.
fn evidence(view: &AnswerView<'_>) -> Vec<String> {
    let ids = view
        .evidence
        .iter()
        .map(|cited| cited.place().chars().count());
    let id_width = ids.max().unwrap_or(0);
    let lines = view.evidence.iter().map(|cited| {
        let label = if cited.label.is_empty() {
            "(no such place)".to_owned()
        } else {
            single_spaced(&cited.in_words())
        };
        format!("{:id_width$}  {}  {label}", cited.place(), cited.literal)
    });
    lines.collect()
}

/// One line for the verdict of each round, followed by a line for each of its problems.
fn critic(view: &AnswerView<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let several = view.rounds.len() > 1;
    for round in &view.rounds {
        let chosen = several && view.solution.chosen_round == Some(round.number);
        let number = if several {
            format!("round {}: {}, ", round.number, single_spaced(&round.answer))
        } else {
            // The answer of a single round is already in the headline.
            String::new()
        };
        let chosen = if chosen { " (taken)" } else { "" };
        lines.push(format!("{number}{}{chosen}", round.summary));
        let problems = round.problems.iter();
        lines.extend(problems.map(|problem| format!("· {}", single_spaced(problem))));
    }
    lines
}

/// The probability that the answer is right, in words. `None` for an answer without a probability.
fn probability_text(view: &AnswerView<'_>) -> Option<String> {
    let right = 100.0 * view.solution.probability?;
    let calibration = view.calibration.as_deref().unwrap_or_default();
    Some(format!(
        "of answers like this, {right:.0} of 100 were right, by {calibration}"
    ))
}

/// The second opinion in one line. `None` if there was none.
fn opinion(solution: &Solution) -> Option<String> {
    let other = solution.opinion.as_ref()?;
    let verdict = match other.agrees {
        Some(true) => "agrees",
        Some(false) => "differs",
        None => "the only answer",
    };
    let choice = other.arbitration.map(|choice| format!("; {choice}"));
    Some(format!(
        "{verdict}: {} by {}, confidence {:.2}{}",
        single_spaced(&other.printed),
        single_spaced(&other.program),
        other.confidence,
        choice.unwrap_or_default()
    ))
}
