//! Turns names that files use into words for people.

use finqa_agents::llm::settings::OFFLINE;

const MIXED_UP: &str = "difference or percentage mixed up";

/// Words for the names that would be unclear if only their underscores became spaces.
pub(crate) const WORDS: [(&str, &str); 10] = [
    ("absolute_for_relative", MIXED_UP),
    ("abs_vs_rel", MIXED_UP),
    ("doubt", "a guess"),
    ("no_new_answer", "no other answer"),
    ("percent_decimal", "percent or decimal"),
    ("qa", "only question"),
    ("qa_0", "first question"),
    ("qa_1", "second question"),
    ("wrong_row", "wrong row or figure"),
    ("yes_no", "yes or no"),
];

/// The words for a name: its words in [`WORDS`], otherwise the name with spaces for underscores.
pub(crate) fn in_words(name: &str) -> String {
    let known = WORDS.iter().find(|(known, _)| *known == name);
    known.map_or_else(|| name.replace('_', " "), |(_, words)| (*words).to_owned())
}

/// A model's name as it is shown to people.
pub(crate) fn shown_model(model: &str) -> &str {
    match model {
        OFFLINE => "embedded analyst",
        model => model,
    }
}
