//! Shows how the embedded analyst read and answered a question (`ask --explain`), on a terminal of
//! 80 columns.

use finqa_ask::{AnswerSource, AskedFigure, ExplainedFigure, ExplainedProgram, Explanation};
use finqa_core::text::single_spaced;

use super::style::{broken, harmless};

/// Width of the text, in columns.
const WIDTH: usize = 80;
/// Width of the column of titles, the same as in the answer above it.
const INDENT: usize = 10;

/// An explanation in plain words. `is_opinion` is true if a chat model answered, which the embedded
/// analyst gives a second opinion on.
pub fn explanation_text(explanation: Option<&Explanation>, is_opinion: bool) -> String {
    let mut out = String::new();
    let mut section = |title: &str, lines: Vec<(usize, String)>| {
        for (index, (indent, line)) in lines.into_iter().enumerate() {
            let title = if index == 0 { title } else { "" };
            let start = INDENT + indent;
            let text = broken(&single_spaced(&line), start, start + 2, WIDTH);
            out.push_str(&format!("{title:start$}{text}\n"));
        }
        out.push('\n');
    };
    let Some(of) = explanation else {
        let why = "none: the embedded analyst was not asked, because second opinions are off";
        section("Explained", vec![(0, why.to_owned())]);
        return out;
    };
    if is_opinion {
        let whose = "what follows is the embedded analyst's second opinion";
        section("Explained", vec![(0, whose.to_owned())]);
    }
    section("Read", read(of));
    for asked in &of.figures {
        if asked.candidates.is_empty() {
            // If there are programs, they were made from the facts of the page and not from labels,
            // so a label that does not fit is not reported.
            if of.programs.is_empty() && of.parts.is_empty() {
                let none = format!("no label of the tables fits {:?}", asked.name);
                section("Figures", vec![(0, none)]);
            }
            continue;
        }
        let mut lines = vec![(0, format!("for {:?}", asked.name))];
        lines.extend(
            (1..)
                .zip(&asked.candidates)
                .flat_map(|(at, one)| cell(at, one)),
        );
        section("Figures", lines);
    }
    if !of.parts.is_empty() {
        let lines = (1..).zip(&of.parts).flat_map(|(at, one)| cell(at, one));
        section("Parts", lines.collect());
    }
    if !of.programs.is_empty() {
        let lines = (1..)
            .zip(&of.programs)
            .flat_map(|(at, one)| program(at, one));
        section("Programs", lines.collect());
    }
    let source = match of.answered_from {
        AnswerSource::Nothing => "there is no answer",
        AnswerSource::Labels => "the answer comes from the labels of the tables",
        AnswerSource::Sentence => "the answer comes from a sentence",
        AnswerSource::Programs => "the answer is the program that ranks first",
    };
    let reasons = of.reasons.iter().map(|reason| (0, format!("· {reason}")));
    let lines = [(0, source.to_owned())]
        .into_iter()
        .chain(reasons)
        .collect();
    section(if of.sure { "Sure" } else { "Not sure" }, lines);
    harmless(&out).into_owned()
}

/// What was read in the question.
fn read(of: &Explanation) -> Vec<(usize, String)> {
    let operation = match of.operation.as_str() {
        "" => "not understood",
        operation => operation,
    };
    let mut lines = vec![(0, format!("operation: {operation}"))];
    lines.extend(of.figures.iter().map(|asked| (0, figure(asked))));
    if !of.left_over.is_empty() {
        lines.push((0, format!("left over: {}", quoted(&of.left_over))));
    }
    lines
}

/// What was understood of a figure, in words: its name, qualifiers, periods and scope.
fn figure(asked: &AskedFigure) -> String {
    let name = if asked.name.is_empty() {
        "no name".to_owned()
    } else {
        format!("{:?}", asked.name)
    };
    let periods = if asked.periods.is_empty() {
        "no period named".to_owned()
    } else {
        asked.periods.join(", ")
    };
    let qualifiers = if asked.qualifiers.is_empty() {
        String::new()
    } else {
        format!(" with {}", quoted(&asked.qualifiers))
    };
    let scope = asked.scope.iter().map(|part| format!("; {part}"));
    format!(
        "figure: {name}{qualifiers}; {periods}{}",
        scope.collect::<String>()
    )
}

/// A candidate: its place in the list, its value and labels, then what speaks for it. These lines
/// are indented by the three columns of `1. `.
fn cell(at: usize, one: &ExplainedFigure) -> Vec<(usize, String)> {
    let taken = if one.taken { ", taken" } else { "" };
    let labels = [one.row.as_str(), one.column.as_str()];
    let labels: Vec<&str> = labels
        .into_iter()
        .filter(|label| !label.is_empty())
        .collect();
    let mut lines = vec![(
        0,
        format!("{at}. {}  {}{taken}", one.value, labels.join(" · ")),
    )];
    let place = match (one.table.is_empty(), one.in_statement) {
        (true, _) => one.id.clone(),
        (false, true) => format!("{}, {} (statement)", one.id, one.table),
        (false, false) => format!("{}, {} (note or other table)", one.id, one.table),
    };
    lines.push((3, place));
    let lacks = (!one.lacks.is_empty()).then(|| format!("lacks {}", quoted(&one.lacks)));
    let meets = (!one.meets.is_empty()).then(|| format!("has {}", quoted(&one.meets)));
    let score = one.score.map(|score| format!("score {score:.2}"));
    let more = one
        .says_more
        .then(|| "its labels say more than that".to_owned());
    let tag = one
        .tag
        .as_ref()
        .map(|tag| format!("its tag {tag} means it"));
    let facts: Vec<String> = [score, meets, lacks, more, tag]
        .into_iter()
        .flatten()
        .collect();
    if !facts.is_empty() {
        lines.push((3, facts.join("; ")));
    }
    lines
}

fn program(at: usize, one: &ExplainedProgram) -> Vec<(usize, String)> {
    let taken = if one.taken { ", taken" } else { "" };
    vec![
        (0, format!("{at}. {}  by {}{taken}", one.value, one.program)),
        (3, format!("score {:.2}; plan {:?}", one.score, one.plan)),
    ]
}

fn quoted(words: &[String]) -> String {
    let quoted = words.iter().map(|word| format!("{word:?}"));
    quoted.collect::<Vec<_>>().join(", ")
}
