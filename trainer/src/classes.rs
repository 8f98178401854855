//! Classes of questions that each have a figure of their own.

use crate::items::Item;

/// A class: its name and which questions belong to it.
type Class = (&'static str, fn(&Item) -> bool);

pub const CLASSES: [Class; 11] = [
    ("complement", |item| {
        let left = [
            "not", "other than", "excluding", "except", "remaining", "without",
        ];
        says(item, &left) && program(item).contains("subtract(")
    }),
    ("percentage of an amount", |item| {
        let program = program(item);
        program.contains("multiply(") && program.contains('%')
    }),
    ("compound growth", |item| says(item, &["compound", "cagr"])),
    ("in which year", |item| {
        says(item, &["which year", "what year"])
    }),
    ("highest or lowest", |item| {
        let extreme = [
            "highest", "lowest", "largest", "smallest", "maximum", "minimum",
        ];
        says(item, &extreme)
    }),
    ("average over a span", |item| {
        let program = program(item);
        let averages = program.contains("add(") && program.contains("divide(#");
        says(item, &["average", "mean"]) && (averages || program.starts_with("table_average"))
    }),
    ("total to compute", |item| {
        let program = program(item);
        let adds = program.starts_with("add(") || program.starts_with("table_sum");
        says(item, &["total"]) && adds && !program.contains("divide(")
    }),
    ("share without the word percent", |item| {
        let program = program(item);
        let share = program.contains("divide(") && !program.contains("subtract(");
        share
            && says(
                item,
                &["portion", "share", "how much of", "fraction", "part of"],
            )
            && !says(item, &["percent", "percentage"])
    }),
    ("count times price", |item| {
        let program = program(item);
        program.starts_with("multiply(") && !program.contains('%') && !program.contains("const_")
    }),
    ("three steps or more", |item| program(item).contains("#1")),
    ("profit, yes or no", |item| {
        program(item).starts_with("greater(") && says(item, &["profit", "loss", "profitable"])
    }),
];

fn program(item: &Item) -> &str {
    item.program.as_deref().unwrap_or_default()
}

/// Whether a question has one of these phrases.
fn says(item: &Item, phrases: &[&str]) -> bool {
    let words = item.question.text.to_lowercase();
    let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).collect();
    let text = format!(" {} ", words.join(" "));
    phrases
        .iter()
        .any(|phrase| text.contains(&format!(" {phrase} ")))
}
