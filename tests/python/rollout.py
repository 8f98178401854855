"""A scripted policy drives the GRPO rollout function against a running server.

    python rollout.py http://127.0.0.1:8000

The policy looks at the tables as a model would, sometimes writes nonsense, and
in every second episode of a group submits the right answer, which it learnt by
giving a question up before.
"""

import itertools
import json
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "examples"))

from grpo_rollout import Turn, play, read_action, reward_from_env, rollout  # noqa: E402
from openenv.core import GenericEnvClient  # noqa: E402


def say(text):
    ids = list(text.encode())
    return Turn(text, prompt_ids=[0], completion_ids=ids, logprobs=[-1.0] * len(ids))


def act(tool, **arguments):
    return say("I will look.\n" + json.dumps({"tool": tool, "arguments": arguments}))


def truths(url, seeds):
    """The answers of the questions of these seeds, by giving each up once."""
    known = {}
    with GenericEnvClient(base_url=url).sync() as env:
        for seed in seeds:
            asked = env.reset(seed=seed).observation["metadata"]
            end = env.step({"type": "call_tool", "tool_name": "submit_answer", "arguments": {"answer": "?"}})
            known[asked["question"]] = end.observation["metadata"]["ground_truth"]
    return known


class Scripted:
    """Tables, a bad turn, a bad call, table info, a query, then an answer."""

    def __init__(self, known):
        self.known = known
        self.count = itertools.count()
        self.lock = threading.Lock()

    def __call__(self, messages):
        turn = sum(message["role"] == "assistant" for message in messages)
        question, _, company = messages[1]["content"].rpartition("\nCompany: ")
        if turn == 0:
            return act("get_descriptions", company_name=company)
        tables = json.loads(messages[3]["content"])
        if turn == 1:
            return say("no action in this text")
        if turn == 2:
            return act("get_table_info", company_name=company)
        if turn == 3:
            return act("get_table_info", company_name=company, table_name=tables[-1])
        if turn == 4:
            info = json.loads(messages[-1]["content"].replace("NaN", "null"))
            column = next(iter(info["column_dtypes"])).replace('"', '""')
            query = f'SELECT "{column}" FROM data WHERE "{column}" IS NOT NULL'
            return act("sql_query", company_name=company, table_name=tables[-1], query=query)
        with self.lock:
            right = next(self.count) % 2 == 0
        return act("submit_answer", answer=self.known[question] if right else "not this")


def main(url):
    assert read_action("nothing") is None and read_action('{"tool": 1') is None
    groups, size = 4, 4
    policy = Scripted(truths(url, range(groups)))
    one = play(url, policy, seed=0)
    assert one.reward == 1.0 and one.steps == 5 and one.invalid == 2, one
    out = rollout(["prompt"] * (groups * size), url, policy, group_size=size)
    assert len(out["prompt_ids"]) == len(out["env_reward"]) == groups * size
    for ids, logprobs in zip(out["completion_ids"], out["logprobs"]):
        assert ids and len(ids) == len(logprobs)
    rewards = reward_from_env([None] * groups * size, env_reward=out["env_reward"])
    assert sum(rewards) == groups * size / 2, rewards
    assert set(out["env_steps"]) == {5} and set(out["env_invalid"]) == {2}, out
    print(f"ok: {groups * size} episodes, mean reward {sum(rewards) / len(rewards):.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
