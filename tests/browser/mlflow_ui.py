"""Pictures of a run in MLflow's own pages, for a person to look at.

    tests/browser/mlflow_ui.py SERVER EXPERIMENT_ID RUN_ID FOLDER

It fails if a page does not show what belongs on it."""

import sys
import time
from pathlib import Path

import chromium

PAGES = [
    # Name, path, what must be read on it.
    ("overview", "", ["About this run", "financial_equivalence"]),
    ("metrics", "/model-metrics", ["exact_match", "critic_fixed"]),
    ("table", "/artifacts/eval_results_table.json", ["ground_truth", "report.html"]),
    ("graph", "/artifacts/graph/graph.mmd", ["graph.mmd"]),
    ("traces", "/traces", ["Trace ID"]),
]
# It covers a third of the page.
CLOSE_ASSISTANT = """[...document.querySelectorAll("button")]
  .filter((button) => /close/i.test(button.ariaLabel || "")).forEach((button) => button.click())"""


OPEN_TRACE = """[...document.querySelectorAll("[role=row] *")]
  .find((cell) => !cell.children.length && cell.textContent.startsWith("tr-")).click()"""
CHOOSE_CALL = """[...document.querySelectorAll("span, div")]
  .filter((cell) => !cell.children.length && /^(chat |invoke_agent )/.test(cell.textContent)).at(-1).click()"""


def trace(tab, folder):
    """One trace, opened from the list: the tree of its spans, then one of them."""
    tab.wait("document.body.innerText.includes('tr-')", 90)
    tab.js(OPEN_TRACE)
    for word in ["invoke_workflow analyst_critic", "round 1", "invoke_agent critic"]:
        tab.wait(f"document.body.innerText.includes({word!r})", 90)
    time.sleep(3)
    tab.shot(folder, "mlflow-trace")
    tab.js(CHOOSE_CALL)
    time.sleep(3)
    tab.shot(folder, "mlflow-span")
    print("ok: trace")


def main(server, experiment, run, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with chromium.tab(chromium.find(), [server], 1400, 1000) as tab:
        for name, path, words in PAGES:
            # A new document each time: the pages keep state otherwise.
            tab.open("about:blank")
            tab.open(f"{server}/#/experiments/{experiment}/runs/{run}{path}")
            for word in words:
                tab.wait(f"document.body.innerText.includes({word!r})", 90)
            tab.js(CLOSE_ASSISTANT)
            # Charts and pictures come after the words.
            time.sleep(5)
            tab.shot(folder, f"mlflow-{name}")
            print(f"ok: {name}")
        trace(tab, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
