//! Defines a line of text whose pieces have positions.

use crate::cells;
use crate::text::printed;

/// Maximum distance between the lines of a paragraph, in line heights. Set by hand.
pub(super) const LINES_APART: f64 = 1.9;

/// A part of a line between wide gaps, from `start` to before `end`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedPiece {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// A line with its pieces from left to right.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedLine {
    /// The distance from the top of the page.
    pub(crate) top: f64,
    pub(crate) height: f64,
    pub(crate) pieces: Vec<PlacedPiece>,
}

impl PlacedPiece {
    /// True for a number or a dash, but not for a year, which is a heading.
    pub(super) fn is_figure(&self) -> bool {
        cells::is_figure(&self.text) && !cells::is_year(&self.text)
    }

    /// True for a rule, which is only dashes or the like under figures. A single dash is a figure.
    pub(super) fn is_rule(&self) -> bool {
        self.text.len() > 1
            && self
                .text
                .chars()
                .all(|c| matches!(c, '-' | '=' | '_' | ' '))
    }

    /// True if `next`, a character after a space, begins another figure of the row: "327 $ 35,005",
    /// "581 34". A single digit or hyphen does not end, so "- 34" stays one figure.
    pub(crate) fn ends_before(&self, next: char) -> bool {
        let begins = matches!(next, '$' | '€' | '£' | '¥' | '-' | '—') || next.is_ascii_digit();
        begins && self.text.len() > 1 && cells::is_figure(&self.text)
    }
}

impl PlacedLine {
    /// True for a label with figures after it.
    pub(super) fn is_row(&self) -> bool {
        self.pieces.iter().skip(1).any(PlacedPiece::is_figure)
    }

    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self
            .pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        printed(&texts.join(" "))
    }

    pub(super) fn start(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.start)
    }

    pub(super) fn end(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// The distance below an earlier line, in line heights.
    pub(super) fn below(&self, earlier: &Self) -> f64 {
        (self.top - earlier.top) / self.height.max(earlier.height)
    }
}
