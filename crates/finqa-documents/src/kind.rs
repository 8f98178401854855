//! Recognizes the kind of a file by its content, because its name may be wrong.

use std::io::Cursor;

use crate::text::begins;

/// The mark of a PDF can be at most this many bytes from the start of the file, as in Acrobat.
const PDF_HEADER: usize = 1024;

/// A supported kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A PDF. `header` is the number of bytes before its mark.
    Pdf {
        header: usize,
    },
    Workbook,
    Html,
    /// A table or a page of text. The extension of the file says which.
    Text,
}

/// How files of unsupported kinds begin, what they are, and what to do with them.
const OTHERS: [(&[u8], &str); 9] = [
    (b"\x1F\x8B", "it is gzip data; unpack it first"),
    (
        b"Rar!",
        "it is a RAR archive; unpack it and name a file in it",
    ),
    (
        b"7z\xBC\xAF",
        "it is a 7z archive; unpack it and name a file in it",
    ),
    (b"\x89PNG", PICTURE),
    (b"\xFF\xD8\xFF", PICTURE),
    (b"II*\0", PICTURE),
    (b"MM\0*", PICTURE),
    (
        b"{\\rtf",
        "it is rich text (.rtf); save it as PDF, or its table as CSV",
    ),
    (b"%!PS", "it is PostScript; save it as PDF"),
];

const PICTURE: &str =
    "it is a picture; run it through text recognition (OCR) and save the result as PDF";

/// Names of streams in OLE files, and what a file with such a stream is. Office files from before
/// 2007 are OLE files, and so are newer ones with a password. The names are stored in UTF-16.
const OLD_OFFICE: [(&str, &str); 5] = [
    (
        "EncryptedPackage",
        "it needs a password; save it without one",
    ),
    (
        "Workbook",
        "it is a workbook of before 2007 (.xls); save it as .xlsx",
    ),
    (
        "Book",
        "it is a workbook of before 2007 (.xls); save it as .xlsx",
    ),
    (
        "WordDocument",
        "it is a Word document (.doc); save it as PDF, or its table as CSV",
    ),
    ("PowerPoint", "it is a presentation (.ppt); save it as PDF"),
];

/// The message for an OLE file that has none of the streams in [`OLD_OFFICE`].
const OLD: &str = "it needs a password, or is an Office file of before 2007; save it as .xlsx or PDF without a password";

/// The start of a file's name in an archive, and the kind of archive that contains such a file.
const ARCHIVES: [(&str, &str); 4] = [
    (
        "xl/workbook.bin",
        "it is a binary workbook (.xlsb); save it as .xlsx",
    ),
    (
        "word/",
        "it is a Word document (.docx); save it as PDF, or its table as CSV",
    ),
    ("ppt/", "it is a presentation (.pptx); save it as PDF"),
    (
        "Index/",
        "it is a document of Numbers or Pages; export it as .xlsx or PDF",
    ),
];

/// Marks near the start of XML files that are not pages, and what the files are.
const XML: [(&str, &str); 3] = [
    (
        "urn:schemas-microsoft-com:office:spreadsheet",
        "it is a workbook in XML of 2003; save it as .xlsx",
    ),
    (
        "http://www.xbrl.org/2003/instance",
        "it is an XBRL instance without a page; name the report itself (.htm)",
    ),
    ("<svg", PICTURE),
];

/// How many characters from the start are searched for the kind of a text. Set by hand.
const START: usize = 4096;

/// How complete HTML documents begin.
pub(crate) const DOCUMENTS: [&str; 3] = ["<html", "<!doctype", "<?xml"];

/// How the SEC's stored filings begin.
pub(crate) const SUBMISSIONS: [&str; 4] = [
    "<sec-document",
    "<document",
    "-----begin privacy-enhanced message-----",
    "<ims-document",
];

/// The kind of a binary file; `None` for text.
///
/// # Errors
/// What an unsupported file is, and what to do with it.
pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Option<Kind>, String> {
    let start = bytes.get(..bytes.len().min(PDF_HEADER)).unwrap_or_default();
    if let Some(header) = start.windows(5).position(|mark| mark == b"%PDF-") {
        return Ok(Some(Kind::Pdf { header }));
    }
    // The second mark begins an archive without files.
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return archive(bytes).map(Some);
    }
    if bytes.starts_with(b"\xD0\xCF\x11\xE0") {
        // The directory with the names can be anywhere in an OLE file.
        let names = |name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            bytes.windows(name.len()).any(|part| part == name)
        };
        let known = OLD_OFFICE.iter().find(|(name, _)| names(name));
        return Err(known.map_or(OLD, |(_, what)| what).to_owned());
    }
    match OTHERS.iter().find(|(start, _)| bytes.starts_with(start)) {
        Some((_, what)) => Err((*what).to_owned()),
        None => Ok(None),
    }
}

