//! Finds the characters of a PDF page and their positions, by running the operators that place
//! and draw text. The limits are set by hand.

use std::sync::Arc;

use hayro_font::hayro_cmap::BfString;
use hayro_font::hayro_syntax::content::TypedIter;
use hayro_font::hayro_syntax::content::ops::TypedInstruction;
use hayro_font::hayro_syntax::object::{Array, Dict, Name, Number, Object, String as PdfString};
use hayro_font::hayro_syntax::page::{Page, Resources};
use hayro_font::kurbo::{Affine, Point};
use hayro_font::{
    CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, UNITS_PER_EM,
};

/// Maximum depth of nested drawings (form XObjects). Deeper ones are skipped; a drawing can contain
/// itself.
const DEEPEST: usize = 8;

/// Maximum number of bytes of all drawings of a page. A drawing counts each time it is used.
const MOST_DRAWN: usize = 64 * 1024 * 1024;

/// Maximum number of saved graphics states, which bounds the memory. Further ones are not saved.
const MOST_SAVED: usize = 1000;

/// Maximum number of characters of a page. A page for readers has fewer; further ones are
/// dropped.
const MOST_ON_PAGE: usize = 200_000;

/// Text that rises or falls by more than this share of its length is not read.
const SLOPE: f64 = 0.1;

/// Font units per em, in which the widths of characters and the shifts between texts are given.
const EM: f64 = UNITS_PER_EM as f64;

/// The direction in which text runs on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Right,
    Down,
    Left,
    Up,
}

impl Direction {
    /// The direction of a step by these distances; `None` if it is not nearly horizontal or
    /// vertical.
    fn of(across: f64, down: f64) -> Option<Self> {
        let along = |main: f64, other: f64| main > 0.0 && other.abs() <= main * SLOPE;
        match () {
            () if along(across, down) => Some(Self::Right),
            () if along(down, across) => Some(Self::Down),
            () if along(-across, down) => Some(Self::Left),
            () if along(-down, across) => Some(Self::Up),
            () => None,
        }
    }

    /// The position of a point after the page is turned so that this text runs to the right.
    fn turned(self, at: Point) -> Point {
        match self {
            Self::Right => at,
            Self::Down => Point::new(at.y, -at.x),
            Self::Left => Point::new(-at.x, -at.y),
            Self::Up => Point::new(-at.y, at.x),
        }
    }
}

/// A character and its position, in points from the top left of the page.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) baseline: f64,
    pub(super) height: f64,
    pub(super) direction: Direction,
    pub(super) text: String,
}

/// The part of the graphics state that the text operators use.
#[derive(Clone)]
struct TextState<'a> {
    font: Option<Font<'a>>,
    size: f64,
    between_characters: f64,
    between_words: f64,
    /// The horizontal scaling; 1 for the font's own widths.
    stretch: f64,
    leading: f64,
    rise: f64,
    /// Maps drawing units to page coordinates.
    drawing: Affine,
    /// The text matrix, where the next character is drawn, and the text line matrix, where the
    /// current line starts.
    place: Affine,
    line: Affine,
}

impl<'a> TextState<'a> {
    /// The initial values of the PDF specification, which has none for font and size.
    fn new(drawing: Affine) -> Self {
        Self {
            font: None,
            size: 1.0,
            between_characters: 0.0,
            between_words: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            drawing,
            place: Affine::IDENTITY,
            line: Affine::IDENTITY,
        }
    }

