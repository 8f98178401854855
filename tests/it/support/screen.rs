//! What a terminal shows of the bytes that were written to it, its scroll-back
//! included; and running the binary in one.

use std::path::Path;
use std::process::Command;

use super::cli::Workplace;

/// A terminal's lines, as many as were written.
pub struct Screen {
    columns: usize,
    /// Characters, and whether the line goes on from the one above.
    lines: Vec<(Vec<char>, bool)>,
    row: usize,
    column: usize,
}

impl Screen {
    /// What is seen of `written`. Panics at a control that no one of ours means.
    pub fn of(written: &str, columns: usize) -> Self {
        let mut screen = Self {
            columns,
            lines: vec![(Vec::new(), false)],
            row: 0,
            column: 0,
        };
        let mut rest = written.chars();
        while let Some(c) = rest.next() {
            match c {
                '\r' => screen.column = 0,
                '\n' => screen.down(false),
                '\u{1b}' => {
                    assert_eq!(rest.next(), Some('['), "{written:?}");
                    let mut number = String::new();
                    let letter = rest.find(|c| {
                        number.push(*c);
                        c.is_ascii_alphabetic()
                    });
                    number.pop();
                    screen.obey(letter.unwrap(), number.parse().ok());
                }
                _ => screen.put(c),
            }
        }
        screen
    }

    /// Lines as they were written, those that did not fit put together again.
    pub fn text(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (line, goes_on) in &self.lines {
            let line: String = line.iter().collect();
            match lines.last_mut() {
                Some(last) if *goes_on => last.push_str(&line),
                _ => lines.push(line),
            }
        }
        lines
    }

    fn down(&mut self, goes_on: bool) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push((Vec::new(), goes_on));
        }
    }

    fn put(&mut self, c: char) {
        assert!(!c.is_control(), "{c:?}");
        if self.column == self.columns {
            self.down(true);
            self.column = 0;
        }
        let line = &mut self.lines[self.row].0;
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = c;
        self.column += 1;
    }

    fn obey(&mut self, letter: char, number: Option<usize>) {
        let by = number.unwrap_or(1);
        match (letter, number.unwrap_or(0)) {
            ('A', _) => self.row = self.row.saturating_sub(by),
            ('B', _) => (0..by).for_each(|_| self.down(false)),
            ('C', _) => self.column += by,
            ('D', _) => self.column = self.column.saturating_sub(by),
            ('G', _) => self.column = by - 1,
            ('K', 0) => self.lines[self.row].0.truncate(self.column),
            ('K', 2) => self.lines[self.row] = (Vec::new(), false),
            ('J', 0) => {
                self.lines.truncate(self.row + 1);
                self.lines[self.row].0.truncate(self.column);
            }
            // Colours; whether the cursor is seen.
            ('m' | 'h' | 'l', _) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// What the binary writes to a terminal of so many columns that is its stdout and
/// its stderr; `None` with the reason printed where there is no Python to make one.
pub fn in_terminal(
    place: &Workplace,
    columns: usize,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/in_terminal.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(columns.to_string())
        .arg(env!("CARGO_BIN_EXE_convfinqa"))
        .args(arguments)
        .current_dir(place.folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", place.folder.path())
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            let required = std::env::var_os("CONVFINQA_REQUIRE_PYTHON").is_some();
            assert!(!required, "python3: {error}");
            println!("skipped: python3 cannot be started ({error})");
            return None;
        }
    };
    let written = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{written}{said}");
    Some(written)
}
