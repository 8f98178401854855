//! The wording of README, docs and help (`docs/cli.md` is the help of every
//! command): turns of phrase that plain English does not use are refused.

use std::path::{Path, PathBuf};

use regex::Regex;

/// A pattern, and what to write instead.
const AVOIDED: &[(&str, &str)] = &[
    (r"\bmend(s|ed|ing)?\b", "fix"),
    (r"\bbeside\b", "next to, with, alongside"),
    (r"\b(is|are|was|were) told\b", "is logged, is shown, learns"),
    (r"\b(go|goes|gone|went) on\b", "continue"),
    (r"\bput(s|ting)? down\b", "record"),
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
        r"\bthe reference\b",
        "the LangGraph baseline, or OpenEnv's finqa_env",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

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

/// Every avoided phrase of a text, with its line and what to write instead.
fn faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut add = |start: usize, found: &str, instead: &str| {
        let line = text[..start].matches('\n').count() + 1;
        faults.push(format!("line {line}: \"{found}\" (write: {instead})"));
    };
    for (pattern, instead) in AVOIDED {
        // A phrase may be broken over two lines.
        let pattern = pattern.replace(' ', r"\s+");
        for found in Regex::new(&format!("(?i){pattern}"))
            .unwrap()
            .find_iter(text)
        {
            add(found.start(), found.as_str(), instead);
        }
    }
    // "there is no X" and "is no longer" are plain English.
    let negated = Regex::new(r"(?i)\b(\w+)\s+(is|are)\s+no\s+(\w+)").unwrap();
    for found in negated.captures_iter(text) {
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
        "a cell that is no number",
        "the words as filed",
        "the file goes\non",
        "It is told to MLflow.",
        "ADDRESS stands\nin the list",
        "as The reference does",
        "a finding beside a program",
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
fn readme_docs_and_help_use_plain_english() {
    let mut all = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let page = page.strip_prefix(root()).unwrap().display();
        all.extend(faults(&text).iter().map(|fault| format!("{page} {fault}")));
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

#[test]
fn the_readme_stays_below_150_lines() {
    let lines = std::fs::read_to_string(root().join("README.md"))
        .unwrap()
        .lines()
        .count();
    assert!(lines < 150, "{lines} lines");
}
