//! Decodes text files: UTF-8, UTF-16 with a byte order mark, otherwise Windows-1252. Files that are
//! not text are refused.

use std::io::Read;
use std::path::Path;

use finqa_core::files;

use crate::error::DocumentError;

/// The text of a file, with `\n` as its line ends.
pub(crate) struct DecodedText {
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
}

/// Reads a file of at most `largest` bytes.
///
/// # Errors
/// [`DocumentError::Unreadable`], or [`DocumentError::NotText`] if the file is larger.
pub(crate) fn bytes(path: &Path, largest: u64) -> Result<Vec<u8>, DocumentError> {
    let unreadable = |source| DocumentError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    let file = files::open(path).map_err(unreadable)?;
    file.take(largest + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > largest {
        let reason = format!("it is larger than {} MB", largest / (1024 * 1024));
        return Err(not_text(path, &reason));
    }
    Ok(bytes)
}

/// Decodes the bytes of a text file. A note says if they are not UTF-8.
///
/// # Errors
/// [`DocumentError::NotText`] for broken UTF-16 and for text with zero bytes.
pub(crate) fn decode(path: &Path, bytes: Vec<u8>) -> Result<DecodedText, DocumentError> {
    let mut notes = Vec::new();
    let text = if let Some((encoding, mark)) = encoding_rs::Encoding::for_bom(&bytes) {
        let (text, broken) = encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or(&[]));
        // The mark states the encoding, so no other one is tried.
        if broken {
            let reason = format!(
                "it begins like {} but is not valid; save it as UTF-8",
                encoding.name()
            );
            return Err(not_text(path, &reason));
        }
        text.into_owned()
    } else {
        String::from_utf8(bytes).unwrap_or_else(|error| {
            // Windows-1252 comes last, because it accepts all bytes.
            notes.push(format!(
                "{} is not UTF-8: read as Windows-1252 (Latin-1)",
                path.display()
            ));
            let decoded = encoding_rs::WINDOWS_1252.decode_without_bom_handling(error.as_bytes());
            decoded.0.into_owned()
        })
    };
    if text.contains('\0') {
        return Err(not_text(
            path,
            "it contains zero bytes, so it is not text; save it as UTF-8",
        ));
    }
    Ok(DecodedText {
        text: if text.contains('\r') {
            text.replace("\r\n", "\n").replace('\r', "\n")
        } else {
            text
        },
        notes,
    })
}

fn not_text(path: &Path, reason: &str) -> DocumentError {
    DocumentError::NotText {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<String, String> {
        decode(Path::new("t.csv"), bytes.to_vec())
            .map(|decoded| decoded.text)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn each_encoding_gives_the_same_text() {
        let utf16: Vec<u8> = [0xFF, 0xFE]
            .into_iter()
            .chain("é,1\n".encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        let files: [&[u8]; 4] = [
            "é,1\n".as_bytes(),
            b"\xEF\xBB\xBF\xC3\xA9,1\r\n",
            b"\xE9,1\r",
            &utf16,
        ];
        for bytes in files {
            assert_eq!(text(bytes).as_deref(), Ok("é,1\n"), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_not_text_is_refused_as_such() {
        assert!(text(b"a\0b\0").unwrap_err().contains("zero bytes"));
        assert!(text(b"\xFF\xFEa").unwrap_err().contains("UTF-16LE"));
    }
}
