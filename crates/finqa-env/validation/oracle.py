"""Plays every task of a running environment with the answers of its data directory.

    convfinqa env build --data-path sample --output env
    convfinqa env serve --data-path env &
    python oracle.py http://127.0.0.1:8000 env
    python oracle.py http://127.0.0.1:8000 env --answer 0    # the same constant to all

It needs `pip install openenv`. The environment never gives these answers away:
they are read from the CSV file that it was started with.
"""

import argparse
import csv
import json
from math import sqrt
from pathlib import Path
from urllib.request import Request, urlopen

from openenv.core import GenericEnvClient

SPLITS = ("train", "validation", "test")


def tasks(url, split):
    """The tasks of a split."""
    body = json.dumps({"split": split}).encode()
    request = Request(f"{url}/finqa_env/tasks", body, {"content-type": "application/json"})
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)["tasks"]


def truths(data):
    """The answer of each question, by its id."""
    with open(Path(data, "benchmark_questions", "finqa.csv"), newline="", encoding="utf-8") as file:
        return {row["id"]: row["answer"] for row in csv.DictReader(file)}


def play(url, answer_of):
    """The rewards of all tasks, each answered by `answer_of(task)`."""
    rewards = []
    with GenericEnvClient(base_url=url).sync() as env:
        for split in SPLITS:
            for task in tasks(url, split):
                env.reset(split=split, index=task["index"])
                arguments = {"answer": answer_of(task)}
                action = {"type": "call_tool", "tool_name": "submit_answer", "arguments": arguments}
                rewards.append(env.step(action).reward)
    return rewards


def interval(rewards):
    """Wilson's 95 % interval of the mean of zeros and ones."""
    n, p, z = len(rewards), sum(rewards) / len(rewards), 1.96
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("data", help="the data directory that the server was started with")
    parser.add_argument("--answer", help="submit this instead of the truth")
    options = parser.parse_args()
    known = truths(options.data)
    answer_of = lambda task: known[task["question_id"]] if options.answer is None else options.answer
    rewards = play(options.url, answer_of)
    low, high = interval(rewards)
    mean = sum(rewards) / len(rewards)
    print(f"{len(rewards)} tasks, mean reward {mean:.3f} (95 % {low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
