//! Mistyped names, and values that are none.

/// True if a name is probably meant as `known`: another case, or one slip of a typist, two in a
/// long name.
pub(crate) fn is_typo(name: &str, known: &str) -> bool {
    let slips = strsim::osa_distance(&name.trim().to_lowercase(), known);
    name != known && known.len() > 4 && slips <= if known.len() < 8 { 1 } else { 2 }
}

/// True for the ways in which files say that there is no value: blank, or what Python prints.
pub(crate) fn is_missing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.eq_ignore_ascii_case("nan") || matches!(text, "None" | "null" | "<NA>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_a_typo_and_another_word_is_not() {
        for (name, known) in [
            ("anwser", "answer"),
            ("Answer", "answer"),
            ("answers", "answer"),
            ("grond_truth", "ground_truth"),
            ("groundtruth", "ground_truth"),
            ("dialog_break", "dialogue_break"),
            ("exe_anslist", "exe_ans_list"),
        ] {
            assert!(is_typo(name, known), "{name}");
        }
        for (name, known) in [
            ("answer", "answer"),
            ("title", "table"),
            ("idx", "id"),
            ("gold_inds", "gold"),
            ("answer_list", "answer"),
        ] {
            assert!(!is_typo(name, known), "{name}");
        }
    }
}