/// The kind of a text. The extension decides only if the content does not.
///
/// # Errors
/// What an unsupported file is, and what to do with it.
pub(crate) fn of_text(extension: &str, text: &str) -> Result<Kind, String> {
    let start: String = text.chars().take(START).collect();
    let whole = begins(&start, &DOCUMENTS) || begins(&start, &SUBMISSIONS);
    let is_html = start.to_ascii_lowercase().contains("<html");
    // A page with inline XBRL or a drawing has these marks too, so HTML is excluded below.
    let xml = || XML.iter().find(|(of, _)| start.contains(of));
    if let Some((_, what)) = xml().filter(|_| begins(&start, &["<"]) && !is_html) {
        return Err((*what).to_owned());
    }
    let part = begins(&start, &["<table", "<head", "<body"]);
    // A text called `.pdf` is usually a web page that says why there is no PDF.
    let called = ["htm", "html", "xhtml", "xht", "pdf"].contains(&extension);
    Ok(if whole || part || called {
        Kind::Html
    } else {
        Kind::Text
    })
}

/// Distinguishes a workbook from other files that are zip archives.
///
/// # Errors
/// What the archive is, and what to do with it.
fn archive(bytes: &[u8]) -> Result<Kind, String> {
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else {
        // The workbook reader reports how it is damaged.
        return Ok(Kind::Workbook);
    };
    let has = |start: &str| {
        // Names that cannot be decoded are skipped.
        let mut names = archive.file_names().flatten();
        names.any(|name| name.starts_with(start))
    };
    // Before `xl/`, because a binary workbook has this folder too.
    if let Some((_, what)) = ARCHIVES.iter().find(|(start, _)| has(start)) {
        return Err((*what).to_owned());
    }
    if has("xl/") {
        return Ok(Kind::Workbook);
    }
    let mut kind = String::new();
    // The media type of an OpenDocument file has less than 100 bytes.
    if let Ok(mut file) = archive.by_name("mimetype") {
        // If it cannot be read, the message is that for any other zip file.
        let _ = std::io::Read::read_to_string(&mut std::io::Read::take(&mut file, 100), &mut kind);
    }
    Err(match kind.trim().rsplit('.').next() {
        Some("spreadsheet") => "it is an OpenDocument spreadsheet (.ods); save it as .xlsx",
        Some("text") => "it is an OpenDocument text (.odt); save it as PDF, or its table as CSV",
        _ => "it is a zip file; unpack it and name the report in it",
    }
    .to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn zip(names: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in names {
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(*name, options).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    fn old_office(stream: &str) -> Vec<u8> {
        let name = stream.encode_utf16().flat_map(u16::to_le_bytes);
        b"\xD0\xCF\x11\xE0...."
            .iter()
            .copied()
            .chain(name)
            .collect()
    }

    #[test]
    fn forms_are_told_by_their_content() {
        let junk = [b'x'; 900];
        let pdf = [&junk[..], b"%PDF-1.7"].concat();
        assert_eq!(of_bytes(&pdf), Ok(Some(Kind::Pdf { header: 900 })));
        let book = zip(&[("[Content_Types].xml", ""), ("xl/workbook.xml", "")]);
        assert_eq!(of_bytes(&book), Ok(Some(Kind::Workbook)));
        assert_eq!(of_bytes(b"a,b\n"), Ok(None));
        for (bytes, form) in [
            (zip(&[("word/document.xml", "")]), ".docx"),
            (zip(&[("ppt/presentation.xml", "")]), ".pptx"),
            (zip(&[("xl/workbook.bin", "")]), ".xlsb"),
            (
                zip(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet")]),
                ".ods",
            ),
            (zip(&[("report.xhtml", "")]), "zip file"),
            (old_office("Workbook"), ".xls"),
            (old_office("WordDocument"), ".doc"),
            (old_office("EncryptedPackage"), "a password"),
            (old_office("x"), "before 2007"),
            (b"\x89PNG\r\n".to_vec(), "picture"),
            (b"\x1F\x8B\x08".to_vec(), "gzip"),
            (b"{\\rtf1".to_vec(), ".rtf"),
        ] {
            let found = of_bytes(&bytes).unwrap_err();
            assert!(found.contains(form), "{form}: {found}");
        }
    }

    #[test]
    fn texts_are_told_by_their_content_and_then_by_their_names() {
        for (extension, text, kind) in [
            ("xls", " <!DOCTYPE html><table>", Kind::Html),
            ("xls", "<table><tr>", Kind::Html),
            ("xls", "a\tb\n", Kind::Text),
            ("txt", "<SEC-DOCUMENT>0001.txt", Kind::Html),
            (
                "txt",
                "-----BEGIN PRIVACY-ENHANCED MESSAGE-----",
                Kind::Html,
            ),
            (
                "xml",
                "<?xml version='1.0'?><html xmlns:ix='x'>",
                Kind::Html,
            ),
            ("md", "<p align=center>Acme</p>", Kind::Text),
            ("htm", "Costs rose.", Kind::Html),
            ("csv", "a,<b>", Kind::Text),
        ] {
            assert_eq!(of_text(extension, text), Ok(kind), "{extension} {text}");
        }
        let book =
            "<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'>";
        assert!(of_text("xls", book).unwrap_err().contains("XML of 2003"));
    }
}
