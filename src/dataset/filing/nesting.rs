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

/// Whether a text may be parsed in a reasonable time.
pub(super) fn check_text(text: &str) -> Result<(), String> {
    refuse_if(opens_too_many(text))
}

/// Whether a parsed page may be walked through.
pub(super) fn check(html: &Html) -> Result<(), String> {
    refuse_if(is_deep(html))
}

fn refuse_if(deep: bool) -> Result<(), String> {
    let why = "its elements are nested more than";
    match deep {
        true => Err(format!(
            "{why} {DEEPEST} deep; save it from a browser as HTML again"
        )),
        false => Ok(()),
    }
}

fn opens_too_many(text: &str) -> bool {
    let text = SCRIPT.replace_all(text, "");
    let mut open = 0_usize;
    for tag in text.split('<').skip(1) {
        let (name, ends) = match tag.strip_prefix('/') {
            Some(name) => (name, true),
            None => (tag, false),
        };
        let length = name.find(|c: char| !c.is_ascii_alphanumeric());
        let (name, _) = name.split_at(length.unwrap_or(name.len()));
        if name.is_empty() || ENDLESS.iter().any(|one| name.eq_ignore_ascii_case(one)) {
            continue;
        }
        open = if ends {
            open.saturating_sub(1)
        } else {
            open + 1
        };
        if open > MOST_OPEN {
            return true;
        }
    }
    false
}

fn is_deep(html: &Html) -> bool {
    let mut open = vec![(html.tree.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST {
            return true;
        }
        open.extend(node.children().map(|child| (child, depth + 1)));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::html::blocks;
    use super::opens_too_many;

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
            assert!(!opens_too_many(&element.repeat(6000)), "{element}");
        }
        let script = format!("<script>{}</script>", "i<n;".repeat(6000));
        assert!(blocks(&script).is_ok());
    }
}
