"""The report of a run in progress in headless Chromium: it loads the newest by itself, keeps filter,
order, scroll position and opened questions, and stops when the run ends.

    python live_page.py REPORT.html
"""

import argparse
import time
from pathlib import Path

import chromium

ROWS = "document.querySelectorAll('#list tr.row').length"
STARTED = "performance.timeOrigin"
LIVE = "Boolean(document.getElementById('live'))"
READY = f"document.readyState === 'complete' && {ROWS} > 0"


def chosen(page):
    return page.js("""(() => ({
      search: document.getElementById('search').value, mark: document.getElementById('mark').value,
      sorted: document.querySelector('th[aria-sort]')?.ariaSort ?? null, y: Math.round(-document.getElementById('questions').getBoundingClientRect().top / 4),
      open: [...document.querySelectorAll('#list tr.row.open')].map((row) => row.id) }))()""")


def wait(page, condition, seconds):
    """Waits although the page is loaded again meanwhile."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if page.js(f"Boolean({condition})"):
                return
        except (AssertionError, KeyError):
            pass
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {condition}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report", type=Path)
    given = parser.parse_args()
    url = given.report.resolve().as_uri()
    with chromium.tab(chromium.find(), allowed=[url]) as page:
        page.open(url, READY)
        assert page.js(LIVE), "the run is in progress"
        # What a reader does: words, an order, an open question, and reading on.
        page.js("""(() => { const s = document.getElementById('search'); s.value = 'what';
          s.dispatchEvent(new Event('input')); })()""")
        time.sleep(0.5)
        page.js("document.querySelector('[data-sort=latency]').click()")
        page.js("document.querySelector('.open-row').click()")
        page.wait("document.querySelector('.detail .tools')")
        page.js("scrollTo(0, document.getElementById('questions').offsetTop + 40)")
        before, first, rows = chosen(page), page.js(STARTED), page.js(ROWS)
        assert before["search"] == "what" and len(before["open"]) == 1 and before["y"] > 0, before
        wait(page, f"{STARTED} > {first} && {READY} && document.querySelector('.detail .tools')", 40)
        time.sleep(0.5)
        after = chosen(page)
        assert after == before, (before, after)
        wait(page, f"!{LIVE} && {READY}", 90)
        time.sleep(0.5)
        assert page.js(ROWS) >= rows
        ended = chosen(page)
        assert {**ended, "y": 0} == {**before, "y": 0}, (before, ended)
        last = page.js(STARTED)
        time.sleep(12)
        assert page.js(STARTED) == last, "the refresh ends with the run"
        assert page.complaints == [], page.complaints


main()
