//! Completions and man pages: that shells and `man` take them.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::cli::Workplace;

/// Every command with the commands above it, such as `data download`.
fn commands() -> Vec<Vec<String>> {
    fn below(command: &clap::Command, path: &[String], found: &mut Vec<Vec<String>>) {
        for sub in command.get_subcommands() {
            if sub.get_name() == "help" {
                continue;
            }
            let path = [path, &[sub.get_name().to_owned()]].concat();
            below(sub, &path, found);
            found.push(path);
        }
    }
    let mut found = Vec::new();
    below(&convfinqa::cli::command(), &[], &mut found);
    found
}

/// Whether a program accepts a text on its input, and what it prints.
#[track_caller]
fn output_of(program: &str, arguments: &[&str], input: &str) -> (bool, String) {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{program}: {error}"));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.success(), text)
}

fn completions(shell: &str) -> String {
    let ran = Workplace::new().run(&["completions", shell]);
    ran.succeeds().stdout.clone()
}

#[track_caller]
fn reads_its_completions(shell: &str, check: &str) {
    let (fine, text) = output_of(shell, &[check], &completions(shell));
    assert!(fine && text.is_empty(), "{text}");
}

#[test]
fn every_command_is_among_the_completions_of_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = completions(shell);
        for path in commands() {
            let name = path.last().unwrap();
            assert!(
                script.contains(name.as_str()),
                "{shell} does not know {name}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_reads_its_completions() {
    reads_its_completions("bash", "-n");
}

#[test]
#[ignore = "needs zsh"]
fn needs_zsh_reads_its_completions() {
    reads_its_completions("zsh", "-n");
}

#[test]
#[ignore = "needs fish"]
fn needs_fish_reads_its_completions() {
    reads_its_completions("fish", "--no-execute");
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_options() {
    let script = completions("bash");
    let completed = |words: &[&str]| {
        let line = words.join(" ");
        let asked = format!(
            "{script}\nCOMP_WORDS=({line} {last}); COMP_CWORD={at}\n\
             _convfinqa convfinqa {current} {before}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            last = if line.ends_with(' ') { "''" } else { "" },
            at = words.len() - 1,
            current = words.last().unwrap(),
            before = words[words.len() - 2],
        );
        let (_, text) = output_of("bash", &["--norc", "-s"], &asked);
        text.trim().to_owned()
    };
    assert_eq!(completed(&["convfinqa", "re"]), "report");
    assert_eq!(completed(&["convfinqa", "compare", "--ht"]), "--html");
    assert_eq!(completed(&["convfinqa", "--color", "al"]), "always");
}

/// The names of all man pages, with their texts.
fn man_pages(place: &Workplace) -> Vec<(String, String)> {
    place.run("man --output pages/man1").succeeds();
    let names = commands()
        .into_iter()
        .map(|path| format!("convfinqa-{}", path.join("-")));
    let names = std::iter::once("convfinqa".to_owned()).chain(names);
    names
        .map(|name| {
            let page = place.read(&format!("pages/man1/{name}.1"));
            (name, page)
        })
        .collect()
}

#[test]
fn every_command_has_a_man_page() {
    let place = Workplace::new();
    let pages = man_pages(&place);
    for (name, page) in &pages {
        let title = format!(".TH {name} 1");
        assert!(page.contains(&title), "{name}: {page}");
        for section in ["NAME", "SYNOPSIS"] {
            assert!(page.contains(&format!(".SH {section}")), "{name}: {page}");
        }
    }
    let main = place.run("man").succeeds().stdout.clone();
    assert!(
        main.contains("Which part of a reply gives the value of the answer"),
        "the text of an option that -h leaves out: {main}"
    );
    for path in commands().iter().filter(|path| path.len() == 1) {
        let escaped = path[0].replace('-', "\\-");
        assert!(
            main.contains(&format!("convfinqa\\-{escaped}(1)")),
            "{path:?}"
        );
    }
    let written = std::fs::read_dir(place.path("pages/man1")).unwrap().count();
    // clap's own `help` has pages too.
    assert!(written >= pages.len());
    place.write("taken", "a file");
    place.run("man --output taken").fails(2, &["taken"]);
}

#[test]
#[ignore = "needs groff"]
fn needs_groff_every_man_page_renders() {
    for (name, page) in man_pages(&Workplace::new()) {
        let arguments = ["-Kutf8", "-man", "-Tutf8", "-ww", "-P-c"];
        let (fine, text) = output_of("groff", &arguments, &page);
        assert!(fine && !text.contains("warning:"), "{name}: {text}");
        let title = name.replace('-', "\u{2010}");
        assert!(
            text.contains(&*name) || text.contains(&title),
            "{name}: {text}"
        );
    }
}

/// `| head` once ended the completions in a panic.
#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let place = Workplace::new();
    for arguments in [
        &["completions", "bash"][..],
        &["man"],
        &["graph"],
        &["graph", "--format", "svg"],
        &["data", "show", "Single_QELM/2012/page_88.pdf-4"],
        &["data", "stats", "sample"],
        &["--data-path", "sample", "--n", "2"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let errors = writer.try_clone().unwrap();
        for (stdout, stderr) in [
            (Stdio::from(writer.try_clone().unwrap()), Stdio::piped()),
            (Stdio::from(writer), Stdio::from(errors)),
        ] {
            let mut command = place.command();
            let child = command.args(arguments).stdout(stdout).stderr(stderr);
            let ended = child.spawn().unwrap().wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {told}");
        }
    }
}
