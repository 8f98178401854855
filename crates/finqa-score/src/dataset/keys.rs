//! Reports the keys of records that nothing reads, and recognises texts that mean "no value".

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use finqa_core::text::{counted, edits};

/// The keys that this program reads. A similar unknown key is probably a typo of one of them.
const READ: [&str; 21] = [
    "filename", "pre_text", "post_text", "table", "table_ori", "qa_0", "qa_1", "annotation",
    "dialogue", "doc", "question", "answer", "program", "exe_ans", "dialogue_break",
    "conv_questions", "turn_program", "exe_ans_list", "executed_answers", "qa_split", "id",
];

/// Other keys of the published files of ConvFinQA and FinQA, which are ignored without a note.
const PUBLISHED: [&str; 35] = [
    "amt_post_text", "amt_pre_text", "amt_table", "ann_table_rows", "ann_text_rows", "answer_list",
    "answer_list_0", "answer_list_1", "answer_strings", "conv_answers", "cur_dial", "cur_program",
    "cur_type", "dialogue_break_ori", "exe_ans", "explanation", "features", "gold_ind",
    "gold_inds", "model_input", "offset", "original_program", "original_program_0",
    "original_program_1", "program_re", "step_list", "step_list_0", "step_list_1", "steps",
    "table_retrieved", "table_retrieved_all", "text_retrieved", "text_retrieved_all", "tfidftopn",
    "turn_program_ori",
];

/// The paths of unknown keys in a file, with the number of records that have each.
#[derive(Default)]
pub(super) struct UnreadKeys(BTreeMap<String, usize>);

impl UnreadKeys {
    /// Counts the keys of a record that nothing reads. `paths` are their paths.
    ///
    /// # Errors
    /// A key that is probably a typo of a key that the record lacks: its path, and the missing key.
    pub(super) fn note(
        &mut self,
        paths: Vec<String>,
        record: &RawValue,
    ) -> Result<(), (String, &'static str)> {
        for path in paths {
            // serde_ignored puts a `?` before the keys within an `Option`.
            let path = path.replace("?.", "");
            let key = path.rsplit('.').next().unwrap_or_default();
            if key.starts_with('_') || PUBLISHED.contains(&key) {
                continue;
            }
            // The path of the object that has the key, with the point before the key.
            let place = path.strip_suffix(key).unwrap_or_default();
            let lacks = |known: &&str| {
                let record: Option<serde_json::Value> = serde_json::from_str(record.get()).ok();
                let known = format!("/{}{known}", place.replace('.', "/"));
                record.is_some_and(|record| record.pointer(&known).is_none())
            };
            let mut meant = READ.into_iter().filter(|known| is_typo(key, known));
            match meant.find(lacks) {
                Some(known) => return Err((path, known)),
                None => *self.0.entry(path).or_default() += 1,
            }
        }
        Ok(())
    }

    /// One line that lists them; `None` if there are none.
    pub(super) fn line(&self) -> Option<String> {
        let keys = self.0.iter();
        let keys = keys.map(|(key, count)| format!("`{key}` ({})", counted(*count, "record")));
        let keys: Vec<String> = keys.collect();
        (!keys.is_empty()).then(|| format!("unknown keys, which are not read: {}", keys.join(", ")))
    }
}

/// True if a name is probably a typo of `known`: it differs in case, or by one edit, or by two
/// if `known` has 8 characters or more. Names of up to 4 characters are never taken for typos. The
/// lengths are set by hand.
pub(crate) fn is_typo(name: &str, known: &str) -> bool {
    let most = if known.len() < 8 { 1 } else { 2 };
    name != known && known.len() > 4 && edits(name, known) <= most
}

/// True for a text that means "no value": a blank one, or what Python prints for a missing value.
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
