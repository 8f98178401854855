//! Refuses HTML whose elements are nested too deep.

use std::sync::LazyLock;

use finqa_core::regex;
use regex::Regex;
use scraper::Html;

/// How deep elements may be in each other: each takes a part of the stack.
const DEEPEST: usize = 500;

/// The most elements that the text may have open. The parser looks at all of them for each that
/// begins; it closes some by itself, so that fewer of them are in each other.
const MOST_OPEN: usize = 10 * DEEPEST;

/// Elements that need no end, and those of a drawing that end in themselves.
#[rustfmt::skip]
const ENDLESS: [&str; 36] = [
    "area", "base", "br", "c", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "page", "param", "s", "source", "tbody", "td", "th", "tr", "track", "wbr",
    "circle", "ellipse", "image", "line", "path", "polygon", "polyline", "rect", "stop", "use",
];

/// What holds no elements.
static SCRIPT: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"(?is)<script\b.*?</script|<style\b.*?</style"));

const REFUSED: &str =
    "its elements are nested more than 500 deep; save it from a browser as HTML again";

/// Refuses a text that would take long to parse.
pub(super) fn check_text(text: &str) -> Result<(), String> {
    let text = SCRIPT.replace_all(text, "");
    let mut open = 0_usize;
    for tag in text.split('<').skip(1) {
        let ends = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let name = words.next().unwrap_or_default();
        if name.is_empty() || ENDLESS.iter().any(|one| name.eq_ignore_ascii_case(one)) {
            continue;
        }
        open = match ends {
            true => open.saturating_sub(1),
            false => open + 1,
        };
        if open > MOST_OPEN {
            return Err(REFUSED.to_owned());
        }
    }
    Ok(())
}

/// Refuses a page that would take too much of the stack to walk through.
pub(super) fn check(html: &Html) -> Result<(), String> {
    let mut open = vec![(html.tree.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST {
            return Err(REFUSED.to_owned());
        }
        open.extend(node.children().map(|child| (child, depth + 1)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_text;
    use crate::formats::html::blocks;

    #[test]
    fn elements_that_are_nested_too_deep_are_refused() {
        for (element, times) in [
            ("<div>", 600),
            ("<table><tr><td><span>", 600),
            ("<div>", 400_000),
        ] {
            let error = blocks(&element.repeat(times)).unwrap_err();
            assert!(error.contains("nested more than 500 deep"), "{error}");
        }
    }

    #[test]
    fn elements_without_ends_are_not_nested() {
        for element in ["<p>a", "<PAGE>a<br>", "<li>a<hr>", "<path d='M0 0'/>"] {
            assert_eq!(check_text(&element.repeat(6000)), Ok(()), "{element}");
        }
        let script = format!("<script>{}</script>", "i<n;".repeat(6000));
        assert!(blocks(&script).is_ok());
    }
}
