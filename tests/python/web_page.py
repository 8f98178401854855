"""A person's episode on the web page, played with the keyboard in headless Chromium.

    python web_page.py http://127.0.0.1:8000 [--shots DIR] [--chromium PROGRAM]

Needs the Debian package `chromium` (or any Chrome), driven by ../browser, and the
`websockets` package, which the clients' virtual environments have.
"""

import argparse
import json
import sys
from pathlib import Path

from websockets.sync.client import connect

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "browser"))
import chromium  # noqa: E402


def play(page, base, shots):
    page.open(base + "/", "document.getElementById('status')?.textContent === 'Connected'")
    assert page.js("document.documentElement.lang") == "en" and page.unlabelled() == []
    page.shot(shots, "1-start")

    page.tab_to("new")
    page.key("Enter")
    page.wait("document.getElementById('company').textContent !== '–'")
    company = page.js("document.getElementById('company').textContent")
    assert page.focused() == "question", "the new question is read out"

    page.tab_to("list")
    page.key("Enter")
    page.wait("document.querySelectorAll('#tables button').length > 0")
    tables = page.js("[...document.querySelectorAll('#tables button')].map((n) => n.textContent)")
    assert page.focused() == tables[0], "the list's first table has the focus"
    # Not the first: a file without a description of its own may stand there.
    table = tables[-1]
    page.tab_to(table)
    page.key("Enter")
    page.wait("document.querySelectorAll('#info tr').length > 1")
    assert page.js("document.getElementById('table').value") == table
    page.shot(shots, "2-table")

    page.tab_to("sql")
    page.key("Enter", modifiers=2)
    page.wait("document.querySelectorAll('#result tr').length > 1")
    page.shot(shots, "3-query")
    # What a table says is shown as text, whatever it holds.
    page.js("document.getElementById('sql').value = \"SELECT '<img src=x onerror=alert(1)>' AS a FROM data WHERE 1 IN (1) LIMIT 1\"")
    page.tab_to("sql")
    page.key("Enter", modifiers=2)
    page.wait("document.querySelector('#result td')?.textContent.startsWith('<img')")
    assert page.js("document.querySelectorAll('img').length") == 0
    page.js("document.getElementById('sql').value = 'SELECT * FROM data'")
    page.tab_to("sql")
    page.key("Enter", modifiers=2)
    page.wait("document.querySelector('#result .notice') !== null")
    page.shot(shots, "4-refused")

    page.tab_to("answer")
    page.type("not this")
    page.key("Enter")
    page.wait("document.querySelector('#verdict .verdict.bad') !== null")
    assert page.focused() == "new" and page.js("document.getElementById('submit').disabled")
    assert page.js("document.querySelectorAll('#history li').length") == 6
    page.shot(shots, "5-wrong")
    for value in ("light", "dark"):
        page.theme(value)
        assert page.contrast_faults() == [], (value, page.contrast_faults())
    page.shot(shots, "6-dark")

    # A second question, answered right: the truth is known to this test alone.
    page.key("Enter")
    page.wait("document.querySelectorAll('#history li').length === 0 && !document.getElementById('submit').disabled")
    question = page.js("document.getElementById('question').textContent")
    page.tab_to("answer")
    page.type(truth_of(base, question))
    page.key("Enter")
    page.wait("document.querySelector('#verdict .verdict.good') !== null")
    assert page.js("document.getElementById('score').textContent") == "1 of 2 right"
    page.shot(shots, "7-right-dark")

    page.theme("light")
    page.size(390, 844, phone=True)
    assert page.js("document.documentElement.scrollWidth <= 390"), "no sideways scrolling on a phone"
    page.shot(shots, "8-phone")
    page.do("Emulation.clearDeviceMetricsOverride")

    page.open(base + "/docs", "document.querySelectorAll('#routes details').length > 10")
    page.shot(shots, "9-docs")
    assert page.complaints == [], page.complaints
    print(f"ok: an episode about {company} by keyboard")


def truth_of(base, question):
    """Gives questions up on a session of its own until this one comes."""
    with connect(base.replace("http", "ws", 1) + "/ws", proxy=None) as socket:
        ask = lambda message: (socket.send(json.dumps(message)), json.loads(socket.recv()))[1]["data"]
        for _ in range(100_000):
            asked = ask({"type": "reset"})["metadata"]["question"]
            if asked == question:
                action = {"tool_name": "submit_answer", "arguments": {"answer": "?"}}
                return ask({"type": "step", "data": action})["metadata"]["ground_truth"]
    raise AssertionError("the question never came again")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("url")
    arguments.add_argument("--shots")
    arguments.add_argument("--chromium")
    given = arguments.parse_args()
    program = chromium.find(given.chromium)
    base = given.url.rstrip("/")
    with chromium.tab(program, allowed=[base, base.replace("http", "ws", 1)]) as page:
        play(page, base, given.shots)
    return 0


if __name__ == "__main__":
    sys.exit(main())
