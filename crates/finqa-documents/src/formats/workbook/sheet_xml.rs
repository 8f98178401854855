//! Reads what calamine does not report about a sheet: which rows and columns are hidden, and
//! the formulas whose values the file lacks.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Seek};
use std::ops::RangeInclusive;

use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error, Reader, XmlVersion};
use zip::ZipArchive;

/// Row and column, counted from 0.
pub(super) type CellRef = (u32, u32);

/// The hidden rows and columns of a sheet, and its formulas without stored values.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SheetXml {
    hidden_rows: BTreeSet<u32>,
    hidden_columns: Vec<RangeInclusive<u32>>,
    /// The formulas without a stored value.
    pub(super) formulas: HashMap<CellRef, String>,
}

/// The cell that is being read.
#[derive(Default)]
struct OpenCell {
    place: CellRef,
    /// True if the formula's value is a text. An empty text is a value too.
    is_text: bool,
    formula: Option<String>,
    shared: Option<String>,
    has_value: bool,
    in_formula: bool,
}

impl SheetXml {
    pub(super) fn is_hidden_row(&self, row: u32) -> bool {
        self.hidden_rows.contains(&row)
    }

    pub(super) fn is_hidden_column(&self, column: u32) -> bool {
        let mut hidden = self.hidden_columns.iter();
        hidden.any(|columns| columns.contains(&column))
    }

    /// Reads the XML of a sheet, up to the end of its cells.
    pub(super) fn read(xml: impl BufRead) -> Result<Self, Error> {
        let mut reader = SheetReader::default();
        for_each_event(xml, |event| reader.see(event))?;
        Ok(reader.sheet)
    }
}

/// A sheet of which a part is read.
#[derive(Default)]
struct SheetReader {
    sheet: SheetXml,
    cell: OpenCell,
    /// Formulas that several cells share, by their number, with the cell in which each is written.
    shared: HashMap<String, (CellRef, String)>,
    row: u32,
    column: u32,
}

impl SheetReader {
    /// Reads the next event. Returns false at the end of the cells.
    fn see(&mut self, event: &Event<'_>) -> bool {
        let cell = &mut self.cell;
        match event {
            Event::Start(element) => self.start(element),
            Event::Text(text) => match &mut cell.formula {
                Some(formula) if cell.in_formula => formula.push_str(text),
                _ => cell.has_value |= !text.trim().is_empty(),
            },
            Event::GeneralRef(name) => match &mut cell.formula {
                Some(formula) if cell.in_formula => formula.push_str(&format!("&{};", &**name)),
                _ => cell.has_value = true,
            },
            Event::End(element) => match element.local_name().as_ref() {
                "f" => cell.in_formula = false,
                "c" => self.end_cell(),
                "row" => self.row += 1,
                "sheetData" => return false,
                _ => {}
            },
            _ => {}
        }
        true
    }

    /// Reads the start of an element: notes hidden columns and rows, and begins a row, a cell or a
    /// formula.
    fn start(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "col" => {
                // The file counts columns from 1.
                let end = |name| {
                    attribute(element, name)?
                        .parse::<u32>()
                        .ok()?
                        .checked_sub(1)
                };
                if let (Some(first), Some(last), true) =
                    (end("min"), end("max"), is_hidden(element, "width"))
                {
                    self.sheet.hidden_columns.push(first..=last);
                }
            }
            "row" => {
                // A row or a cell without its number follows the one before.
                let number = attribute(element, "r").and_then(|r| r.parse::<u32>().ok());
                self.row = number
                    .and_then(|number| number.checked_sub(1))
                    .unwrap_or(self.row);
                self.column = 0;
                if is_hidden(element, "ht") {
                    self.sheet.hidden_rows.insert(self.row);
                }
            }
            "c" => {
                let place = attribute(element, "r").and_then(|name| place_of(&name));
                self.cell = OpenCell {
                    place: place.unwrap_or((self.row, self.column)),
                    is_text: attribute(element, "t").is_some_and(|kind| kind == "str"),
                    ..OpenCell::default()
                };
            }
            "f" => {
                self.cell.in_formula = true;
                self.cell.formula = Some(String::new());
                self.cell.shared = attribute(element, "si").map(Cow::into_owned);
            }
            _ => {}
        }
    }

    /// Keeps the formula of a cell that has no stored value. A cell that shares a formula gets it
    /// with the references moved to its place.
    fn end_cell(&mut self) {
        let cell = std::mem::take(&mut self.cell);
        self.column = cell.place.1 + 1;
        let Some(formula) = cell.formula else { return };
        let formula = unescape(&formula).map_or_else(|_| formula.clone(), Cow::into_owned);
        let written = match (&cell.shared, formula.is_empty()) {
            (Some(number), true) => self.shared.get(number).and_then(|(place, formula)| {
                calamine::expand_shared_formula(formula, *place, cell.place).ok()
            }),
            (Some(number), false) => {
                self.shared
                    .insert(number.clone(), (cell.place, formula.clone()));
                Some(formula)
            }
            (None, _) => Some(formula),
        };
        // A formula that is empty here, because its shared text is unknown, is printed as "=".
        if !cell.has_value && !cell.is_text {
            self.sheet
                .formulas
                .insert(cell.place, written.unwrap_or_default());
        }
    }
}