    /// Runs an operator that only changes the state.
    fn apply(&mut self, operator: &TypedInstruction<'_, '_>) {
        match operator {
            TypedInstruction::Transform(by) => {
                self.drawing *= matrix([&by.0, &by.1, &by.2, &by.3, &by.4, &by.5]);
            }
            TypedInstruction::BeginText(_) => self.begin_line(Affine::IDENTITY),
            TypedInstruction::CharacterSpacing(by) => self.between_characters = by.0.as_f64(),
            TypedInstruction::WordSpacing(by) => self.between_words = by.0.as_f64(),
            TypedInstruction::HorizontalScaling(by) => self.stretch = by.0.as_f64() / 100.0,
            TypedInstruction::TextLeading(by) => self.leading = by.0.as_f64(),
            TypedInstruction::TextRise(by) => self.rise = by.0.as_f64(),
            TypedInstruction::NextLine(by) => self.next_line(by.0.as_f64(), by.1.as_f64()),
            TypedInstruction::NextLineAndSetLeading(by) => {
                self.leading = -by.1.as_f64();
                self.next_line(by.0.as_f64(), by.1.as_f64());
            }
            TypedInstruction::SetTextMatrix(to) => {
                self.begin_line(matrix([&to.0, &to.1, &to.2, &to.3, &to.4, &to.5]));
            }
            TypedInstruction::NextLineUsingLeading(_) => self.next_line(0.0, -self.leading),
            _ => {}
        }
    }

    fn begin_line(&mut self, line: Affine) {
        self.line = line;
        self.place = line;
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.begin_line(self.line * Affine::translate((x, y)));
    }

    /// Moves the position by a distance in text units.
    fn advance(&mut self, by: f64) {
        self.place *= Affine::translate((by * self.stretch, 0.0));
    }
}

/// Reads the characters of a page.
pub(super) struct Glyphs<'a, 'f> {
    fonts: &'f FontCache<'a>,
    font_files: FontResolverFn,
    code_maps: CMapResolverFn,
    read: Vec<Glyph>,
    /// How many more bytes of drawings may be run; [`MOST_DRAWN`] at the start of the page.
    left: usize,
}

impl<'a, 'f> Glyphs<'a, 'f> {
    /// Reads the characters of a page. `None` if it draws more than [`MOST_DRAWN`].
    pub(super) fn of_page(page: &Page<'a>, fonts: &'f FontCache<'a>) -> Option<Vec<Glyph>> {
        // Only the widths and names of characters are needed, so the 14 standard fonts can
        // replace every font that is not in the file.
        let font_files: FontResolverFn = Arc::new(|query: &FontQuery| match query {
            FontQuery::Standard(font) => Some(font.get_font_data()),
            FontQuery::Fallback(fallback) => Some(fallback.pick_standard_font().get_font_data()),
        });
        let mut glyphs = Self {
            fonts,
            font_files,
            // The program contains no predefined code maps (CMaps).
            code_maps: Arc::new(|_| None),
            read: Vec::new(),
            left: MOST_DRAWN,
        };
        let from_top = Affine::new(page.initial_transform(true).as_coeffs());
        let drawing = page.page_stream().unwrap_or_default();
        glyphs.operations(drawing, page.resources(), TextState::new(from_top), 0)?;
        Some(glyphs.read)
    }

