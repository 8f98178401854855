//! The page's data: JSON in compressed blocks, one element each, so that a file
//! of 20,000 questions stays small and only what is looked at is unpacked.
//!
//! An entry is found by its store and number; a directory says with which number
//! each block begins. Base64 has no character that could end an element, so no
//! text of the data can leave its own.

use std::collections::HashMap;
use std::io::{self, Seek, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use tempfile::SpooledTempFile;

/// Bytes of JSON in a block: unpacked in a few milliseconds, and long enough to
/// be packed well.
const BLOCK: usize = 192 * 1024;

/// Bytes of packed data that are kept in memory before they go to a file.
const IN_MEMORY: usize = 1024 * 1024;

const LEVEL: Compression = Compression::new(5);

/// The elements stored under one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Store {
    /// The list.
    Index,
    /// Details of questions or of pairs.
    Details,
    /// Report pages.
    Pages,
    /// Texts that many questions share.
    Texts,
}

impl Store {
    const ALL: [Self; 4] = [Self::Index, Self::Details, Self::Pages, Self::Texts];

    /// The name in element ids.
    fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Details => "q",
            Self::Pages => "p",
            Self::Texts => "t",
        }
    }
}

/// A block that is being filled.
#[derive(Default)]
struct OpenBlock {
    /// JSON, without the closing bracket.
    json: Vec<u8>,
    /// The number of each block's first entry.
    starts: Vec<usize>,
    entries: usize,
}

/// The data elements of a page, gathered before the page itself is written.
pub(super) struct Elements {
    out: SpooledTempFile,
    stores: [OpenBlock; 4],
    /// Numbers of shared entries, by hash.
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

    /// Keeps an entry; its number in the store.
    pub(super) fn put(
        &mut self,
        store: Store,
        value: &(impl Serialize + ?Sized),
    ) -> io::Result<usize> {
        let Some(filling) = self.stores.get_mut(store as usize) else {
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

    /// Keeps an entry once, however often it is put.
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

    /// Writes the block that is being filled, if there is one.
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

    /// Closes every block and copies the elements and their directory.
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
