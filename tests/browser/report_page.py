"""The run report in headless Chromium: opened from file://, filtered, sorted,
opened by keyboard, with hostile texts in it.

    python report_page.py REPORT.html [--shots DIR] [--hostile] [--rows N]

`--hostile` says that the first four questions hold markup, quotes, right-to-left
text and a megabyte of text; `--rows` how many questions there must be.
"""

import argparse
import sys
import time
from pathlib import Path

import chromium

ROWS = "document.querySelectorAll('#list tr.row').length"
SHOWN = "document.getElementById('shown').textContent"


def choose(page, field, value):
    page.js(f"""(() => {{ const s = document.getElementById({field!r});
      s.value = [...s.options].find((o) => o.value === {value!r} || o.textContent.startsWith({value!r})).value;
      s.dispatchEvent(new Event('change')); }})()""")


def search(page, text):
    page.js("document.getElementById('search').focus(); document.getElementById('search').select()")
    page.type(text)


def first(page, column):
    return page.js(f"document.querySelector('#list tr.row td:nth-child({column})').textContent")


def look(page, given):
    page.open(given.report.resolve().as_uri(), f"document.readyState === 'complete' && {ROWS} > 0")
    assert page.js("document.documentElement.lang") == "en" and page.unlabelled() == []
    # Every picture has words and every heading follows its level.
    assert page.js("[...document.querySelectorAll('svg')].every((s) => s.ariaHidden === 'true' || s.getAttribute('role') === 'img' || s.closest('[role=img]'))")
    assert page.js("[...document.querySelectorAll('svg[role=img]')].every((s) => s.getAttribute('aria-labelledby').split(' ').every((id) => document.getElementById(id)))")
    assert page.js("[...document.querySelectorAll('main h1, main h2, main h3')].every((h, n, all) => n === 0 || h.tagName[1] - all[n - 1].tagName[1] <= 1)")
    assert page.js("document.querySelectorAll('svg[role=img]').length <= document.querySelectorAll('section svg[role=img] ~ details table, .card svg[role=img] ~ details table').length"), "each plot has its data as a table"


def filters_and_sorting(page, total):
    assert f"of {total:,} questions" in page.js(SHOWN), page.js(SHOWN)
    choose(page, "mark", "0")
    wrong = page.js(SHOWN)
    assert f"({total:,} in all)" in wrong and "0 of" in wrong, wrong
    assert page.js("[...document.querySelectorAll('#list tr.row .badge')].every((b) => b.title === 'wrong')")
    choose(page, "mark", "1")
    assert page.js("[...document.querySelectorAll('#list tr.row .badge')].every((b) => b.title === 'right')")
    search(page, "no question has these words")
    page.wait(f"{SHOWN} === 'No question matches.'")
    page.tab_to("reset", 30)
    page.key("Enter")
    page.wait(f"{ROWS} > 0 && {SHOWN}.includes('of {total:,} questions')")
    # By a figure's name.
    page.js("document.querySelector('[data-facet=kind][data-value=double]').click()")
    assert f"({total:,} in all)" in page.js(SHOWN)
    page.js("document.getElementById('reset').click()")

    page.js("document.querySelector('[data-sort=latency]').focus()")
    page.key("Enter")
    times = "[...document.querySelectorAll('#list tr.row td:nth-child(6)')].map((c) => Number(c.textContent.replace(',', '')))"
    descending = page.js(times)
    assert descending == sorted(descending, reverse=True) and len(set(descending)) > 1
    assert page.js("document.activeElement.closest('th').ariaSort") == "descending", "the focus stays, and its header names the order"
    page.key("Enter")
    ascending = page.js(times)
    assert ascending == sorted(ascending) and ascending[0] <= descending[0]
    page.js("document.querySelector('[data-sort=index]').click()")


