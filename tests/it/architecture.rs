//! The structure of the code: the direction of dependencies, file sizes, where gold is used.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Which module of a package may use which other modules of its package; all may use
/// `telemetry`. Cargo enforces which package may use which, and `.ci/circles` that files do not
/// import each other in a circle. `docs/architecture.md` says why.
const ALLOWED: &str = "
finqa-core
    error
    files
    net
    number      text
    options
    outcome
    page        number question short_text table text
    program     number
    question    number page table
    secrets
    short_text
    stats
    table       number question text
    text
finqa-fetch
    error
    options
    published   options
    archive     error options
    http        error options
finqa-documents
    error
    cells
    text        cells
    decode      error
    kind        text
    tags
    source
    grid        cells error source tags
    block       cells grid text
    lines       block cells grid text
    formats     block cells decode error grid kind lines source tags text
    document    block cells formats grid source tags text
finqa-embedded
    expr
    explanation
    shape       expr
    sketch      expr
    reading     expr
    question    expr operations reading shape sketch
    passages    reading tables
    tables      explanation expr operations reading
    operations  expr question
    ranking     answering expr question reading shape sketch
    weights     answering question ranking
    answering   explanation expr question ranking reading shape tables weights
    training    answering expr question ranking shape sketch weights
finqa-agents
    telemetry
    prompt
    parse
    llm         parse
    graph
    pair        graph llm parse prompt
    solve       llm pair parse
finqa-env
    python
    data        python
    tools       data python
    reward      python
    episode     data python reward tools
    server      data episode python reward tools
finqa-score
    dataset
    calibration
    score       calibration dataset
    analysis    dataset score
    improve     dataset
finqa-journal
    settings
    run         settings
    answers     run
finqa-ask
    cited
    excerpt
    written     cited
    confirm     cited written
    statements
    gate        cited confirm statements written
finqa-report
    telemetry
    output
finqa-run
    engine
    pipeline    engine
    improve     engine pipeline
    env_build
    episodes    engine env_build pipeline
";

/// The modules that a module of a package may use.
fn allowed(package: &str, module: &str) -> Option<Vec<&'static str>> {
    let lines = ALLOWED.lines().skip_while(|line| *line != package).skip(1);
    lines
        .take_while(|line| line.starts_with(' '))
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|words| words[0] == module)
}

/// These may use everything.
const TOP: [&str; 3] = ["cli", "lib", "main"];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The packages of the workspace, with their folders.
fn packages() -> Vec<(String, PathBuf)> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let named = crates.map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), entry.path())
    });
    let main = ("convfinqa".to_owned(), root().to_owned());
    named.chain([main]).collect()
}

pub fn source_files() -> Vec<PathBuf> {
    let sources = packages().into_iter().map(|(_, folder)| folder.join("src"));
    sources.flat_map(|source| rust_files(&source)).collect()
}

pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files_of(folder, &["rs"])
}

/// The files below a folder with one of these extensions; "" is none.
pub fn files_of(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            files.extend(files_of(&path, extensions));
        } else if extensions.contains(&extension.as_ref()) {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The package of a source file, and its module there.
fn module_of(file: &Path) -> (String, String) {
    let inside = |(package, folder): (String, PathBuf)| {
        let path = file.strip_prefix(folder.join("src")).ok()?;
        let module = Path::new(path.iter().next()?).with_extension("");
        Some((package, module.display().to_string()))
    };
    packages().into_iter().find_map(inside).unwrap()
}

/// Code without the items that only tests have. `rustfmt` has written it: an item of
/// several lines ends with the first `}` that is indented as its attribute is.
pub fn without_tests(code: &str) -> String {
    let mut lines = code.lines();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        let Some(indent) = line.strip_suffix("#[cfg(test)]") else {
            kept.extend([line, "\n"]);
            continue;
        };
        let last = format!("{indent}}}");
        let item = lines
            .by_ref()
            .find(|line| !line.trim_start().starts_with("#["));
        if item.is_some_and(|first| !first.ends_with(';')) {
            lines
                .by_ref()
                .find(|line| *line == last)
                .expect("an end of the item");
        }
    }
    kept
}