/// The file of each sheet in the archive, by the name of the sheet.
pub(super) fn files<R: Read + Seek>(archive: &mut ZipArchive<R>) -> HashMap<String, String> {
    let mut targets: HashMap<String, String> = HashMap::new();
    let mut sheets = Vec::new();
    let mut each = |file: &str, name: &str, add: &mut dyn FnMut(&BytesStart<'_>)| {
        let Ok(xml) = archive.by_name(file) else {
            return;
        };
        // Ignore the error: calamine refuses the workbook if it cannot read this file either.
        let _ = for_each_event(BufReader::new(xml), |event| {
            if let Event::Start(element) = event
                && element.local_name().as_ref() == name
            {
                add(element);
            }
            true
        });
    };
    each(
        "xl/_rels/workbook.xml.rels",
        "Relationship",
        &mut |element| {
            if let (Some(id), Some(file)) = (attribute(element, "Id"), attribute(element, "Target"))
            {
                let file = match file.strip_prefix('/') {
                    Some(file) => file.to_owned(),
                    None => format!("xl/{file}"),
                };
                targets.insert(id.into_owned(), file);
            }
        },
    );
    each("xl/workbook.xml", "sheet", &mut |element| {
        sheets.extend(
            attribute(element, "name")
                .zip(attribute(element, "id"))
                .map(|(name, id)| (name.into_owned(), id.into_owned())),
        );
    });
    let file = |(name, id): (String, String)| Some((name, targets.get(&id)?.clone()));
    sheets.into_iter().filter_map(file).collect()
}

/// Reads XML until `see` returns false. An empty element is reported as a start and an end.
fn for_each_event(xml: impl BufRead, mut see: impl FnMut(&Event<'_>) -> bool) -> Result<(), Error> {
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer)?;
        if matches!(event, Event::Eof) || !see(&event) {
            return Ok(());
        }
    }
}

/// The value of an attribute, by its name without a prefix. `None` if the element lacks it.
fn attribute<'e>(element: &'e BytesStart<'_>, name: &str) -> Option<Cow<'e, str>> {
    let mut all = element.attributes();
    let found = all
        .with_checks(false)
        .flatten()
        .find(|one| one.key.local_name().as_ref() == name)?;
    found.normalized_value(XmlVersion::Implicit1_0).ok()
}

/// True if a row or column is marked as hidden, as by a filter or a collapsed outline, or has a
/// size of zero.
fn is_hidden(element: &BytesStart<'_>, size: &str) -> bool {
    let marked = attribute(element, "hidden").is_some_and(|is| is == "1" || is == "true");
    let size = attribute(element, size).and_then(|size| size.parse::<f64>().ok());
    marked || size.is_some_and(|size| size <= 0.0)
}

/// The row and column, counted from 0, of a name such as `$D$4`. `None` for any other text.
pub(super) fn place_of(name: &str) -> Option<CellRef> {
    let name = name.replace('$', "");
    let (letters, digits) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
    let column = letters.chars().try_fold(0_u32, |column, letter| {
        // In base 36, "A" is 10.
        let value = letter.to_digit(36)?.checked_sub(9)?;
        column.checked_mul(26)?.checked_add(value)
    })?;
    Some((
        digits.parse::<u32>().ok()?.checked_sub(1)?,
        column.checked_sub(1)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_rows_and_columns_and_formulas_without_values_are_found() {
        let xml = "<worksheet><cols><col min='2' max='3' hidden='1'/><col min='5' max='5' width='0'/>\
            <col min='7' max='7' width='9'/></cols><sheetData>\
            <row r='2' hidden='1'><c r='A2'><v>1</v></c></row><row ht='0'/><row r='9' ht='12.5'>\
            <c r='B9'><f>SUM(B2:B8)</f><v></v></c><c><f>1&amp;2</f></c><c r='D9'><f>B9</f><v>4</v></c>\
            <c r='E9' t='str'><f>IF(A1=1,\"\",2)</f><v></v></c>\
            <c r='F9'><f t='shared' si='0' ref='F9:G9'>SUM(F2:F$8)</f></c><c r='G9'><f t='shared' si='0'/></c>\
            </row></sheetData></worksheet>";
        let sheet = SheetXml::read(xml.as_bytes()).unwrap();
        let hidden = |is: &dyn Fn(u32) -> bool| (0..10).filter(|at| is(*at)).collect::<Vec<_>>();
        assert_eq!(hidden(&|row| sheet.is_hidden_row(row)), [1, 2]);
        assert_eq!(hidden(&|column| sheet.is_hidden_column(column)), [1, 2, 4]);
        let mut formulas: Vec<(CellRef, &str)> = sheet
            .formulas
            .iter()
            .map(|(place, formula)| (*place, formula.as_str()))
            .collect();
        formulas.sort_unstable();
        let expected = [
            ((8, 1), "SUM(B2:B8)"),
            ((8, 2), "1&2"),
            ((8, 5), "SUM(F2:F$8)"),
            ((8, 6), "SUM(G2:G$8)"),
        ];
        assert_eq!(formulas, expected);
    }

    #[test]
    fn places_are_read_with_and_without_marks() {
        for (name, place) in [
            ("A1", Some((0, 0))),
            ("$AB$12", Some((11, 27))),
            ("Z99", Some((98, 25))),
            ("A0", None),
            ("12", None),
            ("Rate", None),
        ] {
            assert_eq!(place_of(name), place, "{name}");
        }
    }
}