def details(page, shots, total):
    page.js("document.querySelector('.open-row').focus()")
    page.key("Enter")
    page.wait("document.querySelector('.detail .page')")
    assert page.js("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert page.js("document.getElementById(document.activeElement.getAttribute('aria-controls')).classList.contains('detail')")
    assert page.js("document.querySelectorAll('.detail .programs code').length") >= 2, "gold's program next to the predicted one"
    assert page.js("document.querySelectorAll('.detail .cited').length") >= 2, "cited cells are marked"
    assert page.js("document.querySelectorAll('.detail .round').length") >= 1
    page.js("document.querySelector('#list tr.row').scrollIntoView()")
    page.shot(shots, "detail")
    faults = page.contrast_faults()
    assert faults == [], faults
    page.js("document.querySelectorAll('.detail details').forEach((d) => { d.open = true; })")
    page.wait("[...document.querySelectorAll('.detail .message details')].every((d) => d.querySelector('pre')?.textContent)")
    # From question to question by keys and by buttons, and back to the list.
    page.js("document.querySelector('.detail .tools button:nth-of-type(2)').click()")
    page.wait("document.querySelectorAll('.detail').length === 1 && document.querySelector('.detail:not([aria-busy])')")
    second = "document.querySelectorAll('#list tr.row')[1].querySelector('.open-row')"
    assert page.js(f"document.activeElement === {second} && {second}.getAttribute('aria-expanded') === 'true'")
    page.key("Escape")
    assert page.js("document.querySelectorAll('.detail').length") == 0
    page.key("k")
    assert page.js("document.activeElement === document.querySelector('.open-row')")
    page.key("j")
    assert page.js(f"document.activeElement === {second}")
    page.key("/")
    assert page.focused() == "search"
    # A link to a question opens it.
    page.js("location.hash = '#q3'")
    page.wait("document.querySelector('#r3.open') && document.querySelector('#d3 .page')")
    page.js("document.querySelector('#r3 .open-row').click(); location.hash = ''")
    # The bar of the parts that answers fall into leads to them.
    page.js("document.querySelector('.anatomy .pick').click()")
    assert f"({total:,} in all)" in page.js(SHOWN), page.js(SHOWN)
    page.js("document.getElementById('reset').click()")


def hostile_texts(page):
    """Texts are shown to the letter, and nothing in them runs."""
    def opened(n):
        page.js(f"document.querySelector('#r{n} .open-row').click()")
        page.wait(f"document.querySelector('#d{n} .tools')")
        return page.js(f"(document.querySelector('#d{n} .full') ?? document.querySelector('#r{n} .open-row span')).textContent")

    assert opened(0) == "</script><script>window.hacked = 1; alert(1)</script><img src=x onerror=window.hacked=1>"
    assert opened(1) == "\"quotes' &amp; <!-- <b>\u2028\u2029 </SCRIPT > {{ 7 * 7 }}"
    assert opened(2) == "\u202eمرحبا بالعالم abc"
    assert page.js("document.querySelector('#r2 .open-row span').dir") == "auto"
    assert len(opened(3)) == 1_000_000
    assert page.js("document.querySelector('#r3 .open-row').textContent.length") < 400, "the list shows its beginning"
    assert page.js("document.documentElement.scrollWidth <= innerWidth"), "it stays within the window"
    # A reply is a text too.
    assert page.js("document.querySelector('#d0 .message pre').textContent") == page.js("document.querySelector('#r0 .open-row').textContent")
    assert page.js("window.hacked === undefined && document.images.length === 0")
    page.js("document.querySelectorAll('.open-row[aria-expanded=true]').forEach((b) => b.click())")


def looks(page, shots):
    for theme in ("light", "dark"):
        page.theme(theme)
        page.size(1280, 1000)
        faults = page.contrast_faults()
        assert faults == [], (theme, faults)
        page.js("scrollTo(0, 0)")
        for number, part in enumerate(["", "wrong", "critic", "cost", "questions"]):
            page.js(f"location.hash = {part!r}; document.getElementById({part!r} || 'scores').scrollIntoView({{ behavior: 'instant' }}); if (!{part!r}) scrollTo({{ top: 0, behavior: 'instant' }})")
            page.shot(shots, f"{theme}-{number}{part and '-' + part}")
        page.size(390, 844, phone=True)
        assert page.js("document.documentElement.scrollWidth <= 390"), "no sideways scrolling on a phone"
        for width in (390, 700, 1000, 1280, 1900):
            page.size(width, 844, phone=width == 390)
            assert page.outside_cards() == [], (width, page.outside_cards())
        page.size(390, 844, phone=True)
        for number, part in enumerate(["", "wrong", "critic", "questions"]):
            page.js(f"document.getElementById({part!r} || 'scores').scrollIntoView({{ behavior: 'instant' }}); if (!{part!r}) scrollTo({{ top: 0, behavior: 'instant' }})")
            page.shot(shots, f"{theme}-phone-{number}{part and '-' + part}")
        if shots:
            page.js("document.querySelector('#list .open-row').click(); document.querySelector('#list tr.row').scrollIntoView({ behavior: 'instant' })")
            page.wait("document.querySelector('.detail .tools')")
            page.shot(shots, f"{theme}-phone-detail")
            page.size(1280, 1000)
            page.js("document.querySelector('#list tr.row').scrollIntoView({ behavior: 'instant' })")
            page.shot(shots, f"{theme}-detail")
            page.js("document.querySelector('#list .open-row').click()")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("report", type=Path)
    arguments.add_argument("--shots")
    arguments.add_argument("--hostile", action="store_true")
    arguments.add_argument("--rows", type=int)
    arguments.add_argument("--chromium")
    given = arguments.parse_args()
    program = chromium.find(given.chromium)
    with chromium.tab(program, allowed=[given.report.resolve().as_uri()]) as page:
        started = time.monotonic()
        look(page, given)
        opened = time.monotonic() - started
        total = page.js("read('index', 0).then((index) => index.rows.length)")
        assert given.rows in (None, total), total
        started = time.monotonic()
        filters_and_sorting(page, total)
        worked = time.monotonic() - started
        if given.hostile:
            hostile_texts(page)
        else:
            details(page, given.shots, total)
        looks(page, given.shots)
        assert page.complaints == [], page.complaints
    print(f"ok: {total} questions; opened in {opened:.1f} s, filtered and sorted in {worked:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
