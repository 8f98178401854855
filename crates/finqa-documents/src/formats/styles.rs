//! Removes the elements that a page hides, so that hidden text is not read.

use std::collections::HashSet;

use scraper::{ElementRef, Html, Selector};

use finqa_core::pattern;
use finqa_core::text::Pattern;

/// Maximum number of style rules that are applied, because each one searches all elements. Further
/// rules are ignored. Set by hand.
const MOST: usize = 200;

static COMMENT: Pattern = pattern!(r"(?s)/\*.*?\*/|<!--|-->");

/// True if the declarations hide an element, false if they show it, `None` if they do neither.
fn hides(declarations: &str) -> Option<bool> {
    let mut hides = None;
    for declaration in declarations.split(';') {
        // A declaration without a colon has no name here and is skipped below.
        let (name, value) = declaration.split_once(':').unwrap_or_default();
        let value = value.trim().to_ascii_lowercase();
        let hidden = match name.trim().to_ascii_lowercase().as_str() {
            "display" => value.starts_with("none"),
            "visibility" => value.starts_with("hidden") || value.starts_with("collapse"),
            _ => continue,
        };
        // Either property hides the element, whatever the other one says.
        hides = Some(hidden || hides == Some(true));
    }
    hides
}

/// Removes the elements that are not visible on a screen, because of the page's style sheets or
/// of their own attributes.
pub(super) fn remove_hidden(html: &mut Html) {
    let own = |element: &ElementRef<'_>| match element.attr("hidden") {
        Some(_) => Some(true),
        None => hides(element.attr("style")?),
    };
    let mut hidden = HashSet::new();
    // A later rule overrides an earlier one; how specific they are is ignored.
    for (selector, hides) in rules(html) {
        // An element's own attributes override the style sheets.
        for element in html.select(&selector).filter(|one| own(one).is_none()) {
            if hides {
                hidden.insert(element.id());
            } else {
                hidden.remove(&element.id());
            }
        }
    }
    let elements = html.root_element().descendent_elements();
    let own = elements.filter(|element| own(element) == Some(true));
    hidden.extend(own.map(|element| element.id()));
    for id in hidden {
        if let Some(mut node) = html.tree.get_mut(id) {
            node.detach();
        }
    }
}

/// The rules that hide or show elements, in the order of the style sheets.
fn rules(html: &Html) -> Vec<(Selector, bool)> {
    let styles = html.root_element().descendent_elements();
    let styles = styles.filter(|element| element.value().name() == "style");
    let sheets: String = styles.flat_map(|style| style.text()).collect();
    let sheets = COMMENT.replace_all(&sheets, " ");
    let mut found = Vec::new();
    add_rules(&sheets, &mut found);
    found.truncate(MOST);
    found
}

/// Adds the rules of a style sheet, with those of its `@media` blocks except for print.
fn add_rules(sheet: &str, found: &mut Vec<(Selector, bool)>) {
    let mut rest = sheet;
    while let Some((selectors, after)) = rest.split_once('{') {
        let end = closing(after);
        // Never fails, because `end` is at a `}` or at the end of the text.
        let (inside, next) = after.split_at_checked(end).unwrap_or((after, ""));
        rest = next.strip_prefix('}').unwrap_or(next);
        // An `@import` before the selectors has no block.
        let selectors = selectors.rsplit(';').next().unwrap_or_default().trim();
        if let Some(media) = selectors.strip_prefix("@media") {
            if !media.contains("print") {
                add_rules(inside, found);
            }
        } else if let Some(hides) = hides(inside)
            // Skip a rule that shows all elements of a name, because a rule that hides some of them
            // is more specific.
            && (hides || selectors.contains(['.', '#', '[']))
            && let Ok(selector) = Selector::parse(selectors)
        {
            found.push((selector, hides));
        }
    }
}

/// The position of the `}` that closes the current block, or the end of the text.
fn closing(text: &str) -> usize {
    let mut depth = 1_usize;
    let end = text.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheets_hide_and_show() {
        for (sheet, seen) in [
            (".a { color: red; Display : None }", "bcd"),
            ("/* .a{} */ p.b, .c { visibility:hidden }", "ad"),
            ("<!-- #d{display:none!important} -->", "abc"),
            (".a, .b {display:none} .b.on {display:block}", "bcd"),
            ("@media print { .a{display:none} }", "abcd"),
            (
                "@media screen and (min-width:1px) { .a{display:none} } .c{display:none}",
                "bd",
            ),
            ("@import url(x.css); .a{display:none}", "bcd"),
            (".e{display:none}", "abcd"),
            (".a{display:none", "bcd"),
            (".a{display:none} p {display:block}", "bcd"),
        ] {
            let mut html = Html::parse_document(&format!(
                "<style>{sheet}</style><p class=a>a</p><p class='b on'>b</p><p class=c>c</p>\
                 <p id=d>d</p><p class=e style='display:block'></p>"
            ));
            remove_hidden(&mut html);
            let selector = Selector::parse("p").unwrap();
            let paragraphs = html.select(&selector);
            let text: String = paragraphs.flat_map(|p| p.text()).collect();
            assert_eq!(text, seen, "{sheet}");
        }
    }
}
