//! What a terminal shows of the bytes that were written to it, its scroll-back
//! included; and running the binary in one.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use rustix::pty::{self, OpenptFlags};
use rustix::termios::{self, Winsize};

use super::cli::Workplace;

/// A terminal's lines, as many as were written.
pub struct Screen {
    columns: usize,
    /// Characters, and whether the line continues the one above.
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
        } else if goes_on {
            // A line that something else was cleared from.
            self.lines[self.row].1 = true;
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

/// What the binary writes to a terminal of so many columns that is its stdin,
/// stdout and stderr.
pub fn in_terminal(
    place: &Workplace,
    columns: u16,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> String {
    let mut outside = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)
        .map(File::from)
        .unwrap();
    pty::grantpt(&outside).unwrap();
    pty::unlockpt(&outside).unwrap();
    let name = pty::ptsname(&outside, Vec::new()).unwrap();
    let inside = File::options()
        .read(true)
        .write(true)
        .custom_flags(OpenptFlags::NOCTTY.bits().cast_signed())
        .open(OsStr::from_bytes(name.as_bytes()))
        .unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    termios::tcsetwinsize(&inside, size).unwrap();
    let mut command = place.command();
    command
        .args(arguments)
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .stdin(inside.try_clone().unwrap())
        .stdout(inside.try_clone().unwrap())
        .stderr(inside);
    let mut child = command.spawn().unwrap();
    // The command holds the inner end open.
    drop(command);
    let mut written = Vec::new();
    // On Linux the outer end fails when the last inner one is closed.
    let _ = outside.read_to_end(&mut written);
    let written = String::from_utf8(written).unwrap();
    assert!(child.wait().unwrap().success(), "{written}");
    written
}
