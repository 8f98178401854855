"""An evaluation of a model on the FinQA environment by `verifiers`.

    convfinqa env serve &
    python verifiers_eval.py http://127.0.0.1:8000 --n 3                     # a scripted stand-in
    python verifiers_eval.py http://127.0.0.1:8000 --model-url http://127.0.0.1:8080/v1 --model M

It needs `pip install verifiers==0.4.0 openenv==0.4.1`, in an environment of its own:
its OpenEnv client is older than the one that trl_grpo.py needs. Each task is one reset to an index of
a split; verifiers plays the episode over `OpenEnvEnv(base_url)` and adds up rewards.
"""

import argparse
import asyncio
import os
import tempfile
import threading
from http.server import ThreadingHTTPServer
from importlib.metadata import version

from scripted_model import Handler
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig


def scripted():
    """The address of the stand-in, in this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--split", default="test")
    parser.add_argument("--n", type=int, default=3)
    parser.add_argument("--model", default="scripted")
    parser.add_argument("--model-url")
    options = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    resets = [{"split": options.split, "index": index} for index in range(options.n)]
    config = EvalConfig.model_validate({
        "env": {
            # The loop that plays runs on this machine, not on the platform, which is the default.
            "player": {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}},
            "taskset": {"id": "openenv", "base_url": options.url, "resets": resets},
        },
        "model": options.model,
        "client": {
            "type": "eval",
            "base_url": options.model_url or scripted(),
            "api_key_var": "OPENAI_API_KEY",
        },
        "output_dir": tempfile.mkdtemp(),
        "push": False,
        "rich": None,
    })
    episodes = asyncio.run(run_eval(config))
    traces = [trace for episode in episodes for trace in episode.traces]
    rewards = [trace.rewards["openenv_reward"].value for trace in traces]
    assert len(rewards) == options.n, "every task has a reward"
    print(f"verifiers {version('verifiers')}, openenv {version('openenv')}")
    print(f"{len(rewards)} tasks of {options.split}: rewards {rewards}, mean {sum(rewards) / len(rewards):.3f}")


if __name__ == "__main__":
    main()
