//! Reads one cell: keeps its published text and determines its meaning.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::marks::{APPROXIMATE, is_doubled, is_footnote, lacks_meaning};
use super::years::year_of;
use crate::number::{self, Scale};
use crate::short_text::ShortText;

/// The source of a table. It decides which defects the cells may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableOrigin {
    /// The dataset's records. In their cells, dashes may have lost their escapes (`2014`), numbers
    /// may be written twice, headers are flattened and texts are in lower case.
    Published,
    /// A document of the user. Its cells are not repaired.
    Own,
}

/// The data that a file has about a cell in addition to its text, such as the stored number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellSource {
    /// The row of the cell, counted over all tables of the page.
    pub row: usize,
    pub column: usize,
    /// The stored number, in the printed scale and unit. The text may show it rounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The scale in the cell's number format. A different scale stated by the table replaces it,
    /// unless the cell's text has the scale word too (`scale_in_text`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scale_in_text: bool,
    /// The formula, if the value was computed from it because the file has no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The reason why a cell with a figure is not read, such as "in a hidden column".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The unit according to the figure's tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<TagUnit>,
}

/// The kind of quantity that a tagged figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagKind {
    Money,
    /// A fraction or a ratio.
    Pure,
    /// Shares, or an amount per share.
    Other,
}

/// The unit of a tagged figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagUnit {
    /// The power of ten by which the printed digits are multiplied.
    pub power: i32,
    pub kind: TagKind,
}

/// The kind of content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A single number, which may have a currency, a percent sign and a footnote mark.
    Number,
    /// A dash, which means nothing or nil. Also `2013` or `2014` if these are the digits of a
    /// dash's lost escape (`\u2013`, `\u2014`).
    Dash,
    /// A figure that cannot be read, such as a formula without a value.
    Unread,
    /// Any other text that is not blank.
    Text,
    /// Blank.
    Empty,
}

/// The number in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellNumber {
    /// The number as a literal of a program, which the official evaluator can read: `-2913`,
    /// `4.02%`, `206588`.
    pub literal: ShortText,
    /// The number as printed, with its sign: 14.1 for `14.1%`, -2913 for `-2913 ( 2913 )`. Gold
    /// programs use the absolute value for about two thirds of the negative numbers, such as
    /// outflows, charges and decreases.
    pub value: f64,
    /// True for a percentage; its fraction is `value / 100`.
    pub percent: bool,
    pub dollar: bool,
    /// True if the published text has the number twice, as in `-2913 ( 2913 )` or `28% ( 28 % )`.
    pub(super) doubled: bool,
    /// The scale word in the cell, as in `$ 2.7 billion`; if there is none, the scale of its tag.
    pub scale: Option<Scale>,
    /// True if a tag states the scale. Labels and captions then do not apply, even if the tag says
    /// that there is no scale.
    pub settled: bool,
    /// Details that few numbers have. They are boxed, because a table may have a million numbers.
    rare: Option<Box<RarePart>>,
}

/// Details of a number that few numbers have.
#[derive(Clone, Debug, Default, PartialEq)]
struct RarePart {
    printed: Option<ShortText>,
    words: Box<str>,
    side: Option<&'static str>,
}

/// A cell with its published text and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The text as published.
    pub raw: ShortText,
    pub kind: CellKind,
    /// The number in the cell. A cell of the kind `Text` may also have one, with words around it:
    /// `5.0 years`.
    pub number: Option<CellNumber>,
    /// Texts that few cells have, boxed to save memory.
    rare: Option<Box<RareTexts>>,
}

/// The texts that few cells have.
#[derive(Clone, Debug, Default, PartialEq)]
struct RareTexts {
    /// The text to show if it differs from the published text: words with repaired escapes.
    shown: Option<Box<str>>,
    unread: Option<Box<str>>,
}

impl Cell {
    /// Reads a published cell. A lone `2013` or `2014` is read as a number, although it may be a
    /// dash (U+2013 or U+2014) that lost its escape. Only the table around it can tell, see
    /// [`Cell::is_lost_dash`].
    pub fn read(raw: &str) -> Self {
        Self::read_as(raw, TableOrigin::Published)
    }

    /// Reads a cell from a table of this origin. Cells of a user's document are not repaired.
    pub(super) fn read_as(raw: &str, origin: TableOrigin) -> Self {
        Self::read_among(raw, origin, false)
    }

    /// Like [`Cell::read_as`]. `falls` means that some triangle in the table points down, so that a
    /// filled triangle that points up is a plus.
    pub(super) fn read_among(raw: &str, origin: TableOrigin, falls: bool) -> Self {
        let published = origin == TableOrigin::Published;
        let text = raw.trim();
        let (number, alone) = match text.strip_prefix('▲').filter(|_| falls) {
            Some(text) => CellNumber::read(text, published).unzip(),
            None => CellNumber::read(text, published).unzip(),
        };
        let kind = match (text.is_empty(), alone) {
            (true, _) => CellKind::Empty,
            _ if is_dash(text) => CellKind::Dash,
            (false, Some(true)) => CellKind::Number,
            _ => CellKind::Text,
        };
        let mut cell = Self {
            raw: raw.into(),
            kind,
            number,
            rare: None,
        };
        if kind == CellKind::Text
            && published
            && let Cow::Owned(repaired) = super::normalise_sentence(text)
        {
            cell.show(repaired);
        }
        cell
    }

