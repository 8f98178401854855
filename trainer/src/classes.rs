//! Sorts questions into classes, for which the report prints separate results: by where the figures
//! of the gold program are.

use std::collections::HashSet;

use crate::items::Item;

fn program(item: &Item) -> &str {
    item.program.as_deref().unwrap_or_default()
}

/// The numbers in a text, without commas, signs and percent signs.
fn figures(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| c.is_whitespace() || "()".contains(c));
    let bare = words.map(|word| word.trim_matches(|c: char| !c.is_ascii_digit()));
    let figures = bare.filter(|bare| !bare.is_empty());
    figures.map(|bare| bare.replace(',', ""))
}

/// The numbers in a program, without its constants (`const_100`) and references (`#0`).
fn figures_of(program: &str) -> impl Iterator<Item = String> {
    let arguments = program.split(['(', ')', ',']).map(str::trim);
    let printed = arguments.filter(|one| !one.starts_with("const_") && !one.starts_with('#'));
    printed.flat_map(figures)
}

/// Where on the page the figures of the gold program are. A figure that is both in the table and in
/// a sentence counts as in the table.
pub fn place_of_figures(item: &Item) -> &'static str {
    let document = &item.question.document;
    let table: HashSet<String> = document
        .table
        .iter()
        .flatten()
        .flat_map(|t| figures(t))
        .collect();
    let sentences = document.pre_text.iter().chain(&document.post_text);
    let text: HashSet<String> = sentences.flat_map(|t| figures(t)).collect();
    let program = program(item);
    let mut places = [program.starts_with("table_"), false, false];
    for figure in figures_of(program) {
        let place = [table.contains(&figure), text.contains(&figure), true];
        if let Some(first) = place.iter().position(|holds| *holds) {
            places[first] = true;
        }
    }
    match places {
        [true, false, false] => "in the table",
        [false, true, false] => "in sentences",
        [true, true, false] => "in the table and in sentences",
        _ => "at least one not on the page",
    }
}

/// Which of the gold program's figures occur in the gold programs of earlier turns: none, all or
/// some, as words for the report.
pub fn taken_from_earlier(item: &Item) -> &'static str {
    let history = item.question.history.iter();
    let programs = history.filter_map(|entry| entry.program.as_deref());
    let earlier: HashSet<String> = programs.flat_map(figures_of).collect();
    let own: Vec<String> = figures_of(program(item)).collect();
    match own
        .iter()
        .filter(|figure| earlier.contains(*figure))
        .count()
    {
        0 => "no figure of an earlier turn",
        n if n == own.len() => "only figures of earlier turns",
        _ => "earlier and new figures",
    }
}
