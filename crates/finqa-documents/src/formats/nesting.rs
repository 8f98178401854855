//! Refuses HTML whose elements are nested too deeply to be read in a limited time and stack.

use scraper::Html;

use finqa_core::pattern;
use finqa_core::text::Pattern;

/// Maximum depth of nested elements. The walk through the page is recursive, so each level takes a
/// part of the stack. Set by hand.
const DEEPEST: usize = 500;

/// Maximum number of open elements in the text. The parser searches all open elements for each
/// new one: 40,000 nested elements took 9 s. The limit is higher than [`DEEPEST`] because the
/// parser closes some elements by itself. Set by hand.
const MOST_OPEN: usize = 10 * DEEPEST;

/// Elements that may lack an end tag, such as the marks `c`, `page` and `s` in filings of the
/// 1990s, and drawing elements that are usually closed in their start tag.
#[rustfmt::skip]
const ENDLESS: [&str; 36] = [
    "area", "base", "br", "c", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "page", "param", "s", "source", "tbody", "td", "th", "tr", "track", "wbr",
    "circle", "ellipse", "image", "line", "path", "polygon", "polyline", "rect", "stop", "use",
];

/// Scripts and style sheets. A `<` in them does not begin an element.
static SCRIPT: Pattern = pattern!(r"(?is)<script\b.*?</script|<style\b.*?</style");

const REFUSED: &str =
    "its elements are nested more than 500 deep; save it from a browser as HTML again";

/// Refuses a text that would take too long to parse.
///
/// # Errors
/// The reason, with what to do.
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
        open = if ends {
            open.saturating_sub(1)
        } else {
            open + 1
        };
        if open > MOST_OPEN {
            return Err(REFUSED.to_owned());
        }
    }
    Ok(())
}

/// Refuses a parsed page that would overflow the stack of a recursive walk.
///
/// # Errors
/// The reason, with what to do.
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
