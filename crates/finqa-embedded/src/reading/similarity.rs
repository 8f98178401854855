//! Compares the meanings of words by vectors, which `trainer/vectors.py` computes with a sentence
//! encoder for the words that reports use. The build embeds them from `weights/vectors.bin`.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::text::stem;

const EMBEDDED: &[u8] = include_bytes!("../../weights/vectors.bin");

/// Number of components of a vector, as `trainer/vectors.py` writes them.
const DIMENSIONS: usize = 64;

type Vector = [i8; DIMENSIONS];

/// The contents of the file.
#[derive(Debug, Default)]
struct WordVectors {
    /// The index of each stem's vector.
    rows: HashMap<String, u16, RandomState>,
    vectors: Vec<Vector>,
    /// The Euclidean length of each vector, at least 1 because it is a divisor.
    lengths: Vec<f32>,
}

// A test reads the embedded file, so the default for an unreadable file is never used.
static VECTORS: LazyLock<WordVectors> =
    LazyLock::new(|| WordVectors::from_bytes(EMBEDDED).unwrap_or_default());

impl WordVectors {
    /// Reads three `u32` (number of words, of components, and of bytes of text), the words as lines
    /// of text, and their vectors. `None` if the sizes do not fit.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut number = || {
            let (head, tail) = rest.split_first_chunk::<4>()?;
            rest = tail;
            usize::try_from(u32::from_le_bytes(*head)).ok()
        };
        let (count, dimensions, text) = (number()?, number()?, number()?);
        let (words, components) = rest.split_at_checked(text)?;
        if dimensions != DIMENSIONS || components.len() != count * DIMENSIONS {
            return None;
        }
        let mut out = Self::default();
        // The words that most companies use come first, so a stem gets the vector of its most
        // common word.
        for (row, word) in std::str::from_utf8(words).ok()?.lines().enumerate() {
            let row = u16::try_from(row).ok()?;
            out.rows.entry(stem(word).into_owned()).or_insert(row);
        }
        for chunk in components.chunks_exact(DIMENSIONS) {
            let bytes: [u8; DIMENSIONS] = chunk.try_into().ok()?;
            let vector = bytes.map(u8::cast_signed);
            #[allow(clippy::cast_precision_loss, reason = "64 squares of bytes")]
            let length = (product(&vector, &vector) as f32).sqrt();
            out.lengths.push(length.max(1.0));
            out.vectors.push(vector);
        }
        Some(out)
    }
}

fn product(a: &Vector, b: &Vector) -> i32 {
    let terms = a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y));
    terms.sum()
}

/// The row of a stem's vector; `None` if it has none.
pub(crate) fn row(stem: &str) -> Option<u16> {
    VECTORS.rows.get(stem).copied()
}

/// The cosine similarity of two words, given by the rows of their vectors: 1 for the same word,
/// near 0 for unrelated ones. 0 if there is no such row.
pub(crate) fn cosine(a: u16, b: u16) -> f64 {
    let at = |row: u16| {
        let row = usize::from(row);
        Some((VECTORS.vectors.get(row)?, VECTORS.lengths.get(row)?))
    };
    let (Some((one, of_one)), Some((two, of_two))) = (at(a), at(b)) else {
        return 0.0;
    };
    #[allow(clippy::cast_precision_loss, reason = "64 products of bytes")]
    let product = product(one, two) as f32;
    f64::from(product / (of_one * of_two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_file_is_read() {
        let vectors = WordVectors::from_bytes(EMBEDDED).unwrap();
        assert!(vectors.rows.len() > 1000);
        assert!(WordVectors::from_bytes(EMBEDDED.get(1..).unwrap()).is_none());
    }

    #[test]
    fn sales_are_more_like_revenue_than_like_debt() {
        let alike = |a: &str, b: &str| cosine(row(&stem(a)).unwrap(), row(&stem(b)).unwrap());
        assert!(alike("revenue", "profits") > alike("revenue", "debt"));
        assert!(alike("workers", "employees") > 0.7);
        assert!((alike("debt", "debt") - 1.0).abs() < 1e-6);
        assert_eq!(row("zeppelin"), None);
    }
}
