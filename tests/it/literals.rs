//! General rules only: no literal of the code and no template may hold a
//! question, or enough of one to recognise it by.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use rstest::rstest;

use finqa_embedded::training;

use crate::architecture::{root, without_tests};
use crate::support::published::{TEN, records};

/// The package of the embedded analyst, all of which decides answers.
const EMBEDDED: &str = "crates/finqa-embedded";
/// Modules that read questions and decide answers.
const DECIDING: &[&str] = &[
    EMBEDDED, "pair", "parse", "prompt", "page", "number", "program",
];
/// Modules that a question passes through; their messages may ask the user something.
const PASSED_THROUGH: &[&str] = &[
    "graph", "llm", "data", "episode", "reward", "server", "tools", "episodes", "env_build",
    "solve",
];
/// What the embedded analyst reads from files.
const RULE_DATA: &[&str] = &[
    "crates/finqa-embedded/weights/weights.json",
    "crates/finqa-embedded/weights/network.json",
    "crates/finqa-embedded/weights/trees.json",
    "crates/finqa-embedded/weights/words.json",
];
/// So many words in a row of a question are not there by chance.
const TELLING: usize = 6;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.file_name().unwrap() != "tests.rs" {
            found.push(path);
        }
    }
    found
}

/// The folders of a module: in one of the packages, or in several.
fn folders(module: &str) -> Vec<PathBuf> {
    if module == EMBEDDED {
        return vec![root().join(module).join("src")];
    }
    let packages = [
        "", "crates/finqa-core", "crates/finqa-agents", "crates/finqa-env",
    ];
    let folders: Vec<_> = packages
        .iter()
        .map(|package| root().join(package).join("src").join(module))
        .filter(|folder| folder.is_dir())
        .collect();
    assert!(!folders.is_empty(), "there is no module {module}");
    folders
}

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

/// Each literal of these modules and each template, with its file.
fn texts(modules: &[&str]) -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    for module in modules {
        for file in folders(module).iter().flat_map(|folder| files(folder)) {
            let code = std::fs::read_to_string(&file).unwrap();
            texts.extend(literals(&code).into_iter().map(|text| (file.clone(), text)));
        }
    }
    for file in files(&root().join("prompts")) {
        let text = std::fs::read_to_string(&file).unwrap();
        texts.push((file, text));
    }
    for file in RULE_DATA.iter().map(|path| root().join(path)) {
        let data = std::fs::read_to_string(&file).unwrap();
        let strings = literals(&data).into_iter();
        texts.extend(strings.map(|text| (file.clone(), text)));
    }
    assert!(
        texts.len() > 500,
        "the scan finds literals: {}",
        texts.len()
    );
    texts
}

/// The vectors' words are single words without digits; the weights of shapes and sketches are numbers.
#[test]
fn the_binary_data_of_the_rules_holds_no_text_but_single_words() {
    let vectors = std::fs::read(root().join(EMBEDDED).join("weights/vectors.bin")).unwrap();
    let number = |at: usize| u32::from_le_bytes(vectors[at..at + 4].try_into().unwrap()) as usize;
    let (count, dimensions, text) = (number(0), number(4), number(8));
    assert_eq!(vectors.len(), 12 + text + count * dimensions);
    let words = std::str::from_utf8(&vectors[12..12 + text]).unwrap();
    assert_eq!(words.lines().count(), count);
    let single =
        |word: &str| (3..=20).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase());
    assert_eq!(words.lines().find(|word| !single(word)), None);
    for (file, classes) in [
        ("shapes.bin", training::SHAPES.len()),
        ("sketches.bin", training::SKETCHES.len()),
    ] {
        let weights = std::fs::read(root().join(EMBEDDED).join("weights").join(file)).unwrap();
        assert_eq!(weights.len(), 4 + training::BUCKETS * classes, "{file}");
    }
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
    for (file, text) in texts(&[DECIDING, PASSED_THROUGH].concat()) {
        for run in words(&text).windows(TELLING) {
            assert!(!runs.contains(run), "{}: {run:?}", file.display());
        }
    }
}
