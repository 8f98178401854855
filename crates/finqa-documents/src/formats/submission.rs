//! Reads filings as the SEC stores them: several documents in one file, separated by SGML tags.

use std::borrow::Cow;

use finqa_core::pattern;
use finqa_core::text::Pattern;

use crate::kind::SUBMISSIONS;
use crate::text::begins;

/// One document of a submission: its type and its content.
static DOCUMENT: Pattern =
    pattern!(r"(?is)<document>\s*(?:<type>([^\s<]*))?(.*?)(?:</document>|\z)");
/// The text of a document, between SGML tags.
static TEXT: Pattern = pattern!(r"(?is)<text>(.*?)(?:</text>|\z)");

/// Elements that only HTML has. A document without them is plain text.
static MARKUP: Pattern = pattern!(r"(?i)<(?:html|p|div|br|font|pre)\b");

/// Types of documents without text to read: data, pictures, and files that the SEC derives from
/// the tags.
const NO_TEXT: [&str; 7] = ["GRAPHIC", "ZIP", "EXCEL", "XML", "JSON", "PDF", "EX-101"];

/// Joins the documents of a submission into one HTML page. Plain text becomes `<pre>`, which keeps
/// its columns. A text that is not a submission is returned unchanged.
pub(super) fn page(text: &str) -> Cow<'_, str> {
    if !begins(text, &SUBMISSIONS) {
        return Cow::Borrowed(text);
    }
    let mut page = String::new();
    for document in DOCUMENT.captures_iter(text) {
        let part = |at: usize| document.get(at).map_or("", |part| part.as_str());
        let kind = part(1).to_ascii_uppercase();
        if NO_TEXT.iter().any(|other| kind.starts_with(other)) {
            continue;
        }
        let body = TEXT.captures(part(2)).and_then(|text| text.get(1));
        let body = body.map_or("", |body| body.as_str());
        if MARKUP.is_match(body) {
            page.push_str(body);
        } else {
            page.push_str(&format!("<pre>{body}</pre>"));
        }
    }
    // Without a document to read, the text is read like any other HTML.
    if page.is_empty() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(page)
    }
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn documents_of_text_are_read_and_others_are_not() {
        let text = "<SEC-DOCUMENT>1.txt\n<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n<html><p>A</p></html>\n</TEXT>\n</DOCUMENT>\n\
            <DOCUMENT>\n<TYPE>EX-27\n<TEXT>\nSales    5\n</TEXT>\n</DOCUMENT>\n\
            <DOCUMENT>\n<TYPE>GRAPHIC\n<TEXT>\nbegin 644 a.jpg\n</TEXT>\n</DOCUMENT>\n\
            <DOCUMENT>\n<TYPE>EX-101.INS\n<TEXT>\n<XBRL>1</XBRL>\n</TEXT>\n</DOCUMENT>\n";
        let page = page(text);
        assert!(
            page.contains("<p>A</p>") && page.contains("<pre>\nSales    5\n</pre>"),
            "{page}"
        );
        assert!(
            !page.contains("begin 644") && !page.contains("XBRL"),
            "{page}"
        );
        let whole = "<html><p>A</p></html>";
        assert_eq!(super::page(whole), whole);
    }
}
