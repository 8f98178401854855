//! Two runs side by side, as a page: differences with their intervals, and the
//! questions in pairs with both answers and programs.
//!
//! It decides nothing: what differs and why is `analysis`'s.

mod pairs;
mod view;

use std::path::{Component, Path, PathBuf};

use percent_encoding::utf8_percent_encode;

use crate::analysis::{Answers, Comparison};
use crate::output::staged::OutputError;

use super::Page;

/// The input of a page that compares two runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparisonPage<'a> {
    pub comparison: &'a Comparison,
    /// The answers of A and B that were compared.
    pub answers: [&'a Answers; 2],
    /// The reports of A and B, where they are.
    pub reports: [Option<&'a Path>; 2],
}

impl ComparisonPage<'_> {
    /// Writes the page, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<(), OutputError> {
        let pairs = pairs::listed_pairs(self.comparison, self.answers);
        let links = self
            .reports
            .map(|report| report.and_then(|report| link(path, report)));
        let view = view::ComparisonView::of(self, &pairs, &links);
        let elements = pairs::elements(&pairs, &view.names(), &links);
        let elements = elements.map_err(OutputError::at(path))?;
        Page {
            template: "compare.html",
            script: super::COMPARE_SCRIPT,
            secret: &uuid::Uuid::new_v4().to_string(),
        }
        .write(path, &view, elements)
    }
}

/// A link from a page to a file, so that both can be moved together.
fn link(page: &Path, file: &Path) -> Option<String> {
    let folder = match page.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (from, to) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to.components().skip(shared)).collect();
    let parts: Option<Vec<String>> = path
        .components()
        .map(|part| {
            let part = part.as_os_str().to_str()?;
            Some(utf8_percent_encode(part, crate::output::SEGMENT).to_string())
        })
        .collect();
    // A first part with a colon would be read as a scheme.
    Some(format!("./{}", parts?.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_goes_up_and_down_and_has_neither_scheme_nor_fragment() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("runs/a #1?");
        std::fs::create_dir_all(&run).unwrap();
        std::fs::create_dir_all(folder.path().join("pages")).unwrap();
        let report = run.join("report.html");
        std::fs::write(&report, "").unwrap();
        let from = |page: &str| link(&folder.path().join(page), &report);
        assert_eq!(
            from("pages/compare.html").unwrap(),
            "./../runs/a%20%231%3F/report.html"
        );
        assert_eq!(
            from("compare.html").unwrap(),
            "./runs/a%20%231%3F/report.html"
        );
        assert_eq!(
            link(&folder.path().join("x.html"), Path::new("not there")),
            None
        );
    }
}