    /// The text to show to a model or a person. Every dash is shown as `—`.
    pub(super) fn text(&self) -> &str {
        let shown = || self.rare.as_ref()?.shown.as_deref();
        match self.kind {
            CellKind::Dash => DASH,
            _ => shown().unwrap_or_else(|| self.raw.trim()),
        }
    }

    /// Shows another text than the published one.
    pub(super) fn show(&mut self, text: impl Into<Box<str>>) {
        self.rare.get_or_insert_default().shown = Some(text.into());
    }

    /// Why a cell of the kind `Unread` is not read: "in a hidden column".
    pub fn unread(&self) -> Option<&str> {
        self.rare.as_ref()?.unread.as_deref()
    }

    fn leave_unread(&mut self, why: impl Into<Box<str>>) {
        if self.kind == CellKind::Dash {
            self.show(DASH);
        }
        (self.kind, self.number) = (CellKind::Unread, None);
        self.rare.get_or_insert_default().unread = Some(why.into());
    }

    /// Marks a figure as unread if its sign or a mark on it cannot be interpreted.
    pub(super) fn check(&mut self) {
        if self.kind == CellKind::Text && lacks_meaning(self.text()) {
            let why = format!("printed as \"{}\", which is not understood", self.text());
            self.leave_unread(why);
        }
    }

    /// Turns the cell into a dash but keeps its published text.
    #[must_use]
    pub(super) fn into_dash(self) -> Self {
        Self {
            kind: CellKind::Dash,
            number: None,
            ..self
        }
    }

    /// Adds what the file states about the cell in addition to its text.
    pub(super) fn add(&mut self, source: &CellSource) {
        if let Some(why) = &source.unread {
            self.leave_unread(why.as_str());
            return;
        }
        let Some(value) = source.value else {
            return;
        };
        if self.kind == CellKind::Dash {
            self.show(DASH);
        }
        let printed = self.number.take().filter(|_| self.kind == CellKind::Number);
        let percent = self.raw.contains('%');
        let sign = if percent { "%" } else { "" };
        self.kind = CellKind::Number;
        let literal = ShortText::from(format!("{value}{sign}"));
        self.number = Some(CellNumber {
            value,
            percent,
            dollar: self.raw.contains('$'),
            doubled: false,
            scale: printed.as_ref().and_then(|one| one.scale).or(source.scale),
            settled: false,
            rare: Some(Box::new(RarePart {
                side: printed.as_ref().and_then(CellNumber::side),
                printed: Some(printed.map_or_else(|| literal.clone(), |one| one.literal)),
                words: Box::default(),
            })),
            literal,
        });
    }

    /// The number, if the cell contains nothing else.
    pub(super) fn alone(&self) -> Option<&CellNumber> {
        let number = self.number.as_ref();
        number.filter(|_| self.kind == CellKind::Number)
    }

    /// The number as printed (14.1 for `14.1%`), if the cell contains nothing else.
    pub fn value(&self) -> Option<f64> {
        self.alone().map(|number| number.value)
    }

    /// The number as a program reads its literal (0.141 for `14.1%`), if the cell contains nothing
    /// else.
    pub fn fraction(&self) -> Option<f64> {
        let number = self.alone()?;
        let whole = if number.percent { 100.0 } else { 1.0 };
        Some(number.value / whole)
    }

    /// True if the cell may be an en dash (U+2013) or em dash (U+2014) that lost its escape:
    /// `2014`, `$ 2014`, `2013`. It may also be a year, so call this only where no years are
    /// expected.
    pub fn is_lost_dash(&self) -> bool {
        let text = self.raw.trim();
        let text = text.strip_prefix('$').map_or(text, str::trim_start);
        let text = text.strip_suffix('%').map_or(text, str::trim_end);
        matches!(text, "2013" | "2014")
    }

    /// True if the cell is a year and nothing else.
    pub fn is_year(&self) -> bool {
        year_of(self.raw.trim()).is_some()
    }
}

/// The form in which every dash is shown, however the file writes it.
pub(super) const DASH: &str = "—";

/// True for a text of dashes only, which may have a `$` before and a `%` after them.
fn is_dash(text: &str) -> bool {
    let text = text.strip_prefix('$').map_or(text, str::trim_start);
    let text = text.strip_suffix('%').map_or(text, str::trim_end);
    !text.is_empty()
        && text
            .chars()
            .all(|c| number::fold(c) == '-' || c.is_whitespace())
}