/// The code of a file without its comments and the items of tests.
fn code(file: &Path) -> String {
    without_tests(&std::fs::read_to_string(file).unwrap())
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Modules of its own package that code uses: each `crate::module`, also within `use crate::{…}`.
fn used_modules(package: &str, code: &str) -> Vec<String> {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bcrate::(\{[^;]*\}|[a-z_]+)").unwrap());
    static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^\{?|,)\s*([a-z_]+)").unwrap());
    let mut modules = Vec::new();
    for found in PATH.captures_iter(code) {
        // What is not in the table is an item of `lib.rs`.
        let names = NAME.captures_iter(&found[1]).map(|name| name[1].to_owned());
        modules.extend(names.filter(|name| allowed(package, name).is_some()));
    }
    modules
}

#[test]
fn each_module_uses_only_the_modules_it_may() {
    let mut wrong = Vec::new();
    for file in source_files() {
        let (package, module) = module_of(&file);
        if TOP.contains(&module.as_str()) {
            continue;
        }
        let shown = file.strip_prefix(root()).unwrap().display();
        let Some(may) = allowed(&package, &module) else {
            wrong.push(format!("{shown}: {module} is not in ALLOWED"));
            continue;
        };
        for used in used_modules(&package, &code(&file)) {
            if used != "telemetry" && !may.contains(&used.as_str()) {
                wrong.push(format!("{shown} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed:\n{}", wrong.join("\n"));
}

/// `finqa-score` holds gold; those that answer questions have no word for it. None of them uses that
/// package but `finqa-ask`, which takes probabilities from it.
#[test]
fn gold_is_named_in_no_package_that_answers() {
    let gold = Regex::new(r"\bGold\b|\bCase\b").unwrap();
    for answering in ["agents", "ask", "documents", "embedded", "env"] {
        let folder = root().join(format!("crates/finqa-{answering}"));
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let is_blind = !manifest.contains("finqa-score");
        assert!(is_blind || answering == "ask", "{answering}");
        for file in rust_files(&folder.join("src")) {
            // The word for where history comes from is one of `finqa-core`.
            let code = code(&file).replace("HistorySource::Gold", "");
            assert!(!gold.is_match(&code), "{} names gold", file.display());
        }
    }
}

#[test]
fn files_stay_under_500_lines() {
    let tests = packages()
        .into_iter()
        .map(|(_, folder)| folder.join("tests"))
        .filter(|tests| tests.is_dir())
        .flat_map(|tests| rust_files(&tests));
    let lines = |file: &PathBuf| std::fs::read_to_string(file).unwrap().lines().count();
    let long: Vec<_> = source_files()
        .into_iter()
        .chain(tests)
        .filter(|file| lines(file) > 500)
        .collect();
    assert!(long.is_empty(), "split: {long:?}");
}

#[test]
fn nothing_below_the_command_line_prints_or_reads_the_environment() {
    let printing = Regex::new(r"\b(e?print(ln)?!|std::env::|clap::)").unwrap();
    for file in source_files() {
        let (_, module) = module_of(&file);
        if ["cli", "main", "lib", "options", "output", "settings"].contains(&module.as_str()) {
            continue;
        }
        // Settings are declared with clap; only the command line parses them.
        let code = code(&file)
            .replace("clap::ValueEnum", "")
            .replace("clap::Arg", "")
            .replace("clap::value_parser", "")
            .replace("std::env::temp_dir", "");
        let found = printing.find(&code).map(|found| found.as_str().to_owned());
        assert!(found.is_none(), "{} uses {found:?}", file.display());
    }
}

/// General rules only: no record of the dataset may be special-cased.
#[test]
fn no_source_or_template_names_a_record_of_the_dataset() {
    // In a whole id, `Single_` stands before it: no boundary of words.
    let id = Regex::new(r"(\b|_)[A-Z]{1,5}/(19|20)\d\d(/page_\d+)?").unwrap();
    let prompts = files_of(&root().join("prompts"), &["j2", "txt"]);
    for file in source_files().into_iter().chain(prompts) {
        let text = if file.extension().is_some_and(|extension| extension == "rs") {
            code(&file)
        } else {
            std::fs::read_to_string(&file).unwrap()
        };
        assert!(
            !id.is_match(&text),
            "{} names a record: {:?}",
            file.display(),
            id.find(&text)
        );
    }
}

/// Test builds get the feature from a crate that only tests use, so that no test
/// of behaviour can see it missing from the program that is shipped.
#[test]
fn the_shipped_program_reads_floats_from_json_exactly() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let features = manifest["workspace"]["dependencies"]["serde_json"]["features"].as_array();
    let exact = |feature: &toml::Value| feature.as_str() == Some("float_roundtrip");
    assert!(
        features.is_some_and(|all| all.iter().any(exact)),
        "{features:?}"
    );
}
