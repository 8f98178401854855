//! A text that needs no allocation while it is short, as the texts of cells usually are. A table of
//! the user may have a million cells.

use std::fmt;
use std::ops::Deref;

/// The longest text that is kept in place, in bytes. With the length and the tag of the enum, these
/// are 24 bytes, which the other variant needs too.
const IN_PLACE: usize = 22;

/// A text in 24 bytes. Only a text of more than `IN_PLACE` bytes is kept elsewhere.
#[derive(Clone)]
pub struct ShortText(Kept);

/// The text of a [`ShortText`]: its bytes, or a pointer to them.
#[derive(Clone)]
enum Kept {
    Here { len: u8, bytes: [u8; IN_PLACE] },
    Elsewhere(Box<str>),
}

impl Deref for ShortText {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Kept::Elsewhere(text) => text,
            // The bytes are those of a text, so they are always read.
            Kept::Here { len, bytes } => bytes
                .get(..usize::from(*len))
                .and_then(|bytes| std::str::from_utf8(bytes).ok())
                .unwrap_or_default(),
        }
    }
}

impl From<&str> for ShortText {
    fn from(text: &str) -> Self {
        let mut bytes = [0; IN_PLACE];
        let here = bytes.get_mut(..text.len());
        Self(match (here, u8::try_from(text.len())) {
            (Some(here), Ok(len)) => {
                here.copy_from_slice(text.as_bytes());
                Kept::Here { len, bytes }
            }
            _ => Kept::Elsewhere(text.into()),
        })
    }
}

impl From<String> for ShortText {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl PartialEq for ShortText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<str> for ShortText {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for ShortText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl fmt::Display for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_whole_however_long_it_is() {
        assert_eq!(size_of::<ShortText>(), 24);
        let longest = "9".repeat(IN_PLACE);
        for text in ["", "−5 %", &longest, &format!("{longest}é")] {
            let kept = ShortText::from(text);
            assert_eq!((&*kept, kept.clone() == kept), (text, true));
            assert_eq!(format!("{kept:?}"), format!("{text:?}"));
        }
    }
}
