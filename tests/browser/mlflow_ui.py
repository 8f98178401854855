"""Pictures of a run in MLflow's own pages, for a person to look at.

    tests/browser/mlflow_ui.py SERVER EXPERIMENT_ID RUN_ID FOLDER

It fails where a page does not come to show what belongs on it."""

import sys
import time
from pathlib import Path

import chromium

PAGES = [
    # Name, path, what must be read on it.
    ("overview", "runs/{run}", ["exact_match"]),
    ("metrics", "runs/{run}/model-metrics", ["exact_match", "mean_latency"]),
    ("artifacts", "runs/{run}/artifacts", ["output.csv", "report.html", "eval_results_table.json"]),
    ("table", "runs/{run}/artifacts/eval_results_table.json", ["ground_truth"]),
    ("graph", "runs/{run}/artifacts/graph/graph.svg", ["graph.svg"]),
    ("traces", "runs/{run}/traces", []),
    ("evaluation", "evaluation-runs?selectedRunUuid={run}", []),
]


def main(server, experiment, run, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with chromium.tab(chromium.find(), [server], 1400, 1000) as tab:
        for name, path, words in PAGES:
            # A new document each time: the pages keep state otherwise.
            tab.open("about:blank")
            tab.open(f"{server}/#/experiments/{experiment}/{path.format(run=run)}")
            for word in words:
                tab.wait(f"document.body.innerText.includes({word!r})", 60)
            time.sleep(4)
            tab.shot(folder, f"mlflow-{name}")
            print(f"ok: {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
