//! The wording of README, docs, help (`docs/cli.md` is the help of every command), HTML pages,
//! scripts, settings of tools, comments, names of functions and errors: turns of phrase that plain English does not
//! use are refused.

use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;

use crate::architecture::{files_of, root, rust_files, source_files};

/// A pattern, and what to write instead.
const AVOIDED: &[(&str, &str)] = &[
    (r"\bmend(s|ed|ing)?\b", "fix"),
    (r"\bbeside\b", "next to, with, alongside"),
    (r"\b(is|are|was|were) told\b", "is logged, is shown, learns"),
    (r"\b(go|goes|gone|went) on\b", "continue"),
    (r"\bput(s|ting)? ((a|an|the) \w+ )?down\b", "record"),
    (r"\b(comes?|came) to\b", "equals, results in"),
    (r"\bstands (in|as|at|on|by|there|already|beside)\b", "is"),
    (r"\bas filed\b", "as published, original"),
    (r"\bat hand\b", "available"),
    (r"\bhow-manieth\b", "its position"),
    (r"\b(house|rooms?)\b", "module, package, space"),
    (r"\bthat is none\b", "that is not one"),
    (r"\bfor want of\b", "because there is no"),
    (r"\b(unborn|worked1)\b", "a plain name"),
    (
        r"\b(embedded|built-in|offline) (rules|pair|baseline|solver)\b",
        "the embedded analyst",
    ),
    (r"\bin the place of\b", "instead of"),
    (r"\bfor good\b", "permanently"),
    (r"\b(came|comes|become|became) of\b", "the result of"),
    (r"\bnothing of\b", "nothing about, none of"),
    (r"\ball the same\b", "anyway, nevertheless"),
    (r"\btaken for\b", "considered, treated as"),
    (r"\bby accident\b", "unless it is named"),
    (
        r"\bthe reference\b",
        "the LangGraph baseline, or OpenEnv's finqa_env",
    ),
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = AVOIDED.iter().map(|(pattern, _)| {
        // A phrase may be broken over two lines.
        Regex::new(&format!("(?i){}", pattern.replace(' ', r"\s+"))).unwrap()
    });
    patterns.collect()
});

static NEGATED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(\w+)\s+(is|are)\s+no\s+(\w+)").unwrap());

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
        .iter()
        .chain(&["data/README.md", "output/README.md"])
        .map(|name| root().join(name))
        .collect();
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}

/// HTML pages, scripts, and settings of tools and containers.
fn scripts() -> Vec<PathBuf> {
    let extensions = ["html", "js", "py", "sh", "toml", "yaml", "yml", ""];
    let folders = [".ci", ".github", "crates", "deploy", "src", "tests"];
    let files = folders
        .iter()
        .flat_map(|folder| files_of(&root().join(folder), &extensions));
    let single = ["Cargo.toml", "deny.toml", "compose.yaml", "Dockerfile"];
    files
        .chain(single.iter().map(|name| root().join(name)))
        .collect()
}

/// Every avoided phrase of a text, with its line and what to write instead.
fn faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut add = |start: usize, found: &str, instead: &str| {
        let line = text[..start].matches('\n').count() + 1;
        faults.push(format!("line {line}: \"{found}\" (write: {instead})"));
    };
    for (pattern, (_, instead)) in PATTERNS.iter().zip(AVOIDED) {
        for found in pattern.find_iter(text) {
            add(found.start(), found.as_str(), instead);
        }
    }
    // "there is no X" and "is no longer" are plain English.
    for found in NEGATED.captures_iter(text) {
        let all = found.get(0).unwrap();
        if !found[1].eq_ignore_ascii_case("there") && !["longer", "more"].contains(&&found[3]) {
            add(all.start(), all.as_str(), "is not a");
        }
    }
    faults
}

#[test]
fn avoided_phrases_are_found_and_plain_ones_are_not() {
    for fault in [
        "a cell that is no number", "the words as filed", "the file goes\non",
        "It is told to MLflow.", "ADDRESS stands\nin the list", "as The reference does",
        "a finding beside a program", "answers of the offline pair", "Puts a call down.",
        "a score says nothing of ConvFinQA",
    ] {
        assert_eq!(faults(fault).len(), 1, "{fault}");
    }
    for plain in [
        "There is no other rule, and the run is no longer active.",
        "A stand-alone question; besides, NM stands for numeric match.",
        "a reference page, the warehouse, amendments",
    ] {
        assert_eq!(faults(plain), Vec::<String>::new(), "{plain}");
    }
}

#[test]
fn readme_docs_help_and_scripts_use_plain_english() {
    let mut all = Vec::new();
    for page in pages().into_iter().chain(scripts()) {
        let text = std::fs::read_to_string(&page).unwrap();
        let page = page.strip_prefix(root()).unwrap().display();
        all.extend(faults(&text).iter().map(|fault| format!("{page} {fault}")));
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

/// Comments, names of functions and texts of errors of a source file; other lines are empty.
fn prose(source: &str) -> String {
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bfn (\w+)").unwrap());
    let mut error = false;
    let mut prose = String::new();
    for line in source.lines() {
        let text = line.trim_start();
        let starts = ["#[error(", "bail!(", "anyhow!("];
        error |= starts.iter().any(|start| text.contains(start));
        if error || text.starts_with("//") {
            prose.push_str(text.trim_start_matches(['/', '!']));
        } else if let Some(function) = FUNCTION.captures(text) {
            prose.push_str(&function[1].replace('_', " "));
        }
        error &= !text.ends_with([']', ';']);
        prose.push('\n');
    }
    prose
}

#[test]
fn comments_names_and_errors_use_plain_english() {
    let mut all = Vec::new();
    let others = ["tests", "benches", "examples"].map(|folder| root().join(folder));
    let others = others.iter().flat_map(|folder| rust_files(folder));
    let tests = root().join("crates").read_dir().unwrap();
    let tests = tests.flat_map(|package| rust_files(&package.unwrap().path().join("tests")));
    for file in source_files().into_iter().chain(others).chain(tests) {
        // The phrases themselves.
        if file.ends_with("wording.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(root()).unwrap().display();
        let faults = faults(&prose(&text));
        all.extend(faults.iter().map(|fault| format!("{file} {fault}")));
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

#[test]
fn the_prose_of_a_source_file_is_its_comments_names_and_errors() {
    let source =
        "/// Told.\n// At hand.\n#[error(\n    \"goes on\"\n)]\nlet room = 1;\nfn it_is_told() {}";
    assert_eq!(faults(&prose(source)).len(), 3, "{}", prose(source));
    assert!(!prose(source).contains("room"));
}

#[test]
fn the_readme_stays_below_150_lines() {
    let lines = std::fs::read_to_string(root().join("README.md"))
        .unwrap()
        .lines()
        .count();
    assert!(lines < 150, "{lines} lines");
}
