//! Replaces characters that look alike by one of them and removes decoration. All readers of
//! numbers use it first.

use std::borrow::Cow;

/// The character that is read instead of `c`: every dash becomes `-`, full-width forms become
/// ASCII, quotes become plain, and wide or narrow spaces become blanks.
///
/// ```
/// use finqa_core::number::fold;
/// let folded: String = "\u{2011}\u{ff15}\u{ff05}\u{2019}".chars().map(fold).collect();
/// assert_eq!(folded, "-5%'");
/// ```
pub fn fold(c: char) -> char {
    match c {
        // The full-width forms have the order of ASCII, 0xfee0 higher.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2796}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{fe62}' => '+',
        '\u{fe6a}' | '\u{66a}' => '%',
        '\u{fe69}' => '$',
        '\u{ffe1}' => '£',
        '\u{ffe5}' => '¥',
        '\u{ffe6}' => '₩',
        '‘' | '’' | '′' | 'ʼ' | '´' => '\'',
        '“' | '”' | '″' | '„' => '"',
        '⁄' | '∕' => '/',
        '⋅' | '·' | '✕' => '×',
        '≃' | '≅' => '≈',
        _ if c.is_whitespace() && !c.is_ascii() => ' ',
        _ => c,
    }
}

/// The character that every narrow or no-break space becomes in a folded text. Unlike a blank, it
/// can separate thousands.
pub(super) const THIN: char = '\u{a0}';

/// A text with folded characters, without emphasis, invisible characters and `LaTeX` commands.
pub(super) struct Folded<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) original: &'t str,
    /// The offset of each byte of `text` in the original; empty if nothing was changed.
    from: Vec<usize>,
}

impl<'t> Folded<'t> {
    pub(super) fn new(original: &'t str) -> Self {
        // No other ASCII character is changed or dropped, so most texts are borrowed.
        let plain = |byte: u8| byte.is_ascii() && !b"\\*_`{".contains(&byte);
        let mut out = Self {
            text: Cow::Borrowed(original),
            original,
            from: Vec::new(),
        };
        if original.bytes().all(plain) {
            return out;
        }
        let (mut text, mut at) = (String::with_capacity(original.len()), 0);
        while let Some(c) = original.get(at..).and_then(|rest| rest.chars().next()) {
            let (kept, length) = read_as(original, at, c);
            if let Some(kept) = kept {
                text.push(kept);
                out.from.resize(text.len(), at);
            }
            at += length;
        }
        out.text = Cow::Owned(text);
        out
    }

    /// Converts an offset in the folded text to one in the original.
    pub(super) fn place(&self, at: usize) -> usize {
        // `from` is also empty if every character was dropped; then the lengths differ.
        if self.from.is_empty() && self.text.len() == self.original.len() {
            at
        } else {
            self.from.get(at).copied().unwrap_or(self.original.len())
        }
    }
}

/// The text without decoration. Its other characters are unchanged: `−14.1%` for `**−14.1\%**`.
pub fn plain(text: &str) -> String {
    let folded = Folded::new(text);
    let kept = folded.text.char_indices().filter_map(|(at, c)| {
        let original = text.get(folded.place(at)..)?.chars().next()?;
        // A command such as `\times` starts with an ASCII backslash, so its sign is kept.
        Some(if original.is_ascii() { c } else { original })
    });
    kept.collect::<String>()
        .replace(['{', '}'], "")
        .trim()
        .to_owned()
}

/// The replacement of the character `c` at `at`, or `None` if the character is dropped, and the
/// number of bytes that are consumed.
fn read_as(text: &str, at: usize, c: char) -> (Option<char>, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let length = c.len_utf8();
    match c {
        '\\' => command(rest),
        // `LaTeX` may write the comma between thousands as `{,}`.
        '{' if rest.starts_with("{,}") => (Some(','), 3),
        '*' | '_' | '`' | '＿' | '＊' => emphasis(text, at, c),
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}' => (None, length),
        '\u{2060}'..='\u{2069}' => (None, length),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' => (Some(THIN), length),
        c => (Some(fold(c)), length),
    }
}

/// Reads a `LaTeX` command or an escaped character; `rest` starts with the backslash. Returns the
/// character that replaces it (`None` if nothing does), and the number of bytes to skip:
/// only the backslash for an escaped character such as `\%`.
fn command(rest: &str) -> (Option<char>, usize) {
    let name = rest.get(1..).unwrap_or_default();
    let end = name.find(|c: char| !c.is_ascii_alphabetic());
    let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
    match (name, rest.chars().nth(1)) {
        ("times" | "cdot" | "ast", _) => (Some('×'), 1 + name.len()),
        ("approx" | "simeq", _) => (Some('≈'), 1 + name.len()),
        // `\,` is a thin space.
        ("", Some(',')) => (Some(THIN), 2),
        ("", Some('(' | ')' | '[' | ']' | ';' | ':' | '!' | ' ' | '\\')) => (Some(' '), 2),
        // An escaped character such as `\%` only loses its backslash. Any other command becomes a
        // blank.
        ("", _) => (None, 1),
        (name, _) => (Some(' '), 1 + name.len()),
    }
}

/// Reads a run of the mark `c` at the byte `at`. Emphasis is dropped. Between operands, the mark is
/// an operator: `4*5`, `4 * 5`, and `10**6`, which becomes `10^6`. Returns the operator, or `None`
/// for emphasis, and the length of the run in bytes.
fn emphasis(text: &str, at: usize, c: char) -> (Option<char>, usize) {
    let (before, rest) = text.split_at_checked(at).unwrap_or_default();
    let behind = rest.trim_start_matches(c);
    let length = rest.len() - behind.len();
    let ends = |c: char| c.is_alphanumeric() || matches!(c, ')' | '%');
    let signed = behind
        .strip_prefix('-')
        .filter(|rest| rest.starts_with(|c: char| c.is_numeric()));
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '(' | '$');
    let touches = before.ends_with(ends) && (behind.starts_with(begins) || signed.is_some());
    let spaced = before.ends_with(char::is_whitespace) && behind.starts_with(char::is_whitespace);
    let power = length == 2 * c.len_utf8() && fold(c) == '*';
    if touches || spaced && before.trim_end().ends_with(ends) {
        (Some(if power { '^' } else { fold(c) }), length)
    } else {
        (None, length)
    }
}
