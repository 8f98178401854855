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

/// What a program says of a text on its input; `None` with the reason printed
/// if it is not at hand.
fn said_by(program: &str, arguments: &[&str], input: &str) -> Option<(bool, String)> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("skipped: {program} cannot be started ({error})");
            return None;
        }
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    Some((output.status.success(), text))
}

#[test]
fn shells_read_their_completions_and_every_command_is_among_them() {
    let place = Workplace::new();
    for (shell, program, check) in [
        ("bash", "bash", &["-n"][..]),
        ("zsh", "zsh", &["-n"]),
        ("fish", "fish", &["--no-execute"]),
        ("powershell", "", &[]),
        ("elvish", "", &[]),
    ] {
        let script = place.run(&["completions", shell]).succeeds().stdout.clone();
        for path in commands() {
            let name = path.last().unwrap();
            assert!(
                script.contains(name.as_str()),
                "{shell} does not know {name}"
            );
        }
        if !program.is_empty()
            && let Some((fine, text)) = said_by(program, check, &script)
        {
            assert!(fine && text.is_empty(), "{shell}: {text}");
        }
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let place = Workplace::new();
    let script = place
        .run(&["completions", "bash"])
        .succeeds()
        .stdout
        .clone();
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
        said_by("bash", &["--norc", "-s"], &asked).map(|(_, text)| text)
    };
    let Some(text) = completed(&["convfinqa", "re"]) else {
        return;
    };
    assert_eq!(text.trim(), "report");
    let text = completed(&["convfinqa", "compare", "--ht"]).unwrap();
    assert_eq!(text.trim(), "--html");
    let text = completed(&["convfinqa", "--color", "al"]).unwrap();
    assert_eq!(text.trim(), "always");
}

#[test]
fn every_command_has_a_man_page_that_renders() {
    let place = Workplace::new();
    let main = place.run(&["man"]).succeeds().stdout.clone();
    place.run(&["man", "--dir", "pages/man1"]).succeeds();
    let mut expected = vec!["convfinqa".to_owned()];
    expected.extend(
        commands()
            .iter()
            .map(|path| format!("convfinqa-{}", path.join("-"))),
    );
    for name in &expected {
        let page = place.read(&format!("pages/man1/{name}.1"));
        let Some((fine, text)) =
            said_by("groff", &["-Kutf8", "-man", "-Tutf8", "-ww", "-P-c"], &page)
        else {
            return;
        };
        assert!(fine && !text.contains("warning:"), "{name}: {text}");
        let title = name.replace('-', "\u{2010}");
        assert!(
            text.contains(&**name) || text.contains(&title),
            "{name}: {text}"
        );
    }
    for path in commands().iter().filter(|path| path.len() == 1) {
        let escaped = path[0].replace('-', "\\-");
        assert!(
            main.contains(&format!("convfinqa\\-{escaped}(1)")),
            "{path:?}"
        );
    }
    let written = std::fs::read_dir(place.path("pages/man1")).unwrap().count();
    // clap's own `help` has pages too.
    assert!(written >= expected.len());
    place.write("taken", "a file");
    place.run(&["man", "--dir", "taken"]).fails(2, &["taken"]);
}

/// `| head` once ended the completions in a panic.
#[test]
fn a_reader_that_goes_away_is_no_error() {
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
