//! The page's data: JSON in compressed blocks, with one HTML element per block. This keeps the file
//! small with 20,000 questions, and lets the page unpack only the blocks that it needs.
//!
//! An entry is found by its store and its number. A directory has the number of the first entry in
//! each block. Blocks are in Base64, which has no character that could end an element, so text in
//! the data cannot break out of its element.

use std::collections::HashMap;
use std::io::{self, Seek, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use tempfile::SpooledTempFile;

/// Bytes of JSON after which a block is closed. A block of this size is unpacked in a few
/// milliseconds and is long enough to compress well. Set by hand.
const BLOCK: usize = 192 * 1024;

/// Bytes of compressed data to keep in memory, set by hand. More goes to a temporary file.
const IN_MEMORY: usize = 1024 * 1024;

/// Level of compression, from 0 to 9, set by hand. A higher one is slower and makes smaller files.
const LEVEL: Compression = Compression::new(5);

/// A numbered list of entries in the page's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Store {
    /// The list of questions.
    Index,
    /// The details of questions.
    Details,
    /// Report pages.
    Pages,
    /// Texts that many questions share.
    Texts,
}

impl Store {
    const ALL: [Self; 4] = [Self::Index, Self::Details, Self::Pages, Self::Texts];

    /// The store's name in the ids of its elements.
    fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Details => "q",
            Self::Pages => "p",
            Self::Texts => "t",
        }
    }
}

/// The current block of a store, which is not closed yet, and where the store's blocks start.
#[derive(Default)]
struct OpenBlock {
    /// The JSON list of the current block, without its closing bracket.
    json: Vec<u8>,
    /// The number of the first entry of each block.
    starts: Vec<usize>,
    entries: usize,
}

/// The data elements of a page, collected before the page is written.
pub(super) struct Elements {
    out: SpooledTempFile,
    stores: [OpenBlock; 4],
    /// The number of each shared entry, by its store and hash.
    known: HashMap<(Store, blake3::Hash), usize>,
}

impl Elements {
    pub(super) fn new() -> Self {
        Self {
            out: SpooledTempFile::new(IN_MEMORY),
            stores: Default::default(),
            known: HashMap::new(),
        }
    }

    /// Adds an entry to a store and returns its number.
    pub(super) fn put(
        &mut self,
        store: Store,
        value: &(impl Serialize + ?Sized),
    ) -> io::Result<usize> {
        let Some(filling) = self.stores.get_mut(store as usize) else {
            // Every store has a block, so this is not reached.
            return Ok(0);
        };
        let number = filling.entries;
        filling.entries += 1;
        if filling.json.is_empty() {
            filling.starts.push(number);
            filling.json.push(b'[');
        } else {
            filling.json.push(b',');
        }
        serde_json::to_writer(&mut filling.json, value)?;
        if filling.json.len() >= BLOCK {
            self.close(store)?;
        }
        Ok(number)
    }

    /// Adds an entry, unless the store already has one with this hash. Returns the entry's number.
    pub(super) fn share(
        &mut self,
        store: Store,
        hash: blake3::Hash,
        value: &(impl Serialize + ?Sized),
    ) -> io::Result<usize> {
        if let Some(number) = self.known.get(&(store, hash)) {
            return Ok(*number);
        }
        let number = self.put(store, value)?;
        self.known.insert((store, hash), number);
        Ok(number)
    }

    /// Closes the current block of a store and writes it, if it has an entry.
    fn close(&mut self, store: Store) -> io::Result<()> {
        let Some(filling) = self.stores.get_mut(store as usize) else {
            return Ok(());
        };
        if filling.json.is_empty() {
            return Ok(());
        }
        let mut json = std::mem::take(&mut filling.json);
        json.push(b']');
        let mut packed = GzEncoder::new(Vec::new(), LEVEL);
        packed.write_all(&json)?;
        let packed = packed.finish()?;
        let (name, block) = (store.name(), filling.starts.len() - 1);
        writeln!(
            self.out,
            "<script type=\"text/plain\" id=\"{name}-{block}\">{}</script>",
            STANDARD.encode(packed)
        )
    }

    /// Closes every block, and writes the elements and their directory to `out`.
    pub(super) fn copy_to(mut self, out: &mut dyn Write) -> io::Result<()> {
        for store in Store::ALL {
            self.close(store)?;
        }
        self.out.rewind()?;
        io::copy(&mut self.out, out)?;
        let starts: serde_json::Map<_, _> = Store::ALL
            .iter()
            .zip(&self.stores)
            .map(|(store, filling)| (store.name().to_owned(), filling.starts.clone().into()))
            .collect();
        let directory = serde_json::to_string(&starts)?;
        writeln!(
            out,
            "<script type=\"application/json\" id=\"directory\">{directory}</script>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;

    fn block(page: &str, id: &str) -> Vec<serde_json::Value> {
        let start = format!("id=\"{id}\">");
        let from = page.find(&start).unwrap() + start.len();
        let packed = page[from..].split("</script>").next().unwrap();
        let packed = STANDARD.decode(packed).unwrap();
        serde_json::from_reader(GzDecoder::new(&packed[..])).unwrap()
    }

    #[test]
    fn entries_are_found_by_number_and_shared_ones_stand_once() {
        let mut elements = Elements::new();
        let hostile = "</script><!-- \u{2028} \u{202e}";
        for number in 0..5 {
            assert_eq!(elements.put(Store::Details, hostile).unwrap(), number);
        }
        let long = "x".repeat(BLOCK);
        assert_eq!(elements.put(Store::Details, &long).unwrap(), 5);
        assert_eq!(elements.put(Store::Details, "next block").unwrap(), 6);
        let hash = blake3::hash(b"shared");
        assert_eq!(elements.share(Store::Texts, hash, "shared").unwrap(), 0);
        assert_eq!(elements.share(Store::Texts, hash, "shared").unwrap(), 0);
        let mut out = Vec::new();
        elements.copy_to(&mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert_eq!(block(&page, "q-0")[4], hostile);
        assert_eq!(block(&page, "q-1"), ["next block"]);
        assert_eq!(block(&page, "t-0"), ["shared"]);
        assert!(page.contains(r#"{"index":[],"q":[0,6],"p":[],"t":[0]}"#));
        assert_eq!(page.matches("</script>").count(), 4);
    }
}
