//! General rules only: no literal of the code and no template may hold a
//! question, or enough of one to recognise it by.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;
use rstest::rstest;

use crate::architecture::{files_of, root, source_files, without_tests};
use crate::support::published::{TEN, records};

/// What the embedded analyst reads from files.
const RULE_DATA: &[&str] = &[
    "crates/finqa-embedded/weights/weights.json",
    "crates/finqa-embedded/weights/network.json",
    "crates/finqa-embedded/weights/words.json",
];
/// So many words in a row of a question are not there by chance.
const TELLING: usize = 6;

/// The string literals of a file's code, without comments, the reasons of lint
/// attributes and the items of tests.
fn literals(code: &str) -> Vec<String> {
    let code = without_tests(code);
    // Comments and characters are matched too, so that a quote in one opens nothing.
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
        r##"(?s)//[^\n]*|reason = "[^"]*"|'(?:\\.|[^'\\\n])'|r#"(.*?)"#|\br"([^"]*)"|"((?:\\.|[^"\\])*)""##,
    )
    .unwrap()
    });
    TOKEN
        .captures_iter(&code)
        .filter_map(|found| (1..=3).find_map(|group| found.get(group)))
        .map(|text| text.as_str().to_owned())
        .collect()
}

fn words(text: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[a-z0-9.%']*[a-z0-9%]").unwrap());
    let text = text.to_lowercase();
    WORD.find_iter(&text)
        .map(|w| w.as_str().to_owned())
        .collect()
}

/// Each literal of the packages that answer, and each template, with its file.
fn texts() -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    for file in source_files() {
        // Messages and examples of the program itself may ask the user something.
        if file.starts_with(root().join("crates")) && !file.ends_with("tests.rs") {
            let code = std::fs::read_to_string(&file).unwrap();
            texts.extend(literals(&code).into_iter().map(|text| (file.clone(), text)));
        }
    }
    let templates = files_of(&root().join("prompts"), &["j2"]).into_iter();
    for file in templates.chain(RULE_DATA.iter().map(|path| root().join(path))) {
        let text = std::fs::read_to_string(&file).unwrap();
        texts.push((file, text));
    }
    assert!(texts.len() > 500, "{} literals", texts.len());
    texts
}

#[rstest]
#[case::ten(TEN)]
#[ignore = "needs the published files"]
#[case::needs_data_train("train_first100.json")]
#[ignore = "needs the published files"]
#[case::needs_data_dev("dev_work.json")]
#[ignore = "needs the published files"]
#[case::needs_data_test("test_documents.json")]
fn no_literal_or_template_holds_the_words_of_a_question_of_the_data(#[case] name: &str) {
    let mut runs: HashSet<Vec<String>> = HashSet::new();
    for case in records(name)
        .records
        .iter()
        .flat_map(|record| record.cases())
    {
        let words = words(&case.question.text);
        runs.extend(words.windows(TELLING).map(<[String]>::to_vec));
    }
    assert!(runs.len() > 100, "{}", runs.len());
    for (file, text) in texts() {
        for run in words(&text).windows(TELLING) {
            assert!(!runs.contains(run), "{}: {run:?}", file.display());
        }
    }
}
