"""A person's episode on the web page, played with the keyboard in headless Chromium.

    python web_page.py http://127.0.0.1:8000 [--shots DIR] [--chromium PROGRAM]

Needs the Debian package `chromium` (or any Chrome) and the `websockets`
package, which the clients' virtual environments have. Exit status 3 stands for
"no browser found".
"""

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from websockets.sync.client import connect

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-port=0", "--window-size=1280,1000", "--hide-scrollbars",
]
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}


class Page:
    """One tab, spoken to by the DevTools protocol."""

    def __init__(self, socket):
        self.socket, self.count, self.complaints = socket, 0, []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")

    def do(self, method, **params):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv(timeout=30))
            if message.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(message["params"])[:500])
            if message.get("method") == "Log.entryAdded":
                self.complaints.append(message["params"]["entry"]["text"])
            if message.get("method") == "Network.requestWillBeSent":
                self.complaints.extend(
                    url for url in [message["params"]["request"]["url"]]
                    if not url.startswith((self.base, "data:", "about:"))
                ) if hasattr(self, "base") else None
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]

    def js(self, expression):
        answer = self.do("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression, seconds=10):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.js(expression):
                return
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}\n{self.js('document.body.innerText')[:2000]}")

    def key(self, key, modifiers=0):
        code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": modifiers}
        text = {"text": "\r"} if key == "Enter" else {}
        self.do("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.do("Input.dispatchKeyEvent", type="keyUp", **code)

    def type(self, text):
        self.do("Input.insertText", text=text)

    def focused(self):
        return self.js("document.activeElement.id || document.activeElement.textContent.trim()")

    def tab_to(self, name, limit=60):
        for _ in range(limit):
            if self.focused() == name:
                return
            self.key("Tab")
        raise AssertionError(f"the Tab key never reaches {name!r}; it stands on {self.focused()!r}")

    def shot(self, folder, name):
        if folder:
            data = self.do("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
            (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(data))


def theme(page, value):
    page.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])


def contrast_faults(page):
    """Texts whose colour stands less than 4.5:1 off their background (WCAG AA)."""
    return page.js("""(() => {
      const rgb = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
      const lum = ([r, g, b]) => [r, g, b].map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; })
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      const behind = (n) => { for (; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
      const bad = [];
      for (const n of document.querySelectorAll("body *")) {
        if (n.disabled || !n.checkVisibility() || ![...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim())) continue;
        const a = lum(rgb(getComputedStyle(n).color)), b = lum(behind(n));
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) bad.push(n.tagName + " " + n.textContent.trim().slice(0, 30) + " " + ratio.toFixed(2));
      }
      return bad;
    })()""")


def unlabelled(page):
    return page.js("""[...document.querySelectorAll("input, textarea, select")].filter((n) => !n.labels.length).map((n) => n.id)
      .concat([...document.querySelectorAll("button")].filter((n) => !n.textContent.trim()).map((n) => n.id))""")


def play(page, base, shots):
    page.do("Page.navigate", url=base + "/")
    page.wait("document.getElementById('status')?.textContent === 'Connected'")
    page.base = base
    assert page.js("document.documentElement.lang") == "en" and unlabelled(page) == []
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
        theme(page, value)
        assert contrast_faults(page) == [], (value, contrast_faults(page))
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

    theme(page, "light")
    page.do("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    assert page.js("document.documentElement.scrollWidth <= 390"), "no sideways scrolling on a phone"
    page.shot(shots, "8-phone")
    page.do("Emulation.clearDeviceMetricsOverride")

    page.do("Page.navigate", url=base + "/docs")
    page.wait("document.querySelectorAll('#routes details').length > 10")
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
    names = [given.chromium] if given.chromium else ["chromium", "chromium-browser", "google-chrome", "chrome"]
    program = next((found for name in names if (found := shutil.which(name))), None)
    if program is None:
        print("skipped: no Chromium found (Debian: apt-get install chromium)")
        return 3
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )
        try:
            for line in browser.stderr:
                if found := re.search(r"ws://([\d.:]+)/", line):
                    break
            else:
                raise AssertionError("the browser ended before it listened")
            with urllib.request.urlopen(f"http://{found[1]}/json/list") as answer:
                tab = next(t for t in json.load(answer) if t["type"] == "page")
            with connect(tab["webSocketDebuggerUrl"], max_size=None, proxy=None) as socket:
                play(Page(socket), given.url.rstrip("/"), given.shots)
        finally:
            browser.terminate()
            browser.wait(timeout=10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