impl CellNumber {
    /// Uses the scale that the tag states, except for percentages and for money with a printed
    /// scale. If tag and printed scale differ there, the figure is doubtful, and the tag cannot
    /// correct it.
    pub(super) fn settle(&mut self, tag: TagUnit, printed: Option<Scale>) {
        // The scales for the powers 0, 3, 6 and 9. Any other power changes no scale.
        let scales = [
            None,
            Some(Scale::Thousand),
            Some(Scale::Million),
            Some(Scale::Billion),
        ];
        let power = usize::try_from(tag.power).ok();
        let at = power.filter(|power| power % 3 == 0).map(|power| power / 3);
        let scale = at.and_then(|at| scales.get(at));
        if let Some(scale) =
            scale.filter(|_| !(self.percent || tag.kind == TagKind::Money && printed.is_some()))
        {
            (self.scale, self.settled) = (*scale, true);
        }
        // A fraction whose printed digits are hundredths is a percentage.
        if tag.power == -2 && tag.kind == TagKind::Pure {
            self.mark_percent();
        }
    }

    /// Makes the number a percentage if its percent sign is elsewhere, such as in a label.
    pub(super) fn mark_percent(&mut self) {
        if !self.percent && self.scale.is_none() {
            self.percent = true;
            self.literal = format!("{}%", self.literal).into();
        }
    }

    /// Multiplies the number by a power of ten.
    pub(super) fn raise(&mut self, power: u32) {
        // The power is 3 at most (`Caption::power`), so the conversion cannot fail.
        self.value *= 10_f64.powi(i32::try_from(power).unwrap_or(0));
        self.literal = self.value.to_string().into();
        if let Some(rare) = &mut self.rare {
            // The printed digits are no longer those of the value.
            rare.printed = None;
        }
    }

    /// Reads the first number of a cell. The flag is true if the number is not in basis points and
    /// the cell contains nothing else except a footnote mark.
    fn read(text: &str, published: bool) -> Option<(Self, bool)> {
        // `( 41 ) % (  % )` is the remainder of a negative percentage that was written twice.
        let (text, half_doubled) = match text.strip_suffix("(  % )").filter(|_| published) {
            Some(front) => (front.trim_end(), true),
            None => (text, false),
        };
        // In a spreadsheet, a leading apostrophe marks a cell as text.
        let guard = text.strip_prefix(['\'', '’']).filter(|_| !published);
        let text = guard.unwrap_or(text);
        let reading = number::read(text)?;
        let (before, rest) = text.split_at_checked(reading.span.start)?;
        let (printed, after) = rest.split_at_checked(reading.span.len())?;
        let marked = is_footnote(after.trim());
        let alone = before.trim().is_empty() && marked && !reading.basis_points;
        // After words, a number in brackets refers to a note.
        let note = printed.starts_with('(') && before.contains(char::is_alphabetic);
        let about = |word: &str| APPROXIMATE.contains(&word.trim_matches(['.', '~', '≈']));
        let named = !published && !before.to_lowercase().split_whitespace().all(about);
        // Text that touches the number may change it, unless it is a footnote mark.
        if note || named || !marked && !after.starts_with([' ', ')', '*']) {
            return None;
        }
        let sign = if reading.value < 0.0 { "-" } else { "" };
        let percent = if reading.percent { "%" } else { "" };
        // Ignore text in brackets after the number, because it does not change the number.
        let after = after.split('(').next().unwrap_or_default();
        let words = before.split_whitespace().chain(after.split_whitespace());
        let words = words.filter(|piece| !alone && piece.contains(char::is_alphanumeric));
        let words = words.chain(reading.basis_points.then_some("bps"));
        let words = words.collect::<Vec<_>>().join(" ");
        let number = Self {
            literal: format!("{sign}{}{percent}", reading.literal).into(),
            value: reading.value,
            percent: reading.percent,
            dollar: printed.contains('$'),
            doubled: published && (half_doubled || is_doubled(text)),
            scale: reading.scale,
            settled: false,
            rare: (!words.is_empty()).then(|| {
                Box::new(RarePart {
                    words: words.into(),
                    ..RarePart::default()
                })
            }),
        };
        Some((number, alone))
    }

    /// The literal without its percent sign.
    pub fn bare(&self) -> &str {
        self.literal.trim_end_matches('%')
    }

    /// The number in units: 5,000,000 for "5" in millions.
    pub fn in_units(&self) -> f64 {
        self.value * self.scale.map_or(1.0, Scale::factor)
    }

    /// The printed digits as a literal, if the file stores more digits than it prints.
    pub fn printed(&self) -> Option<&str> {
        self.rare.as_ref()?.printed.as_deref()
    }

    /// The words next to the number, as in `5.0 years`. Empty for a cell of the kind `Number`.
    pub fn words(&self) -> &str {
        self.rare.as_ref().map_or("", |rare| &rare.words)
    }

    /// The side of an account, `Dr` or `Cr`, in a table that has both.
    pub fn side(&self) -> Option<&'static str> {
        self.rare.as_ref()?.side
    }

    pub(super) fn set_side(&mut self, side: Option<&'static str>) {
        if side.is_some() || self.rare.is_some() {
            self.rare.get_or_insert_default().side = side;
        }
    }
}

#[cfg(test)]
mod tests;
