"""A tab of headless Chromium for the browser tests, spoken to over a pipe by the
DevTools protocol. Python's standard library and a Chrome or Chromium suffice."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
]
NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}


class Page:
    """One tab. `complaints` gathers what should not be: exceptions, console
    errors, and requests that do not start with one of `allowed`."""

    def __init__(self, send, receive, session, allowed=()):
        self.send, self.receive, self.session = send, receive, session
        self.count, self.complaints, self.allowed = 0, [], ["data:", "about:", *allowed]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")

    def do(self, method, **params):
        self.count += 1
        self.send({"id": self.count, "sessionId": self.session, "method": method, "params": params})
        while True:
            message = self.receive()
            self.notice(message.get("method"), message.get("params", {}))
            if message.get("id") == self.count:
                assert "error" not in message, (method, message)
                return message["result"]

    def notice(self, event, params):
        if event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params)[:500])
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(params["args"])[:500])
        elif event == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif event == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {params['message']}")
        elif event == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(tuple(self.allowed)):
                self.complaints.append(f"request: {url[:200]}")

    def js(self, expression):
        answer = self.do("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.js(f"Boolean({expression})"):
                return
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}\n{self.js('document.body.innerText')[:2000]}")

    def open(self, url, ready="document.readyState === 'complete'"):
        self.do("Page.navigate", url=url)
        self.wait(ready, 120)

    def key(self, key, modifiers=0):
        number = KEYS.get(key) or ord(key.upper())
        code = {"key": key, "code": key, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
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
        raise AssertionError(f"the Tab key never reaches {name!r}; the focus is on {self.focused()!r}")

    def theme(self, value):
        """`light` or `dark`."""
        self.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def size(self, width, height, phone=False):
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height,
                deviceScaleFactor=2 if phone else 1, mobile=phone)

    def shot(self, folder, name):
        """A picture of the window, if there is a folder for it."""
        if folder:
            data = self.do("Page.captureScreenshot", format="png")["data"]
            (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(data))

    def contrast_faults(self):
        """Texts whose colour stands less than 4.5:1 off their background (WCAG AA)."""
        return self.js("""(() => {
          const rgb = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
          const lum = ([r, g, b]) => [r, g, b].map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; })
            .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
          const behind = (n) => { for (; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
          const bad = [];
          for (const n of document.querySelectorAll("body *")) {
            if (n.disabled || !n.checkVisibility() || ![...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim())) continue;
            const style = getComputedStyle(n);
            const a = lum(rgb(n instanceof SVGElement ? style.fill : style.color)), b = lum(behind(n));
            const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            if (ratio < 4.5) bad.push(n.tagName + " " + n.textContent.trim().slice(0, 30) + " " + ratio.toFixed(2));
          }
          return bad;
        })()""")

    def outside_cards(self):
        """Tables and pictures that poke out of the card they stand in."""
        return self.js("""[...document.querySelectorAll(".card table, .card svg")].filter((n) => {
          if (!n.checkVisibility() || n.closest(".scroll, .page, .frame")) return false;
          const own = n.getBoundingClientRect(), card = n.closest(".card").getBoundingClientRect();
          return own.width > 1 && (own.left < card.left || own.right > card.right + .5);
        }).map((n) => n.closest(".card").textContent.trim().slice(0, 40))""")

    def unlabelled(self):
        """Fields without a label and buttons without a name."""
        return self.js("""[...document.querySelectorAll("input, textarea, select")].filter((n) => !n.labels.length).map((n) => n.id)
          .concat([...document.querySelectorAll("button")].filter((n) => !n.textContent.trim() && !n.ariaLabel).map((n) => n.id))""")


def find(named=None):
    """The browser's program; ends this one where there is none."""
    for name in [named] if named else NAMES:
        if found := shutil.which(name):
            return found
    sys.exit("no Chromium found (Debian: apt-get install chromium)")


@contextlib.contextmanager
def tab(program, allowed=(), width=1280, height=1000):
    """Starts the browser, gives a tab, and ends the browser."""
    # The browser reads from 3 and writes to 4; no file of ours may have these numbers.
    spare = []
    while not spare or spare[-1] < 4:
        spare.append(os.open(os.devnull, os.O_RDONLY))
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()

    def plug():
        os.dup2(theirs_in, 3)
        os.dup2(theirs_out, 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [program, *FLAGS, f"--window-size={width},{height}", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=plug, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for fd in (theirs_in, theirs_out, *spare):
            os.close(fd)
        buffer = bytearray()

        def send(message):
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(ours_out, data):]

        def receive():
            while (end := buffer.find(b"\0")) < 0:
                assert select.select([ours_in], [], [], 120)[0], "the browser is silent"
                read = os.read(ours_in, 1 << 20)
                assert read, "the browser has ended"
                buffer.extend(read)
            message = json.loads(buffer[:end])
            del buffer[:end + 1]
            return message

        def ask(number, method, **params):
            send({"id": number, "method": method, "params": params})
            while (message := receive()).get("id") != number:
                pass
            assert "result" in message, (method, message)
            return message["result"]

        try:
            target = ask(1_000_001, "Target.createTarget", url="about:blank")["targetId"]
            session = ask(1_000_002, "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            yield Page(send, receive, session, allowed)
        finally:
            browser.terminate()
            try:
                browser.wait(timeout=10)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
            os.close(ours_in)
            os.close(ours_out)
