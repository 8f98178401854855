//! Tests of the pages: what is generated is up to date, and links lead somewhere.
//!
//! `CONVFINQA_UPDATE=1 cargo nextest run pages::` writes the generated
//! page and the recorded help again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use finqa_journal::settings::{Settings, keys};

/// The page in the repository equals the generated one; with `CONVFINQA_UPDATE` it is
/// written first.
fn holds(page: &str, path: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("CONVFINQA_UPDATE").is_some() {
        std::fs::write(&file, page).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == page,
        "{path} is out of date: run this test with CONVFINQA_UPDATE=1"
    );
}

#[test]
fn the_help_of_every_command_is_as_recorded() {
    holds(&help_of_every_command(), "tests/it/help.txt");
}

#[test]
fn the_short_help_shows_the_options_that_people_use() {
    let mut command = convfinqa::cli::command().term_width(80);
    command.build();
    let lines = command.render_help().to_string().lines().count();
    assert!(lines <= 110, "{lines} lines");
    let shown = command
        .get_arguments()
        .filter(|option| !option.is_hide_short_help_set())
        .filter(|option| !["help", "version"].contains(&option.get_id().as_str()));
    assert_eq!(shown.count(), 25);
}

#[test]
fn the_configuration_page_has_every_setting() {
    holds(&configuration_page(), "docs/configuration.md");
}

/// The help of every command, so that no option changes unseen.
fn help_of_every_command() -> String {
    fn describe(command: &mut clap::Command, path: &str, help: &mut String) {
        let own = command.render_long_help().to_string();
        let lines = own.lines().map(str::trim_end);
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        help.push_str(&format!("==== {path}\n{}\n", lines.join("\n")));
        for sub in command.get_subcommands_mut() {
            let path = format!("{path} {}", sub.get_name());
            if !path.contains(" help") {
                describe(sub, &path, help);
            }
        }
    }
    let mut command = convfinqa::cli::command().term_width(100);
    command.build();
    let mut help = String::new();
    describe(&mut command, "convfinqa", &mut help);
    help
}

/// The table of settings in place of the mark in the page's hand-written text.
fn configuration_page() -> String {
    let mut command = convfinqa::cli::command();
    command.build();
    let run = command.find_subcommand("run").unwrap();
    let defaults = toml::Table::try_from(Settings::default()).unwrap();
    let mut table = "| key | flag | default | what |\n|---|---|---|---|\n".to_owned();
    for key in keys() {
        let flag = key.replace('_', "-");
        let argument = run
            .get_arguments()
            .find(|argument| argument.get_long() == Some(flag.as_str()))
            .unwrap_or_else(|| panic!("the setting {key} has no flag"));
        let help = argument.get_help().unwrap().to_string();
        let (what, said) = match help.split_once(" [default: ") {
            Some((what, said)) => (what, said.trim_end_matches(']')),
            None => (help.as_str(), ""),
        };
        let default = match defaults.get(key) {
            _ if !said.is_empty() => said.to_owned(),
            Some(value) => format!("`{}`", value.to_string().trim_matches('"')),
            None => "–".to_owned(),
        };
        let values: Vec<_> = argument
            .get_possible_values()
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let values = match values.as_slice() {
            [] => String::new(),
            [flag, _] if flag == "`true`" => String::new(),
            values => format!(" ({})", values.join(", ")),
        };
        table.push_str(&format!(
            "| `{key}` | `--{flag}` | {default} | {what}{values} |\n"
        ));
    }
    let text = include_str!("configuration.md");
    assert!(text.contains(TABLE), "the text has no place for the table");
    text.replace(TABLE, table.trim_end())
}

const TABLE: &str = "<!-- settings -->";

/// README, CONTRIBUTING and the pages of `docs`, with their paths.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(root.join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let others = ["README.md", "CONTRIBUTING.md", "output/README.md"];
    let paths = docs.chain(others.map(|name| root.join(name)));
    paths
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect()
}

/// The anchors that GitHub gives to the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| {
        let heading = line.trim_start_matches('#');
        (heading.len() < line.len()).then(|| heading.strip_prefix(' '))?
    });
    headings
        .map(|heading| {
            let kept = heading.trim().chars().filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || "-_".contains(c) => Some(c.to_ascii_lowercase()),
                _ => None,
            });
            kept.collect()
        })
        .collect()
}

#[test]
fn links_of_the_pages_lead_to_files_and_headings() {
    let link = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut seen = 0;
    for (page, text) in pages() {
        for target in link.captures_iter(&text).map(|found| found[1].to_owned()) {
            if target.starts_with("http") {
                continue;
            }
            seen += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            assert!(file.exists(), "{}: {target} leads nowhere", page.display());
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&file).unwrap();
                let found = anchors(&text).contains(anchor);
                assert!(found, "{}: {target}: no such heading", page.display());
            }
        }
    }
    assert!(seen > 100, "only {seen} links seen");
}
