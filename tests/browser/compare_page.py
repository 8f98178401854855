"""The page of two runs in headless Chromium: opened from file://, flips listed
both ways, opened side by side, with hostile texts in it.

    python compare_page.py PAGE.html [--shots DIR] [--hostile]

`--hostile` says that the first flip's question is markup.
"""

import argparse
import sys
from pathlib import Path

import chromium
from report_page import ROWS, SHOWN, choose


def flips(page):
    """The list begins with what differs; both ways are there."""
    assert page.js("document.getElementById('facet-way').selectedOptions[0].textContent").startswith("right in one alone")
    marks = "[...document.querySelectorAll('#list tr.row')].map((r) => [...r.querySelector('.m').querySelectorAll('.badge')].map((b) => b.title).join(' '))"
    assert set(page.js(marks)) == {"right wrong", "wrong right"}, page.js(marks)
    choose(page, "facet-way", "right in B alone")
    assert set(page.js(marks)) == {"wrong right"}
    page.js("document.getElementById('reset').click()")
    total = page.js("read('index', 0).then((index) => index.rows.length)")
    assert f"of {total:,} questions;" in page.js(SHOWN), page.js(SHOWN)
    # From a cause to its questions.
    page.js("document.querySelector('.causes .pick').click()")
    assert f"({total:,} in all)" in page.js(SHOWN)
    page.js("document.getElementById('reset').click()")
    choose(page, "facet-way", "right in one alone")
    for column in ("a", "b", "gold", "mark"):
        page.js(f"document.querySelector('[data-sort={column}]').click()")
        assert page.js(f"document.querySelector('[data-sort={column}]').closest('th').ariaSort") == "ascending"
    page.js("document.querySelector('[data-sort=index]').click()")


def side_by_side(page, shots):
    page.js("document.querySelector('.open-row').focus()")
    page.key("Enter")
    page.wait("document.querySelector('.detail .programs')")
    assert page.js("[...document.querySelectorAll('.detail .programs thead th')].map((h) => h.textContent).join(' ')") == "Gold A B"
    assert page.js("document.querySelectorAll('.detail .by-gold').length") >= 1, "gold's figures are marked"
    assert page.js("[...document.querySelectorAll('.detail .pair h3')].length") == 2
    assert page.contrast_faults() == []
    page.js("document.querySelector('#list tr.row').scrollIntoView({ behavior: 'instant' })")
    page.shot(shots, "compare-detail")
    page.key("Escape")
    assert page.js("document.querySelectorAll('.detail').length") == 0


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("page", type=Path)
    arguments.add_argument("--shots")
    arguments.add_argument("--hostile", action="store_true")
    arguments.add_argument("--chromium")
    given = arguments.parse_args()
    program = chromium.find(given.chromium)
    url = given.page.resolve().as_uri()
    with chromium.tab(program, allowed=[url]) as page:
        page.open(url, f"document.readyState === 'complete' && {ROWS} > 0")
        assert page.unlabelled() == []
        flips(page)
        side_by_side(page, given.shots)
        if given.hostile:
            assert page.js("document.querySelector('.open-row').textContent").startswith("</script><script>window.hacked")
            assert page.js("window.hacked === undefined && document.images.length === 0")
        for theme in ("light", "dark"):
            page.theme(theme)
            for width in (1280, 390):
                page.size(width, 1000, phone=width == 390)
                assert page.js(f"document.documentElement.scrollWidth <= {width}"), f"no sideways scrolling at {width}"
                faults = page.contrast_faults()
                assert faults == [], (theme, width, faults)
                assert page.outside_cards() == [], (width, page.outside_cards())
                for part in ("scores", "causes", "questions"):
                    page.js(f"document.getElementById({part!r}).scrollIntoView({{ behavior: 'instant' }})")
                    page.shot(given.shots, f"compare-{theme}-{width}-{part}")
        assert page.complaints == [], page.complaints
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