    /// Runs the operators of a drawing. `None` if more than [`MOST_DRAWN`] is drawn.
    fn operations(
        &mut self,
        drawing: &[u8],
        resources: &Resources<'a>,
        mut state: TextState<'a>,
        depth: usize,
    ) -> Option<()> {
        self.left = self.left.checked_sub(drawing.len())?;
        let mut operations = TypedIter::new(drawing);
        let mut saved: Vec<TextState<'a>> = Vec::new();
        while let Some(operation) = operations.next() {
            match operation {
                TypedInstruction::SaveState(_) if saved.len() < MOST_SAVED => {
                    saved.push(state.clone());
                }
                TypedInstruction::RestoreState(_) => {
                    if let Some(earlier) = saved.pop() {
                        state = earlier;
                    }
                }
                TypedInstruction::TextFont(font) => {
                    let found = resources.get_font(font.0);
                    state.font = found
                        .and_then(|dict| self.fonts.font(&dict, &self.font_files, &self.code_maps));
                    state.size = font.1.as_f64();
                }
                TypedInstruction::ShowText(text) => self.show(&mut state, text.0),
                TypedInstruction::NextLineAndShowText(text) => {
                    state.next_line(0.0, -state.leading);
                    self.show(&mut state, text.0);
                }
                TypedInstruction::ShowTextWithParameters(text) => {
                    state.between_words = text.0.as_f64();
                    state.between_characters = text.1.as_f64();
                    state.next_line(0.0, -state.leading);
                    self.show(&mut state, text.2);
                }
                TypedInstruction::ShowTexts(texts) => {
                    for part in texts.0.iter::<Object<'_>>() {
                        match part {
                            Object::String(text) => self.show(&mut state, &text),
                            Object::Number(back) => {
                                state.advance(-back.as_f64() / EM * state.size);
                            }
                            _ => {}
                        }
                    }
                }
                TypedInstruction::XObject(name) if depth < DEEPEST => {
                    self.run_drawing(name.0, resources, &state, depth + 1)?;
                }
                other => state.apply(&other),
            }
        }
        Some(())
    }

    /// Runs a drawing that another one uses. A picture is skipped, because it has no text. `None`
    /// if the page draws too much.
    fn run_drawing(
        &mut self,
        name: &Name<'_>,
        resources: &Resources<'a>,
        state: &TextState<'a>,
        depth: usize,
    ) -> Option<()> {
        // A name that the resources do not define draws nothing.
        let Some(stream) = resources.get_x_object(name) else {
            return Some(());
        };
        let dict = stream.dict();
        let is_form = dict
            .get::<Name<'_>>("Subtype")
            .is_some_and(|kind| kind.as_ref() == b"Form");
        if !is_form {
            return Some(());
        }
        // A drawing that cannot be unpacked is skipped.
        let data = stream.decoded_data().unwrap_or_default();
        let own = dict.get::<Dict<'a>>("Resources").map(Resources::new);
        let mut state = state.clone();
        if let Some(array) = dict.get::<Array<'_>>("Matrix") {
            let numbers: Vec<f64> = array.iter::<Number>().map(|n| n.as_f64()).collect();
            if let Ok(numbers) = <[f64; 6]>::try_from(numbers) {
                state.drawing *= Affine::new(numbers);
            }
        }
        // A drawing without resources of its own uses those of the drawing around it.
        self.operations(&data, own.as_ref().unwrap_or(resources), state, depth)
    }

    /// Records the characters of a text and moves the position behind each of them.
    fn show(&mut self, state: &mut TextState<'a>, text: &PdfString<'_>) {
        let Some(font) = state.font.clone() else {
            return;
        };
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && self.read.len() < MOST_ON_PAGE {
            let (code, length) = font.read_code(bytes, at);
            // At least one byte, so that the loop ends.
            at += length.max(1);
            let width = font.code_advance(code).x / EM * state.size;
            self.place(state, &font, code, width);
            // By the PDF specification, word spacing applies only to the single byte 32.
            let blank = code == 32 && length == 1;
            let after = state.between_characters + if blank { state.between_words } else { 0.0 };
            state.advance(width + after);
        }
    }

    /// Records a character, unless it is blank, its text runs at an angle, or its font does not say
    /// which character it is.
    fn place(&mut self, state: &TextState<'a>, font: &Font<'a>, code: u32, width: f64) {
        let text = match font.glyph(font.map_code(code), code) {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let text = match text {
            Some(BfString::Char(one)) => one.to_string(),
            Some(BfString::String(several)) => several,
            None => return,
        };
        let whole = state.drawing * state.place;
        let [across, down, ..] = whole.as_coeffs();
        let direction = Direction::of(across, down).filter(|_| !text.trim().is_empty());
        let Some(direction) = direction else { return };
        let corner = |x: f64, y: f64| direction.turned(whole * Point::new(x, y + state.rise));
        let (start, end) = (corner(0.0, 0.0), corner(width * state.stretch, 0.0));
        self.read.push(Glyph {
            start: start.x,
            end: end.x,
            baseline: start.y,
            // At least one point, because `pdf::line_of` divides gaps by it.
            height: (corner(0.0, state.size).y - start.y).abs().max(1.0),
            direction,
            text,
        });
    }
}

fn matrix(of: [&Number; 6]) -> Affine {
    Affine::new(of.map(Number::as_f64))
}
